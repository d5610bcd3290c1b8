"""What pushes the arm from outside, from its momentum: no acceleration, no inverse (compiled)."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.inverse_dynamics import add_to_parent
from steelyard.dynamics.mass_matrix import momentum_of_axis
from steelyard.dynamics.motion_pass import cross
from steelyard.dynamics.tree import Tree
from steelyard.dynamics.velocity_pass import carry_gravity, velocity_pass


@kernel
def momentum_and_rate(
    tree: Tree,
    numbers: Numbers,
    q: Array,
    v: Array,
    R: Array,
    p: Array,
    V: Array,
    g: Array,
    F: Array,
    G: Array,
    momentum: Array,
    rate: Array,
) -> None:
    r"""Write $H v$ and $C^T v - g - F_v v - F_o$ of one sample, each (nv,).

    All that a joint carries beyond it has the momentum $F$ and the weight $G$, wrenches in the frame of the
    joint's body; its axis s is fixed in that body, whose twist is V, and so changes by $V \times s$:

    $$(H v)_k = s \cdot F + I_a v_k, \qquad (C^T v - g)_k = (V \times s) \cdot F + s \cdot G.$$

    R (nb, 3, 3) and p (nb, 3) are left with the pose of every body in its parent; V (nb, 6), g (nb, 3),
    F (nb, 6) and G (nb, 6) are scratch.
    """
    velocity_pass(tree, q, v, R, p, V)
    nb = tree.parent.size
    for i in range(nb):
        momentum_of_axis(numbers.links, i, i, V, F)
        carry_gravity(tree, i, R, g)
        m, hx, hy, hz = numbers.links[i, 0], numbers.links[i, 1], numbers.links[i, 2], numbers.links[i, 3]
        G[i, 0], G[i, 1], G[i, 2] = m * g[i, 0], m * g[i, 1], m * g[i, 2]
        G[i, 3], G[i, 4], G[i, 5] = cross(hx, hy, hz, g[i, 0], g[i, 1], g[i, 2])
    for i in range(nb - 1, -1, -1):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            s = tree.subspace[k]
            ax, ay, az = cross(V[i, 3], V[i, 4], V[i, 5], s[0], s[1], s[2])
            bx, by, bz = cross(V[i, 0], V[i, 1], V[i, 2], s[3], s[4], s[5])
            cx, cy, cz = cross(V[i, 3], V[i, 4], V[i, 5], s[3], s[4], s[5])
            turning = (ax + bx) * F[i, 0] + (ay + by) * F[i, 1] + (az + bz) * F[i, 2]
            turning += cx * F[i, 3] + cy * F[i, 4] + cz * F[i, 5]
            along, weight = 0.0, 0.0
            for c in range(6):
                along += s[c] * F[i, c]
                weight += s[c] * G[i, c]
            momentum[k] = along + numbers.drive[k, 3] * v[k]
            rate[k] = turning + weight - numbers.drive[k, 0] * v[k] - numbers.drive[k, 2]
        if tree.parent[i] >= 0:
            add_to_parent(R, p, F, i, tree.parent[i])
            add_to_parent(R, p, G, i, tree.parent[i])


@kernel
def observe(
    gain: Array,
    cycle: float,
    momentum: Array,
    rate: Array,
    known: Array,
    last_momentum: Array,
    last_rate: Array,
    external: Array,
) -> None:
    r"""Update the external torque r (nv,) over one cycle, and the last momentum and rate with it.

    $\dot r = K_O\,(\dot p - u - r)$ with u the sum of all known torques: those held over the cycle, `known`,
    and `rate`, by the trapezoid of its ends. Implicit in r, so no gain makes it unstable:

    $$r_k = \frac{r_{k-1} + K_O\,\big(p_k - p_{k-1} - h\,u\big)}{1 + h K_O}.$$
    """
    for k in range(momentum.size):
        u = known[k] + 0.5 * (last_rate[k] + rate[k])
        change = momentum[k] - last_momentum[k]
        external[k] = (external[k] + gain[k] * (change - cycle * u)) / (1.0 + cycle * gain[k])
        last_momentum[k] = momentum[k]
        last_rate[k] = rate[k]
