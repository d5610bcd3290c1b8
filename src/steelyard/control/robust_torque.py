r"""The robust torque of a tracking law and the one bound of it that controller and certifier share.

The error obeys $H\dot r + C r + F_v r = w' - u$ with $r^T w' \le |r|^T w_M$ (see `passivity_terms`), so

$$V = \tfrac12 r^T H(q, \theta)\,r, \qquad \dot V \le |r|^T w_M - r^T u - r^T F_v r.$$

Let $\overline V \ge V$ be the most that V can be over the box, $n = r / \|r\|$. Three forms of u keep
$V \le V_M$ once it is so:

*armour* (Michaux et al., ARMOUR, as used in paper 000): $u = \lambda n$,
$\lambda = \max(0,\; |n|^T w_M - \alpha\,(V_M - \overline V) / \|r\|)$. Then
$\dot V \le \alpha\,(V_M - \overline V) \le \alpha\,(V_M - V)$ everywhere.

*clamped*: the same with $\lambda \le |n|^T w_M$. Where $V \ge V_M$ also $\overline V \ge V_M$, so
$\lambda = |n|^T w_M$ and $\dot V \le 0$.

*componentwise*: $u_j = \kappa r_j + w_{M,j} \operatorname{sat}(r_j / \delta)$. Since
$|r_j|\,(1 - |r_j| / \delta) \le \delta / 4$ inside the layer,
$\dot V \le \tfrac\delta4 \sum_j w_{M,j} - \kappa\,\|r\|^2$. With the layer
$\delta = 4\kappa\,\|r\|^2 \max(1, V_M / \overline V) / \sum_j w_{M,j}$ this is at most zero where
$V \ge V_M$. The layer never closes: $\|r\|^2 / \overline V$ is at least twice the inverse of the largest
inertia.

In the last two $\dot V \le 0$ holds on all of $V \ge V_M$, not on its edge alone, so no uniqueness of
solutions is needed: were V above $V_M$ at some time, it would not have grown since it last was $V_M$. The
jumps of friction change nothing: each limit of the right side satisfies the inequality, so every mean of them
does. All three are continuous at r = 0, where the robust torque is zero.

Within the tube, $\|r\| \le \varepsilon$ with $V_M = \tfrac12 \sigma_m \varepsilon^2$. As the most of
$|n_j|\,|n|^T w$ over unit vectors is $\tfrac12(\|w\| + w_j)$ and $\overline V \le \tfrac12 \sigma_M \|r\|^2$,

$$|u_j| \le \rho_j = \begin{cases}
  \tfrac12(\|w_M\| + w_{M,j}) + \tfrac12\alpha\varepsilon(\sigma_M - \sigma_m) & \text{armour} \\
  \tfrac12(\|w_M\| + w_{M,j}) & \text{clamped} \\
  w_{M,j} + \kappa\varepsilon & \text{componentwise.} \end{cases}$$

ρ grows with every entry of $w_M$, so an upper bound of $w_M$ gives one of ρ. The controller holds its torque
within ρ, which changes nothing in the tube but the last bits; outside of it, where the proof is void, no more
torque is commanded than was certified.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel

FORMS = ("armour", "clamped", "componentwise")
"""Forms of the robust torque; compiled code knows them by their place."""
ARMOUR, CLAMPED, COMPONENTWISE = range(len(FORMS))


@kernel
def robust_radius(form: int, reserve: float, w_M: Array, radius: Array) -> None:
    r"""Write ρ, the most torque per joint that the robust term can have in the tube.

    `reserve` is what ρ adds to the part of $w_M$: $\tfrac12\alpha\varepsilon(\sigma_M - \sigma_m)$, 0, or
    $\kappa\varepsilon$.
    """
    norm = 0.0
    for j in range(w_M.size):
        norm += w_M[j] * w_M[j]
    norm = math.sqrt(norm)
    for j in range(w_M.size):
        part = w_M[j] if form == COMPONENTWISE else 0.5 * (norm + w_M[j])
        radius[j] = part + reserve


@kernel
def robust_torque(
    form: int,
    level: float,
    gain: float,
    reserve: float,
    r: Array,
    w_M: Array,
    most_energy: float,
    u: Array,
) -> None:
    r"""Write the robust torque u; `level` is $V_M$, `gain` α or κ, `most_energy` $\overline V$."""
    square = 0.0
    pushed = 0.0
    total = 0.0
    for j in range(r.size):
        square += r[j] * r[j]
        pushed += abs(r[j]) * w_M[j]
        total += w_M[j]
    if square == 0.0:
        u[:] = 0.0
        return
    if form == COMPONENTWISE:
        layer = 4.0 * gain * square * max(1.0, level / most_energy)  # δ times the sum of w_M
        for j in range(r.size):
            share = 1.0 if abs(r[j]) * total >= layer else abs(r[j]) * total / layer
            u[j] = gain * r[j] + math.copysign(w_M[j] * share, r[j])
    else:
        # λ / |r|, with the powers |r|ᵀ w_M and α (V_M - V) in its numerator.
        power = max(0.0, pushed - gain * (level - most_energy))
        if form == CLAMPED:
            power = min(power, pushed)
        for j in range(r.size):
            u[j] = power / square * r[j]
    radius = np.empty(r.size)
    robust_radius(form, reserve, w_M, radius)
    for j in range(r.size):
        u[j] = min(max(u[j], -radius[j]), radius[j])
