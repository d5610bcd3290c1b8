"""A force-torque sensor at the wrist of a simulated arm: what MuJoCo says passes through, and its errors."""

from __future__ import annotations

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.recording import wrench_columns_of
from steelyard.robot import Robot
from steelyard.simulation.mujoco_model import mujoco_model
from steelyard.simulation.sensor import SensorPreset


def wrist_wrench(robot: Robot, frame: str, q: Array, v: Array, a: Array) -> Array:
    """The wrench that what a sensor carries exerts on it, by MuJoCo's own sensors of force and torque.

    Args:
        robot: the robot, with all that it holds.
        frame: name of the link in whose frame the sensor sits, see `Robot.parted`.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        Forces, then moments about the frame's origin, in its axes, shape (N, 6), N and N·m.

    Raises:
        UnknownNameError: no such link; lists those that exist.
        InputError: the frame does not move.
        DescriptionError: the robot cannot be simulated, or nothing is stated of what the sensor carries.
    """
    model = mujoco_model(robot, frame)
    data = mujoco.MjData(model)
    dof = [int(model.joint(f"joint{i}").dofadr[0]) for i in range(robot.nv)]
    wrench = np.empty((len(q), 6))
    for n in range(len(q)):
        data.qpos[dof], data.qvel[dof], data.qacc[dof] = q[n], v[n], a[n]
        mujoco.mj_inverse(model, data)
        # MuJoCo's force acts on what the sensor carries; a sensor feels the opposite.
        wrench[n] = -data.sensordata
    return wrench


def differenced_motion(path: Array, cycle: float) -> tuple[Array, Array]:
    """Velocities and accelerations of true positions by central differences, as the mean over two cycles.

    Within a cycle the torque is constant, and jumps to the next; a sensor's own bandwidth shows the mean.

    Args:
        path: true positions at every cycle, at least three, shape (n, nv), rad or m.
        cycle: length of a cycle, s.

    Returns:
        Velocities, shape (n, nv), rad/s or m/s, and accelerations, shape (n, nv), rad/s² or m/s²; at both
        ends those of the neighbour.
    """
    v, a = np.empty_like(path), np.empty_like(path)
    v[1:-1] = (path[2:] - path[:-2]) / (2.0 * cycle)
    a[1:-1] = (path[2:] - 2.0 * path[1:-1] + path[:-2]) / cycle**2
    for ends in (v, a):
        ends[0], ends[-1] = ends[1], ends[-2]
    return v, a


def read_wrist(
    preset: SensorPreset, frame: str, wrench: Array, rng: np.random.Generator | None
) -> dict[str, Array]:
    """What the sensor shows of a wrench, as the columns of a log.

    Args:
        preset: its noise, and the bound of its zero, which is drawn once.
        frame: name of the link in whose frame it sits.
        wrench: what passes through it, shape (N, 6), N and N·m.
        rng: source of noise and zero; None where there is none.

    Returns:
        The columns by name, each shape (N,), N or N·m.

    Raises:
        InputError: the sensor is random, but there is no generator.
    """
    shown = np.array(wrench)
    zero = np.repeat((preset.force_zero, preset.moment_zero), 3)
    noise = np.repeat((preset.force_noise, preset.moment_noise), 3)
    if rng is not None:
        shown += zero * rng.uniform(-1.0, 1.0, 6) + noise * rng.standard_normal(shown.shape)
    elif zero.any() or noise.any():
        raise InputError(
            f"the wrist sensor of preset '{preset.name}' is random and needs a generator.",
            place="rng",
            remedy="Pass a generator.",
        )
    return dict(zip(wrench_columns_of(frame), shown.T, strict=True))
