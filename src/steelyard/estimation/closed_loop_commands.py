r"""A controller beside the log it is said to have made: its commands, computed again from what it saw.

A law is a function of readings and references, so a log has its commands although it need not state them. The
torques of the log are those commands some cycles later: none where commands were logged, one or more where a
meter shows what acts. Torques that are no delayed commands were made by another law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.control import Controller
from steelyard.errors import RecordingError
from steelyard.estimation.closed_loop_run import block_means
from steelyard.estimation.loop_delay import LONGEST, replayed_commands
from steelyard.recording import Recording
from steelyard.signals import uniform_interval


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
        for name in ("unexplained", "commands"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

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
