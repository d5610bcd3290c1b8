r"""Where a step of a refinement may go: anywhere, inside a box, or to links that can exist.

Each step asks for the point that leaves the least of the linearised residual,

$$\min_x \lVert A\,(x - \beta) - z \rVert \quad\text{over the allowed } x .$$

All three sets are convex, so what lies between two allowed points is allowed too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.linalg
from scipy.optimize import lsq_linear

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.consistency import FeasibleSet, feasible_set, fit_feasible
from steelyard.errors import InputError
from steelyard.identifiable import MinimalModel, structural_identifiability

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


# Steps of a refinement that end at links that can exist.
#
# Base parameters are possible when some full vector of possible links, rotors above a floor and friction that
# is not negative predicts the same torques. All full vectors behind $\beta$ are
#
# $$\phi = S\beta + \phi_0 + N y, \qquad Y N = 0,$$
#
# with N a basis of what torques do not show, known links aside. They may have products of inertia that a
# reduction leaves out of $\beta$: a symmetric model is a statement about torques, and a body is not asked to
# be symmetric beyond what they show. A step is one least-squares program over $(\beta, y)$ under the links'
# linear matrix inequalities.

ROTOR_FLOOR = 3e-4
"""Smallest rotor inertia, kg·m² or kg: with less a simulated loop with dead time may be unstable."""
_NO_TORQUE = 1e-9


@dataclass(frozen=True, eq=False)
class _Family(FeasibleSet):
    """The possible vectors behind base parameters, as changes of the reference along some directions.

    Attributes:
        directions: in x = phi / s, shape (p, n), dimensionless.
    """

    directions: Array

    @cached_property
    def basis(self) -> Array:
        """The directions, shape (p, n), dimensionless."""
        return self.directions


@dataclass(frozen=True, eq=False)
class FeasibleLinks:
    """Base parameters of links that can exist.

    Attributes:
        model: the base parameters.
        possible: what is possible for full vectors; known links are taken as they are.
        unseen: N, directions of phi that torques do not show, shape (p, n), SI.
        to_base: the map L with beta = L (phi - phi_0) for every phi behind beta, shape (b, p), SI.
    """

    model: MinimalModel
    possible: FeasibleSet
    unseen: Array
    to_base: Array

    @property
    def name(self) -> str:
        """In a word."""
        return "possible links"

    def begin(self, beta: Array, metric: Array) -> Point:
        """See `StepConstraint.begin`.

        Args:
            beta: the start, shape (b,), SI.
            metric: measures a change by its torque, shape (k, b), SI.

        Returns:
            The possible point with the least change of torque.

        Raises:
            NoSolutionError: floors and known links leave no room for possible links.
        """
        return self._fitted(metric, metric @ beta, self._nearest_behind(beta))

    def best(self, matrix: Array, target: Array, at: Point) -> Point:
        """See `StepConstraint.best`; among equals, the full vector nearest to the one before.

        Args:
            matrix: A, shape (k, b), SI.
            target: z, shape (k,), SI.
            at: beta, with the full vector behind it.

        Returns:
            The point, with a full vector strictly inside the possible.

        Raises:
            NoSolutionError: round-off hides the optimum.
        """
        phi = self._nearest_behind(at.beta) if at.parameters is None else at.parameters
        return self._fitted(matrix, target + matrix @ at.beta, phi)

    def _fitted(self, A: Array, target: Array, reference: Array) -> Point:
        s, L = self.possible.scales, self.to_base
        family = _Family(
            self.possible.layout,
            read_only(reference),
            s,
            self.possible.constraints,
            self.possible.unknown,
            self._directions,
        )
        phi = fit_feasible(A @ L, target + A @ (L @ self.model.offset), family).parameters
        return Point(L @ (phi - self.model.offset), phi)

    @cached_property
    def _directions(self) -> Array:
        columns = np.column_stack([self.model.basis, self.unseen]) / self.possible.scales[:, None]
        return read_only(columns / np.linalg.norm(columns, axis=0))

    def _nearest_behind(self, beta: Array) -> Array:
        """The full vector behind base parameters that is nearest to the description's."""
        s = self.possible.scales
        phi, N = self.model.standard(beta), self.unseen / s[:, None]
        y = np.linalg.lstsq(N, (self.possible.reference - phi) / s, rcond=None)[0]
        return np.asarray(phi + self.unseen @ y)


def feasible_links(
    model: MinimalModel, *, floor: float = 0.0, rotor_floor: float = ROTOR_FLOOR
) -> FeasibleLinks:
    """State which base parameters belong to links that can exist; made once for a model.

    Args:
        model: the base parameters.
        floor: smallest eigenvalue asked of each link's pseudo-inertia, with the link's own mass and length in
            the description as units, dimensionless.
        rotor_floor: smallest rotor inertia, kg·m² or kg.

    Returns:
        The constraint.

    Raises:
        InputError: a floor is negative.
    """
    if not (np.isfinite(rotor_floor) and rotor_floor >= 0.0):
        raise InputError(f"must be finite and not negative, got {rotor_floor}.", place="rotor_floor")
    layout, known = model.layout, _known(model)
    terms = np.array([parameter.term for parameter in layout.parameters])
    lower = np.where((terms == "rotor") & ~known, rotor_floor, -np.inf)
    reference = np.array(layout.nominal)
    reference[known] = model.offset[known]
    whole = feasible_set(layout, reference, floor=floor, lower=lower, drive_scales=_drive_scales(model))
    moving = ~known[whole.constraints.links].all(axis=1)
    bounded = ~known[whole.constraints.bounded]
    constraints = replace(
        whole.constraints,
        links=whole.constraints.links[moving],
        floors=whole.constraints.floors[moving],
        bounded=whole.constraints.bounded[bounded],
        signs=whole.constraints.signs[bounded],
        limits=whole.constraints.limits[bounded],
    )
    s = whole.scales
    rows = structural_identifiability(model.robot, layout).descriptor * s
    free = np.flatnonzero(~known)
    null = scipy.linalg.null_space(rows[:, free], rcond=_NO_TORQUE)
    unseen = np.zeros((layout.size, null.shape[1]))
    unseen[free] = s[free, None] * null
    columns = np.column_stack([model.basis, unseen]) / s[:, None]
    to_base = np.linalg.pinv(columns)[: model.size] / s
    return FeasibleLinks(
        model, replace(whole, constraints=constraints), read_only(unseen), read_only(to_base)
    )


def _known(model: MinimalModel) -> BoolArray:
    """Parameters with no say in beta: links of which nothing is asked, and fixed drive terms, shape (p,)."""
    layout = model.layout
    known = np.zeros(layout.size, dtype=bool)
    if model.reduction is not None:
        silent = np.asarray(~model.reduction.matrix.any(axis=1))
        for link in layout.links:
            known[layout.of_link(link)] = silent[layout.of_link(link)].all()
        known[10 * len(layout.links) :] = silent[10 * len(layout.links) :]
    return known | ~layout.free


def _drive_scales(model: MinimalModel) -> Array:
    """The size of each kind of drive term: its mean in the description, one where it states none."""
    layout, nominal = model.layout, np.abs(np.nan_to_num(model.layout.nominal))
    terms = [parameter.term for parameter in layout.parameters]
    sizes = np.ones(layout.size)
    for term in layout.drive:
        own = [k for k, other in enumerate(terms) if other == term and k >= 10 * len(layout.links)]
        sizes[own] = float(nominal[own].mean()) or 1.0
    return sizes
