"""The simulated arm: MuJoCo's rigid bodies with the drives of the description."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import NoSolutionError, SolverError
from steelyard.robot import Robot
from steelyard.simulate.backlash import PlayGear, checked_gap
from steelyard.simulate.drives import drive_torque, joint_drives
from steelyard.simulate.mujoco_model import mujoco_model
from steelyard.simulate.mujoco_native import link_mujoco
from steelyard.simulate.step import (
    DIVERGED,
    DONE,
    LONGEST_STEP,
    RUNAWAY,
    Arm,
    Ending,
    accelerations,
    advance,
    evaluate,
    mass_matrix,
)

__all__ = ["LONGEST_STEP", "RUNAWAY", "Plant"]


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
        InputError: the backlash is negative or not finite, or MuJoCo's library is not found.
    """

    def __init__(self, robot: Robot, *, backlash: ArrayLike = 0.0) -> None:
        link_mujoco()
        self.robot = robot
        self.model = mujoco_model(robot)
        self._data = mujoco.MjData(self.model)
        self._nv = robot.nv
        # MuJoCo numbers the bodies depth first, a Robot may not.
        self.dof = np.array([int(self.model.joint(f"joint{i}").dofadr[0]) for i in range(robot.nv)])
        """Where each joint of the robot stands in MuJoCo's order, shape (nv,), dimensionless."""
        joint = np.argsort(self.dof)
        gear = PlayGear(checked_gap(robot, backlash)[joint], self._data.qpos)
        # It keeps addresses and views of model and data, which live as long as this object.
        self.arm = Arm(
            self.model._address,
            self._data._address,
            self._data.qpos,
            self._data.qvel,
            self._data.qfrc_bias,
            np.zeros((robot.nv, robot.nv)),
            joint_drives(robot, joint),
            gear.half,
            gear.position,
            np.zeros(1),
        )
        """The arm as kernels see it."""

    @property
    def q(self) -> Array:
        """Joint positions now, shape (nv,), rad or m."""
        return np.array(self.arm.q[self.dof])

    @property
    def v(self) -> Array:
        """Joint velocities now, shape (nv,), rad/s or m/s."""
        return np.array(self.arm.v[self.dof])

    @property
    def encoder(self) -> Array:
        """Where the encoders stand now, shape (nv,), rad or m; the joint positions without backlash."""
        return np.array(self.arm.encoder[self.dof])

    def place(self, q: ArrayLike, v: ArrayLike) -> None:
        """Put the arm into a state, every encoder in the middle of its play; its clock restarts.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
        """
        mujoco.mj_resetData(self.model, self._data)
        self.arm.q[self.dof] = checked("q", q, (self._nv,))
        self.arm.v[self.dof] = checked("v", v, (self._nv,))
        self.arm.encoder[:] = self.arm.q
        self.arm.clock[0] = 0.0

    def friction(self) -> Array:
        """Friction and offset at the velocity now, sign(0) = 0, without load's, shape (nv,), N·m or N."""
        tau = np.empty(self._nv)
        drive_torque(self.arm.drives, self.arm.v, tau)
        return np.asarray(tau[self.dof])

    def acceleration(self, tau: ArrayLike) -> Array:
        """What a torque does to the arm now: one evaluation of MuJoCo's forward dynamics.

        Args:
            tau: joint torques, shape (nv,), N·m or N.

        Returns:
            Joint accelerations, shape (nv,), rad/s² or m/s².

        Raises:
            SolverError: the friction of the load was not found.
        """
        torque = checked("tau", tau, (self._nv,))
        return np.asarray(self.accelerations(self.q[None], self.v[None], torque[None])[0])

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """What torques do to the arm in many states; it is left in the last of them.

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            tau: joint torques, shape (N, nv), N·m or N.

        Returns:
            Joint accelerations, shape (N, nv), rad/s² or m/s².

        Raises:
            SolverError: the friction of the load was not found.
        """
        a = np.empty(q.shape)
        self.refuse(Ending(accelerations(self.arm, self.dof, q, v, tau, a), -1, 0.0))
        return a

    def mass_matrix(self) -> Array:
        """MuJoCo's joint-space inertia at the position now, armature included, shape (nv, nv), SI."""
        evaluate(self.arm)
        mass_matrix(self.arm)
        return np.asarray(self.arm.M[self.dof[:, None], self.dof])

    def advance(self, tau: ArrayLike, duration: float) -> None:
        """Move on under a constant torque, by the classical fourth-order Runge-Kutta rule, as MuJoCo's own.

        Friction is constant within a step, at the value for the velocity that the step ends with. How far
        Stribeck friction has faded, and which of the slopes of asymmetric friction applies, is decided by the
        velocity that the step starts with: a joint at rest breaks away at F_c + F_s.

        Args:
            tau: joint torques, shape (nv,), N·m or N.
            duration: how long, s; divided into equal steps no longer than `LONGEST_STEP`.

        Raises:
            NoSolutionError: a torque is not finite, or a velocity beyond `RUNAWAY`; names joint and time.
            SolverError: the friction of a step was not found.
        """
        torque = self._ordered(checked("tau", tau, (self._nv,), finite=False))
        self.refuse(advance(self.arm, torque, float(duration)))

    def refuse(self, ending: Ending) -> None:
        """Raise the error of a stretch that did not end as it should.

        Args:
            ending: how it ended.

        Raises:
            NoSolutionError: a joint diverged; names it and the time.
            SolverError: the friction of a step was not found.
        """
        if ending.outcome == DONE:
            return
        time = float(self.arm.clock[0])
        if ending.outcome != DIVERGED:
            what = "load" if self.arm.drives.depends_on_load else "friction"
            raise SolverError(
                f"the {what} of a step was not found.",
                place="friction",
                evidence={"time": time, "q": self.q, "v": self.v},
            )
        joint = self.robot.joints[int(np.flatnonzero(self.dof == ending.joint)[0])]
        raise NoSolutionError(
            f"the simulation diverged at {time:.4f} s: joint '{joint.name}' would reach "
            f"{ending.velocity:.3g} {joint.position_unit}/s.",
            place="simulation",
            remedy="Check the controller's gains against its cycle time, and the robot's inertias.",
            evidence={"time": time, "joint": joint.name, "velocity": float(ending.velocity)},
        )

    def _ordered(self, tau: Array) -> Array:
        """Torques in MuJoCo's order."""
        ordered = np.empty(self._nv)
        ordered[self.dof] = tau
        return ordered
