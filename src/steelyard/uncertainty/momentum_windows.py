r"""The momentum balance over windows as equations with bounded errors (Zhang et al. 2025, Corollary 10).

$$\Big[ W_m \big|_{t_0}^{t_1} - \int_{t_0}^{t_1} W_c\,dt \Big]\,\phi = \int_{t_0}^{t_1} \tau\,dt$$

needs no accelerations. Integrals are taken by the trapezoidal rule, but for what positions and times give
exactly: $\int v\,dt = \Delta q$ beside viscous friction, and the sign of a velocity that cannot have changed
it beside Coulomb friction. All that the rule and the measurements can be off by goes into the rows' errors.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked
from steelyard.errors import InputError, RecordingError
from steelyard.inertia import change_of_frame
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.loaded_arm import STEP, ArmNorms, LoadedArm, TimeNodes, TimeWindows
from steelyard.uncertainty.payload_polytope import TEN, BoundedRows, PayloadBox, Place

# What the log of a torque can be off by over a window: its sensor, the time between samples, and a delay.
#
# The torque of a sample is that of up to D before or after it, $\hat\tau(t) = \tau(t - d)$ with $|d| \le D$
# and one d for each joint and window, or for each joint. The impulse of the true one then differs by
#
# $$\int_{t_0}^{t_1} \tau\,dt - \int_{t_0}^{t_1} \hat\tau\,dt
#   = \int_0^d \hat\tau(t_1 + s) - \hat\tau(t_0 + s)\,ds$$
#
# so that only the ends of a window count: at most D times the largest difference between a torque up to D
# after one end and a torque up to D after the other, or up to D before both. Where d is the same throughout
# the log it is one more unknown of each joint, $d\,(\bar\tau(t_1) - \bar\tau(t_0))$ with the middle of what
# the torque is around each end, and only half of that range is an error.


def impulses(windows: TimeWindows, tau: Array, errors: ErrorBounds) -> Array:
    r"""$\int\tau\,dt$ of the logged torques: held where they hold, else by straight lines between them.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        errors: what is known of the torque between samples.

    Returns:
        The integrals, shape (n, nv), N·m·s or N·s.
    """
    held = errors.torque_rate is None and errors.torque_holds
    return windows.held(tau) if held else windows.trapezoid(tau)


def torque_errors(windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds) -> Array:
    r"""Error of $\int\tau\,dt$: of the measured torques, of what happens between them, and of their delay.

    A torque whose rate is at most ρ leaves the straight line between its ends by at most
    $\tfrac14\rho h^2$ in the integral, a jump by J at an unknown instant by at most $\tfrac12 J h$. One that
    stays between its values at both ends lies between the lowest and the highest that these can be.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        jumps: largest jump of the torque in each interval, shape (N - 1, nv), N·m or N.
        errors: how far they can be off.

    Returns:
        The bound, shape (n, nv), N·m·s or N·s.
    """
    bound, highest, lowest = _undelayed(windows, tau, jumps, errors)
    if errors.delay == 0.0:
        return bound
    if errors.delay_steady:
        return bound + errors.delay * _change_near_ends(windows, highest, lowest, errors.delay)[1]
    return bound + errors.delay * _difference_of_ends(windows, highest, lowest, errors.delay)


def delay_columns(windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds) -> Array:
    r"""What a second of delay adds to $\int\hat\tau\,dt$: the torque before a window less that after it.

    Args:
        windows: over which.
        tau: measured torques, shape (N, nv), N·m or N.
        jumps: largest jump of the torque in each interval, shape (N - 1, nv), N·m or N.
        errors: how far they can be off.

    Returns:
        The columns of a steady delay, by joint, shape (n, nv), N·m or N; `torque_errors` holds the rest.
    """
    _, highest, lowest = _undelayed(windows, tau, jumps, errors)
    return -_change_near_ends(windows, highest, lowest, errors.delay)[0]


def _undelayed(
    windows: TimeWindows, tau: Array, jumps: Array, errors: ErrorBounds
) -> tuple[Array, Array, Array]:
    """Errors of the impulses but for delays, and the highest and lowest torque of each interval."""
    off, h, rate = errors.torque_error(tau), windows.intervals, errors.torque_rate
    if rate is None and errors.torque_holds:
        return windows.held(off), (tau + off)[:-1], (tau - off)[:-1]
    highest = np.maximum((tau + off)[1:], (tau + off)[:-1])
    lowest = np.minimum((tau - off)[1:], (tau - off)[:-1])
    if rate is None:
        mean = 0.5 * (tau[1:] + tau[:-1])
        return windows.total(h * np.maximum(highest - mean, mean - lowest)), highest, lowest
    between = 0.5 * rate * h + jumps
    bound = windows.trapezoid(off) + windows.total(0.25 * rate * h**2 + 0.5 * jumps * h)
    return bound, highest + between, lowest - between


def torque_jumps(windows: TimeWindows, signs: Array, coulomb: Array, errors: ErrorBounds) -> Array:
    r"""Largest jump of the logged torque in each interval: of $2 F_c$ where the velocity may turn.

    A delay moves the jump by up to D, also from before the log into it.

    Args:
        windows: whose intervals.
        signs: of the velocities, zero where unknown, shape (N - 1, nv), dimensionless.
        coulomb: largest F_c, shape (nv,), N·m or N.
        errors: how far measurements can be off; where no rate is known, jumps are no exception to it.

    Returns:
        The jumps, shape (N - 1, nv), N·m or N.
    """
    if errors.torque_rate is not None:
        return np.asarray(2.0 * coulomb * _near(windows.time, signs == 0.0, errors.delay))
    return np.zeros_like(signs)


def _near(time: Array, marked: BoolArray, distance: float) -> BoolArray:
    """Whether a marked interval, or the outside of the log, is less than a distance from an interval."""
    if distance == 0.0:
        return marked
    count = np.vstack([np.zeros((1, marked.shape[1]), dtype=int), np.cumsum(marked, axis=0)])
    begin, end = time[:-1] - distance, time[1:] + distance
    first = np.searchsorted(time[1:], begin, side="left")
    last = np.searchsorted(time[:-1], end, side="right")
    outside = (begin < time[0]) | (end > time[-1])
    return np.asarray((count[last] > count[first]) | outside[:, None])


def _change_near_ends(
    windows: TimeWindows, highest: Array, lowest: Array, delay: float
) -> tuple[Array, Array]:
    """Change of the torque from around one edge, by up to a delay, to around the next: middle, half range."""
    time, at = windows.time, windows.time[windows.edges]
    first = np.searchsorted(time[1:], at - delay, side="left")
    last = np.searchsorted(time[:-1], at + delay, side="right")
    high, low = _largest(highest, first, last), -_largest(-lowest, first, last)
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    return np.diff(middle, axis=0), np.asarray(half[1:] + half[:-1])


def _difference_of_ends(windows: TimeWindows, highest: Array, lowest: Array, delay: float) -> Array:
    """Largest difference between torques up to a delay after both edges of a window, or before both."""
    time, edges = windows.time, windows.edges
    at = time[edges]
    after = edges, np.searchsorted(time[:-1], at + delay, side="right")
    before = np.searchsorted(time[1:], at - delay, side="left"), edges
    largest = np.zeros((windows.count, highest.shape[1]))
    for first, last in (after, before):
        high, low = _largest(highest, first, last), -_largest(-lowest, first, last)
        largest = np.maximum(largest, np.maximum(high[1:] - low[:-1], high[:-1] - low[1:]))
    return largest


def _largest(values: Array, first: IntArray, last: IntArray) -> Array:
    """The largest value of the intervals from `first` to before `last`, one row for each pair."""
    padded = np.vstack([values, values[-1:]])  # `last` may be one past the end
    return np.asarray(np.maximum.reduceat(padded, np.column_stack([first, last]).ravel(), axis=0)[::2])


# What each equation of a window can be off by, because the measured motion and the trapezoidal rule are.
#
# On an interval of length h let $\bar v$ be the straight line between the measured velocities. The true one
# strays from it by η with $|\eta| \le \varepsilon_v + \tfrac12\alpha h$ and $\int|\eta|\,dt \le \varepsilon_v
# h + \tfrac14\alpha h^2$. The velocity products $K(q, v)$ of $W_c\phi$ are quadratic, $K(q, \bar v + \eta) =
# K(q, \bar v) + D(q, \bar v)\,\eta + K(q, \eta)$: the slope D is known at the nodes, and all that is of
# second order is bounded by `ArmNorms`, $|\partial^n K|\le 2^n\kappa$. Along $\bar v$ the rule misses at most
# $\tfrac1{12}h^3$ times the second derivative.
#
# Between two nodes Δ apart let ℓ be the straight line between their velocities. D is linear in the velocity,
# so that $D(q, \bar v) = D(q, \ell) + D(q, \bar v - \ell)$, and along the true positions $D(q, \ell)$ leaves
# the straight line between its ends by at most $\tfrac18\Delta^2$ times its second derivative: few nodes
# suffice.

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


WINDOW = 0.1
"""Length of a window where none is asked for, s."""
NODES = 4e-3
"""Time between the samples at which slopes are taken, s."""
TERMS = ("viscous", "coulomb", "offset", "rotor")
"""Drive terms whose integral can be bounded, in the order of `Layout.drive_columns`."""


class Grip(Protocol):
    """Where a payload is held."""

    @property
    def link(self) -> str:
        """Name of the moving link that carries it."""
        ...

    @property
    def placement(self) -> Pose:
        """X_LP, the payload's frame in the link's."""
        ...


def bounded_rows(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    recording: Recording,
    held: Grip,
    errors: ErrorBounds,
    prior: PayloadBox,
    *,
    window: float = WINDOW,
) -> BoundedRows:
    """The momentum equations of a recording for the payload, every error in them bounded.

    Args:
        robot: the robot without the payload, an arm of turning and sliding joints.
        layout: the order of its parameters, with any of the drive terms `TERMS`.
        parameters: phi of the robot without the payload, shape (p,), SI.
        recording: positions, velocities and torques with the payload.
        held: where the payload is held; its ten numbers are in the frame of this placement.
        errors: how far measurements and model can be off.
        prior: what the payload can be; it limits how velocity errors and the rule act on the payload.
        window: length of a window, s; windows do not overlap, and leave the first and the last `delay` of the
            recording free.

    Returns:
        One row for each window and joint, window by window.

    Raises:
        InputError: the window is too short or too long, the recording or the bounds are of other joints, the
            layout has another drive term, or a joint is helical.
        RecordingError: velocities or torques were not recorded.
    """
    _check(robot, layout, recording, errors)
    phi, nv, links = checked("parameters", parameters, (layout.size,)), robot.nv, 10 * robot.nv
    windows = TimeWindows.regular(recording.time, window, margin=errors.delay)
    q, v, tau = (recording.channels[name] for name in ("q", "v", "tau"))
    most = np.abs(phi) + errors.parameters
    viscous, coulomb, _, rotor = _of_drives(layout, most)
    norms = ArmNorms.of(
        robot,
        most[:links].reshape(nv, TEN),
        prior.largest,
        held.link,
        held.placement,
        np.abs(q).max(axis=0) + errors.position + errors.acceleration * windows.intervals.max() ** 2 + STEP,
    )
    arm = LoadedArm(
        robot,
        layout_of(robot),
        phi[:links],
        errors.parameters[:links],
        layout.of_link(held.link),
        change_of_frame(held.placement),
        prior,
    )
    signs = certain_signs(windows, v, errors)
    Y = np.zeros((windows.count, nv, layout.size))
    Y[:, :, :links] = arm.integrated(windows, q, v)
    _write_drives(layout, windows, q, v, signs, Y)
    A = Y[:, :, arm.carrier] @ arm.to_link
    impulse = impulses(windows, tau, errors)
    edges = windows.edges
    ends = q[edges], v[edges]
    nodes = TimeNodes.spaced(windows.time, NODES)
    at = nodes.samples
    jumps = torque_jumps(windows, signs, coulomb, errors)
    error = (
        torque_errors(windows, tau, jumps, errors)
        + motion_errors(windows, nodes, arm.velocity_slopes(q[at], v[at]), v, errors, norms)
        + end_errors(
            arm.inertia(ends[0]) + np.diag(rotor), arm.position_slopes(*ends), ends[1], errors, norms
        )
        + friction_errors(windows, signs, coulomb, viscous, errors)
        + rounding_errors(windows, v, norms, np.abs(Y[:, :, links:]) @ most[links:], impulse)
    )
    untested = (
        f"A drive adds {', '.join(layout.drive) or 'no friction'} to the arm's torques, and no more.",
        f"The payload is rigid and bolted to {held.link}.",
        prior.meaning,
    )
    unknown = Y
    if errors.delay > 0.0 and errors.delay_steady:
        late = delay_columns(windows, tau, jumps, errors)
        unknown = np.concatenate([Y, late[:, :, None] * np.eye(nv)], axis=2)
    m = windows.count * nv
    return BoundedRows(
        A.reshape(m, TEN),
        unknown.reshape(m, -1),
        (impulse - Y @ phi).reshape(m),
        error.reshape(m),
        errors.unknown,
        tuple(
            Place(joint, float(begin), float(end))
            for begin, end in zip(windows.time[edges[:-1]], windows.time[edges[1:]], strict=True)
            for joint in robot.joint_names
        ),
        (*errors.assumptions, *untested),
        (*errors.untested, *untested),
    )


def _write_drives(layout: Layout, windows: TimeWindows, q: Array, v: Array, signs: Array, Y: Array) -> None:
    """Write the impulses of unit drive terms into their columns."""
    q, v = q[windows.edges], v[windows.edges]
    impulses = (
        np.diff(q, axis=0),
        windows.total(windows.intervals * signs),
        np.broadcast_to(windows.lengths, (windows.count, v.shape[1])),
        np.diff(v, axis=0),
    )
    for columns, impulse in zip(layout.drive_columns.T, impulses, strict=True):
        dofs = np.flatnonzero(columns >= 0)
        Y[:, dofs, columns[dofs]] = impulse[:, dofs]


def _of_drives(layout: Layout, values: Array) -> Array:
    """Values of the drive terms `TERMS` by joint, zero where a term is absent, shape (4, nv)."""
    columns = layout.drive_columns.T
    return np.where(columns >= 0, values[columns], 0.0)


def _check(robot: Robot, layout: Layout, recording: Recording, errors: ErrorBounds) -> None:
    robot.require_arm()
    for name, joints in (("recording", recording.joints), ("errors", errors.joints)):
        if joints != robot.joint_names:
            raise InputError(
                f"of joints {list(joints)}, but the robot has {list(robot.joint_names)}.", place=name
            )
    if other := [term for term in layout.drive if term not in TERMS]:
        raise InputError(
            f"has {', '.join(other)}, whose integral over a window has no bound here.",
            place="layout",
            remedy=f"Use {', '.join(TERMS)}, with spreads that cover the rest.",
        )
    checked("errors.parameters", errors.parameters, (layout.size,))
    if missing := [name for name in ("v", "tau") if name not in recording.channels]:
        raise RecordingError(
            f"has no {', '.join(missing)}.",
            place="recording",
            remedy="Momentum needs velocities, and its change torques.",
        )
