"""Postures of structured motions: three that fold an arm more and more, and which joint is its wrist."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError
from steelyard.motion.room_to_move import RoomToMove
from steelyard.robot import Robot

FOLDS = (0.0, 0.25, 0.5)
"""How far the three postures go from the middle of every range to its end, or half a turn."""
_STARTS = 9
"""Postures on the way from the middle to the last fold that are tried as the first one."""


def folding_postures(room: RoomToMove) -> Array:
    """Three postures of increasing fold, from the middle of the joints' ranges, each clear of everything.

    A joint folds towards the side on which the tool comes nearer to the base, the outer joints first.

    Args:
        room: where the robot may stand.

    Returns:
        The postures on one straight line, along which nothing is in the way, shape (3, nv), rad or m.

    Raises:
        InputError: the robot may stand at none of those that were tried.
    """
    middle = 0.5 * (room.lower + room.upper)
    fold = np.minimum(0.5 * (room.upper - room.lower), np.pi) * _folding_signs(room, middle)
    line = middle + np.linspace(0.0, FOLDS[-1], _STARTS)[:, None] * fold
    good = room.holds(line)
    if not good.any():
        raise InputError(
            "nowhere between the middle of its ranges and a fold of them is it clear of everything and "
            "within its torques.",
            place=f"robot '{room.limits.robot.name}'",
            remedy="Use another --family, or state motions.postures in the file of a campaign.",
        )
    first = line[int(good.argmax())]
    # What is in the way shortens the whole fold, so that the three stay different.
    last = room.farthest(first, first + (FOLDS[-1] - FOLDS[0]) * fold)
    return np.array([first + share / FOLDS[-1] * (last - first) for share in FOLDS])


def placed_postures(room: RoomToMove, postures: ArrayLike) -> Array:
    """Given postures, moved as little as the limits demand.

    A posture beyond a limit is moved to it; one that is not clear goes back towards the first by the one
    joint that has least to move, or along the straight line where no single joint helps.

    Args:
        room: where the robot may stand.
        postures: as wished, shape (3, nv), rad or m.

    Returns:
        The postures, shape (3, nv), rad or m.

    Raises:
        InputError: the robot may not stand at the first one.
    """
    wish = checked("postures", postures, (len(FOLDS), room.limits.robot.nv))
    inside = np.clip(wish, room.lower, room.upper)
    if not room.holds(inside[:1]).all():
        raise InputError("the robot is not clear, or too weak, at the first one.", place="postures")
    return np.array([inside[0], *(_pulled(room, inside[0], posture) for posture in inside[1:])])


def wrist_of(robot: Robot) -> int | None:
    """The joint that turns the wrist: the last one whose axis crosses that of the joint behind it.

    Only turning joints count. Where a finger turns across the last arm joint, that joint is found.

    Args:
        robot: an arm.

    Returns:
        Its number; None where no two neighbours cross.
    """
    X = forward_kinematics(robot, np.zeros((1, robot.nq)))[0]
    axes = [X[k, :3, :3] @ joint.axis for k, joint in enumerate(robot.joints)]
    found = None
    for outer, joint in enumerate(robot.joints):
        inner = joint.parent
        if inner > 0 and joint.kind.rotates and robot.joints[inner].kind.rotates:
            crosses = float(np.linalg.norm(np.cross(axes[inner], axes[outer]))) > 0.5
            found = inner if crosses else found
    return found


def _folding_signs(room: RoomToMove, middle: Array) -> Array:
    robot = room.limits.robot
    quarter = 0.5 * np.minimum(0.5 * (room.upper - room.lower), np.pi)
    base, tool = robot.joints[0].placement.translation, robot.tool_frame.name
    signs, q = np.ones(robot.nv), middle.copy()
    for j in reversed(range(robot.nv)):
        both = np.stack((q, q))
        both[:, j] += (quarter[j], -quarter[j])
        near, far = np.linalg.norm(forward_kinematics(robot, both, [tool])[:, 0, :3, 3] - base, axis=1)
        signs[j] = 1.0 if near <= far + 1e-9 else -1.0
        q[j] += signs[j] * quarter[j]
    return signs


def _pulled(room: RoomToMove, home: Array, posture: Array) -> Array:
    if room.holds(posture[None]).all():
        return posture
    found, least = None, np.inf
    for j in np.flatnonzero(home != posture):
        goal = posture.copy()
        goal[j] = home[j]
        line = room.line(posture, goal)
        good = room.holds(line)
        if good.any() and int(good.argmax()) < least:
            least, found = int(good.argmax()), line[int(good.argmax())]
    if found is None:
        line = room.line(posture, home)
        found = line[int(room.holds(line).argmax())]
    return np.asarray(found)
