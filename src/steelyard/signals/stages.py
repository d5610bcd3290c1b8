r"""Central differences, with what is not differentiated averaged over the same time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.signals.differentiator import Differentiator


@dataclass(frozen=True)
class CentralDifferences(Differentiator):
    r"""Central differences $(x_{k+1} - x_{k-1}) / 2h$, which average the derivative over two intervals.

    What is not differentiated is averaged over the same two intervals, by Simpson's rule
    $(x_{k-1} + 4 x_k + x_{k+1})/6$: the two filters agree to fourth order in h. Nothing else is filtered, so
    smooth signals are needed. There is one stage S for each derivative: $D^k$ of a signal is
    $(DS)^k S^{m-k}$ where m is the highest.
    """

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the filtered signal; see `Differentiator.filtered`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative.
            highest: number of stages; one at least.

        Returns:
            The derivative, shape (N, n), SI.
        """
        x = series
        for stage in range(max(highest, 1)):
            before = np.vstack((2 * x[:1] - x[1:2], x[:-1]))
            after = np.vstack((x[1:], 2 * x[-1:] - x[-2:-1]))
            slope = stage < derivative
            x = (after - before) / (2.0 * interval) if slope else (before + 4.0 * x + after) / 6.0
        return x

    def margin(self, interval: float, highest: int) -> int:
        """Return one sample for each stage.

        Args:
            interval: not used.
            highest: number of stages; one at least.

        Returns:
            The number of samples.
        """
        return max(highest, 1)
