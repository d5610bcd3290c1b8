"""Limits that a description does not carry, stated beside it: in a file, or as text such as `elbow=10`."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.robot.joint import Joint
from steelyard.robot.model import Robot
from steelyard.robot.xacro.yaml_values import read_yaml

LARGEST = {"velocity": "velocity", "acceleration": "acceleration", "torque": "effort"}
"""Kinds of limits that are one positive number, and what a joint calls them."""
POSITION = "position"
MOST_BYTES = 1 << 20
"""Longest file that is read."""


@dataclass(frozen=True, kw_only=True)
class StatedLimits:
    """Limits as they are stated beside a description, whose own they replace.

    A text is one number for every joint (`10`), one for each in order (`10,10,5`), or some by name
    (`elbow=10,wrist=5`).

    Attributes:
        limits: file, see `read_limits`; None for none.
        velocity: text of the largest speeds, rad/s or m/s.
        acceleration: text of the largest accelerations, rad/s² or m/s².
        torque: text of the largest torques or forces, N·m or N.
    """

    limits: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    torque: str | None = None

    def limited(self, robot: Robot) -> Robot:
        """The robot with these limits; what a text states counts before what the file does.

        Args:
            robot: the robot; joints of its description that are locked may be named, and are passed over.

        Returns:
            A new robot, or the same where nothing is stated.

        Raises:
            InputError: the file cannot be read, or a number is not positive; says where.
            UnknownNameError: there is no such joint or kind of limit; lists those that exist.
        """
        if self.limits is not None:
            robot = with_limits(robot, read_limits(self.limits), self.limits)
        for kind in LARGEST:
            text = getattr(self, kind)
            if text is not None:
                # Records of an earlier version hold a number.
                robot = _with_text(robot, kind, str(text), f"--{kind}")
        return robot


def read_limits(path: FilePath) -> dict[str, Any]:
    """Read a file of limits: TOML, JSON by the name `.json`, or a `joint_limits.yaml` of ROS by `.yaml`.

    In TOML and JSON `velocity` (rad/s or m/s), `acceleration` (rad/s² or m/s²) and `torque` (N·m or N) are
    one number for every joint or a list with one each, in order. A table `[joint.NAME]` states them for one
    joint, and `position` there its range, `[lower, upper]` (rad or m).

    Args:
        path: the file.

    Returns:
        What it states, for `with_limits`.

    Raises:
        InputError: it cannot be read, or is no such file; says why.
    """
    path = Path(path)
    place, suffix = str(path), path.suffix.lower()
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"is larger than {MOST_BYTES >> 20} MiB.", place=place)
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=place) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text in UTF-8.", place=place) from error
    try:
        if suffix in (".yaml", ".yml"):
            return _of_ros(read_yaml(text.encode(), place), place)
        document = json.loads(text) if suffix == ".json" else tomllib.loads(text)
    except RecursionError as error:
        raise InputError("is nested too deeply.", place=place) from error
    except InputError:
        raise
    except ValueError as error:
        kind = "JSON" if suffix == ".json" else "TOML"
        raise InputError(f"is not {kind}: {error}.", place=place) from error
    if not isinstance(document, dict):
        raise InputError("holds no table.", place=place, remedy="Write acceleration = 10, for example.")
    return document


def with_limits(robot: Robot, document: Mapping[str, Any], place: str) -> Robot:
    """A robot with the limits of a document.

    Args:
        robot: the robot; joints of its description that are locked may be named, and are passed over.
        document: as `read_limits` gives it.
        place: what to call it in messages.

    Returns:
        A new robot. What a joint's own table states counts before what is stated for all.

    Raises:
        InputError: a number is not positive and finite, or a list has the wrong length; says where.
        UnknownNameError: there is no such joint or kind of limit; lists those that exist.
    """
    for key in document:
        if key not in (*LARGEST, "joint"):
            raise UnknownNameError("key", str(key), (*LARGEST, "joint"), place=place)
    for kind in LARGEST:
        if kind in document:
            given = document[kind]
            values = given if isinstance(given, list) else [given]
            robot = _in_order(robot, kind, values, f"{place}: {kind}")
    tables = document.get("joint", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(
            "'joint' must hold one table for each joint.",
            place=place,
            remedy="Write [joint.NAME] above them.",
        )
    for name, table in tables.items():
        where = f"{place}: joint '{name}'"
        for key in table:
            if key not in (POSITION, *LARGEST):
                raise UnknownNameError("limit", str(key), (POSITION, *LARGEST), place=where)
        robot = _named(robot, name, _changes(table, where), where)
    return robot


def _changes(table: Mapping[str, Any], where: str) -> dict[str, float]:
    """What one joint's table states, by the names of `Limits`."""
    changes = {
        LARGEST[kind]: _positive(x, f"{where}, {kind}") for kind, x in table.items() if kind in LARGEST
    }
    if POSITION in table:
        ends = table[POSITION]
        numbers = [_number(x) for x in ends] if isinstance(ends, list) and len(ends) == 2 else [math.nan] * 2
        if not (math.isfinite(numbers[0]) and math.isfinite(numbers[1]) and numbers[0] <= numbers[1]):
            raise InputError(
                f"expected two numbers, the smaller first, got {_shown(ends)}.",
                place=f"{where}, {POSITION}",
                remedy="Write [-2.9, 2.9], in rad or m.",
            )
        changes["lower"], changes["upper"] = numbers
    return changes


def _with_text(robot: Robot, kind: str, text: str, place: str) -> Robot:
    words = [word.strip() for word in text.split(",")]
    pairs = [word.rpartition("=") for word in words]
    if not any(equals for _, equals, _ in pairs):
        return _in_order(robot, kind, words, place)
    for name, equals, number in pairs:
        if not equals or not name:
            raise InputError(
                f"expected numbers, or JOINT=NUMBER for each, got '{text}'.",
                place=place,
                remedy="Write 10 for every joint, 10,10,5 for each in order, or elbow=10,wrist=5.",
            )
        robot = _named(robot, name, {LARGEST[kind]: _positive(number, f"{place} {name}")}, place)
    return robot


def _in_order(robot: Robot, kind: str, values: Sequence[Any], place: str) -> Robot:
    """One number for all joints that move by themselves in one way, or one for each of them."""
    own = [joint for joint in robot.joints if joint.nv == 1]
    if len(values) not in (1, len(own)):
        raise InputError(
            f"expected one number or {len(own)}, got {len(values)}.",
            place=place,
            remedy=f"Give one for all, one for each in the order {', '.join(x.name for x in own)}, or some "
            "by name.",
        )
    numbers = [_positive(x, place) for x in values] * (len(own) if len(values) == 1 else 1)
    changes = {joint.name: {LARGEST[kind]: x} for joint, x in zip(own, numbers, strict=True)}
    return replace(
        robot, joints=tuple(_changed(joint, changes.get(joint.name, {})) for joint in robot.joints)
    )


def _named(robot: Robot, name: str, changes: Mapping[str, float], place: str) -> Robot:
    if name not in robot.joint_names:
        held = [lock.name for lock in robot.locks]
        if name in held:
            return robot
        raise UnknownNameError("joint", name, robot.joint_names, place=place)
    joints = [_changed(joint, changes) if joint.name == name else joint for joint in robot.joints]
    return replace(robot, joints=tuple(joints))


def _changed(joint: Joint, changes: Mapping[str, float]) -> Joint:
    return replace(joint, limits=replace(joint.limits, **changes)) if changes else joint


def _positive(value: Any, place: str) -> float:
    number = _number(value)
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(
            f"expected a positive number, got {_shown(value)}.",
            place=place,
            remedy="Leave out what has no limit.",
        )
    return number


def _number(value: Any) -> float:
    """A number or the text of one; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _shown(value: Any) -> str:
    return f"'{str(value)[:80]}'"


_ROS = {"velocity": "velocity", "acceleration": "acceleration", "effort": "torque"}
"""What ROS limits by `has_…_limits` and `max_…`, and what it is called here."""


def _of_ros(document: Any, place: str) -> dict[str, Any]:
    """A `joint_limits.yaml` as tables of joints; limits that it switches off are left out."""
    tables = document.get("joint_limits") if isinstance(document, dict) else None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError("has no joint_limits with a table for each joint.", place=place)
    joints: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        own = joints.setdefault(str(name), {})
        for word, kind in _ROS.items():
            if table.get(f"has_{word}_limits", True) and f"max_{word}" in table:
                own[kind] = table[f"max_{word}"]
        ends = [table.get("min_position"), table.get("max_position")]
        if table.get("has_position_limits", True) and None not in ends:
            own[POSITION] = ends
    return {"joint": joints}
