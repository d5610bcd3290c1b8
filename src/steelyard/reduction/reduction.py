r"""The standard parameters that meet what is assumed of the links: $\varphi = B\,\theta + \varphi_0$.

Each link's conditions are solved in its frame D and moved to the link's own, so the torque is linear in the
fewer parameters: $\tau = Y\varphi = (Y B)\,\theta + Y\varphi_0$. Drive terms pass unchanged. What the layout
itself fixes (`Parameter.fixed`) stays at its nominal value and is no part of $\theta$.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, change_of_frame
from steelyard.layout import Layout
from steelyard.link_frames import LinkFrames
from steelyard.reduction.conditions import Solutions, solve_conditions
from steelyard.reduction.rule import SYMMETRIC, LinkRule


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
    """The reduction of paper 004: no products of inertia in the frames of the links.

    Args:
        layout: the standard parameters.
        frames: the frames in which the products vanish.
        links: names of the links that are symmetric; all when not given.

    Returns:
        The reduction.

    Raises:
        UnknownNameError: there is no such link; lists those that exist.
    """
    return Reduction(layout, frames, dict.fromkeys(layout.links if links is None else links, SYMMETRIC))
