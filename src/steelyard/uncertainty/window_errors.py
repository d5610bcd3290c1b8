r"""What each equation of a window can be off by, because the measured motion and the trapezoidal rule are.

On an interval of length h let $\bar v$ be the straight line between the measured velocities. The true one
strays from it by η with $|\eta| \le \varepsilon_v + \tfrac12\alpha h$ and
$\int|\eta|\,dt \le \varepsilon_v h + \tfrac14\alpha h^2$. The velocity products $K(q, v)$ of $W_c\phi$ are
quadratic, $K(q, \bar v + \eta) = K(q, \bar v) + D(q, \bar v)\,\eta + K(q, \eta)$: the slope D is known at the
nodes, and all that is of second order is bounded by `ArmNorms`, $|\partial^n K|\le 2^n\kappa$. Along $\bar v$
the rule misses at most $\tfrac1{12}h^3$ times the second derivative.

Between two nodes Δ apart let ℓ be the straight line between their velocities. D is linear in the velocity, so
that $D(q, \bar v) = D(q, \ell) + D(q, \bar v - \ell)$, and along the true positions $D(q, \ell)$ leaves the
straight line between its ends by at most $\tfrac18\Delta^2$ times its second derivative: few nodes suffice.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.uncertainty.arm_norms import ArmNorms
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.loaded_arm import STEP
from steelyard.uncertainty.time_nodes import TimeNodes
from steelyard.uncertainty.time_windows import TimeWindows

ROUNDING = 1e-12
"""Share of the terms of an equation that covers the rounding of its coefficients."""


def motion_errors(
    windows: TimeWindows, nodes: TimeNodes, slopes: Array, v: Array, errors: ErrorBounds, norms: ArmNorms
) -> Array:
    r"""Error of $\int W_c\,dt\,\phi$ of links and payload, friction apart.

    Args:
        windows: over which.
        nodes: samples at which slopes are known.
        slopes: largest $|D_{kj}|$ at the nodes, shape (M, nv of j, nv of k), SI.
        v: measured velocities, shape (N, nv), rad/s or m/s.
        errors: how far measurements can be off.
        norms: sizes of the arm.

    Returns:
        The bound, shape (n, nv), N·m·s or N·s.
    """
    h, dv, dq, a = windows.intervals, errors.velocity, errors.position, errors.acceleration
    line = _larger_end(np.abs(v))
    bend = np.abs(np.diff(v, axis=0)) / h
    strayed = dv * h + 0.25 * a * h**2
    speed = np.sum(line + dv + 0.5 * a * h, axis=1, keepdims=True)
    shift, squares = float(dq.sum()), norms.rows(line, line)
    off = slope_errors(nodes, slopes, v, strayed, speed, errors, norms)
    off += h * norms.rows(dv + 0.5 * a * h, dv + 0.5 * a * h)
    off += h * (2.0 * squares + norms.weight) * shift
    second = 4.0 * squares * speed**2 + 2.0 * squares * a.sum()
    second += 8.0 * norms.rows(line, bend) * speed + 2.0 * norms.rows(bend, bend)
    second += norms.weight * (speed**2 + a.sum())
    return windows.total(off + h**3 / 12.0 * second)


def slope_errors(
    nodes: TimeNodes,
    slopes: Array,
    v: Array,
    strayed: Array,
    speed: Array,
    errors: ErrorBounds,
    norms: ArmNorms,
) -> Array:
    r"""Largest $\int |D(q, \bar v)\,\eta|\,dt$ of each interval.

    Args:
        nodes: samples at which slopes are known.
        slopes: largest $|D_{kj}|$ at the nodes, shape (M, nv of j, nv of k), SI.
        v: measured velocities, shape (N, nv), rad/s or m/s.
        strayed: largest $\int|\eta|\,dt$ of each interval, shape (N - 1, nv), rad or m.
        speed: largest sum of the true speeds in each interval, shape (N - 1, 1), SI.
        errors: how far measurements can be off.
        norms: sizes of the arm.

    Returns:
        The bound, shape (N - 1, nv), N·m·s or N·s.
    """
    span, length, ends = nodes.spans, nodes.lengths, v[nodes.samples]
    off = np.einsum("tj,tjk->tk", strayed, _larger_end(nodes.interpolated(slopes)))
    off += 2.0 * norms.rows(_larger_end(np.abs(v - nodes.interpolated(ends))), strayed)
    line, bend = _larger_end(np.abs(ends))[span], (np.abs(np.diff(ends, axis=0)) / length)[span]
    fastest, a = nodes.largest(speed)[span], errors.acceleration.sum()
    along = norms.rows(line, strayed)
    second = (8.0 * fastest**2 + 4.0 * a) * along + 8.0 * fastest * norms.rows(bend, strayed)
    off += 4.0 * float(errors.position.sum()) * along + 0.125 * length[span] ** 2 * second
    return np.asarray(off)


def _larger_end(values: Array) -> Array:
    """The larger of the values at both ends of each interval."""
    return np.maximum(values[1:], values[:-1])


def end_errors(inertia: Array, slopes: Array, v: Array, errors: ErrorBounds, norms: ArmNorms) -> Array:
    r"""Error of the momentum's change over each window.

    $$H(q)\,v - H(\hat q)\,\hat v
      = H(\hat q)\,(v - \hat v) + (H(q) - H(\hat q))\,\hat v + (H(q) - H(\hat q))\,(v - \hat v)$$

    of which the first two are known to first order, and the rest is of second order.

    Args:
        inertia: largest $|H_{kj}|$ at the edges, rotors included, shape (n + 1, nv of j, nv of k), SI.
        slopes: largest $|\partial_j (H\hat v)_k|$ at the edges by differences, shape (n + 1, nv of j, nv of
            k), SI.
        v: measured velocities at the edges, shape (n + 1, nv), rad/s or m/s.
        errors: how far they can be off.
        norms: sizes of the arm.

    Returns:
        The bound of both ends together, shape (n, nv), N·m·s or N·s.
    """
    dv, dq, shift = errors.velocity, errors.position, float(errors.position.sum())
    off = np.einsum("j,ejk->ek", dv, inertia) + np.einsum("j,ejk->ek", dq, slopes)
    off += (8.0 / 6.0 * STEP**2 * shift + 2.0 * shift**2) * norms.momentum(np.abs(v))
    off += 2.0 * shift * norms.momentum(dv)
    return np.asarray(off[1:] + off[:-1])


def certain_signs(windows: TimeWindows, v: Array, errors: ErrorBounds) -> Array:
    r"""The sign of each velocity over each interval, zero where it cannot be told.

    Between samples it falls at most to $\tfrac12(v_0 + v_1 - \alpha h)$.

    Args:
        windows: whose intervals.
        v: measured velocities, shape (N, nv), rad/s or m/s.
        errors: how far they can be off.

    Returns:
        1, -1 or 0, shape (N - 1, nv), dimensionless.
    """
    fall = errors.velocity + 0.5 * errors.acceleration * windows.intervals
    mean = 0.5 * (v[1:] + v[:-1])
    up = np.minimum(np.minimum(v[1:], v[:-1]) - errors.velocity, mean - fall) > 0.0
    down = np.maximum(np.maximum(v[1:], v[:-1]) + errors.velocity, mean + fall) < 0.0
    return np.asarray(up.astype(float) - down.astype(float))


def friction_errors(
    windows: TimeWindows, signs: Array, coulomb: Array, viscous: Array, errors: ErrorBounds
) -> Array:
    r"""Error of friction: Coulomb's while its sign is unknown, and $F_v\,\Delta q$ by two positions.

    In an interval of unknown sign friction is off by at most $F_c h$.

    Args:
        windows: over which.
        signs: of the velocities, zero where unknown, shape (N - 1, nv), dimensionless.
        coulomb: largest F_c, shape (nv,), N·m or N.
        viscous: largest F_v, shape (nv,), N·m·s/rad or N·s/m.
        errors: how far measurements can be off.

    Returns:
        The bound, shape (n, nv), N·m·s or N·s.
    """
    dwell = windows.total(windows.intervals * (signs == 0.0))
    return np.asarray(dwell * coulomb + 2.0 * viscous * errors.position)


def rounding_errors(windows: TimeWindows, v: Array, norms: ArmNorms, drives: Array, impulse: Array) -> Array:
    """What rounding can cost the coefficients of the equations.

    Args:
        windows: over which.
        v: measured velocities, shape (N, nv), rad/s or m/s.
        norms: sizes of the arm.
        drives: sizes of the drives' terms, shape (n, nv), N·m·s or N·s.
        impulse: integral of the torque, shape (n, nv), N·m·s or N·s.

    Returns:
        The bound, shape (n, nv), N·m·s or N·s.
    """
    speed = np.abs(v)
    rate = windows.trapezoid(2.0 * norms.rows(speed, speed) + norms.weight)
    ends = norms.momentum(speed[windows.edges])
    return np.asarray(ROUNDING * (rate + ends[1:] + ends[:-1] + drives + np.abs(impulse)))
