"""Torques for open-loop experiments on one joint: square wave and pseudo-random binary sequence."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError

# Feedback taps of registers with the longest period (primitive polynomials over GF(2)).
_TAPS = {
    3: (3, 2),
    4: (4, 3),
    5: (5, 3),
    6: (6, 5),
    7: (7, 6),
    8: (8, 6, 5, 4),
    9: (9, 5),
    10: (10, 7),
    11: (11, 9),
    12: (12, 11, 10, 4),
    13: (13, 12, 11, 8),
    14: (14, 13, 12, 2),
    15: (15, 14),
}


def square_wave(amplitude: float, period: float, periods: int, rate: float) -> Array:
    """A square wave that begins with a quarter of its period, so that a joint swings about where it starts.

    Args:
        amplitude: of the torque, N·m or N.
        period: length of a period, a multiple of four cycles, s.
        periods: how many.
        rate: cycles per second, Hz.

    Returns:
        The torque of every cycle, shape (N,), N·m or N.

    Raises:
        InputError: a number is out of range.
    """
    _positive(amplitude=amplitude, period=period, periods=periods, rate=rate)
    quarter = _whole("period", period * rate / 4.0, f"a multiple of {4.0 / rate:g} s")
    one = np.repeat([1.0, -1.0, -1.0, 1.0], quarter)
    return np.asarray(amplitude * np.tile(one, periods))


def shift_register(order: int, rng: np.random.Generator | None = None) -> Array:
    r"""One period of a maximum-length sequence of ±1, $2^n - 1$ long, from a shift register with feedback.

    Its circular autocorrelation is $2^n - 1$ at no shift and -1 at every other one.

    Args:
        order: n, number of places of the register, 3 to 15.
        rng: draws where in its period the sequence starts; None for a register of ones.

    Returns:
        The sequence, shape (2ⁿ - 1,), dimensionless.

    Raises:
        InputError: there is no register of this order.
    """
    if order not in _TAPS:
        raise InputError(f"must be one of {min(_TAPS)} to {max(_TAPS)}, got {order}.", place="order")
    full = (1 << order) - 1
    state = full if rng is None else int(rng.integers(1, full + 1))
    taps = [1 << (order - tap) for tap in _TAPS[order]]
    sequence = np.empty(full)
    for k in range(full):
        sequence[k] = 1.0 if state & 1 else -1.0
        back = sum(1 for tap in taps if state & tap) & 1
        state = state >> 1 | back << (order - 1)
    return sequence


def prbs(
    amplitude: float, clock: float, order: int, rate: float, rng: np.random.Generator | None = None
) -> Array:
    """A pseudo-random binary torque: one period of a shift register, each bit held for a clock.

    Args:
        amplitude: of the torque, N·m or N.
        clock: how long a bit is held, a multiple of a cycle, s. The spectrum is flat to about 0.44 / clock,
            Hz.
        order: number of places of the register; the sequence has 2ⁿ - 1 bits.
        rate: cycles per second, Hz.
        rng: draws where in its period the sequence starts; None for a register of ones.

    Returns:
        The torque of every cycle, shape (N,), N·m or N.

    Raises:
        InputError: a number is out of range.
    """
    _positive(amplitude=amplitude, clock=clock, rate=rate)
    cycles = _whole("clock", clock * rate, f"a multiple of {1.0 / rate:g} s")
    return np.asarray(amplitude * np.repeat(shift_register(order, rng), cycles))


def _positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"must be positive and finite, got {value}.", place=name)


def _whole(name: str, cycles: float, wanted: str) -> int:
    nearest = round(cycles)
    if nearest < 1 or abs(cycles - nearest) > 1e-6 * nearest:
        raise InputError(f"must be {wanted}.", place=name)
    return nearest
