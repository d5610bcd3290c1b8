"""Where a robot may stand and how fast it may go: the limits of structured motions, before any is made.

Poses are looked at in steps. That is a search: the proof that a motion keeps its limits at all times is
`steelyard.limits.certify`, and the reserves here are what it lives on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, BoolArray
from steelyard.dynamics import inverse_dynamics
from steelyard.limits import MotionLimits
from steelyard.motion.random_fourier import UNLIMITED_SLIDE, UNLIMITED_TURN
from steelyard.motion.spline import SplineMotion

INSIDE = 0.01
"""Share of a joint's range that is kept to each of its limits."""
STEP = np.radians(1.0)
"""How far a joint goes between two poses that are looked at, rad; a sliding joint goes `SLIDE_STEP`."""
SLIDE_STEP = 0.005
"""How far a sliding joint goes between two poses that are looked at, m."""
RESERVE = 0.01
"""Distance kept beyond the one required, as a share of the arm's length: more than half a step moves it."""
TORQUE_SHARE = 0.9
"""Share of the torque limits that is used."""
HOLDING_SHARE = 0.7
"""Share of the torque limits that standing still may take: the rest is for friction and acceleration."""
UNLIMITED_TURNING = 2.0
"""Speed of a turning joint that states no limit, rad/s."""
UNLIMITED_SLIDING = 0.3
"""Speed of a sliding joint that states no limit, m/s."""
FULL_SPEED_AFTER = 0.25
"""Time in which a joint that states no acceleration limit reaches its full speed, s."""
_TORQUE_SAMPLES = 0.01
"""Time between two samples of the torque, s."""


@dataclass(frozen=True, eq=False)
class RoomToMove:
    """What the limits leave to structured motions.

    Attributes:
        limits: what every motion must respect; torques count where they have a model, distances where they
            have a clearance.
    """

    limits: MotionLimits

    def __post_init__(self) -> None:
        self.limits.robot.require_arm()

    @cached_property
    def _turns(self) -> BoolArray:
        return np.array([joint.kind.rotates for joint in self.limits.robot.joints])

    def names(self, moving: BoolArray) -> str:
        """The names of some joints, for messages.

        Args:
            moving: which ones, shape (nv,), dimensionless.

        Returns:
            The names.
        """
        joints = self.limits.robot.joint_names
        return ", ".join(f"'{joints[j]}'" for j in np.flatnonzero(moving))

    @cached_property
    def lower(self) -> Array:
        """Smallest positions used, shape (nv,), rad or m."""
        return self._range[0]

    @cached_property
    def upper(self) -> Array:
        """Largest positions used, shape (nv,), rad or m."""
        return self._range[1]

    @cached_property
    def velocity(self) -> Array:
        """Speed limits, all finite, shape (nv,), rad/s or m/s."""
        stated = self.limits.robot.limit_array("velocity")
        return np.where(
            np.isfinite(stated), stated, np.where(self._turns, UNLIMITED_TURNING, UNLIMITED_SLIDING)
        )

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration limits, all finite, shape (nv,), rad/s² or m/s²."""
        stated = self.limits.robot.limit_array("acceleration")
        return np.where(np.isfinite(stated), stated, self.velocity / FULL_SPEED_AFTER)

    @cached_property
    def _range(self) -> tuple[Array, Array]:
        """Without limits a joint has `UNLIMITED_TURN` or `UNLIMITED_SLIDE` to either side.

        A joint whose speed or acceleration limit is zero stands still, as near to zero as it may.
        """
        robot = self.limits.robot
        lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
        reach = np.where(self._turns, UNLIMITED_TURN, UNLIMITED_SLIDE)
        lower = np.where(np.isfinite(lower), lower, np.minimum(upper, reach) - 2.0 * reach)
        upper = np.where(np.isfinite(upper), upper, np.maximum(lower, -reach) + 2.0 * reach)
        inside = INSIDE * (upper - lower)
        lower, upper = lower + inside, upper - inside
        rest = np.clip(0.0, lower, upper)
        still = (self.velocity == 0.0) | (self.acceleration == 0.0)
        return np.where(still, rest, lower), np.where(still, rest, upper)

    @cached_property
    def _distance(self) -> float:
        """How far apart everything must be where it is looked at, m."""
        length = sum(float(np.linalg.norm(j.placement.translation)) for j in self.limits.robot.joints)
        return self.limits.distance + RESERVE * length

    def holds(self, poses: Array) -> BoolArray:
        """Whether the robot may stand somewhere: in its range, clear of everything, and strong enough.

        Args:
            poses: q, shape (N, nv), rad or m.

        Returns:
            One answer for each pose, shape (N,), dimensionless.
        """
        limits, robot = self.limits, self.limits.robot
        slack = 1e-9 * (1.0 + np.abs(poses))
        good = ((poses >= self.lower - slack) & (poses <= self.upper + slack)).all(axis=1)
        if limits.clearance is not None and limits.clearance.pairs:
            good &= (limits.clearance.distances(poses) >= self._distance).all(axis=1)
        if limits.layout is not None and limits.parameters is not None:
            still = np.zeros_like(poses)
            tau = inverse_dynamics(robot, limits.layout, limits.parameters, poses, still, still)
            good &= (np.abs(tau) <= HOLDING_SHARE * robot.limit_array("effort")).all(axis=1)
        return np.asarray(good)

    def line(self, start: Array, end: Array) -> Array:
        """Poses on a straight line with both ends, no joint going more than a step from one to the next.

        Args:
            start: shape (nv,), rad or m.
            end: shape (nv,), rad or m.

        Returns:
            The poses, shape (N, nv), rad or m.
        """
        step = np.where(self._turns, STEP, SLIDE_STEP)
        count = int(np.ceil((np.abs(end - start) / step).max(initial=0.0))) + 1
        return np.linspace(start, end, max(count, 2))

    def path_holds(self, waypoints: Array) -> bool:
        """Whether the robot may stand everywhere on the straight lines between waypoints.

        Args:
            waypoints: shape (n, nv), rad or m.

        Returns:
            The answer.
        """
        legs = [self.line(a, b) for a, b in pairwise(waypoints)]
        return bool(self.holds(np.concatenate(legs)).all())

    def farthest(self, start: Array, end: Array) -> Array:
        """The last pose on the line from a pose to another up to which the robot may stand everywhere.

        Args:
            start: where it may stand, shape (nv,), rad or m.
            end: where it would go, shape (nv,), rad or m.

        Returns:
            The pose, shape (nv,), rad or m; the start where it may not even take a step.
        """
        poses = self.line(start, end)
        bad = ~self.holds(poses)
        last = len(poses) - 1 if not bad.any() else max(int(bad.argmax()) - 1, 0)
        return np.asarray(poses[last])

    def range_about(self, posture: Array) -> tuple[Array, Array]:
        """How far each joint may go by itself from a posture.

        Args:
            posture: where the robot may stand, shape (nv,), rad or m.

        Returns:
            Smallest and largest positions, each shape (nv,), rad or m.
        """
        ends = []
        for bound in (self.lower, self.upper):
            goals = np.where(np.eye(len(posture), dtype=np.bool_), bound, posture)
            ends.append(np.array([self.farthest(posture, goal)[j] for j, goal in enumerate(goals)]))
        return ends[0], ends[1]

    def torque_share(self, motion: SplineMotion) -> float:
        """The largest torque of a motion at samples, as a share of what may be used of the limit.

        Args:
            motion: the motion.

        Returns:
            The share, dimensionless; zero where torques have no model.
        """
        limits, robot = self.limits, self.limits.robot
        if limits.layout is None or limits.parameters is None:
            return 0.0
        at = motion.sample(np.linspace(0.0, motion.duration, 2 + int(motion.duration / _TORQUE_SAMPLES)))
        tau = inverse_dynamics(robot, limits.layout, limits.parameters, at.q, at.v, at.a)
        return float((np.abs(tau) / (TORQUE_SHARE * robot.limit_array("effort"))).max())
