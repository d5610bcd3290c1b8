"""Controller files: TOML with the law and its gains."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from steelyard.control.computed_torque import ComputedTorque
from steelyard.control.controller import Controller
from steelyard.control.pd import PD
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot

_LAWS = (PD.law, ComputedTorque.law)
_KEYS = ("law", "kp", "kd")


def read_controller(path: Path | str, robot: Robot) -> Controller:
    """Read a controller file.

    It holds `law = "pd"` or `law = "computed-torque"`, and the gains `kp` and `kd`, each one number for all
    joints or a list with one per joint. Their units are those of the law: N·m/rad and N·m·s/rad (N/m and
    N·s/m) for `pd`, 1/s² and 1/s for `computed-torque`, whose model is the robot's description.

    Args:
        path: the file.
        robot: the robot to command.

    Returns:
        The controller.

    Raises:
        InputError: the file cannot be read, or a key is missing, unknown or of the wrong kind.
    """
    path = Path(path)
    content = _toml(path)
    for key in content:
        if key not in _KEYS:
            raise UnknownNameError("key", key, _KEYS, place=str(path))
    if missing := [key for key in _KEYS if key not in content]:
        raise InputError(f"lacks the keys {', '.join(missing)}.", place=str(path))
    law = content["law"]
    if law not in _LAWS:
        raise UnknownNameError("law", str(law), _LAWS, place=str(path))
    kp, kd = (_numbers(content[key], f"{path}: {key}") for key in ("kp", "kd"))
    try:
        return PD(robot, kp, kd) if law == PD.law else ComputedTorque.nominal(robot, kp, kd)
    except InputError as error:
        if error.place not in _KEYS:
            raise
        raise InputError(error.message, place=f"{path}: {error.place}", remedy=error.remedy) from error


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", place=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text in UTF-8.", place=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}.", place=str(path)) from error


def _numbers(value: object, place: str) -> np.ndarray:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            raise InputError(f"expected a number or a list of numbers, got {value!r}.", place=place)
    return np.asarray(value, dtype=float)
