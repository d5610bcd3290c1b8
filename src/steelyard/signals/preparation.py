"""From a log as it was read to q, v, a and tau at one rate, ready to be identified from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, RecordingError, leading_to
from steelyard.finding import Finding, Severity
from steelyard.recording import (
    Recording,
    inspect_recording,
    saturated,
)
from steelyard.recording import (
    main_motion_rows as longest_motion,
)
from steelyard.signals.cutoff import (
    NYQUIST_SHARE,
    Cutoff,
    DerivativeSource,
    cutoff_of,
    derivative_source,
    motion_band,
)
from steelyard.signals.differentiation import Butterworth, differentiated
from steelyard.signals.periodic import period_of
from steelyard.signals.sampling import Sampling, evenly_timed, resampled, sampling_of
from steelyard.signals.selection import STANDING, main_motion, marked_limited, runs

# The entry that `prepared` makes in a recording's history, and how later steps read it

ACTION = "prepared"


def marked_prepared(recording: Recording, cutoff: float, period: float | None) -> Recording:
    """State the band of a recording and its period in its history.

    Args:
        recording: a recording whose motion passed a low-pass.
        cutoff: the cut-off, Hz.
        period: time after which the motion repeats, s; None where it does not.

    Returns:
        The same recording with that step.
    """
    return recording.revised(ACTION, {"cutoff": cutoff, "period": period})


def stated_preparation(recording: Recording, what: Literal["cutoff", "period"]) -> float | None:
    """Return what the last such step states.

    Args:
        recording: any recording.
        what: `cutoff` in Hz, or `period` in s.

    Returns:
        The number; None where the history has no such step, or the step no such number.
    """
    values = [step.detail[what] for step in recording.provenance if step.action == ACTION]
    return values[-1] if values and isinstance(values[-1], float) else None


# The band in which torques are compared: below the cut-off of the motion they are predicted from.
#
# A motion that passed a low-pass F tells nothing of the torque above its cut-off. There the measured torque
# is noise, and the predicted one has the jumps of dry friction, sharper than any motor's torque. So both pass
# F:
#
# $$e = F\tau - F\hat\tau = F(\tau - \hat\tau)$$

_SAME_STEP = 1.5  # a longer interval, in median ones, parts two stretches


def band_of(recording: Recording) -> float | None:
    """Return the cut-off below which torques along a recording are to be compared.

    Args:
        recording: any recording.

    Returns:
        The cut-off, Hz; None where the history states none, as for held poses.
    """
    return stated_preparation(recording, "cutoff")


def in_band(recording: Recording, series: Array) -> Array:
    """Pass a series along a recording through the low-pass that its motion passed, forwards and backwards.

    Each stretch without a gap passes by itself, and no sample is cut: what is compared has the same ends.

    Args:
        recording: a recording, whole or in stretches.
        series: samples at its times, shape (N, n), SI, such as measured or predicted torques.

    Returns:
        The filtered samples, shape (N, n), SI; unchanged where the history states no band.

    Raises:
        InputError: there are not as many samples as the recording has.
    """
    x = checked("series", series, ("N", "n"))
    if len(x) != recording.n:
        raise InputError(f"has {len(x)} samples, the recording {recording.n}.", place="series")
    cutoff = band_of(recording)
    if cutoff is None:
        return x
    steps = np.diff(recording.time)
    interval = float(np.median(steps))
    joined = np.concatenate((steps < _SAME_STEP * interval, [False]))
    low_pass, y = Butterworth(cutoff), np.array(x)
    for start, last in runs(joined):
        y[start : last + 1] = low_pass.filtered(x[start : last + 1], interval, 0, 0)
    return y


# The period of a motion, as found in the whole log


def repeats_after(recording: Recording) -> float | None:
    """Return the time after which a motion repeats.

    A log that was made ready states what was found before filters cut its ends, which may leave too little of
    the second period to see it; elsewhere the recording itself is looked at.

    Args:
        recording: a recording, uniform where it was not made ready.

    Returns:
        The period, s; None where nothing repeats.
    """
    known = stated_preparation(recording, "period")
    if known is not None:
        return known
    try:
        return period_of(recording)
    except InputError:
        return None


# Joint torque from motor current.


def torque_from_current(recording: Recording, constants: ArrayLike) -> Recording:
    r"""Give a recording of currents its joint torques; the currents stay.

    $$\tau_j = k_j\, i_j$$

    Args:
        recording: a recording with currents and without torques.
        constants: k, torque at the *joint* per current, gears included, shape (nj,), N·m/A or N/A.

    Raises:
        RecordingError: there are no currents, or there are torques already.
        InputError: a constant is zero.
    """
    if recording.current is None:
        raise RecordingError("there are no currents.", place="current")
    if recording.tau is not None:
        raise RecordingError(
            "there are torques already.",
            place="tau",
            remedy="Leave the torque constants away (--torque-constant), or the torques out of the log.",
        )
    k = checked("torque constants", constants, (len(recording.joints),))
    if not np.all(k):
        joint = recording.joints[int(np.argmin(np.abs(k)))]
        raise InputError("must not be zero.", place=f"torque constant of joint '{joint}'")
    detail = {"torque_constant_at": "joint", "torque_constant": k.tolist()}
    return recording.revised("torque_from_current", detail, tau=recording.current * k)


ROOM = 4.0
"""Largest cut-off over the band of the motion: an octave of room, and one in which the filter falls."""
SAMPLES_A_PERIOD = 20.0
"""Samples kept for each period of the cut-off frequency. Torques pass the filter of the resampling, whose
edge is then far above the cut-off: the jump of dry friction where a joint turns stays sharp."""
THINNED = 2.01
"""Samples that one must stand for before a log is thinned: a gain of less is not worth the filter's ends."""

LARGEST, SHORTEST = 1e12, 1e-12
"""Largest value of a log, SI, and least time between two samples, s: squares of what is beyond, or one over
it, leave the range of numbers."""
STILL, STILL_SHARE = 1e-12, 1e-6
"""Change of a torque that is none, N·m or N, and by its largest value: squares of less leave the digits."""
SAME_INTERVAL = 1e-6
"""Relative difference of two intervals that are the same."""


@dataclass(frozen=True, eq=False)
class Preparation:
    """How a log is made ready, where the log itself is not to decide.

    Attributes:
        torque_constant: torque at the joint per current, shape (nj,), N·m/A or N/A; None where torques were
            recorded.
        cutoff: cut-off of the low-pass, Hz; None to choose it by the log's own spectrum.
        interval: interval of the samples that are kept, s; None to choose it by the cut-off. That of the log
            itself keeps every sample, and torques as they were measured.
        why: where a cut-off is given, who chose it and why, in one sentence.
        torque_limit: largest torque of each joint's drive, infinite where there is none, shape (nj,), N·m or
            N; None where nothing is stated. Samples at it are marked, see `without_limited`.
        torques: whether torques are needed; where they are not, as for a sensor at the wrist, they are left
            out.
    """

    torque_constant: Array | None = None
    cutoff: float | None = None
    interval: float | None = None
    why: str = "as asked."
    torque_limit: Array | None = None
    torques: bool = True

    def __post_init__(self) -> None:
        if self.torque_constant is not None:
            constants = read_only(checked("torque constants", self.torque_constant, ("nj",)))
            object.__setattr__(self, "torque_constant", constants)
        if self.torque_limit is not None:
            limits = read_only(checked("torque limits", self.torque_limit, ("nj",), finite=False))
            object.__setattr__(self, "torque_limit", limits)
        for name, value, unit in (("cutoff", self.cutoff, "Hz"), ("interval", self.interval, "s")):
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive, got {value:g} {unit}.", place=name)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A log that is ready.

    Attributes:
        recording: q, v, a and tau at one rate; its history has every step, and states the band that `in_band`
            uses and the period that `repeats_after` gives.
        findings: what is wrong with the log as it was read.
        remarks: what was chosen and why, a sentence each.
    """

    recording: Recording
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]


def prepared(log: Recording, how: Preparation | None = None) -> Prepared:
    """Bring a log to q, v, a and tau at one rate.

    Time is made even, positions pass a zero-phase low-pass and are differentiated, or measured velocities
    where these were measured by themselves and are quieter (`derivative_source`), the samples are thinned to
    what the band needs, and the main motion is kept. Torques do not pass the low-pass: dry friction jumps
    where a joint turns, and a model that jumps does not fit a torque that was smoothed. What a model predicts
    is compared with them in the band of the motion, see `in_band`.

    Args:
        log: a log as it was read.
        how: what is not to be chosen by the log itself.

    Returns:
        The log made ready.

    Raises:
        RecordingError: there are no torques, nothing moves, or the log is too short.
    """
    with leading_to(_file_of(log)):
        return _made_ready(log, how or Preparation())


def _file_of(log: Recording) -> str:
    """The name of the file that a log was read from; empty for one that was not."""
    files = [step.detail.get("file", "") for step in log.provenance if step.action == "read"]
    return str(files[-1]) if files else ""


def _made_ready(log: Recording, how: Preparation) -> Prepared:
    _require_measured(log)
    findings = inspect_recording(log)
    if not how.torques:
        log = log.with_channels(tau=None, current=None)
    elif how.torque_constant is not None:
        log = torque_from_current(log, how.torque_constant)
    if log.tau is not None:
        _require_live_torques(log, log.tau)
    elif how.torques:
        remedy = "State the torque constants." if log.current is not None else "Record joint torques."
        raise RecordingError("has no torques.", place="log", remedy=remedy)
    at_limit, noticed = _limited(log, how.torque_limit) if how.torques else ([], ())
    sampling, count = sampling_of(log), log.n
    log = evenly_timed(log, longest_gap=np.inf)
    remarks = [f"{count} samples of {sampling.interval:.4g} s; {_said_of_time(sampling, log)}."]
    period = repeats_after(log.rows(longest_motion(log)))
    source, suggested = _source(log)
    cutoff, why = _cutoff(log, source.channel, suggested) if how.cutoff is None else (how.cutoff, how.why)
    what = "velocities and positions" if source.channel == "v" else "positions"
    remarks.append(f"{what} pass a low-pass of {cutoff:.3g} Hz: {why}")
    if source.reason:
        remarks.append(source.reason)
    log = _with_derivatives(log, cutoff, source.channel)
    interval = 1.0 / (SAMPLES_A_PERIOD * cutoff) if how.interval is None else how.interval
    asked = how.interval is not None and abs(interval * log.rate - 1.0) > SAME_INTERVAL
    if asked or (how.interval is None and interval * log.rate > THINNED):
        log = resampled(log, interval)
    whole = log.duration
    log = main_motion(log, STANDING)
    remarks.append(
        f"{log.n} samples of {1.0 / log.rate:.4g} s are kept, {log.duration:.4g} of {whole:.4g} s, in which "
        f"the joints move; {'torques' if how.torques else 'wrenches'} are compared below "
        f"{_band(log, cutoff):.3g} Hz."
    )
    if period is not None:
        remarks.append(f"the motion repeats after {period:.4g} s.")
    ready = marked_prepared(log, _band(log, cutoff), period)
    if at_limit:
        ready = marked_limited(ready, at_limit)
    return Prepared(ready, (*findings, *noticed), tuple(remarks))


def _require_measured(log: Recording) -> None:
    """Refuse values that nobody measured, whose squares or intervals leave the range of numbers."""
    shortest = float(np.diff(log.time).min())
    if not (shortest >= SHORTEST and log.duration <= LARGEST):
        raise RecordingError(
            f"has samples {shortest:.3g} s apart over {log.duration:.3g} s; at least {SHORTEST:g} s and at "
            f"most {LARGEST:g} s are taken.",
            place="time",
            remedy="Check the unit of the time column.",
        )
    for name, values in log.channels.items():
        if max(float(values.max()), -float(values.min())) > LARGEST:
            row, joint = (int(i) for i in np.argwhere(np.abs(values) > LARGEST)[0])
            raise RecordingError(
                f"is {values[row, joint]:.3g} at {log.time[row]:.6g} s, beyond {LARGEST:g}.",
                place=f"{name} of joint '{log.joints[joint]}'",
                remedy="No robot measures that: remove these samples, or export the log again.",
            )


def _require_live_torques(log: Recording, tau: Array) -> None:
    """Refuse a channel that shows one and the same torque while its joint moves: nobody measured it."""
    for j, joint in enumerate(log.joints):
        change = float(np.ptp(tau[:, j]))
        if change <= max(STILL, STILL_SHARE * float(np.abs(tau[:, j]).max())) and np.ptp(log.q[:, j]) > 0.0:
            raise RecordingError(
                f"is {tau[0, j]:g} and changes by {change:.2g} in {log.n} samples while the joint moves, so "
                "it was not measured.",
                place=f"tau of joint '{joint}'",
                remedy="Record it, or hold the joint still and leave it out with --lock.",
            )


def prepared_alike(logs: Sequence[Recording], how: Preparation | None = None) -> tuple[Prepared, ...]:
    """Bring several logs to one rate and one band, so that samples of one can be taken off another's.

    Args:
        logs: as they were read.
        how: what is not to be chosen by the logs themselves.

    Returns:
        The logs made ready, each as `prepared` does, with the highest cut-off that one of them asks for.
    """
    how = how or Preparation()
    found = tuple(prepared(log, how) for log in logs)
    bands = [band for one in found if (band := band_of(one.recording)) is not None]
    if how.cutoff is not None or len(set(bands)) < 2:
        return found
    return tuple(prepared(log, replace(how, cutoff=max(bands))) for log in logs)


def _limited(log: Recording, limits: Array | None) -> tuple[list[tuple[float, float]], tuple[Finding, ...]]:
    """The stretches of time in which a drive is at its limit, s, and a finding that says so."""
    rows = saturated(log, limits)
    at = np.asarray(rows.any(axis=1))
    if not at.any():
        return [], ()
    names = ", ".join(joint for j, joint in enumerate(log.joints) if rows[:, j].any())
    first = float(log.time[int(np.argmax(at))])
    message = (
        f"{names}: the torque stands at its limit in {100.0 * at.mean():.2g} % of the samples, first at "
        f"{first:.4g} s; they are left out."
    )
    stretches = [(float(log.time[a]), float(log.time[b - 1])) for a, b in runs(at)]
    return stretches, (Finding(Severity.WARNING, "torque-limit", message, "tau"),)


def _source(log: Recording) -> tuple[DerivativeSource, Cutoff | None]:
    """What accelerations are made from, and the cut-off that positions suggest; None for a short log."""
    if log.v is None:
        return DerivativeSource("q"), None
    try:
        suggested = cutoff_of(log)
    except RecordingError:
        # Too short for a spectrum, or nothing moves: a stated cut-off may do without one.
        return DerivativeSource("q"), None
    return derivative_source(log, suggested), suggested


def _cutoff(log: Recording, channel: Literal["q", "v"], suggested: Cutoff | None) -> tuple[float, str]:
    """The cut-off that noise suggests, or a lower one where the motion needs no more."""
    chosen = suggested if suggested is not None and channel == "q" else cutoff_of(log, channel)
    bands = motion_band(log, chosen.each, channel)
    j = int(np.argmax(bands))
    if ROOM * bands[j] >= chosen.frequency:
        return chosen.frequency, chosen.reason
    reason = (
        f"the accelerations of joint '{log.joints[j]}', the widest band of all, lie below {bands[j]:.4g} Hz; "
        f"the cut-off is {ROOM:g} times that."
    )
    return ROOM * float(bands[j]), reason


def _with_derivatives(log: Recording, cutoff: float, source: Literal["q", "v"]) -> Recording:
    """Velocities and accelerations from filtered positions or velocities; torques as they are."""
    bare = log.with_channels(tau=None, current=None)
    done = differentiated(bare, Butterworth(cutoff), source)
    first = int(np.searchsorted(log.time, done.time[0]))
    rows = slice(first, first + done.n)
    kept = {name: log.channels[name][rows] for name in ("tau", "current") if name in log.channels}
    return done.with_channels(**kept)


def _band(log: Recording, cutoff: float) -> float:
    return min(cutoff, NYQUIST_SHARE * 0.5 * log.rate)


def _said_of_time(sampling: Sampling, even: Recording) -> str:
    if sampling.is_uniform:
        return "their time is even"
    cure = even.provenance[-1].detail["chosen"]
    what = "samples were interpolated" if cure == "to_uniform_time" else "stamps were put on a line"
    gaps = f", over {len(sampling.gaps)} gaps" if sampling.gaps else ""
    return f"stamps are up to {sampling.jitter:.2g} s off an even line, so {what}{gaps}"
