"""What an experiment on one joint leaves: its commands, and the encoder's differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.control import COMMAND_COLUMN
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import uniform_interval

_SAME = 1e-6
"""Relative difference of intervals that count as equal."""


@dataclass(frozen=True, eq=False)
class JointTrace:
    r"""One joint along one experiment, cycle by cycle.

    Attributes:
        joint: its name.
        interval: length of a cycle h, s.
        command: what was commanded at the beginning of each cycle and held for one, shape (N,), N·m or N.
        position: the encoder at the beginning of each cycle and at the end of the last, shape (N + 1,), rad
            or m.
    """

    joint: str
    interval: float
    command: Array
    position: Array

    def __post_init__(self) -> None:
        u = checked("command", self.command, ("N",))
        q = checked("position", self.position, (len(u) + 1,))
        object.__setattr__(self, "command", read_only(u))
        object.__setattr__(self, "position", read_only(q))

    @property
    def n(self) -> int:
        """Number of cycles N."""
        return len(self.command)

    @property
    def velocity(self) -> Array:
        """Mean velocity of each cycle by the encoder's difference, shape (N,), rad/s or m/s."""
        return np.asarray(np.diff(self.position) / self.interval)

    @property
    def displacement(self) -> Array:
        """Mean position of each cycle against the start, shape (N,), rad or m."""
        return np.asarray(0.5 * (self.position[1:] + self.position[:-1]) - self.position[0])


def excited_joint(recording: Recording) -> str:
    """The joint that an experiment was made on: the one whose commands were logged.

    Args:
        recording: a log with the extra column `command_` and the name of a joint.

    Returns:
        Name of the joint.

    Raises:
        RecordingError: there is no such column, or more than one.
    """
    commanded = [joint for joint in recording.joints if COMMAND_COLUMN + joint in recording.extra]
    if len(commanded) != 1:
        raise RecordingError(
            f"holds commands of {len(commanded)} joints; an experiment has those of one.",
            place="recording",
            remedy=f"Log what was commanded, N·m or N, in the column {COMMAND_COLUMN}NAME of that joint.",
        )
    return commanded[0]


def joint_trace(recording: Recording) -> JointTrace:
    """The excited joint of an experiment.

    Args:
        recording: a uniform log of it, one row for each cycle, see `excited_joint`.

    Returns:
        The trace.

    Raises:
        RecordingError: the log is not uniform, or not of one experiment.
    """
    joint = excited_joint(recording)
    u, q = recording.extra[COMMAND_COLUMN + joint], recording.q[:, recording.joints.index(joint)]
    # Stamps are decimal numbers; what their differences have beyond ten digits is rounding.
    return JointTrace(joint, float(f"{uniform_interval(recording):.10g}"), u[:-1], q)


def common_interval(traces: Sequence[JointTrace]) -> float:
    """The cycle of experiments on one joint.

    Args:
        traces: the experiments.

    Returns:
        Length of a cycle, s.

    Raises:
        InputError: there are none, they are of different joints, or their cycles differ.
    """
    if not traces:
        raise InputError("none is given.", place="traces")
    if len({trace.joint for trace in traces}) > 1:
        raise InputError(
            f"are of different joints: {', '.join(sorted({trace.joint for trace in traces}))}.",
            place="traces",
        )
    h = traces[0].interval
    for trace in traces:
        if abs(trace.interval - h) > _SAME * h:
            raise InputError(f"have cycles of {h:g} s and of {trace.interval:g} s.", place="traces")
    return h
