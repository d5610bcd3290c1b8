"""All that a recording's own numbers reveal about it: clock, values, units, torques at a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.finding import Finding, Severity
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.inspection.garbage import garbage_rows
from steelyard.recording.inspection.phases import phase_findings, velocities
from steelyard.recording.recording import Recording

# The clock of a recording: uneven intervals, gaps, samples that repeat the one before.

JITTER = 0.05
"""Intervals are uneven when a tenth of them differ from the median by more than this part of it."""
GAP = 2.0
"""An interval longer than so many medians is a gap."""
STALE = 0.01
"""Part of the samples that may repeat the one before in every channel."""
MOST_GAPS = 20


def clock_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what is wrong with the times of the samples.

    Yields:
        One finding for each gap, up to `MOST_GAPS`, and one each for jitter and for repeated samples.
    """
    intervals = np.diff(recording.time)
    median = float(np.median(intervals))
    spread = float(np.quantile(np.abs(intervals - median), 0.9)) / median
    if spread > JITTER:
        yield Finding(
            Severity.WARNING,
            "clock-jitter",
            f"intervals run from {1e3 * intervals.min():.4g} to {1e3 * intervals.max():.4g} ms around a "
            f"median of {1e3 * median:.4g} ms; a tenth are off by more than {100 * spread:.3g} %.",
            "time",
        )
    yield from _gaps(recording, median)
    yield from _stale(recording)


def _gaps(recording: Recording, median: float) -> Iterator[Finding]:
    intervals = np.diff(recording.time)
    gaps = np.flatnonzero(intervals > GAP * median)
    for before in gaps[:MOST_GAPS]:
        lost = np.round(intervals[before] / median) - 1.0
        yield Finding(
            Severity.WARNING,
            "gap",
            f"{1e3 * intervals[before]:.4g} ms without a sample at {recording.time[before]:.6g} s, room for "
            f"{lost:.6g} more.",
            f"rows {before} to {before + 1}",
        )
    if len(gaps) > MOST_GAPS:
        rest = gaps[MOST_GAPS:]
        yield Finding(
            Severity.WARNING,
            "gap",
            f"{len(rest)} further gaps, the longest of {1e3 * intervals[rest].max():.4g} ms.",
            f"rows {rest[0]} to {rest[-1] + 1}",
        )


def _stale(recording: Recording) -> Iterator[Finding]:
    values = np.hstack(list(recording.channels.values()))
    same = (values[1:] == values[:-1]).all(axis=1)
    if same.mean() > STALE:
        first = int(np.flatnonzero(same)[0]) + 1
        yield Finding(
            Severity.WARNING,
            "repeated-samples",
            f"{int(same.sum())} of {recording.n} samples repeat the one before in every channel: the log is "
            "faster than the measurement, or the measurement stood still.",
            f"row {first}",
        )


# Torques and currents that stand at a limit: what a drive would have given beyond it was not given.
#
# While a drive is at its limit the controller no longer holds the motion, and a meter at the end of its scale
# reads less than there is. A limit shows by itself as one value that is met exactly again and again; where
# noise comes on top of the limited torque, it shows only against a limit that is stated.

PLATEAU = 0.01
"""Part of the samples that may stand at the largest or the smallest value while the joint moves."""
LONGEST = 5
"""Samples in a row at an extreme that noise and quantisation may leave there."""
NEAR, BEYOND = 3.0, 8.0
"""Deviations of the noise within which a torque is at a stated limit, and by which one that exceeds it shows
that the limit does not bind."""
CLOSE = 0.02
"""Share of a stated limit within which a torque is at it, however large the noise."""
_MAD, _MOVES = 1.4826, 0.01


def saturated(recording: Recording, limits: Array | None = None) -> BoolArray:
    """Say of each sample and joint whether its torque or current stands at a limit.

    Args:
        recording: the recording, as read.
        limits: largest torque of each joint, infinite where there is none, shape (nj,), N·m or N; None where
            nothing is stated. One that measured torques clearly exceed does not bind and is passed over.

    Returns:
        The answers, shape (N, nj), dimensionless.
    """
    found = np.zeros(recording.q.shape, dtype=np.bool_)
    for _, j, _, rows in _plateaus(recording):
        found[:, j] |= rows
    # Noise is told by second differences, which two samples do not have.
    if limits is None or recording.tau is None or recording.n < 3:
        return found
    stated = checked("limits", limits, (len(recording.joints),), finite=False)
    size = np.abs(recording.tau)
    # Second differences have hardly any of the motion left, and the root of six times the noise.
    noise = _MAD * np.median(np.abs(np.diff(recording.tau, 2, axis=0)), axis=0) / np.sqrt(6.0)
    for j, limit in enumerate(stated):
        if not np.isfinite(limit) or size[:, j].max() > limit + BEYOND * noise[j]:
            continue
        found[:, j] |= _long(size[:, j] >= limit - min(NEAR * noise[j], CLOSE * limit))
    return found


def saturation_findings(recording: Recording) -> Iterator[Finding]:
    """Yield torques and currents that stand at one value while their joint moves.

    Yields:
        A finding for each joint and side.
    """
    for channel, j, side, rows in _plateaus(recording):
        x = recording.channels[channel][:, j]
        at = x == (x.max() if side == "largest" else x.min())
        first = int(np.flatnonzero(rows)[0])
        yield Finding(
            Severity.WARNING,
            "saturation",
            f"stands at its {side} value {x[first]:.6g} {CHANNELS[channel].unit} in {int(at.sum())} samples, "
            f"up to {max(_lengths(at))} in a row, while the joint moves.",
            f"{column_name(channel, recording.joints[j])}, row {first}",
        )


def _plateaus(recording: Recording) -> Iterator[tuple[str, int, str, BoolArray]]:
    """Channel, joint, side and rows of every value at which a torque or current stands under way."""
    moves = np.abs(velocities(recording))
    moves = moves > _MOVES * moves.max(axis=0)
    for channel in ("tau", "current"):
        values = recording.channels.get(channel)
        if values is None:
            continue
        for j in range(values.shape[1]):
            x = values[:, j]
            if (x == x[0]).all():
                continue
            for side, extreme in (("largest", x.max()), ("smallest", x.min())):
                at = x == extreme
                # A robot that stands still holds its torque as well; only a plateau under way is a limit.
                if max(_lengths(at)) > LONGEST and (at & moves[:, j]).mean() > PLATEAU:
                    yield channel, j, side, at


def _lengths(rows: BoolArray) -> list[int]:
    """Lengths of the stretches of True."""
    edges = np.diff(np.concatenate(([0], rows.astype(np.int8), [0])))
    return [int(n) for n in np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)]


def _long(rows: BoolArray) -> BoolArray:
    """Those stretches of True that are longer than noise leaves."""
    edges = np.diff(np.concatenate(([0], rows.astype(np.int8), [0])))
    kept = np.zeros_like(rows)
    for first, after in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        if after - first > LONGEST:
            kept[first:after] = True
    return kept


# Units and rates that contradict each other: velocities against the derivative of positions.
#
# What is compared are integrals, which noise and quantisation leave alone: with
# $s_j(t) = \int_0^t v_j\,dt$, positions and velocities agree when $s_j$ and $q_j$ differ by a constant. The
# ratio of their spreads tells which unit or which clock is wrong, their correlation whether they belong
# together.

AGREE = 0.05
"""Part by which the integral of v may differ from q."""
ALIKE = 0.9
"""Correlation above which two signals are the same one up to scale."""
SAME_SIGNAL = 1e-3
"""Share of the torque that a current times a constant leaves at most where the torque was made from it."""
DEGREES = 180.0 / np.pi
TURN = 2.0 * np.pi


def scale_findings(recording: Recording) -> Iterator[Finding]:
    """Yield contradictions between positions, velocities, references and the clock, and what torques are.

    Yields:
        The findings; none for joints that do not move.
    """
    farthest = np.abs(recording.q).max(axis=0)
    if np.median(farthest) > TURN:
        yield Finding(
            Severity.WARNING,
            "degrees-suspected",
            f"half of the joints go beyond a full turn, up to {farthest.max():.4g} rad: positions look like "
            "degrees, and no unit was stated.",
            "q",
        )
    if recording.v is not None:
        yield from _velocities(recording, recording.v)
    if recording.q_ref is not None:
        yield from _references(recording, recording.q_ref)
    if recording.tau is not None and recording.current is not None:
        yield from _torques_of_currents(recording, recording.tau, recording.current)


def _velocities(recording: Recording, v: Array) -> Iterator[Finding]:
    dt = np.diff(recording.time)[:, None]
    s = np.vstack([np.zeros(v.shape[1]), np.cumsum(0.5 * (v[1:] + v[:-1]) * dt, axis=0)])
    s, q = _detrended(recording.time, s), _detrended(recording.time, recording.q)
    spread_s, spread_q = s.std(axis=0), q.std(axis=0)
    ratios: dict[str, float] = {}
    for j in np.flatnonzero((spread_q > 1e-3 * spread_q.max()) & (spread_s > 0.0)):
        joint = recording.joints[j]
        likeness = float((s[:, j] * q[:, j]).mean() / (spread_s[j] * spread_q[j]))
        if likeness < -ALIKE:
            message = "the velocity has the opposite sign of the derivative of the position."
            yield Finding(Severity.WARNING, "velocity-sign", message, f"joint '{joint}'")
        elif likeness < ALIKE:
            message = f"the integral of the velocity and the position differ (correlation {likeness:.2f})."
            yield Finding(Severity.WARNING, "velocity-mismatch", message, f"joint '{joint}'")
        if abs(likeness) > ALIKE:
            ratios[joint] = float(spread_s[j] / spread_q[j])
    if not ratios:
        return
    ratio = float(np.median(list(ratios.values())))
    if abs(ratio - 1.0) > AGREE:
        yield _contradiction(recording, ratio)
    for joint, single in ratios.items():
        if abs(single / ratio - 1.0) > AGREE:
            message = f"the velocity is {single:.4g} times dq/dt, where other joints have {ratio:.4g}."
            yield Finding(Severity.WARNING, "velocity-scale", message, f"joint '{joint}'")


def _contradiction(recording: Recording, ratio: float) -> Finding:
    if abs(ratio / DEGREES - 1.0) < AGREE:
        said = "velocities are in degrees per second and positions in radians"
        return Finding(Severity.ERROR, "units-contradict", f"v is {ratio:.4g} times dq/dt: {said}.", "v")
    if abs(ratio * DEGREES - 1.0) < AGREE:
        said = "positions are in degrees and velocities in radians per second"
        return Finding(Severity.ERROR, "units-contradict", f"v is {ratio:.4g} times dq/dt: {said}.", "q")
    return Finding(
        Severity.ERROR,
        "rate-contradicted",
        f"v is {ratio:.4g} times dq/dt: by its velocities the log runs at {recording.rate * ratio:.4g} Hz, "
        f"not at the {recording.rate:.4g} Hz of its clock.",
        "time",
    )


def _references(recording: Recording, q_ref: Array) -> Iterator[Finding]:
    for j, joint in enumerate(recording.joints):
        reference, q = q_ref[:, j], recording.q[:, j]
        spread, wanted = float(q.std()), float(reference.std())
        if not (spread > 0.0 and wanted > 0.0):
            continue
        likeness = float(np.corrcoef(reference, q)[0, 1])
        ratio = wanted / spread
        if likeness > ALIKE and abs(ratio - 1.0) > 4.0 * AGREE:
            hint = " (degrees against radians)" if abs(np.log(ratio)) > np.log(DEGREES) - AGREE else ""
            yield Finding(
                Severity.WARNING,
                "reference-scale",
                f"the commanded position moves {ratio:.4g} times as far as the measured one{hint}.",
                f"joint '{joint}'",
            )


def _torques_of_currents(recording: Recording, tau: Array, current: Array) -> Iterator[Finding]:
    """Torques that are currents times constants: nobody measured them, and no log tells the constants."""
    power = (current**2).sum(axis=0)
    there = power > 0.0
    constants = (tau * current).sum(axis=0) / np.where(there, power, 1.0)
    left, size = (np.sqrt((x**2).mean(axis=0)) for x in (tau - constants * current, tau))
    if not there.any() or (left[there] > SAME_SIGNAL * size[there]).any():
        return
    listed = ", ".join(f"{joint} {constants[j]:.4g}" for j, joint in enumerate(recording.joints) if there[j])
    yield Finding(
        Severity.INFO,
        "torque-of-current",
        f"is the current times a constant, in N·m/A or N/A: {listed}. It is as far off as these constants "
        "are, which no log shows; say how far by --torque-constant-error, so that intervals hold it.",
        "tau",
    )


def _detrended(time: Array, values: Array) -> Array:
    """Without mean and slope: a small offset of a velocity must not drown its integral."""
    t = time - time.mean()
    centred = values - values.mean(axis=0)
    slope = t @ centred / (t @ t)
    return np.asarray(centred - t[:, None] * slope)


# The values of single channels: dead ones, saturation, quantisation.

COARSE = 1e-5
"""A quantum smaller than this part of the signal's span is not worth a word."""
_WHOLE = 0.1
_MOST = 0.95
_EVEN = 0.4


def value_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what single channels show by themselves.

    Yields:
        Dead columns, saturated torques and currents, and the quanta found.
    """
    yield from saturation_findings(recording)
    for channel, values in recording.channels.items():
        steps = {}
        for j, joint in enumerate(recording.joints):
            x = values[:, j]
            name = column_name(channel, joint)
            if (x == x[0]).all():
                yield _dead(channel, name, x[0])
                continue
            step = quantum(x)
            if step > COARSE * np.ptp(x):
                steps[joint] = step
        if steps:
            listed = ", ".join(f"{joint} {step:.3g}" for joint, step in steps.items())
            unit = CHANNELS[channel].unit
            yield Finding(Severity.INFO, "quantised", f"comes in steps, in {unit}: {listed}.", channel)


def quantum(values: Array) -> float:
    """Return the step in which a signal comes.

    The candidate is the smallest gap between neighbouring values that occur (its fifth percentile, as text
    with few digits blurs it). It is the step when nineteen of twenty small gaps are whole multiples of it, to
    a tenth, or when there are hardly larger gaps at all. Values of a continuous signal lie at random
    distances and pass neither test.

    Args:
        values: the signal, shape (N,), SI.

    Returns:
        The step, in the signal's unit; 0 when it comes in none.
    """
    gaps = np.diff(np.unique(values))
    if len(gaps) < 2:
        return float(gaps.sum())
    usual = float(np.median(gaps))
    # Far below the usual gap are values that text or arithmetic spells in two ways.
    gaps = gaps[gaps > 1e-3 * usual]
    smallest = float(np.quantile(gaps, 0.05))
    single = gaps[(gaps > 0.5 * smallest) & (gaps < 1.5 * smallest)]
    if not len(single):
        return 0.0
    step = float(np.median(single))
    multiples = gaps[(gaps > 0.5 * step) & (gaps < 5.5 * step)] / step
    whole = np.abs(multiples - np.round(multiples)) < _WHOLE
    return step if whole.mean() > _MOST or smallest > _EVEN * usual else 0.0


def _dead(channel: str, name: str, value: float) -> Finding:
    if channel in ("q", "q_ref"):
        message = f"does not move: it is {value:.6g} throughout."
        return Finding(Severity.WARNING, "still-joint", message, name)
    return Finding(Severity.WARNING, "dead-channel", f"is {value:.6g} throughout.", name)


# All of it at once

LEAST = 10


def inspect_recording(recording: Recording) -> tuple[Finding, ...]:
    """Look for defects of a log that is well formed: nothing is changed, everything is said with its place.

    Args:
        recording: the recording, as read.

    Returns:
        Findings about garbage, clock, units, channels and phases; places name the file it came from, and rows
        count from 0 in the recording.
    """
    if recording.n < LEAST:
        few = Finding(Severity.WARNING, "too-short", f"{recording.n} samples are too few to be inspected.")
        return (few,)
    file = _file(recording)
    # Squares of numbers near the end of what doubles hold overflow; no measure below then finds anything.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return tuple(
            replace(finding, place=": ".join(part for part in (file, finding.place) if part))
            for finding in _findings(recording)
        )


def _findings(recording: Recording) -> Iterator[Finding]:
    garbage = np.flatnonzero(garbage_rows(recording.time, recording.channels))
    for row in garbage:
        message = "holds numbers that do not follow from the rows around it."
        yield Finding(Severity.ERROR, "garbage-row", message, f"row {row}")
    if len(garbage):
        # Numbers that cannot have been measured would spoil every measure below.
        return
    yield from clock_findings(recording)
    yield from scale_findings(recording)
    yield from value_findings(recording)
    yield from phase_findings(recording)


def _file(recording: Recording) -> str:
    files = [str(step.detail.get("file", "")) for step in recording.provenance if step.action == "read"]
    return files[-1] if files else ""
