"""What is assumed of the links, each in a stated frame, and the fewer parameters that are left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, change_of_frame
from steelyard.layout import Layout
from steelyard.link_frames import LinkFrames

__all__ = ["SYMMETRIC", "Condition", "LinkRule", "Reduction", "fixed", "project", "symmetric_links"]

# What is assumed of one link: linear conditions on its ten numbers, stated in a frame D of its own.
#
# A term is fixed, $\varphi_k = c$, or tied to others, $\varphi_k = \sum_j w_j\,\varphi_j$. "This product of
# inertia is zero" says nothing before the frame is named: about another point or in turned axes the same body
# has another product.


@dataclass(frozen=True)
class Condition:
    r"""One linear equation $\sum_k w_k\,\varphi_k = c$ on the ten numbers of a link.

    Attributes:
        weights: w by term of `PARAMETER_NAMES`; terms not named have none.
        value: c, in the unit of the weighted terms.
    """

    weights: Mapping[str, float]
    value: float = 0.0

    def __post_init__(self) -> None:
        for term in self.weights:
            if term not in PARAMETER_NAMES:
                raise UnknownNameError("inertial term", term, PARAMETER_NAMES, place="condition")
        if not all(math.isfinite(x) for x in (*self.weights.values(), self.value)):
            raise InputError("weights and value must be finite.", place="condition")
        if not any(self.weights.values()):
            raise InputError("must weigh at least one term.", place="condition")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    @property
    def row(self) -> Array:
        """The weights of all ten terms, shape (10,), SI."""
        return np.array([self.weights.get(term, 0.0) for term in PARAMETER_NAMES])


@dataclass(frozen=True)
class LinkRule:
    """Everything that is assumed of one link; `rule & other` assumes both.

    Attributes:
        conditions: the equations, in any order.
    """

    conditions: tuple[Condition, ...] = ()

    def __and__(self, other: LinkRule) -> LinkRule:
        """Both rules at once."""
        return LinkRule((*self.conditions, *other.conditions))


def fixed(values: Mapping[str, float]) -> LinkRule:
    """Terms with known values.

    Args:
        values: by term, in the term's unit.

    Raises:
        UnknownNameError: there is no such term; lists those that exist.
    """
    return LinkRule(tuple(Condition({term: 1.0}, value) for term, value in values.items()))


SYMMETRIC = fixed({"Ixy": 0.0, "Ixz": 0.0, "Iyz": 0.0})
"""No products of inertia: the planes of D mirror the link, or nearly so (Oaki et al. 2026)."""


# The ten numbers that meet the conditions on a link: $\varphi = B\,\theta + c$, $\theta$ some of them.

DEPENDENT = 1e-10
"""A row whose largest entry falls below this, having started from 1, repeats the others."""
CONTRADICTION = 1e-9
"""A repeated row contradicts the others when its value is off by more than this, relative to the largest."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """All vectors of ten numbers that meet some conditions.

    Attributes:
        free: indices of the terms that stay free, increasing.
        matrix: B, one column a free term and the identity in its rows, shape (10, f), SI.
        offset: c, zero in the rows of free terms, shape (10,), SI.
    """

    free: tuple[int, ...]
    matrix: Array
    offset: Array


def solve_conditions(rows: Array, values: Array, *, place: str) -> Solutions:
    r"""Solve $C\,\varphi = c$ by elimination, from the last term to the first.

    Each equation gives up the last of its terms, so that a second moment is written in second moments, then
    in first ones and the mass, and never the other way round.

    Args:
        rows: C, shape (r, 10), SI.
        values: c, shape (r,), SI.
        place: whose conditions they are, for the message.

    Raises:
        InputError: the conditions contradict each other.
    """
    terms = rows.shape[1]
    A = np.column_stack([rows[:, ::-1], values])
    A /= np.abs(A[:, :terms]).max(axis=1, initial=0.0, keepdims=True)
    scale = np.abs(A[:, terms]).max(initial=0.0)
    pivots: list[int] = []
    for column in range(terms):
        rank = len(pivots)
        if rank == len(A):
            break
        best = rank + int(np.argmax(np.abs(A[rank:, column])))
        if abs(A[best, column]) <= DEPENDENT:
            continue
        A[[rank, best]] = A[[best, rank]]
        A[rank] /= A[rank, column]
        others = np.arange(len(A)) != rank
        A[others] -= np.outer(A[others, column], A[rank])
        pivots.append(column)
    off = float(np.abs(A[len(pivots) :, terms]).max(initial=0.0))
    if off > CONTRADICTION * scale:
        raise InputError(
            f"the conditions contradict each other by {off:.3g}.",
            place=place,
            remedy="Drop one of them.",
            evidence={"rows": rows, "values": values},
        )
    given_up = [terms - 1 - column for column in pivots]
    free = tuple(k for k in range(terms) if k not in given_up)
    B, c = np.zeros((terms, len(free))), np.zeros(terms)
    B[free, np.arange(len(free))] = 1.0
    B[given_up] = -A[: len(pivots), :terms][:, ::-1][:, free]
    c[given_up] = A[: len(pivots), terms]
    return Solutions(free, B + 0.0, c)


# The standard parameters that meet what is assumed of the links: $\varphi = B\,\theta + \varphi_0$.
#
# Each link's conditions are solved in its frame D and moved to the link's own, so the torque is linear in the
# fewer parameters: $\tau = Y\varphi = (Y B)\,\theta + Y\varphi_0$. Drive terms pass unchanged. What the
# layout itself fixes (`Parameter.fixed`) stays at its nominal value and is no part of $\theta$.


@dataclass(frozen=True, eq=False)
class Reduction:
    """What is assumed of the links of a robot, and the parameters theta it leaves.

    Attributes:
        layout: the standard parameters phi.
        frames: the frame D of each link.
        rules: what is assumed, by link; links not named keep all ten terms, stated in D.
        solutions: what each link may be, in its frame D; follows from the others.
    """

    layout: Layout
    frames: LinkFrames
    rules: Mapping[str, LinkRule] = field(default_factory=dict)
    schema: int = 1
    solutions: tuple[Solutions, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.frames.links != self.layout.links:
            raise InputError(
                f"are those of {list(self.frames.links)}, the layout has {list(self.layout.links)}.",
                place="frames",
                remedy="Take frames and layout from the same robot.",
            )
        for link in self.rules:
            if link not in self.layout.links:
                raise UnknownNameError("moving link", link, self.layout.links, place="rules")
        blind = [x.name for x in self.layout.parameters if x.fixed and x.nominal is None]
        if blind:
            raise InputError(f"fixes {', '.join(blind)} without a value.", place="layout")
        object.__setattr__(self, "rules", MappingProxyType(dict(self.rules)))
        object.__setattr__(self, "solutions", tuple(self._solve(link) for link in self.layout.links))

    def _solve(self, link: str) -> Solutions:
        conditions = self.rules.get(link, LinkRule()).conditions
        rows = [condition.row for condition in conditions]
        values = [condition.value for condition in conditions]
        part = self.layout.of_link(link)
        for row, known in zip(self.from_frame(link), self.layout.parameters[part], strict=True):
            if known.fixed and known.nominal is not None:
                rows.append(row)
                values.append(known.nominal)
        return solve_conditions(np.array(rows).reshape(-1, 10), np.array(values), place=f"link '{link}'")

    def from_frame(self, link: str) -> Array:
        """The map from a link's ten numbers in D to those in its own frame.

        Args:
            link: name of the link.

        Returns:
            T, shape (10, 10), SI.
        """
        return change_of_frame(self.frames.pose(link))

    @cached_property
    def drive_columns(self) -> IntArray:
        """Indices in phi of the drive terms that stay free, shape (k,), dimensionless."""
        start = 10 * len(self.layout.links)
        drives = enumerate(self.layout.parameters[start:], start)
        return np.array([k for k, parameter in drives if not parameter.fixed], dtype=np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of theta: `<link>.<term>@<frames>`, then the drive terms under their own names."""
        links = [
            f"{link}.{PARAMETER_NAMES[k]}@{self.frames.name}"
            for link, block in zip(self.layout.links, self.solutions, strict=True)
            for k in block.free
        ]
        return (*links, *(self.layout.names[k] for k in self.drive_columns))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """SI units of theta."""
        links = [PARAMETER_UNITS[k] for block in self.solutions for k in block.free]
        return (*links, *(self.layout.parameters[k].unit for k in self.drive_columns))

    @property
    def size(self) -> int:
        """Number of reduced parameters b."""
        return len(self.names)

    @cached_property
    def matrix(self) -> Array:
        """B of full column rank, shape (p, b), SI."""
        B = np.zeros((self.layout.size, self.size))
        column = 0
        for link, block in zip(self.layout.links, self.solutions, strict=True):
            stop = column + len(block.free)
            B[self.layout.of_link(link), column:stop] = self.from_frame(link) @ block.matrix
            column = stop
        B[self.drive_columns, np.arange(column, self.size)] = 1.0
        return read_only(B)

    @cached_property
    def offset(self) -> Array:
        """phi_0, what is known whatever theta is, shape (p,), SI."""
        phi_0 = np.array([x.nominal if x.fixed and x.nominal else 0.0 for x in self.layout.parameters])
        for link, block in zip(self.layout.links, self.solutions, strict=True):
            phi_0[self.layout.of_link(link)] = self.from_frame(link) @ block.offset
        return read_only(phi_0)

    def standard(self, theta: ArrayLike) -> Array:
        r"""The standard parameters of reduced ones, $\varphi = B\,\theta + \varphi_0$.

        Args:
            theta: reduced parameters, shape (b,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        return self.matrix @ checked("theta", theta, (self.size,)) + self.offset


def symmetric_links(layout: Layout, frames: LinkFrames, links: Sequence[str] | None = None) -> Reduction:
    """The reduction of Oaki et al. (2026): no products of inertia in the frames of the links.

    Args:
        layout: the standard parameters.
        frames: the frames in which the products vanish.
        links: names of the links that are symmetric; all when not given.

    Raises:
        UnknownNameError: there is no such link; lists those that exist.
    """
    return Reduction(layout, frames, dict.fromkeys(layout.links if links is None else links, SYMMETRIC))


# The reduced parameters nearest to a given robot, and how far from the assumption that robot is.
#
# In the frame D of each link the reduced terms are read level by level: the mass first, then the first
# moments, then the second, each by least squares among the terms of its own unit. A fixed term has no say;
# two moments that are tied give their mean; no length scale is needed to weigh kilograms against their
# moments.

ROUND_OFF = 1e-12
"""A misfit up to this, relative to the link, is no finding."""
NOTABLE = 0.01
"""A misfit from this on, relative to the link, is a warning."""

_LEVELS = (slice(0, 1), slice(1, 4), slice(4, 10))


@dataclass(frozen=True, eq=False)
class Projection:
    r"""What a reduction makes of given standard parameters.

    Attributes:
        theta: reduced parameters, shape (b,), SI.
        residual: $\varphi - (B\,\theta + \varphi_0)$, what the reduction cannot hold, shape (p,), SI.
        findings: one for each link or drive term that is not as assumed.
    """

    theta: Array
    residual: Array
    findings: tuple[Finding, ...]


def project(reduction: Reduction, standard: ArrayLike) -> Projection:
    """Read reduced parameters from standard ones; exact where these are as the reduction assumes.

    Args:
        reduction: the reduction.
        standard: phi, such as the layout's `complete_nominal()`, shape (p,), SI.

    Returns:
        The reduced parameters, and what was lost.
    """
    layout = reduction.layout
    phi = checked("standard", standard, (layout.size,))
    theta, findings = [], []
    for link, block in zip(layout.links, reduction.solutions, strict=True):
        T = change_of_frame(reduction.frames.pose(link).inverse())
        phi_D = T @ phi[layout.of_link(link)]
        read = _read(block, phi_D)
        theta.append(read)
        findings += _asymmetry(link, reduction.frames.name, phi_D, block.matrix @ read + block.offset)
    theta.append(phi[reduction.drive_columns])
    all_theta = np.concatenate(theta)
    residual = phi - reduction.standard(all_theta)
    findings += _departures(reduction, residual)
    return Projection(read_only(all_theta), read_only(residual), tuple(findings))


def _read(block: Solutions, phi: Array) -> Array:
    """Reduced terms of one link from its ten numbers in D."""
    theta = np.zeros(len(block.free))
    for level in _LEVELS:
        own = [j for j, k in enumerate(block.free) if level.start <= k < level.stop]
        left = (phi - block.offset - block.matrix @ theta)[level]
        theta[own] = np.linalg.lstsq(block.matrix[level, own], left, rcond=None)[0]
    return theta


def _asymmetry(link: str, frames: str, phi: Array, reduced: Array) -> list[Finding]:
    r"""The worst term of a link, measured by its mass, $\sqrt{m\,s}$ and $s = \tfrac12\mathrm{tr}\,I$."""
    m, s = abs(phi[0]), abs(phi[4] + phi[6] + phi[9]) / 2
    sizes = np.repeat([m, np.sqrt(m * s), s], [1, 3, 6])
    misfit = np.abs(phi - reduced)
    relative = np.divide(misfit, sizes, out=np.where(misfit > 0, np.inf, 0.0), where=sizes > 0)
    worst = int(np.argmax(relative))
    if relative[worst] <= ROUND_OFF:
        return []
    severity = Severity.WARNING if relative[worst] >= NOTABLE else Severity.INFO
    message = (
        f"is not as assumed: {PARAMETER_NAMES[worst]} in its {frames} frame is {phi[worst]:.4g} instead of "
        f"{reduced[worst]:.4g} {PARAMETER_UNITS[worst]}, off by {relative[worst]:.2%} of the link's scale."
    )
    return [Finding(severity, "asymmetric-link", message, f"link '{link}'")]


def _departures(reduction: Reduction, residual: Array) -> list[Finding]:
    """Drive terms that the layout fixes at another value."""
    start = 10 * len(reduction.layout.links)
    return [
        Finding(
            Severity.WARNING,
            "departs-from-fixed",
            f"is fixed, but given as {residual[k]:+.4g} {parameter.unit} off its value.",
            parameter.name,
        )
        for k, parameter in enumerate(reduction.layout.parameters[start:], start)
        if residual[k] != 0.0
    ]
