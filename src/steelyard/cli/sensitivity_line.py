"""From a request to tables: what `steelyard sensitivity` does, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from steelyard.cli.output import say, stderr
from steelyard.cli.robot_argument import given_robot
from steelyard.cli.sensitivity_request import SensitivityRequest, names_of, noises_of
from steelyard.errors import UnknownNameError
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
    """What was asked and found out."""

    request: SensitivityRequest
    robot: Robot
    table: SensitivityTable


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
    kinds = names_of(request.motions)
    for place, given, valid in (("--motions", kinds, MOTIONS), ("--filters", filters, tuple(FILTERS))):
        for name in given:
            if name not in valid:
                raise UnknownNameError("choice", name, valid, place=place)
    paths, noise = np.random.default_rng(request.seed).spawn(2)
    say(f"1  {request.count} motions of each kind: {', '.join(kinds)}")
    motions = study_motions(robot, kinds, request.count, paths)
    plan = SensitivityPlan(robot, motions, body, noises, filters, request.trials, request.rate)
    weighings = len(kinds) * len(noises) * len(filters) * request.trials
    say(f"2  {body.mass:.4g} kg at {robot.tool_frame.name}, weighed {weighings} times")
    with _bar() as tell:
        table = study_sensitivity(plan, noise, tell)
    return Studied(request, robot, table)


@contextmanager
def _bar() -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, nothing in a pipe; yields what takes the share that is done."""
    columns = (TextColumn("   weighing"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, disable=not stderr.is_terminal, transient=True) as bar:
        task = bar.add_task("weigh", total=1.0)
        yield lambda share: bar.update(task, completed=share)
