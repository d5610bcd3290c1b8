r"""How late a control loop's torques are: by experiments on its joints, or by its own commands.

Dead times of joint models are from a reading to the arrival of the torque that answers it, holding apart, and
so what a simulated closed loop calls its delay. One bus serves all joints, so their dead times have one mean.

A log of a closed loop tells less: feedback answers to the encoders' noise, and a regression of torques on the
motion takes that for lateness. But where the controller is known its commands can be computed again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control import Controller, command
from steelyard.errors import InputError, RecordingError
from steelyard.estimation.first_order import FirstOrderFit
from steelyard.recording import Recording

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
