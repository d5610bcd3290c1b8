r"""What the log of a torque can be off by over a window: its sensor, the time between samples, and a delay.

The torque of a sample is that of up to D before or after it, $\hat\tau(t) = \tau(t - d)$ with $|d| \le D$ and
one d for each joint and window, or for each joint. The impulse of the true one then differs by

$$\int_{t_0}^{t_1} \tau\,dt - \int_{t_0}^{t_1} \hat\tau\,dt
  = \int_0^d \hat\tau(t_1 + s) - \hat\tau(t_0 + s)\,ds$$

so that only the ends of a window count: at most D times the largest difference between a torque up to D after
one end and a torque up to D after the other, or up to D before both. Where d is the same throughout the log
it is one more unknown of each joint, $d\,(\bar\tau(t_1) - \bar\tau(t_0))$ with the middle of what the torque
is around each end, and only half of that range is an error.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.time_windows import TimeWindows


def impulses(windows: TimeWindows, tau: Array, errors: ErrorBounds) -> Array:
    r"""$\int\tau\,dt$ of the logged torques: held where they hold, else by straight lines between them.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        errors: what is known of the torque between samples.

    Returns:
        The integrals, shape (n, nv), N·m·s or N·s.
    """
    held = errors.torque_rate is None and errors.torque_holds
    return windows.held(tau) if held else windows.trapezoid(tau)


def torque_errors(windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds) -> Array:
    r"""Error of $\int\tau\,dt$: of the measured torques, of what happens between them, and of their delay.

    A torque whose rate is at most ρ leaves the straight line between its ends by at most
    $\tfrac14\rho h^2$ in the integral, a jump by J at an unknown instant by at most $\tfrac12 J h$. One that
    stays between its values at both ends lies between the lowest and the highest that these can be.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        jumps: largest jump of the torque in each interval, shape (N - 1, nv), N·m or N.
        errors: how far they can be off.

    Returns:
        The bound, shape (n, nv), N·m·s or N·s.
    """
    bound, highest, lowest = _undelayed(windows, tau, jumps, errors)
    if errors.delay == 0.0:
        return bound
    if errors.delay_steady:
        return bound + errors.delay * _change_near_ends(windows, highest, lowest, errors.delay)[1]
    return bound + errors.delay * _difference_of_ends(windows, highest, lowest, errors.delay)


def delay_columns(windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds) -> Array:
    r"""What a second of delay adds to $\int\hat\tau\,dt$: the torque before a window less that after it.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        jumps: largest jump of the torque in each interval, shape (N - 1, nv), N·m or N.
        errors: how far they can be off.

    Returns:
        The columns of a steady delay, by joint, shape (n, nv), N·m or N; `torque_errors` holds the rest.
    """
    _, highest, lowest = _undelayed(windows, tau, jumps, errors)
    return -_change_near_ends(windows, highest, lowest, errors.delay)[0]


def _undelayed(
    windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds
) -> tuple[Array, Array, Array]:
    """Errors of the impulses but for delays, and the highest and lowest torque of each interval."""
    off, h, rate = errors.torque_error(tau), windows.intervals, errors.torque_rate
    if rate is None and errors.torque_holds:
        return windows.held(off), (tau + off)[:-1], (tau - off)[:-1]
    highest = np.maximum((tau + off)[1:], (tau + off)[:-1])
    lowest = np.minimum((tau - off)[1:], (tau - off)[:-1])
    if rate is None:
        mean = 0.5 * (tau[1:] + tau[:-1])
        return windows.total(h * np.maximum(highest - mean, mean - lowest)), highest, lowest
    between = 0.5 * rate * h + jumps
    bound = windows.trapezoid(off) + windows.total(0.25 * rate * h**2 + 0.5 * jumps * h)
    return bound, highest + between, lowest - between


def torque_jumps(windows: TimeWindows, signs: Array, coulomb: Array, errors: ErrorBounds) -> Array:
    r"""Largest jump of the logged torque in each interval: of $2 F_c$ where the velocity may turn.

    A delay moves the jump by up to D, also from before the log into it.

    Args:
        windows: whose intervals.
        signs: of the velocities, zero where unknown, shape (N - 1, nv), dimensionless.
        coulomb: largest F_c, shape (nv,), N·m or N.
        errors: how far measurements can be off; where no rate is known, jumps are no exception to it.

    Returns:
        The jumps, shape (N - 1, nv), N·m or N.
    """
    if errors.torque_rate is not None:
        return np.asarray(2.0 * coulomb * _near(windows.time, signs == 0.0, errors.delay))
    return np.zeros_like(signs)


def _near(time: Array, marked: BoolArray, distance: float) -> BoolArray:
    """Whether a marked interval, or the outside of the log, is less than a distance from an interval."""
    if distance == 0.0:
        return marked
    count = np.vstack([np.zeros((1, marked.shape[1]), dtype=int), np.cumsum(marked, axis=0)])
    begin, end = time[:-1] - distance, time[1:] + distance
    first = np.searchsorted(time[1:], begin, side="left")
    last = np.searchsorted(time[:-1], end, side="right")
    outside = (begin < time[0]) | (end > time[-1])
    return np.asarray((count[last] > count[first]) | outside[:, None])


def _change_near_ends(
    windows: TimeWindows, highest: Array, lowest: Array, delay: float
) -> tuple[Array, Array]:
    """Change of the torque from around one edge, by up to a delay, to around the next: middle, half range."""
    time, at = windows.time, windows.time[windows.edges]
    first = np.searchsorted(time[1:], at - delay, side="left")
    last = np.searchsorted(time[:-1], at + delay, side="right")
    high, low = _largest(highest, first, last), -_largest(-lowest, first, last)
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    return np.diff(middle, axis=0), np.asarray(half[1:] + half[:-1])


def _difference_of_ends(windows: TimeWindows, highest: Array, lowest: Array, delay: float) -> Array:
    """Largest difference between torques up to a delay after both edges of a window, or before both."""
    time, edges = windows.time, windows.edges
    at = time[edges]
    after = edges, np.searchsorted(time[:-1], at + delay, side="right")
    before = np.searchsorted(time[1:], at - delay, side="left"), edges
    largest = np.zeros((windows.count, highest.shape[1]))
    for first, last in (after, before):
        high, low = _largest(highest, first, last), -_largest(-lowest, first, last)
        largest = np.maximum(largest, np.maximum(high[1:] - low[:-1], high[:-1] - low[1:]))
    return largest


def _largest(values: Array, first: IntArray, last: IntArray) -> Array:
    """The largest value of the intervals from `first` to before `last`, one row for each pair."""
    padded = np.vstack([values, values[-1:]])  # `last` may be one past the end
    return np.asarray(np.maximum.reduceat(padded, np.column_stack([first, last]).ravel(), axis=0)[::2])
