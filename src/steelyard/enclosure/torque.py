r"""Joint torques over stretches of time: the recursive Newton-Euler algorithm on forms (compiled).

The torque is linear in the parameters, $\tau = Y(q, v, a)\,\varphi$. With $\varphi = \varphi_0 \pm \rho$ it
is enclosed as $Y\varphi_0$, by the recursion, and $\pm|Y|\rho$, column by column.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers, numbers
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.enclosure.arithmetic import (
    CENTRE,
    DEVIATION,
    EPSILON,
    FIRST,
    OPERATIONS,
    RADIUS,
    TERMS,
    UNDERFLOW,
    add_cross,
    add_dot,
    add_matrix,
    add_number,
    add_own,
    add_product,
    add_product_cross,
    add_scaled,
    add_vector,
    clear,
    clear_vector,
    seal,
    seal_vector,
    size,
)
from steelyard.enclosure.bodies import (
    FormRows,
    KernelInputs,
    add_lever,
    add_turned,
    form_table,
    kernel_inputs,
    move_bodies,
    rows_for,
)
from steelyard.enclosure.forms import Forms, MotionForms, untied_motion
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# The torque of a drive as a form: its linear terms, and friction over all velocities it may meet (compiled).
#
# The coefficients are those of `dynamics.batch.Numbers`: viscous, coulomb, offset, rotor, stribeck,
# asymmetric, load, and the shape of Stribeck friction.

_LIBRARY = 2.0**-40
"""What the library's powers and exponentials may be off by, relatively, for arguments below `_FADED`."""
_FADED = 32.0
_UNSEALED = 1e-12
"""Share of its terms that a form may lose to rounding before it is sealed, with room to spare."""


@kernel
def add_drive(X: Array, tau: int, v: int, a: int, middle: Array, spread: Array, load_extra: float) -> None:
    """Add the torque of a drive to tau, which holds the torque of the links alone and is not sealed.

    The half widths of the link parameters add load_extra to the torque of the links.
    """
    slowest, fastest, sign, either = _speeds(X, v)
    # Friction under load takes the torque of the links, before anything else is added to it.
    lowest, highest = _sizes(X, tau, load_extra)
    add_scaled(X, tau, middle[0], v)
    add_number(X, tau, middle[2])
    add_scaled(X, tau, middle[3], a)
    more = spread[0] * size(X, v) + spread[2] + spread[3] * size(X, a)
    add_own(X, tau, more)
    X[tau, TERMS] += more
    _add_between(X, tau, middle[1], spread[1], 1.0, 1.0, sign, either)
    if middle[4] != 0.0 or spread[4] != 0.0:
        low, high = _stribeck(slowest, fastest, middle[7], middle[8])
        _add_between(X, tau, middle[4], spread[4], low, high, sign, either)
    _add_between(X, tau, middle[5], spread[5], slowest, fastest, 1.0, False)
    _add_between(X, tau, middle[6], spread[6], lowest, highest, sign, either)


@kernel
def _stribeck(slowest: float, fastest: float, velocity: float, exponent: float) -> tuple[float, float]:
    """Smallest and largest value of Stribeck's column over speeds, rounded outwards.

    The exponential loses digits as its argument grows; where that would count it is next to nothing.
    """
    near, far = (slowest / velocity) ** exponent, (fastest / velocity) ** exponent
    high = math.exp(-near) * (1.0 + _LIBRARY) if near < _FADED else math.exp(1.0 - _FADED)
    low = math.exp(-far) * (1.0 - _LIBRARY) if far < _FADED else 0.0
    return low, min(high, 1.0)


@kernel
def _speeds(X: Array, v: int) -> tuple[float, float, float, bool]:
    """Smallest and largest speed, the sign of the velocity, and whether it may be either."""
    most = X[v, DEVIATION] * (1.0 + 4.0 * EPSILON)
    fastest = (abs(X[v, CENTRE]) + most) * (1.0 + EPSILON)
    slowest = (abs(X[v, CENTRE]) - most) * (1.0 - EPSILON)
    if slowest > 0.0:
        return slowest, fastest, math.copysign(1.0, X[v, CENTRE]), False
    return 0.0, fastest, 0.0, True


@kernel
def _sizes(X: Array, tau: int, extra: float) -> tuple[float, float]:
    """Smallest and largest absolute value of a form that is not sealed, and of anything within extra."""
    deviation = extra + X[tau, RADIUS] + _UNSEALED * X[tau, TERMS]
    for s in range(FIRST, X.shape[1]):
        deviation += abs(X[tau, s])
    middle = abs(X[tau, CENTRE])
    return max(0.0, middle - deviation), middle + deviation


@kernel
def _add_between(
    X: Array, tau: int, k: float, half: float, low: float, high: float, sign: float, either: bool
) -> None:
    """Add (k ± half) x for every x between low and high of the given sign, or of either."""
    if k == 0.0 and half == 0.0:
        return
    if either:
        add_own(X, tau, (abs(k) + half) * high)
    else:
        X[tau, CENTRE] += sign * k * 0.5 * (low + high)
        add_own(X, tau, abs(k) * 0.5 * (high - low) + half * high)
    X[tau, TERMS] += (abs(k) + half) * high


# What uncertain link parameters add to the torques: $|Y|\rho$, one column at a time (compiled).
#
# The column of body i's parameter in the torque of joint j is the power of the wrench that a unit of the
# parameter needs with the motion of body i that a unit velocity of joint j is. Both are taken as their
# centres give or take their deviations: the columns are multiplied by the small ρ.

_PAIR = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
"""Where the entries of a symmetric matrix stand among xx, xy, yy, xz, yz, zz."""


@kernel
def screw_rows(nb: int) -> int:
    """Rows for the linear and angular part of every joint's screw at every body, and for six squares."""
    return 6 * nb * nb + 6


@kernel
def add_spread(tree: Tree, rho: Array, X: Array, at: FormRows, columns: Array, extra: Array) -> None:
    """Add to extra (nb,) what the half widths rho (nb, 10) of all links' parameters add to each torque.

    The screws stand behind the other rows; columns (10, 6, 2) is scratch.
    """
    nb = tree.parent.size
    for i in range(nb):
        _carry_screws(tree, i, X, at)
        if not rho[i].any():
            continue
        _write_columns(i, X, at, at.end + 6 * nb * nb, columns)
        j = i
        while j >= 0:
            extra[j] += _power(rho[i], X, at.end + 6 * (i * nb + j), columns)
            j = tree.parent[j]


@kernel
def _carry_screws(tree: Tree, i: int, X: Array, at: FormRows) -> None:
    """Write the screws of joint i and of all that carry it, at body i and in its frame."""
    nb, parent, moved = tree.parent.size, tree.parent[i], at.spare + 9
    j = parent
    while j >= 0:
        inner, outer = at.end + 6 * (parent * nb + j), at.end + 6 * (i * nb + j)
        clear_vector(X, moved)
        add_lever(tree, i, X, at, -1.0, inner + 3, moved)
        add_vector(X, moved, 1.0, inner)
        seal_vector(X, moved)
        clear_vector(X, outer)
        clear_vector(X, outer + 3)
        add_turned(tree, i, X, at, moved, outer, False)
        add_turned(tree, i, X, at, inner + 3, outer + 3, False)
        seal_vector(X, outer)
        seal_vector(X, outer + 3)
        j = tree.parent[j]
    own = at.end + 6 * (i * nb + i)
    for r in range(6):
        clear(X, own + r)
        add_number(X, own + r, tree.subspace[i, r])
    seal_vector(X, own)
    seal_vector(X, own + 3)


@kernel
def _power(rho: Array, X: Array, screw: int, columns: Array) -> float:
    """A bound on the sum over parameters of rho times the size of the column, rounded up."""
    total = 0.0
    for p in range(10):
        if rho[p] == 0.0:
            continue
        middle = spread = bulk = 0.0
        for c in range(6):
            x, dx = X[screw + c, CENTRE], X[screw + c, DEVIATION]
            f, df = columns[p, c, 0], columns[p, c, 1]
            middle += x * f
            spread += abs(x) * df + abs(f) * dx + dx * df
            bulk += abs(x * f)
        total += rho[p] * (abs(middle) + spread + OPERATIONS * EPSILON * (bulk + spread))
    return total * (1.0 + OPERATIONS * EPSILON) + UNDERFLOW


@kernel
def _write_columns(i: int, X: Array, at: FormRows, squares: int, columns: Array) -> None:
    r"""Write centre and deviation of the wrench for a unit of each of the ten parameters, (10, 6, 2).

    A unit of $h_c$ needs the force $B\,e_c$ with $B = [\dot\omega]_\times + \omega\omega^T - |\omega|^2 1$
    and the moment $e_c \times d$; a unit of the inertia E needs the moment $E\dot\omega + \omega \times
    E\omega$, whose entries are sums of products $\omega_r\omega_c$.
    """
    w, b, d, y = at.w + 3 * i, at.b + 3 * i, at.d + 3 * i, at.spare + 9
    for r in range(3):
        for c in range(r, 3):
            clear(X, squares + _PAIR[r][c])
            add_product(X, squares + _PAIR[r][c], 1.0, w + r, w + c)
            seal(X, squares + _PAIR[r][c])
    columns[:] = 0.0
    for c in range(3):
        s, t = (c + 1) % 3, (c + 2) % 3
        _write(X, d + c, 1.0, columns[0, c])
        # Column c of B: ω̇ × e_c + ω ω_c - |ω|² e_c.
        clear_vector(X, y)
        add_scaled(X, y + c, -1.0, squares + _PAIR[s][s])
        add_scaled(X, y + c, -1.0, squares + _PAIR[t][t])
        add_scaled(X, y + s, 1.0, squares + _PAIR[s][c])
        add_scaled(X, y + s, 1.0, b + t)
        add_scaled(X, y + t, 1.0, squares + _PAIR[t][c])
        add_scaled(X, y + t, -1.0, b + s)
        for r in range(3):
            seal(X, y + r)
            _write(X, y + r, 1.0, columns[1 + c, r])
        _write(X, d + t, -1.0, columns[1 + c, 3 + s])
        _write(X, d + s, 1.0, columns[1 + c, 3 + t])
    for r in range(3):
        for c in range(r, 3):
            clear_vector(X, y)
            _add_inertia(X, b, squares, r, c, y)
            if r != c:
                _add_inertia(X, b, squares, c, r, y)
            for k in range(3):
                seal(X, y + k)
                _write(X, y + k, 1.0, columns[4 + _PAIR[r][c], 3 + k])


@kernel
def _write(X: Array, x: int, sign: float, out: Array) -> None:
    out[0], out[1] = sign * X[x, CENTRE], X[x, DEVIATION]


@kernel
def _add_inertia(X: Array, b: int, squares: int, r: int, c: int, out: int) -> None:
    """Add e_r ω̇_c + ω × e_r ω_c."""
    s, t = (r + 1) % 3, (r + 2) % 3
    add_scaled(X, out + r, 1.0, b + c)
    add_scaled(X, out + s, 1.0, squares + _PAIR[t][c])
    add_scaled(X, out + t, -1.0, squares + _PAIR[s][c])


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
        *(kernel_inputs(x) for x in (every.q, every.v, every.a)),
        centre,
        generators,
        radius,
        added,
        least=LEAST,
    )
    tau = Forms(centre, generators, radius)
    return (tau if robot.ties is None else tau.mapped(robot.ties.rates.T)), added


@kernel
def add_wrench(phi: Array, i: int, X: Array, at: FormRows, inertia: Array) -> None:
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
def add_wrench_to_parent(tree: Tree, i: int, X: Array, at: FormRows) -> None:
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
    q: KernelInputs,
    v: KernelInputs,
    a: KernelInputs,
    centre: Array,
    generators: Array,
    radius: Array,
    added: Array,
) -> None:
    nb = tree.parent.size
    at = rows_for(nb)
    X = form_table(at.end + (screw_rows(nb) if uncertain else 0), q)
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
                add_wrench_to_parent(tree, i, X, at)
            centre[n, i] = X[tau, CENTRE]
            radius[n, i] = X[tau, RADIUS]
            for s in range(generators.shape[2]):
                generators[n, i, s] = X[tau, FIRST + s]
