"""The tracking differentiator of Tian et al., (12): velocity and acceleration of a log."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.errors import InputError
from steelyard.signals.differentiation import Differentiator

_TIME_CONSTANTS = 8  # after which a critically damped filter has settled to three parts in a thousand


@dataclass(frozen=True)
class TrackingDifferentiator(Differentiator):
    r"""The tracking differentiator of (12): a state that follows the signal in the least time.

    $$x_1(t+h) = x_1(t) + h\,x_2(t), \qquad x_2(t+h) = x_2(t) + h\,F_h(x_1(t) - s(t),\, x_2(t))$$

    with Han's time-optimal $F_h$, bounded by r. Where it is not at its bound it is critically damped with
    time constant $h_0$, hence linear: $F_h = -(x_1 - s)/h_0^2 - 2 x_2 / h_0$. The paper runs it forwards
    on measured velocities, which delays them by $2 h_0$; here it runs forwards, then backwards on the result,
    which leaves no delay. Taking derivatives of positions needs two in a row.

    Attributes:
        time_constant: $h_0$, s; at least the sampling interval.
        bound: r, largest second derivative of a signal that is differentiated, in the signal's unit per s²;
            infinite for a linear filter. Signals that are not differentiated, torques among them, always
            pass the linear one.
    """

    time_constant: float
    bound: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time_constant) and self.time_constant > 0.0):
            raise InputError(f"must be positive, got {self.time_constant:g} s.", place="time_constant")
        if not self.bound > 0.0:
            raise InputError(f"must be positive, got {self.bound:g}.", place="bound")

    @property
    def settings(self) -> dict[str, object]:
        """Name and settings; the bound is None where there is none."""
        bound = self.bound if math.isfinite(self.bound) else None
        return {"method": type(self).__name__, "time_constant": self.time_constant, "bound": bound}

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        r"""Return a derivative of the filtered signal: $(DS)^k S^{m-k}$ of m stages S.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative, k.
            highest: number of stages m; one at least.

        Returns:
            The derivative, shape (N, n), SI.
        """
        x = series
        for stage in range(max(highest, 1)):
            x = self._stage(x, interval, slope=stage < derivative)
        return x

    def _stage(self, x: Array, interval: float, slope: bool) -> Array:
        if self.time_constant < interval:
            raise InputError(
                f"{self.time_constant:g} s is below the sampling interval of {interval:g} s.",
                place="time_constant",
            )
        pad = min(2 * self.margin(interval, 1), len(x) - 1)
        first, last = 2 * x[:1] - x[pad:0:-1], 2 * x[-1:] - x[-2 : -pad - 2 : -1]
        padded = np.ascontiguousarray(np.vstack((first, x, last)))
        r = self.bound if slope else math.inf
        forward, _ = _tracked(padded, interval, self.time_constant, r)
        state, rate = _tracked(np.ascontiguousarray(forward[::-1]), interval, self.time_constant, r)
        rows = slice(pad, pad + len(x))
        if slope:
            # By (12a) a rate is that of the step that follows; the mean of two neighbours is a central
            # difference of the state, and what is not differentiated is averaged like it.
            rate[1:-1] = 0.5 * (rate[1:-1] + rate[:-2])
            return np.ascontiguousarray(-rate[::-1][rows])
        state[1:-1] = _simpson(state[:-2], state[1:-1], state[2:])
        return np.ascontiguousarray(state[::-1][rows])

    def margin(self, interval: float, highest: int) -> int:
        """Return the samples in which all stages settle.

        Args:
            interval: sampling interval, s.
            highest: number of stages; one at least.

        Returns:
            The number of samples.
        """
        return max(highest, 1) * math.ceil(_TIME_CONSTANTS * self.time_constant / interval)


def _simpson(before: Array, x: Array, after: Array) -> Array:
    """Mean over two intervals by Simpson's rule."""
    return (before + 4.0 * x + after) / 6.0


@kernel
def _tracked(s: Array, h: float, h0: float, r: float) -> tuple[Array, Array]:
    """States x1 and x2 of (12) for each column of s, starting at its first sample, at rest."""
    x1, x2 = np.empty_like(s), np.empty_like(s)
    d = r * h0
    for j in range(s.shape[1]):
        x1[0, j], x2[0, j] = s[0, j], 0.0
        for k in range(len(s) - 1):
            y = x1[k, j] - s[k, j] + h0 * x2[k, j]
            if abs(y) > h0 * d:
                a = x2[k, j] + 0.5 * (math.sqrt(d * d + 8.0 * r * abs(y)) - d) * np.sign(y)
            else:
                a = x2[k, j] + y / h0
            u = -r * np.sign(a) if abs(a) > d else -a / h0
            x1[k + 1, j] = x1[k, j] + h * x2[k, j]
            x2[k + 1, j] = x2[k, j] + h * u
    return x1, x2
