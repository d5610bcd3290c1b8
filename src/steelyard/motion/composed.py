"""What motions made of motions share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.fields import check_order
from steelyard.motion.motion import MotionSample

if TYPE_CHECKING:
    from steelyard.motion.composition import AnyMotion


class ComposedMotion(ABC):
    """What sums and sequences share: parts for the same joints, and standing still beyond the ends."""

    if TYPE_CHECKING:
        parts: tuple[AnyMotion, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints."""
        return self.parts[0].joints

    @property
    def robot(self) -> str:
        """Digest of the robot it was made for; empty where none is known."""
        return next((part.robot for part in self.parts if part.robot), "")

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it lasts, s."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self)

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time; zero beyond the ends, unless it is the position.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        check_order(order)
        t = checked("time", time, ("N",))
        inside = np.clip(t, 0.0, self.duration)
        values = self._inside(inside, order)
        if order > 0:
            values[t != inside] = 0.0
        return values

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        return MotionSample(*(self.derivative(time, order) for order in range(3)))

    @abstractmethod
    def _inside(self, t: Array, order: int) -> Array:
        """A derivative at times between 0 and the duration, (N, nv)."""

    def _check_parts(self) -> None:
        if not self.parts:
            raise InputError("there must be at least one.", place="parts")
        joints, robot = self.joints, self.robot
        for k, part in enumerate(self.parts):
            if part.joints != joints:
                raise InputError(
                    f"moves the joints {list(part.joints)}, the first part {list(joints)}.",
                    place=f"parts[{k}]",
                )
            if part.robot not in ("", robot):
                raise InputError("was made for another robot than the parts before.", place=f"parts[{k}]")
