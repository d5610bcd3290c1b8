r"""The kinetic energy as one quadratic form per link, and how energy may be moved between them.

Link i has the coordinates $z_i = (w_i, v_i, v_{c_1}, v_{c_2}, \dots)$: its parent's twist seen from it, the
rate of its own joint, and those of its children's. Its own twist is $V_i = w_i + s_i v_i$, so that

$$v^T M(q)\,v = \sum_i z_i^T X_i\,z_i, \qquad
  X_i(\phi, y) = \mathcal M_i(\phi_i) + I_{a,i} + \sum_k y_{ik} F_{ik}
               - \sum_{c}\sum_k y_{ck}\,P_c^T F_{ck} P_c ,$$

for *every* y and q: $F_{ik}$ are the forms that pass joint i (`all_pose_forms`) and $P_c$ writes $(w_0, v)$
of child c in the coordinates of its parent. The $X_i$ do not depend on q. If some y makes all of them
positive semidefinite, M(q) is so at every pose.

A link without mass at the end of a chain takes no part: only its rotor counts.

All matrices are kept exactly, as integers over a power of two, and rounded once for the search. Axes of unit
length and rotations are rounded in the description; `slip` bounds how much that can change a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.consistency.all_pose_forms import Exact, axis_of, exact, passing_forms, to_child
from steelyard.consistency.all_pose_slip import link_slip, passing_slip
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout
from steelyard.robot import Joint, Robot

_SPATIAL = {
    "m": [(0, 0, 1), (1, 1, 1), (2, 2, 1)],
    "mx": [(1, 5, 1), (2, 4, -1)],
    "my": [(2, 3, 1), (0, 5, -1)],
    "mz": [(0, 4, 1), (1, 3, -1)],
    "Ixx": [(3, 3, 1)],
    "Iyy": [(4, 4, 1)],
    "Izz": [(5, 5, 1)],
    "Ixy": [(3, 4, 1)],
    "Ixz": [(3, 5, 1)],
    "Iyz": [(4, 5, 1)],
}
"""Entries of the spatial inertia by term: row, column, factor."""


@dataclass(frozen=True, eq=False)
class LinkBlock:
    r"""The form of one link, $X = \sum_k \theta_{c_k} B_k$ with $\theta = (\phi, y)$.

    Attributes:
        link: index of the link.
        rate: place of its own joint's rate in z.
        columns: c, shape (K,), dimensionless.
        integers: B times 2^exponent, exact, shape (K, d, d), SI.
        exponent: of two.
        slip: how much each B may differ, in norm, for axes and rotations that are exactly so, shape (K,), SI.
    """

    link: int
    rate: int
    columns: IntArray
    integers: Exact
    exponent: int
    slip: Array

    @property
    def order(self) -> int:
        """Number d of coordinates."""
        return int(self.integers.shape[1])

    @cached_property
    def matrices(self) -> Array:
        """B rounded, shape (K, d, d), SI."""
        return np.ldexp(self.integers.astype(np.float64), -self.exponent)


@dataclass(frozen=True, eq=False)
class EnergyBlocks:
    """The forms of all links of a robot.

    Attributes:
        robot: the robot.
        layout: the order of phi.
        idle: links without mass that carry none.
        blocks: one for each link.
        moves: how many forms pass each joint, shape (n,), dimensionless; zero at the base and at idle links.
    """

    robot: Robot
    layout: Layout
    idle: tuple[bool, ...]
    blocks: tuple[LinkBlock, ...]
    moves: IntArray

    @property
    def size(self) -> int:
        """Number of moves y."""
        return int(self.moves.sum())


def idle_links(robot: Robot, massless: Sequence[bool]) -> tuple[bool, ...]:
    """Which links take no part: without mass, and so is everything they carry.

    Args:
        robot: the robot.
        massless: whether the ten numbers of each link are zero.

    Returns:
        One answer for each link.
    """
    idle = list(massless)
    for i in reversed(range(len(robot.joints))):
        parent = robot.joints[i].parent
        if parent >= 0 and not idle[i]:
            idle[parent] = False
    return tuple(bool(x) for x in idle)


def energy_blocks(robot: Robot, layout: Layout, idle: Sequence[bool]) -> EnergyBlocks:
    """State the forms of a robot.

    Args:
        robot: a tree of joints with one degree of freedom.
        layout: the order of phi.
        idle: which links take no part, see `idle_links`.

    Returns:
        The forms.

    Raises:
        DescriptionError: a joint floats, is spherical or mimics another.
    """
    robot.require_arm()
    n, first = len(robot.joints), layout.size
    children = [[c for c in range(n) if robot.joints[c].parent == i and not idle[c]] for i in range(n)]
    orders = [1 if idle[i] else 7 + len(children[i]) for i in range(n)]
    terms: list[list[tuple[int, Exact, float]]] = [[] for _ in range(n)]
    moves = np.zeros(n, dtype=np.int64)
    for i, joint in enumerate(robot.joints):
        rotor = layout.drive_columns[i, 3]
        if rotor >= 0:
            own = exact(np.zeros((orders[i], orders[i])))
            own[min(6, orders[i] - 1), min(6, orders[i] - 1)] += 1
            terms[i].append((int(rotor), own, 0.0))
        if idle[i]:
            continue
        start = layout.of_link(layout.links[i]).start
        for k, name in enumerate(PARAMETER_NAMES):
            terms[i].append((start + k, _link_term(joint, name, orders[i]), link_slip(joint)))
        if joint.parent < 0:
            continue
        z = exact(np.eye(orders[i]))
        here = passing_forms(joint, z[:6], z[6])
        parent = robot.joints[joint.parent]
        place = 7 + children[joint.parent].index(i)
        z = exact(np.eye(orders[joint.parent]))
        V = z[:6] + axis_of(parent)[:, None] * z[6]
        there = passing_forms(joint, to_child(joint) @ V, z[place])
        slip = passing_slip(joint, parent)
        for child_form, parent_form in zip(here, there, strict=True):
            terms[i].append((first, child_form, 0.0))
            terms[joint.parent].append((first, -parent_form, slip))
            first += 1
        moves[i] = len(here)
    blocks = [_block(i, min(6, orders[i] - 1), terms[i], orders[i]) for i in range(n)]
    return EnergyBlocks(robot, layout, tuple(bool(x) for x in idle), tuple(blocks), read_only(moves))


def coefficients(blocks: EnergyBlocks, parameters: Array, moves: Array) -> Array:
    """All coefficients theta of the forms.

    Args:
        blocks: the forms.
        parameters: phi, shape (p,), SI.
        moves: y, shape (m,), SI.

    Returns:
        theta, shape (p + m,), SI.
    """
    phi = checked("parameters", parameters, (blocks.layout.size,))
    return np.concatenate([phi, checked("moves", moves, (blocks.size,))])


def _link_term(joint: Joint, name: str, order: int) -> Exact:
    """The form of one of the ten numbers, in (w, v)."""
    z = exact(np.eye(order))
    V = z[:6] + axis_of(joint)[:, None] * z[6]
    total = exact(np.zeros((order, order)))
    for row, column, factor in _SPATIAL[name]:
        product = factor * np.outer(V[row], V[column])
        # An entry off the diagonal stands for itself and for its mirror.
        total = total + (product if row == column else product + product.T)
    return total


def _block(link: int, rate: int, terms: list[tuple[int, Exact, float]], order: int) -> LinkBlock:
    entries = [x for _, form, _ in terms for x in form.ravel()]
    exponent = max((x.denominator.bit_length() - 1 for x in entries), default=0)
    integers: Exact = np.empty(len(entries), dtype=object)
    integers[:] = [x.numerator << (exponent + 1 - x.denominator.bit_length()) for x in entries]
    return LinkBlock(
        link,
        rate,
        read_only(np.array([column for column, _, _ in terms], dtype=np.int64)),
        read_only(integers.reshape(len(terms), order, order)),
        exponent,
        read_only(np.array([slip for _, _, slip in terms])),
    )
