"""The kinetic energy as one exact quadratic form per link, and what rounding can change of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout
from steelyard.robot import Joint, JointKind, Robot

# Quadratic forms that pass a joint unchanged, whatever its position; exact, in rational numbers.
#
# Let w be the twist of a joint's parent link, seen from the child link, and v the joint's rate. When the
# joint moves by q, w follows the one-parameter group $w = e^{-q\,\mathrm{ad}_s}\,w_0$, where $w_0$ is w at q
# = 0. A quadratic form F in (w, v) has $F(w, v) = F(w_0, v)$ at every q exactly when its derivative along the
# group vanishes,
#
# $$F(\mathrm{ad}_s w, v;\ w, v) = 0 \quad\text{for all } w, v .$$
#
# With the axis u and $w = (\nu, \omega)$ these forms are, and there are no others,
#
# - for every kind of joint the products of the *lines* $u\cdot\nu,\ u\cdot\omega,\ v$, and
#   $\nu\cdot\omega$ and $\omega\cdot\omega$: 8 for a screw;
# - for a turning joint also $\nu\cdot\nu$ and $u\cdot(\nu\times\omega)$: 10;
# - for a sliding joint every product of $u\cdot\nu,\ \omega_x, \omega_y, \omega_z,\ v$, and
#   $\nu\cdot\omega$: 16.
#
# None of them needs u to be of unit length. A form in $(w_0, v)$ is one in the parent's twist and v; so each
# of these is kinetic energy that may be counted with the child or with the parent, with the same sum.

Exact = NDArray[Any]
"""An array of exact numbers, whole ones or fractions."""


def exact_number(values: Array) -> Exact:
    """Floating-point numbers as the whole numbers and fractions they are.

    Args:
        values: finite numbers, any shape and unit.

    Returns:
        Exact numbers, same shape and unit.
    """
    flat = np.empty(np.size(values), dtype=object)
    # Whole numbers, most of all zeros, are far cheaper to reckon with than fractions.
    flat[:] = [int(x) if x.is_integer() else Fraction(x) for x in np.ravel(values).tolist()]
    return flat.reshape(np.shape(values))


def exact_cross(left: Exact, right: Exact) -> Exact:
    """The vector product along the first axis.

    Args:
        left: shape (3, …), any unit.
        right: shape (3, …), any unit.

    Returns:
        left × right, shape (3, …), product of the units.
    """
    return np.array([left[b] * right[c] - left[c] * right[b] for b, c in ((1, 2), (2, 0), (0, 1))])


def axis_of(joint: Joint) -> Exact:
    """The motion s of a joint in its child's frame, linear part first.

    Args:
        joint: a joint with one degree of freedom.

    Returns:
        s, shape (6,), dimensionless.
    """
    u, zero = exact_number(joint.axis), exact_number(np.zeros(3))
    if joint.kind.rotates:
        return np.concatenate([exact_number(np.array(joint.pitch))[()] * u, u])
    return np.concatenate([u, zero])


def bracket(joint: Joint) -> Exact:
    r"""The matrix of $\mathrm{ad}_s(\nu, \omega) = (c\times\nu + l\times\omega,\ c\times\omega)$.

    Args:
        joint: a joint with one degree of freedom and the motion s = (l, c).

    Returns:
        The matrix, shape (6, 6), SI.
    """
    s, one = axis_of(joint), exact_number(np.eye(6))
    turned = exact_cross(np.tile(s[3:, None], 6), one[:3]) + exact_cross(np.tile(s[:3, None], 6), one[3:])
    return np.concatenate([turned, exact_cross(np.tile(s[3:, None], 6), one[3:])])


def exact_to_child(joint: Joint) -> Exact:
    r"""The map A of the parent's twist to $w_0 = (R^T(\nu + \omega\times p),\ R^T\omega)$.

    Args:
        joint: the joint; the child sits at R, p in the parent's frame at q = 0.

    Returns:
        A, shape (6, 6), dimensionless and m.
    """
    R, p, one = (
        exact_number(joint.placement.rotation),
        exact_number(joint.placement.translation),
        exact_number(np.eye(6)),
    )
    return np.concatenate([R.T @ (one[:3] + exact_cross(one[3:], np.tile(p[:, None], 6))), R.T @ one[3:]])


def passing_forms(joint: Joint, twist: Exact, rate: Exact) -> list[Exact]:
    """The forms that pass a joint, in coordinates z of which twist and rate are linear functions.

    Args:
        joint: a joint with one degree of freedom.
        twist: w as rows over z, shape (6, d), SI.
        rate: v as a row over z, shape (d,), SI.

    Returns:
        Symmetric matrices F with twice the form, each shape (d, d), SI.
    """
    u, nu, omega = exact_number(joint.axis), twist[:3], twist[3:]
    lines = [u @ nu, rate, *([u @ omega] if joint.kind.rotates else omega)]
    forms = [_product(a[None], b[None]) for a, b in combinations_with_replacement(lines, 2)]
    forms.append(_product(nu, omega))
    if joint.kind.rotates:
        forms.append(_product(omega, omega))
    if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        forms.append(_product(nu, nu))
        forms.append(_product(nu, exact_cross(omega, np.tile(u[:, None], omega.shape[1]))))
    return forms


def _product(left: Exact, right: Exact) -> Exact:
    """Twice the form of the sum of products of rows, symmetric."""
    product: Exact = left.T @ right
    return np.asarray(product + product.T)


# What the rounding of axes and rotations in a description can change, bounded from above.
#
# Axes are of unit length and rotations orthogonal up to a rounding. The proofs are about the mechanism that
# has them exactly, with the axes made unit and the rotations nearest to the stated ones; these bounds are
# zero where the description is exact, as it is for right angles.


def unit_slip(joint: Joint) -> float:
    """How far the stated motion s may be from that of an axis of unit length, in norm.

    Returns:
        A bound, SI; zero where the axis is exact.
    """
    u = exact_number(joint.axis)
    return 1.01 * float(abs(u @ u - 1)) * (1.0 + abs(joint.pitch))


def link_slip(joint: Joint) -> float:
    """How far the form of one of the ten numbers may be from that of an axis of unit length, in norm.

    Args:
        joint: the joint that moves the link.

    Returns:
        A bound, SI; zero where the axis is exact.
    """
    # V = w + s v has a norm of at most 2 + |pitch| as a map of z, and no term's matrix exceeds one.
    return 4.0 * (2.0 + abs(joint.pitch)) * unit_slip(joint)


def rotation_slip(joint: Joint) -> float:
    """How far the stated rotation may be from a rotation, in norm.

    Returns:
        A bound, dimensionless; zero where the rotation is exact.
    """
    R = exact_number(joint.placement.rotation)
    off = R.T @ R - exact_number(np.eye(3))
    # The singular values s of R have |s - 1| <= |s² - 1|.
    return 1.01 * float(sum(abs(x) for x in off.ravel()))


def passing_slip(joint: Joint, parent: Joint) -> float:
    """How far a form that passes a joint may be from that of exact axes and rotations, in norm.

    Args:
        joint: the joint, whose form is written in the coordinates of its parent link.
        parent: the joint that moves the parent link.

    Returns:
        A bound, SI; zero where axes and rotations are exact.
    """
    reach = 1.0 + float(np.linalg.norm(joint.placement.translation))
    size = 1.0 + reach * (2.0 + abs(parent.pitch))
    change = reach * (2.0 + abs(parent.pitch)) * rotation_slip(joint) + reach * unit_slip(parent)
    return 8.0 * 1.01 * (2.0 * size + change) * change


# The kinetic energy as one quadratic form per link, and how energy may be moved between them.
#
# Link i has the coordinates $z_i = (w_i, v_i, v_{c_1}, v_{c_2}, \dots)$: its parent's twist seen from it, the
# rate of its own joint, and those of its children's. Its own twist is $V_i = w_i + s_i v_i$, so that
#
# $$v^T M(q)\,v = \sum_i z_i^T X_i\,z_i, \qquad
#   X_i(\phi, y) = \mathcal M_i(\phi_i) + I_{a,i} + \sum_k y_{ik} F_{ik}
#                - \sum_{c}\sum_k y_{ck}\,P_c^T F_{ck} P_c ,$$
#
# for *every* y and q: $F_{ik}$ are the forms that pass joint i (`passing_forms`) and $P_c$ writes $(w_0, v)$
# of child c in the coordinates of its parent. The $X_i$ do not depend on q. If some y makes all of them
# positive semidefinite, M(q) is so at every pose.
#
# A link without mass at the end of a chain takes no part: only its rotor counts.
#
# All matrices are kept exactly, as integers over a power of two, and rounded once for the search. Axes of
# unit length and rotations are rounded in the description; `slip` bounds how much that can change a matrix.

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
            own = exact_number(np.zeros((orders[i], orders[i])))
            own[min(6, orders[i] - 1), min(6, orders[i] - 1)] += 1
            terms[i].append((int(rotor), own, 0.0))
        if idle[i]:
            continue
        start = layout.of_link(layout.links[i]).start
        for k, name in enumerate(PARAMETER_NAMES):
            terms[i].append((start + k, _link_term(joint, name, orders[i]), link_slip(joint)))
        if joint.parent < 0:
            continue
        z = exact_number(np.eye(orders[i]))
        here = passing_forms(joint, z[:6], z[6])
        parent = robot.joints[joint.parent]
        place = 7 + children[joint.parent].index(i)
        z = exact_number(np.eye(orders[joint.parent]))
        V = z[:6] + axis_of(parent)[:, None] * z[6]
        there = passing_forms(joint, exact_to_child(joint) @ V, z[place])
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
    z = exact_number(np.eye(order))
    V = z[:6] + axis_of(joint)[:, None] * z[6]
    total = exact_number(np.zeros((order, order)))
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
