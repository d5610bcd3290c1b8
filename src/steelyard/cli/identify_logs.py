"""The logs of `steelyard identify`: read, made ready, divided into what is learnt from and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.arrays import Array
from steelyard.cli.identify_closed_loop import LoopLog
from steelyard.cli.identify_request import CLOSED_LOOP, Request, knowledge
from steelyard.cli.output import say
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.layout import Layout
from steelyard.recording import Reading, Recording, inspect_recording, read
from steelyard.robot import Robot
from steelyard.signals import (
    Preparation,
    held_poses,
    kept_apart,
    prepared,
    sampling_of,
    torque_from_current,
)
from steelyard.uncertainty import ACCURACY


@dataclass(frozen=True, eq=False)
class Question:
    """Everything an estimate is made from, and what it is judged by."""

    robot: Robot
    layout: Layout
    prior: Array | None
    train: tuple[Recording, ...]
    holdout: Recording
    held_out: str
    findings: tuple[Finding, ...]
    motion: str | None = None
    controller: str | None = None
    static: bool = False
    interval: float | None = None
    loops: tuple[LoopLog, ...] = ()
    strength: float | None = None
    prior_error: float = ACCURACY
    knowledge: Mapping[str, Any] = field(default_factory=dict)
    choose_drive: bool = False


def question(
    request: Request, robot: Robot, layout: Layout, prior: Array | None, constants: Array | None
) -> Question:
    """Read training and held-out logs; without one to hold out, a stretch of the last is kept apart."""
    if not request.logs:
        raise InputError("at least one log is needed.", place="LOG")
    findings: list[Finding] = []

    intervals: list[float] = []

    def ready(path: str) -> Recording:
        log, noticed, interval = log_made_ready(Path(path), robot, request, constants)
        intervals.append(interval)
        findings.extend(finding for finding in noticed if finding not in findings)
        return log

    train = [ready(path) for path in request.logs]
    first = list(train)
    if request.holdout is not None:
        apart, name = ready(request.holdout), Path(request.holdout).name
    else:
        split = kept_apart(train.pop())
        train += split.train
        first[-1] = split.train[0]
        apart, name = split.apart, f"{Path(request.logs[-1]).name}, {split.words}"
        say(f"   no log to hold out is given, so a part is kept apart: {name}")
        if request.method == CLOSED_LOOP and len(split.train) > 1:
            say("   a loop is simulated from its start, so of that log only the first stretch is refined by")
    return Question(
        robot,
        layout,
        prior,
        tuple(train),
        apart,
        name,
        tuple(findings),
        request.motion,
        request.controller,
        request.static,
        max(intervals[: len(request.logs)]),
        _loops(request, robot, constants, first) if request.method == CLOSED_LOOP else (),
        request.strength,
        ACCURACY if request.prior_error is None else request.prior_error,
        knowledge(request),
        request.drive is None and request.method == "auto" and not request.static,
    )


def log_made_ready(
    path: Path, robot: Robot, request: Request, constants: Array | None
) -> tuple[Recording, tuple[Finding, ...], float]:
    """One log as q, v, a and tau, what was noticed about it, and its interval as it was recorded, s."""
    reading = _read(path, robot, request)
    interval = sampling_of(reading.recording).interval
    if request.static:
        return *_at_rest(path, reading, constants), interval
    found = prepared(reading.recording, Preparation(constants, request.cutoff))
    for remark in found.remarks:
        say(f"   {path.name}: {remark}")
    return found.recording, (*reading.findings, *found.findings), interval


def _read(path: Path, robot: Robot, request: Request) -> Reading:
    joints = [joint.name for joint in robot.joints if joint.nv]
    return read(path, joints=joints, columns=request.columns, lenient=True)


def _loops(
    request: Request, robot: Robot, constants: Array | None, first: Sequence[Recording]
) -> tuple[LoopLog, ...]:
    """The training logs as they were recorded, each with the time of its first stretch made ready."""
    logs = []
    for path, stretch in zip(map(Path, request.logs), first, strict=True):
        log = _read(path, robot, request).recording
        if constants is not None:
            log = torque_from_current(log, constants)
        logs.append(LoopLog(path.name, log, float(stretch.time[0]), float(stretch.time[-1])))
    return tuple(logs)


def _at_rest(path: Path, reading: Reading, constants: Array | None) -> tuple[Recording, tuple[Finding, ...]]:
    log = reading.recording
    if constants is not None:
        log = torque_from_current(log, constants)
    poses = held_poses(log)
    say(f"   {path.name}: {poses.n} held poses")
    return poses, (*reading.findings, *inspect_recording(log))
