"""From a mechanism in the numbers of some field to what can be known of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from steelyard.identifiability.classes import TIE_BREAK
from steelyard.identifiability.exact.groupings import classes_of, groupings
from steelyard.identifiability.exact.mechanism import ExactMechanism
from steelyard.identifiability.exact.recursion import BlockConditions, BodySpans, DriveColumns, find_spans
from steelyard.identifiability.exact.vectors import Number, Rows
from steelyard.identifiability.friction_terms import friction_groupings
from steelyard.identifiability.mechanism import Block
from steelyard.identifiability.structure import BodyKnowledge
from steelyard.layout import Layout

Coefficient = TypeVar("Coefficient")


def knowledge(
    rational: ExactMechanism,
    mechanism: ExactMechanism,
    layout: Layout,
    static: bool,
    written: Callable[[Number], Coefficient],
) -> tuple[tuple[BodyKnowledge, ...], dict[str, dict[str, Coefficient]]]:
    """Find what the torques of any motion, or of any pose at rest, could say about the parameters.

    Args:
        rational: the mechanism with the numbers of its description.
        mechanism: the mechanism in the numbers of the field.
        layout: the parameters asked about, none of which depends on the load.
        static: whether the robot is only ever measured at rest.
        written: from a number of the field, or a fraction, to what the result shows.

    Returns:
        What can be known of each body, and the groupings by name.
    """
    drive = DriveColumns("rotor" in layout.drive, "offset" in layout.drive)
    spans, conditions = find_spans(mechanism, drive, static)
    first = _first_drive_columns(mechanism, layout)
    columns = [_columns(block, layout, drive, first) for block in mechanism.blocks]
    rows = groupings(mechanism, conditions, columns)
    ordered: Rows = {}
    for block, mine in zip(mechanism.blocks, columns, strict=True):
        ordered |= {k: rows[k] for k in mine if k in rows}
        if block.dofs == 1 and not static:
            ordered |= friction_groupings(layout, block, rational.ratios, first)
    names = layout.names
    named = {
        names[head]: {names[k]: written(value) for k, value in row.items()} for head, row in ordered.items()
    }
    return _bodies(mechanism, layout, spans, conditions, first, ordered), named


def _first_drive_columns(mechanism: ExactMechanism, layout: Layout) -> list[int]:
    """Index in phi of the first drive term of each body's joint; without meaning where it has none."""
    driven = {i for block in mechanism.blocks if block.dofs == 1 for i in block.bodies}
    first, at = [], 10 * len(layout.links)
    for i in range(len(mechanism.names)):
        first.append(at)
        at += len(layout.drive) if i in driven else 0
    return first


def _columns(block: Block, layout: Layout, drive: DriveColumns, first: Sequence[int]) -> list[int]:
    """Index in phi of each column of a block's conditions."""
    columns = [10 * i + k for i in block.bodies for k in TIE_BREAK]
    for term in drive.terms if block.dofs == 1 else ():
        columns += [first[i] + layout.drive.index(term) for i in block.bodies]
    return columns


def _bodies(
    mechanism: ExactMechanism,
    layout: Layout,
    spans: Sequence[BodySpans],
    conditions: Sequence[BlockConditions],
    first: Sequence[int],
    rows: Rows,
) -> tuple[BodyKnowledge, ...]:
    classes, names = classes_of(rows, layout.size), layout.names
    bodies: dict[int, BodyKnowledge] = {}
    for block, found in zip(mechanism.blocks, conditions, strict=True):
        for i in block.bodies:
            mine = list(range(10 * i, 10 * i + 10))
            if block.dofs == 1:
                mine += range(first[i], first[i] + len(layout.drive))
            bodies[i] = BodyKnowledge(
                mechanism.names[i],
                spans[i].dim_velocity,
                len(spans[i].K),
                found.N.width - len(found.N) if i == block.bodies[0] else 0,
                {names[k]: classes[k] for k in mine},
            )
    return tuple(bodies[i] for i in range(len(mechanism.names)))
