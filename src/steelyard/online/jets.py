r"""Numbers and their first derivatives, each as a middle and a radius: the plain arithmetic of the checker.

An array of numbers of shape (...) that depend on S variables is held as two arrays of shape (1 + S, ...): in
row 0 the values, behind it the derivatives, known over a box of the variables. By the mean value theorem

$$f(x) \in f(x_0) + \sum_s \partial_s f\,(x_s - x_{0,s}),$$

with the derivatives taken over the whole box and $f(x_0)$ from a second evaluation, at a point. Every result
is widened by more than its rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array

_LOST = 2.0**-46
"""More than a result loses to rounding, as a share of the sizes of its terms."""
_SKEW = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, _i, _j], _SKEW[_k, _j, _i] = -1.0, 1.0


@dataclass(frozen=True, eq=False)
class Jet:
    """Values and derivatives of an array of numbers.

    Attributes:
        middle: shape (1 + S, ...), SI.
        radius: zero or more, shape (1 + S, ...), SI.
    """

    middle: Array
    radius: Array

    def __add__(self, other: Jet) -> Jet:
        c = self.middle + other.middle
        return Jet(c, (self.radius + other.radius) * (1.0 + _LOST) + _LOST * np.abs(c))

    def __sub__(self, other: Jet) -> Jet:
        return self + Jet(-other.middle, other.radius)

    def __getitem__(self, index: object) -> Jet:
        """Entries of the numbers; the axis of the derivatives stays whole."""
        at = index if isinstance(index, tuple) else (index,)
        return Jet(self.middle[:, *at], self.radius[:, *at])

    @property
    def size(self) -> Array:
        """What the absolute values do not exceed, shape (1 + S, ...), SI."""
        most: Array = (np.abs(self.middle) + self.radius) * (1.0 + _LOST)
        return most


def product(axes: str, x: Jet, y: Jet) -> Jet:
    """A sum of products, by the product rule.

    Args:
        axes: which, as for `numpy.einsum`, such as `kij,kj->ki`; without the axis of the derivatives.
        x: the first.
        y: the second.

    Returns:
        The sums.
    """
    inputs, out = axes.split("->")
    a, b = inputs.split(",")

    def ruled(f: Array, g: Array) -> Array:
        total: Array = np.einsum(f"s{a},{b}->s{out}", f, g[0]) + np.einsum(f"{a},s{b}->s{out}", f[0], g)
        total[0] *= 0.5
        return total

    f, g = np.abs(x.middle), np.abs(y.middle)
    most = ruled(f + x.radius, g + y.radius)
    return Jet(ruled(x.middle, y.middle), most * (1.0 + 2.0 * _LOST) - ruled(f, g) + 1e-300)


def mapped(axes: str, numbers: Array, x: Jet) -> Jet:
    """Sums of products with numbers that are exact but for their last bits.

    Args:
        axes: which, as for `numpy.einsum`, such as `ij,kj->ki`; without the axis of the derivatives.
        numbers: natural shape (...), SI.
        x: what they multiply.

    Returns:
        The sums.
    """
    inputs, out = axes.split("->")
    a, b = inputs.split(",")
    spec = f"{a},s{b}->s{out}"
    most = np.einsum(spec, np.abs(numbers), np.abs(x.middle) + x.radius)
    least = np.einsum(spec, np.abs(numbers), x.radius)
    return Jet(np.einsum(spec, numbers, x.middle), least + _LOST * most + 1e-300)


def cross(x: Jet, y: Jet) -> Jet:
    """The cross products of vectors in the last axis; x has no other axis but that of the K boxes.

    Args:
        x: shape (K, 3).
        y: shape (K, 3) or (K, n, 3).

    Returns:
        x × y, of the shape of y.
    """
    skew = Jet(
        np.einsum("iab,ski->skab", _SKEW, x.middle), np.einsum("iab,ski->skab", np.abs(_SKEW), x.radius)
    )
    return product("kab,kb->ka" if y.middle.ndim == 3 else "kab,knb->kna", skew, y)


def sine_and_cosine(x: Jet) -> tuple[Jet, Jet]:
    r"""Sine and cosine: neither changes faster than its argument, nor by more than 2.

    Args:
        x: angles.

    Returns:
        Both.
    """
    s, c, r = np.sin(x.middle[0]), np.cos(x.middle[0]), np.minimum(x.radius[0], 2.0) + _LOST
    slope = Jet(np.stack((c, s)), np.stack((r, r)))
    found = []
    for k, (value, sign) in enumerate(((s, 1.0), (c, -1.0))):
        d, g = slope.middle[k], x.middle[1:]
        most = (np.abs(d) + r) * (np.abs(g) + x.radius[1:]) * (1.0 + _LOST)
        middle, radius = sign * d * g, most - np.abs(d * g) + 1e-300
        found.append(Jet(np.concatenate((value[None], middle)), np.concatenate((r[None], radius))))
    return found[0], found[1]
