r"""The friction force of one time step, taken at the velocity the step ends with.

Friction evaluated at the start of a step is stable only for steps shorter than inertia over viscosity, tens
of microseconds at a robot's wrist, and its sign makes a joint near rest chatter. Taken at the end of the step
it can stop a joint but never turn it around. The end velocity solves the inclusion

$$M (v_+ - v) = h\,\big(f - F_v v_+ - F_c \operatorname{sgn}(v_+)\big), \qquad
  \operatorname{sgn}(0) = [-1, 1],$$

the optimality condition of a strictly convex problem, so it exists and is unique.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.errors import SolverError
from steelyard.simulate.small_systems import copy, hold, product, solve_in_place

_ROUND_OFF = 1e-12
_ROUNDS_PER_JOINT = 50


def friction_at_end(
    M: Array, v: Array, f: Array, viscous: Array, coulomb: Array, h: float
) -> tuple[Array, Array]:
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

    Returns:
        End velocities, shape (nv,), rad/s or m/s, exactly zero where friction holds a joint; and the friction
        force, shape (nv,), N·m or N.

    Raises:
        SolverError: the signs were not found.
    """
    end, friction = np.empty((2, len(v)))
    M_, v_, f_, Fv, Fc = (np.array(x, dtype=float) for x in (M, v, f, viscous, coulomb))
    if not slow_down(M_, v_, f_, Fv, Fc, h, end, friction):
        raise SolverError(
            "the friction of a step was not found.",
            place="friction",
            evidence={"M": M, "v": v, "f": f, "h": h},
        )
    return end, friction


@kernel
def slow_down(
    M: Array, v: Array, f: Array, viscous: Array, coulomb: Array, h: float, x: Array, friction: Array
) -> bool:
    """Write the end velocities x and the friction of `friction_at_end`; whether they were found."""
    nv = v.size
    A, rows = np.empty((nv, nv)), np.empty((6, nv))
    r, c, sign, y = rows[0], rows[1], rows[2], rows[3]
    for j in range(nv):
        for k in range(nv):
            A[j, k] = M[j, k]
        A[j, j] += h * viscous[j]
        r[j], c[j] = product(M, j, v) + h * f[j], h * coulomb[j]
        x[j], sign[j] = v[j], np.sign(v[j])
    for _ in range(_ROUNDS_PER_JOINT * nv):
        slide(A, r, c, sign, y)
        turned = False
        for j in range(nv):
            turned = turned or (c[j] > 0.0 and y[j] * sign[j] < 0.0)
        if turned:
            go_downhill(A, r, c, sign, x, y, rows[4], rows[5])
        else:
            copy(y, x)
        for j in range(nv):
            sign[j] = np.sign(x[j])
        if not turned:
            freed = cannot_be_held(A, r, c, x)
            if freed < 0:
                for j in range(nv):
                    y[j] = x[j] - v[j]
                for j in range(nv):
                    friction[j] = product(M, j, y) / h - f[j]
                return True
            sign[freed] = np.sign(r[freed] - product(A, freed, x))
    return False


@kernel
def slide(A: Array, r: Array, c: Array, sign: Array, y: Array) -> None:
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
            excess = abs(r[j] - product(A, j, x)) - c[j] - _ROUND_OFF * size
            if excess > most:
                freed, most = j, excess
    return freed


@kernel
def go_downhill(
    A: Array, r: Array, c: Array, sign: Array, x: Array, y: Array, point: Array, lowest: Array
) -> None:
    """Move x to the lowest point towards y, among y and those where a joint that would turn stops."""
    nv = r.size
    copy(y, lowest)
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
                copy(point, lowest)
    copy(lowest, x)


@kernel
def height(A: Array, r: Array, c: Array, x: Array) -> float:
    """The function that the end velocity minimises."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * (0.5 * product(A, j, x) - r[j]) + c[j] * abs(x[j])
    return total
