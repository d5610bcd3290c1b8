r"""A motion over stretches of time, as forms whose first symbol is time itself.

On a stretch of half width h about its middle, with $t = m + h\,\varepsilon$, Taylor's theorem gives

$$q^{(i)}(t) = \sum_{k=0}^{5-i} q^{(i+k)}(m)\,\frac{h^k \varepsilon^k}{k!}
             \pm \sup|q^{(6)}|\,\frac{h^{6-i}}{(6-i)!}, \qquad i = 0, 1, 2.$$

Constant and linear terms are kept. Of the others, $\varepsilon^2$ and $\varepsilon^4$ are a half, give or
take a half, $\varepsilon^3 = \tfrac34\varepsilon \pm \tfrac14$ (Chebyshev), and $\varepsilon^5$ is within 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.enclosure.forms import Forms, MotionForms
from steelyard.errors import InputError

ORDER = 6
"""Of the derivative that bounds the remainder."""
ROUNDING = 1e-12
"""What a motion's derivatives may be off by, as a share of their bounds, besides an ulp for each piece."""
_EPSILON = float(np.finfo(np.float64).eps)


class Curve(Protocol):
    """A motion that is analytic between its breaks, with derivatives of every order and their bounds."""

    @property
    def duration(self) -> float:
        """How long it lasts, s."""
        ...

    @property
    def breaks(self) -> Array:
        """Times from 0 to the duration, increasing, shape (B + 1,), s."""
        ...

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position, to within `ROUNDING` of its bound and an ulp of it for each piece.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        ...

    def derivative_bounds(self, order: int) -> Array:
        """What the size of a derivative exceeds at no time between two breaks.

        Args:
            order: of the derivative.

        Returns:
            A bound for each piece, shape (B, nv), rad or m over the order's power of s.
        """
        ...


@dataclass(frozen=True, eq=False)
class Tracking:
    """How far a robot may be from its reference at any instant; arrays are read-only.

    Attributes:
        position: shape (nv,), rad or m.
        velocity: shape (nv,), rad/s or m/s.
        acceleration: shape (nv,), rad/s² or m/s².
    """

    position: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        count = len(checked("position", self.position, ("nv",)))
        for name in ("position", "velocity", "acceleration"):
            error = checked(name, getattr(self, name), (count,))
            if (error < 0.0).any():
                raise InputError(f"must be zero or more, got {error.min()}.", place=name)
            object.__setattr__(self, name, read_only(error))

    @classmethod
    def perfect(cls, joints: int) -> Tracking:
        """No error at all.

        Args:
            joints: nv.

        Returns:
            Zeros.
        """
        return cls(np.zeros(joints), np.zeros(joints), np.zeros(joints))


def motion_forms(
    motion: Curve, start: ArrayLike, end: ArrayLike, tracking: Tracking | None = None
) -> MotionForms:
    """Enclose a motion over stretches of time.

    Args:
        motion: the motion.
        start: where each stretch starts, shape (K,), s.
        end: where it ends, not before, shape (K,), s; no break of the motion lies inside a stretch.
        tracking: how far the robot may be from the motion; None for nowhere.

    Returns:
        The forms. Their first symbol is time, from -1 at the start to 1 at the end; then follows one for
        every error of position, velocity or acceleration that is not zero.

    Raises:
        InputError: a stretch ends before it starts, leaves the duration, or has a break inside.
    """
    first = checked("start", start, ("K",))
    last = checked("end", end, first.shape)
    piece = _pieces(motion, first, last)
    middle = 0.5 * (first + last)
    h = np.nextafter(np.maximum(last - middle, middle - first), np.inf) * (first < last)
    lost = ROUNDING + _EPSILON * len(motion.breaks)
    bounds = [motion.derivative_bounds(order)[piece] for order in range(ORDER + 1)]
    # A middle that is rounded, or a rounded value, shifts the curve by less than this share of its bounds.
    values = [motion.derivative(middle, order) for order in range(ORDER)]
    made = [_expanded(values[i:], bounds[i:], h, lost) for i in range(3)]
    return MotionForms(*_with_errors(made, tracking))


def _pieces(motion: Curve, start: Array, end: Array) -> IntArray:
    if (end < start).any() or (start < 0.0).any() or (end > motion.duration).any():
        raise InputError(f"stretches must go forwards, from 0 to {motion.duration} s.", place="start, end")
    inner = motion.breaks[1:-1]
    piece = np.searchsorted(inner, start, side="right")
    if (np.searchsorted(inner, end, side="left") > piece).any():
        raise InputError("a break of the motion lies inside a stretch.", place="start, end")
    return piece


def _expanded(values: list[Array], bounds: list[Array], h: Array, lost: float) -> tuple[Array, Array, Array]:
    """Centre, slope in time and radius of one derivative, each (K, nv)."""
    terms = [(h**k / math.factorial(k))[:, None] * value for k, value in enumerate(values)]
    centre, slope, radius = terms[0].copy(), terms[1].copy(), np.zeros_like(terms[0])
    for k, term in enumerate(terms[2:], start=2):
        if k % 2 == 0:
            centre += 0.5 * term
            radius += 0.5 * np.abs(term)
        elif k == 3:
            slope += 0.75 * term
            radius += 0.25 * np.abs(term)
        else:
            radius += np.abs(term)
    n = len(values)
    radius += bounds[n] * (h**n / math.factorial(n))[:, None]
    bulk = [(h**k / math.factorial(k))[:, None] * bound for k, bound in enumerate(bounds)]
    return centre, slope, radius * (1.0 + 64.0 * _EPSILON) + lost * np.sum(bulk, axis=0)


def _with_errors(made: list[tuple[Array, Array, Array]], tracking: Tracking | None) -> list[Forms]:
    """Add a symbol for every error that is not zero."""
    K, nv = made[0][0].shape
    errors = np.zeros((3, nv))
    if tracking is not None:
        errors[:] = [
            checked(name, getattr(tracking, name), (nv,)) for name in ("position", "velocity", "acceleration")
        ]
    kinds, joints = np.nonzero(errors)
    forms = []
    for i, (centre, slope, radius) in enumerate(made):
        g = np.zeros((K, nv, 1 + len(kinds)))
        g[:, :, 0] = slope
        own = np.flatnonzero(kinds == i)
        g[:, joints[own], 1 + own] = errors[i, joints[own]]
        forms.append(Forms(centre, g, radius))
    return forms
