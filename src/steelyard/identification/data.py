"""The logs of an identification: read, made ready, divided into what is learnt from and what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import GeometricPrior, link_shapes
from steelyard.errors import InputError
from steelyard.estimation import KnownMoment, choose_cutoff, lowest_cutoff
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.layout import Layout
from steelyard.progress import say
from steelyard.recording import Log, Reading, Recording, Units, inspect_recording, log_name, read
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

# What only a controller or a planned motion needs is loaded where one is given.
if TYPE_CHECKING:
    from steelyard.control import LoopSettings
    from steelyard.identification.closed_loop import LoopLog
    from steelyard.motion import Motion

CLOSED_LOOP = "clie"
"""The method that simulates the controller with the robot, beside those of a problem alone."""
WINDOWS = "momentum"
"""The method that integrates over windows of the log at its own rate."""

Chooser = Callable[[Recording, Recording], tuple[float, str]]
"""From a log with torques, and the same as its spectrum suggests to make it ready, to a cut-off and why."""


@dataclass(frozen=True, eq=False)
class IdentificationData:
    """Everything an estimate is made from, and what it is judged by.

    Attributes:
        robot: the robot that moved.
        layout: the parameters asked about.
        train: the logs that are learnt from, made ready.
        holdout: the log that is not learnt from, made ready.
        held_out: what to call it.
        findings: what was noticed so far.
        interval: of the training logs as they were recorded, s; None for data that has no lag, such as the
            truth of a simulation, and is taken as it is.
        loops: for `clie`, the training logs as they were recorded.
        every_sample: for `momentum`, the training logs at their own rate, torques as measured.
        static: whether the logs hold poses.
        prior: what is believed beforehand, NaN where nothing is, shape (p,), SI; None for nothing at all.
        prior_error: relative error of the links believed beforehand, dimensionless.
        knowledge: what else is known, as `consistency.prior_of` takes it.
        strength: of the pull towards the prior; None lets left-out blocks choose.
        motion: the planned motion, or its file; for `iv` and `clie`.
        controller: the control law that followed it, or its file; for `iv` and `clie`.
        window: length of a window of `momentum`, s; None for the usual one.
        choose_drive: whether the logs decide which drive terms are asked about.
        constants: torque constants as stated, shape (nv,), N·m/A or N/A; None for logged torques.
        constant_errors: relative deviations of them, shape (nv,), dimensionless; None for none.
        moments: of gravity, which are known and calibrate the constants.
        factors: what logged torques were multiplied by because of those moments, shape (nv,), dimensionless.
    """

    robot: Robot
    layout: Layout
    train: tuple[Recording, ...]
    holdout: Recording
    held_out: str
    findings: tuple[Finding, ...] = ()
    interval: float | None = None
    loops: tuple[LoopLog, ...] = ()
    every_sample: tuple[Recording, ...] = ()
    static: bool = False
    prior: Array | None = None
    prior_error: float = ACCURACY
    knowledge: Mapping[str, Any] = field(default_factory=dict)
    strength: float | None = None
    motion: Motion | FilePath | None = None
    controller: LoopSettings | FilePath | None = None
    window: float | None = None
    choose_drive: bool = False
    constants: Array | None = None
    constant_errors: Array | None = None
    moments: tuple[KnownMoment, ...] = ()
    factors: Array | None = None

    def believing(self, prior: GeometricPrior, *, shapes: bool = True) -> IdentificationData:
        """The same data with what is known beforehand of the links.

        Args:
            prior: numbers of the links, and which of them nobody stated.
            shapes: whether links stay within the shapes of the description.

        Returns:
            The data, what was noticed about the prior first.
        """
        within = link_shapes(self.robot) if shapes else {}
        return replace(
            self,
            prior=prior.parameters,
            knowledge={**self.knowledge, "guessed": prior.replaced, "shapes": within},
            findings=(*prior.findings, *self.findings),
        )


@dataclass(frozen=True, eq=False)
class LogOptions:
    """How logs are read and made ready, whichever workflow asks.

    Attributes:
        constants: torque per current at each joint, shape (nv,), N·m/A or N/A; None for logged torques.
        columns: what the columns are, as `recording.read` takes it.
        topic: of a bag.
        cutoff: of the low-pass filter, Hz; None for what the spectrum suggests.
        signs: of the logged torques and currents, shape (nv,), dimensionless; None to take them as they are.
        static: whether the logs hold poses.
        units: in which units the logs are; None for SI.
    """

    constants: Array | None = None
    columns: Mapping[str, str] | str | None = None
    topic: str | None = None
    cutoff: float | None = None
    signs: Array | None = None
    static: bool = False
    units: Units | None = None


@with_one_blas_thread
def identification_data(
    robot: Robot,
    layout: Layout,
    logs: Sequence[Log],
    holdout: Log | None = None,
    how: LogOptions | None = None,
    method: str = "auto",
) -> IdentificationData:
    """Read training and held-out logs; without one to hold out, a stretch of the last is kept apart.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about: positions are filtered as they bear it.
        logs: what is learnt from.
        holdout: what is not; None to keep a stretch of the last log apart.
        how: how they are read; None for what the logs themselves suggest.
        method: for which they are made ready: `clie` also needs them as they were recorded, `momentum` at
            their own rate.

    Returns:
        The data, with nothing known beforehand.

    Raises:
        InputError: there is no log, or one cannot be used.
    """
    how = how or LogOptions()
    if not logs:
        raise InputError("at least one log is needed.", place="LOG")
    findings: list[Finding] = []

    intervals: list[float] = []
    suggested: list[float] = []

    def ready(log: Log, choose: Chooser) -> Recording:
        done, noticed, interval = log_made_ready(log, robot, how, choose)
        intervals.append(interval)
        findings.extend(finding for finding in noticed if finding not in findings)
        return done

    def predicting(log: Recording, found: Recording) -> tuple[float, str]:
        """What torques of the part that is learnt from are predicted best with."""
        alone = holdout is None and len(train) == len(logs) - 1
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
    for log in logs:
        train.append(ready(log, predicting))
    first = list(train)
    if holdout is not None:
        apart, name = ready(holdout, as_in_training), _file_name(holdout)
    else:
        split = holdout_split(train.pop())
        train += split.train
        first[-1] = split.train[0]
        apart, name = split.apart, f"{_file_name(logs[-1])}, {split.words}"
        say(f"   no log to hold out is given, so a part is kept apart: {name}")
        if method == CLOSED_LOOP and len(split.train) > 1:
            say("   a loop is simulated from its start, so of that log only the first stretch is refined by")
    return IdentificationData(
        robot,
        layout,
        tuple(train),
        apart,
        name,
        tuple(findings),
        max(intervals[: len(logs)]),
        _loops(logs, robot, how, first) if method == CLOSED_LOOP else (),
        _every_sample(logs, robot, how, train) if method == WINDOWS else (),
        how.static,
    )


def log_made_ready(
    log: Log, robot: Robot, how: LogOptions, choose: Chooser | None = None
) -> tuple[Recording, tuple[Finding, ...], float]:
    """One log as q, v, a and tau.

    Args:
        log: as it is given.
        robot: the robot that moved.
        how: how it is read and made ready.
        choose: may lower the cut-off that the log's spectrum suggests, where none was asked for.

    Returns:
        The log made ready, what was noticed about it, and its interval as it was recorded, s.

    Raises:
        InputError: the log cannot be used.
    """
    reading, name = _read(log, robot, how), _file_name(log)
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
    reading = read(log, joints=joints, columns=how.columns, topic=how.topic, units=how.units, lenient=True)
    if how.signs is None:
        return reading
    return replace(reading, recording=_signed(reading.recording, how.signs))


def _file_name(log: Log) -> str:
    """What to call a log in messages."""
    return Path(log_name(log)).name


def _signed(log: Recording, signs: Array) -> Recording:
    """The log with torques, or the currents they are made from, that count the other way where asked."""
    tau = None if log.tau is None else log.tau * signs
    current = None if log.current is None else log.current * signs
    return log.revised("torque_sign", {"signs": signs.tolist()}, tau=tau, current=current)


def _loops(
    logs: Sequence[Log], robot: Robot, how: LogOptions, first: Sequence[Recording]
) -> tuple[LoopLog, ...]:
    """The training logs as they were recorded, each with the time of its first stretch made ready."""
    from steelyard.identification.closed_loop import LoopLog

    found = []
    for given, stretch in zip(logs, first, strict=True):
        log = _read(given, robot, how).recording
        if how.constants is not None:
            log = torque_from_current(log, how.constants)
        found.append(LoopLog(_file_name(given), log, float(stretch.time[0]), float(stretch.time[-1])))
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
