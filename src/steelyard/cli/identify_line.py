"""From logs to a judged estimate: what `steelyard identify` does, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import (
    Check,
    Status,
    TorqueError,
    Verdict,
    check_colour,
    check_excitation,
    check_friction,
    check_links,
    check_mass_matrix,
    check_torque,
    torque_error,
)
from steelyard.cli.output import say
from steelyard.errors import InputError, RecordingError
from steelyard.finding import Finding
from steelyard.identifiability import certify_excitation
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.recording import Recording, inspect_recording, read, same_motion
from steelyard.robot import Robot
from steelyard.signals import (
    Butterworth,
    cutoff_of,
    differentiated,
    evenly_timed,
    main_motion,
    resampled,
    torque_from_current,
    with_rows,
)

STANDING = 0.01
"""Speed below which a joint stands, rad/s or m/s."""
SAMPLES_A_PERIOD = 5.0
"""Samples kept for each period of the cut-off frequency: more are neighbours that repeat each other."""
KEPT_APART = 0.25
"""Share of a log that is kept apart for judgement where no other log is given."""


@dataclass(frozen=True)
class Preparation:
    """How logs are made ready; attributes as in the command's options."""

    torque_constant: Array | None = None
    columns: str | None = None
    cutoff: float | None = None


@dataclass(frozen=True, eq=False)
class Identification:
    """Everything that was found out."""

    robot: Robot
    layout: Layout
    problem: Problem
    estimate: Estimate
    verdict: Verdict
    train: TorqueError
    holdout: TorqueError
    recordings: dict[str, Recording]
    held_out: str
    findings: tuple[Finding, ...]


def prepared(path: Path, robot: Robot, how: Preparation) -> tuple[Recording, tuple[Finding, ...]]:
    """Read a log and bring it to q, v, a and tau at one rate, filtered alike."""
    joints = [joint.name for joint in robot.joints if joint.nv]
    reading = read(path, joints=joints, columns=how.columns, lenient=True)
    log = reading.recording
    noticed = (*reading.findings, *inspect_recording(log))
    if how.torque_constant is not None:
        log = torque_from_current(log, how.torque_constant)
    if log.tau is None:
        remedy = "Give --torque-constant." if log.current is not None else "Record joint torques."
        raise RecordingError("has no torques.", place=str(path), remedy=remedy)
    log = evenly_timed(log, longest_gap=np.inf)
    chosen = cutoff_of(log)
    cutoff = chosen.frequency if how.cutoff is None else how.cutoff
    say(f"   {path.name}: {log.n} samples, low-pass at {cutoff:.3g} Hz")
    if how.cutoff is None:
        say(f"   {chosen.reason}")
    log = main_motion(differentiated(log, Butterworth(cutoff)), STANDING)
    interval = 1.0 / (SAMPLES_A_PERIOD * cutoff)
    if interval > 2.0 / log.rate:
        log = resampled(log, interval)
    return log, noticed


def split(log: Recording) -> tuple[Recording, Recording]:
    """The first part of a log, and the last, which is kept apart."""
    first = log.time < log.time[0] + (1.0 - KEPT_APART) * log.duration
    return with_rows(log, first, "train on"), with_rows(log, ~first, "keep apart")


def identification(
    robot: Robot,
    layout: Layout,
    train: Sequence[Recording],
    holdout: Recording,
    estimate: Estimate,
    problem: Problem,
    findings: Sequence[Finding],
    *,
    held_out: str,
) -> Identification:
    """Judge an estimate on the data it was made from and on data it has not seen."""
    names = [joint.name for joint in robot.joints if joint.nv]
    repeat = "it repeats a training motion" if any(same_motion(log, holdout) for log in train) else ""
    used = problem.samples
    measured = holdout.channels["tau"]
    predicted = estimate.torque(robot, holdout)
    seen = np.vstack([estimate.torque(robot, log) for log in train])
    error, fitted = torque_error(measured, predicted), torque_error(used.tau, seen)
    checks = [
        check_torque(
            "held-out torque", error, names, nominal=_nominal(robot, layout, holdout), repeat=repeat
        ),
        *_link_checks(robot, layout, estimate),
        check_excitation(
            certify_excitation(
                problem.structure, robot, used.q, used.v, used.a, rng=np.random.default_rng(0)
            ),
            estimate.condition,
        ),
        check_colour(measured - predicted, names),
        check_friction(measured - predicted, holdout.channels["v"], names),
    ]
    recordings = {f"train {k + 1}": log for k, log in enumerate(train)} | {held_out: holdout}
    return Identification(
        robot,
        layout,
        problem,
        estimate,
        Verdict(tuple(checks)),
        fitted,
        error,
        recordings,
        held_out,
        tuple(findings),
    )


def _nominal(robot: Robot, layout: Layout, log: Recording) -> TorqueError | None:
    """The torque error of the description's own numbers, where it states every link."""
    from steelyard.dynamics import inverse_dynamics

    if any(link.body is None for link in robot.links):
        return None
    channels = log.channels
    tau = inverse_dynamics(
        robot, layout, layout.complete_nominal(), channels["q"], channels["v"], channels["a"]
    )
    return torque_error(channels["tau"], tau)


def _link_checks(robot: Robot, layout: Layout, estimate: Estimate) -> list[Check]:
    if estimate.parameters is None:
        why = "only combinations of parameters were estimated, not links."
        return [Check(name, Status.NOT_RUN, why) for name in ("physical consistency", "mass matrix")]
    links = check_links(layout, estimate.parameters)
    possible = links.status is Status.PASS
    rng = np.random.default_rng(0)
    return [links, check_mass_matrix(robot, layout, estimate.parameters, possible, rng)]


def question(
    robot: Robot,
    layout: Layout,
    logs: Sequence[Path],
    holdout: Path | None,
    how: Preparation,
) -> tuple[list[Recording], Recording, str, list[Finding]]:
    """Read training and held-out logs; without one to hold out, the end of the last is kept apart."""
    if not logs:
        raise InputError("at least one log is needed.", place="LOG")
    findings: list[Finding] = []
    train = []
    for path in logs:
        log, noticed = prepared(path, robot, how)
        train.append(log)
        findings += noticed
    if holdout is not None:
        other, noticed = prepared(holdout, robot, how)
        findings += noticed
        return train, other, holdout.name, findings
    train[-1], other = split(train[-1])
    start = other.time[0]
    name = f"last {100 * KEPT_APART:.0f} % of {logs[-1].name}"
    say(f"   no log to hold out is given: {name}, from {start:.4g} s on, is kept apart")
    return train, other, name, findings


def pose(robot: Robot, layout: Layout, train: Sequence[Recording]) -> Problem:
    """The question of the training logs."""
    stated = all(link.body is not None for link in robot.links)
    return problem_of(robot, layout, train, prior=layout.nominal if stated else None)
