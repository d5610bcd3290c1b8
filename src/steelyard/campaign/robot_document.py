"""Robots in the parameters of tasks: the whole description travels, so that workers need no file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from steelyard.archive import from_document, to_document
from steelyard.campaign.spec import Spec
from steelyard.robot import Robot, StatedLimits, with_limits
from steelyard.zoo import find_robot


def robot_document(
    name: str, limits: Mapping[str, Any] | str | None = None, place: str = ""
) -> dict[str, Any]:
    """The description of a robot as JSON values.

    Args:
        name: a zoo name, or the path of a description.
        limits: what is stated beside the description, as a file of limits holds it, or the path of such a
            file; None for nothing.
        place: where it is stated, for messages.

    Returns:
        The document.

    Raises:
        InputError: there is no such robot, or its limits are not usable.
    """
    robot = find_robot(name)
    if isinstance(limits, str):
        robot = StatedLimits(limits=limits).limited(robot)
    elif limits is not None:
        robot = with_limits(robot, limits, place)
    document: dict[str, Any] = to_document(robot)
    return document


def described_robot(spec: Spec) -> dict[str, Any]:
    """The robot that a campaign's file names, with the limits stated there, as JSON values.

    Args:
        spec: the file: `[robot]` with `name` and, where limits are stated, `limits`: a table, or the path of
            a file with one.

    Returns:
        The document.

    Raises:
        InputError: there is no such robot, or its limits are not usable; the message has the line.
    """
    described = spec.content.section("robot")
    name, limits = described.text("name"), None
    if described.has("limits"):
        as_text = isinstance(described.content["limits"], str)
        limits = described.text("limits") if as_text else described.table("limits")
    return robot_document(name, limits, described.place("limits"))


def robot_of(document: Mapping[str, Any]) -> Robot:
    """The robot of a document; a worker reads each only once.

    Args:
        document: of `robot_document`.

    Returns:
        The robot.
    """
    return _read(json.dumps(document, sort_keys=True))


@lru_cache(maxsize=8)
def _read(text: str) -> Robot:
    return from_document(Robot, json.loads(text))
