"""From a request to tables: what `steelyard sensitivity` does, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from steelyard.cli.output import say, stderr
from steelyard.cli.robot_argument import given_robot
from steelyard.cli.sensitivity_request import USUAL, SensitivityRequest, names_of, noises_of
from steelyard.errors import NoSolutionError, UnknownNameError
from steelyard.motion import Motion
from steelyard.payload import (
    FILTERS,
    MOTIONS,
    NOISES,
    PAPERS_OBJECT,
    SensitivityPlan,
    SensitivityTable,
    study_motions,
    study_sensitivity,
)
from steelyard.robot import Robot, read_payload


@dataclass(frozen=True, eq=False)
class Studied:
    """What was asked and found out; and why usual kinds of motions are left out, by kind."""

    request: SensitivityRequest
    robot: Robot
    table: SensitivityTable
    left_out: Mapping[str, str] = field(default_factory=dict)


def studied(request: SensitivityRequest) -> Studied:
    """Choose the motions, add noise, and weigh."""
    robot = given_robot(
        request.robot,
        request.gravity,
        request.lock,
        request.tool_frame,
        arguments=request.arguments,
        stated=request,
    )
    robot.require_arm()
    body = PAPERS_OBJECT if request.payload is None else read_payload(request.payload)
    noises = NOISES if request.noise is None else noises_of(request.noise)
    filters = tuple(FILTERS) if request.filters is None else names_of(request.filters)
    kinds = names_of(USUAL if request.motions is None else request.motions)
    for place, given, valid in (("--motions", kinds, MOTIONS), ("--filters", filters, tuple(FILTERS))):
        for name in given:
            if name not in valid:
                raise UnknownNameError("choice", name, valid, place=place)
    _, noise = np.random.default_rng(request.seed).spawn(2)
    say(f"1  {request.count} motions of each kind: {', '.join(kinds)}")
    motions, left_out = _motions(request, robot, kinds)
    plan = SensitivityPlan(robot, motions, body, noises, filters, request.trials, request.rate)
    weighings = len(motions) * len(noises) * len(filters) * request.trials
    say(f"2  {body.mass:.4g} kg at {robot.tool_frame.name}, weighed {weighings} times")
    with _bar() as tell:
        table = study_sensitivity(plan, noise, tell)
    return Studied(request, robot, table, left_out)


def _motions(
    request: SensitivityRequest, robot: Robot, kinds: Sequence[str]
) -> tuple[dict[str, tuple[Motion, ...]], dict[str, str]]:
    """Motions by kind; and why a usual kind is left out that was not asked for and the robot cannot do."""
    motions: dict[str, tuple[Motion, ...]] = {}
    left_out: dict[str, NoSolutionError] = {}
    for kind in kinds:
        # A kind is the same whichever others there are, by the same source.
        paths, _ = np.random.default_rng(request.seed).spawn(2)
        try:
            motions |= study_motions(robot, (kind,), request.count, paths)
        except NoSolutionError as error:
            if request.motions is not None:
                raise
            say(f"   {kind} is left out: {error.message}")
            left_out[kind] = error
    if left_out and not motions:
        raise next(iter(left_out.values()))
    return motions, {kind: error.message for kind, error in left_out.items()}


@contextmanager
def _bar() -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, nothing in a pipe; yields what takes the share that is done."""
    columns = (TextColumn("   weighing"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, disable=not stderr.is_terminal, transient=True) as bar:
        task = bar.add_task("weigh", total=1.0)
        yield lambda share: bar.update(task, completed=share)
