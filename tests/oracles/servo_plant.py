"""MuJoCo as an arm with position servos: its own integration, friction loss and position actuators."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import mujoco
import numpy as np

from steelyard.drive import Servo
from steelyard.formats.mjcf import mjcf_text
from steelyard.robot import Robot


def mujoco_servos(robot: Robot, servos: Sequence[Servo], step: float) -> mujoco.MjModel:
    """A model whose actuators are the servos; no contact, no joint limit."""
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot).content.decode())
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_LIMIT)
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.iterations, model.opt.tolerance = 200, 1e-12
    for k, servo in enumerate(servos):
        model.dof_armature[k] = servo.armature
        model.dof_damping[k] = servo.viscous + servo.back_emf
        model.dof_frictionloss[k] = servo.coulomb
        # As hard as it goes: at rest MuJoCo's friction creeps.
        model.dof_solimp[k] = [0.9999, 0.9999, 0.001, 0.5, 2.0]
        model.dof_solref[k] = [2.5 * step, 1.0]
        model.actuator_gaintype[k] = mujoco.mjtGain.mjGAIN_FIXED
        model.actuator_biastype[k] = mujoco.mjtBias.mjBIAS_AFFINE
        model.actuator_gainprm[k, 0] = servo.stiffness
        model.actuator_biasprm[k, :3] = [servo.stiffness * servo.offset, -servo.stiffness, -servo.damping]
        model.actuator_ctrllimited[k] = 0
        model.actuator_forcelimited[k] = int(np.isfinite(servo.limit))
        if np.isfinite(servo.limit):
            model.actuator_forcerange[k] = [-servo.limit, servo.limit]
    return model


def mujoco_log(
    robot: Robot,
    servos: Sequence[Servo],
    time: np.ndarray,
    command: np.ndarray,
    q_start: np.ndarray,
    *,
    step: float = 2e-4,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at the times of a command that is held, late by the delay of all servos."""
    model = mujoco_servos(robot, servos, step)
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = q_start, command[0]
    (delay,) = {servo.delay for servo in servos}
    ticks = np.round(time / step).astype(int)
    arrivals = ticks + round(delay / step)
    events = np.unique(np.r_[ticks, arrivals[arrivals < ticks[-1]]])
    q, v = np.zeros((2, *command.shape))
    for now, then in pairwise([*events.tolist(), int(events[-1])]):
        for sample in np.flatnonzero(arrivals == now):
            data.ctrl[:] = command[sample]
        for sample in np.flatnonzero(ticks == now):
            q[sample], v[sample] = data.qpos, data.qvel
        if then > now:
            mujoco.mj_step(model, data, nstep=then - now)
    return q, v
