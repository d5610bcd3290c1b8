"""Where a payload is held: the link that carries it and the frame its numbers are stated in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from steelyard.arrays import Array, read_only
from steelyard.errors import InputError
from steelyard.inertia import change_of_frame
from steelyard.pose import Pose
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Held:
    r"""A frame P of the payload, bolted to a moving link L.

    Attributes:
        link: name of the moving link that carries the payload.
        placement: X_LP, the payload's frame in the link's.
        frame: what the frame is called, for people.
    """

    link: str
    placement: Pose
    frame: str

    @cached_property
    def to_link(self) -> Array:
        r"""T with $\varphi_L = T\,\varphi_P$, shape (10, 10), SI."""
        return read_only(change_of_frame(self.placement))

    @cached_property
    def to_frame(self) -> Array:
        r"""T with $\varphi_P = T\,\varphi_L$, shape (10, 10), SI."""
        return read_only(change_of_frame(self.placement.inverse()))


def held_at(robot: Robot, *, grasp: Pose | None = None, frame: str | None = None) -> Held:
    """Say where a robot holds its payload.

    Args:
        robot: the robot.
        grasp: X_TP, the payload's frame in the one that holds it, as a grasp or the origin of a mesh states
            it; None where they are the same.
        frame: name of the link whose frame holds it, moving or fixed; None for the tool frame.

    Returns:
        The place.

    Raises:
        InputError: the frame does not move.
        UnknownNameError: the robot has no such link.
    """
    place = robot.tool_frame if frame is None else robot.frame(frame)
    if place.link < 0:
        raise InputError(
            f"'{place.name}' is part of the base, which carries no payload.",
            place="frame",
            remedy="Name a link that moves.",
        )
    if grasp is None:
        return Held(robot.link_names[place.link], place.placement, place.name)
    return Held(robot.link_names[place.link], place.placement @ grasp, f"the grasp in {place.name}")
