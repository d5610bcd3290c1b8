r"""Torques of a reference motion on the measured one, with what uncertain parameters can change of them.

The plant and the torque of a reference velocity $v_a$ and acceleration $a_a$ at the measured state are

$$\tau = H\dot v + C v + g + F_v v + F_c\,s + F_o,\quad s \in \operatorname{sign}(v), \qquad
  Y\theta = H a_a + C v_a + g + F_v v_a + F_c\,s_a + F_o,$$

rotors in H, $\dot H - 2C$ skew. Friction is taken at the reference: $s_a = \operatorname{sat}(v_a / v_0)$,
$\operatorname{sign}(v_a)$ for $v_0 = 0$. With $\tau = Y\theta_0 + u$ and $r = v_a - v$ their difference is

$$H\dot r + C r + F_v r = w - u + F_c\,(s - s_a), \qquad w = Y(\theta - \theta_0).$$

Where $|v_a| \ge v_0$ the last term never drives the error: $(v_a - v)(s - s_a) \le 0$, as the sign is
monotone, for a joint that sticks as well. Where the reference is nearer to rest the sign is an interval: s
may be anything, and what of $s - s_a$ has the sign of r is at most $1 - |s_a|$. So

$$r^T\big(w + F_c(s - s_a)\big) \le |r|^T w_M, \qquad
  w_M = |Y|\,\Delta + \overline F_c\,(1 - |s_a|),$$

with half-widths Δ of the parameters and the upper ends $\overline F_c$. The measured velocity's sign is not
used: an error in it cannot turn a friction torque around.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.passivity import reference_columns, reference_pass
from steelyard.dynamics.regressor import axes_in_bodies
from steelyard.dynamics.tree import Tree

VISCOUS, COULOMB, OFFSET, ROTOR = range(4)
"""Columns of the linear drive in `Numbers.drive`."""
_OUTWARD = 1.0 + 1e-12
"""Covers the rounding of sums of some hundred terms."""


@kernel
def friction_sign(v_a: float, rest_velocity: float) -> float:
    """The direction in which friction is compensated: of the reference velocity, less near rest."""
    if abs(v_a) >= rest_velocity:
        return 1.0 if v_a > 0.0 else (-1.0 if v_a < 0.0 else 0.0)
    return v_a / rest_velocity


@kernel
def link_rows(tree: Tree, q: Array, v: Array, v_a: Array, a_a: Array, J: Array, Y: Array) -> None:
    """Write the links' columns of Y, shape (nv, 10 nb), and the joints' axes J in the bodies, (nb, nv, 6)."""
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    w_a = np.empty((nb, 3))
    A = np.empty((nb, 6))
    reference_pass(tree, q, v, v_a, a_a, R, p, w, w_a, A)
    axes_in_bodies(tree, R, p, J)
    Y[:] = 0.0
    for i in range(nb):
        for s in range(tree.support_start[i], tree.support_start[i + 1]):
            k = tree.support[s]
            reference_columns(i, k, w, w_a, A, J, Y[k])


@kernel
def reference_torque(
    numbers: Numbers, rest_velocity: float, v_a: Array, a_a: Array, Y: Array, tau: Array
) -> None:
    r"""Write $Y\theta_0$, links and drives, from the links' rows."""
    drive = numbers.drive
    for k in range(v_a.size):
        s = friction_sign(v_a[k], rest_velocity)
        total = drive[k, OFFSET] + drive[k, VISCOUS] * v_a[k] + drive[k, COULOMB] * s
        total += drive[k, ROTOR] * a_a[k]
        for i in range(numbers.links.shape[0]):
            for c in range(10):
                total += Y[k, 10 * i + c] * numbers.links[i, c]
        tau[k] = total


@kernel
def largest_disturbance(
    numbers: Numbers, half: Numbers, rest_velocity: float, v_a: Array, a_a: Array, Y: Array, w_M: Array
) -> None:
    r"""Write $w_M$ for the box `numbers` give or take `half`, rounded outward."""
    for k in range(v_a.size):
        s = abs(friction_sign(v_a[k], rest_velocity))
        total = half.drive[k, OFFSET] + half.drive[k, VISCOUS] * abs(v_a[k]) + half.drive[k, COULOMB] * s
        if rest_velocity > 0.0:
            total += (numbers.drive[k, COULOMB] + half.drive[k, COULOMB]) * (1.0 - s)
        total += half.drive[k, ROTOR] * abs(a_a[k])
        for i in range(numbers.links.shape[0]):
            for c in range(10):
                total += abs(Y[k, 10 * i + c]) * half.links[i, c]
        w_M[k] = total * _OUTWARD


@kernel
def largest_energy(tree: Tree, numbers: Numbers, half: Numbers, r: Array, J: Array) -> float:
    r"""The most that $\tfrac12 r^T H(q, \theta)\,r$ can be in the box, rounded outward.

    The energy of a body with velocities u, ω is linear in its parameters,
    $\tfrac12 m u^2 + h \cdot (u \times \omega) + \tfrac12 \omega^T I \omega$.
    """
    total = 0.0
    V = np.empty(6)
    column = np.empty(10)
    for i in range(tree.parent.size):
        V[:] = 0.0
        for s in range(tree.support_start[i], tree.support_start[i + 1]):
            k = tree.support[s]
            for c in range(6):
                V[c] += J[i, k, c] * r[k]
        u, o = V[:3], V[3:]
        column[0] = 0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
        column[1] = u[1] * o[2] - u[2] * o[1]
        column[2] = u[2] * o[0] - u[0] * o[2]
        column[3] = u[0] * o[1] - u[1] * o[0]
        column[4], column[5], column[6] = 0.5 * o[0] * o[0], o[0] * o[1], 0.5 * o[1] * o[1]
        column[7], column[8], column[9] = o[0] * o[2], o[1] * o[2], 0.5 * o[2] * o[2]
        for c in range(10):
            total += column[c] * numbers.links[i, c] + abs(column[c]) * half.links[i, c]
    for k in range(r.size):
        total += 0.5 * (numbers.drive[k, ROTOR] + half.drive[k, ROTOR]) * r[k] * r[k]
    return total * _OUTWARD
