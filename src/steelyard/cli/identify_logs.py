"""The logs of `steelyard identify`: read, made ready, divided into what is learnt from and what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.identify_closed_loop import LoopLog
from steelyard.cli.identify_request import CLOSED_LOOP, WINDOWS, Request, knowledge
from steelyard.cli.output import say
from steelyard.errors import InputError
from steelyard.estimation import KnownMoment, choose_cutoff, lowest_cutoff
from steelyard.finding import Finding
from steelyard.layout import Layout
from steelyard.recording import Reading, Recording, inspect_recording, read
from steelyard.robot import Robot
from steelyard.signals import (
    Preparation,
    band_of,
    evenly_timed,
    held_poses,
    kept_apart,
    prepared,
    sampling_of,
    torque_from_current,
)
from steelyard.threads import with_one_blas_thread
from steelyard.uncertainty import ACCURACY
from steelyard.workflows.logs import torque_signs

Chooser = Callable[[Recording, Recording], tuple[float, str]]
"""From a log with torques, and the same as its spectrum suggests to make it ready, to a cut-off and why."""


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
    every_sample: tuple[Recording, ...] = ()
    window: float | None = None
    """Training logs at their own rate, torques as measured, and the length of a window, s: for `momentum`."""
    strength: float | None = None
    prior_error: float = ACCURACY
    knowledge: Mapping[str, Any] = field(default_factory=dict)
    constant_errors: Array | None = None
    choose_drive: bool = False
    constants: Array | None = None
    moments: tuple[KnownMoment, ...] = ()
    """Torque constants as stated, N·m/A or N/A, and the moments that calibrate them."""


@with_one_blas_thread
def question(
    request: Request, robot: Robot, layout: Layout, prior: Array | None, constants: Array | None
) -> Question:
    """Read training and held-out logs; without one to hold out, a stretch of the last is kept apart."""
    if not request.logs:
        raise InputError("at least one log is needed.", place="LOG")
    findings: list[Finding] = []

    intervals: list[float] = []
    suggested: list[float] = []

    def ready(path: str, choose: Chooser) -> Recording:
        log, noticed, interval = log_made_ready(Path(path), robot, request, constants, choose)
        intervals.append(interval)
        findings.extend(finding for finding in noticed if finding not in findings)
        return log

    def predicting(log: Recording, found: Recording) -> tuple[float, str]:
        """What torques of the part that is learnt from are predicted best with."""
        alone = request.holdout is None and len(train) == len(request.logs) - 1
        parts = kept_apart(found).train if alone else (found,)
        spans = [(float(part.time[0]), float(part.time[-1])) for part in parts]
        suggested.append(float(band_of(found) or 0.0))
        choice = choose_cutoff(robot, layout, log, suggested[-1], spans=spans)
        return choice.frequency, choice.reason

    def as_in_training(log: Recording, found: Recording) -> tuple[float, str]:
        """Where training logs bear less than their spectra suggest, no more, but what this motion needs."""
        own, most = float(band_of(found) or 0.0), max(float(band_of(one) or 0.0) for one in train)
        if most >= max(suggested):
            return own, ""
        cutoff = min(own, max(most, lowest_cutoff(evenly_timed(log, longest_gap=np.inf), own)))
        return cutoff, "as that of the training logs, which was chosen by prediction."

    train: list[Recording] = []
    for path in request.logs:
        train.append(ready(path, predicting))
    first = list(train)
    if request.holdout is not None:
        apart, name = ready(request.holdout, as_in_training), Path(request.holdout).name
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
        _every_sample(request, robot, constants, train) if request.method == WINDOWS else (),
        request.window,
        request.strength,
        ACCURACY if request.prior_error is None else request.prior_error,
        knowledge(request),
        choose_drive=request.drive is None and request.method == "auto" and not request.static,
    )


def log_made_ready(
    path: Path, robot: Robot, request: Request, constants: Array | None, choose: Chooser | None = None
) -> tuple[Recording, tuple[Finding, ...], float]:
    """One log as q, v, a and tau, what was noticed about it, and its interval as it was recorded, s.

    Where no cut-off was asked for, the one that the log's spectrum suggests may be lowered by `choose`.
    """
    reading = _read(path, robot, request)
    interval = sampling_of(reading.recording).interval
    if request.static:
        return *_at_rest(path, reading, constants), interval
    limit = robot.limit_array("effort")
    found = prepared(reading.recording, Preparation(constants, request.cutoff, torque_limit=limit))
    band = band_of(found.recording)
    if choose is not None and request.cutoff is None and band is not None:
        log = reading.recording
        lower, why = choose(
            log if constants is None else torque_from_current(log, constants), found.recording
        )
        if lower < band:
            found = prepared(log, Preparation(constants, lower, why=why, torque_limit=limit))
    for remark in found.remarks:
        say(f"   {path.name}: {remark}")
    return found.recording, (*reading.findings, *found.findings), interval


def _read(path: Path, robot: Robot, request: Request) -> Reading:
    joints = [joint.name for joint in robot.joints if joint.nv]
    reading = read(path, joints=joints, columns=request.columns, topic=request.topic, lenient=True)
    signs = torque_signs(request.torque_sign, joints)
    return reading if signs is None else replace(reading, recording=_signed(reading.recording, signs))


def _signed(log: Recording, signs: Array) -> Recording:
    """The log with torques, or the currents they are made from, that count the other way where asked."""
    tau = None if log.tau is None else log.tau * signs
    current = None if log.current is None else log.current * signs
    return log.revised("torque_sign", {"signs": signs.tolist()}, tau=tau, current=current)


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


def _every_sample(
    request: Request, robot: Robot, constants: Array | None, train: Sequence[Recording]
) -> tuple[Recording, ...]:
    """The stretches that are learnt from, not thinned: velocities of the same band, torques as measured."""
    stretches: list[Recording] = []
    last = len(request.logs) - 1
    for k, path in enumerate(map(Path, request.logs)):
        log = _read(path, robot, request).recording
        # Of the last log there may be several stretches, between which others are kept apart.
        mine = train[k:] if k == last else train[k : k + 1]
        how = Preparation(constants, band_of(mine[0]), sampling_of(log).interval)
        whole = prepared(log, how).recording
        edge = 0.5 / whole.rate
        stretches += [whole.window(one.time[0] - edge, one.time[-1] + edge) for one in mine]
    return tuple(stretches)


def _at_rest(path: Path, reading: Reading, constants: Array | None) -> tuple[Recording, tuple[Finding, ...]]:
    log = reading.recording
    if constants is not None:
        log = torque_from_current(log, constants)
    poses = held_poses(log)
    say(f"   {path.name}: {poses.n} held poses")
    return poses, (*reading.findings, *inspect_recording(log))
