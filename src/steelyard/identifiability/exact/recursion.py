"""The recursive parameter nullspace algorithm over any field: the steps of `nullspace` without a tolerance.

Spans are echelon forms. What is steady of gravity in a body's frame matters only up to what varies there, so
gravity at any one position of the joints stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.identifiability.exact.maps import (
    momentum,
    moved_coefficients,
    moved_velocity,
    turned_coefficients,
    turned_velocity,
)
from steelyard.identifiability.exact.mechanism import ExactMechanism
from steelyard.identifiability.exact.vectors import Columns, Echelon, Number, Vector, diagonal, image, stacked
from steelyard.identifiability.mechanism import Block


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


def find_spans(
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
    return diagonal([momentum(twist) for twist in twists], 10)


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
