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

from steelyard.arrays import Array, IntArray
from steelyard.errors import SolverError

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
    """
    A = M + h * np.diag(viscous)
    r = M @ v + h * f
    c = h * coulomb
    x, sign = v, np.sign(v)
    for _ in range(_ROUNDS_PER_JOINT * len(v)):
        y = _with_signs(A, r, c, sign)
        turned = np.flatnonzero((c > 0.0) & (y * sign < 0.0))
        x = _downhill(A, r, c, x, y, turned) if turned.size else y
        sign = np.sign(x)
        if turned.size == 0:
            freed = _cannot_be_held(A, r, c, x)
            if freed is None:
                return x, M @ (x - v) / h - f
            sign[freed] = np.sign(r[freed] - A[freed] @ x)
    raise SolverError(
        "the friction of a step was not found.", place="friction", evidence={"M": M, "v": v, "f": f, "h": h}
    )


def _with_signs(A: Array, r: Array, c: Array, sign: Array) -> Array:
    """The minimiser if each joint with Coulomb friction slides by its sign, or is held where that is 0."""
    free = (c == 0.0) | (sign != 0.0)
    if free.all():
        return np.asarray(np.linalg.solve(A, r - c * sign))
    y = np.zeros(len(r))
    y[free] = np.linalg.solve(A[np.ix_(free, free)], (r - c * sign)[free])
    return y


def _cannot_be_held(A: Array, r: Array, c: Array, x: Array) -> int | None:
    """The held joint whose force exceeds its friction most; None where all are held."""
    held = (c > 0.0) & (x == 0.0)
    if not held.any():
        return None
    size = np.abs(r) + np.abs(A) @ np.abs(x)
    excess = np.where(held, np.abs(r - A @ x) - c - _ROUND_OFF * size, 0.0)
    freed = int(np.argmax(excess))
    return freed if excess[freed] > 0.0 else None


def _downhill(A: Array, r: Array, c: Array, x: Array, y: Array, turned: IntArray) -> Array:
    """The lowest point between x and y, among y and those where one of the turned joints stops."""
    points = [y]
    for j in turned:
        point = x + x[j] / (x[j] - y[j]) * (y - x)
        point[j] = 0.0
        points.append(point)
    heights = [0.5 * point @ A @ point - r @ point + c @ np.abs(point) for point in points]
    return points[int(np.argmin(heights))]
