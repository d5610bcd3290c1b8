"""The recursive parameter nullspace algorithm over any field: the steps of `nullspace` without a tolerance.

Spans are echelon forms. What is steady of gravity in a body's frame matters only up to what varies there, so
gravity at any one position of the joints stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.identifiable.exact.mechanism import ExactMechanism
from steelyard.identifiable.exact.vectors import (
    Columns,
    Echelon,
    Number,
    Vector,
    add_at,
    diagonal,
    image,
    stacked,
)
from steelyard.identifiable.mechanism import Block

# How ten inertial parameters enter momentum and move with a body, as sparse matrices over any field.
#
# The equations are those of `nullspace`, written by component:
#
# $$M(v, \phi)\cdot\pi = m\,(u \cdot l) + h \cdot (u \times c + l \times \omega) + \omega \cdot I c, \qquad
#   \dot h = c \times h + m\,l, \qquad
#   \dot I = [c]_\times I - I [c]_\times + 2\,(l \cdot h)\,1 - l h^T - h l^T.$$
#
# Velocities are (linear, angular). The ten parameters come in the order of `TIE_BREAK`, so that the leading
# entry of a row is the parameter preferred as its head.

AXES = range(3)
MASS = 0
MOMENT = (1, 2, 3)
INERTIA = ((4, 9, 8), (9, 5, 7), (8, 7, 6))
"""Where mass, moments and inertia tensor stand among m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy."""
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""The entries of the inertia tensor in that order."""
CROSS = ((0, 1, 2, 1), (1, 2, 0, 1), (2, 0, 1, 1), (0, 2, 1, -1), (1, 0, 2, -1), (2, 1, 0, -1))
"""(a × b)_i is the sum of sign · a_j · b_k over these i, j, k, sign."""


def momentum_map(twist: Sequence[Number]) -> list[Vector]:
    """M(·, φ): from a velocity to the coefficients of the parameters in its product with a twist.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 10 × 6.
    """
    linear, angular = twist[:3], twist[3:]
    columns: list[Vector] = [{} for _ in range(6)]
    for i in AXES:
        add_at(columns[i], MASS, linear[i])
        for j in AXES:
            add_at(columns[3 + i], INERTIA[i][j], angular[j])
    for i, j, k, sign in CROSS:
        add_at(columns[j], MOMENT[i], sign * angular[k])
        add_at(columns[3 + k], MOMENT[i], sign * linear[j])
    return columns


def turned_velocity(twist: Sequence[Number]) -> list[Vector]:
    """What a velocity becomes, at first order, as the body moves along a twist: Φ × v.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 6 × 6.
    """
    columns: list[Vector] = [{} for _ in range(6)]
    for i, j, k, sign in CROSS:
        add_at(columns[k], i, sign * twist[3 + j])
        add_at(columns[3 + k], 3 + i, sign * twist[3 + j])
        add_at(columns[3 + k], i, sign * twist[j])
    return columns


def turned_coefficients(twist: Sequence[Number]) -> list[Vector]:
    """Aᵀ: what coefficients of parameters become, at first order, as the body moves along a twist.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 10 × 10; its columns are the rows of A.
    """
    linear, angular = twist[:3], twist[3:]
    rows: list[Vector] = [{} for _ in range(10)]
    for i in AXES:
        add_at(rows[MOMENT[i]], MASS, linear[i])
    for i, j, k, sign in CROSS:
        add_at(rows[MOMENT[i]], MOMENT[k], sign * angular[j])
        # [c]× has the entry sign · c_j at (i, k); both products with I, for the entries above the diagonal.
        for b in AXES:
            if i <= b:
                add_at(rows[INERTIA[i][b]], INERTIA[k][b], sign * angular[j])
            if b <= k:
                add_at(rows[INERTIA[b][k]], INERTIA[b][i], -sign * angular[j])
    for a, b in PAIRS:
        _add_shift(rows[INERTIA[a][b]], a, b, linear, [{MOMENT[i]: 1} for i in AXES])
    return rows


def moved_velocity(R: Sequence[Sequence[Number]], p: Sequence[Number]) -> list[Vector]:
    """The velocity of a body that moves with its carrier, from the carrier's: (Rᵀ(u + ω × p), Rᵀ ω).

    Args:
        R: axes of the body as columns in its carrier's frame, 3 × 3 numbers.
        p: origin of the body in its carrier's frame, three numbers, m.

    Returns:
        The matrix, 6 × 6.
    """
    columns: list[Vector] = [{} for _ in range(6)]
    for i in AXES:
        for a in AXES:
            add_at(columns[i], a, R[i][a])
            add_at(columns[3 + i], 3 + a, R[i][a])
    for i, j, k, sign in CROSS:
        for a in AXES:
            add_at(columns[3 + j], a, sign * R[i][a] * p[k])
    return columns


def moved_coefficients(R: Sequence[Sequence[Number]], p: Sequence[Number]) -> list[Vector]:
    """Bᵀ: what coefficients of a carrier's parameters ask of the body it carries.

    Args:
        R: axes of the body as columns in its carrier's frame, 3 × 3 numbers.
        p: origin of the body in its carrier's frame, three numbers, m.

    Returns:
        The matrix, 10 × 10; its columns are the rows of B, which gives the body's parameters in the
        carrier's frame.
    """
    rows: list[Vector] = [{} for _ in range(10)]
    turned: list[Vector] = [{} for _ in AXES]
    rows[MASS] = {MASS: 1}
    for i in AXES:
        add_at(rows[MOMENT[i]], MASS, p[i])
        for a in AXES:
            add_at(rows[MOMENT[i]], MOMENT[a], R[i][a])
            add_at(turned[i], MOMENT[a], R[i][a])
    for a, b in PAIRS:
        row = rows[INERTIA[a][b]]
        for i in AXES:
            for j in AXES:
                add_at(row, INERTIA[i][j], R[a][i] * R[b][j])
            if a == b:
                add_at(row, MASS, p[i] * p[i])
        add_at(row, MASS, -p[a] * p[b])
        _add_shift(row, a, b, p, turned)
    return rows


def _add_shift(row: Vector, a: int, b: int, p: Sequence[Number], moments: Sequence[Vector]) -> None:
    """Add the entry (a, b) of 2 (p · h) 1 - p hᵀ - h pᵀ, with the first moments h given as rows."""
    for i in AXES if a == b else ():
        for k, value in moments[i].items():
            add_at(row, k, 2 * p[i] * value)
    for k, value in moments[b].items():
        add_at(row, k, -p[a] * value)
    for k, value in moments[a].items():
        add_at(row, k, -p[b] * value)


@dataclass(frozen=True)
class BodySpans:
    """What one body can do and show.

    Attributes:
        V: velocities it can have.
        G: how gravity varies in it.
        fall: gravity at one position of the joints, from which it differs by what varies.
        K: coefficients of its parameters that its energy can show.
    """

    V: Echelon
    G: Echelon
    fall: Vector
    K: Echelon

    @property
    def dim_velocity(self) -> int:
        """Dimension of its velocities and gravity together."""
        return len(Echelon(6, (*self.V.basis, *self.G.basis, self.fall)))


@dataclass(frozen=True)
class BlockConditions:
    """What a block must fulfil for a change of its parameters to go unseen.

    Attributes:
        N: the conditions; columns are ten for each body, then armatures, then offsets.
        moves: Bᵀ of each body of the block.
    """

    N: Echelon
    moves: tuple[Columns, ...]


@dataclass(frozen=True)
class DriveColumns:
    """Which columns a joint with one degree of freedom brings along.

    Attributes:
        armatures: whether an armature.
        offsets: whether a constant torque.
    """

    armatures: bool
    offsets: bool

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms, in the order of the columns."""
        return ("rotor",) * self.armatures + ("offset",) * self.offsets


def find_exact_spans(
    mechanism: ExactMechanism, drive: DriveColumns, static: bool
) -> tuple[list[BodySpans], list[BlockConditions]]:
    """Run the algorithm from the base outwards.

    Args:
        mechanism: the mechanism.
        drive: the drive columns.
        static: whether nothing moves while it is measured.

    Returns:
        What each body can do and show, and the conditions of each block.
    """
    fall = {i: g for i, g in enumerate(mechanism.gravity) if g}
    base = BodySpans(Echelon(6), Echelon(6), fall, Echelon(10))
    spans: dict[int, BodySpans] = {-1: base}
    conditions = []
    for block in mechanism.blocks:
        found, shares = _of_block(mechanism, block, spans[block.parent], drive, static)
        conditions.append(found)
        spans |= dict(zip(block.bodies, shares, strict=True))
    return [spans[i] for i in range(len(mechanism.names))], conditions


def _of_block(
    mechanism: ExactMechanism, block: Block, carrier: BodySpans, drive: DriveColumns, static: bool
) -> tuple[BlockConditions, list[BodySpans]]:
    m = len(block.bodies)
    placements = [(mechanism.rotations[i], mechanism.offsets[i]) for i in block.bodies]
    twists = [[mechanism.twists[i][d] for i in block.bodies] for d in range(block.dofs)]
    moves = tuple(moved_coefficients(R, p) for R, p in placements)
    X, B = stacked([moved_velocity(R, p) for R, p in placements], 6), stacked(moves, 10)
    turns = [diagonal([turned_velocity(phi) for phi in each], 6) for each in twists]
    A = [diagonal([turned_coefficients(phi) for phi in each], 10) for each in twists]
    M = [_momentum(each) for each in twists]

    V, G, K = Echelon(6 * m), Echelon(6 * m), Echelon(10 * m)
    V.close([image(X, v) for v in carrier.V.basis], turns)
    steady = image(X, carrier.fall)
    varying = [image(turn, steady) for turn in turns]
    G.close([*(image(X, g) for g in carrier.G.basis), *varying], turns)
    K.close([image(B, k) for k in carrier.K.basis], A)

    driven = drive if block.dofs == 1 else DriveColumns(False, False)
    armature, offset = _drive_rows([mechanism.ratios[i] for i in block.bodies], driven)
    N = Echelon((10 + len(driven.terms)) * m, [image(turn, k) for k in K.basis for turn in A])
    own = [] if static else [_joined(each) for each in twists]
    carried: list[tuple[Vector, Vector]] = [(v, {}) for v in (*V.basis, *G.basis)]
    for v, torque in (*carried, (steady, offset), *((v, armature) for v in own)):
        for along in M:
            seen = image(along, v)
            K.absorb(seen)
            N.absorb(seen | torque)
    for v in own:
        V.absorb(v)
    return BlockConditions(N, moves), _shares(m, V, G, steady, K)


def _joined(twists: Sequence[Sequence[Number]]) -> Vector:
    """The velocities of a block's bodies as its coordinate moves."""
    return {6 * b + i: x for b, twist in enumerate(twists) for i, x in enumerate(twist) if x}


def _momentum(twists: Sequence[Sequence[Number]]) -> list[Vector]:
    """From velocities of a block's bodies to the coefficients of all their parameters."""
    return diagonal([momentum_map(twist) for twist in twists], 10)


def _drive_rows(ratios: Sequence[Number], drive: DriveColumns) -> tuple[Vector, Vector]:
    """What armatures add to the momentum along the joint, and offsets to the steady torque of gravity.

    Gravity g enters the torque as the momentum of the velocity -g would, an offset with its own sign.
    """
    m = len(ratios)
    armature = {10 * m + b: k * k for b, k in enumerate(ratios)} if drive.armatures else {}
    first = 10 * m + m * drive.armatures
    offset = {first + b: -k for b, k in enumerate(ratios)} if drive.offsets else {}
    return armature, offset


def _shares(m: int, V: Echelon, G: Echelon, steady: Vector, K: Echelon) -> list[BodySpans]:
    """Each body's part of its block's spans."""
    if m == 1:
        return [BodySpans(V, G, steady, K)]
    shares = []
    for b in range(m):
        fall = {k - 6 * b: x for k, x in steady.items() if k // 6 == b}
        shares.append(BodySpans(_share(V, b, 6), _share(G, b, 6), fall, _share(K, b, 10)))
    return shares


def _share(span: Echelon, b: int, width: int) -> Echelon:
    parts = ({k - width * b: x for k, x in row.items() if k // width == b} for row in span.basis)
    return Echelon(width, parts)
