"""Joints held still: their links become fixed parts of the links that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.pose import Pose
from steelyard.robot.joint import Joint, JointKind

if TYPE_CHECKING:
    from steelyard.robot.model import Robot


@dataclass(frozen=True, eq=False)
class LockedJoint:
    """A joint of the description that is held still; remembered, not lost.

    Attributes:
        name: its name in the description.
        kind: how it would move.
        link: name of the link it would move, now a fixed one.
        position: where it is held, shape (nq,), rad or m; a spherical joint has a quaternion x, y, z, w,
            and a floating one x, y, z in m before it.
    """

    name: str
    kind: JointKind
    link: str
    position: Array

    def __post_init__(self) -> None:
        place = f"position of joint '{self.name}'"
        object.__setattr__(self, "position", read_only(checked(place, self.position, (self.kind.nq,))))


def lock(robot: Robot, positions: Mapping[str, ArrayLike]) -> Robot:
    """Hold joints still; the contract is that of `Robot.locked`.

    Args:
        robot: the robot.
        positions: by joint name, one number, or shape (4,) where the joint is spherical and (7,) where it
            floats, rad or m.

    Returns:
        A new robot.
    """
    for name in positions:
        if name not in robot.joint_names:
            raise UnknownNameError("joint", name, robot.joint_names)
    positions = {**positions, **_followers(robot, positions)}
    if len(positions) == len(robot.joints):
        raise InputError(
            "locking every joint leaves nothing that moves.",
            place=f"robot '{robot.name}'",
            remedy="Leave at least one joint free.",
        )
    links = {-1: robot.base}
    joints: list[Joint] = []
    locks: list[LockedJoint] = []
    # Where each link of `robot` ends up: the index of the moving link that carries it, and its pose there.
    carried = {-1: (-1, Pose.identity())}
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        carrier, X_CP = carried[joint.parent]
        X_CJ = X_CP @ joint.placement
        if joint.name in positions:
            position = _checked_position(joint, positions[joint.name])
            X_CL = X_CJ @ joint.motion(position)
            links[carrier] = links[carrier].with_bolted(link, X_CL)
            carried[i] = (carrier, X_CL)
            locks.append(LockedJoint(joint.name, joint.kind, link.name, position))
        else:
            links[len(joints)] = link
            carried[i] = (len(joints), Pose.identity())
            joints.append(replace(joint, parent=carrier, placement=X_CJ))
    base = links.pop(-1)
    return replace(
        robot,
        base=base,
        joints=tuple(joints),
        links=tuple(links.values()),
        locks=(*robot.locks, *locks),
        tool=robot.tool_frame.name,
    )


def _followers(robot: Robot, positions: Mapping[str, ArrayLike]) -> dict[str, float]:
    """Where the joints go that mimic a locked one; a position given for one of them must be that one."""
    places = {}
    for joint in robot.joints:
        mimic = joint.mimic
        if mimic is None or not {joint.name, mimic.joint} & positions.keys():
            continue
        place = f"joint '{joint.name}'"
        if mimic.joint not in positions:
            raise InputError(
                f"it mimics '{mimic.joint}' and has no position of its own.",
                place=place,
                remedy=f"Lock '{mimic.joint}' instead.",
            )
        q = checked(f"position of joint '{mimic.joint}'", positions[mimic.joint], ())
        follows = mimic.multiplier * float(q) + mimic.offset
        given = float(checked(f"position of {place}", positions.get(joint.name, follows), ()))
        if abs(given - follows) > 1e-9 * (1.0 + abs(follows)):
            raise InputError(
                f"it mimics '{mimic.joint}' and follows it to {follows:.6g} {joint.position_unit}, not "
                f"{given:.6g}.",
                place=place,
                remedy=f"Lock '{mimic.joint}' alone.",
            )
        places[joint.name] = follows
    return places


def _checked_position(joint: Joint, position: ArrayLike) -> Array:
    place = f"position of joint '{joint.name}'"
    if joint.kind.nq > 1:
        return checked(place, position, (joint.kind.nq,))
    q = checked(place, position, ())
    lower, upper = joint.limits.lower, joint.limits.upper
    if joint.mimic is None and not lower <= q <= upper:
        raise InputError(
            f"{q:.6g} {joint.position_unit} is outside its limits [{lower:.6g}, {upper:.6g}].",
            place=place,
            remedy="Choose a position within them.",
            evidence={"joint": joint.name, "position": float(q), "lower": lower, "upper": upper},
        )
    return q.reshape(1)
