"""One plan of a receding horizon: what is driven of it, and how it brakes should no other follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from steelyard.arrays import Array, read_only
from steelyard.motion.bezier_parts import split
from steelyard.motion.motion import MotionSample
from steelyard.motion.spline import SplineMotion, bezier


@dataclass(frozen=True, eq=False)
class RecedingPlan:
    """One plan: what is driven, and how it brakes should no other follow.

    Attributes:
        motion: the whole plan, from its start to its stop.
        switch: when the next plan takes over, s.
        parameter: k that chose it, shape (nv,), dimensionless.
    """

    motion: SplineMotion
    switch: float
    parameter: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameter", read_only(self.parameter))

    @cached_property
    def driven(self) -> SplineMotion:
        """The part before the switch, as a motion of its own."""
        return self._part(0, self.switch)

    @cached_property
    def brake(self) -> SplineMotion:
        """The part after the switch, which ends at rest, as a motion of its own."""
        return self._part(1, self.motion.duration - self.switch)

    @property
    def at_switch(self) -> MotionSample:
        """The state from which the next plan goes on, one sample: q, v and a of shape (1, nv), SI."""
        return self.brake.sample([0.0])

    def _part(self, side: int, duration: float) -> SplineMotion:
        c = split(self.motion.control, self.switch / self.motion.duration)[side].copy()
        if side == 1:
            # Means of equal numbers may differ from them in the last place, and the stop is a stop.
            c[:, -3:] = self.motion.control[:, -1:]
        return bezier(self.motion.joints, duration, c, robot=self.motion.robot)
