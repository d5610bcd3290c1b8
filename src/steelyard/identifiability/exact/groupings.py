r"""Base parameters over any field: the reduced row echelon form of all conditions, and the classes it tells.

No large matrix is reduced. A parameter f that leads no row of its block's conditions can be traded, unseen,
for those that do and for a change z of the carrier, and that change for base parameters of the blocks before:

$$K_{\cdot f} = N_{\cdot f} + \sum_k z_k\,K_{\cdot k}, \qquad z = B\,(e_f - \textstyle\sum_r N_{rf}\,e_r),$$

with $K_{\cdot k} = e_k$ where k leads a row. This is the form that elimination from left to right would give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.identifiability.classes import TIE_BREAK
from steelyard.identifiability.exact.mechanism import ExactMechanism
from steelyard.identifiability.exact.recursion import BlockConditions
from steelyard.identifiability.exact.vectors import Number, Rows, Vector, add_at, add_multiple
from steelyard.layout import Class


def groupings(
    mechanism: ExactMechanism, conditions: Sequence[BlockConditions], columns: Sequence[Sequence[int]]
) -> Rows:
    """The reduced row echelon form of the conditions of all blocks.

    Args:
        mechanism: the mechanism.
        conditions: of each block.
        columns: for each block, the index in phi of each column of its conditions.

    Returns:
        The rows, parents before children, in the order of preference.
    """
    rows: Rows = {}
    traded: dict[int, Vector] = {}
    for block, found, mine in zip(mechanism.blocks, conditions, columns, strict=True):
        pivots = sorted(found.N.rows)
        rows |= {mine[pivot]: {mine[pivot]: mechanism.one} for pivot in pivots}
        for f in sorted(set(range(len(mine))) - set(pivots)):
            local = {pivot: found.N.rows[pivot][f] for pivot in pivots if f in found.N.rows[pivot]}
            total = {mine[pivot]: value for pivot, value in local.items()}
            if block.parent >= 0:
                change = {f: mechanism.one} | {pivot: -value for pivot, value in local.items()}
                for k, z in _handed_on(found, change).items():
                    index = 10 * block.parent + TIE_BREAK[k]
                    add_multiple(total, z, traded.get(index, {index: mechanism.one}))
            traded[mine[f]] = total
            for pivot, value in total.items():
                rows[pivot][mine[f]] = value
    return rows


def _handed_on(found: BlockConditions, change: Mapping[int, Number]) -> Vector:
    """z: what a change of a block's bodies amounts to in the body that carries them."""
    z: Vector = {}
    for b, rows in enumerate(found.moves):
        for k, row in enumerate(rows):
            for j, value in row.items():
                if 10 * b + j in change:
                    add_at(z, k, value * change[10 * b + j])
    return z


def classes_of(rows: Rows, size: int) -> tuple[Class, ...]:
    """The class of each parameter, as its column of K tells.

    Args:
        rows: K.
        size: number of parameters p.

    Returns:
        The classes, in the order of phi.
    """
    classes = [Class.UNIDENTIFIABLE] * size
    for head, row in rows.items():
        for index in row:
            classes[index] = Class.GROUPED
        classes[head] = Class.ALONE if len(row) == 1 else Class.BASE
    return tuple(classes)
