"""Motion from joint torques: the articulated-body algorithm, compiled, over many samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.articulated_body import (
    ROUND_OFF,
    add_articulated,
    add_size,
    axis_wrench,
    factor_inertia,
    give_way,
    solve_factored,
    start_inertia,
    start_size,
    too_small,
)
from steelyard.dynamics.batch import Numbers, efforts, numbers, states
from steelyard.dynamics.bias import bias
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.inverse_dynamics import add_to_parent, body_wrench, drive_torque
from steelyard.dynamics.mass_matrix import mass_matrix
from steelyard.dynamics.motion_pass import cross, motion_pass, to_child
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import NoSolutionError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def forward_dynamics(
    robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike, tau: ArrayLike
) -> Array:
    r"""Accelerations that torques produce: $a = H^{-1}\big(\tau - b\big)$ with the `bias` b(q, v).

    Rotor inertias are part of H. The parameters need not belong to possible bodies, as long as H is positive
    definite at every sample.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        tau: joint torques, shape (N, nv), N·m or N.

    Returns:
        Joint accelerations, shape (N, nv), rad/s² or m/s².

    Raises:
        NoSolutionError: H is not positive definite, to working precision, at some sample; names the first.
        InputError: the layout has a load term, with which torque is not linear in the acceleration.
    """
    refuse_load(layout, "the torque is not linear in the acceleration")
    if robot.ties is not None:
        return _tied_forward_dynamics(robot, layout, parameters, q, v, tau)
    q, v, tau = states(robot, q=q, v=v, tau=tau)
    a = np.empty(v.shape)
    stuck = np.empty(len(q), dtype=np.int64)
    share(len(q), _forward_dynamics, tree_of(robot), numbers(robot, layout, parameters), q, v, tau, a, stuck)
    if (stuck >= 0).any():
        raise _not_positive(robot, stuck)
    return a


def _tied_forward_dynamics(
    robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike, tau: ArrayLike
) -> Array:
    """Where joints mimic others the tree is not one of independent joints, so H is factored as a whole."""
    H = mass_matrix(robot, layout, parameters, q)
    left = efforts(robot, tau=tau) - bias(robot, layout, parameters, q, v)
    size = np.einsum("nii->n", H)[:, None, None] * np.eye(robot.nv)
    failed = np.linalg.eigvalsh(H - ROUND_OFF * size)[:, 0] <= 0.0
    if failed.any():
        raise _not_positive(robot, np.where(failed, 0, -1))
    return np.asarray(np.linalg.solve(H, left[..., None])[..., 0], dtype=np.float64)


def _not_positive(robot: Robot, stuck: IntArray) -> NoSolutionError:
    samples = np.flatnonzero(stuck >= 0)
    owners = [joint.name for joint in robot.joints for _ in range(joint.nv)]
    joint = owners[stuck[samples[0]]]
    return NoSolutionError(
        f"the mass matrix is not positive definite at {len(samples)} of {len(stuck)} samples, first at "
        f"sample {samples[0]}: with all joints beyond it free, joint '{joint}' feels no positive inertia.",
        place="parameters",
        remedy="Use physically consistent parameters, or give the joint a rotor inertia.",
        evidence={"sample": int(samples[0]), "joint": joint, "samples": samples},
    )


class ForwardScratch(NamedTuple):
    """Memory of `sample_forward_dynamics`, overwritten by every call; one per thread.

    Attributes:
        R: R_PC, shape (nb, 3, 3), dimensionless.
        p: p_PC_P, shape (nb, 3), m.
        w: angular velocities, shape (nb, 3), rad/s.
        A: accelerations (linear, angular), shape (nb, 6), m/s² and rad/s².
        F: wrenches (force, moment), shape (nb, 6), N and N·m.
        inertia: articulated inertias, shape (nb, 21), SI.
        size: mass, first moments and trace of the composite inertias, shape (nb, 5), SI.
        factor: Cholesky factors of the inertias of floating bodies, shape (nb, 6, 6), SI.
        U: wrench that each unit acceleration meets, shape (nv, 6), SI.
        D: inertia that each degree of freedom feels, shape (nv,), kg·m² or kg.
        u: torque left to accelerate each degree of freedom, shape (nv,), N·m or N.
        still: accelerations of zero, shape (nv,), rad/s² or m/s².
    """

    R: Array
    p: Array
    w: Array
    A: Array
    F: Array
    inertia: Array
    size: Array
    factor: Array
    U: Array
    D: Array
    u: Array
    still: Array


@kernel
def forward_scratch(nb: int, nv: int) -> ForwardScratch:
    """Make the memory for a tree of nb bodies and nv degrees of freedom."""
    return ForwardScratch(
        np.empty((nb, 3, 3)),
        np.empty((nb, 3)),
        np.empty((nb, 3)),
        np.empty((nb, 6)),
        np.empty((nb, 6)),
        np.empty((nb, 21)),
        np.empty((nb, 5)),
        np.empty((nb, 6, 6)),
        np.empty((nv, 6)),
        np.empty(nv),
        np.empty(nv),
        np.zeros(nv),
    )


@kernel
def sample_forward_dynamics(
    tree: Tree, given: Numbers, q: Array, v: Array, tau: Array, work: ForwardScratch, a: Array
) -> int:
    r"""Write the accelerations of one sample, and return -1; or the degree of freedom that feels no inertia.

    Accelerations are measured from the motion with $a = 0$, whose proper accelerations already hold gravity
    and the velocity products: what remains, $\Delta A_i = X \Delta A_p + s\,a$ and
    $F_i = \mathcal I_i \Delta A_i + F_i^0$, is linear and is eliminated joint by joint from the leaves,

    $$U = \mathcal I^A s, \quad D = s^T U + I_a, \quad u = \tau - \tau_{drive} - s^T F, \quad
      \mathcal I^A \mathrel{-}= U U^T / D, \quad F \mathrel{+}= U u / D,$$

    so that the D are the pivots of H. Where one is not positive, a is filled with NaN.

    Args:
        tree: the robot.
        given: its parameters.
        q: joint positions, shape (nq,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        tau: joint torques, shape (nv,), N·m or N.
        work: memory from `forward_scratch`.
        a: out, joint accelerations, shape (nv,), rad/s² or m/s².
    """
    motion_pass(tree, q, v, work.still, work.R, work.p, work.w, work.A)
    for k in range(v.size):
        work.u[k] = tau[k] - drive_torque(given.drive, k, v[k], 0.0)
    for i in range(tree.parent.size):
        body_wrench(given.links, i, work.w, work.A, work.F)
        start_inertia(given.links, i, work.inertia)
        start_size(given.links, i, work.size)
    stuck = _eliminate(tree, given.drive, work)
    if stuck < 0:
        _accelerate(tree, work, a)
    else:
        a[:] = np.nan
    return stuck


@kernel
def _eliminate(tree: Tree, drive: Array, work: ForwardScratch) -> int:
    """From the leaves: let each joint give way and hand inertia and wrench on to the parent."""
    R, p, F, U, D, u, s = work.R, work.p, work.F, work.U, work.D, work.u, tree.subspace
    for i in range(tree.parent.size - 1, -1, -1):
        parent = tree.parent[i]
        k: int = tree.first_dof[i]
        count: int = tree.first_dof[i + 1] - k
        if count == 6:
            # A floating body hands on the wrench of its joint and none of its inertia.
            row = factor_inertia(work.inertia, i, work.size, work.factor[i])
            if row >= 0:
                return k + row
            for c in range(6):
                u[k + c], F[i, c] = u[k + c] - F[i, c], u[k + c]
        else:
            # The axes of a spherical joint give way one after the other, the first one last.
            for j in range(k + count - 1, k - 1, -1):
                U[j, 0], U[j, 1], U[j, 2], U[j, 3], U[j, 4], U[j, 5] = axis_wrench(work.inertia, i, s, j)
                D[j] = drive[j, 3]
                linear = angular = 0.0
                for c in range(3):
                    D[j] += s[j, c] * U[j, c] + s[j, c + 3] * U[j, c + 3]
                    u[j] -= s[j, c] * F[i, c] + s[j, c + 3] * F[i, c + 3]
                    linear += s[j, c] * s[j, c]
                    angular += s[j, c + 3] * s[j, c + 3]
                size = linear * abs(work.size[i, 0]) + angular * abs(work.size[i, 4]) + abs(drive[j, 3])
                if too_small(D[j], size):
                    return j
                if j > k:
                    give_way(work.inertia, i, U, j, D[j])
                for c in range(6):
                    F[i, c] += U[j, c] * (u[j] / D[j])
            if parent >= 0:
                add_articulated(R, p, work.inertia, i, parent, U, k, D[k])
                add_size(R, p, work.size, i, parent)
        if parent >= 0:
            add_to_parent(R, p, F, i, parent)
    return -1


@kernel
def _accelerate(tree: Tree, work: ForwardScratch, a: Array) -> None:
    """From the base: write each joint's acceleration, and into A what its body has beyond that of a = 0."""
    R, p, A, U, D, u, s = work.R, work.p, work.A, work.U, work.D, work.u, tree.subspace
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        k = tree.first_dof[i]
        if parent < 0:
            dx = dy = dz = bx = by = bz = 0.0
        else:
            bx, by, bz = A[parent, 3], A[parent, 4], A[parent, 5]
            cx, cy, cz = cross(bx, by, bz, p[i, 0], p[i, 1], p[i, 2])
            dx, dy, dz = to_child(R, i, A[parent, 0] + cx, A[parent, 1] + cy, A[parent, 2] + cz)
            bx, by, bz = to_child(R, i, bx, by, bz)
        A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5] = dx, dy, dz, bx, by, bz
        if tree.first_dof[i + 1] - k == 6:
            solve_factored(work.factor[i], u[k : k + 6])
            for c in range(6):
                a[k + c], A[i, c] = u[k + c] - A[i, c], u[k + c]
        else:
            for j in range(k, tree.first_dof[i + 1]):
                left = u[j]
                for c in range(6):
                    left -= U[j, c] * A[i, c]
                a[j] = left / D[j]
                for c in range(6):
                    A[i, c] += s[j, c] * a[j]


@kernel
def _forward_dynamics(
    first: int,
    last: int,
    tree: Tree,
    given: Numbers,
    q: Array,
    v: Array,
    tau: Array,
    a: Array,
    stuck: IntArray,
) -> None:
    work = forward_scratch(tree.parent.size, v.shape[1])
    for n in range(first, last):
        stuck[n] = sample_forward_dynamics(tree, given, q[n], v[n], tau[n], work, a[n])
