r"""Structural identifiability: what the torques of any motion could ever say about each parameter.

The conditions of the blocks, each a few rows about its own bodies, make up one matrix for the robot. A change
of a body reaches the torques as if it were made to the bodies that carry it, so its columns in the rows of
every carrier follow by moving parameters towards the base (paper 002, Appendix G, with its erratum):

$$N_{ii} = N_i, \qquad N_{ij} = N_{i,p(j)}\,B_j, \qquad \mathrm{Null}(N) = \text{what no torque can show}.$$
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.budget import NUMBER, require_memory
from steelyard.identifiability.base_parameters import BaseParameters
from steelyard.identifiability.classes import TIE_BREAK
from steelyard.identifiability.echelon import echelon_form
from steelyard.layout import Class, Layout

SURE = 1e-5
"""From here on, and below `DOUBTFUL`, lengths decide rank without a doubt."""
DOUBTFUL = 1e-10


@dataclass(frozen=True, eq=False)
class BodyKnowledge:
    """What can be known of one body.

    Attributes:
        link: its name.
        dim_velocity: dimension of the velocities it can have; gravity counts as one where it acts.
        dim_identifiable: dimension of the coefficients of its parameters that its energy can show.
        dim_transfer: dimension of the unseen changes shared with the body that carries it; of the whole block
            where several bodies move together, named at its first.
        classes: class of each parameter of the link and of its joint's drive, by name.

    The three dimensions are those of the recursion, None where the robot was asked as a whole.
    """

    link: str
    dim_velocity: int | None
    dim_identifiable: int | None
    dim_transfer: int | None
    classes: Mapping[str, Class]


@dataclass(frozen=True, eq=False)
class Conditions:
    """What a block of bodies that move together must fulfil for a change to go unseen.

    Attributes:
        columns: the parameters concerned, indices in phi, shape (w,), dimensionless.
        rows: N_i with orthonormal rows in scaled parameters, in SI, shape (rank, w), SI.
    """

    columns: IntArray
    rows: Array


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What can be known of a robot's parameters from its torques.

    Attributes:
        robot: name of the robot.
        layout: the parameters asked about.
        static: whether only poses at rest were considered.
        bodies: what can be known of each body, in the order of the links.
        conditions: by block, parents before children; one of all bodies where joints are coupled.
        carriers: index of the body that carries each body, -1 for the base and where conditions are of all
            bodies, shape (nb,), dimensionless.
        moves: B, parameters of each body in its carrier's frame, shape (nb, 10, 10), SI.
        scales: factors that make the parameters comparable, lengths over the robot's, shape (p,), SI.
        joint_bodies: index of the body each driven joint moves, in the order of the layout's joints.
        kept: smallest length that counted as a direction, dimensionless.
        dropped: largest length that did not, dimensionless.
        coupled: joints that follow one on another link; where there are any, no recursion is known, and the
            lengths are singular values of the torques of random states.
    """

    robot: str
    layout: Layout
    static: bool
    bodies: tuple[BodyKnowledge, ...]
    conditions: tuple[Conditions, ...]
    carriers: IntArray
    moves: Array
    scales: Array
    joint_bodies: tuple[int, ...]
    kept: float
    dropped: float
    coupled: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return sum(len(block.rows) for block in self.conditions)

    @property
    def doubtful(self) -> bool:
        """Whether a length that decided about rank is neither clearly there nor clearly round-off."""
        return self.kept < SURE or self.dropped > DOUBTFUL

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """The class of every parameter, in the order of the layout."""
        by_name = {name: kind for body in self.bodies for name, kind in body.classes.items()}
        return tuple(by_name[name] for name in self.layout.names)

    @cached_property
    def pivots(self) -> IntArray:
        """Indices of the base parameters in phi, in the order of the tie-break, shape (b,), dimensionless."""
        base = (Class.ALONE, Class.BASE)
        chosen = [k for block in self.conditions for k in tie_break(self.layout, block.columns)]
        return read_only(np.array([k for k in chosen if self.classes[k] in base], dtype=np.int64))

    @cached_property
    def descriptor(self) -> Array:
        r"""N, whose rows span the identifiable combinations: $N\,\delta\phi = 0$ is unseen, (b, p), SI."""
        p = self.layout.size
        require_memory(
            4 * NUMBER * p * p,
            f"the combinations of {p} parameters",
            place=f"robot of {len(self.moves)} moving links",
            remedy="Lock joints that need not move.",
        )
        N = np.zeros((self.count, p))
        at = 0
        for block in self.conditions:
            N[at : at + len(block.rows), block.columns] = block.rows
            at += len(block.rows)
        for j, carrier in enumerate(self.carriers):
            if carrier >= 0:
                mine, its = slice(10 * j, 10 * j + 10), slice(10 * carrier, 10 * carrier + 10)
                own = N[:, mine].any(axis=1)
                N[~own, mine] = N[~own, its] @ self.moves[j]
        return read_only(N)

    @cached_property
    def base(self) -> BaseParameters:
        r"""The identifiable combinations $\beta = K\phi$ in reduced row echelon form."""
        return echelon_form(self.descriptor, self.scales, [int(k) for k in self.pivots], self.layout.names)

    @cached_property
    def nullspace(self) -> Array:
        """Basis of the changes no torque shows, one per column, (p, p - b), SI; each of one block alone."""
        columns = []
        for block in self.conditions:
            R = _null(block.rows, self.scales[block.columns])
            change = np.zeros((self.layout.size, R.shape[1]))
            change[block.columns] = R
            for j in (int(k) // 10 for k in block.columns if k < 10 * len(self.moves) and k % 10 == 0):
                carrier = self.carriers[j]
                if carrier >= 0:
                    change[10 * carrier : 10 * carrier + 10] -= self.moves[j] @ change[10 * j : 10 * j + 10]
            columns.append(change)
        return read_only(np.hstack(columns))


def tie_break(layout: Layout, columns: IntArray) -> list[int]:
    """The columns of a block in the order of preference among its parameters.

    Args:
        layout: the order of the parameters.
        columns: indices in phi, the ten of a body together, shape (w,), dimensionless.

    Returns:
        The same indices, those of each body reordered.
    """
    links = 10 * len(layout.links)
    ordered: list[int] = []
    for k in (int(k) for k in columns):
        if k >= links:
            ordered.append(k)
        elif k % 10 == 0:
            ordered += [k + place for place in TIE_BREAK]
    return ordered


def _null(rows: Array, scales: Array) -> Array:
    """Basis of what the rows annihilate, shape (w, w - rank), found in scaled parameters."""
    _, _, Vt = np.linalg.svd(rows / scales)
    return np.asarray(Vt[len(rows) :].T / scales[:, None])
