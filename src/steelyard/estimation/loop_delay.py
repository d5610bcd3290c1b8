r"""How late a control loop's torques are: by experiments on its joints, or by its own meter.

Dead times of joint models are from a reading to the arrival of the torque that answers it, holding apart, and
so what a simulated closed loop calls its delay. One bus serves all joints, so their dead times have one mean.

A log of a closed loop tells less: feedback answers to the encoders' noise, and a regression of torques on the
motion takes that for lateness. But where the controller is known its commands can be computed again, and the
drives' meter shows when they act, to within a cycle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control import Controller, command
from steelyard.errors import InputError, NoSolutionError, RecordingError
from steelyard.estimation.first_order import FirstOrderFit
from steelyard.recording import Recording
from steelyard.signals import uniform_interval

LONGEST = 0.02
"""Longest delay of a meter that is looked for, s."""
_EXPLAINED = 0.25
"""Share of a command's changes from cycle to cycle that the meter may be off by, as root mean squares."""


@dataclass(frozen=True)
class LoopDelay:
    """From a reading to the arrival of the torque that answers it.

    Attributes:
        seconds: the delay, s.
        deviation: its standard deviation, s.
    """

    seconds: float
    deviation: float


@dataclass(frozen=True)
class MeterDelay:
    """What a meter that is read once per cycle says about the delay.

    Attributes:
        cycles: how many cycles later, on average, the meter shows a command, dimensionless.
        earliest: the delay is longer than this, s.
        latest: and not longer than this, s.
    """

    cycles: float
    earliest: float
    latest: float


def common_dead_time(fits: Sequence[FirstOrderFit]) -> LoopDelay:
    """Mean of the dead times of some joints, each weighed by its variance.

    Where they scatter more than their variances say, because a joint is no lag of first order, the deviation
    grows with the scatter.

    Args:
        fits: joint models.

    Returns:
        The delay.

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
    commands = np.array([command(controller, memory, *row) for row in rows])
    if limits is None:
        return commands
    most = checked("limits", limits, (len(controller.joints),))
    return np.asarray(np.clip(commands, -most, most))


def meter_delay(recording: Recording, commands: ArrayLike) -> MeterDelay:
    r"""Find how many cycles after a command the meter shows it.

    With n cycles, a command acts at the n-th reading after its own but not at the one before, so the delay is
    more than n - 1 and not more than n cycles. Jitter about a reading mixes two n, and the mean is given.

    Args:
        recording: a uniform log with tau, one row for each cycle.
        commands: what was commanded in every row, shape (N, nv), N·m or N.

    Returns:
        The bracket.

    Raises:
        RecordingError: there are no torques.
        NoSolutionError: the meter does not show the commands, whatever the delay.
    """
    if recording.tau is None:
        raise RecordingError("has no torques.", place="recording")
    u = checked("commands", commands, recording.tau.shape)
    h = uniform_interval(recording)
    most = min(math.ceil(LONGEST / h), recording.n // 4)
    tau = recording.tau[most + 1 :]

    def late(n: int) -> Array:
        return np.asarray(u[most + 1 - n : len(u) - n])

    # Where jitter mixes two delays, they are neighbours.
    n = min(range(most + 1), key=lambda n: float(((tau - late(n)) ** 2).sum()))
    shares = {n: 0.0}
    for other in (n - 1, n + 1):
        if 0 <= other <= most:
            step = late(other) - late(n)
            size = float((step**2).sum())
            shares[other] = float(((tau - late(n)) * step).sum()) / size if size > 0.0 else 0.0
    other = max(shares, key=lambda k: shares[k])
    share = min(max(shares[other], 0.0), 1.0)
    nearest = np.minimum(np.abs(tau - late(n)), np.abs(tau - late(other)))
    left, changes = (np.sqrt(np.mean(x**2, axis=0)) for x in (nearest, np.diff(u, axis=0)))
    j = int(np.argmax(left - _EXPLAINED * changes))
    if left[j] > _EXPLAINED * changes[j]:
        raise NoSolutionError(
            f"the meter of joint '{recording.joints[j]}' does not follow the commands: {left[j]:.3g} N·m are "
            f"left, and commands change by {changes[j]:.3g} N·m from cycle to cycle.",
            place="recording",
            remedy="Check that the log has every cycle, and that this controller made it.",
        )
    cycles = (1.0 - share) * n + share * other
    return MeterDelay(cycles, max(cycles - 1.0, 0.0) * h, cycles * h)
