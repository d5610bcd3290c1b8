"""How an object moved, how two motions differ, and how long a swing takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class ObjectMotion:
    """The path of an object's frame in the world.

    Attributes:
        time: increasing, shape (N,), s.
        position: of the frame's origin, shape (N, 3), m.
        quaternion: x, y, z, w of the frame's axes, of unit length, shape (N, 4), dimensionless.
    """

    time: Array
    position: Array
    quaternion: Array

    def __post_init__(self) -> None:
        t = checked("time", self.time, ("N",))
        object.__setattr__(self, "time", read_only(t))
        object.__setattr__(self, "position", read_only(checked("position", self.position, (len(t), 3))))
        object.__setattr__(self, "quaternion", read_only(checked("quaternion", self.quaternion, (len(t), 4))))


@dataclass(frozen=True, eq=False)
class MotionDifference:
    """How far apart two motions are.

    Attributes:
        time: shape (N,), s.
        position: distance of the origins, shape (N,), m.
        angle: of the rotation from one to the other, shape (N,), rad.
    """

    time: Array
    position: Array
    angle: Array

    @property
    def largest_position(self) -> float:
        """The largest distance, m."""
        return float(self.position.max())

    @property
    def largest_angle(self) -> float:
        """The largest angle, rad."""
        return float(self.angle.max())


def compared_motion(one: ObjectMotion, other: ObjectMotion) -> MotionDifference:
    """How far apart two objects are that did the same trial.

    Args:
        one: motion of the one, such as the asset.
        other: motion of the other, such as the true object, at the same times.

    Returns:
        Distances and angles over time.

    Raises:
        InputError: the motions were not sampled at the same times.
    """
    if not np.array_equal(one.time, other.time):
        raise InputError("the motions were not sampled at the same times.", place="other")
    distance = np.linalg.norm(one.position - other.position, axis=1)
    turn = _turn(one.quaternion, other.quaternion)
    angle = 2.0 * np.arctan2(np.linalg.norm(turn[:, :3], axis=1), np.abs(turn[:, 3]))
    return MotionDifference(one.time, read_only(distance), read_only(angle))


def swing_period(motion: ObjectMotion) -> float:
    """The time an object that turns about a fixed axis takes to come back, averaged over its swings.

    It passes the middle of its range in one direction once a period, whatever its amplitude.

    Args:
        motion: of a swing that lasts more than one period.

    Returns:
        The period, s.

    Raises:
        InputError: it does not swing to and fro twice.
    """
    turn = _turn(np.broadcast_to(motion.quaternion[:1], motion.quaternion.shape), motion.quaternion)
    axis = turn[np.argmax(np.linalg.norm(turn[:, :3], axis=1)), :3]
    angle = np.unwrap(2.0 * np.arctan2(turn[:, :3] @ axis / (np.linalg.norm(axis) or 1.0), turn[:, 3]))
    offset = angle - 0.5 * (angle.max() + angle.min())
    before = np.flatnonzero((offset[:-1] < 0.0) & (offset[1:] >= 0.0))
    if len(before) < 2:
        raise InputError(
            "shows no two swings in the same direction.", place="motion", remedy="Let it swing for longer."
        )
    share = offset[before] / (offset[before] - offset[before + 1])
    passed = motion.time[before] + share * (motion.time[before + 1] - motion.time[before])
    return float((passed[-1] - passed[0]) / (len(passed) - 1))


def _turn(start: Array, end: Array) -> Array:
    """The quaternion of the rotation from one to the other, start^-1 end, shape (N, 4)."""
    v, w = start[:, :3], start[:, 3:]
    V, W = end[:, :3], end[:, 3:]
    return np.hstack((w * V - W * v - np.cross(v, V), w * W + (v * V).sum(axis=1, keepdims=True)))
