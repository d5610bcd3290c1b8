"""What the page of joint models shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.arrays import Array, checked, read_only
from steelyard.control import ComplexArray


@dataclass(frozen=True)
class Quantity:
    """A number of a joint with its interval.

    Attributes:
        name: what it is called.
        value: the number; None where there is none.
        half_width: of its 95 % interval, infinite where it is not known.
        unit: of both.
    """

    name: str
    value: float | None
    half_width: float
    unit: str


@dataclass(frozen=True, eq=False)
class JointModelEntry:
    """One joint: its numbers, one experiment, and its frequency responses.

    Attributes:
        joint: name of the joint.
        model: numbers of the model.
        controller: numbers of the feedback designed for it.
        experiment: what the experiment was, in a few words.
        time: shape (N,), s.
        command: torque, shape (N,), N·m or N.
        measured: velocity by the encoder, averaged for the eye, shape (N,), rad/s or m/s.
        predicted: velocity by the model, averaged alike, shape (N,), rad/s or m/s.
        velocity_unit: of both velocities.
        torque_unit: of the command.
        frequency: of the responses, shape (n,), Hz.
        responses: by name, from commanded torque to velocity, each shape (n,), velocity_unit per torque_unit.
        remarks: what a reader should know.
    """

    joint: str
    model: tuple[Quantity, ...]
    controller: tuple[Quantity, ...]
    experiment: str
    time: Array
    command: Array
    measured: Array
    predicted: Array
    velocity_unit: str
    torque_unit: str
    frequency: Array
    responses: Mapping[str, ComplexArray]
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        for name in ("time", "command", "measured", "predicted"):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), (n,))))
        object.__setattr__(self, "frequency", read_only(checked("frequency", self.frequency, ("n",))))


@dataclass(frozen=True, eq=False)
class JointModelContent:
    """All joints of a robot.

    Attributes:
        robot: its name.
        source: where the experiments come from, in a sentence.
        delay: from a reading to the arrival of its torque, of all joints.
        cycle: length of a control cycle, s.
        least_margin: phase margin that was asked for, degrees.
        entries: the joints.
    """

    robot: str
    source: str
    delay: Quantity
    cycle: float
    least_margin: float
    entries: tuple[JointModelEntry, ...]
