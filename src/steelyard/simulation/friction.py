"""The drives of a simulated arm: friction of one time step, at the velocity the step ends with."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.robot import Robot

# Drives as arrays, and friction at a velocity


class JointDrives(NamedTuple):
    """Friction, offset and rotor of every joint; terms that the description does not state are zero.

    Attributes:
        viscous: F_v, shape (nv,), N·m·s/rad or N·s/m.
        coulomb: F_c, shape (nv,), N·m or N.
        offset: F_o, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        stribeck: F_s, shape (nv,), N·m or N.
        asymmetric: F_a, shape (nv,), N·m·s/rad or N·s/m.
        load: F_l, shape (nv,), dimensionless.
        velocity: v_s of Stribeck friction, shape (nv,), rad/s or m/s.
        exponent: δ of Stribeck friction, shape (nv,), dimensionless.
        depends_on_load: whether any F_l is not zero.
    """

    viscous: Array
    coulomb: Array
    offset: Array
    rotor: Array
    stribeck: Array
    asymmetric: Array
    load: Array
    velocity: Array
    exponent: Array
    depends_on_load: bool


def joint_drives(robot: Robot, order: IntArray) -> JointDrives:
    """The drives that a description states.

    Args:
        robot: the robot, every joint with one degree of freedom.
        order: the robot's joints in the order that is wanted, shape (nv,), dimensionless.

    Returns:
        The drives in that order.
    """
    drives = [robot.joints[j].drive for j in order]
    terms = ("viscous", "coulomb", "offset", "rotor", "stribeck", "asymmetric", "load")
    Fv, Fc, Fo, Ia, Fs, Fa, Fl = (np.array([drive.value(term) or 0.0 for drive in drives]) for term in terms)
    shapes = [drive.stribeck_shape for drive in drives]
    velocity = np.array([1.0 if shape is None else shape.velocity for shape in shapes])
    exponent = np.array([1.0 if shape is None else shape.exponent for shape in shapes])
    return JointDrives(Fv, Fc, Fo, Ia, Fs, Fa, Fl, velocity, exponent, bool(Fl.any()))


@kernel
def dry_friction(drives: JointDrives, j: int, v: float) -> float:
    r"""What dry friction can hold or brake with: $F_c + F_s\,e^{-(|v|/v_s)^\delta}$; at rest $F_c + F_s$."""
    level: float = drives.coulomb[j]
    if drives.stribeck[j] != 0.0:
        level += drives.stribeck[j] * math.exp(-((abs(v) / drives.velocity[j]) ** drives.exponent[j]))
    return level


@kernel
def viscous_slope(drives: JointDrives, j: int, v: float) -> float:
    r"""Viscous friction per velocity in the direction of motion: $F_v + F_a \operatorname{sign}(v)$."""
    slope: float = drives.viscous[j] + drives.asymmetric[j] * np.sign(v)
    return slope


@kernel
def plant_drive_torque(drives: JointDrives, v: Array, tau: Array) -> None:
    """Write friction and offset at a velocity, without what depends on the load, sign(0) = 0."""
    for j in range(v.size):
        dry = dry_friction(drives, j, v[j]) * np.sign(v[j])
        tau[j] = viscous_slope(drives, j, v[j]) * v[j] + dry + drives.offset[j]


# Linear systems of a few unknowns, where a call of LAPACK costs more than the solution (compiled).


@kernel
def copy_system(x: Array, out: Array) -> None:
    """Write x into out; a loop compiles ten times faster than a slice."""
    for k in range(out.size):
        out[k] = x[k]


@kernel
def hold(A: Array, x: Array, j: int) -> None:
    """Replace equation j of A x = b by x_j = 0, the b of the others being in x, and take it out of them."""
    for k in range(x.size):
        A[j, k] = A[k, j] = 0.0
    A[j, j], x[j] = 1.0, 0.0


@kernel
def matrix_product(A: Array, row: int, x: Array) -> float:
    """One row of A x."""
    total = 0.0
    for k in range(x.size):
        total += A[row, k] * x[k]
    return total


@kernel
def solve_in_place(A: Array, x: Array) -> None:
    r"""Replace x (n,) by $A^{-1} x$: Gaussian elimination, the largest pivot of each column first.

    A (n, n) is destroyed. What a singular A leaves is not finite.
    """
    n = x.size
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[pivot, j]):
                pivot = i
        if pivot != j:
            for k in range(j, n):
                A[j, k], A[pivot, k] = A[pivot, k], A[j, k]
            x[j], x[pivot] = x[pivot], x[j]
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            if factor != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= factor * A[j, k]
                x[i] -= factor * x[j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            x[j] -= A[j, k] * x[k]
        x[j] /= A[j, j]


# The friction force of one time step, taken at the velocity the step ends with.
#
# Friction evaluated at the start of a step is stable only for steps shorter than inertia over viscosity, tens
# of microseconds at a robot's wrist, and its sign makes a joint near rest chatter. Taken at the end of the
# step it can stop a joint but never turn it around. The end velocity solves the inclusion
#
# $$M (v_+ - v) = h\,\big(f - F_v v_+ - F_c \operatorname{sgn}(v_+)\big), \qquad
#   \operatorname{sgn}(0) = [-1, 1],$$
#
# the optimality condition of a strictly convex problem, so it exists and is unique.

_ROUND_OFF = 1e-12
_ROUNDS_PER_JOINT = 50


@kernel
def slow_down(
    M: Array, v: Array, f: Array, viscous: Array, coulomb: Array, h: float, x: Array, friction: Array
) -> bool:
    r"""Solve for the end velocity of one step under friction.

    It minimises $\tfrac12 x^T A x - r^T x + \sum_j c_j |x_j|$ with $A = M + h F_v$, $r = M v + h f$ and
    $c = h F_c$: for assumed signs a linear system, and each round either keeps the signs, stops a joint that
    would turn around, or frees the joint that friction cannot hold, always going downhill.

    Args:
        M: mass matrix, shape (nv, nv), SI.
        v: velocities at the start, shape (nv,), rad/s or m/s.
        f: all other generalised forces, shape (nv,), N·m or N.
        viscous: F_v, shape (nv,), N·m·s/rad or N·s/m.
        coulomb: F_c, shape (nv,), N·m or N.
        h: length of the step, s.
        x: takes the end velocities, shape (nv,), rad/s or m/s.
        friction: takes the friction force, against the motion, shape (nv,), N·m or N.

    Returns:
        Whether the signs were found.
    """
    nv = v.size
    A, rows = np.empty((nv, nv)), np.empty((6, nv))
    r, c, sign, y = rows[0], rows[1], rows[2], rows[3]
    for j in range(nv):
        for k in range(nv):
            A[j, k] = M[j, k]
        A[j, j] += h * viscous[j]
        r[j], c[j] = matrix_product(M, j, v) + h * f[j], h * coulomb[j]
        x[j], sign[j] = v[j], np.sign(v[j])
    for _ in range(_ROUNDS_PER_JOINT * nv):
        slide_joints(A, r, c, sign, y)
        turned = False
        for j in range(nv):
            turned = turned or (c[j] > 0.0 and y[j] * sign[j] < 0.0)
        if turned:
            go_downhill(A, r, c, sign, x, y, rows[4], rows[5])
        else:
            copy_system(y, x)
        for j in range(nv):
            sign[j] = np.sign(x[j])
        if not turned:
            freed = cannot_be_held(A, r, c, x)
            if freed < 0:
                for j in range(nv):
                    y[j] = x[j] - v[j]
                for j in range(nv):
                    friction[j] = matrix_product(M, j, y) / h - f[j]
                return True
            sign[freed] = np.sign(r[freed] - matrix_product(A, freed, x))
    return False


@kernel
def slide_joints(A: Array, r: Array, c: Array, sign: Array, y: Array) -> None:
    """Write the minimiser if each joint with dry friction slides by its sign, or is held where that is 0."""
    nv = r.size
    B = np.empty((nv, nv))
    for j in range(nv):
        y[j] = r[j] - c[j] * sign[j]
        for k in range(nv):
            B[j, k] = A[j, k]
    for j in range(nv):
        if c[j] > 0.0 and sign[j] == 0.0:
            hold(B, y, j)
    solve_in_place(B, y)


@kernel
def cannot_be_held(A: Array, r: Array, c: Array, x: Array) -> int:
    """The held joint whose force exceeds its friction most; -1 where all are held."""
    freed, most = -1, 0.0
    for j in range(r.size):
        if c[j] > 0.0 and x[j] == 0.0:
            size = abs(r[j])
            for k in range(r.size):
                size += abs(A[j, k]) * abs(x[k])
            excess = abs(r[j] - matrix_product(A, j, x)) - c[j] - _ROUND_OFF * size
            if excess > most:
                freed, most = j, excess
    return freed


@kernel
def go_downhill(
    A: Array, r: Array, c: Array, sign: Array, x: Array, y: Array, point: Array, lowest: Array
) -> None:
    """Move x to the lowest point towards y, among y and those where a joint that would turn stops."""
    nv = r.size
    copy_system(y, lowest)
    least = height(A, r, c, y)
    for j in range(nv):
        if c[j] > 0.0 and y[j] * sign[j] < 0.0:
            way = x[j] / (x[j] - y[j])
            for k in range(nv):
                point[k] = x[k] + way * (y[k] - x[k])
            point[j] = 0.0
            here = height(A, r, c, point)
            if here < least:
                least = here
                copy_system(point, lowest)
    copy_system(lowest, x)


@kernel
def height(A: Array, r: Array, c: Array, x: Array) -> float:
    """The function that the end velocity minimises."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * (0.5 * matrix_product(A, j, x) - r[j]) + c[j] * abs(x[j])
    return total


# Friction that grows with the torque the gear carries, which in turn depends on the friction.
#
# With the links' share of the mass matrix $H = M - I_a$ and the bias b the gear carries $r = H a + b$, and
# its friction is $F_l |r|$ against the motion.

_LOADED_ROUND_OFF = 1e-14
_ROUNDS = 1000


@kernel
def carried_load(M: Array, rotor: Array, j: int, x: Array) -> float:
    """One row of H x."""
    row: float = matrix_product(M, j, x) - rotor[j] * x[j]
    return row


@kernel
def write_load_friction(
    M: Array, bias: Array, rotor: Array, load: Array, v: Array, f: Array, friction: Array
) -> bool:
    r"""The friction of the load in a state that moves: $F_l |r| \operatorname{sign}(v)$.

    Solves $H a + I_a a + b + F_l \operatorname{sign}(v)\,|r| = f$. For assumed signs of r it is linear; with
    $F_l < 1$ exactly one choice of signs agrees with its own answer.

    Args:
        M: mass matrix with the rotors, shape (nv, nv), SI.
        bias: b, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        load: F_l, shape (nv,), dimensionless.
        v: velocities, shape (nv,), rad/s or m/s.
        f: torques less all other friction, shape (nv,), N·m or N.
        friction: takes the torques that the motor must overcome, shape (nv,), N·m or N.

    Returns:
        Whether the signs were found.
    """
    nv = v.size
    A, rows = np.empty((nv, nv)), np.empty((3, nv))
    a, r, sign = rows[0], rows[1], rows[2]
    for j in range(nv):
        for k in range(nv):
            A[j, k] = M[j, k]
        a[j] = f[j] - bias[j]
    solve_in_place(A, a)
    for j in range(nv):
        r[j] = carried_load(M, rotor, j, a) + bias[j]
    for _ in range(_ROUNDS):
        for j in range(nv):
            sign[j] = np.sign(r[j])
            share = 1.0 + load[j] * np.sign(v[j]) * sign[j]
            for k in range(nv):
                A[j, k] = share * M[j, k]
            A[j, j] += (1.0 - share) * rotor[j]
            a[j] = f[j] - share * bias[j]
        solve_in_place(A, a)
        agree = True
        for j in range(nv):
            r[j] = carried_load(M, rotor, j, a) + bias[j]
            agree = agree and np.sign(r[j]) == sign[j]
        if agree:
            for j in range(nv):
                friction[j] = load[j] * np.sign(v[j]) * abs(r[j])
            return True
    return False


@kernel
def slow_down_loaded(
    M: Array,
    v: Array,
    f: Array,
    viscous: Array,
    dry: Array,
    h: float,
    bias: Array,
    rotor: Array,
    load: Array,
    x: Array,
    friction: Array,
) -> bool:
    """Solve for the end velocity of one step, dry friction growing with the load of that step.

    The load is found by repetition: each round shrinks its error by F_l or so. Once the signs of velocities
    and loads are right a linear system has the answer, so each round also tries the one of its own signs.

    Args:
        M: mass matrix with the rotors, shape (nv, nv), SI.
        v: velocities at the start, shape (nv,), rad/s or m/s.
        f: all other generalised forces, the bias among them, shape (nv,), N·m or N.
        viscous: slopes of viscous friction, shape (nv,), N·m·s/rad or N·s/m.
        dry: dry friction without load, shape (nv,), N·m or N.
        h: length of the step, s.
        bias: b, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        load: F_l, shape (nv,), dimensionless.
        x: takes the end velocities, shape (nv,), rad/s or m/s.
        friction: takes the friction force, see `slow_down`, shape (nv,), N·m or N.

    Returns:
        Whether the load was found; it may not be at stiff joints with F_l above 0.9 or so.
    """
    nv = v.size
    rows = np.empty((4, nv))
    r, level, change, guess = rows[0], rows[1], rows[2], rows[3]
    # Accelerations are differences of velocities over a short time, and as inexact as that makes them.
    fastest, strongest, heaviest, loaded = 0.0, 0.0, 0.0, False
    for j in range(nv):
        momentum = 0.0
        for k in range(nv):
            momentum += abs(M[j, k]) * abs(v[k])
        fastest = max(fastest, momentum)
        strongest, heaviest = max(strongest, abs(f[j])), max(heaviest, abs(bias[j]))
        r[j], loaded = bias[j], loaded or load[j] != 0.0
    noise = _LOADED_ROUND_OFF * (fastest / h + strongest + heaviest)
    for _ in range(_ROUNDS):
        for j in range(nv):
            level[j] = dry[j] + load[j] * abs(r[j])
        found: bool = slow_down(M, v, f, viscous, level, h, x, friction)
        if not (found and loaded):
            return found
        for j in range(nv):
            change[j] = (x[j] - v[j]) / h
        moved = 0.0
        for j in range(nv):
            last = r[j]
            r[j] = carried_load(M, rotor, j, change) + bias[j]
            moved = max(moved, abs(load[j] * (r[j] - last)))
        if moved <= noise:
            return True
        slide_loaded(M, v, f, viscous, dry, h, bias, rotor, load, x, r, guess)
        agree = True
        for j in range(nv):
            agree = agree and np.sign(guess[j]) == np.sign(x[j])
            change[j] = (guess[j] - v[j]) / h
        for j in range(nv):
            level[j] = carried_load(M, rotor, j, change) + bias[j]
            agree = agree and np.sign(level[j]) == np.sign(r[j])
        if agree:
            copy_system(level, r)
    return False


@kernel
def slide_loaded(
    M: Array,
    v: Array,
    f: Array,
    viscous: Array,
    dry: Array,
    h: float,
    bias: Array,
    rotor: Array,
    load: Array,
    moving: Array,
    loaded: Array,
    y: Array,
) -> None:
    """Write the end velocities if joints slide, or are held, and carry loads, by the signs of two vectors."""
    nv = v.size
    A = np.empty((nv, nv))
    for j in range(nv):
        sign = np.sign(moving[j])
        turn = load[j] * sign * np.sign(loaded[j])
        for k in range(nv):
            A[j, k] = (1.0 + turn) * M[j, k]
        A[j, j] += h * viscous[j] - turn * rotor[j]
        own = matrix_product(M, j, v) + h * (f[j] - dry[j] * sign)
        y[j] = own + turn * (carried_load(M, rotor, j, v) - h * bias[j])
    for j in range(nv):
        if moving[j] == 0.0 and dry[j] + load[j] > 0.0:
            hold(A, y, j)
    solve_in_place(A, y)
