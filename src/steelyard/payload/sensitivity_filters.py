"""From noisy logs to the ten numbers, with one filter or another.

Both runs follow the motion exactly, as in the simulation of paper 001, so torques are subtracted sample by
sample and no alignment comes in between. The first four filters differ only in how q, v, a and the residual
torque are made of the logs, and are followed by plain least squares; the last two also weigh the joints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.errors import RecordingError
from steelyard.layout import Layout, layout_of
from steelyard.payload.held import Held, held_at
from steelyard.payload.model import massless
from steelyard.payload.ways import weigh_with_model
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import Butterworth, prepared

PAPERS_FILTER = Butterworth(10.0, order=2)
"""Of torques and accelerations in paper 001, 4.4.3; here it runs forwards and backwards."""


@dataclass(frozen=True, eq=False)
class LoadEquations:
    r"""The equations $\Delta\tau = A(q, v, a)\,\varphi$ of a robot and the frame of its tool.

    Attributes:
        robot: the robot, for its kinematics.
    """

    robot: Robot

    @cached_property
    def held(self) -> Held:
        """Where the payload is held."""
        return held_at(self.robot)

    @cached_property
    def layout(self) -> Layout:
        """The columns of the robot's regressor."""
        return layout_of(self.robot)

    def matrix(self, q: Array, v: Array, a: Array) -> Array:
        """The data matrix A, equations of all samples below each other.

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            A, shape (N * nv, 10), SI.
        """
        Y = torque_regressor(self.robot, self.layout, q, v, a)
        return (Y[..., self.layout.of_link(self.held.link)] @ self.held.to_link).reshape(-1, 10)

    def least_squares(self, q: Array, v: Array, a: Array, residual: Array) -> Array:
        """Plain least squares, every torque with the same weight (paper 001, (4.18)).

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            residual: torques with less those without the payload, shape (N, nv), N·m or N.

        Returns:
            The ten numbers, of least length where the motion hides some, shape (10,), SI.
        """
        return np.asarray(np.linalg.lstsq(self.matrix(q, v, a), residual.ravel(), rcond=None)[0])


@dataclass(frozen=True, eq=False)
class NoisyRun:
    """A loaded run with noise, the noisy torque of the empty run taken off.

    Attributes:
        interval: between samples, s.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        residual: torques, shape (N, nv), N·m or N.
        true_velocity: v before the noise was added, shape (N, nv), rad/s or m/s.
    """

    interval: float
    q: Array
    v: Array
    residual: Array
    true_velocity: Array

    @property
    def differences(self) -> Array:
        """Accelerations by central differences of the noisy velocities, shape (N, nv), rad/s² or m/s²."""
        return np.asarray(np.gradient(self.v, self.interval, axis=0))

    def log(self, joints: tuple[str, ...]) -> Recording:
        """The run as a recording without accelerations.

        Args:
            joints: their names.

        Returns:
            The recording.
        """
        time = self.interval * np.arange(len(self.q), dtype=np.float64)
        return Recording(joints, time, self.q, self.v, None, self.residual)


def _unfiltered(arm: LoadEquations, run: NoisyRun) -> Array:
    return arm.least_squares(run.q, run.v, run.differences, run.residual)


def _true_accelerations(arm: LoadEquations, run: NoisyRun) -> Array:
    a = np.gradient(run.true_velocity, run.interval, axis=0)
    return arm.least_squares(run.q, run.v, np.asarray(a), run.residual)


def _paper(arm: LoadEquations, run: NoisyRun) -> Array:
    h = run.interval
    ends = PAPERS_FILTER.margin(h, 0)
    if len(run.q) <= 2 * ends:
        raise RecordingError(f"{ends} samples are cut at each end of {len(run.q)}.", place="butterworth")
    inside = slice(ends, len(run.q) - ends)
    a, residual = (PAPERS_FILTER.filtered(x, h, 0, 0)[inside] for x in (run.differences, run.residual))
    return arm.least_squares(run.q[inside], run.v[inside], a, residual)


def _prepared(arm: LoadEquations, run: NoisyRun) -> Array:
    log = prepared(run.log(arm.robot.joint_names)).recording.channels
    return arm.least_squares(log["q"], log["v"], log["a"], log["tau"])


def _weighted(arm: LoadEquations, run: NoisyRun) -> Array:
    log = prepared(run.log(arm.robot.joint_names)).recording
    return weigh_with_model(massless(arm.robot), arm.held, [log], changes=()).values


def _momentum(arm: LoadEquations, run: NoisyRun) -> Array:
    log = run.log(arm.robot.joint_names)
    return weigh_with_model(massless(arm.robot), arm.held, [log], changes=(), method="momentum").values


FILTERS: Mapping[str, Callable[[LoadEquations, NoisyRun], Array]] = {
    "none": _unfiltered,
    "clean": _true_accelerations,
    "butterworth": _paper,
    "prepared": _prepared,
    "weighted": _weighted,
    "momentum": _momentum,
}
"""What weighs a noisy run, by name."""
FILTER_MEANINGS: Mapping[str, str] = {
    "none": "nothing is filtered; accelerations are central differences of the noisy velocities",
    "clean": "as none, but accelerations are differences of the velocities before the noise was added",
    "butterworth": "as none, then torques and accelerations pass paper 001's low-pass: second order, 10 Hz",
    "prepared": "positions pass a low-pass chosen by the log and are differentiated twice, or measured "
    "velocities once where these are quieter",
    "weighted": "as prepared, but joints are weighted by their noise, as the payload command does by default",
    "momentum": "changes of momentum over windows of five samples, without accelerations or a filter; joints "
    "are weighted by their noise",
}
"""What each filter does, for people."""
