"""Torques and currents that stand at a limit: what a drive would have given beyond it was not given.

While a drive is at its limit the controller no longer holds the motion, and a meter at the end of its scale
reads less than there is. A limit shows by itself as one value that is met exactly again and again; where
noise comes on top of the limited torque, it shows only against a limit that is stated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.finding import Finding, Severity
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.inspection.speed import velocities
from steelyard.recording.recording import Recording

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
    if limits is None or recording.tau is None:
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

    Args:
        recording: the recording.

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
