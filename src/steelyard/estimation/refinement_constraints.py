r"""Where a step of a refinement may go: anywhere, inside a box, or to links that can exist.

Each step asks for the point that leaves the least of the linearised residual,

$$\min_x \lVert A\,(x - \beta) - z \rVert \quad\text{over the allowed } x .$$

All three sets are convex, so what lies between two allowed points is allowed too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import lsq_linear

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

BLIND = 1e-9
"""Singular value of the column-scaled equations below which a direction is not seen, relative to the largest,
dimensionless."""


@dataclass(frozen=True, eq=False)
class Point:
    """An allowed parameter vector.

    Attributes:
        beta: base parameters, shape (b,), SI.
        parameters: a full vector of possible links behind them, shape (p,), SI; None where none is asked for.
    """

    beta: Array
    parameters: Array | None = None


class StepConstraint(Protocol):
    """What a step may do."""

    @property
    def name(self) -> str:
        """In a word."""
        ...

    def begin(self, beta: Array, metric: Array) -> Point:
        """The allowed point nearest to a start.

        Args:
            beta: the start, shape (b,), SI.
            metric: the factor that measures a change by its torque, shape (k, b), SI.

        Returns:
            The point.
        """
        ...

    def best(self, matrix: Array, target: Array, at: Point) -> Point:
        """The allowed point that solves the linearised equations best.

        Args:
            matrix: A, shape (k, b), SI.
            target: z, shape (k,), SI.
            at: the allowed point beta where they were linearised.

        Returns:
            The point x.
        """
        ...


@dataclass(frozen=True)
class Unconstrained:
    """Every parameter vector is allowed; along what the data does not show nothing moves."""

    name: str = "none"

    def begin(self, beta: Array, metric: Array) -> Point:
        """See `StepConstraint.begin`: the start itself.

        Args:
            beta: the start, shape (b,), SI.
            metric: not used, shape (k, b), SI.

        Returns:
            The start.
        """
        return Point(beta)

    def best(self, matrix: Array, target: Array, at: Point) -> Point:
        """See `StepConstraint.best`.

        Args:
            matrix: A, shape (k, b), SI.
            target: z, shape (k,), SI.
            at: beta.

        Returns:
            The least-squares solution; among equals the one nearest to beta, columns scaled to unit length.
        """
        s = _column_scales(matrix)
        return Point(at.beta + np.linalg.lstsq(matrix / s, target, rcond=BLIND)[0] / s)


@dataclass(frozen=True, eq=False)
class SearchBox:
    """Each base parameter stays between two bounds.

    Attributes:
        lower: shape (b,), SI; -inf for none.
        upper: shape (b,), SI; inf for none.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        low = checked("lower", self.lower, ("b",), finite=False)
        high = checked("upper", self.upper, (low.size,), finite=False)
        if not (low < high).all():
            raise InputError("must be below the upper bounds.", place="lower")
        object.__setattr__(self, "lower", read_only(low))
        object.__setattr__(self, "upper", read_only(high))

    @property
    def name(self) -> str:
        """In a word."""
        return "box"

    def begin(self, beta: Array, metric: Array) -> Point:
        """See `StepConstraint.begin`: each parameter to its nearer bound, data aside.

        Args:
            beta: the start, shape (b,), SI.
            metric: not used, shape (k, b), SI.

        Returns:
            The point.
        """
        return Point(np.clip(beta, self.lower, self.upper))

    def best(self, matrix: Array, target: Array, at: Point) -> Point:
        """See `StepConstraint.best`; by an active-set method.

        Args:
            matrix: A, shape (k, b), SI.
            target: z, shape (k,), SI.
            at: beta, inside the box.

        Returns:
            The point; the unconstrained one where that is inside.
        """
        free = Unconstrained().best(matrix, target, at)
        if ((free.beta >= self.lower) & (free.beta <= self.upper)).all():
            return free
        s, beta = _column_scales(matrix), at.beta
        bounds = ((self.lower - beta) * s, (self.upper - beta) * s)
        found = lsq_linear(matrix / s, target, bounds, method="bvls", tol=1e-14)
        return Point(np.clip(beta + found.x / s, self.lower, self.upper))


def _column_scales(matrix: Array) -> Array:
    lengths = np.linalg.norm(matrix, axis=0)
    return np.where(lengths > 0.0, lengths, 1.0)
