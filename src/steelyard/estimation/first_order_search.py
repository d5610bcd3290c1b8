"""The search for time constant and dead time, everything linear eliminated, and the result's covariance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.estimation.first_order_columns import FirstOrderColumns, whitened
from steelyard.estimation.joint_trace import common_interval

_TIME_CONSTANTS, _DEAD_TIMES, _REFINED = 14, 7, 3
_SHORTEST, _LONGEST = 2.0, 20.0
"""Bounds of the time constant, in cycles and in durations of the longest experiment."""
MEMORIES = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98)
"""Of the noise that are tried."""
_STEP = 1e-4


class Found(NamedTuple):
    """A time constant and a dead time, and the linear coefficients that go with them.

    Attributes:
        time_constant: T, s.
        dead_time: T_d, s.
        coefficients: of the columns, shape (c,), SI.
        velocity: what they say, for each experiment, each shape (N,), rad/s or m/s.
    """

    time_constant: float
    dead_time: float
    coefficients: Array
    velocity: list[Array]


class FirstOrderSearch:
    """Least squares over T and T_d for given columns and a given memory of the noise.

    Args:
        columns: the linear part.
        memory: θ, see `whitened`.
        longest_dead_time: largest T_d, s.
    """

    def __init__(self, columns: FirstOrderColumns, memory: float, longest_dead_time: float) -> None:
        self._columns, self.memory, self._longest = columns, memory, longest_dead_time
        self._cycle = common_interval(columns.traces)
        self._measured = [trace.velocity for trace in columns.traces]
        self._target = whitened(self._measured, memory)
        duration = self._cycle * max(trace.n for trace in columns.traces)
        self._bounds = (_SHORTEST * self._cycle, _LONGEST * duration)

    def everywhere(self) -> Found:
        """The best of many starts."""
        T = np.geomspace(self._bounds[0], self._bounds[1], _TIME_CONSTANTS)
        T_d = np.linspace(0.0, self._longest, _DEAD_TIMES)
        starts = [(float(a), float(b)) for a in T for b in T_d]
        costs = [float((self._left(a, b) ** 2).sum()) for a, b in starts]
        best = [self._refined(*starts[k]) for k in np.argsort(costs)[:_REFINED]]
        return self.at(*min(best, key=lambda item: item[0])[1:])

    def near(self, time_constant: float, dead_time: float) -> Found:
        """The nearest optimum.

        Args:
            time_constant: T to start from, s.
            dead_time: T_d to start from, s.

        Returns:
            What was found.
        """
        return self.at(*self._refined(time_constant, dead_time)[1:])

    def at(self, time_constant: float, dead_time: float) -> Found:
        """The linear coefficients for a time constant and a dead time.

        Args:
            time_constant: T, s.
            dead_time: T_d, s.

        Returns:
            All together.
        """
        parts = self._columns.at(time_constant, dead_time)
        c = _solved(whitened(parts, self.memory), self._target)
        return Found(time_constant, dead_time, c, [C @ c for C in parts])

    def residuals(self, found: Found) -> list[Array]:
        """What is left of the measured velocity.

        Args:
            found: the model.

        Returns:
            One array for each experiment, shape (N,), rad/s or m/s.
        """
        return [y - v for y, v in zip(self._measured, found.velocity, strict=True)]

    def covariance(self, found: Found) -> Array:
        r"""Of the linear coefficients, T and T_d, by $J^+ S J^{+T}$ with correlated residuals.

        S sums products of the gradient at cycles up to a time constant apart, with weights that fall to zero
        (Bartlett's window, as Newey and West), because what the model leaves has a memory.

        Args:
            found: the optimum.

        Returns:
            The matrix, shape (c + 2, c + 2), SI.
        """
        T, T_d, c, _ = found
        step, shift = _STEP * T, min(_STEP * T, 0.1 * self._cycle)
        slopes = [
            (after - before) / width
            for after, before, width in (
                (self._said(T + step, T_d, c), self._said(T - step, T_d, c), 2.0 * step),
                (
                    self._said(T, T_d + shift, c),
                    self._said(T, max(T_d - shift, 0.0), c),
                    shift + min(shift, T_d),
                ),
            )
        ]
        C = whitened(self._columns.at(T, T_d), self.memory)
        J = np.column_stack([C, *slopes])
        scale = np.linalg.norm(J, axis=0)
        J = J / np.where(scale > 0.0, scale, 1.0)
        gradient = J * (self._target - C @ c)[:, None]
        S = np.zeros((J.shape[1], J.shape[1]))
        ends = np.cumsum([0, *(trace.n for trace in self._columns.traces)])
        for first, last in pairwise(ends):
            S += _long_run(gradient[first:last], math.ceil(T / self._cycle))
        inverse = np.linalg.pinv(J.T @ J, hermitian=True)
        freedom = len(J) / max(len(J) - J.shape[1], 1)
        return np.asarray(freedom * inverse @ S @ inverse / np.outer(scale, scale))

    def _said(self, T: float, T_d: float, c: Array) -> Array:
        return whitened([C @ c for C in self._columns.at(T, T_d)], self.memory)

    def _left(self, T: float, T_d: float) -> Array:
        Q, _ = np.linalg.qr(whitened(self._columns.at(T, T_d), self.memory))
        return np.asarray(self._target - Q @ (Q.T @ self._target))

    def _refined(self, T: float, T_d: float) -> tuple[float, float, float]:
        """Cost, T and T_d of the optimum that a start leads to."""
        (shortest, longest), unit = self._bounds, self._cycle
        low = [math.log(shortest), 0.0]
        high = [math.log(longest), max(self._longest, 1e-9) / unit]
        start = np.clip([math.log(T), T_d / unit], low, high)
        found = least_squares(
            lambda x: self._left(math.exp(x[0]), x[1] * unit),
            start,
            bounds=(low, high),
            x_scale=[0.1, 1.0],
            diff_step=1e-6,
            max_nfev=60,
        )
        return float(found.cost), math.exp(found.x[0]), float(found.x[1]) * unit


def noise_memory(residuals: Sequence[Array]) -> float:
    r"""θ of noise $\epsilon_k - \theta \epsilon_{k-1}$, the one that leaves the smallest innovations ε.

    Args:
        residuals: one array for each experiment, each shape (N,), rad/s or m/s.

    Returns:
        θ, one of `MEMORIES`, dimensionless.
    """
    return min(MEMORIES, key=lambda theta: float((whitened(residuals, theta) ** 2).sum()))


def _solved(C: Array, y: Array) -> Array:
    """Least squares with columns of any size; of what cannot be told apart, the smallest."""
    scale = np.linalg.norm(C, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    c, *_ = np.linalg.lstsq(C / scale, y, rcond=1e-10)
    return np.asarray(c / scale)


def _long_run(gradient: Array, reach: int) -> Array:
    """Covariance of a sum of correlated rows, shape (c, c)."""
    reach = min(reach, len(gradient) // 10)
    S = gradient.T @ gradient
    for lag in range(1, reach + 1):
        part = (1.0 - lag / (reach + 1)) * gradient[lag:].T @ gradient[:-lag]
        S += part + part.T
    return np.asarray(S)


def refuse_backwards(gain: float, joint: str) -> None:
    """Refuse a fit whose velocity goes against its torque.

    Args:
        gain: K, rad/s per N·m or m/s per N.
        joint: name of the joint.

    Raises:
        NoSolutionError: the gain is not positive.
    """
    if not gain > 0.0:
        raise NoSolutionError(
            f"joint '{joint}' does not follow its torque: the gain would be {gain:.3g}.",
            place="traces",
            remedy="Check the sign of the commands, and command larger torques than friction.",
        )
