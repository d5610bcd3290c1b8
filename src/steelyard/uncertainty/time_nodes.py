"""Few samples among many, and straight lines between them: for what is costly and varies slowly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, read_only


@dataclass(frozen=True, eq=False)
class TimeNodes:
    """Chosen samples, the first and the last among them; between two of them is a span.

    Attributes:
        time: of all samples, shape (N,), s.
        samples: the chosen ones, shape (M,), dimensionless.
    """

    time: Array
    samples: IntArray

    @classmethod
    def spaced(cls, time: Array, spacing: float) -> TimeNodes:
        """Samples about a spacing apart; all of them where they are farther from each other.

        Args:
            time: sample times, increasing, shape (N,), s.
            spacing: time between nodes, s.

        Returns:
            The nodes.
        """
        wanted = np.arange(time[0], time[-1], spacing)
        samples = np.searchsorted(time, wanted, side="right") - 1
        return cls(time, read_only(np.unique(np.append(samples, len(time) - 1))))

    @property
    def lengths(self) -> Array:
        """Length of each span, shape (M - 1, 1), s."""
        return np.asarray(np.diff(self.time[self.samples])[:, None])

    @cached_property
    def spans(self) -> IntArray:
        """The span in which each interval between samples lies, shape (N - 1,), dimensionless."""
        return np.repeat(np.arange(len(self.samples) - 1), np.diff(self.samples))

    def interpolated(self, values: Array) -> Array:
        """Straight lines between the nodes.

        Args:
            values: at the nodes, shape (M, ...), any unit.

        Returns:
            Values at all samples, shape (N, ...), same unit.
        """
        span = np.append(self.spans, len(self.samples) - 2)
        share = (self.time - self.time[self.samples[span]]) / self.lengths[span, 0]
        share = share.reshape((-1,) + (1,) * (values.ndim - 1))
        return np.asarray((1.0 - share) * values[span] + share * values[span + 1])

    def largest(self, values: Array) -> Array:
        """The largest value in each span.

        Args:
            values: of each interval between samples, shape (N - 1, ...), any unit.

        Returns:
            The largest, shape (M - 1, ...), same unit.
        """
        return np.asarray(np.maximum.reduceat(values, self.samples[:-1], axis=0))
