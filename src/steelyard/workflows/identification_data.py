"""The logs of an identification: read, made ready, divided into what is learnt from and what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.estimation import KnownMoment, choose_cutoff, lowest_cutoff
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.layout import Layout
from steelyard.progress import say
from steelyard.recording import Log, Reading, Recording, inspect_recording, log_name, read
from steelyard.robot import Robot
from steelyard.signals import (
    Preparation,
    band_of,
    evenly_timed,
    held_poses,
    holdout_split,
    prepared,
    sampling_of,
    torque_from_current,
)
from steelyard.threads import with_one_blas_thread
from steelyard.uncertainty import ACCURACY
from steelyard.workflows.identify_request import CLOSED_LOOP, WINDOWS, IdentifyRequest, knowledge
from steelyard.workflows.logs import torque_signs
from steelyard.workflows.record import GivenObjects

# What only a controller or a planned motion needs is loaded where one is given.
if TYPE_CHECKING:
    from steelyard.control import LoopSettings
    from steelyard.motion import Motion
    from steelyard.workflows.closed_loop import LoopLog

Chooser = Callable[[Recording, Recording], tuple[float, str]]
"""From a log with torques, and the same as its spectrum suggests to make it ready, to a cut-off and why."""


@dataclass(frozen=True, eq=False)
class IdentificationData:
    """Everything an estimate is made from, and what it is judged by."""

    robot: Robot
    layout: Layout
    prior: Array | None
    train: tuple[Recording, ...]
    holdout: Recording
    held_out: str
    findings: tuple[Finding, ...]
    motion: Motion | FilePath | None = None
    controller: LoopSettings | FilePath | None = None
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
    factors: Array | None = None
    """What logged torques were multiplied by because of those moments, shape (nv,), dimensionless."""


@dataclass(frozen=True, eq=False)
class LogOptions:
    """How logs are read and made ready, whichever workflow asks.

    Attributes:
        constants: torque per current at each joint, shape (nv,), N·m/A or N/A; None for logged torques.
        columns: what the columns are, as `recording.read` takes it.
        topic: of a bag.
        cutoff: of the low-pass filter, Hz; None for what the spectrum suggests.
        torque_sign: signs of the logged torques, as `--torque-sign` takes them.
        static: whether the logs hold poses.
    """

    constants: Array | None = None
    columns: Mapping[str, str] | str | None = None
    topic: str | None = None
    cutoff: float | None = None
    torque_sign: str | None = None
    static: bool = False

    @classmethod
    def of(cls, request: IdentifyRequest, constants: Array | None) -> LogOptions:
        """Those of an identification.

        Args:
            request: what was asked.
            constants: torque per current, shape (nv,), N·m/A or N/A.

        Returns:
            The options.
        """
        return cls(
            constants, request.columns, request.topic, request.cutoff, request.torque_sign, request.static
        )


@with_one_blas_thread
def identification_data(
    request: IdentifyRequest,
    robot: Robot,
    layout: Layout,
    prior: Array | None,
    constants: Array | None,
    objects: GivenObjects | None = None,
) -> IdentificationData:
    """Read training and held-out logs; without one to hold out, a stretch of the last is kept apart."""
    given, how = objects or GivenObjects(), LogOptions.of(request, constants)
    if not request.logs:
        raise InputError("at least one log is needed.", place="LOG")
    findings: list[Finding] = []

    intervals: list[float] = []
    suggested: list[float] = []

    def ready(path: str, choose: Chooser) -> Recording:
        log, noticed, interval = log_made_ready(given.of(path), robot, how, choose)
        intervals.append(interval)
        findings.extend(finding for finding in noticed if finding not in findings)
        return log

    def predicting(log: Recording, found: Recording) -> tuple[float, str]:
        """What torques of the part that is learnt from are predicted best with."""
        alone = request.holdout is None and len(train) == len(request.logs) - 1
        parts = holdout_split(found).train if alone else (found,)
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
    first, logs = list(train), [given.of(path) for path in request.logs]
    if request.holdout is not None:
        apart, name = ready(request.holdout, as_in_training), Path(request.holdout).name
    else:
        split = holdout_split(train.pop())
        train += split.train
        first[-1] = split.train[0]
        apart, name = split.apart, f"{Path(request.logs[-1]).name}, {split.words}"
        say(f"   no log to hold out is given, so a part is kept apart: {name}")
        if request.method == CLOSED_LOOP and len(split.train) > 1:
            say("   a loop is simulated from its start, so of that log only the first stretch is refined by")
    return IdentificationData(
        robot,
        layout,
        prior,
        tuple(train),
        apart,
        name,
        tuple(findings),
        given.of(request.motion),
        given.of(request.controller),
        request.static,
        max(intervals[: len(request.logs)]),
        _loops(logs, robot, how, first) if request.method == CLOSED_LOOP else (),
        _every_sample(logs, robot, how, train) if request.method == WINDOWS else (),
        request.window,
        request.strength,
        ACCURACY if request.prior_error is None else request.prior_error,
        knowledge(request),
        choose_drive=request.drive is None and request.method == "auto" and not request.static,
    )


def log_made_ready(
    log: Log, robot: Robot, how: LogOptions, choose: Chooser | None = None
) -> tuple[Recording, tuple[Finding, ...], float]:
    """One log as q, v, a and tau, what was noticed about it, and its interval as it was recorded, s.

    Where no cut-off was asked for, the one that the log's spectrum suggests may be lowered by `choose`.
    """
    reading, name = _read(log, robot, how), Path(log_name(log)).name
    interval = sampling_of(reading.recording).interval
    if how.static:
        return *_at_rest(name, reading, how.constants), interval
    limit, constants = robot.limit_array("effort"), how.constants
    found = prepared(reading.recording, Preparation(constants, how.cutoff, torque_limit=limit))
    band = band_of(found.recording)
    if choose is not None and how.cutoff is None and band is not None:
        whole = reading.recording
        lower, why = choose(
            whole if constants is None else torque_from_current(whole, constants), found.recording
        )
        if lower < band:
            found = prepared(whole, Preparation(constants, lower, why=why, torque_limit=limit))
    for remark in found.remarks:
        say(f"   {name}: {remark}")
    return found.recording, (*reading.findings, *found.findings), interval


def _read(log: Log, robot: Robot, how: LogOptions) -> Reading:
    joints = [joint.name for joint in robot.joints if joint.nv]
    reading = read(log, joints=joints, columns=how.columns, topic=how.topic, lenient=True)
    signs = torque_signs(how.torque_sign, joints)
    return reading if signs is None else replace(reading, recording=_signed(reading.recording, signs))


def _signed(log: Recording, signs: Array) -> Recording:
    """The log with torques, or the currents they are made from, that count the other way where asked."""
    tau = None if log.tau is None else log.tau * signs
    current = None if log.current is None else log.current * signs
    return log.revised("torque_sign", {"signs": signs.tolist()}, tau=tau, current=current)


def _loops(
    logs: Sequence[Log], robot: Robot, how: LogOptions, first: Sequence[Recording]
) -> tuple[LoopLog, ...]:
    """The training logs as they were recorded, each with the time of its first stretch made ready."""
    from steelyard.workflows.closed_loop import LoopLog

    found = []
    for given, stretch in zip(logs, first, strict=True):
        log = _read(given, robot, how).recording
        if how.constants is not None:
            log = torque_from_current(log, how.constants)
        name = Path(log_name(given)).name
        found.append(LoopLog(name, log, float(stretch.time[0]), float(stretch.time[-1])))
    return tuple(found)


def _every_sample(
    logs: Sequence[Log], robot: Robot, how: LogOptions, train: Sequence[Recording]
) -> tuple[Recording, ...]:
    """The stretches that are learnt from, not thinned: velocities of the same band, torques as measured."""
    stretches: list[Recording] = []
    last = len(logs) - 1
    for k, given in enumerate(logs):
        log = _read(given, robot, how).recording
        # Of the last log there may be several stretches, between which others are kept apart.
        mine = train[k:] if k == last else train[k : k + 1]
        whole = prepared(
            log, Preparation(how.constants, band_of(mine[0]), sampling_of(log).interval)
        ).recording
        edge = 0.5 / whole.rate
        stretches += [whole.window(one.time[0] - edge, one.time[-1] + edge) for one in mine]
    return tuple(stretches)


def _at_rest(name: str, reading: Reading, constants: Array | None) -> tuple[Recording, tuple[Finding, ...]]:
    log = reading.recording
    if constants is not None:
        log = torque_from_current(log, constants)
    poses = held_poses(log)
    say(f"   {name}: {poses.n} held poses")
    return poses, (*reading.findings, *inspect_recording(log))
