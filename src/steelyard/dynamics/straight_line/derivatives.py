r"""How accelerations answer to small changes: the derivatives of inverse dynamics in closed form.

With spatial vectors about each body's origin, $J$ the joint's axis, $V_\lambda, A_\lambda$ velocity and
acceleration of the parent as seen from the child's frame, and

$$\dot\Psi = V_\lambda \times J, \qquad \ddot\Psi = A_\lambda \times J + V_\lambda \times \dot\Psi,$$

a change of $q_k$ moves all that joint k carries as one body and changes its velocity by $\dot\Psi_k$. With
I, B and F the composite inertia, Coriolis operator and wrench of what joint i carries, the sum of
$\delta f = I\,\ddot\Psi_k + 2B\,\dot\Psi_k$ gives, for k on the way from i to the base, i included,

$$\frac{\partial\tau_i}{\partial q_k} = J_i \cdot (I_i \ddot\Psi_k + 2B_i \dot\Psi_k), \qquad
  \frac{\partial\tau_i}{\partial v_k} = J_i \cdot (2 I_i \dot\Psi_k + 2B_i J_k),$$
$$\frac{\partial\tau_k}{\partial q_i} = J_k \cdot (I_i \ddot\Psi_i + 2B_i \dot\Psi_i + J_i \times^* F_i),
  \qquad \frac{\partial\tau_k}{\partial v_i} = J_k \cdot (2 I_i \dot\Psi_i + 2B_i J_i).$$

The Coriolis operator only sees the angular part z of a twist. With $P = \sum m \dot r$ and
$K = \sum m \dot r r^T$ over the matter of the composite,

$$2B z = \big(2 z \times P,\; 2 (\operatorname{tr} K\,1 - K)\,z\big),$$

so twelve numbers stand for it, and they add.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.dynamics.straight_line.expression import Expression, constants, cross
from steelyard.dynamics.straight_line.forward import Composite, bodies
from steelyard.dynamics.straight_line.model import Model

Entries = dict[tuple[int, int], Expression]
"""Scalars of a matrix by row and column; those left out are zero."""


@dataclass
class Motion:
    """Twist, spatial acceleration and their parts from the parent, of one body in its own frame.

    Attributes:
        v: velocity of the frame's origin (3,).
        w: angular velocity (3,).
        A: spatial acceleration of the origin, gravity included (3,).
        b: angular acceleration (3,).
        slip: Ψ̇, linear and angular part.
        sweep: Ψ̈, linear and angular part.
    """

    v: Expression
    w: Expression
    A: Expression
    b: Expression
    slip: tuple[Expression, Expression]
    sweep: tuple[Expression, Expression]


@dataclass
class Load:
    """What joint i carries, in the frame of body i: composite, P, K and the wrench (f, n)."""

    body: Composite
    P: Expression
    K: Expression
    f: Expression
    n: Expression

    def to_parent(self, R: Expression, p: Expression) -> Load:
        """The same, seen from the parent."""
        P, f = R @ self.P, R @ self.f
        K = R @ self.K @ R.T + np.outer(P, p)
        return Load(self.body.to_parent(R, p), P, K, f, R @ self.n + cross(p, f))

    def __add__(self, other: Load) -> Load:
        """Bolt two together."""
        return Load(
            self.body + other.body, self.P + other.P, self.K + other.K, self.f + other.f, self.n + other.n
        )

    def coriolis(self, z: Expression) -> tuple[Expression, Expression]:
        """2B applied to a twist with angular part z."""
        return 2.0 * cross(z, self.P), 2.0 * (np.trace(self.K) * z - self.K @ z)

    def coriolis_transposed(self, linear: Expression, angular: Expression) -> Expression:
        """The angular part of (2B)ᵀ applied to a twist; its linear part is zero."""
        return 2.0 * (cross(self.P, linear) + np.trace(self.K) * angular - self.K.T @ angular)


def motions(model: Model, a: list[Expression]) -> list[Motion]:
    """How every body moves under the accelerations a, from the base outwards."""
    found: list[Motion] = []
    for i, up in enumerate(model.parent):
        R, p, e, c = model.R[i], model.p[i], model.linear[i], model.angular[i]
        if up >= 0:
            last = found[up]
            v, w = R.T @ (last.v + cross(last.w, p)), R.T @ last.w
            A, b = R.T @ (last.A + cross(last.b, p)), R.T @ last.b
        else:
            v = w = b = constants(np.zeros(3))
            A = R.T @ constants(-model.tree.gravity)
        slip = _crossed(v, w, e, c)
        acceleration, velocity = _crossed(A, b, e, c), _crossed(v, w, *slip)
        sweep = acceleration[0] + velocity[0], acceleration[1] + velocity[1]
        rate = model.v[i]
        found.append(
            Motion(
                v + e * rate,
                w + c * rate,
                A + e * a[i] + slip[0] * rate,
                b + c * a[i] + slip[1] * rate,
                slip,
                sweep,
            )
        )
    return found


def _crossed(
    v: Expression, w: Expression, linear: Expression, angular: Expression
) -> tuple[Expression, Expression]:
    """The motion product of (v, w) with another twist."""
    return cross(w, linear) + cross(v, angular), cross(w, angular)


def _alone(body: Composite, motion: Motion) -> Load:
    P, L = body.momentum(motion.v, motion.w)
    f, n = body.momentum(motion.A, motion.b)
    size = 0.5 * np.trace(body.I)
    spread = size * constants(np.eye(3)) - body.I  # Σ m r rᵀ
    K = np.outer(motion.v, body.h) + np.stack([cross(motion.w, column) for column in spread.T], axis=1)
    f = f + cross(motion.w, P)
    n = n + cross(motion.w, L) + cross(motion.v, P)
    return Load(body, P, K, f, n)


def derivatives(model: Model, moving: list[Motion]) -> tuple[Entries, Entries]:
    """I_q and I_v."""
    count = len(moving)
    whole = [_alone(body, motion) for body, motion in zip(bodies(model), moving, strict=True)]
    position: Entries = {}
    velocity: Entries = {}
    for i in reversed(range(count)):
        R, p, e, c = model.R[i], model.p[i], model.linear[i], model.angular[i]
        this, motion = whole[i], moving[i]
        # Row i: what J_i feels of a twist below; column i: what a change of joint i does, felt below.
        row = this.body.momentum(e, c)
        twist = this.coriolis_transposed(e, c)
        by_q = _sum(this.body.momentum(*motion.sweep), this.coriolis(motion.slip[1]))
        turn = cross(c, this.f), cross(c, this.n) + cross(e, this.f)
        by_v = _sum(
            _sum(this.body.momentum(*motion.slip), this.body.momentum(*motion.slip)), this.coriolis(c)
        )
        position[i, i] = _along(e, c, by_q)
        velocity[i, i] = _along(e, c, by_v) + model.drive[i][0]
        by_q = _sum(by_q, turn)
        body = i
        for k in model.ancestors(i):
            R, p, e, c = model.R[body], model.p[body], model.linear[k], model.angular[k]
            row, by_q, by_v = (_moved(R, p, wrench) for wrench in (row, by_q, by_v))
            twist = R @ twist
            at = moving[k]
            position[i, k] = _along(*at.sweep, row) + at.slip[1] @ twist
            velocity[i, k] = 2.0 * _along(*at.slip, row) + c @ twist
            position[k, i] = _along(e, c, by_q)
            velocity[k, i] = _along(e, c, by_v)
            body = k
        if (up := model.parent[i]) >= 0:
            whole[up] = whole[up] + this.to_parent(model.R[i], model.p[i])
    return position, velocity


def _sum(x: tuple[Expression, Expression], y: tuple[Expression, Expression]) -> tuple[Expression, Expression]:
    return x[0] + y[0], x[1] + y[1]


def _moved(
    R: Expression, p: Expression, wrench: tuple[Expression, Expression]
) -> tuple[Expression, Expression]:
    """A wrench (force, moment) in the parent's frame."""
    force = R @ wrench[0]
    return force, R @ wrench[1] + cross(p, force)


def _along(linear: Expression, angular: Expression, wrench: tuple[Expression, Expression]) -> Expression:
    """Power of a wrench along a twist."""
    return linear @ wrench[0] + angular @ wrench[1]
