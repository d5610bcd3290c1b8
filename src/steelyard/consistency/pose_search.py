r"""Poses where the mass matrix is smallest, sampled (Oaki et al. 2026, eqs. (10)-(11)) and minimised locally.

A pose with $\lambda_{\min}(M(q)) \le 0$ refutes positive definiteness; finding none proves nothing, see
`proof`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from steelyard.arrays import Array, BoolArray, IntArray, checked, read_only, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics import mass_matrix
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# Where poses are looked for: a box of joint positions, or all of them.

STROKE = 0.5
"""How far a sliding joint without limits is looked at, each way, m."""


@dataclass(frozen=True, eq=False)
class PoseDomain:
    """A box of poses, or all of them.

    Attributes:
        lower: lower ends, shape (nq,), rad or m; -inf for an angle that may be any.
        upper: upper ends, shape (nq,), rad or m; inf for an angle that may be any.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        lower = checked("lower", self.lower, ("n",), finite=False)
        upper = checked("upper", self.upper, lower.shape, finite=False)
        if not (lower <= upper).all() or (np.isinf(lower) != np.isinf(upper)).any():
            raise InputError(
                "each joint needs two ends in order, or none.",
                place="PoseDomain",
                evidence={"lower": lower, "upper": upper},
            )
        object.__setattr__(self, "lower", read_only(lower))
        object.__setattr__(self, "upper", read_only(upper))

    @classmethod
    def every(cls, robot: Robot) -> PoseDomain:
        """All angles; lengths of sliding joints within their limits, or within `STROKE`."""
        turns = np.array([joint.kind.rotates for joint in robot.joints])
        lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
        open_ended = np.isinf(lower) | np.isinf(upper)
        lower, upper = np.where(open_ended, -STROKE, lower), np.where(open_ended, STROKE, upper)
        return cls(np.where(turns, -np.inf, lower), np.where(turns, np.inf, upper))

    @property
    def middle(self) -> Array:
        """Middle of the box, shape (nq,), rad or m; zero where any angle may be."""
        free = np.isinf(self.lower)
        return np.where(free, 0.0, 0.5 * (np.where(free, 0.0, self.lower) + np.where(free, 0.0, self.upper)))

    @property
    def half(self) -> Array:
        """Half the widths of the box, shape (nq,), rad or m; infinite where any angle may be."""
        return np.where(np.isinf(self.lower), np.inf, self.upper - self.middle)

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Poses drawn evenly.

        Args:
            count: N.
            rng: source of the poses.

        Returns:
            Poses, shape (N, nq), rad or m.
        """
        half = np.where(np.isinf(self.half), np.pi, self.half)
        return self.middle + half * rng.uniform(-1.0, 1.0, (count, half.size))


# A robot of joints with one coordinate each as flat arrays, the form the kernels of this room read.


class FlatArm(NamedTuple):
    r"""A tree of joints with one coordinate each.

    Each places its link at $R(q) = R_1 + \cos q\,R_c + \sin q\,R_s$, $p(q) = p_0 + q\,p_1$.

    Attributes:
        parent: index of the parent link, -1 for the base, shape (n,), dimensionless.
        moves: whether joint j moves link i, shape (n, n), dimensionless.
        rotations: R_1, R_c and R_s, shape (n, 3, 3, 3), dimensionless.
        offsets: p_0 and p_1, shape (n, 2, 3), m and dimensionless.
        axes: s, linear part first, shape (n, 6), dimensionless.
    """

    parent: IntArray
    moves: BoolArray
    rotations: Array
    offsets: Array
    axes: Array


def arm_of(robot: Robot) -> FlatArm:
    """The arrays of a robot.

    Returns:
        Its arrays, read-only.

    Raises:
        DescriptionError: a joint floats, is spherical or mimics another.
    """
    robot.require_arm()
    n = len(robot.joints)
    parent = np.array([joint.parent for joint in robot.joints], dtype=np.int64)
    moves = np.zeros((n, n), dtype=np.bool_)
    rotations, offsets, axes = np.zeros((n, 3, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 6))
    for i, joint in enumerate(robot.joints):
        R, u = joint.placement.rotation, joint.axis
        moves[i] = moves[joint.parent] if joint.parent >= 0 else False
        moves[i, i] = True
        offsets[i, 0] = joint.placement.translation
        if joint.kind.rotates:
            rotations[i] = R @ np.outer(u, u), R - R @ np.outer(u, u), R @ np.cross(np.eye(3), u)
            axes[i] = [*(joint.pitch * u), *u]
        else:
            rotations[i, 0] = R
            axes[i, :3] = u
        offsets[i, 1] = R @ axes[i, :3]
    return FlatArm(
        read_only(parent), read_only(moves), read_only(rotations), read_only(offsets), read_only(axes)
    )


# The smallest eigenvalue of the mass matrix and its slope in the pose (compiled).
#
# Link i has the twist $V_i = w_i + s_i v_i$ in its own frame, where $w_i = \mathrm{Ad}(q_i)^{-1} V_p$ is the
# twist of its parent p seen from there and $s_i$ its joint's axis. With the unit eigenvector x of
# $\lambda_{\min}(M(q))$, taken as joint rates,
#
# $$\frac{\partial\lambda}{\partial q_k} = x^T \frac{\partial M}{\partial q_k}\,x
#   = 2\,F_k \cdot \frac{\partial w_k}{\partial q_k} = -2\,F_k \cdot \mathrm{ad}_{s_k} w_k ,$$
#
# with $F_k$ the momentum of all that joint k carries: one pass out and one back.


@kernel
def place(arm: FlatArm, q: Array, R: Array, p: Array) -> None:
    """Write the pose of every link in its parent's frame."""
    for i in range(arm.parent.size):
        c, s = math.cos(q[i]), math.sin(q[i])
        for a in range(3):
            p[i, a] = arm.offsets[i, 0, a] + q[i] * arm.offsets[i, 1, a]
            for b in range(3):
                R[i, a, b] = (
                    arm.rotations[i, 0, a, b] + c * arm.rotations[i, 1, a, b] + s * arm.rotations[i, 2, a, b]
                )


@kernel
def from_parent(R: Array, p: Array, i: int, V: Array, w: Array) -> None:
    r"""Write the parent's twist V seen from link i, $w = (R^T(v + \omega \times p),\ R^T \omega)$."""
    x = V[0] + V[4] * p[i, 2] - V[5] * p[i, 1]
    y = V[1] + V[5] * p[i, 0] - V[3] * p[i, 2]
    z = V[2] + V[3] * p[i, 1] - V[4] * p[i, 0]
    for a in range(3):
        w[a] = R[i, 0, a] * x + R[i, 1, a] * y + R[i, 2, a] * z
        w[3 + a] = R[i, 0, a] * V[3] + R[i, 1, a] * V[4] + R[i, 2, a] * V[5]


@kernel
def axis_momentum(body: Array, V: Array, h: Array) -> None:
    r"""Write the momentum $(m v + \omega \times \eta,\ \eta \times v + I\omega)$, first moment $\eta$."""
    m, a, b, c = body[0], body[1], body[2], body[3]
    h[0] = m * V[0] + V[4] * c - V[5] * b
    h[1] = m * V[1] + V[5] * a - V[3] * c
    h[2] = m * V[2] + V[3] * b - V[4] * a
    h[3] = b * V[2] - c * V[1] + body[4] * V[3] + body[5] * V[4] + body[7] * V[5]
    h[4] = c * V[0] - a * V[2] + body[5] * V[3] + body[6] * V[4] + body[8] * V[5]
    h[5] = a * V[1] - b * V[0] + body[7] * V[3] + body[8] * V[4] + body[9] * V[5]


@kernel
def inertia(arm: FlatArm, bodies: Array, rotors: Array, R: Array, p: Array, J: Array, M: Array) -> None:
    r"""Write $M = \sum_i J_i^T \mathcal M_i J_i + \mathrm{diag}(I_a)$ at placed links; J is overwritten."""
    n = arm.parent.size
    h = np.empty(6)
    for j in range(n):
        for k in range(n):
            M[j, k] = 0.0
        M[j, j] = rotors[j]
    for i in range(n):
        for j in range(i + 1):
            if not arm.moves[i, j]:
                continue
            if j == i:
                for a in range(6):
                    J[i, i, a] = arm.axes[i, a]
            else:
                from_parent(R, p, i, J[arm.parent[i], j], J[i, j])
            axis_momentum(bodies[i], J[i, j], h)
            for k in range(j + 1):
                if arm.moves[i, k]:
                    for a in range(6):
                        M[j, k] += J[i, k, a] * h[a]
    for j in range(n):
        for k in range(j):
            M[k, j] = M[j, k]


@kernel
def slope(
    arm: FlatArm, bodies: Array, R: Array, p: Array, x: Array, w: Array, V: Array, F: Array, g: Array
) -> None:
    """Write the slope of x' M(q) x in every coordinate, at placed links."""
    n = arm.parent.size
    f, t = np.empty(3), np.empty(3)
    for i in range(n):
        if arm.parent[i] >= 0:
            from_parent(R, p, i, V[arm.parent[i]], w[i])
        for a in range(6):
            if arm.parent[i] < 0:
                w[i, a] = 0.0
            V[i, a] = w[i, a] + arm.axes[i, a] * x[i]
        axis_momentum(bodies[i], V[i], F[i])
    for i in range(n - 1, -1, -1):
        e, c, v, o = arm.axes[i, :3], arm.axes[i, 3:], w[i, :3], w[i, 3:]
        g[i] = 0.0
        for a in range(3):
            b, d = (a + 1) % 3, (a + 2) % 3
            g[i] -= 2.0 * F[i, a] * (c[b] * v[d] - c[d] * v[b] + e[b] * o[d] - e[d] * o[b])
            g[i] -= 2.0 * F[i, 3 + a] * (c[b] * o[d] - c[d] * o[b])
        parent = arm.parent[i]
        if parent >= 0:
            for a in range(3):
                f[a] = R[i, a, 0] * F[i, 0] + R[i, a, 1] * F[i, 1] + R[i, a, 2] * F[i, 2]
                t[a] = R[i, a, 0] * F[i, 3] + R[i, a, 1] * F[i, 4] + R[i, a, 2] * F[i, 5]
            for a in range(3):
                b, d = (a + 1) % 3, (a + 2) % 3
                F[parent, a] += f[a]
                F[parent, 3 + a] += t[a] + p[i, b] * f[d] - p[i, d] * f[b]


@kernel
def lowest(arm: FlatArm, bodies: Array, rotors: Array, q: Array, g: Array) -> float:
    """The smallest eigenvalue at a pose; its slope is written into g."""
    n = arm.parent.size
    R, p, J, M = np.empty((n, 3, 3)), np.empty((n, 3)), np.zeros((n, n, 6)), np.empty((n, n))
    place(arm, q, R, p)
    inertia(arm, bodies, rotors, R, p, J, M)
    values, vectors = np.linalg.eigh(M)
    x = np.ascontiguousarray(vectors[:, 0])
    slope(arm, bodies, R, p, x, np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)), g)
    return float(values[0])


@kernel
def sampled(
    first: int, last: int, arm: FlatArm, bodies: Array, rotors: Array, q: Array, values: Array
) -> None:
    r"""Write the smallest eigenvalue where it is the lowest so far of this piece, and infinity elsewhere.

    Whether it is lower is asked of the pivots of $M - \lambda\,1$, which are cheaper than eigenvalues.
    """
    n = arm.parent.size
    R, p, J, M = np.empty((n, 3, 3)), np.empty((n, 3)), np.zeros((n, n, 6)), np.empty((n, n))
    L, best = np.empty((n, n)), np.inf
    for sample in range(first, last):
        place(arm, q[sample], R, p)
        inertia(arm, bodies, rotors, R, p, J, M)
        values[sample] = np.inf
        lower = best == np.inf
        for j in range(n):
            if lower:
                break
            for k in range(j + 1):
                total = M[j, k] - (best if j == k else 0.0)
                for a in range(k):
                    total -= L[j, a] * L[k, a]
                if k < j:
                    L[j, k] = total / L[k, k]
                elif total > 0.0:
                    L[j, j] = math.sqrt(total)
                else:
                    lower = True
        if lower:
            best = min(best, np.linalg.eigvalsh(M)[0])
            values[sample] = best


# Local minimisation over poses (compiled)

_STEPS = 120
_TRIALS = 30
_SETTLED = 1e-10


@kernel
def descended(
    first: int,
    last: int,
    arm: FlatArm,
    bodies: Array,
    rotors: Array,
    middle: Array,
    half: Array,
    q: Array,
    values: Array,
) -> None:
    r"""Move every pose downhill, in place, by the method of Broyden, Fletcher, Goldfarb and Shanno.

    A bounded coordinate is $q = m + h \sin x$ with x unbounded; h is infinite where q itself is. The step
    keeps the weak conditions of Wolfe, with which the method also copes where two eigenvalues meet.
    """
    n = arm.parent.size
    x, x_new, g, g_new, d, y = (np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    H = np.empty((n, n))
    for start in range(first, last):
        for i in range(n):
            x[i] = q[start, i]
            if half[i] < np.inf:
                x[i] = math.asin(max(-1.0, min(1.0, (x[i] - middle[i]) / half[i])))
        value = _value(arm, bodies, rotors, middle, half, x, q[start], g)
        fresh = True
        _reset(H)
        for _step in range(_STEPS):
            falls, size = _direction(H, g, d)
            if falls >= 0.0 and not fresh:
                fresh = True
                _reset(H)
                falls, size = _direction(H, g, d)
            if size <= _SETTLED:
                break
            t, low, high, new = (min(1.0, 0.5 / size) if fresh else 1.0), 0.0, np.inf, value
            for _trial in range(_TRIALS):
                for i in range(n):
                    x_new[i] = x[i] + t * d[i]
                new = _value(arm, bodies, rotors, middle, half, x_new, q[start], g_new)
                if new > value + 1e-4 * t * falls:
                    high = t
                elif _dot(g_new, d) < 0.5 * falls:
                    low = t
                else:
                    break
                t = 2.0 * low if high == np.inf else 0.5 * (low + high)
            if new >= value:
                if fresh:
                    break
                fresh = True
                _reset(H)
                continue
            settled = value - new <= _SETTLED * abs(value)
            value = new
            for i in range(n):
                y[i] = g_new[i] - g[i]
                d[i] = x_new[i] - x[i]
                x[i], g[i] = x_new[i], g_new[i]
            if settled:
                break
            along = _dot(d, y)
            if along > 0.0:
                if fresh:
                    for i in range(n):
                        H[i, i] = along / _dot(y, y)
                    fresh = False
                _update(H, d, y, along)
        values[start] = _value(arm, bodies, rotors, middle, half, x, q[start], g)


@kernel
def _reset(H: Array) -> None:
    """Make H the identity."""
    for i in range(len(H)):
        for j in range(len(H)):
            H[i, j] = 1.0 if i == j else 0.0


@kernel
def _dot(left: Array, right: Array) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel
def _direction(H: Array, g: Array, d: Array) -> tuple[float, float]:
    """Write d = -H g; returns its slope and its length."""
    for i in range(g.size):
        d[i] = -_dot(H[i], g)
    return _dot(d, g), math.sqrt(_dot(d, d))


@kernel
def _update(H: Array, s: Array, y: Array, along: float) -> None:
    r"""$H \leftarrow (1 - \rho s y^T)\,H\,(1 - \rho y s^T) + \rho s s^T$ with $1/\rho = s \cdot y$."""
    n = s.size
    Hy = np.empty(n)
    for i in range(n):
        Hy[i] = _dot(H[i], y)
    factor = (1.0 + _dot(y, Hy) / along) / along
    for i in range(n):
        for j in range(n):
            H[i, j] += factor * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / along


@kernel
def _value(
    arm: FlatArm, bodies: Array, rotors: Array, middle: Array, half: Array, x: Array, q: Array, g: Array
) -> float:
    """The smallest eigenvalue at unbounded coordinates; writes the pose q and the slope in x."""
    for i in range(x.size):
        q[i] = middle[i] + half[i] * math.sin(x[i]) if half[i] < np.inf else x[i]
    value = lowest(arm, bodies, rotors, q, g)
    for i in range(x.size):
        if half[i] < np.inf:
            g[i] *= half[i] * math.cos(x[i])
    return value


STARTS = 16
_CROWD = 16
"""Poses drawn for each start; half of the starts are the lowest of all."""
_NOTHING = 1e-13
"""Entries of a mass matrix below this, relative to the largest, are round-off."""


@dataclass(frozen=True, eq=False)
class LowPose:
    r"""The lowest eigenvalue met, with the pose and the unit direction x that have $x^T M(q)\,x$ so low.

    Attributes:
        value: the eigenvalue, kg·m² for turning and kg for sliding joints.
        pose: q, shape (nq,), rad or m.
        direction: x, shape (nv,), dimensionless.
        poses: how many poses were drawn.
    """

    value: float
    pose: Array
    direction: Array
    poses: int

    @property
    def refutes(self) -> bool:
        """Whether the mass matrix is not positive definite at the pose."""
        return self.value <= 0.0


def sample_poses(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    count: int,
    rng: np.random.Generator,
) -> LowPose:
    """Look at poses drawn evenly from a domain, as the audit of Oaki et al. (2026) does.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        count: how many poses.
        rng: source of the poses.

    Returns:
        The lowest eigenvalue met.
    """
    q = domain.draw(count, rng)
    values = _sampled(robot, layout, parameters, q)
    return _low_pose(robot, layout, parameters, q[int(values.argmin())], count)


def lowest_pose(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    starts: int = STARTS,
) -> LowPose:
    """Go downhill to local minima of the smallest eigenvalue, from drawn poses and the lowest of many.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        rng: source of the poses.
        starts: how many local searches, for each group of joints that couple.

    Returns:
        The lowest minimum found.
    """
    q, values = _descents(robot, layout, parameters, domain, rng, starts)
    return _low_pose(robot, layout, parameters, q[int(values.argmin())], _CROWD * starts)


def low_poses(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    starts: int = STARTS,
) -> tuple[Array, Array]:
    """All local minima of the smallest eigenvalue that `lowest_pose` chooses from.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        rng: source of the poses.
        starts: how many local searches, for each group of joints that couple.

    Returns:
        Poses, shape (N, nq), rad or m, and the eigenvalues there, shape (N,), SI, lowest first.
    """
    q, values = _descents(robot, layout, parameters, domain, rng, starts)
    order = np.argsort(values, kind="stable")
    return q[order], values[order]


def _descents(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    starts: int,
) -> tuple[Array, Array]:
    """Poses at the end of every way downhill, and the smallest eigenvalues there.

    Joints that never couple are searched apart: the smallest of their eigenvalues is no slope to any other.
    """
    crowd = domain.draw(_CROWD * starts, rng)
    phi = checked("parameters", parameters, (layout.size,))
    M = mass_matrix(robot, layout, phi, crowd)
    bodies, rotors = _numbers(robot, layout, phi)
    box = read_only_view(domain.middle), read_only_view(domain.half)
    ends = [crowd[:1]]
    for group in _coupled(M):
        block = M[:, group][:, :, group]
        if np.ptp(block, axis=0).max() <= _NOTHING * np.abs(block).max():
            continue
        order = np.argsort(np.linalg.eigvalsh(block)[:, 0], kind="stable")
        # The lowest lie in few valleys, perhaps not in the deepest: every second start is as it was drawn.
        low = order[: starts - starts // 2]
        rest = np.setdiff1d(np.arange(len(crowd)), low)[: starts // 2]
        q = np.ascontiguousarray(crowd[np.concatenate([low, rest])])
        lifted = rotors + 10.0 * np.abs(M).max() * ~group
        share(
            starts,
            descended,
            arm_of(robot),
            bodies,
            read_only_view(lifted),
            *box,
            q,
            np.empty(starts),
            least=4,
        )
        ends.append(q)
    q = np.concatenate(ends)
    return q, np.asarray(np.linalg.eigvalsh(mass_matrix(robot, layout, phi, q))[:, 0], dtype=np.float64)


def _coupled(M: Array) -> list[BoolArray]:
    """Groups of joints that no entry of any mass matrix couples, as masks."""
    entries = np.abs(M).max(axis=0)
    count, labels = connected_components(entries > _NOTHING * entries.max())
    return [labels == k for k in range(count)]


def _sampled(robot: Robot, layout: Layout, parameters: ArrayLike, q: Array) -> Array:
    phi = checked("parameters", parameters, (layout.size,))
    values = np.empty(len(q))
    share(len(q), sampled, arm_of(robot), *_numbers(robot, layout, phi), read_only_view(q), values)
    return values


def _low_pose(robot: Robot, layout: Layout, parameters: ArrayLike, q: Array, poses: int) -> LowPose:
    """Judged by the room `dynamics`, not by the kernel that found it."""
    values, vectors = np.linalg.eigh(mass_matrix(robot, layout, parameters, q[None])[0])
    return LowPose(float(values[0]), read_only(q), read_only(vectors[:, 0]), poses)


def _numbers(robot: Robot, layout: Layout, phi: Array) -> tuple[Array, Array]:
    """Ten numbers of every link, and the inertia of every rotor."""
    n = len(robot.links)
    rotors = np.zeros(n)
    columns = layout.drive_columns[:, 3]
    rotors[columns >= 0] = phi[columns[columns >= 0]]
    return read_only_view(phi[: 10 * n].reshape(n, 10)), read_only_view(rotors)
