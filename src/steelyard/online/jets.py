r"""Numbers and their slopes, each as a middle and a radius: the plain arithmetic of the checker.

An array of numbers of shape (...) that depend on S variables is held as two arrays of shape (1 + S, ...): in
row 0 the value at one point $x_0$, with how far it is from there over all points, behind it the slopes A with

$$f(x) = f(x_0) + \sum_s A_s(x)\,(x_s - x_{0,s}).$$

A slope is a mean of derivatives on the way from $x_0$ to x, so only half of how far a factor is from its
value at $x_0$ enters: $fg - f_0g_0 = \tfrac12(f_0 + f)(g - g_0) + \tfrac12(g_0 + g)(f - f_0)$. The variables
are in groups, each in its unit ball; so f is within the sum of the norms of its slopes from $f(x_0)$, and
that is taken after every operation where it says more than the operation's own bound. Every result is widened
by more than its rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from steelyard.arrays import Array

_LOST = 2.0**-46
"""More than a result loses to rounding, as a share of the sizes of its terms."""
_SKEW = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, _i, _j], _SKEW[_k, _j, _i] = -1.0, 1.0


@dataclass(frozen=True, eq=False)
class Jet:
    """Values and slopes of an array of numbers.

    Attributes:
        middle: values at the point, then slopes, shape (1 + S, ...), SI.
        radius: how far values and slopes are from there at most, shape (1 + S, ...), SI.
        lost: how far the values at the point are off by rounding at most, shape (...), SI.
        balls: how many variables share each ball, in order; empty where slopes are of no use for the values.
    """

    middle: Array
    radius: Array
    lost: Array
    balls: tuple[int, ...] = ()

    def __add__(self, other: Jet) -> Jet:
        c = self.middle + other.middle
        radius = (self.radius + other.radius) * (1.0 + _LOST) + _LOST * np.abs(c)
        lost = (self.lost + other.lost) * (1.0 + _LOST) + _LOST * np.abs(c[0])
        return _tightened(c, radius, lost, self.balls)

    def __sub__(self, other: Jet) -> Jet:
        return self + other.turned

    def __getitem__(self, index: object) -> Jet:
        """Entries of the numbers; the axis of the slopes stays whole."""
        at = index if isinstance(index, tuple) else (index,)
        return Jet(self.middle[:, *at], self.radius[:, *at], self.lost[*at], self.balls)

    @property
    def turned(self) -> Jet:
        """The same with the opposite sign."""
        return Jet(-self.middle, self.radius, self.lost, self.balls)

    @property
    def size(self) -> Array:
        """What the absolute values do not exceed, shape (...), SI."""
        most: Array = (np.abs(self.middle[0]) + self.radius[0]) * (1.0 + _LOST)
        return most


def zeros(*shape: int) -> Array:
    """Zeros whose axis of boxes, the second, lies closest in memory: sums run five times faster along it.

    Args:
        shape: 1 + S, K, and that of the numbers.

    Returns:
        The zeros, natural shape (1 + S, K, ...), dimensionless.
    """
    s, k, *rest = shape
    last = 1 + len(rest)
    return np.zeros((s, *rest, k)).transpose(0, last, *range(1, last))


def product(axes: str, x: Jet, y: Jet) -> Jet:
    """A sum of products.

    Args:
        axes: which, as for `numpy.einsum`, such as `kij,kj->ki`; without the axis of the slopes.
        x: the first.
        y: the second.

    Returns:
        The sums.
    """
    f, g = np.abs(x.middle), np.abs(y.middle)
    F, G = f + x.radius, g + y.radius
    middle = _ruled(axes, x.middle, y.middle, x.middle[0], y.middle[0])
    least = _ruled(axes, f, g, f[0], g[0])
    most = _ruled(axes, F, G, *(z[0] + 0.5 * (j.radius[0] + j.lost) for z, j in ((f, x), (g, y))))
    lost = _ruled(axes, (f[0] + x.lost)[None], (g[0] + y.lost)[None], f[0], g[0])[0]
    grown = 1.0 + 2.0 * _LOST
    return _tightened(
        middle, most * grown - least + 1e-300, lost * grown - least[0] + 1e-300, x.balls or y.balls
    )


def mapped(axes: str, numbers: Array, x: Jet) -> Jet:
    """Sums of products with numbers that are exact but for their last bits.

    Args:
        axes: which, as for `numpy.einsum`, such as `ij,kj->ki`; without the axis of the slopes.
        numbers: natural shape (...), SI.
        x: what they multiply.

    Returns:
        The sums.
    """
    inputs, out = axes.split("->")
    a, b = inputs.split(",")
    spec, size = f"{a},s{b}->s{out}", np.abs(numbers)
    most = _LOST * _summed(spec, size, np.abs(x.middle) + x.radius) + 1e-300
    lost = _summed(spec, size, x.lost[None])[0] + most[0]
    return _tightened(_summed(spec, numbers, x.middle), _summed(spec, size, x.radius) + most, lost, x.balls)


def cross(x: Jet, y: Jet) -> Jet:
    """The cross products of vectors in the last axis; x has no other axis but that of the K boxes.

    Args:
        x: shape (K, 3).
        y: shape (K, 3) or (K, n, 3).

    Returns:
        x × y, of the shape of y.
    """
    middle, radius, lost = (
        _summed("iab,ski->skab", signs, part)
        for signs, part in ((_SKEW, x.middle), (np.abs(_SKEW), x.radius), (np.abs(_SKEW), x.lost[None]))
    )
    skew = Jet(middle, radius, lost[0], x.balls)
    return product("kab,kb->ka" if y.middle.ndim == 3 else "kab,knb->kna", skew, y)


def sine_and_cosine(x: Jet) -> tuple[Jet, Jet]:
    r"""Sine and cosine: neither changes faster than its argument, nor by more than 2.

    Args:
        x: angles.

    Returns:
        Both.
    """
    s, c, r = np.sin(x.middle[0]), np.cos(x.middle[0]), np.minimum(x.radius[0], 2.0) + _LOST
    found = []
    for value, d in ((s, c), (c, -s)):
        g = x.middle[1:]
        most = (np.abs(d) + 0.5 * r + 2.0 * x.lost + _LOST) * (np.abs(g) + x.radius[1:]) * (1.0 + _LOST)
        middle, radius = d * g, most - np.abs(d * g) + 1e-300
        both = np.concatenate((value[None], middle)), np.concatenate((r[None], radius))
        found.append(_tightened(*both, x.lost + _LOST, x.balls))
    return found[0], found[1]


def _tightened(middle: Array, radius: Array, lost: Array, balls: tuple[int, ...]) -> Jet:
    """The jet, its values no further from those at the point than slopes allow; writes into the radius."""
    if balls:
        size = np.abs(middle[1:])
        size += radius[1:]
        size *= size
        reach, first = lost, 0
        for count in balls:
            reach = reach + np.sqrt(size[first : first + count].sum(axis=0))
            first += count
        np.minimum(radius[0], reach * (1.0 + _LOST) + 1e-150, out=radius[0])
    return Jet(middle, radius, lost, balls)


def _ruled(axes: str, f: Array, g: Array, f_0: Array, g_0: Array) -> Array:
    """In row 0 the product of row 0, behind it f_0 times the rows of g and g_0 times those of f."""
    inputs, out = axes.split("->")
    a, b = inputs.split(",")
    total = _summed(f"s{a},{b}->s{out}", f, g_0)
    total += _summed(f"{a},s{b}->s{out}", f_0, g)
    total[0] = _summed(f"s{a},{b}->s{out}", f[:1], g[0])[0]
    return total


def _summed(spec: str, x: Array, y: Array) -> Array:
    """`numpy.einsum` of two arrays into the order of `zeros`."""
    into = zeros(*[(x, y)[k].shape[axis] for k, axis in _sources(spec)])
    return np.asarray(np.einsum(spec, x, y, out=into))


@cache
def _sources(spec: str) -> list[tuple[int, int]]:
    """Operand and axis that each axis of a sum comes from."""
    inputs, out = spec.split("->")
    both = inputs.split(",")
    return [(0, both[0].index(letter)) if letter in both[0] else (1, both[1].index(letter)) for letter in out]
