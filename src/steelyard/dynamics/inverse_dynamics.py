"""Joint torques from motion: the recursive Newton-Euler algorithm, compiled, over many samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only_view
from steelyard.compiled import inlined_kernel, kernel
from steelyard.dynamics.batch import Numbers, gathered, numbers, states
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.motion_pass import cross, motion_pass, motion_scratch, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def inverse_dynamics(
    robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> Array:
    r"""Torques that produce a motion: $\tau = H(q)\,a + C(q, v)\,v + g(q) + \tau_{drive}(v, a)$.

    The drive has every term of the layout, friction that depends on the load included.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        Joint torques, shape (N, nv), N·m or N.
    """
    q, v, a = states(robot, q=q, v=v, a=a)
    tau = np.empty(v.shape)
    share(len(q), _inverse_dynamics, tree_of(robot), numbers(robot, layout, parameters), q, v, a, tau)
    return gathered(robot, tau)


def rigid_torque(
    robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> Array:
    r"""What the links alone ask of each gear: $\tau_{rigid} = H(q)\,a + C(q, v)\,v + g(q)$ without any drive.

    It is the load of friction that depends on it. A joint that mimics another has a gear of its own, so it is
    counted too.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        Torques, shape (N, nj), N·m or N; nj is nv, or more where joints mimic others.
    """
    q, v, a = states(robot, q=q, v=v, a=a)
    given = numbers(robot, layout, parameters)
    bare = Numbers(given.links, read_only_view(np.zeros_like(given.drive)))
    tau = np.empty(v.shape)
    share(len(q), _inverse_dynamics, tree_of(robot), bare, q, v, a, tau)
    return tau


@inlined_kernel
def drive_torque(drive: Array, k: int, v: float, a: float) -> float:
    """Torque of degree of freedom k from all drive terms but `load`."""
    sign = 0.0
    if v > 0.0:
        sign = 1.0
    elif v < 0.0:
        sign = -1.0
    torque: float = drive[k, 0] * v + drive[k, 1] * sign + drive[k, 2] + drive[k, 3] * a
    if drive[k, 4] != 0.0:
        torque += drive[k, 4] * sign * math.exp(-((abs(v) / drive[k, 7]) ** drive[k, 8]))
    if drive[k, 5] != 0.0:
        torque += drive[k, 5] * abs(v)
    return torque


@inlined_kernel
def body_wrench(phi: Array, i: int, w: Array, A: Array, F: Array) -> None:
    r"""Write the wrench that moves body i, about its frame's origin, into F[i] (force first).

    $$f = m\,d + \dot\omega \times h + \omega \times (\omega \times h), \qquad
      n = h \times d + I\dot\omega + \omega \times I\omega$$
    """
    m, hx, hy, hz = phi[i, 0], phi[i, 1], phi[i, 2], phi[i, 3]
    xx, xy, yy = phi[i, 4], phi[i, 5], phi[i, 6]
    xz, yz, zz = phi[i, 7], phi[i, 8], phi[i, 9]
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    dx, dy, dz = A[i, 0], A[i, 1], A[i, 2]
    bx, by, bz = A[i, 3], A[i, 4], A[i, 5]
    cx, cy, cz = cross(bx, by, bz, hx, hy, hz)
    ex, ey, ez = cross(wx, wy, wz, hx, hy, hz)
    ex, ey, ez = cross(wx, wy, wz, ex, ey, ez)
    F[i, 0] = m * dx + cx + ex
    F[i, 1] = m * dy + cy + ey
    F[i, 2] = m * dz + cz + ez
    cx, cy, cz = cross(hx, hy, hz, dx, dy, dz)
    ex = xx * wx + xy * wy + xz * wz
    ey = xy * wx + yy * wy + yz * wz
    ez = xz * wx + yz * wy + zz * wz
    ex, ey, ez = cross(wx, wy, wz, ex, ey, ez)
    F[i, 3] = cx + xx * bx + xy * by + xz * bz + ex
    F[i, 4] = cy + xy * bx + yy * by + yz * bz + ey
    F[i, 5] = cz + xz * bx + yz * by + zz * bz + ez


@kernel
def add_to_parent(R: Array, p: Array, F: Array, i: int, parent: int) -> None:
    """Add the wrench of body i to its parent's, moved to the parent's frame."""
    fx, fy, fz = to_parent(R, i, F[i, 0], F[i, 1], F[i, 2])
    nx, ny, nz = to_parent(R, i, F[i, 3], F[i, 4], F[i, 5])
    cx, cy, cz = cross(p[i, 0], p[i, 1], p[i, 2], fx, fy, fz)
    F[parent, 0] += fx
    F[parent, 1] += fy
    F[parent, 2] += fz
    F[parent, 3] += nx + cx
    F[parent, 4] += ny + cy
    F[parent, 5] += nz + cz


@kernel
def sample_torque(
    tree: Tree,
    given: Numbers,
    q: Array,
    v: Array,
    a: Array,
    v_friction: Array,
    R: Array,
    p: Array,
    w: Array,
    A: Array,
    F: Array,
    tau: Array,
) -> None:
    """Write the torques of one sample into tau (nv,); friction acts at a velocity of its own, usually v.

    R (nb, 3, 3), p (nb, 3), w (nb, 3), A (nb, 6) and F (nb, 6) are scratch.
    """
    motion_pass(tree, q, v, a, R, p, w, A)
    nb = tree.parent.size
    for i in range(nb):
        body_wrench(given.links, i, w, A, F)
    for i in range(nb - 1, -1, -1):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            torque = drive_torque(given.drive, k, v_friction[k], a[k])
            for c in range(6):
                torque += tree.subspace[k, c] * F[i, c]
            if given.drive[k, 6] != 0.0:
                load = 0.0
                for c in range(6):
                    load += tree.subspace[k, c] * F[i, c]
                torque += given.drive[k, 6] * abs(load) * np.sign(v_friction[k])
            tau[k] = torque
        if tree.parent[i] >= 0:
            add_to_parent(R, p, F, i, tree.parent[i])


@kernel
def torque_of_state(
    tree: Tree, given: Numbers, q: Array, v: Array, a: Array, v_friction: Array, tau: Array
) -> None:
    """As `sample_torque`, with scratch of its own: for a law of control, which has one sample a cycle."""
    nb = tree.parent.size
    R, p, w, A = motion_scratch(tree)
    F = np.empty((nb, 6))
    sample_torque(tree, given, q, v, a, v_friction, R, p, w, A, F, tau)


@kernel
def _inverse_dynamics(
    first: int, last: int, tree: Tree, given: Numbers, q: Array, v: Array, a: Array, tau: Array
) -> None:
    nb = tree.parent.size
    R, p, w, A = motion_scratch(tree)
    F = np.empty((nb, 6))
    for n in range(first, last):
        sample_torque(tree, given, q[n], v[n], a[n], v[n], R, p, w, A, F, tau[n])


# Torques of a motion without acceleration: gravity, velocity products and friction, over many samples.


def bias(robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike) -> Array:
    r"""What is left of the torques when nothing accelerates: $b = C(q, v)\,v + g(q) + \tau_{drive}(v, 0)$.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        b, shape (N, nv), N·m or N; $\tau = H a + b$.

    Raises:
        InputError: the layout has a load term, with which torque is not linear in the acceleration.
    """
    refuse_load(layout, "the torque is not linear in the acceleration")
    still = np.zeros_like(checked("v", v, ("...", robot.nv)))
    return inverse_dynamics(robot, layout, parameters, q, v, still)
