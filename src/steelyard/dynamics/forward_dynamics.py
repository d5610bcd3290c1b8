"""Motion from joint torques: the articulated-body algorithm, compiled, over many samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers, efforts, numbers, states
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.inverse_dynamics import add_to_parent, bias, body_wrench, drive_torque
from steelyard.dynamics.mass_matrix import mass_matrix
from steelyard.dynamics.motion_pass import cross, motion_pass, to_child, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import NoSolutionError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# Articulated inertias: what a body feels like when the joints beyond it give way (compiled).
#
# The inertia of a body relates its acceleration and the wrench on it, both in its own frame,
#
#     f = M d + C ω̇,    n = Cᵀ d + I ω̇,
#
# and is kept as 21 numbers: M as xx, xy, xz, yy, yz, zz; C row by row; I as M.

Six = tuple[float, float, float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]

ROUND_OFF = 64 * float(np.finfo(np.float64).eps)
"""A pivot smaller than this, relative to the inertia it was subtracted from, is rounding and not inertia."""


@kernel
def too_small(pivot: float, size: float) -> bool:
    """Whether a pivot is not positive, or is the rounding left of an inertia of the given size; NaN too."""
    return not pivot > ROUND_OFF * size


@kernel
def start_inertia(phi: Array, i: int, inertia: Array) -> None:
    """Write the inertia of body i alone: M = m 1, C = -[h]×."""
    inertia[i, 0] = inertia[i, 3] = inertia[i, 5] = phi[i, 0]
    inertia[i, 1] = inertia[i, 2] = inertia[i, 4] = 0.0
    inertia[i, 6] = inertia[i, 10] = inertia[i, 14] = 0.0
    inertia[i, 7], inertia[i, 8] = phi[i, 3], -phi[i, 2]
    inertia[i, 9], inertia[i, 11] = -phi[i, 3], phi[i, 1]
    inertia[i, 12], inertia[i, 13] = phi[i, 2], -phi[i, 1]
    inertia[i, 15], inertia[i, 16], inertia[i, 17] = phi[i, 4], phi[i, 5], phi[i, 7]
    inertia[i, 18], inertia[i, 19], inertia[i, 20] = phi[i, 6], phi[i, 8], phi[i, 9]


@kernel
def start_size(phi: Array, i: int, size: Array) -> None:
    """Write mass, first moments and trace of the inertia of body i alone."""
    size[i, 0], size[i, 1], size[i, 2], size[i, 3] = phi[i, 0], phi[i, 1], phi[i, 2], phi[i, 3]
    size[i, 4] = phi[i, 4] + phi[i, 6] + phi[i, 9]


@kernel
def add_size(R: Array, p: Array, size: Array, i: int, parent: int) -> None:
    """Add mass, first moments and trace of composite body i to its parent's, in the parent's frame."""
    m = size[i, 0]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    hx, hy, hz = to_parent(R, i, size[i, 1], size[i, 2], size[i, 3])
    size[parent, 0] += m
    size[parent, 1] += hx + m * px
    size[parent, 2] += hy + m * py
    size[parent, 3] += hz + m * pz
    moved = px * (2.0 * hx + m * px) + py * (2.0 * hy + m * py) + pz * (2.0 * hz + m * pz)
    size[parent, 4] += size[i, 4] + 2.0 * moved


@kernel
def axis_wrench(inertia: Array, i: int, s: Array, k: int) -> Six:
    """The wrench 𝓘 s that body i opposes to a unit acceleration along degree of freedom k."""
    lx, ly, lz, cx, cy, cz = s[k, 0], s[k, 1], s[k, 2], s[k, 3], s[k, 4], s[k, 5]
    X = inertia[i]
    return (
        X[0] * lx + X[1] * ly + X[2] * lz + X[6] * cx + X[7] * cy + X[8] * cz,
        X[1] * lx + X[3] * ly + X[4] * lz + X[9] * cx + X[10] * cy + X[11] * cz,
        X[2] * lx + X[4] * ly + X[5] * lz + X[12] * cx + X[13] * cy + X[14] * cz,
        X[6] * lx + X[9] * ly + X[12] * lz + X[15] * cx + X[16] * cy + X[17] * cz,
        X[7] * lx + X[10] * ly + X[13] * lz + X[16] * cx + X[18] * cy + X[19] * cz,
        X[8] * lx + X[11] * ly + X[14] * lz + X[17] * cx + X[19] * cy + X[20] * cz,
    )


@kernel
def turn_inertia(
    R: Array,
    i: int,
    xx: float,
    xy: float,
    xz: float,
    yx: float,
    yy: float,
    yz: float,
    zx: float,
    zy: float,
    zz: float,
) -> Nine:
    """R[i] X R[i]ᵀ of a matrix X given row by row."""
    ax, ay, az = to_parent(R, i, xx, yx, zx)
    bx, by, bz = to_parent(R, i, xy, yy, zy)
    cx, cy, cz = to_parent(R, i, xz, yz, zz)
    xx, xy, xz = to_parent(R, i, ax, bx, cx)
    yx, yy, yz = to_parent(R, i, ay, by, cy)
    zx, zy, zz = to_parent(R, i, az, bz, cz)
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@kernel
def add_articulated(
    R: Array, p: Array, inertia: Array, i: int, parent: int, U: Array, k: int, D: float
) -> None:
    r"""Add the inertia of body i, its joint k given way, to its parent's, moved to the parent's frame.

    With $M', C', I'$ the blocks of $\mathcal I - U U^T / D$ turned by R,
    $$M^P = M', \qquad C^P = C' - M'[p]_\times, \qquad I^P = I' + [p]_\times C^P + ([p]_\times C')^T.$$
    """
    X, Z = inertia[i], inertia[parent]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    fx, fy, fz, nx, ny, nz = U[k, 0], U[k, 1], U[k, 2], U[k, 3], U[k, 4], U[k, 5]
    g = 1.0 / D
    ux, uy, uz = g * fx, g * fy, g * fz
    xx, xy, xz = X[0] - ux * fx, X[1] - ux * fy, X[2] - ux * fz
    yy, yz, zz = X[3] - uy * fy, X[4] - uy * fz, X[5] - uz * fz
    mxx, mxy, mxz, _, myy, myz, _, _, mzz = turn_inertia(R, i, xx, xy, xz, xy, yy, yz, xz, yz, zz)
    xx, xy, xz = X[6] - ux * nx, X[7] - ux * ny, X[8] - ux * nz
    yx, yy, yz = X[9] - uy * nx, X[10] - uy * ny, X[11] - uy * nz
    zx, zy, zz = X[12] - uz * nx, X[13] - uz * ny, X[14] - uz * nz
    cxx, cxy, cxz, cyx, cyy, cyz, czx, czy, czz = turn_inertia(R, i, xx, xy, xz, yx, yy, yz, zx, zy, zz)
    ux, uy, uz = g * nx, g * ny, g * nz
    xx, xy, xz = X[15] - ux * nx, X[16] - ux * ny, X[17] - ux * nz
    yy, yz, zz = X[18] - uy * ny, X[19] - uy * nz, X[20] - uz * nz
    ixx, ixy, ixz, _, iyy, iyz, _, _, izz = turn_inertia(R, i, xx, xy, xz, xy, yy, yz, xz, yz, zz)
    # Rows of C^P: those of C' plus p × the rows of M'. Columns of [p] C: p × the columns of C.
    ux, uy, uz = cross(px, py, pz, mxx, mxy, mxz)
    dxx, dxy, dxz = cxx + ux, cxy + uy, cxz + uz
    ux, uy, uz = cross(px, py, pz, mxy, myy, myz)
    dyx, dyy, dyz = cyx + ux, cyy + uy, cyz + uz
    ux, uy, uz = cross(px, py, pz, mxz, myz, mzz)
    dzx, dzy, dzz = czx + ux, czy + uy, czz + uz
    Z[0] += mxx
    Z[1] += mxy
    Z[2] += mxz
    Z[3] += myy
    Z[4] += myz
    Z[5] += mzz
    Z[6] += dxx
    Z[7] += dxy
    Z[8] += dxz
    Z[9] += dyx
    Z[10] += dyy
    Z[11] += dyz
    Z[12] += dzx
    Z[13] += dzy
    Z[14] += dzz
    Z[15] += ixx + py * (dzx + czx) - pz * (dyx + cyx)
    Z[16] += ixy + py * dzy - pz * dyy + pz * cxx - px * czx
    Z[17] += ixz + py * dzz - pz * dyz + px * cyx - py * cxx
    Z[18] += iyy + pz * (dxy + cxy) - px * (dzy + czy)
    Z[19] += iyz + pz * dxz - px * dzz + px * cyy - py * cxy
    Z[20] += izz + px * (dyz + cyz) - py * (dxz + cxz)


@kernel
def give_way(inertia: Array, i: int, U: Array, k: int, D: float) -> None:
    """Let body i give way along degree of freedom k, in its own frame: 𝓘 - U Uᵀ / D."""
    X = inertia[i]
    for r in range(3):
        f, n = U[k, r] / D, U[k, r + 3] / D
        for c in range(3):
            X[6 + 3 * r + c] -= f * U[k, c + 3]
        for c in range(r, 3):
            at = 3 * r - (r * (r - 1)) // 2 + c - r
            X[at] -= f * U[k, c]
            X[15 + at] -= n * U[k, c + 3]


@kernel
def factor_inertia(inertia: Array, i: int, size: Array, L: Array) -> int:
    """Write the Cholesky factor of the inertia of body i into L (6, 6); return the row that fails, or -1."""
    X = inertia[i]
    L[0, 0], L[1, 0], L[1, 1], L[2, 0], L[2, 1], L[2, 2] = X[0], X[1], X[3], X[2], X[4], X[5]
    for r in range(3):
        for c in range(3):
            L[r + 3, c] = X[6 + 3 * c + r]
    L[3, 3], L[4, 3], L[4, 4], L[5, 3], L[5, 4], L[5, 5] = X[15], X[16], X[18], X[17], X[19], X[20]
    for r in range(6):
        for c in range(r + 1):
            x = L[r, c]
            for m in range(c):
                x -= L[r, m] * L[c, m]
            if c < r:
                L[r, c] = x / L[c, c]
            elif too_small(x, abs(size[i, 0 if r < 3 else 4])):
                return r
            else:
                L[r, r] = math.sqrt(x)
    return -1


@kernel
def solve_factored(L: Array, x: Array) -> None:
    """Overwrite x (6,) by the solution y of L Lᵀ y = x."""
    for r in range(6):
        for c in range(r):
            x[r] -= L[r, c] * x[c]
        x[r] /= L[r, r]
    for r in range(5, -1, -1):
        for c in range(r + 1, 6):
            x[r] -= L[c, r] * x[c]
        x[r] /= L[r, r]


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
