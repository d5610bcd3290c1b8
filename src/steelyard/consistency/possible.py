r"""`PossibleSet`: the parameter vectors a robot can have, in coordinates that make its links comparable.

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

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.consistency.slack import SlackMap
from steelyard.drive import drive_term
from steelyard.errors import InputError
from steelyard.inertia import characteristic_length, nearest_consistent, pseudo_inertia
from steelyard.layout import Layout

BALL = (1.0, 0.1)
"""Mass in kg and length in m of a link about which neither a prior nor the description says anything."""
_LIGHT = 1e-3
_EXPONENTS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
_FROBENIUS = np.linalg.cholesky(np.einsum("kij,lij->kl", *(2 * [pseudo_inertia(np.eye(10))]))).T


@dataclass(frozen=True, eq=False)
class PossibleSet:
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


def possible_set(
    layout: Layout,
    reference: ArrayLike | None = None,
    *,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    drive_scales: ArrayLike | None = None,
) -> PossibleSet:
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

    Returns:
        The set.

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
    return PossibleSet(layout, read_only(phi), read_only(s), constraints, unknown)


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
