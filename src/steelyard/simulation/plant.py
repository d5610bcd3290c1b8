"""The simulated arm: MuJoCo's rigid bodies with the drives of the description, stepped in compiled code."""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked
from steelyard.compiled import kernel
from steelyard.errors import NoSolutionError, SolverError
from steelyard.robot import Robot
from steelyard.simulation.friction import (
    JointDrives,
    dry_friction,
    joint_drives,
    plant_drive_torque,
    slow_down_loaded,
    viscous_slope,
    write_load_friction,
)
from steelyard.simulation.mujoco_model import (
    link_mujoco,
    mj_comPos,
    mj_comVel,
    mj_factorM,
    mj_fullM,
    mj_kinematics,
    mj_makeM,
    mj_rne,
    mj_solveM,
    mujoco_model,
)
from steelyard.simulation.sensing import PlayGear, checked_gap, drag

# The arm in compiled code: MuJoCo's rigid bodies, friction at the end of each step, play at the encoders.
#
# Joints stand in MuJoCo's order here, which goes depth first; that of a `Robot` need not.

LONGEST_STEP = 0.5e-3
"""Longest step of the integrator, s."""
RUNAWAY = 1e3
"""Speed beyond which a simulation counts as diverged, rad/s or m/s."""

DONE, DIVERGED, NO_FRICTION = range(3)
"""How a stretch ended: as it should, with a joint beyond `RUNAWAY`, or with a friction that was not found."""


class Arm(NamedTuple):
    """A simulated arm and where it is now; views of MuJoCo's own memory among it.

    Attributes:
        model: address of the `MjModel`.
        data: address of the `MjData`.
        q: positions, in MuJoCo's memory, shape (nv,), rad or m.
        v: velocities, in MuJoCo's memory, shape (nv,), rad/s or m/s.
        bias: torques without acceleration, in MuJoCo's memory, shape (nv,), N·m or N.
        M: mass matrix with the rotors, shape (nv, nv), SI.
        drives: friction, offset and rotors.
        half_gap: half the play of every encoder, shape (nv,), rad or m.
        encoder: where the encoders stand, shape (nv,), rad or m.
        clock: time since the arm was placed, shape (1,), s.
    """

    model: int
    data: int
    q: Array
    v: Array
    bias: Array
    M: Array
    drives: JointDrives
    half_gap: Array
    encoder: Array
    clock: Array


class Ending(NamedTuple):
    """How a stretch ended.

    Attributes:
        outcome: `DONE`, `DIVERGED` or `NO_FRICTION`.
        joint: the joint that diverged.
        velocity: what it would have reached, rad/s or m/s.
    """

    outcome: int
    joint: int
    velocity: float


@kernel
def evaluate_plant(arm: Arm) -> None:
    """Let MuJoCo compute the factors of the mass matrix, and the bias, of the state now.

    These are the parts of its `mj_forward` that matter to an arm without contacts, tendons and actuators.
    """
    model, data = arm.model, arm.data
    mj_kinematics(model, data)
    mj_comPos(model, data)
    mj_makeM(model, data)
    mj_factorM(model, data)
    mj_comVel(model, data)
    mj_rne(model, data, 0, arm.bias.ctypes.data)


@kernel
def plant_mass_matrix(arm: Arm) -> None:
    """Write the mass matrix of the state that was evaluated last."""
    mj_fullM(arm.model, arm.data, arm.M.ctypes.data)


@kernel
def accelerate(arm: Arm, force: Array, a: Array) -> None:
    r"""Write $a = M^{-1} (f - b)$ of the state that was evaluated last."""
    for j in range(a.size):
        a[j] = force[j] - arm.bias[j]
    mj_solveM(arm.model, arm.data, a.ctypes.data, a.ctypes.data, 1)


@kernel
def plant_acceleration(arm: Arm, tau: Array, a: Array) -> int:
    """Write what a torque does to the arm now; how that ended."""
    evaluate_plant(arm)
    force = np.empty(tau.size)
    plant_drive_torque(arm.drives, arm.v, force)
    for j in range(tau.size):
        force[j] = tau[j] - force[j]
    if arm.drives.depends_on_load:
        plant_mass_matrix(arm)
        drives = arm.drives
        if not write_load_friction(arm.M, arm.bias, drives.rotor, drives.load, arm.v, force, a):
            return NO_FRICTION
        for j in range(tau.size):
            force[j] -= a[j]
    accelerate(arm, force, a)
    return DONE


@kernel
def plant_accelerations(arm: Arm, order: IntArray, q: Array, v: Array, tau: Array, a: Array) -> int:
    """Write what torques do to the arm in many states, a row each in the robot's order; how that ended."""
    rows = np.empty((2, q.shape[1]))
    push, answer = rows[0], rows[1]
    for n in range(q.shape[0]):
        for j in range(q.shape[1]):
            arm.q[order[j]], arm.v[order[j]], push[order[j]] = q[n, j], v[n, j], tau[n, j]
        outcome = plant_acceleration(arm, push, answer)
        if outcome != DONE:
            return outcome
        for j in range(q.shape[1]):
            a[n, j] = answer[order[j]]
    return DONE


@kernel
def runge_kutta(arm: Arm, force: Array, h: float) -> None:
    """Move the arm by one step of the classical rule, from a state that has been evaluated.

    It is the rule of MuJoCo's own fourth-order integrator, whose step length cannot be reached from here.
    """
    nv = force.size
    rows = np.empty((6, nv))
    q, v, v_s, a_s, v_sum, a_sum = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    for j in range(nv):
        q[j], v[j] = arm.q[j], arm.v[j]
        v_s[j] = a_s[j] = v_sum[j] = a_sum[j] = 0.0
    for stage in range(4):
        node = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        weight = 1.0 if stage in (0, 3) else 2.0
        for j in range(nv):
            arm.q[j] = q[j] + node * v_s[j]
            v_s[j] = v[j] + node * a_s[j]
            arm.v[j] = v_s[j]
        if stage > 0:
            evaluate_plant(arm)
        accelerate(arm, force, a_s)
        for j in range(nv):
            v_sum[j] += weight * v_s[j]
            a_sum[j] += weight * a_s[j]
    for j in range(nv):
        arm.q[j] = q[j] + h / 6.0 * v_sum[j]
        arm.v[j] = v[j] + h / 6.0 * a_sum[j]
    arm.clock[0] += h


@kernel
def advance_plant(arm: Arm, tau: Array, duration: float) -> Ending:
    """Move on under a constant torque; the steps of `Plant.advance`."""
    nv = tau.size
    drives = arm.drives
    rows = np.empty((6, nv))
    f, slope, dry, end, friction, push = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    for j in range(nv):
        push[j] = tau[j] - drives.offset[j]
        if not math.isfinite(push[j]):
            return Ending(DIVERGED, j, push[j])
    steps = max(1, math.ceil(duration / LONGEST_STEP * (1.0 - 1e-9)))
    h = duration / steps
    for _ in range(steps):
        evaluate_plant(arm)
        plant_mass_matrix(arm)
        for j in range(nv):
            f[j] = push[j] - arm.bias[j]
            slope[j], dry[j] = viscous_slope(drives, j, arm.v[j]), dry_friction(drives, j, arm.v[j])
        load = (arm.bias, drives.rotor, drives.load)
        if not slow_down_loaded(arm.M, arm.v, f, slope, dry, h, *load, end, friction):
            return Ending(NO_FRICTION, -1, 0.0)
        for j in range(nv):
            if not abs(end[j]) <= RUNAWAY:
                return Ending(DIVERGED, j, end[j])
            friction[j] += push[j]
        runge_kutta(arm, friction, h)
        for j in range(nv):
            # What friction holds rests exactly; without dry friction a joint is at rest for an instant only.
            if end[j] == 0.0 and dry_friction(drives, j, 0.0) + drives.load[j] > 0.0:
                arm.v[j] = 0.0
        drag(arm.encoder, arm.q, arm.half_gap)
    return Ending(DONE, -1, 0.0)


# `Plant`


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
        plant_drive_torque(self.arm.drives, self.arm.v, tau)
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
        self.refuse(Ending(plant_accelerations(self.arm, self.dof, q, v, tau, a), -1, 0.0))
        return a

    def mass_matrix(self) -> Array:
        """MuJoCo's joint-space inertia at the position now, armature included, shape (nv, nv), SI."""
        evaluate_plant(self.arm)
        plant_mass_matrix(self.arm)
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
        self.refuse(advance_plant(self.arm, torque, float(duration)))

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
