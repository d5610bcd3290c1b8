"""Windows of time that follow each other, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class TimeWindows:
    """Windows that touch but do not overlap.

    Attributes:
        time: of all samples, also of those before the first window and after the last, shape (N,), s.
        edges: samples at which windows begin and the last one ends, shape (n + 1,), dimensionless.
    """

    time: Array
    edges: IntArray

    @classmethod
    def regular(cls, time: Array, length: float, *, margin: float = 0.0) -> TimeWindows:
        """Windows of one length, each edge at the sample next to its time.

        Args:
            time: sample times, increasing, shape (N,), s.
            length: of a window, s.
            margin: time of the log that stays free before the first window and after the last, s.

        Returns:
            The windows.

        Raises:
            InputError: a window is shorter than an interval, or longer than the log between its margins.
        """
        free = margin * (1.0 - 1e-9)
        first = int(np.searchsorted(time, time[0] + free))
        last = int(np.searchsorted(time, time[-1] - free, side="right")) - 1
        begin, total = time[first], float(time[last] - time[first])
        largest = float(np.diff(time).max(initial=0.0))
        if not largest * (1.0 - 1e-6) <= length <= total * (1.0 + 1e-9):
            between = f" between margins of {margin:g} s" if margin else ""
            raise InputError(
                f"of {length:g} s must hold the largest interval of the log, {largest:g} s, and fit into its "
                f"{total:g} s{between}.",
                place="window",
            )
        middles = 0.5 * (time[1:] + time[:-1])
        count = int(np.floor(total / length * (1.0 + 1e-9)))
        edges = np.searchsorted(middles, begin + length * np.arange(count + 1))
        return cls(read_only(time), read_only(np.unique(edges)))

    @property
    def count(self) -> int:
        """Number of windows n."""
        return len(self.edges) - 1

    @property
    def intervals(self) -> Array:
        """Time between samples, shape (N - 1, 1), s."""
        return np.asarray(np.diff(self.time)[:, None])

    @property
    def lengths(self) -> Array:
        """Length of each window, shape (n, 1), s."""
        return np.asarray(np.diff(self.time[self.edges])[:, None])

    def total(self, values: Array) -> Array:
        """Sums over the intervals of each window.

        Args:
            values: of each interval, shape (N - 1, ...), any unit.

        Returns:
            The sums, shape (n, ...), same unit.
        """
        return np.asarray(np.add.reduceat(values[: self.edges[-1]], self.edges[:-1], axis=0))

    def trapezoid(self, values: Array) -> Array:
        """Integrals by the trapezoidal rule.

        Args:
            values: at each sample, shape (N, ...), any unit.

        Returns:
            The integrals, shape (n, ...), that unit times s.
        """
        h = self.intervals.reshape((-1,) + (1,) * (values.ndim - 1))
        return self.total(0.5 * h * (values[1:] + values[:-1]))

    def held(self, values: Array) -> Array:
        """Integrals of values that each hold until the next sample.

        Args:
            values: at each sample, shape (N, k), any unit.

        Returns:
            The integrals, shape (n, k), that unit times s.
        """
        return self.total(self.intervals * values[:-1])
