"""Structural identifiability in rational arithmetic: the count is a proof, not a matter of tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.identifiable.base_parameters import TIE_BREAK
from steelyard.identifiable.exact.mechanism import ExactMechanism, rational_mechanism
from steelyard.identifiable.exact.nullspace import (
    BlockConditions,
    BodySpans,
    DriveColumns,
    find_exact_spans,
)
from steelyard.identifiable.exact.vectors import (
    Echelon,
    Number,
    Rows,
    Vector,
    add_at,
    add_multiple,
)
from steelyard.identifiable.mechanism import Block, check_question, friction_groupings
from steelyard.identifiable.structure import BodyKnowledge, classes_in_layout
from steelyard.layout import Class, Layout
from steelyard.robot import Robot

# What is proven of a robot's parameters: identifiable combinations with exact coefficients.

Coefficient = TypeVar("Coefficient")


@dataclass(frozen=True, eq=False)
class ProvenIdentifiability(Generic[Coefficient]):
    r"""What can be known of a robot's parameters from its torques, found without a tolerance.

    Attributes:
        robot: name of the robot.
        layout: the parameters asked about.
        static: whether only poses at rest were considered.
        bodies: what can be known of each body, in the order of the links.
        groupings: by the name of each base parameter, the names and coefficients of the parameters that
            torques show only together with it, its own coefficient one first. These are the rows of K in
            $\beta = K \phi$, in reduced row echelon form with columns in the order of the tie-break.
    """

    robot: str
    layout: Layout
    static: bool
    bodies: tuple[BodyKnowledge, ...]
    groupings: Mapping[str, Mapping[str, Coefficient]]

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return len(self.groupings)

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """The class of every parameter, in the order of the layout."""
        return classes_in_layout(self.bodies, self.layout)

    @cached_property
    def pivots(self) -> IntArray:
        """Indices of the base parameters in phi, in the order of the tie-break, shape (b,), dimensionless."""
        return read_only(np.array([self.layout.index(name) for name in self.groupings], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class ExactIdentifiability(ProvenIdentifiability[Fraction]):
    """The groupings of a robot of rational geometry; coefficients are fractions in SI."""

    @cached_property
    def matrix(self) -> Array:
        """K with each coefficient rounded once, shape (b, p), SI."""
        K = np.zeros((self.count, self.layout.size))
        for r, row in enumerate(self.groupings.values()):
            for name, value in row.items():
                K[r, self.layout.index(name)] = float(value)
        return read_only(K)

    def rest(self) -> ProvenRest:
        """Ask what can be known of the parameters that the layout leaves free.

        The identifiable combinations of all parameters span those of the free ones when the columns of the
        fixed are dropped; a new elimination finds which of them are independent.

        Returns:
            The answer for the free ones.
        """
        layout = self.layout
        place = {name: k for k, name in enumerate(_preferred(self))}
        free = [name for name, is_free in zip(layout.names, layout.free, strict=True) if is_free]
        echelon = Echelon(len(place))
        for row in self.groupings.values():
            echelon.absorb(
                {place[name]: value for name, value in row.items() if layout.free[layout.index(name)]}
            )
        names = list(place)
        groupings = {
            names[head]: {names[k]: Fraction(row[k]) for k in sorted(row)}
            for head, row in sorted(echelon.rows.items())
        }
        rows: Rows = {head: dict(row) for head, row in echelon.rows.items()}
        by_name = dict(zip(names, classes_of(rows, len(names)), strict=True))
        return ProvenRest(tuple(free), tuple(by_name[name] for name in free), groupings)


# Base parameters over any field: the reduced row echelon form of all conditions, and the classes it tells.
#
# No large matrix is reduced. A parameter f that leads no row of its block's conditions can be traded, unseen,
# for those that do and for a change z of the carrier, and that change for base parameters of the blocks
# before:
#
# $$K_{\cdot f} = N_{\cdot f} + \sum_k z_k\,K_{\cdot k}, \qquad z = B\,(e_f - \textstyle\sum_r N_{rf}\,e_r),$$
#
# with $K_{\cdot k} = e_k$ where k leads a row. This is the form that elimination from left to right would
# give.


def exact_groupings(
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


# From a mechanism in the numbers of some field to what can be known of its parameters.


def exact_knowledge(
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
    spans, conditions = find_exact_spans(mechanism, drive, static)
    first = _first_drive_columns(mechanism, layout)
    columns = [_columns(block, layout, drive, first) for block in mechanism.blocks]
    rows = exact_groupings(mechanism, conditions, columns)
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


def exact_identifiability(robot: Robot, layout: Layout, *, static: bool = False) -> ExactIdentifiability:
    """Prove what the torques of any motion, or of any pose at rest, could say about the parameters.

    Offsets, axes and gravity are taken as the decimal numbers that the description states. The zero of an
    angle may lie anywhere about its axis; every other placement must be made of quarter turns.

    Args:
        robot: the robot; joints that mimic others must hang on the same link as their leader.
        layout: the parameters asked about; those it fixes are asked about too.
        static: whether the robot is only ever measured at rest.

    Returns:
        The answer, with fractions in SI.

    Raises:
        InputError: the layout is another robot's or has friction that grows with the load, a placement is no
            quarter turn, an axis has no rational length, or a joint follows one on another link.
    """
    check_question(robot, layout)
    rational = rational_mechanism(robot)
    bodies, groupings = exact_knowledge(rational, rational.over(_to_flint), layout, static, _from_flint)
    return ExactIdentifiability(robot.name, layout, static, bodies, groupings)


def _to_flint(value: Fraction) -> Number:
    # Every command loads this room, few ask for a proof.
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def _from_flint(value: Number) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


# What is proven of the parameters that are left when the layout fixes some.


@dataclass(frozen=True, eq=False)
class ProvenRest:
    """What can be known of the free parameters of a layout.

    Attributes:
        names: names of the free parameters, in the order of the layout.
        classes: class of each.
        groupings: by the name of each base parameter, the parameters it is known with and their coefficients.
    """

    names: tuple[str, ...]
    classes: tuple[Class, ...]
    groupings: dict[str, dict[str, Fraction]]

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return len(self.groupings)


def _preferred(proven: ExactIdentifiability) -> list[str]:
    """All parameters in the order of preference: body by body, links in the tie-break, then drives."""
    names: list[str] = []
    for body in proven.bodies:
        mine = list(body.classes)
        names += [mine[k] for k in TIE_BREAK] + mine[10:]
    return names
