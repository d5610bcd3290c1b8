"""Controller files: TOML with the law, its gains, and the loop it runs in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.control.adaptive_payload import AdaptivePayload
from steelyard.control.admittance import Admittance
from steelyard.control.computed_torque import AdaptiveRobust, ComputedTorque
from steelyard.control.controller import Controller, positive_number
from steelyard.control.pd import PD, FeedforwardPD, GravityPID
from steelyard.control.robust_tracking import RobustTracking
from steelyard.document import kind_of, parse_toml, read_text
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.robot import Robot

# The keys of a law are the arguments of its constructor; a law with a model takes the description for it.
_LAWS: Mapping[str, Callable[..., Controller]] = {
    PD.law: PD,
    FeedforwardPD.law: FeedforwardPD,
    GravityPID.law: GravityPID.nominal,
    ComputedTorque.law: ComputedTorque.nominal,
    Admittance.law: Admittance.nominal,
    RobustTracking.law: RobustTracking.nominal,
    AdaptivePayload.law: AdaptivePayload.nominal,
    AdaptiveRobust.law: AdaptiveRobust.nominal,
}
MOST_BYTES = 1 << 20
"""Longest file that is read."""
_TEXT = ("tool", "form")
_TEXTS = ("components",)


@dataclass(frozen=True)
class LoopSettings:
    """A controller and the timing of the loop it runs in.

    Attributes:
        controller: the law.
        delay: from the measurement to the arrival of its torque at the joints, s.
    """

    controller: Controller
    delay: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delay", positive_number("delay", self.delay, "s", zero=True))

    @property
    def cycle(self) -> float | None:
        """Length of the control cycle, s; None where neither file nor law demands one."""
        return self.controller.cycle

    @classmethod
    def read(cls, path: FilePath, robot: Robot) -> LoopSettings:
        """Read a controller file with the timing of its loop.

        `law` names the law. Its own keys are below, with their units at a revolute joint; at a prismatic one
        N stands for N·m and m for rad. A gain per joint is one number for all joints or a list with one each,
        a list of six has one per direction of the tool, its axes first. Keys in brackets may be left out.

        - `pd`: `kp` N·m/rad, `kd` N·m·s/rad.
        - `ff-pd`: `inertia` kg·m², `viscous` N·m·s/rad, `kp` 1/s², `kv` 1/s, [`filter` s].
        - `gravity-pid`: `kp` N·m/rad, `ki` N·m/(rad·s), `kd` N·m·s/rad, `integral_limit` N·m.
        - `computed-torque`: `kp` 1/s², `kd` 1/s.
        - `admittance`: `kp` 1/s², `kd` 1/s, `observer` 1/s, `mass` (six, kg and kg·m²), `damping` (six, N·s/m
          and N·m·s/rad), [`threshold` (six, N and N·m)], [`tool`, name of a link], [`components`, list of x,
          y, z, rx, ry, rz], [`inverse_damping` m or rad per rad].
        - `robust`: `spread` (half-width of every parameter as a part of it), `kr` 1/s, `level` J,
          `smallest_inertia` kg·m², [`payload` (ten half-widths that it adds to the last link)], [`form`,
          armour, clamped or componentwise], `alpha` 1/s for the first two forms, `kappa` N·m·s/rad for the
          third, `largest_inertia` kg·m² for the first, [`rest_velocity` rad/s].
        - `adaptive`: `kr` 1/s, `kd` N·m·s/rad, `adaptation` (ten), [`lower` and `upper` (ten each, kg, kg·m
          and kg·m²)].
        - `adaptive-robust`: `kp` 1/s², `kd` 1/s, `adaptation`, `layer`.

        `cycle`, the length of the control cycle in s, is part of `ff-pd`, `gravity-pid`, `admittance`,
        `adaptive` and `adaptive-robust`, which filter or integrate, and may be stated for the others.
        `delay`, in s and zero unless stated, may be given with every law. The model of all but the first two
        laws is the robot's description.

        Args:
            path: the file.
            robot: the robot to command.

        Returns:
            The controller, which knows its cycle, and the delay.

        Raises:
            InputError: the file cannot be read, or a key is missing, unknown or of the wrong kind.
        """
        path = Path(path)
        return cls.of(parse_toml(read_text(path, most=MOST_BYTES), place=str(path)), robot, str(path))

    @classmethod
    def of(cls, content: Mapping[str, object], robot: Robot, place: str = "controller") -> LoopSettings:
        """The controller that the keys of a file describe, see `LoopSettings.read`.

        Args:
            content: keys and values.
            robot: the robot to command.
            place: what to call the source in messages.

        Returns:
            The controller, which knows its cycle, and the delay.

        Raises:
            InputError: a key is missing, unknown or of the wrong kind.
        """
        if "law" not in content:
            raise InputError(f"lacks the key law, one of {', '.join(_LAWS)}.", place=place)
        law = str(content["law"])
        if law not in _LAWS:
            raise UnknownNameError("law", law, _LAWS, place=place)
        build = _LAWS[law]
        arguments = {
            name: item for name, item in inspect.signature(build).parameters.items() if name != "robot"
        }
        keys = ("law", *arguments, "delay")
        for key in content:
            if key not in keys:
                raise UnknownNameError("key", key, keys, place=place)
        needed = [name for name, item in arguments.items() if item.default is inspect.Parameter.empty]
        if missing := [key for key in needed if key not in content]:
            raise InputError(f"lacks the keys {', '.join(missing)}.", place=place)
        values = {key: _value(key, item, f"{place}: {key}") for key, item in content.items() if key != "law"}
        delay = values.pop("delay", np.zeros(()))
        try:
            settings = cls(build(robot, **values), delay)
        except InputError as error:
            if error.place not in keys:
                raise
            raise InputError(error.message, place=f"{place}: {error.place}", remedy=error.remedy) from error
        return settings


def read_controller(path: FilePath, robot: Robot) -> Controller:
    """Read the law of a controller file, see `LoopSettings.read`.

    Args:
        path: the file; it may not state a delay, which is no part of a law and would be lost.
        robot: the robot to command.

    Raises:
        InputError: the file cannot be read, a key is missing, unknown or of the wrong kind, or it states a
            delay.
    """
    loop = LoopSettings.read(path, robot)
    if loop.delay > 0.0:
        raise InputError(
            f"states a delay of {loop.delay:g} s, which cannot be simulated here.",
            place=f"{path}: delay",
            remedy="Leave it out of the file.",
        )
    return loop.controller


def _value(key: str, value: object, place: str) -> Any:
    items = value if isinstance(value, list) else [value]
    if key in _TEXT or key in _TEXTS:
        if isinstance(value, list) is (key in _TEXT) or not all(isinstance(item, str) for item in items):
            wanted = "a text" if key in _TEXT else "a list of texts"
            raise InputError(f"expected {wanted}, got {kind_of(value)}.", place=place)
        return value
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            raise InputError(f"expected a number or a list of numbers, got {kind_of(item)}.", place=place)
    try:
        return np.asarray(value, dtype=float)
    except OverflowError as error:
        raise InputError("holds an integer too large for a number.", place=place) from error


# Controller files, written: the counterpart of `LoopSettings.read`.


def controller_text(controller: FeedforwardPD, remarks: Sequence[str] = ()) -> str:
    """A law as the text of a controller file, exact to the last bit.

    Args:
        controller: the law.
        remarks: lines of comment to begin with.

    Returns:
        TOML.
    """
    lines = [f"# {' '.join(remark.split())}" for remark in remarks]
    for name, value in controller.settings.items():
        if isinstance(value, list):
            text = "[" + ", ".join(repr(float(x)) for x in value) + "]"
        else:
            text = f'"{value}"' if isinstance(value, str) else repr(value)
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"
