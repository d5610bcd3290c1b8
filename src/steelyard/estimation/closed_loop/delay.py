"""How late a control loop's torques are: by experiments, by its own meter, by its commands computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_read_only
from steelyard.control import Controller, control_command
from steelyard.errors import InputError, RecordingError
from steelyard.estimation.closed_loop.run import block_means
from steelyard.estimation.first_order import FirstOrderFit
from steelyard.recording import Recording
from steelyard.signals import uniform_interval

# How late a control loop's torques are: by experiments on its joints, or by its own commands.
#
# Dead times of joint models are from a reading to the arrival of the torque that answers it, holding apart,
# and so what a simulated closed loop calls its delay. One bus serves all joints, so their dead times have one
# mean.
#
# A log of a closed loop tells less: feedback answers to the encoders' noise, and a regression of torques on
# the motion takes that for lateness. But where the controller is known its commands can be computed again.

LONGEST = 0.02
"""Longest delay of a meter that is looked for, s."""


@dataclass(frozen=True)
class LoopDelay:
    """From a reading to the arrival of the torque that answers it.

    Attributes:
        seconds: the delay, s.
        deviation: its standard deviation, s.
    """

    seconds: float
    deviation: float


def common_dead_time(fits: Sequence[FirstOrderFit]) -> LoopDelay:
    """Mean of the dead times of some joints, each weighed by its variance.

    Where they scatter more than their variances say, because a joint is no lag of first order, the deviation
    grows with the scatter.

    Args:
        fits: joint models.

    Raises:
        InputError: there are none.
    """
    if not fits:
        raise InputError("no joint model is given.", place="fits")
    seconds = np.array([fit.model.dead_time for fit in fits])
    weights = 1.0 / np.array([max(fit.covariance[2, 2], (1e-9) ** 2) for fit in fits])
    mean = float(weights @ seconds / weights.sum())
    spare = max(len(fits) - 1, 1)
    scatter = max(float(weights @ (seconds - mean) ** 2) / spare, 1.0)
    return LoopDelay(mean, math.sqrt(scatter / weights.sum()))


def replayed_commands(controller: Controller, recording: Recording, limits: ArrayLike | None = None) -> Array:
    """What a controller commanded, computed again from what it saw.

    Args:
        controller: the law, which starts with the first row.
        recording: a log with one row for each of its cycles: q, v and the references.
        limits: largest torques, to which commands were clipped, shape (nv,), N·m or N; None for none.

    Returns:
        The command of every row, shape (N, nv), N·m or N.

    Raises:
        RecordingError: a channel was not recorded.
        InputError: the log is of other joints.
    """
    if recording.joints != controller.joints:
        raise InputError(
            f"is of the joints {list(recording.joints)}, but the controller's are {list(controller.joints)}.",
            place="recording",
        )
    channels = recording.channels
    for name in ("v", "q_ref", "v_ref", "a_ref"):
        if name not in channels:
            raise RecordingError(f"has no {name}, which the controller saw.", place="recording")
    memory = np.array(controller.memory)
    rows = zip(*(channels[name] for name in ("q", "v", "q_ref", "v_ref", "a_ref")), strict=True)
    commands = np.array([control_command(controller, memory, *row) for row in rows])
    if limits is None:
        return commands
    most = checked("limits", limits, (len(controller.joints),))
    return np.asarray(np.clip(commands, -most, most))


# A controller beside the log it is said to have made: its commands, computed again from what it saw.
#
# A law is a function of readings and references, so a log has its commands although it need not state them.
# The torques of the log are those commands some cycles later: none where commands were logged, one or more
# where a meter shows what acts. Torques that are no delayed commands were made by another law.


@dataclass(frozen=True, eq=False)
class CommandMatch:
    """How the torques of a log follow from a controller.

    Attributes:
        cycles: how many cycles after a command the log shows it.
        unexplained: rms of what the commands leave of the torques' means over blocks, constants aside, over
            the rms of these means, shape (nv,), dimensionless.
        commands: what the controller commanded in every row, shape (N, nv), N·m or N.
    """

    cycles: int
    unexplained: Array
    commands: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "unexplained", "commands")

    def aligned(self, recording: Recording) -> Recording:
        """The log with each torque in the row of its command; the last rows, whose commands are not seen, go.

        Args:
            recording: the log that was compared.

        Returns:
            The recording, as long as torques are known.
        """
        if self.cycles == 0 or recording.tau is None:
            return recording
        kept = recording.rows(slice(0, recording.n - self.cycles))
        return kept.revised("torques of commands", {"cycles": self.cycles}, tau=recording.tau[self.cycles :])


def command_match(controller: Controller, recording: Recording, average: int) -> CommandMatch:
    """Compute a controller's commands again, and find them in the torques of the log.

    Noise of the meter does not count: what is left is judged in means over blocks, as a refinement does, and
    an offset of the meter is no sign of another law.

    Args:
        controller: the law, which starts with the first row.
        recording: a uniform log with one row for each cycle: q, tau and the references. Where it has no
            velocities the law sees differences of positions.
        average: cycles in a block.

    Returns:
        The match, with the delay that leaves the least.

    Raises:
        RecordingError: a channel was not recorded.
        InputError: the log is of other joints, or shorter than a block.
    """
    if recording.tau is None:
        raise RecordingError("has no torques.", place="recording")
    h = uniform_interval(recording)
    if recording.v is None:
        recording = recording.with_channels(v=np.diff(recording.q, axis=0, prepend=recording.q[:1]) / h)
    u, tau = replayed_commands(controller, recording), recording.channels["tau"]
    most = min(math.ceil(LONGEST / h), recording.n // 4)
    rows = recording.n - most

    def left(cycles: int) -> Array:
        """What the torques so many cycles later leave of the same commands, whatever the delay."""
        rest = tau[cycles : cycles + rows] - u[:rows]
        return np.asarray(rest - rest.mean(axis=0))

    size = np.maximum(_rms(tau), np.finfo(float).tiny)
    cycles = min(range(most + 1), key=lambda n: float(((left(n) / size) ** 2).sum()))
    shown = np.maximum(_rms(block_means(tau, average)), np.finfo(float).tiny)
    return CommandMatch(cycles, _rms(block_means(left(cycles), average)) / shown, u)


def _rms(signal: Array) -> Array:
    return np.asarray(np.sqrt((signal**2).mean(axis=0)))
