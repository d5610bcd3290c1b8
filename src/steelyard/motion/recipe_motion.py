"""Recipes become motions: from swing to swing, at a pace the drives can keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.motion.fitted_swings import FittedSwings
from steelyard.motion.primitives import Primitive
from steelyard.motion.recipes import Recipe
from steelyard.motion.segments import through_waypoints
from steelyard.motion.spline import SplineMotion

SPEEDS = (0.3, 0.6, 0.9)
"""Shares of the speed and acceleration limits at the three levels."""
PROXIMAL_SPEEDS = (0.25, 0.5, 0.75)
"""The same for swings of the third of the joints next to the base."""
LARGE_SPEEDS = (0.2, 0.4, 0.6)
"""The same for swings of more than two joints or beyond `LARGE`, and between postures."""
LARGE = np.radians(60.0)
"""Amplitude of a turning joint beyond which a swing is large, rad."""
_SLOWER, _MOST_TIMES = 0.85, 16


@dataclass(eq=False)
class RecipeMotions:
    """Makes the motions of one arm; a way that two of them share is paced once.

    Attributes:
        swings: the primitives at its postures.
        dwell: how long to rest at each waypoint, s.
    """

    swings: FittedSwings
    dwell: float
    _paces: dict[tuple[bytes, float], float] = field(default_factory=dict)
    _slow: dict[str, float] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Swings that go slower than their level, so far."""
        return tuple(
            Finding(
                Severity.INFO,
                "slowed-swing",
                f"moves at {pace:.2g} of its speed at the least, to keep the torque limits.",
                joints,
            )
            for joints, pace in self._slow.items()
        )

    def motion(self, recipe: Recipe) -> SplineMotion:
        """The motion of a recipe.

        Args:
            recipe: what it is made of.

        Returns:
            The motion, from rest at its first posture to rest at its last.

        Raises:
            InputError: something stands between two postures, no swing has room, or torques are too small.
        """
        room = self.swings.room
        points: list[Array] = [self.swings.posture(recipe.steps[0])]
        shares: list[tuple[float, float]] = []
        for step in recipe.steps:
            leg = np.stack((points[-1], self.swings.posture(step)))
            if not room.path_holds(leg):
                raise InputError(
                    "something is in the way between two postures.",
                    place=recipe.name,
                    remedy="Use another --family, or state other motions.postures in the file of a campaign.",
                )
            ways = [(leg, LARGE_SPEEDS[step.level])]
            for primitive in self.swings.primitives(step):
                ways.append((primitive.waypoints, self._speed(primitive, step.level)))
            for waypoints, speed in ways:
                legs = [end for start, end in pairwise(waypoints) if (end != start).any()]
                points += legs
                shares += [(speed, self._pace(waypoints[0], legs, speed))] * len(legs)
        if not shares:
            raise InputError("no joint has room to swing at its postures.", place=recipe.name)
        return self._timed(np.array(points), *np.array(shares).T)

    def _speed(self, primitive: Primitive, level: int) -> float:
        robot, delta = self.swings.room.limits.robot, primitive.offset
        turns = np.array([joint.kind.rotates for joint in robot.joints])
        if np.count_nonzero(delta) > 2 or (np.abs(delta[turns]) > LARGE).any():
            return LARGE_SPEEDS[level]
        return (PROXIMAL_SPEEDS if delta[: robot.nv // 3].any() else SPEEDS)[level]

    def _pace(self, start: Array, legs: list[Array], speed: float) -> float:
        """By how much a way is slowed for its torques, dimensionless."""
        if not legs:
            return 1.0
        way = np.array([start, *legs])
        key = (way.tobytes(), speed)
        if key not in self._paces:
            self._paces[key] = self._found_pace(way, speed)
        return self._paces[key]

    def _found_pace(self, way: Array, speed: float) -> float:
        room, legs = self.swings.room, len(way) - 1
        joints = room.names(np.ptp(way, axis=0) > 0.0)
        for power in range(_MOST_TIMES):
            pace = _SLOWER**power
            timed = self._timed(way, np.full(legs, speed), np.full(legs, pace))
            if room.torque_share(timed) <= 1.0:
                if pace < 1.0:
                    self._slow[joints] = min(pace, self._slow.get(joints, 1.0))
                return pace
        raise InputError("the torque limits leave nothing to move with.", place=joints)

    def _timed(self, points: Array, speed: Array, pace: Array) -> SplineMotion:
        """The way through points with a share of the limits on each segment, its time stretched by 1/pace."""
        room = self.swings.room
        robot = room.limits.robot
        v_max = (speed * pace)[:, None] * room.velocity
        a_max = (speed * pace**2)[:, None] * room.acceleration
        return through_waypoints(
            robot.joint_names, points, v_max, a_max, dwell=self.dwell, robot=robot.digest
        )
