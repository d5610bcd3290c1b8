"""A weighed payload in the frame in which a controller takes it: which link is the flange, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.errors import InputError, UnknownNameError
from steelyard.export import ControllerLoad, LoadBounds
from steelyard.finding import Finding, Severity
from steelyard.formats import versions
from steelyard.payloads import DecidedBy, Mount, PayloadEstimate
from steelyard.robot import Frame, Robot
from steelyard.uncertainty import GuaranteedBounds

ALL_ZERO = "tool0"
"""What descriptions for ROS call the frame of a controller whose tool is all zeros (REP 199, draft)."""
NAMED = "It was named as the frame of the controller."
FOUND = "ROS descriptions call the controller's flange so; name another by --flange-frame if it is not."
ASSUMED = "The tool frame is taken as the controller's flange: name another by --flange-frame if it is not."
QUANTITY_WORDS = {"com_": "centre ", "I_": "I"}
"""How quantities are called in files, by how their names begin."""


def flange_of(robot: Robot, held: Mount, name: str | None) -> tuple[Frame, str]:
    """The frame in which the controller takes a load.

    Args:
        robot: the robot.
        held: where the payload is held.
        name: link whose frame it is; None for the link `tool0` where it carries the load, else the tool
            frame.

    Returns:
        The frame, and in a sentence why it was taken.

    Raises:
        UnknownNameError: the robot has no such link.
        InputError: a joint lies between the link and the load.
    """
    link = robot.link_names.index(held.link)
    carried = [frame for frame in robot.frames if frame.link == link]
    if name is None:
        found = [frame for frame in carried if frame.name == ALL_ZERO]
        return (found[0], FOUND) if found else (robot.tool_frame, ASSUMED)
    place = "--flange-frame"
    if name not in [frame.name for frame in robot.frames]:
        raise UnknownNameError("link", name, [frame.name for frame in carried], place=place)
    for frame in carried:
        if frame.name == name:
            return frame, NAMED
    raise InputError(
        f"between '{name}' and what is held a joint moves.",
        place=place,
        remedy=f"Name a link that is fixed to '{held.link}', or hold the joint by --lock.",
    )


def flange_findings(frame: Frame, why: str) -> tuple[Finding, ...]:
    """What is to be said of a frame that was not named.

    Args:
        frame: the frame.
        why: as `flange_of` says it.

    Returns:
        A warning where the tool frame was taken for want of a better one, and a word where `tool0` was found.
    """
    if why == NAMED:
        return ()
    severity = Severity.WARNING if why == ASSUMED else Severity.INFO
    message = f"The load is stated for controllers in the link '{frame.name}'. {why}"
    return (Finding(severity, "flange-frame", message, frame.name),)


def controller_load_of(
    robot: Robot,
    held: Mount,
    estimate: PayloadEstimate,
    bounds: GuaranteedBounds | None,
    *,
    extent: float,
    flange_frame: str | None,
    verdict: str,
    sources: Sequence[str],
) -> ControllerLoad:
    """The load in the frame of the controller.

    Args:
        robot: the robot.
        held: where the payload is held.
        estimate: what it is, in its own frame.
        bounds: guaranteed bounds in that frame; None where there are none.
        extent: radius about the payload's frame that the bounds assume it not to leave, m.
        flange_frame: link whose frame the controller has, see `flange_of`.
        verdict: of the weighing, in a word.
        sources: names of the logs.

    Raises:
        InputError: the frame is unknown, or does not move with the load.
    """
    flange, why = flange_of(robot, held, flange_frame)
    placement = flange.placement.inverse() @ held.placement
    low, high = float(estimate.lower[0]), float(estimate.upper[0])
    undecided = [name for name, by in estimate.decided.items() if by is DecidedBy.PRIOR]
    return ControllerLoad(
        robot=robot.name,
        body=estimate.body.moved(placement),
        frame=flange.name,
        why=why,
        interval95=(low, high),
        bounds=None if bounds is None else LoadBounds.of(bounds, placement, extent=extent),
        verdict=verdict,
        by_prior=tuple(_words(name) for name in undecided if not name.startswith("moment_")),
        sources=tuple(sources),
        # Where gravity is taken away the weight is still what a controller compensates.
        gravity=float(np.linalg.norm(robot.gravity)) or 9.81,
        version=versions()["steelyard"],
    )


def _words(name: str) -> str:
    for start, word in QUANTITY_WORDS.items():
        name = name.replace(start, word)
    return name
