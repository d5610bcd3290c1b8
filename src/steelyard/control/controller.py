"""What a controller is: gains, a memory and one compiled step; and what the laws for an arm share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest, to_document
from steelyard.arrays import Array, checked, read_only, read_only_view
from steelyard.drive import DRIVE_TERMS, FRICTION_TERMS, StribeckShape
from steelyard.dynamics.batch import DRIVE_NUMBERS, Numbers
from steelyard.dynamics.batch import numbers as split_numbers
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot

# The controller: one signature for every law

ControlStep = Callable[[Tree, Numbers, Array, Array, Array, Array, Array, Array, Array, Array], None]
"""`step(tree, numbers, gains, memory, q, v, q_ref, v_ref, a_ref, tau)`: updates memory, writes tau."""


class Controller(Protocol):
    """Torques from the measured state and the reference, once per control cycle.

    `step` is compiled. A rollout calls it with `tree`, `numbers`, `gains` and its own copy of `memory`; the
    six joint-space vectors have shape (nv,), SI, and everything but `memory` and `tau` is read-only.
    """

    @property
    def law(self) -> str:
        """Name of the law in controller files."""
        ...

    @property
    def linear(self) -> bool:
        """Whether torque and memory are linear in state and reference, with slopes that never change."""
        ...

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it commands."""
        ...

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        ...

    @property
    def cycle(self) -> float | None:
        """Length of the control cycle the law is made for, s; None where any will do."""
        ...

    @property
    def tree(self) -> Tree:
        """The arm as the law's model sees it."""
        ...

    @property
    def numbers(self) -> Numbers:
        """The model's parameters; zeros for a law without a model."""
        ...

    @property
    def gains(self) -> Array:
        """The law's gains, one row per kind, shape (rows, nv), SI.

        Numbers that belong to no joint follow in further rows, filled up with zeros.
        """
        ...

    @property
    def memory(self) -> Array:
        """The law's state before the first cycle, shape (m,), SI; empty for a law without one."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """Law, gains and the model's digest as plain values, for a recording's history."""
        ...

    def torque(
        self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike, a_ref: ArrayLike
    ) -> Array:
        """The torque of its first cycle.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
            q_ref: reference positions, shape (nv,), rad or m.
            v_ref: reference velocities, shape (nv,), rad/s or m/s.
            a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

        Returns:
            Joint torques, shape (nv,), N·m or N.
        """
        ...


def control_command(
    controller: Controller,
    memory: Array,
    q: ArrayLike,
    v: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
) -> Array:
    """Run one control cycle.

    Args:
        controller: the controller.
        memory: its state, updated in place, shape (m,), SI; begin with a copy of `controller.memory`.
        q: joint positions, shape (nv,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        q_ref: reference positions, shape (nv,), rad or m.
        v_ref: reference velocities, shape (nv,), rad/s or m/s.
        a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

    Returns:
        Joint torques, shape (nv,), N·m or N.
    """
    nv = controller.gains.shape[1]
    given = {"q": q, "v": v, "q_ref": q_ref, "v_ref": v_ref, "a_ref": a_ref}
    at, rate, at_ref, rate_ref, acceleration_ref = (
        read_only_view(checked(name, value, (nv,))) for name, value in given.items()
    )
    tau = np.empty(nv)
    model = (controller.tree, controller.numbers, controller.gains)
    controller.step(*model, memory, at, rate, at_ref, rate_ref, acceleration_ref, tau)
    return tau


# What the laws share: an arm on a fixed base, checked gains, and for some a model of the arm.

_MODEL = ("robot", "layout", "parameters")


@dataclass(frozen=True, eq=False)
class ArmLaw(ABC):
    """A law with gains per joint and no model; a subclass adds its gains as fields, its step and its memory.

    Attributes:
        robot: the robot it commands.
        cycle: length of the control cycle it is made for, s; None where any will do.
    """

    robot: Robot
    cycle: float | None = field(default=None, kw_only=True)

    law: ClassVar[str]
    joint_gains: ClassVar[tuple[str, ...]]
    linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in self.joint_gains:
            self._keep(name, joint_gain(self.robot, name, getattr(self, name)))
        if self.cycle is not None:
            self._keep("cycle", positive_number("cycle", self.cycle, "s"))

    def _keep(self, name: str, value: object) -> None:
        """Replace a field by its checked form, which only `__post_init__` may."""
        object.__setattr__(self, name, value)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it commands."""
        return self.robot.joint_names

    @property
    @abstractmethod
    def step(self) -> ControlStep:
        """The compiled law."""

    @property
    def tree(self) -> Tree:
        """The arm."""
        return tree_of(self.robot)

    @cached_property
    def numbers(self) -> Numbers:
        """Zeros: the law has no model."""
        nv = self.robot.nv
        return Numbers(read_only(np.zeros((nv, 10))), read_only(np.zeros((nv, DRIVE_NUMBERS))))

    @cached_property
    def gains(self) -> Array:
        """The gains of `joint_gains` in their order, shape (rows, nv), SI."""
        return read_only(np.stack([getattr(self, name) for name in self.joint_gains]))

    @property
    def memory(self) -> Array:
        """Nothing to remember, shape (0,), SI."""
        return read_only(np.empty(0))

    @property
    def settings(self) -> Mapping[str, object]:
        """Law and gains as plain values."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        own = {name: value for name, value in own.items() if name not in _MODEL and value is not None}
        return {"law": self.law, **{name: to_document(value) for name, value in own.items()}}

    def torque(
        self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike, a_ref: ArrayLike
    ) -> Array:
        """The torque of its first cycle; of every cycle, where the law has no memory.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
            q_ref: reference positions, shape (nv,), rad or m.
            v_ref: reference velocities, shape (nv,), rad/s or m/s.
            a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

        Returns:
            Joint torques, shape (nv,), N·m or N.
        """
        return control_command(self, np.array(self.memory), q, v, q_ref, v_ref, a_ref)


@dataclass(frozen=True, eq=False)
class ModelLaw(ArmLaw):
    """A law that computes with a model of the arm, which may differ from the description.

    Attributes:
        robot: the robot it commands.
        layout: the order of the model's parameters.
        parameters: phi of the model, shape (p,), SI.
        cycle: length of the control cycle it is made for, s; None where any will do.
    """

    layout: Layout
    parameters: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        split_numbers(self.robot, self.layout, self.parameters)
        self._keep("parameters", read_only(np.asarray(self.parameters, dtype=float)))

    @cached_property
    def numbers(self) -> Numbers:
        """The parameters of the model."""
        return split_numbers(self.robot, self.layout, self.parameters)

    @property
    def settings(self) -> Mapping[str, object]:
        """Law, gains and digest of the model as plain values."""
        shapes = [self.layout.stribeck] if self.layout.stribeck else []
        model = digest([self.robot.digest, self.layout.names, self.parameters, *shapes])
        return {**super().settings, "model": model}


def described_model(robot: Robot) -> tuple[Layout, Array]:
    """The model that the robot's description states; unstated drive terms count as absent.

    Returns:
        The layout with the linear drive and what else of friction a joint states, and phi, shape (p,), SI.

    Raises:
        DescriptionError: a link states no inertial.
    """
    drives = {joint.name: joint.drive for joint in robot.joints if joint.kind.nv == 1}
    stated = [term for term in FRICTION_TERMS if any(drive.value(term.name) for drive in drives.values())]
    terms = [term.name for term in (*DRIVE_TERMS, *stated)]
    if "stribeck" not in terms:
        layout = layout_of(robot, terms)
    else:
        # Joints without Stribeck friction have a coefficient of zero, so their shape does not matter.
        none = StribeckShape(1.0, 1.0)
        layout = layout_of(
            robot, terms, stribeck={name: drive.stribeck_shape or none for name, drive in drives.items()}
        )
    return layout, layout.complete_nominal()


def joint_gain(robot: Robot, name: str, value: ArrayLike) -> Array:
    """One gain for every joint, checked.

    Args:
        robot: the robot.
        name: what to call it in the message.
        value: one gain for all joints, or one per joint, shape () or (nv,), SI.

    Returns:
        The gains, shape (nv,), SI, read-only.

    Raises:
        InputError: a gain is negative or not finite, their number is wrong, or the robot floats.
    """
    robot.require_arm()
    raw = np.asarray(value)
    gain = checked(name, raw, () if raw.ndim == 0 else (robot.nv,))
    gain = np.broadcast_to(gain, (robot.nv,))
    if (gain < 0).any():
        j = int(np.argmax(gain < 0))
        raise InputError(
            f"must not be negative, got {gain[j]:g} at joint '{robot.joint_names[j]}'.",
            place=name,
            remedy="A negative gain drives the joint away from its reference.",
        )
    return read_only(gain)


def positive_number(name: str, value: float, unit: str, *, zero: bool = False) -> float:
    """One number of a law or its loop, checked.

    Args:
        name: what to call it in the message.
        value: the number.
        unit: its unit, for the message.
        zero: whether zero is allowed.

    Raises:
        InputError: it is negative, zero where that is not allowed, or not finite.
    """
    number = float(checked(name, value, ()))
    if number < 0.0 or (number == 0.0 and not zero):
        wanted = "not be negative" if zero else "be positive"
        raise InputError(f"must {wanted}, got {number:g} {unit}.", place=name)
    return number
