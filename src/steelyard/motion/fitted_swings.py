"""The swings of a recipe's steps, fitted to the room that an arm has at each posture."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.motion.primitives import (
    GROUP,
    Primitive,
    adjacent_pair_offsets,
    joint_group_offsets,
    primitive_within,
    single_joint_offsets,
)
from steelyard.motion.recipes import POSTURES, Step, Swing
from steelyard.motion.room_to_move import RoomToMove

_SMALLER, _MOST_TIMES = 0.8, 12


@dataclass(eq=False)
class FittedSwings:
    """Primitives at the postures of an arm, each fitted when it is first asked for.

    Attributes:
        room: where the robot may stand.
        postures: A, B and C, shape (3, nv), rad or m.
        variants: the same with the wrist turned, shape (3, nv), rad or m.
        amplitude: largest of every joint, shape (nv,), rad or m.
    """

    room: RoomToMove
    postures: Array
    variants: Array
    amplitude: Array
    _ranges: dict[tuple[int, bool], tuple[Array, Array]] = field(default_factory=dict)
    _fitted: dict[tuple[int, bool, Swing], list[Primitive]] = field(default_factory=dict)
    _small: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Swings much smaller than wished for, so far."""
        return tuple(
            Finding(
                Severity.INFO,
                "smaller-swing",
                f"at posture {where} there is room for {share:.2g} of the amplitude.",
                joints,
            )
            for (where, joints), share in self._small.items()
        )

    def posture(self, step: Step) -> Array:
        """Where a step's primitives start and end.

        Args:
            step: of a recipe.

        Returns:
            q, shape (nv,), rad or m.
        """
        return np.asarray((self.variants if step.wrist else self.postures)[step.posture])

    def primitives(self, step: Step) -> list[Primitive]:
        """The primitives of a step, those for which there is room.

        Args:
            step: of a recipe.

        Returns:
            The primitives, from the base outwards.
        """
        key = (step.posture, step.wrist, step.swing)
        if key not in self._fitted:
            self._fitted[key] = self._fit(step)
        return self._fitted[key]

    def _fit(self, step: Step) -> list[Primitive]:
        posture, place = self.posture(step), (step.posture, step.wrist)
        if place not in self._ranges:
            self._ranges[place] = self.room.range_about(posture)
        made = []
        for offset in self._offsets(step.swing):
            primitive = self._made_clear(posture, offset, *self._ranges[place])
            kept = np.zeros_like(offset) if primitive is None else primitive.offset
            made += [] if primitive is None else [primitive]
            share = float((np.abs(kept)[offset != 0.0] / np.abs(offset)[offset != 0.0]).min())
            if share < _SMALLER:
                where = POSTURES[step.posture] + ("'" if step.wrist else "")
                self._small[where, self.room.names(offset != 0.0)] = share
        return made

    def _made_clear(self, posture: Array, offset: Array, lower: Array, upper: Array) -> Primitive | None:
        """The first of ever smaller swings that is clear all the way; None where none of them is."""
        for power in range(_MOST_TIMES):
            wish = np.where(upper > lower, _SMALLER**power * offset, 0.0)
            if not wish.any():
                return None
            primitive = primitive_within(posture, wish, lower, upper)
            if self.room.path_holds(primitive.waypoints):
                return primitive
        return None

    def _offsets(self, swing: Swing) -> Array:
        a = self.amplitude
        match swing:
            case Swing.SINGLE:
                return single_joint_offsets(a)
            case Swing.IN_PHASE | Swing.OPPOSITE:
                phase = 1 if swing is Swing.IN_PHASE else -1
                pairs = adjacent_pair_offsets(self.room.limits.robot, a, phase)
                return pairs if len(pairs) else single_joint_offsets(a)
            case Swing.GROUPS:
                return joint_group_offsets(a, GROUP)
            case Swing.ALL:
                return joint_group_offsets(a)
