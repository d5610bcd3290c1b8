"""Limits that a description does not carry, stated beside it: in a file, or as text such as `elbow=10`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.document import read_table, read_text
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.robot.descriptions.xacro.files import read_yaml
from steelyard.robot.model import Robot

LARGEST = {"velocity": "velocity", "acceleration": "acceleration", "torque": "effort"}
"""Kinds of limits that are one positive number, and what a joint calls them."""
JERK = "jerk"
"""A limit that no description carries and no joint holds; only what designs a motion can keep it."""
KINDS = (*LARGEST, JERK)
"""All that are one positive number."""
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
        jerk: text of the largest jerks, rad/s³ or m/s³; for `largest_jerk`, the robot does not hold them.
    """

    limits: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    torque: str | None = None
    jerk: str | None = None

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
                robot = _changed(robot, _of_text(robot, kind, str(text)))
        return robot

    def largest_jerk(self, robot: Robot) -> Array:
        """The jerk limits; what the text states counts before what the file does.

        Args:
            robot: the robot; joints of its description that are locked may be named, and are passed over.

        Returns:
            The limit of every degree of freedom, shape (nv,), rad/s³ or m/s³; infinite where none is stated.

        Raises:
            InputError: the file cannot be read, or a number is not positive; says where.
            UnknownNameError: there is no such joint or kind of limit; lists those that exist.
        """
        stated: _Stated = {}
        if self.limits is not None:
            stated = _of_document(robot, read_limits(self.limits), self.limits)
        if self.jerk is not None:
            _add(stated, _of_text(robot, JERK, self.jerk))
        return np.array(
            [
                stated.get(joint.name, {}).get(JERK, math.inf)
                for joint in robot.joints
                for _ in range(joint.nv)
            ]
        )


_Stated = dict[str, dict[str, float]]
"""Numbers by joint and kind; the ends of a range are `lower` and `upper`."""


def read_limits(path: FilePath) -> dict[str, Any]:
    """Read a file of limits: TOML, JSON by the name `.json`, or a `joint_limits.yaml` of ROS by `.yaml`.

    In TOML and JSON `velocity` (rad/s or m/s), `acceleration` (rad/s² or m/s²), `jerk` (rad/s³ or m/s³) and
    `torque` (N·m or N) are one number for every joint or a list with one each, in order. A table
    `[joint.NAME]` states them for one joint, and `position` there its range, `[lower, upper]` (rad or m).

    Returns:
        What it states, for `with_limits`.

    Raises:
        InputError: it cannot be read, or is no such file; says why.
    """
    path = Path(path)
    place, suffix = str(path), path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _of_ros(read_yaml(read_text(path, most=MOST_BYTES).encode(), place), place)
    return read_table(path, most=MOST_BYTES)


def with_limits(robot: Robot, document: Mapping[str, Any], place: str) -> Robot:
    """A robot with the limits of a document.

    Args:
        robot: the robot; joints of its description that are locked may be named, and are passed over.
        document: as `read_limits` gives it.
        place: what to call it in messages.

    Returns:
        A new robot. What a joint's own table states counts before what is stated for all. A jerk limit is
        looked at but not held.

    Raises:
        InputError: a number is not positive and finite, or a list has the wrong length; says where.
        UnknownNameError: there is no such joint or kind of limit; lists those that exist.
    """
    return _changed(robot, _of_document(robot, document, place))


def _of_document(robot: Robot, document: Mapping[str, Any], place: str) -> _Stated:
    """What a document states."""
    for key in document:
        if key not in (*KINDS, "joint"):
            raise UnknownNameError("key", str(key), (*KINDS, "joint"), place=place)
    stated: _Stated = {}
    for kind in KINDS:
        if kind in document:
            given = document[kind]
            values = given if isinstance(given, list) else [given]
            _add(stated, _in_order(robot, kind, values, f"{place}: {kind}"))
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
            if key not in (POSITION, *KINDS):
                raise UnknownNameError("limit", str(key), (POSITION, *KINDS), place=where)
        _add(stated, _named(robot, name, _of_table(table, where), where))
    return stated


def _of_table(table: Mapping[str, Any], where: str) -> dict[str, float]:
    """What one joint's table states."""
    stated = {kind: _positive(x, f"{where}, {kind}") for kind, x in table.items() if kind in KINDS}
    if POSITION in table:
        ends = table[POSITION]
        numbers = [_number(x) for x in ends] if isinstance(ends, list) and len(ends) == 2 else [math.nan] * 2
        if not (math.isfinite(numbers[0]) and math.isfinite(numbers[1]) and numbers[0] <= numbers[1]):
            raise InputError(
                f"expected two numbers, the smaller first, got {_shown(ends)}.",
                place=f"{where}, {POSITION}",
                remedy="Write [-2.9, 2.9], in rad or m.",
            )
        stated["lower"], stated["upper"] = numbers
    return stated


def _of_text(robot: Robot, kind: str, text: str) -> _Stated:
    """What the text of an option states."""
    place = f"--{kind}"
    words = [word.strip() for word in text.split(",")]
    pairs = [word.rpartition("=") for word in words]
    if not any(equals for _, equals, _ in pairs):
        return _in_order(robot, kind, words, place)
    stated: _Stated = {}
    for name, equals, number in pairs:
        if not equals or not name:
            raise InputError(
                f"expected numbers, or JOINT=NUMBER for each, got '{text}'.",
                place=place,
                remedy="Write 10 for every joint, 10,10,5 for each in order, or elbow=10,wrist=5.",
            )
        _add(stated, _named(robot, name, {kind: _positive(number, f"{place} {name}")}, place))
    return stated


def _in_order(robot: Robot, kind: str, values: Sequence[Any], place: str) -> _Stated:
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
    return {joint.name: {kind: x} for joint, x in zip(own, numbers, strict=True)}


def _named(robot: Robot, name: str, numbers: dict[str, float], place: str) -> _Stated:
    if name in robot.joint_names:
        return {name: numbers}
    if any(lock.name == name for lock in robot.locks):
        return {}
    raise UnknownNameError("joint", name, robot.joint_names, place=place)


def _add(stated: _Stated, more: _Stated) -> None:
    """Let more count before what is there."""
    for name, numbers in more.items():
        stated[name] = stated.get(name, {}) | numbers


def _changed(robot: Robot, stated: _Stated) -> Robot:
    """The robot with all that a joint can hold; the same where that is nothing."""
    held = {
        name: {LARGEST.get(kind, kind): x for kind, x in numbers.items() if kind != JERK}
        for name, numbers in stated.items()
    }
    if not any(held.values()):
        return robot
    joints = [
        replace(joint, limits=replace(joint.limits, **held[joint.name])) if held.get(joint.name) else joint
        for joint in robot.joints
    ]
    return replace(robot, joints=tuple(joints))


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


_ROS = {"velocity": "velocity", "acceleration": "acceleration", "jerk": "jerk", "effort": "torque"}
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
