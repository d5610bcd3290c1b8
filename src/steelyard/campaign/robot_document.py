"""Robots in the parameters of tasks: the whole description travels, so that workers need no file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from steelyard.archive import from_document, to_document
from steelyard.robot import Robot
from steelyard.zoo import find_robot


def robot_document(name: str) -> dict[str, Any]:
    """The description of a robot as JSON values.

    Args:
        name: a zoo name, or the path of a description.

    Returns:
        The document.
    """
    document: dict[str, Any] = to_document(find_robot(name))
    return document


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
