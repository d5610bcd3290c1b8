"""What was commanded and measured of an arm that logs no torque, and its motion smoothed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from steelyard.arrays import Array, keep_checked
from steelyard.errors import InputError
from steelyard.rollout import ServoCommand

WINDOW = 0.16
"""Length of motion to which a cubic is fitted, s."""
_LEAST = 7


@dataclass(frozen=True, eq=False)
class ServoLog:
    """One log: measured positions, and the commands behind them on the same clock.

    Attributes:
        time: of the measurements, shape (N,), s; strictly increasing.
        position: shape (N, n), rad or m.
        command: what was commanded.
        velocity: measured velocities, shape (N, n), rad/s or m/s; None where there are none.
    """

    time: Array
    position: Array
    command: ServoCommand
    velocity: Array | None = None

    def __post_init__(self) -> None:
        keep_checked(self, ("N",), "time")
        keep_checked(self, (len(self.time), self.command.position.shape[1]), "position")
        keep_checked(self, self.position.shape, "velocity", optional=True)
        if len(self.time) < 2 * _LEAST:
            raise InputError(f"has {len(self.time)} samples; needs {2 * _LEAST} or more.", place="log")
        if not (np.diff(self.time) > 0.0).all():
            raise InputError(
                "does not increase from sample to sample.",
                place="log time",
                remedy="Sort the log and drop repeated samples.",
            )


@dataclass(frozen=True, eq=False)
class SmoothedLog:
    """The motion of a log on an even grid, by cubics fitted to pieces of `WINDOW`.

    Attributes:
        time: shape (G,), s.
        q: positions, shape (G, n), rad or m.
        v: velocities, shape (G, n), rad/s or m/s.
        a: accelerations, shape (G, n), rad/s² or m/s².
        half: samples on either side of a piece's middle.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    half: int

    def like(self, signal: Array) -> Array:
        """Smooth another signal on the grid as the positions were.

        Args:
            signal: shape (G, n), any unit.

        Returns:
            The smoothed signal, same shape and unit.
        """
        return np.asarray(savgol_filter(signal, 2 * self.half + 1, 3, axis=0))


def smoothed_log(log: ServoLog) -> SmoothedLog:
    """Smooth the positions of a log.

    Args:
        log: the log.
    """
    interval = float(np.median(np.diff(log.time)))
    grid = np.arange(log.time[0], log.time[-1] + 0.5 * interval, interval)
    grid = grid[grid <= log.time[-1]]
    q = np.stack([np.interp(grid, log.time, column) for column in log.position.T], axis=1)
    half = max(_LEAST // 2, round(0.5 * WINDOW / interval))
    half = min(half, (len(grid) - 1) // 2)
    made = [savgol_filter(q, 2 * half + 1, 3, deriv=d, delta=interval, axis=0) for d in range(3)]
    return SmoothedLog(grid, made[0], made[1], made[2], half)
