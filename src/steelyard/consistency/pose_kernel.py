r"""The smallest eigenvalue of the mass matrix and its slope in the pose (compiled).

Link i has the twist $V_i = w_i + s_i v_i$ in its own frame, where $w_i = \mathrm{Ad}(q_i)^{-1} V_p$ is the
twist of its parent p seen from there and $s_i$ its joint's axis. With the unit eigenvector x of
$\lambda_{\min}(M(q))$, taken as joint rates,

$$\frac{\partial\lambda}{\partial q_k} = x^T \frac{\partial M}{\partial q_k}\,x
  = 2\,F_k \cdot \frac{\partial w_k}{\partial q_k} = -2\,F_k \cdot \mathrm{ad}_{s_k} w_k ,$$

with $F_k$ the momentum of all that joint k carries: one pass out and one back.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.consistency.pose_arm import Arm


@kernel
def place(arm: Arm, q: Array, R: Array, p: Array) -> None:
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
def momentum(body: Array, V: Array, h: Array) -> None:
    r"""Write the momentum $(m v + \omega \times \eta,\ \eta \times v + I\omega)$, first moment $\eta$."""
    m, a, b, c = body[0], body[1], body[2], body[3]
    h[0] = m * V[0] + V[4] * c - V[5] * b
    h[1] = m * V[1] + V[5] * a - V[3] * c
    h[2] = m * V[2] + V[3] * b - V[4] * a
    h[3] = b * V[2] - c * V[1] + body[4] * V[3] + body[5] * V[4] + body[7] * V[5]
    h[4] = c * V[0] - a * V[2] + body[5] * V[3] + body[6] * V[4] + body[8] * V[5]
    h[5] = a * V[1] - b * V[0] + body[7] * V[3] + body[8] * V[4] + body[9] * V[5]


@kernel
def inertia(arm: Arm, bodies: Array, rotors: Array, R: Array, p: Array, J: Array, M: Array) -> None:
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
            momentum(bodies[i], J[i, j], h)
            for k in range(j + 1):
                if arm.moves[i, k]:
                    for a in range(6):
                        M[j, k] += J[i, k, a] * h[a]
    for j in range(n):
        for k in range(j):
            M[k, j] = M[j, k]


@kernel
def slope(
    arm: Arm, bodies: Array, R: Array, p: Array, x: Array, w: Array, V: Array, F: Array, g: Array
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
        momentum(bodies[i], V[i], F[i])
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
def lowest(arm: Arm, bodies: Array, rotors: Array, q: Array, g: Array) -> float:
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
def sampled(first: int, last: int, arm: Arm, bodies: Array, rotors: Array, q: Array, values: Array) -> None:
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
