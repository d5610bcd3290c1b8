"""Rows that hold numbers which cannot have been measured: shifted columns, stray memory, single spikes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array

MOTION = 10
"""Rows that follow from each other in such a number are motion, wherever they start."""
USUAL = 20.0
"""A row follows from another when its position is off by no more than so many times what is usual, …"""
SLACK = 0.02
"""… plus this part of what the joint travels (from the first to the last twentieth of its positions)."""
ABSURD = 1000.0
"""A value is absurd when it is so many times larger than nine tenths of its channel's."""


def garbage_rows(time: Array, channels: Mapping[str, Array]) -> NDArray[np.bool_]:
    r"""Return which rows hold garbage.

    Row j follows from row i when $|q_j - q_i - \frac12 (v_i + v_j)(t_j - t_i)|$, with v = 0 where no velocity
    was logged, is small for every joint: at most `USUAL` times the ninth decile of that between neighbours,
    times the number of median intervals between the two, plus `SLACK` of the joint's travel. Runs of at least
    `MOTION` rows that follow from each other are motion; the other rows are garbage, unless they follow from
    motion that is at most `MOTION` intervals away. So is a row with an absurd value in any channel.

    Args:
        time: sample times, increasing, shape (N,), s.
        channels: values by the name of their channel, finite, each shape (N, nj), SI; `q` is needed.

    Returns:
        Whether each row is garbage, shape (N,), dimensionless.
    """
    absurd = np.zeros(len(time), dtype=bool)
    for values in channels.values():
        # One garbage row in ten leaves the ninth decile as it is.
        usual = float(np.quantile(np.abs(values), 0.9))
        if usual > 0.0:
            absurd |= (np.abs(values) / ABSURD > usual).any(axis=1)
    sound = np.flatnonzero(~absurd)
    if len(sound) < 2 * MOTION:
        return absurd
    q = channels["q"][sound]
    v = channels["v"][sound] if "v" in channels else np.zeros_like(q)
    # What overflows follows from nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        absurd[sound[~_Motion(time[sound], q, v).kept()]] = True
    return absurd


class _Motion:
    """Positions and velocities, and whether one row follows from another."""

    def __init__(self, time: Array, q: Array, v: Array) -> None:
        self.time, self.q, self.v = time, q, v
        self.interval = float(np.median(np.diff(time)))
        rows = np.arange(len(time) - 1)
        off = self._off(rows, rows + 1)
        low, high = np.quantile(q, [0.05, 0.95], axis=0)
        self.tolerance = USUAL * np.quantile(off, 0.9, axis=0)
        self.slack = SLACK * (high - low) + 1e-9
        self.joined = self._follows(rows, rows + 1)

    def kept(self) -> NDArray[np.bool_]:
        """Which rows are motion, or follow from it."""
        kept = np.zeros(len(self.time), dtype=bool)
        edges = np.diff(np.concatenate(([0], self.joined.astype(int), [0])))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        for start, end in zip(starts, ends, strict=True):
            if end - start + 1 >= MOTION:
                kept[start : end + 1] = True
        if not kept.any():
            return ~kept
        self._admit(kept, 1)
        self._admit(kept, -1)
        return kept

    def _admit(self, kept: NDArray[np.bool_], way: int) -> None:
        """Keep rows that follow from the last kept one, going forwards (1) or backwards (-1) in time."""
        known = -1
        for row in np.flatnonzero(~kept)[::way]:
            if 0 <= row - way < len(kept) and kept[row - way]:
                known = row - way
            if known >= 0 and abs(self.time[row] - self.time[known]) <= MOTION * self.interval:
                pair = sorted((row, known))
                kept[row] = self._follows(np.array(pair[:1]), np.array(pair[1:]))[0]

    def _follows(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        intervals = np.maximum((self.time[second] - self.time[first]) / self.interval, 1.0)
        allowed = self.tolerance * intervals[:, None] + self.slack
        return np.asarray((self._off(first, second) <= allowed).all(axis=1))

    def _off(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Array:
        dt = (self.time[second] - self.time[first])[:, None]
        off: Array = np.abs(self.q[second] - self.q[first] - 0.5 * (self.v[first] + self.v[second]) * dt)
        return off
