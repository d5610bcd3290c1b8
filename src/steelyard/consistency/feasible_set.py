r"""`FeasibleSet`: the parameter vectors a robot can have, in coordinates that make its links comparable.

A full vector is possible when every link's pseudo-inertia is positive semidefinite, drive terms that cannot
be negative are not, what the layout fixes has its value, and given bounds hold. Each link i is measured in
its own mass $m_i$ and length $\ell_i$, taken from a reference vector,

$$x = \phi / s, \qquad s_i = m_i\,(1,\; \ell_i, \ell_i, \ell_i,\; \ell_i^2, \dots, \ell_i^2),$$

which is a congruence of the pseudo-inertia: x is possible exactly when phi is. The distance of two vectors is

$$d(\phi, \phi')^2 = \sum_i \lVert J(x_i) - J(x'_i) \rVert_F^2 + \sum_k (x_k - x'_k)^2,$$

with links i and drive terms k: a relative change of every mass distribution, dimensionless.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked, read_only
from steelyard.drive import drive_term
from steelyard.errors import InputError
from steelyard.inertia import characteristic_length, nearest_consistent, pseudo_inertia
from steelyard.layout import Layout

# How far scaled parameters are inside the possible: one 4 x 4 matrix per link and one number per bound.
#
# $$S_i(x) = J(x_i) - F_i, \qquad s_j(x) = \sigma_j x_{k_j} - c_j,$$
#
# with the pseudo-inertia $J$. Multipliers have the same shape. Inner products, products and steps to the edge
# are taken link by link and bound by bound, all links at once.

_FLAT = np.ascontiguousarray(pseudo_inertia(np.eye(10)).reshape(10, 16))
# Links are measured in their own mass and length: possible ones have eigenvalues up to about one.
_START = 0.05
_FLAT_TRANSPOSED = np.ascontiguousarray(_FLAT.T)


@dataclass(frozen=True, eq=False)
class Slack:
    """Slacks of all constraints, or their multipliers, or changes of either.

    Attributes:
        matrices: symmetric, one for each link, shape (L, 4, 4), dimensionless.
        numbers: one for each bound, shape (B,), dimensionless.
    """

    matrices: Array
    numbers: Array

    @property
    def order(self) -> int:
        """The order of all matrices and numbers together."""
        return 4 * len(self.matrices) + len(self.numbers)

    @property
    def largest(self) -> float:
        """The largest entry in magnitude."""
        return float(max(np.abs(self.matrices).max(initial=0.0), np.abs(self.numbers).max(initial=0.0)))

    @property
    def lowest(self) -> Array:
        """The smallest eigenvalue of each matrix, then the numbers, shape (L + B,), dimensionless."""
        return np.concatenate([np.linalg.eigvalsh(self.matrices)[:, 0], self.numbers])

    @property
    def highest(self) -> Array:
        """The largest eigenvalue of each matrix, then the numbers, shape (L + B,), dimensionless."""
        return np.concatenate([np.linalg.eigvalsh(self.matrices)[:, -1], self.numbers])

    def __add__(self, other: Slack) -> Slack:
        return Slack(self.matrices + other.matrices, self.numbers + other.numbers)

    def __sub__(self, other: Slack) -> Slack:
        return Slack(self.matrices - other.matrices, self.numbers - other.numbers)

    def __rmul__(self, factor: float) -> Slack:
        return Slack(factor * self.matrices, factor * self.numbers)

    def dot(self, other: Slack) -> float:
        """The sum of all products of entries.

        Args:
            other: the other one.

        Returns:
            The inner product.
        """
        return float(np.vdot(self.matrices, other.matrices) + self.numbers @ other.numbers)

    def product(self, middle: Slack, right: Slack) -> Slack:
        r"""The symmetric part of $S\,M\,R$.

        Args:
            middle: M.
            right: R.
        """
        matrices = self.matrices @ middle.matrices @ right.matrices
        return Slack(
            0.5 * (matrices + matrices.transpose(0, 2, 1)), self.numbers * middle.numbers * right.numbers
        )

    def inside(self) -> Slack:
        """The nearest slacks that are inside by a fair margin, from where a search can start."""
        eigenvalues, V = np.linalg.eigh(self.matrices)
        raised = (V * np.maximum(eigenvalues, _START)[:, None, :]) @ V.transpose(0, 2, 1)
        return Slack(0.5 * (raised + raised.transpose(0, 2, 1)), np.maximum(self.numbers, _START))

    def inverse_root(self) -> Slack:
        r"""A factor G with $G^T G = S^{-1}$.

        Raises:
            numpy.linalg.LinAlgError: a matrix is not positive definite.
        """
        return Slack(np.linalg.inv(np.linalg.cholesky(self.matrices)), self.numbers**-0.5)

    def squared(self) -> Slack:
        r"""For a factor G, the slack $G^T G$."""
        return Slack(self.matrices.transpose(0, 2, 1) @ self.matrices, self.numbers**2)

    def room(self, change: Slack) -> float:
        """For a factor G of the inverse, the largest multiple of a change that keeps the slack inside.

        Args:
            change: D.

        Returns:
            The largest t with S + t D positive semidefinite, infinite where there is no limit.
        """
        G = self.matrices
        lowest = np.linalg.eigvalsh(G @ change.matrices @ G.transpose(0, 2, 1)).min(initial=0.0)
        lowest = min(lowest, (change.numbers * self.numbers**2).min(initial=0.0))
        return float(-1.0 / lowest) if lowest < 0.0 else np.inf

    def joined(self, other: Slack) -> Slack:
        """Both in one, to be treated at once.

        Args:
            other: what follows.

        Returns:
            The slacks of this one, then of the other.
        """
        return Slack(
            np.concatenate([self.matrices, other.matrices]), np.concatenate([self.numbers, other.numbers])
        )

    def first_half(self) -> Slack:
        """What was joined first, where both were alike."""
        return Slack(self.matrices[: len(self.matrices) // 2], self.numbers[: len(self.numbers) // 2])


@dataclass(frozen=True, eq=False)
class SlackMap:
    """The slacks as functions of scaled parameters.

    Attributes:
        size: p, number of parameters.
        links: places of the ten numbers of each link, shape (L, 10), dimensionless.
        floors: F, what is asked of each link's pseudo-inertia, shape (L, 4, 4), dimensionless.
        bounded: k, the parameter of each bound, shape (B,), dimensionless.
        signs: 1 where the parameter must be above, -1 where it must be below, shape (B,), dimensionless.
        limits: c, sign times limit, shape (B,), dimensionless.
    """

    size: int
    links: IntArray
    floors: Array
    bounded: IntArray
    signs: Array
    limits: Array

    def change(self, dx: Array) -> Slack:
        """How the slacks move with the parameters.

        Args:
            dx: change of the scaled parameters, shape (p,), dimensionless.
        """
        return Slack((dx[self.links] @ _FLAT).reshape(-1, 4, 4), self.signs * dx[self.bounded])

    def value(self, x: Array) -> Slack:
        """The slacks.

        Args:
            x: scaled parameters, shape (p,), dimensionless.

        Returns:
            The slacks at x.
        """
        return self.change(x) - Slack(self.floors, self.limits)

    def adjoint(self, multipliers: Slack) -> Array:
        """The pull of multipliers on the parameters, the transpose of `change`.

        Args:
            multipliers: of all constraints.

        Returns:
            The pull, shape (p,), dimensionless.
        """
        pull = np.bincount(self.bounded, self.signs * multipliers.numbers, minlength=self.size).astype(float)
        pull[self.links] += multipliers.matrices.reshape(-1, 16) @ _FLAT_TRANSPOSED
        return pull

    def curvature(self, left: Slack, right: Slack) -> Array:
        r"""The quadratic form $d \mapsto \sum_i \langle D_i, A_i D_i B_i\rangle$ with $D = J(d)$.

        Args:
            left: A.
            right: B.

        Returns:
            Its symmetric matrix, shape (p, p), dimensionless.
        """
        # <D, A D' B> is a form in the entries of D and D', the Kronecker product of A and B.
        kronecker = left.matrices[:, :, None, :, None] * right.matrices[:, None, :, None, :]
        blocks = _FLAT @ kronecker.reshape(-1, 16, 16) @ _FLAT_TRANSPOSED
        H = np.zeros((self.size, self.size))
        H[self.links[:, :, None], self.links[:, None, :]] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
        diagonal = H.reshape(-1)[:: self.size + 1]
        diagonal += np.bincount(self.bounded, left.numbers * right.numbers, minlength=self.size)
        return H


BALL = (1.0, 0.1)
"""Mass in kg and length in m of a link about which neither a prior nor the description says anything."""
_LIGHT = 1e-3
_EXPONENTS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
_FROBENIUS = np.linalg.cholesky(np.einsum("kij,lij->kl", *(2 * [pseudo_inertia(np.eye(10))]))).T


@dataclass(frozen=True, eq=False)
class FeasibleSet:
    """The possible parameter vectors of a layout.

    Attributes:
        layout: the order of the parameters.
        reference: a possible vector, apart from the bounds, shape (p,), SI.
        scales: s, shape (p,), SI.
        constraints: the conditions on x = phi / s.
        unknown: links whose reference is a ball of size `BALL` at the origin, for want of anything better.
    """

    layout: Layout
    reference: Array
    scales: Array
    constraints: SlackMap
    unknown: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The link or parameter that each constraint is about, links first."""
        links = [self.layout.links[int(places[0]) // 10] for places in self.constraints.links]
        return (*links, *(self.layout.names[k] for k in self.constraints.bounded))

    @cached_property
    def basis(self) -> Array | None:
        """Directions of x that are not fixed, shape (p, n), dimensionless; None when none is fixed."""
        return None if self.layout.free.all() else np.eye(self.layout.size)[:, self.layout.free]

    @cached_property
    def metric(self) -> Array:
        """The factor T with d = |T (x - x')|, shape (p, p), dimensionless."""
        T = np.eye(self.layout.size)
        for k in range(len(self.layout.links)):
            T[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = _FROBENIUS
        return T

    def distance(self, first: ArrayLike, second: ArrayLike) -> float:
        """The distance d of two vectors.

        Args:
            first: phi, shape (p,), SI.
            second: phi', shape (p,), SI.

        Returns:
            d, dimensionless.
        """
        p = self.layout.size
        change = checked("first", first, (p,)) - checked("second", second, (p,))
        return float(np.linalg.norm(self.metric @ (change / self.scales)))


def feasible_set(
    layout: Layout,
    reference: ArrayLike | None = None,
    *,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    drive_scales: ArrayLike | None = None,
) -> FeasibleSet:
    r"""State which vectors are possible.

    Args:
        layout: the order of the parameters.
        reference: what is believed of phi, shape (p,), SI; NaN where nothing is. The description's numbers
            stand in, then a ball of size `BALL` for a link and zero for a drive term; a link that cannot
            exist is replaced by the nearest that can.
        floor: smallest eigenvalue asked of $J(x_i)$, relative to the link's reference mass, dimensionless.
        lower: further lower bounds, shape (p,), SI; -inf for none.
        upper: further upper bounds, shape (p,), SI; inf for none.
        drive_scales: sizes of the drive terms, shape (p,), SI, entries of links ignored; None for ones.

    Raises:
        InputError: the floor is negative, a scale is not positive, or bounds contradict each other.
    """
    if not (np.isfinite(floor) and floor >= 0.0):
        raise InputError(f"must be finite and not negative, got {floor}.", place="floor")
    n, p = len(layout.links), layout.size
    phi, unknown = _reference(layout, reference)
    s = np.ones(p) if drive_scales is None else np.array(checked("drive_scales", drive_scales, (p,)))
    bodies = phi[: 10 * n].reshape(n, 10)
    mass, length = _sizes(bodies)
    s[: 10 * n] = (mass[:, None] * length[:, None] ** _EXPONENTS).ravel()
    if not (s > 0).all():
        raise InputError("must be positive.", place="drive_scales")
    links = np.arange(10 * n).reshape(n, 10)
    links = links[layout.free[links].any(axis=1)]
    low, high = _bounds(layout, lower, upper)
    above, below = np.flatnonzero(low > -np.inf), np.flatnonzero(high < np.inf)
    constraints = SlackMap(
        size=p,
        links=links,
        floors=np.tile(floor * np.eye(4), (len(links), 1, 1)),
        bounded=np.concatenate([above, below]),
        signs=np.concatenate([np.ones(above.size), -np.ones(below.size)]),
        limits=np.concatenate([low[above] / s[above], -high[below] / s[below]]),
    )
    return FeasibleSet(layout, read_only(phi), read_only(s), constraints, unknown)


def _sizes(bodies: Array) -> tuple[Array, Array]:
    """Mass and length of each link; links that weigh next to nothing are measured by the others."""
    mass, length = bodies[:, 0], characteristic_length(bodies)
    if not (mass > 0).any():
        return np.full(len(bodies), BALL[0]), np.full(len(bodies), BALL[1])
    heavy = mass > _LIGHT * mass.max()
    middle = float(np.median(length[heavy]))
    return np.maximum(mass, _LIGHT * mass.max()), np.clip(length, 0.1 * middle, 10.0 * middle)


def _reference(layout: Layout, reference: ArrayLike | None) -> tuple[Array, tuple[str, ...]]:
    nominal, n = layout.nominal, len(layout.links)
    believed = np.full(layout.size, np.nan) if reference is None else np.array(reference, dtype=float)
    believed = np.array(checked("reference", believed, (layout.size,), finite=False))
    phi, unknown = np.where(np.isfinite(believed), believed, np.nan_to_num(nominal)), []
    m, length = BALL
    ball = np.array([m, 0, 0, 0, *(m * length**2 * np.array([1.0, 0, 1, 0, 0, 1]))])
    for k, link in enumerate(layout.links):
        ten = slice(10 * k, 10 * k + 10)
        if not np.isfinite(believed[ten]).all():
            phi[ten] = nominal[ten]
            if not np.isfinite(nominal[ten]).all():
                phi[ten] = ball
                unknown.append(link)
    bodies = phi[: 10 * n].reshape(n, 10)
    bodies[:] = nearest_consistent(bodies)
    positive = _never_negative(layout)
    phi[positive] = np.maximum(phi[positive], 0.0)
    fixed = ~layout.free
    phi[fixed] = np.nan_to_num(nominal[fixed])
    return phi, tuple(unknown)


def _never_negative(layout: Layout) -> BoolArray:
    """Drive terms that cannot be negative, shape (p,); links have conditions of their own."""
    n = 10 * len(layout.links)
    drives = [not drive_term(parameter.term).signed for parameter in layout.parameters[n:]]
    return np.array([False] * n + drives)


def _bounds(layout: Layout, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Array, Array]:
    """The bounds that are not implied by the links; fixed parameters have none."""
    p = layout.size
    low = np.where(_never_negative(layout), 0.0, -np.inf)
    high = np.full(p, np.inf)
    if lower is not None:
        low = np.maximum(low, checked("lower", lower, (p,), finite=False))
    if upper is not None:
        high = np.minimum(high, checked("upper", upper, (p,), finite=False))
    crossed = np.flatnonzero(low >= high)
    if np.isnan(low).any() or np.isnan(high).any() or crossed.size:
        name = layout.names[int(crossed[0])] if crossed.size else "a parameter"
        raise InputError(
            f"leave {name} no room.",
            place="bounds",
            remedy="A lower bound must be below the upper one; fix a parameter in the layout instead.",
        )
    fixed = ~layout.free
    low[fixed], high[fixed] = -np.inf, np.inf
    return low, high
