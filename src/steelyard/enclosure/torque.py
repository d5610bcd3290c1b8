r"""Joint torques over stretches of time: the recursive Newton-Euler algorithm on forms (compiled).

The torque is linear in the parameters, $\tau = Y(q, v, a)\,\varphi$. With $\varphi = \varphi_0 \pm \rho$ it
is enclosed as $Y\varphi_0$, by the recursion, and $\pm|Y|\rho$, column by column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers, numbers
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.enclosure.arithmetic import CENTRE, FIRST, RADIUS, add_own, clear, seal
from steelyard.enclosure.bodies import add_lever, add_turned, move_bodies
from steelyard.enclosure.forms import Forms, MotionForms
from steelyard.enclosure.friction import add_drive
from steelyard.enclosure.parameter_spread import add_spread, screw_rows
from steelyard.enclosure.robots import untied_motion
from steelyard.enclosure.rows import Given, Rows, given, rows_for, table
from steelyard.enclosure.vectors import (
    add_cross,
    add_dot,
    add_matrix,
    add_product_cross,
    add_vector,
    clear_vector,
    seal_vector,
)
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

LEAST = 8
"""Stretches worth a thread of their own."""
_SUMMED = 1.0 + 2.0**-44
"""More than a sum over all bodies of a robot loses to rounding."""


def enclosed_torque(
    robot: Robot, layout: Layout, lower: ArrayLike, upper: ArrayLike, motion: MotionForms
) -> Forms:
    r"""Enclose the torques of every motion and every parameter vector within bounds.

    They are those of `dynamics.inverse_dynamics`. Where a velocity may have either sign, friction that
    depends on the sign is taken with both.

    Args:
        robot: the robot; every joint has one degree of freedom.
        layout: the order of the parameters.
        lower: smallest phi, shape (p,), SI.
        upper: largest phi, not below, shape (p,), SI.
        motion: positions, velocities and accelerations over K stretches.

    Returns:
        The torques, shape (K, nv), N·m or N, in the symbols of the motion. Rounding errors are inside.

    Raises:
        InputError: a joint has several degrees of freedom, an upper parameter lies below the lower one, or
            the forms are not of the robot's joints.
    """
    low = checked("lower", lower, (layout.size,))
    high = checked("upper", upper, (layout.size,))
    if (high < low).any():
        worst = layout.names[int((high < low).argmax())]
        raise InputError(f"lies below the lower bound at '{worst}'.", place="upper")
    middle = 0.5 * low + 0.5 * high
    spread = np.where(low == high, 0.0, np.nextafter(np.maximum(high - middle, middle - low), np.inf))
    tau, _ = _over_stretches(robot, layout, middle, spread, motion, apart=False)
    return tau


def enclosed_torque_apart(
    robot: Robot, layout: Layout, nominal: ArrayLike, half_widths: ArrayLike, motion: MotionForms
) -> tuple[Forms, Array]:
    r"""Enclose the torques of nominal links, and apart from them what a box around their parameters adds.

    $$|\tau - Y\varphi_0| \le |Y|\rho \quad \text{for} \quad |\varphi - \varphi_0| \le \rho$$

    Args:
        robot: the robot; every joint has one degree of freedom and mimics no other.
        layout: the order of the parameters.
        nominal: $\varphi_0$, shape (p,), SI; of the drive nothing.
        half_widths: $\rho$, zero or more, shape (p,), SI; of the drive nothing.
        motion: positions, velocities and accelerations over K stretches.

    Returns:
        $Y\varphi_0$ in the symbols of the motion, shape (K, nv), N·m or N, and a bound of $|Y|\rho$, shape
        (K, nv), N·m or N. Rounding errors are inside.

    Raises:
        InputError: a joint has several degrees of freedom or mimics another, a half width is negative, or
            the drive has parameters.
    """
    phi = checked("nominal", nominal, (layout.size,))
    rho = checked("half_widths", half_widths, (layout.size,))
    links = 10 * len(layout.links)
    if robot.ties is not None or phi[links:].any() or rho[links:].any() or (rho < 0.0).any():
        raise InputError(
            "must be of links alone, half widths of zero or more, and no joint may mimic another.",
            place="nominal, half_widths",
        )
    tau, added = _over_stretches(robot, layout, phi, rho, motion, apart=True)
    return tau, added * _SUMMED


def _over_stretches(
    robot: Robot, layout: Layout, middle: Array, spread: Array, motion: MotionForms, *, apart: bool
) -> tuple[Forms, Array]:
    """The torques, and what uncertain links add to them, which is inside the torques unless kept apart."""
    every = untied_motion(robot, motion)
    K, nb, S = every.q.generators.shape
    centre, generators, radius = np.empty((K, nb)), np.empty((K, nb, S)), np.empty((K, nb))
    added = np.empty((K, nb))
    share(
        K,
        _enclosed_torque,
        tree_of(robot),
        numbers(robot, layout, middle),
        numbers(robot, layout, spread),
        bool(spread[: 10 * nb].any()),
        apart,
        *(given(x) for x in (every.q, every.v, every.a)),
        centre,
        generators,
        radius,
        added,
        least=LEAST,
    )
    tau = Forms(centre, generators, radius)
    return (tau if robot.ties is None else tau.mapped(robot.ties.rates.T)), added


@kernel
def add_wrench(phi: Array, i: int, X: Array, at: Rows, inertia: Array) -> None:
    """Add the force and the moment that move body i; the equations are those of `dynamics.body_wrench`."""
    w, b, d, F, N = at.w + 3 * i, at.b + 3 * i, at.d + 3 * i, at.F + 3 * i, at.N + 3 * i
    m, h = phi[i, 0], phi[i, 1:4]
    inertia[0, 0], inertia[1, 1], inertia[2, 2] = phi[i, 4], phi[i, 6], phi[i, 9]
    inertia[0, 1] = inertia[1, 0] = phi[i, 5]
    inertia[0, 2] = inertia[2, 0] = phi[i, 7]
    inertia[1, 2] = inertia[2, 1] = phi[i, 8]
    between = at.spare + 9
    clear_vector(X, between)
    add_cross(X, between, -1.0, h, w)
    seal_vector(X, between)
    add_product_cross(X, F, w, between)
    add_cross(X, F, -1.0, h, b)
    add_vector(X, F, m, d)
    clear_vector(X, between)
    add_matrix(X, between, inertia, w)
    seal_vector(X, between)
    add_product_cross(X, N, w, between)
    add_cross(X, N, 1.0, h, d)
    add_matrix(X, N, inertia, b)


@kernel
def add_to_parent(tree: Tree, i: int, X: Array, at: Rows) -> None:
    """Add the sealed wrench of body i to its parent's, moved to the parent's frame."""
    parent = 3 * tree.parent[i]
    force, moment = at.spare + 9, at.spare + 12
    clear_vector(X, force)
    clear_vector(X, moment)
    add_turned(tree, i, X, at, at.F + 3 * i, force, True)
    seal_vector(X, force)
    add_turned(tree, i, X, at, at.N + 3 * i, moment, True)
    add_lever(tree, i, X, at, 1.0, force, moment)
    seal_vector(X, moment)
    add_vector(X, at.F + parent, 1.0, force)
    add_vector(X, at.N + parent, 1.0, moment)


@kernel
def _enclosed_torque(
    first: int,
    last: int,
    tree: Tree,
    middle: Numbers,
    spread: Numbers,
    uncertain: bool,
    apart: bool,
    q: Given,
    v: Given,
    a: Given,
    centre: Array,
    generators: Array,
    radius: Array,
    added: Array,
) -> None:
    nb = tree.parent.size
    at = rows_for(nb)
    X = table(at.end + (screw_rows(nb) if uncertain else 0), q)
    extra, inertia, columns = np.empty(nb), np.empty((3, 3)), np.empty((10, 6, 2))
    for n in range(first, last):
        move_bodies(n, tree, q, v, a, X, at)
        for row in range(at.F, at.spare):
            clear(X, row)
        extra[:] = 0.0
        if uncertain:
            add_spread(tree, spread.links, X, at, columns, extra)
        for i in range(nb - 1, -1, -1):
            tau = at.tau + i
            add_wrench(middle.links, i, X, at, inertia)
            seal_vector(X, at.F + 3 * i)
            seal_vector(X, at.N + 3 * i)
            clear(X, tau)
            add_dot(X, tau, tree.subspace[i, :3], at.F + 3 * i)
            add_dot(X, tau, tree.subspace[i, 3:], at.N + 3 * i)
            add_drive(X, tau, at.v + i, at.a + i, middle.drive[i], spread.drive[i], extra[i])
            added[n, i] = extra[i]
            if not apart:
                add_own(X, tau, extra[i])
            seal(X, tau)
            if tree.parent[i] >= 0:
                add_to_parent(tree, i, X, at)
            centre[n, i] = X[tau, CENTRE]
            radius[n, i] = X[tau, RADIUS]
            for s in range(generators.shape[2]):
                generators[n, i, s] = X[tau, FIRST + s]
