"""The arm in compiled code: MuJoCo's rigid bodies, friction at the end of each step, play at the encoders.

Joints stand in MuJoCo's order here, which goes depth first; that of a `Robot` need not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.simulate.backlash import drag
from steelyard.simulate.drives import JointDrives, drive_torque, dry_friction, viscous_slope
from steelyard.simulate.load_friction import slow_down_loaded, write_load_friction
from steelyard.simulate.mujoco_native import (
    mj_comPos,
    mj_comVel,
    mj_factorM,
    mj_fullM,
    mj_kinematics,
    mj_makeM,
    mj_rne,
    mj_solveM,
)

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
def evaluate(arm: Arm) -> None:
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
def mass_matrix(arm: Arm) -> None:
    """Write the mass matrix of the state that was evaluated last."""
    mj_fullM(arm.model, arm.data, arm.M.ctypes.data)


@kernel
def accelerate(arm: Arm, force: Array, a: Array) -> None:
    r"""Write $a = M^{-1} (f - b)$ of the state that was evaluated last."""
    for j in range(a.size):
        a[j] = force[j] - arm.bias[j]
    mj_solveM(arm.model, arm.data, a.ctypes.data, a.ctypes.data, 1)


@kernel
def acceleration(arm: Arm, tau: Array, a: Array) -> int:
    """Write what a torque does to the arm now; how that ended."""
    evaluate(arm)
    force = np.empty(tau.size)
    drive_torque(arm.drives, arm.v, force)
    for j in range(tau.size):
        force[j] = tau[j] - force[j]
    if arm.drives.depends_on_load:
        mass_matrix(arm)
        drives = arm.drives
        if not write_load_friction(arm.M, arm.bias, drives.rotor, drives.load, arm.v, force, a):
            return NO_FRICTION
        for j in range(tau.size):
            force[j] -= a[j]
    accelerate(arm, force, a)
    return DONE


@kernel
def accelerations(arm: Arm, order: IntArray, q: Array, v: Array, tau: Array, a: Array) -> int:
    """Write what torques do to the arm in many states, a row each in the robot's order; how that ended."""
    rows = np.empty((2, q.shape[1]))
    push, answer = rows[0], rows[1]
    for n in range(q.shape[0]):
        for j in range(q.shape[1]):
            arm.q[order[j]], arm.v[order[j]], push[order[j]] = q[n, j], v[n, j], tau[n, j]
        outcome = acceleration(arm, push, answer)
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
            evaluate(arm)
        accelerate(arm, force, a_s)
        for j in range(nv):
            v_sum[j] += weight * v_s[j]
            a_sum[j] += weight * a_s[j]
    for j in range(nv):
        arm.q[j] = q[j] + h / 6.0 * v_sum[j]
        arm.v[j] = v[j] + h / 6.0 * a_sum[j]
    arm.clock[0] += h


@kernel
def advance(arm: Arm, tau: Array, duration: float) -> Ending:
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
        evaluate(arm)
        mass_matrix(arm)
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
