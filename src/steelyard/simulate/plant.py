"""The simulated arm: MuJoCo's rigid bodies with the drives of the description."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import NoSolutionError
from steelyard.robot import Robot
from steelyard.simulate.backlash import PlayGear, checked_gap
from steelyard.simulate.drives import JointDrives
from steelyard.simulate.friction import friction_at_end
from steelyard.simulate.load_friction import load_friction, loaded_friction_at_end
from steelyard.simulate.mujoco_model import mujoco_model

LONGEST_STEP = 0.5e-3
"""Longest step of the integrator, s."""
RUNAWAY = 1e3
"""Speed beyond which a simulation counts as diverged, rad/s or m/s."""


class Plant:
    r"""An arm that obeys $M(q)\,a + c(q, v) + I_a a + F_v v + F_c \operatorname{sign}(v) + F_o = \tau$.

    The left side but for friction and offset is MuJoCo's; those are applied to it as generalised forces, and
    so is friction beyond the linear drive (Stribeck, asymmetric, load), where the description states it.
    Drive terms that the description does not state are absent. Limits are not enforced.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        backlash: play between each joint and its encoder, see `PlayGear`, one for all or one each, shape ()
            or (nv,), rad or m.

    Raises:
        DescriptionError: the robot cannot be simulated; names the link or joint and the reason.
        InputError: the backlash is negative or not finite.
    """

    def __init__(self, robot: Robot, *, backlash: ArrayLike = 0.0) -> None:
        self.robot = robot
        self.model = mujoco_model(robot)
        self._data = mujoco.MjData(self.model)
        self._nv = robot.nv
        # MuJoCo numbers the bodies depth first, a Robot may not.
        self._dof = np.array([int(self.model.joint(f"joint{i}").dofadr[0]) for i in range(robot.nv)])
        self._drives = JointDrives(robot)
        self._gap = checked_gap(robot, backlash)
        self._encoder = PlayGear(self._gap, self.q)

    @property
    def q(self) -> Array:
        """Joint positions now, shape (nv,), rad or m."""
        return np.array(self._data.qpos[self._dof])

    @property
    def v(self) -> Array:
        """Joint velocities now, shape (nv,), rad/s or m/s."""
        return np.array(self._data.qvel[self._dof])

    @property
    def encoder(self) -> Array:
        """Where the encoders stand now, shape (nv,), rad or m; the joint positions without backlash."""
        return self._encoder.position if self._gap.any() else self.q

    def place(self, q: ArrayLike, v: ArrayLike) -> None:
        """Put the arm into a state, every encoder in the middle of its play; its clock restarts.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
        """
        mujoco.mj_resetData(self.model, self._data)
        self._data.qpos[self._dof] = checked("q", q, (self._nv,))
        self._data.qvel[self._dof] = checked("v", v, (self._nv,))
        self._encoder = PlayGear(self._gap, self.q)

    def friction(self) -> Array:
        """Friction and offset at the velocity now, sign(0) = 0, without load's, shape (nv,), N·m or N."""
        return self._drives.torque(self.v)

    def acceleration(self, tau: ArrayLike) -> Array:
        """What a torque does to the arm now: one evaluation of MuJoCo's forward dynamics.

        Args:
            tau: joint torques, shape (nv,), N·m or N.

        Returns:
            Joint accelerations, shape (nv,), rad/s² or m/s².
        """
        push = checked("tau", tau, (self._nv,)) - self.friction()
        if self._drives.depends_on_load:
            M, bias = self.mass_matrix(), self._bias()
            push = push - load_friction(M, bias, self._drives.rotor, self._drives.load, self.v, push)
        self._data.qfrc_applied[self._dof] = push
        mujoco.mj_forward(self.model, self._data)
        return np.array(self._data.qacc[self._dof])

    def mass_matrix(self) -> Array:
        """MuJoCo's joint-space inertia at the position now, armature included, shape (nv, nv), SI."""
        mujoco.mj_fwdPosition(self.model, self._data)
        M = np.empty((self._nv, self._nv))
        mujoco.mj_fullM(self.model, self._data, M)
        return np.asarray(M[self._dof[:, None], self._dof])

    def advance(self, tau: ArrayLike, duration: float) -> None:
        """Move on under a constant torque, by MuJoCo's fourth-order Runge-Kutta rule.

        Friction is constant within a step, at the value for the velocity that the step ends with. How far
        Stribeck friction has faded, and which of the slopes of asymmetric friction applies, is decided by the
        velocity that the step starts with: a joint at rest breaks away at F_c + F_s.

        Args:
            tau: joint torques, shape (nv,), N·m or N.
            duration: how long, s; divided into equal steps no longer than `LONGEST_STEP`.

        Raises:
            NoSolutionError: a torque is not finite, or a velocity beyond `RUNAWAY`; names joint and time.
        """
        push = checked("tau", tau, (self._nv,), finite=False) - self._drives.offset
        self._refuse_runaway(np.where(np.isfinite(push), 0.0, push))
        steps = max(1, math.ceil(duration / LONGEST_STEP * (1.0 - 1e-9)))
        h = duration / steps
        self.model.opt.timestep = h
        for _ in range(steps):
            M, v = self.mass_matrix(), self.v
            bias = self._bias()
            step = (M, v, push - bias, self._drives.slope(v), self._drives.dry(v), h)
            if self._drives.depends_on_load:
                v_end, friction = loaded_friction_at_end(*step, bias, self._drives.rotor, self._drives.load)
            else:
                v_end, friction = friction_at_end(*step)
            self._refuse_runaway(v_end)
            self._data.qfrc_applied[self._dof] = push + friction
            mujoco.mj_step(self.model, self._data)
            # What friction holds rests exactly; without dry friction a joint is at rest for an instant only.
            held = self._dof[(v_end == 0.0) & (self._drives.dry(v_end) + self._drives.load > 0.0)]
            self._data.qvel[held] = 0.0
            if self._gap.any():
                self._encoder.follow(self.q)

    def _bias(self) -> Array:
        """MuJoCo's torques without acceleration at the state now, shape (nv,), N·m or N."""
        mujoco.mj_fwdVelocity(self.model, self._data)
        return np.array(self._data.qfrc_bias[self._dof])

    def _refuse_runaway(self, v: Array) -> None:
        wild = ~(np.abs(v) <= RUNAWAY)
        if wild.any():
            j = int(np.argmax(wild))
            joint = self.robot.joints[j]
            raise NoSolutionError(
                f"the simulation diverged at {self._data.time:.4f} s: joint '{joint.name}' would reach "
                f"{v[j]:.3g} {joint.position_unit}/s.",
                place="simulation",
                remedy="Check the controller's gains against its cycle time, and the robot's inertias.",
                evidence={"time": float(self._data.time), "joint": joint.name, "velocity": float(v[j])},
            )
