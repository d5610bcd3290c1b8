"""The geometry of a robot in numbers of any field, in SI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.identifiability.exact.vectors import Number
from steelyard.identifiability.mechanism import Block

Numbers = tuple[Number, ...]


@dataclass(frozen=True, eq=False)
class ExactMechanism:
    """What the nullspace algorithm reads of a robot, see `mechanism.Mechanism`; nothing is scaled.

    Attributes:
        names: names of the bodies.
        blocks: which bodies move together, parents before children.
        rotations: R_PC of each body at q = 0, three rows of three, dimensionless.
        offsets: p_PC_P of each body, three numbers, m.
        twists: Φ of each body, six numbers for each degree of freedom of its block, dimensionless and m;
            times the ratio by which a body follows its leader.
        ratios: how far each joint's coordinate moves with its leader's, dimensionless, rad/m or m/rad.
        gravity: free fall in the base frame, three numbers, m/s².
        one: the unit of the field.
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    rotations: tuple[tuple[Numbers, ...], ...]
    offsets: tuple[Numbers, ...]
    twists: tuple[tuple[Numbers, ...], ...]
    ratios: Numbers
    gravity: Numbers
    one: Number

    def over(self, convert: Callable[[Number], Number]) -> ExactMechanism:
        """The same mechanism in the numbers of another field.

        Args:
            convert: from this field to the other.

        Returns:
            The mechanism.
        """

        def each(values: Sequence[Number]) -> Numbers:
            return tuple(convert(value) for value in values)

        return ExactMechanism(
            self.names,
            self.blocks,
            tuple(tuple(each(row) for row in R) for R in self.rotations),
            tuple(each(p) for p in self.offsets),
            tuple(tuple(each(twist) for twist in twists) for twists in self.twists),
            each(self.ratios),
            each(self.gravity),
            convert(self.one),
        )
