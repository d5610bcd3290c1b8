"""MuJoCo as an arm of position servos: what a written model does when it is given a log's commands."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Servo
from steelyard.errors import NoSolutionError
from steelyard.formats import mjcf_text
from steelyard.robot import Robot
from steelyard.rollout import ServoCommand

SHORTEST_STEP = 5e-4
"""Time step of the simulation, s: MuJoCo's friction loss is a soft constraint, which a longer one softens."""


def mujoco_servo_rollout(
    robot: Robot,
    servos: Mapping[str, Servo],
    command: ServoCommand,
    time: Array,
    q_start: Array,
    v_start: Array,
) -> Array:
    """Run the MJCF of an arm under commands, in MuJoCo.

    What is simulated is the file that is written for users: friction loss, damping, armature and position
    actuators. Contacts and joint limits are off, as in the fit. A command arrives late by the servo's delay,
    to the nearest time step.

    Args:
        robot: the robot, whose drives state the servos' friction and armature.
        servos: by joint.
        command: what was commanded.
        time: when to look, the first time is the start, shape (N,), s.
        q_start: positions at the start, shape (n,), rad or m.
        v_start: velocities at the start, shape (n,), rad/s or m/s.

    Returns:
        Positions, shape (N, n), rad or m.

    Raises:
        NoSolutionError: the simulation diverged.
    """
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot, servos).content.decode())
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONTACT) | int(off.mjDSBL_LIMIT)
    model.opt.timestep = SHORTEST_STEP
    model.actuator_delay[:] = 0.0
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q_start, v_start
    late = np.array([servos[name].delay for name in robot.joint_names])
    ticks = np.round((time - time[0]) / SHORTEST_STEP).astype(np.int64)
    clock = time[0] + SHORTEST_STEP * np.arange(ticks[-1] + 1)
    control = command.at(clock[:, None] - late)
    q = np.empty((len(time), len(q_start)))
    q[0] = q_start
    done = 0
    for sample in range(1, len(time)):
        for tick in range(done, int(ticks[sample])):
            data.ctrl[:] = control[tick]
            mujoco.mj_step(model, data)
        done = int(ticks[sample])
        q[sample] = data.qpos
    if not np.isfinite(q).all():
        raise NoSolutionError(
            f"the simulation of '{robot.name}' in MuJoCo diverged.",
            place="servo rollout",
            remedy="Look at the numbers: a gain may be far too stiff for its inertia.",
        )
    return q
