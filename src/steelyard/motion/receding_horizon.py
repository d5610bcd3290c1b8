r"""Plans of a receding horizon: from any state to a stop, of which the first part is driven.

Every joint follows a Bezier curve of degree 5 over [0, T] (Zhang et al. 2025, section V, after ARMOUR). Its
first three control points are the state (q, v, a) at the start; the last three are one, so that it ends at
rest:

$$q_j(t) = \sum_{i=0}^{2} c_{j,i} B_i(t) + e_j \sum_{i=3}^{5} B_i(t), \qquad e_j = m_j + h_j k_j,$$

with the middle m and the half width h of the ends to choose from. The plan is affine in the parameter k, one
number in [-1, 1] for each joint. It is driven until the switch; then the next plan goes on from the state
there, or, should there be none, the rest of the plan brings the robot to its stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError, NoSolutionError
from steelyard.motion.bernstein import affine_interval, part_coefficients, split_bezier
from steelyard.motion.motion import MotionSample, checked_motion_joints, checked_seconds
from steelyard.motion.spline import SplineMotion, bezier, quintic

# One plan of a receding horizon: what is driven of it, and how it brakes should no other follow.


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
        c = split_bezier(self.motion.control, self.switch / self.motion.duration)[side].copy()
        if side == 1:
            # Means of equal numbers may differ from them in the last place, and the stop is a stop.
            c[:, -3:] = self.motion.control[:, -1:]
        return bezier(self.motion.joints, duration, c, robot=self.motion.robot)


DURATION = 3.0
"""Of a plan, s (Zhang et al. 2025, section VI-D2)."""
SWITCH = 1.5
"""When the next plan takes over, s (Zhang et al. 2025, section VI-D2)."""
_END = read_only(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
"""How the end enters the control points."""


@dataclass(frozen=True, eq=False)
class RecedingPlans:
    """All plans from one state, each chosen by its parameter k in [-1, 1] for each joint.

    Attributes:
        joints: names of the nv joints.
        q: at the start, shape (nv,), rad or m.
        v: at the start, shape (nv,), rad/s or m/s.
        a: at the start, shape (nv,), rad/s² or m/s².
        lowest: where k = -1 ends, shape (nv,), rad or m.
        highest: where k = 1 ends, shape (nv,), rad or m.
        duration: T, from the start to the stop, s.
        switch: when the next plan takes over, before the stop, s.
        robot: digest of the robot they are made for; empty where none is known.
    """

    joints: tuple[str, ...]
    q: Array
    v: Array
    a: Array
    lowest: Array
    highest: Array
    duration: float = DURATION
    switch: float = SWITCH
    robot: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", checked_motion_joints(self.joints))
        keep_checked(self, (len(self.joints),), "q", "v", "a", "lowest", "highest")
        if (self.lowest > self.highest).any():
            j = int((self.lowest > self.highest).argmax())
            raise InputError(
                f"is {self.lowest[j]:.6g} for joint '{self.joints[j]}', above the highest end "
                f"{self.highest[j]:.6g}.",
                place="lowest",
            )
        checked_seconds("duration", self.duration)
        if not 0.0 < self.switch < self.duration:
            raise InputError(
                f"must lie between 0 and the duration of {self.duration} s, got {self.switch} s.",
                place="switch",
            )

    @classmethod
    def after(cls, plan: RecedingPlan, reach: ArrayLike) -> RecedingPlans:
        """The plans that go on from another one's switch, with its timing.

        Args:
            plan: the plan that is driven.
            reach: how far each may end from where it starts, either way, shape (nv,), rad or m.

        Returns:
            The plans; position, velocity and acceleration go on across the switch.
        """
        at = plan.at_switch
        far = checked("reach", reach, at.q[0].shape)
        last = plan.motion
        return cls(
            last.joints,
            at.q[0],
            at.v[0],
            at.a[0],
            at.q[0] - far,
            at.q[0] + far,
            last.duration,
            plan.switch,
            last.robot,
        )

    @classmethod
    def at_rest(
        cls,
        joints: Sequence[str],
        q: ArrayLike,
        reach: ArrayLike,
        *,
        duration: float = DURATION,
        switch: float = SWITCH,
        robot: str = "",
    ) -> RecedingPlans:
        """The first plans, from a standstill.

        Args:
            joints: names of the nv joints.
            q: where the robot stands, shape (nv,), rad or m.
            reach: how far each may end from there, either way, shape (nv,), rad or m.
            duration: T, s.
            switch: when the next plan takes over, s.
            robot: digest of the robot they are made for.
        """
        pose = checked("q", q, (len(joints),))
        far = checked("reach", reach, pose.shape)
        still = np.zeros_like(pose)
        return cls(tuple(joints), pose, still, still, pose - far, pose + far, duration, switch, robot)

    def plan(self, parameter: ArrayLike) -> RecedingPlan:
        """The plan of a parameter.

        Args:
            parameter: k, shape (nv,), dimensionless; within [-1, 1].

        Raises:
            InputError: k leaves [-1, 1].
        """
        k = checked("parameter", parameter, (len(self.joints),))
        if (np.abs(k) > 1.0).any():
            raise InputError(f"must stay within [-1, 1], got {k[np.abs(k).argmax()]:.6g}.", place="parameter")
        # Written so that k = ±1 ends at the stated ends to the last bit.
        end = 0.5 * (1.0 - k) * self.lowest + 0.5 * (1.0 + k) * self.highest
        return RecedingPlan(self._to(end), self.switch, k)

    def slopes(self, time: ArrayLike) -> MotionSample:
        """Derivatives of the plan in its parameter; k_j moves joint j alone, the same for every k.

        Args:
            time: when, shape (N,), s.

        Returns:
            dq_j/dk_j, dv_j/dk_j and da_j/dk_j, each shape (N, nv), SI.
        """
        h = 0.5 * (self.highest - self.lowest)
        push = bezier(self.joints, self.duration, np.outer(h, _END))
        return push.sample(time)

    def within(
        self, lower: ArrayLike, upper: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> RecedingPlans:
        """The plans that keep a robot's limits at every instant, whatever their parameter.

        On parts of the curve its Bernstein coefficients enclose it, and each is affine in the end of its own
        joint: every limit narrows the ends to choose from. Hardly any end that keeps the limits is lost.

        Args:
            lower: position limits, -inf where there is none, shape (nv,), rad or m.
            upper: position limits, inf where there is none, shape (nv,), rad or m.
            velocity: speed limits, inf where there is none, shape (nv,), rad/s or m/s.
            acceleration: limits, inf where there is none, shape (nv,), rad/s² or m/s².

        Returns:
            The same plans with fewer ends.

        Raises:
            NoSolutionError: no stop within the duration keeps a joint's limits; says which.
        """
        nv = (len(self.joints),)
        lo, hi = (checked(n, x, nv, finite=False) for n, x in (("lower", lower), ("upper", upper)))
        v, a = (
            checked(n, x, nv, finite=False)
            for n, x in (("velocity", velocity), ("acceleration", acceleration))
        )
        still = self._to(self.q).control
        least, most = self.lowest, self.highest
        for order, (name, down, up) in enumerate(
            (("position", lo, hi), ("velocity", -v, v), ("acceleration", -a, a))
        ):
            base = part_coefficients(still, self.duration, order)
            slope = part_coefficients(_END[None], self.duration, order)[0]
            back, forth = affine_interval(base, slope, down, up)
            least, most = np.maximum(least, self.q + back), np.minimum(most, self.q + forth)
            if (least > most).any():
                j = int((least - most).argmax())
                raise NoSolutionError(
                    f"no stop within {self.duration:g} s keeps the {name} of joint '{self.joints[j]}' "
                    f"between {down[j]:.6g} and {up[j]:.6g}.",
                    place="plans",
                    remedy="Brake along the plan before, or allow more time or other ends.",
                    evidence={"joint": self.joints[j], "limit": name},
                )
        return replace(self, lowest=least, highest=most)

    def _to(self, end: Array) -> SplineMotion:
        return quintic(
            self.joints,
            self.duration,
            self.q,
            end,
            start_velocity=self.v,
            start_acceleration=self.a,
            robot=self.robot,
        )
