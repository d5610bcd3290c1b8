"""The dynamics of one robot as expressions: bias, mass matrix, accelerations, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics.straight_line.expression import (
    Expression,
    ExpressionGraph,
    constants,
    is_zero,
    symbolic_cross,
    symmetric_matrix,
    turned,
)
from steelyard.dynamics.tree import Tree
from steelyard.layout import Layout

# Which parameters generated code carries.


@dataclass(frozen=True)
class CarriedParameters:
    """Which parameters the code carries; the others are zero and leave no trace in it.

    Attributes:
        links: whether each inertial parameter is carried, nb rows of ten.
        drive: whether each drive term is carried, nv rows of four.
    """

    links: tuple[tuple[bool, ...], ...]
    drive: tuple[tuple[bool, ...], ...]

    @property
    def columns(self) -> list[tuple[str, int, int]]:
        """Kind, row and column (in `Numbers`) of every carried parameter, links first."""
        return [
            (kind, row, column)
            for kind, rows in (("links", self.links), ("drive", self.drive))
            for row, entries in enumerate(rows)
            for column, carried in enumerate(entries)
            if carried
        ]


def carried_parameters(layout: Layout, basis: Array | None = None) -> CarriedParameters:
    r"""The parameters of a layout that can differ from zero in $\phi = B\theta$.

    Args:
        layout: the order of phi.
        basis: B, shape (p, b), SI; None for the identity.

    Returns:
        Those whose row of B is not zero.
    """
    kept = [True] * layout.size if basis is None else [bool(row.any()) for row in np.asarray(basis)]
    return CarriedParameters(
        tuple(tuple(kept[10 * i : 10 * i + 10]) for i in range(len(layout.links))),
        tuple(tuple(c >= 0 and kept[c] for c in columns) for columns in layout.drive_columns.tolist()),
    )


# The robot as expressions, with every exact zero and one of its description used.

# An entry of a placement this close to 0 or ±1 is taken as exact: it is the rounding of a quarter turn.
EXACT = 4.0 * np.finfo(np.float64).eps


class SymbolicRobot:
    """Symbols of one tree with one degree of freedom per joint, in body frames.

    Attributes:
        tree: the flat arrays of the robot.
        graph: where the symbols and all that is made of them are.
        parent: parent of each body, -1 for the base.
        symbols: every symbol, in the order in which `kernels` writes their values: cos q, sin q, q, v,
            sign v and tau of every joint, then the link and the drive numbers.
        R: R_PC of each body (3, 3).
        p: p_PC_P of each body (3,).
        linear: linear part of each joint's axis (3,).
        angular: angular part of each joint's axis (3,).
        v: velocity of each joint.
        sign: its sign.
        tau: torque at each joint.
        mass: mass of each body.
        first: first moments of each body (3,).
        second: second moments of each body (3, 3).
        drive: viscous, Coulomb, offset and rotor of each joint.
    """

    def __init__(self, tree: Tree, carried: CarriedParameters) -> None:
        count = tree.parent.size
        self.tree = tree
        self.graph = ExpressionGraph()
        self.parent = [int(x) for x in tree.parent]
        cos, sin, q, v, sign, tau = (self.graph.symbols(count) for _ in range(6))
        links = [self.graph.symbols(10) for _ in range(count)]
        drive = [self.graph.symbols(4) for _ in range(count)]
        self.symbols = [x for group in (cos, sin, q, v, sign, tau, *links, *drive) for x in group]
        self.v, self.sign, self.tau = v, sign, tau
        self.linear = [constants(exact_constant(s[:3])) for s in tree.subspace]
        self.angular = [constants(exact_constant(s[3:])) for s in tree.subspace]
        self.R = [
            constants(exact_constant(tree.rotation_one[i]))
            + cos[i] * constants(exact_constant(tree.rotation_cos[i]))
            + sin[i] * constants(exact_constant(tree.rotation_sin[i]))
            for i in range(count)
        ]
        self.p = [
            constants(exact_constant(tree.offset[i])) + q[i] * constants(exact_constant(tree.slide[i]))
            for i in range(count)
        ]
        kept = [_kept(links[i], carried.links[i]) for i in range(count)]
        self.mass = [phi[0] for phi in kept]
        self.first = [np.array(phi[1:4], dtype=object) for phi in kept]
        self.second = [symmetric_matrix(*phi[4:]) for phi in kept]
        self.drive = [_kept(drive[i], carried.drive[i]) for i in range(count)]

    def ancestors(self, i: int) -> list[int]:
        """Bodies between i and the base, nearest first, without i."""
        found = []
        while (i := self.parent[i]) >= 0:
            found.append(i)
        return found


def _kept(symbols: list[Expression], carried: tuple[bool, ...]) -> list[Expression]:
    return [x if keep else 0.0 for x, keep in zip(symbols, carried, strict=True)]


def exact_constant(values: Array) -> Array:
    """Round entries that are 0 or ±1 but for the rounding of a quarter turn.

    Args:
        values: entries of a placement, any shape, dimensionless or m.

    Returns:
        The rounded values, same shape and unit.
    """
    whole = np.round(values)
    near = (np.abs(values - whole) <= EXACT) & (np.abs(whole) <= 1.0)
    return np.where(near, whole, values)


# Accelerations as one expression: $a = H^{-1}(\tau - b)$ with $H = L^T D L$, free of fill-in on a tree.
#
# Eliminating from the leaves towards the base keeps the zeros that branches make in H.

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
        force = self.m * linear + symbolic_cross(angular, self.h)
        return force, symbolic_cross(self.h, linear) + self.I @ angular


def bodies(model: SymbolicRobot) -> list[Composite]:
    """Each body alone."""
    return [Composite(*given) for given in zip(model.mass, model.first, model.second, strict=True)]


def symbolic_bias(model: SymbolicRobot) -> list[Expression]:
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
            swing = symbolic_cross(w[up], symbolic_cross(w[up], p)) + symbolic_cross(b[up], p)
            proper, spin = R.T @ (d[up] + swing), R.T @ b[up]
        else:
            proper, spin, turning = R.T @ constants(-model.tree.gravity), _ZERO, _ZERO
        u, o = model.linear[i] * model.v[i], model.angular[i] * model.v[i]
        w.append(turning + o)
        b.append(spin + symbolic_cross(turning, o))
        d.append(proper + symbolic_cross(2.0 * turning + o, u))
        momentum = symbolic_cross(w[i], body.h)
        spun = body.I @ w[i]
        force.append(body.m * d[i] + symbolic_cross(b[i], body.h) + symbolic_cross(w[i], momentum))
        moment.append(symbolic_cross(body.h, d[i]) + body.I @ b[i] + symbolic_cross(w[i], spun))
    torque: list[Expression] = [None] * count
    for i in reversed(range(count)):
        torque[i] = model.linear[i] @ force[i] + model.angular[i] @ moment[i]
        if (up := model.parent[i]) >= 0:
            carried = model.R[i] @ force[i]
            force[up] += carried
            moment[up] += model.R[i] @ moment[i] + symbolic_cross(model.p[i], carried)
    return torque


def composites(model: SymbolicRobot) -> list[Composite]:
    """Each body with all it carries."""
    whole = bodies(model)
    for i in reversed(range(len(whole))):
        if (up := model.parent[i]) >= 0:
            whole[up] = whole[up] + whole[i].to_parent(model.R[i], model.p[i])
    return whole


def symbolic_mass_matrix(model: SymbolicRobot) -> dict[tuple[int, int], Expression]:
    """Lower entries H[k, j], j an ancestor of k or k itself; all others are zero."""
    H: dict[tuple[int, int], Expression] = {}
    for k, whole in enumerate(composites(model)):
        force, moment = whole.momentum(model.linear[k], model.angular[k])
        H[k, k] = model.linear[k] @ force + model.angular[k] @ moment + model.drive[k][3]
        body = k
        for j in model.ancestors(k):
            force = model.R[body] @ force
            moment = model.R[body] @ moment + symbolic_cross(model.p[body], force)
            H[k, j] = model.linear[j] @ force + model.angular[j] @ moment
            body = j
    return H


@dataclass
class Factor:
    """The factor of H: `lower[k, j]` for ancestors j of k, `pivot[k]` and its inverse."""

    lower: dict[tuple[int, int], Expression]
    pivot: list[Expression]
    inverse: list[Expression]

    def solve(self, model: SymbolicRobot, right: list[Expression]) -> list[Expression]:
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


def factorise(model: SymbolicRobot, H: dict[tuple[int, int], Expression]) -> Factor:
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


def symbolic_accelerations(model: SymbolicRobot, factor: Factor) -> list[Expression]:
    """H⁻¹ (τ - b - friction)."""
    right = []
    for k, still in enumerate(symbolic_bias(model)):
        viscous, coulomb, offset, _ = model.drive[k]
        right.append(model.tau[k] - still - (viscous * model.v[k] + coulomb * model.sign[k] + offset))
    return factor.solve(model, right)


# How accelerations answer to small changes: the derivatives of inverse dynamics in closed form.
#
# With spatial vectors about each body's origin, $J$ the joint's axis, $V_\lambda, A_\lambda$ velocity and
# acceleration of the parent as seen from the child's frame, and
#
# $$\dot\Psi = V_\lambda \times J, \qquad \ddot\Psi = A_\lambda \times J + V_\lambda \times \dot\Psi,$$
#
# a change of $q_k$ moves all that joint k carries as one body and changes its velocity by $\dot\Psi_k$. With
# I, B and F the composite inertia, Coriolis operator and wrench of what joint i carries, the sum of
# $\delta f = I\,\ddot\Psi_k + 2B\,\dot\Psi_k$ gives, for k on the way from i to the base, i included,
#
# $$\frac{\partial\tau_i}{\partial q_k} = J_i \cdot (I_i \ddot\Psi_k + 2B_i \dot\Psi_k), \qquad
#   \frac{\partial\tau_i}{\partial v_k} = J_i \cdot (2 I_i \dot\Psi_k + 2B_i J_k),$$
# $$\frac{\partial\tau_k}{\partial q_i} = J_k \cdot (I_i \ddot\Psi_i + 2B_i \dot\Psi_i + J_i \times^* F_i),
#   \qquad \frac{\partial\tau_k}{\partial v_i} = J_k \cdot (2 I_i \dot\Psi_i + 2B_i J_i).$$
#
# The Coriolis operator only sees the angular part z of a twist. With $P = \sum m \dot r$ and
# $K = \sum m \dot r r^T$ over the matter of the composite,
#
# $$2B z = \big(2 z \times P,\; 2 (\operatorname{tr} K\,1 - K)\,z\big),$$
#
# so twelve numbers stand for it, and they add.

Entries = dict[tuple[int, int], Expression]
"""Scalars of a matrix by row and column; those left out are zero."""


@dataclass
class BodyMotion:
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
        return Load(self.body.to_parent(R, p), P, K, f, R @ self.n + symbolic_cross(p, f))

    def __add__(self, other: Load) -> Load:
        """Bolt two together."""
        return Load(
            self.body + other.body, self.P + other.P, self.K + other.K, self.f + other.f, self.n + other.n
        )

    def coriolis(self, z: Expression) -> tuple[Expression, Expression]:
        """2B applied to a twist with angular part z."""
        return 2.0 * symbolic_cross(z, self.P), 2.0 * (np.trace(self.K) * z - self.K @ z)

    def coriolis_transposed(self, linear: Expression, angular: Expression) -> Expression:
        """The angular part of (2B)ᵀ applied to a twist; its linear part is zero."""
        return 2.0 * (symbolic_cross(self.P, linear) + np.trace(self.K) * angular - self.K.T @ angular)


def motions(model: SymbolicRobot, a: list[Expression]) -> list[BodyMotion]:
    """How every body moves under the accelerations a, from the base outwards."""
    found: list[BodyMotion] = []
    for i, up in enumerate(model.parent):
        R, p, e, c = model.R[i], model.p[i], model.linear[i], model.angular[i]
        if up >= 0:
            last = found[up]
            v, w = R.T @ (last.v + symbolic_cross(last.w, p)), R.T @ last.w
            A, b = R.T @ (last.A + symbolic_cross(last.b, p)), R.T @ last.b
        else:
            v = w = b = constants(np.zeros(3))
            A = R.T @ constants(-model.tree.gravity)
        slip = _crossed(v, w, e, c)
        acceleration, velocity = _crossed(A, b, e, c), _crossed(v, w, *slip)
        sweep = acceleration[0] + velocity[0], acceleration[1] + velocity[1]
        rate = model.v[i]
        found.append(
            BodyMotion(
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
    return symbolic_cross(w, linear) + symbolic_cross(v, angular), symbolic_cross(w, angular)


def _alone(body: Composite, motion: BodyMotion) -> Load:
    P, L = body.momentum(motion.v, motion.w)
    f, n = body.momentum(motion.A, motion.b)
    size = 0.5 * np.trace(body.I)
    spread = size * constants(np.eye(3)) - body.I  # Σ m r rᵀ
    K = np.outer(motion.v, body.h) + np.stack(
        [symbolic_cross(motion.w, column) for column in spread.T], axis=1
    )
    f = f + symbolic_cross(motion.w, P)
    n = n + symbolic_cross(motion.w, L) + symbolic_cross(motion.v, P)
    return Load(body, P, K, f, n)


def derivatives(model: SymbolicRobot, moving: list[BodyMotion]) -> tuple[Entries, Entries]:
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
        turn = symbolic_cross(c, this.f), symbolic_cross(c, this.n) + symbolic_cross(e, this.f)
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
    return force, R @ wrench[1] + symbolic_cross(p, force)


def _along(linear: Expression, angular: Expression, wrench: tuple[Expression, Expression]) -> Expression:
    """Power of a wrench along a twist."""
    return linear @ wrench[0] + angular @ wrench[1]


# The linearisation of forward dynamics at one state, as expressions.


@dataclass
class Linearisation:
    r"""Everything of $H\,da = d\tau - I_q\,dq - I_v\,dv - Y\,d\phi$ at one state.

    Attributes:
        a: accelerations.
        factor: of H.
        position: I_q by row and column, for joints on one way to the base.
        velocity: I_v by row and column; Coulomb friction counts as constant.
        regressor: Y by row and column.
    """

    a: list[Expression]
    factor: Factor
    position: Entries
    velocity: Entries
    regressor: Entries


def linearise(model: SymbolicRobot, columns: list[tuple[str, int, int]]) -> Linearisation:
    """Build the linearisation.

    Args:
        model: the symbols.
        columns: of Y: kind (`links` or `drive`), row and column in `Numbers`.

    Returns:
        The expressions.
    """
    factor = factorise(model, symbolic_mass_matrix(model))
    a = symbolic_accelerations(model, factor)
    moving = motions(model, a)
    position, velocity = derivatives(model, moving)
    return Linearisation(a, factor, position, velocity, regressor_entries(model, moving, a, columns))


def regressor_entries(
    model: SymbolicRobot, moving: list[BodyMotion], a: list[Expression], columns: list[tuple[str, int, int]]
) -> Entries:
    """Y by degree of freedom and column.

    Args:
        model: the symbols.
        moving: how every body moves.
        a: accelerations of the joints.
        columns: of Y: kind (`links` or `drive`), row and column in `Numbers`.

    Returns:
        The entries a joint can feel.
    """
    Y: Entries = {}
    place = {given: column for column, given in enumerate(columns)}
    axes: list[dict[int, tuple[Expression, Expression]]] = []
    for i, motion in enumerate(moving):
        R, p, up = model.R[i], model.p[i], model.parent[i]
        below = axes[up] if up >= 0 else {}
        mine = {k: (R.T @ (e + symbolic_cross(c, p)), R.T @ c) for k, (e, c) in below.items()}
        mine[i] = model.linear[i], model.angular[i]
        axes.append(mine)
        for k, (e, c) in mine.items():
            for term, entry in enumerate(_body_row(motion, e, c)):
                if ("links", i, term) in place:
                    Y[k, place["links", i, term]] = entry
        for term, entry in enumerate((model.v[i], model.sign[i], 1.0, a[i])):
            if ("drive", i, term) in place:
                Y[i, place["drive", i, term]] = entry
    return Y


def _body_row(motion: BodyMotion, e: Expression, c: Expression) -> list[Expression]:
    """The ten entries of one body in the torque row of an axis (e, c), see `regressor.body_columns`."""
    w, b = motion.w, motion.b
    d = motion.A + symbolic_cross(w, motion.v)
    first = symbolic_cross(e, b) + symbolic_cross(symbolic_cross(e, w), w) + symbolic_cross(d, c)
    u = symbolic_cross(c, w)
    return [
        e @ d,
        *(first[r] for r in range(3)),
        c[0] * b[0] + u[0] * w[0],
        c[0] * b[1] + c[1] * b[0] + u[0] * w[1] + u[1] * w[0],
        c[1] * b[1] + u[1] * w[1],
        c[0] * b[2] + c[2] * b[0] + u[0] * w[2] + u[2] * w[0],
        c[1] * b[2] + c[2] * b[1] + u[1] * w[2] + u[2] * w[1],
        c[2] * b[2] + u[2] * w[2],
    ]
