"""Joints as simulators want them: limits stated, axes of length one, rounded numbers written as meant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.robot.repair.edits import Edits
from steelyard.robot.repair.source import Node
from steelyard.robot.rounding import Rounding, meant_axis, meant_placement, quarter_turns
from steelyard.robot.urdf.writer import UNBOUNDED

_ZERO = (0.0, 0.0, 0.0)
_PARTS = {"x": 0, "y": 1, "z": 2, "roll": 0, "pitch": 1, "yaw": 2}


def repair_joint(joint: Node, edits: Edits) -> None:
    """Repair one joint.

    Args:
        joint: the `<joint>`.
        edits: where the changes go.

    Raises:
        DescriptionError: a number cannot be read.
    """
    name, kind = joint.text("name"), joint.text("type")
    if kind in ("revolute", "continuous", "prismatic"):
        _repair_limits(joint, name, kind, edits)
    _repair_origin(joint, name, edits)
    if kind != "fixed":
        _repair_axis(joint, name, edits)


def _repair_limits(joint: Node, name: str, kind: str, edits: Edits) -> None:
    limit = joint.node("limit")
    if limit is not None:
        missing = [key for key in ("velocity", "effort") if key not in limit.attributes]
        if missing:
            what = f"the {' and '.join(missing)} limit of joint '{name}'"
            reason = f"a limit must be stated; {UNBOUNDED} stands for none"
            edits.set(limit, dict.fromkeys(missing, UNBOUNDED), what, reason)
    elif kind == "revolute":
        reason = "a revolute joint must state limits; one without them is continuous"
        edits.set(joint, {"type": "continuous"}, f"the type of joint '{name}'", reason)
    elif kind == "prismatic":
        stated = " ".join(f'{key}="{UNBOUNDED}"' for key in ("upper", "velocity", "effort"))
        reason = f"a prismatic joint must state limits; {UNBOUNDED} stands for none"
        edits.add(joint, f'<limit lower="-{UNBOUNDED}" {stated}/>', f"the limits of joint '{name}'", reason)


def _repair_origin(joint: Node, name: str, edits: Edits) -> None:
    origin = joint.node("origin")
    if origin is None:
        return
    origin.vector("xyz", _ZERO)
    origin.vector("rpy", _ZERO)
    xyz, rpy = origin.words("xyz", "0 0 0"), origin.words("rpy", "0 0 0")
    _, roundings = meant_placement(xyz, rpy, origin.place)
    for attribute, words, code in (("xyz", xyz, "rounded-offset"), ("rpy", rpy, "rounded-angle")):
        found = [rounding for rounding in roundings if rounding.code == code]
        if found:
            reason = "; ".join(str(rounding) for rounding in found)
            values = {attribute: " ".join(_meant(words, found))}
            edits.set(origin, values, f"the origin of joint '{name}'", reason)


def _meant(words: Sequence[str], roundings: Sequence[Rounding]) -> list[str]:
    exact = list(words)
    for rounding in roundings:
        turns = quarter_turns(rounding.literal) if rounding.unit == "rad" else 0
        exact[_PARTS[rounding.part]] = repr(turns * math.pi / 2) if turns else "0"
    return exact


def _repair_axis(joint: Node, name: str, edits: Edits) -> None:
    axis = joint.node("axis")
    if axis is None or "xyz" not in axis.attributes:
        return
    stated = np.array(axis.vector("xyz", _ZERO))
    length = float(np.linalg.norm(stated))
    if length < 1e-6:
        raise DescriptionError(f"the axis of joint '{name}' has no direction.", place=axis.place)
    literal = " ".join(axis.words("xyz", ""))
    meant, roundings = meant_axis(stated / length, literal, axis.place)
    if not roundings and abs(length - 1.0) <= 1e-6:
        return
    reason = str(roundings[0]) if roundings else f"its length is {length:.6g}"
    written = " ".join(repr(float(x)) for x in meant)
    edits.set(axis, {"xyz": written}, f"the axis of joint '{name}'", reason)
