"""How sure a predicted torque is."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.errors import RecordingError
from steelyard.estimation import Spread
from steelyard.problem import Estimate
from steelyard.recording import Recording
from steelyard.robot import Robot

_CHUNK = 4096


def torque_deviations(estimate: Estimate, spread: Spread, robot: Robot, recording: Recording) -> Array:
    r"""Standard deviation of the torque that an estimate predicts along a motion: $\sqrt{y^T \Sigma\,y}$.

    It is the model's share alone; measured torques scatter about it by their noise too. Infinite where the
    motion asks for something that the data of the estimate did not show.

    Args:
        estimate: the model.
        spread: how sure it is.
        robot: the robot.
        recording: a motion with q, v and a.

    Returns:
        Deviations, shape (N, nv), N·m or N.

    Raises:
        RecordingError: the recording has no velocities or accelerations.
    """
    if recording.v is None or recording.a is None:
        raise RecordingError("has no v or no a.", place="recording", remedy="Differentiate it first.")
    parts = []
    for first in range(0, recording.n, _CHUNK):
        part = slice(first, first + _CHUNK)
        Y = torque_regressor(robot, estimate.layout, recording.q[part], recording.v[part], recording.a[part])
        parts.append(np.sqrt(spread.variance(Y[..., estimate.base.columns])))
    return np.concatenate(parts)
