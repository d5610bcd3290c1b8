"""Numbers known up to shared unknowns, and a robot's motion over stretches of time as such forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only, read_only_view
from steelyard.errors import InputError, ShapeError
from steelyard.robot import Robot

# Forms as arrays: $x = c + \sum_s g_s\,\varepsilon_s + r\,\eta$.

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Forms:
    r"""An array of affine forms: each number is $c + \sum_s g_s\,\varepsilon_s + r\,\eta$.

    The symbols $\varepsilon_s \in [-1, 1]$ are shared by all forms made together; $\eta \in [-1, 1]$ is each
    form's own. Arrays are read-only.

    Attributes:
        centre: c, any shape (...), SI.
        generators: g, shape (..., S), SI.
        radius: r, zero or more, shape (...), SI.
    """

    centre: Array
    generators: Array
    radius: Array

    def __post_init__(self) -> None:
        c = checked("centre", self.centre, ("...",), finite=False)
        g = checked("generators", self.generators, (*c.shape, "S"), finite=False)
        r = checked("radius", self.radius, c.shape, finite=False)
        if (r < 0.0).any():
            raise InputError(f"must be zero or more, got {r.min()}.", place="radius")
        for name, array in (("centre", c), ("generators", g), ("radius", r)):
            object.__setattr__(self, name, read_only_view(array))

    @classmethod
    def between(cls, lower: ArrayLike, upper: ArrayLike) -> Forms:
        """Intervals, of which nothing is shared.

        Args:
            lower: ends, any shape (...), SI.
            upper: the other ends, not below, shape (...), SI.

        Returns:
            The forms, without symbols.

        Raises:
            InputError: an upper end lies below the lower one.
        """
        low = checked("lower", lower, ("...",))
        high = checked("upper", upper, low.shape)
        if (high < low).any():
            raise InputError("an upper end lies below the lower one.", place="upper")
        c = 0.5 * low + 0.5 * high
        r = np.maximum(high - c, c - low) * (1.0 + 2.0 * _EPSILON)
        return cls(c, np.zeros((*c.shape, 0)), np.where(low == high, 0.0, r))

    @property
    def symbols(self) -> int:
        """S, the number of shared unknowns."""
        return int(self.generators.shape[-1])

    @property
    def deviation(self) -> Array:
        """How far a number can be from its centre, rounded up, shape (...), SI."""
        total = np.abs(self.generators).sum(axis=-1) + self.radius
        return np.asarray(total * (1.0 + (self.symbols + 4) * _EPSILON))

    @property
    def lower(self) -> Array:
        """What no number is below, rounded down, shape (...), SI."""
        return np.nextafter(self.centre - self.deviation, -np.inf)

    @property
    def upper(self) -> Array:
        """What no number is above, rounded up, shape (...), SI."""
        return np.nextafter(self.centre + self.deviation, np.inf)

    def mapped(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> Forms:
        r"""The forms $A x + b$ along the last axis.

        Args:
            matrix: A, shape (m, n), SI.
            offset: b, shape (m,), SI; zero where it is not given.

        Returns:
            The forms, shape (..., m), widened by what rounding may cost.
        """
        A = checked("matrix", matrix, ("m", self.centre.shape[-1]))
        b = np.zeros(len(A)) if offset is None else checked("offset", offset, (len(A),))
        bulk = (np.abs(self.centre) + self.deviation) @ np.abs(A).T + np.abs(b)
        return Forms(
            self.centre @ A.T + b,
            np.swapaxes(np.swapaxes(self.generators, -1, -2) @ A.T, -1, -2),
            self.radius @ np.abs(A).T + 2.0 * (len(A.T) + self.symbols + 4) * _EPSILON * bulk,
        )


@dataclass(frozen=True, eq=False)
class MotionForms:
    """Joint positions, velocities and accelerations over K stretches, with common symbols.

    Attributes:
        q: joint positions, shape (K, nv), rad or m.
        v: joint velocities, shape (K, nv), rad/s or m/s.
        a: joint accelerations, shape (K, nv), rad/s² or m/s².
    """

    q: Forms
    v: Forms
    a: Forms

    def __post_init__(self) -> None:
        shapes = {x.generators.shape for x in (self.q, self.v, self.a)}
        if len(shapes) != 1 or self.q.centre.ndim != 2:
            raise InputError(
                f"must be of one shape (K, nv) with the same symbols, got {sorted(shapes)}.", place="q, v, a"
            )

    @classmethod
    def between(cls, q: tuple[Array, Array], v: tuple[Array, Array], a: tuple[Array, Array]) -> MotionForms:
        """Boxes of positions, velocities and accelerations: each number has a symbol of its own.

        Args:
            q: lower and upper joint positions, each shape (K, nv), rad or m.
            v: lower and upper joint velocities, each shape (K, nv), rad/s or m/s.
            a: lower and upper joint accelerations, each shape (K, nv), rad/s² or m/s².

        Returns:
            The forms, with 3 nv symbols. Where the numbers depend on time together, forms that say so are
            far tighter: see `motion_forms`.
        """
        made = []
        for k, box in enumerate((q, v, a)):
            x = Forms.between(*box)
            K, nv = x.centre.shape
            g = np.zeros((K, nv, 3 * nv))
            g[:, np.arange(nv), k * nv + np.arange(nv)] = x.radius
            made.append(Forms(x.centre, g, np.zeros((K, nv))))
        return cls(*made)


# A motion over stretches of time, as forms whose first symbol is time itself.
#
# On a stretch of half width h about its middle, with $t = m + h\,\varepsilon$, Taylor's theorem gives
#
# $$q^{(i)}(t) = \sum_{k=0}^{5-i} q^{(i+k)}(m)\,\frac{h^k \varepsilon^k}{k!}
#              \pm \sup|q^{(6)}|\,\frac{h^{6-i}}{(6-i)!}, \qquad i = 0, 1, 2.$$
#
# Constant and linear terms are kept. Of the others, $\varepsilon^2$ and $\varepsilon^4$ are a half, give or
# take a half, $\varepsilon^3 = \tfrac34\varepsilon \pm \tfrac14$ (Chebyshev), and $\varepsilon^5$ is within
# 1.

ORDER = 6
"""Of the derivative that bounds the remainder."""
ROUNDING = 1e-12
"""What a motion's derivatives may be off by, as a share of their bounds, besides an ulp for each piece."""


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


# Which robots can be enclosed, and their motion written out for joints that mimic others.

MOST_CHILDREN = 32
"""Joints that one link may carry; the rounding bounds count on it, as a wrench is the sum of so many."""


def untied_positions(robot: Robot, q: Forms) -> Forms:
    """Check joint positions and write out those of joints that mimic others.

    Args:
        robot: the robot.
        q: joint positions, shape (K, nv), rad or m.

    Returns:
        Positions of every joint, shape (K, nb), rad or m.

    Raises:
        InputError: the robot cannot be enclosed, or the forms are not of its joints.
    """
    _check(robot, q)
    return q if robot.ties is None else q.mapped(robot.ties.positions, robot.ties.offset)


def untied_motion(robot: Robot, motion: MotionForms) -> MotionForms:
    """Check a motion and write out joints that mimic others.

    Args:
        robot: the robot.
        motion: forms, each shape (K, nv), SI.

    Returns:
        Forms of every joint, each shape (K, nb), SI.

    Raises:
        InputError: the robot cannot be enclosed, or the forms are not of its joints.
    """
    q = untied_positions(robot, motion.q)
    if robot.ties is None:
        return motion
    return MotionForms(q, motion.v.mapped(robot.ties.rates), motion.a.mapped(robot.ties.rates))


def _check(robot: Robot, q: Forms) -> None:
    for joint in robot.joints:
        if joint.kind.nv != 1:
            raise InputError(
                f"joint '{joint.name}' is {joint.kind.value}: only joints with one degree of freedom have "
                "forms.",
                place="robot",
                remedy="Fix the base, or lock the joint.",
            )
    parents = [joint.parent for joint in robot.joints]
    if max(map(parents.count, parents)) > MOST_CHILDREN:
        raise InputError(f"a link carries more than {MOST_CHILDREN} joints.", place="robot")
    if q.centre.ndim != 2 or q.centre.shape[1] != robot.nv:
        raise ShapeError(f"expected forms of shape (K, {robot.nv}), got {q.centre.shape}.", place="motion")
