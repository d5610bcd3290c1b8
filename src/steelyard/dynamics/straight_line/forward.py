r"""Accelerations as one expression: $a = H^{-1}(\tau - b)$ with $H = L^T D L$, free of fill-in on a tree.

Eliminating from the leaves towards the base keeps the zeros that branches make in H.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.dynamics.straight_line.expression import Expression, constants, cross, is_zero, turned
from steelyard.dynamics.straight_line.model import Model

_ZERO = constants(np.zeros(3))


@dataclass
class Composite:
    """A body together with everything it carries, in its own frame.

    Attributes:
        m: mass.
        h: first moments (3,).
        I: second moments about the frame's origin (3, 3).
    """

    m: Expression
    h: Expression
    I: Expression  # noqa: E741

    def to_parent(self, R: Expression, p: Expression) -> Composite:
        r"""The same matter seen from the parent: $I^P = R I R^T + 2 (p \cdot r) 1 - p r^T - r p^T$."""
        h = R @ self.h
        r = h + 0.5 * self.m * p
        mixed = np.outer(p, r)
        shift = 2.0 * (p @ r) * constants(np.eye(3)) - mixed - mixed.T
        return Composite(self.m, h + self.m * p, turned(R, self.I) + shift)

    def __add__(self, other: Composite) -> Composite:
        """Bolt two together."""
        return Composite(self.m + other.m, self.h + other.h, self.I + other.I)

    def momentum(self, linear: Expression, angular: Expression) -> tuple[Expression, Expression]:
        """Force-like product with a twist: linear part, then moment about the origin."""
        force = self.m * linear + cross(angular, self.h)
        return force, cross(self.h, linear) + self.I @ angular


def bodies(model: Model) -> list[Composite]:
    """Each body alone."""
    return [Composite(*given) for given in zip(model.mass, model.first, model.second, strict=True)]


def bias(model: Model) -> list[Expression]:
    """Torques without acceleration or drive: the Newton-Euler recursion with proper accelerations."""
    count = len(model.parent)
    w: list[Expression] = []
    d: list[Expression] = []
    b: list[Expression] = []
    force: list[Expression] = []
    moment: list[Expression] = []
    for i, body in enumerate(bodies(model)):
        R, p, up = model.R[i], model.p[i], model.parent[i]
        if up >= 0:
            turning = R.T @ w[up]
            swing = cross(w[up], cross(w[up], p)) + cross(b[up], p)
            proper, spin = R.T @ (d[up] + swing), R.T @ b[up]
        else:
            proper, spin, turning = R.T @ constants(-model.tree.gravity), _ZERO, _ZERO
        u, o = model.linear[i] * model.v[i], model.angular[i] * model.v[i]
        w.append(turning + o)
        b.append(spin + cross(turning, o))
        d.append(proper + cross(2.0 * turning + o, u))
        momentum = cross(w[i], body.h)
        spun = body.I @ w[i]
        force.append(body.m * d[i] + cross(b[i], body.h) + cross(w[i], momentum))
        moment.append(cross(body.h, d[i]) + body.I @ b[i] + cross(w[i], spun))
    torque: list[Expression] = [None] * count
    for i in reversed(range(count)):
        torque[i] = model.linear[i] @ force[i] + model.angular[i] @ moment[i]
        if (up := model.parent[i]) >= 0:
            carried = model.R[i] @ force[i]
            force[up] += carried
            moment[up] += model.R[i] @ moment[i] + cross(model.p[i], carried)
    return torque


def composites(model: Model) -> list[Composite]:
    """Each body with all it carries."""
    whole = bodies(model)
    for i in reversed(range(len(whole))):
        if (up := model.parent[i]) >= 0:
            whole[up] = whole[up] + whole[i].to_parent(model.R[i], model.p[i])
    return whole


def mass_matrix(model: Model) -> dict[tuple[int, int], Expression]:
    """Lower entries H[k, j], j an ancestor of k or k itself; all others are zero."""
    H: dict[tuple[int, int], Expression] = {}
    for k, whole in enumerate(composites(model)):
        force, moment = whole.momentum(model.linear[k], model.angular[k])
        H[k, k] = model.linear[k] @ force + model.angular[k] @ moment + model.drive[k][3]
        body = k
        for j in model.ancestors(k):
            force = model.R[body] @ force
            moment = model.R[body] @ moment + cross(model.p[body], force)
            H[k, j] = model.linear[j] @ force + model.angular[j] @ moment
            body = j
    return H


@dataclass
class Factor:
    """The factor of H: `lower[k, j]` for ancestors j of k, `pivot[k]` and its inverse."""

    lower: dict[tuple[int, int], Expression]
    pivot: list[Expression]
    inverse: list[Expression]

    def solve(self, model: Model, right: list[Expression]) -> list[Expression]:
        """H⁻¹ times a vector."""
        x = list(right)
        for k in reversed(range(len(x))):
            for j in model.ancestors(k):
                x[j] -= self.lower[k, j] * x[k]
        x = [value * inverse for value, inverse in zip(x, self.inverse, strict=True)]
        for k in range(len(x)):
            for j in model.ancestors(k):
                x[k] -= self.lower[k, j] * x[j]
        return x


def factorise(model: Model, H: dict[tuple[int, int], Expression]) -> Factor:
    """Eliminate from the leaves to the base."""
    count = len(model.parent)
    left, lower = dict(H), {}
    inverse: list[Expression] = [None] * count
    for k in reversed(range(count)):
        # A joint that moves no inertia has none to divide by; its pivot says so.
        inverse[k] = np.inf if is_zero(left[k, k]) else 1.0 / left[k, k]
        above = model.ancestors(k)
        for place, i in enumerate(above):
            lower[k, i] = left[k, i] * inverse[k]
            for j in above[place:]:
                left[i, j] -= lower[k, i] * left[k, j]
    return Factor(lower, [left[k, k] for k in range(count)], inverse)


def accelerations(model: Model, factor: Factor) -> list[Expression]:
    """H⁻¹ (τ - b - friction)."""
    right = []
    for k, still in enumerate(bias(model)):
        viscous, coulomb, offset, _ = model.drive[k]
        right.append(model.tau[k] - still - (viscous * model.v[k] + coulomb * model.sign[k] + offset))
    return factor.solve(model, right)
