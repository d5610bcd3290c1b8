"""A pause in a planned motion, in which more can be done to show the body that is held."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.excitation.payload_scale import PayloadScale
from steelyard.excitation.shown import Shown, shown_by
from steelyard.excitation.torque_meter import TorqueMeter
from steelyard.limits import MotionLimits
from steelyard.motion import AnyMotion, FourierMotion, SequenceMotion, in_sequence
from steelyard.robot import Robot

ENOUGH = 0.005
"""Share of an amplitude to which the smallest one is found."""


@dataclass(frozen=True, eq=False)
class Pause:
    """Where a planned motion rests, and what is wanted by its end. The array is read-only.

    Attributes:
        limits: what every motion must respect; its robot holds the body.
        planned: the motion.
        part: how many parts of a sequence come before the pause; None for all, the pause being the end.
        meter: how torques are measured.
        scale: of a body like the one held.
        required: wanted standard deviations of the ten numbers in the tool frame, infinite where any will do,
            shape (10,), SI.
    """

    limits: MotionLimits
    planned: AnyMotion
    part: int | None
    meter: TorqueMeter
    scale: PayloadScale
    required: Array

    def __post_init__(self) -> None:
        wanted = checked("required", self.required, (10,), finite=False)
        if not (wanted > 0.0).all():
            raise InputError(f"must be positive, got {wanted.min():g}.", place="required")
        if self.part is not None and not 0 < self.part <= len(self._parts):
            raise InputError(
                f"must be 1 to {len(self._parts)}, as many parts as the planned motion has, got {self.part}.",
                place="part",
            )
        object.__setattr__(self, "required", read_only(wanted))

    @property
    def robot(self) -> Robot:
        """Which robot moves."""
        return self.limits.robot

    @cached_property
    def pose(self) -> Array:
        """Where it rests, shape (nv,), rad or m."""
        before = self._parts[: self.part][-1]
        return read_only(before.sample([before.duration]).q[0])

    def joined(self, addition: AnyMotion) -> SequenceMotion:
        """The planned motion with another one in its pause.

        Args:
            addition: from rest to rest at the pose.

        Returns:
            All of it.

        Raises:
            InputError: the planned motion does not rest there.
        """
        end = len(self._parts) if self.part is None else self.part
        return in_sequence([*self._parts[:end], addition, *self._parts[end:]])

    def shown(self, addition: AnyMotion | None = None) -> Shown:
        """What the planned motion shows, with or without another one in its pause.

        Args:
            addition: from rest to rest at the pose; None for none.

        Returns:
            What is shown.
        """
        motion = self.planned if addition is None else self.joined(addition)
        return shown_by(self.robot, motion, self.meter, scale=self.scale)

    def shortfall(self, addition: AnyMotion) -> float:
        """The largest deviation over the wanted one after an addition.

        Args:
            addition: from rest to rest at the pose.

        Returns:
            At most 1 where all is shown as well as wanted, infinite where something is not shown at all.
        """
        asked = np.isfinite(self.required)
        return float((self.shown(addition).deviations[asked] / self.required[asked]).max())

    def shrunk(self, addition: FourierMotion) -> FourierMotion:
        """The same addition at the smallest amplitude that still does.

        Deviations grow as an amplitude shrinks; the amplitude is halved until it does too little, and the
        smallest one sought in between.

        Args:
            addition: one that shows all as well as wanted.

        Returns:
            The smaller addition, which does too and would not with an amplitude 0.5 % smaller.
        """
        still = np.zeros_like(addition.coefficients)
        still[:, 0] = self.pose
        change = addition.coefficients - still
        enough, too_little = 1.0, 0.0
        while enough - too_little > ENOUGH * enough:
            share = 0.5 * (enough + too_little)
            if self.shortfall(addition.with_coefficients(still + share * change)) <= 1.0:
                enough = share
            else:
                too_little = share
        return addition.with_coefficients(still + enough * change)

    @property
    def _parts(self) -> tuple[AnyMotion, ...]:
        return self.planned.parts if isinstance(self.planned, SequenceMotion) else (self.planned,)
