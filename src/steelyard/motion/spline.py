"""B-splines: piecewise polynomials moved by control points; from pose to pose, and through waypoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError
from steelyard.motion.motion import (
    Basis,
    MotionFamily,
    check_order,
    check_schema,
    checked_motion_joints,
    checked_seconds,
)

# B-splines: piecewise polynomials moved by control points; without inner breaks, a Bezier curve.
#
# $$q_j(t) = \sum_i c_{j,i}\,B_{i,d}(t)$$
#
# over the breaks $0 = \tau_0 < \dots < \tau_m = T$, each end being d + 1 knots. A curve of degree d has
# continuous derivatives up to order d - 1, starts at its first control point and ends at its last.

SCHEMA = 1
DEGREES = range(3, 10)
"""From the lowest with continuous acceleration to that of the Taylor series by which motions are enclosed."""


@dataclass(frozen=True, eq=False)
class SplineMotion(MotionFamily):
    """A B-spline for every joint; before its start and after its end it stands still.

    Attributes:
        joints: names of the nv joints.
        breaks: where polynomial pieces meet, from 0 to the duration, increasing, shape (m + 1,), s.
        control: control points c, shape (nv, m + degree), rad or m.
        degree: d, 3 to 9; 3 is cubic, 5 quintic.
        robot: digest of the robot it was made for; empty where none is known.
        schema: number of this layout.
    """

    joints: tuple[str, ...]
    breaks: Array
    control: Array
    degree: int = 5
    robot: str = ""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        check_schema(self.schema, SCHEMA)
        object.__setattr__(self, "joints", checked_motion_joints(self.joints))
        if self.degree not in DEGREES:
            raise InputError(f"must be {DEGREES[0]} to {DEGREES[-1]}, got {self.degree}.", place="degree")
        breaks = checked("breaks", self.breaks, ("m",))
        if len(breaks) < 2 or breaks[0] != 0.0 or (np.diff(breaks) <= 0.0).any():
            raise InputError("must be two or more, increase, and start at 0 s.", place="breaks")
        control = checked("control", self.control, (len(self.joints), len(breaks) - 1 + self.degree))
        object.__setattr__(self, "breaks", read_only(breaks))
        object.__setattr__(self, "control", read_only(control))

    @property
    def duration(self) -> float:
        """How long it lasts, s."""
        return float(self.breaks[-1])

    @property
    def periodic(self) -> bool:
        """Never: its ends are free of each other."""
        return False

    @property
    def coefficients(self) -> Array:
        """The control points, shape (nv, m + degree), rad or m."""
        return self.control

    def with_coefficients(self, coefficients: ArrayLike) -> SplineMotion:
        """The same breaks with other control points.

        Args:
            coefficients: control points, shape (nv, m + degree), rad or m.
        """
        return replace(self, control=checked("coefficients", coefficients, self.control.shape))

    def basis(self, time: ArrayLike) -> Basis:
        """The derivatives of the motion with respect to its control points.

        Args:
            time: when, shape (N,), s.

        Returns:
            The basis B and its derivatives, the same for every joint.
        """
        K, N = self.control.shape[1], np.size(time)
        require_memory(
            NUMBER * K * (K + 6 * N),
            f"a basis of {K} control points at {N} times",
            place="motion",
            remedy="Use fewer pieces.",
        )
        return Basis(
            *(self._evaluated(np.eye(self.control.shape[1]), time, order) for order in range(4)),
        )

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time; zero beyond the ends, unless it is the position.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        return self._evaluated(self.control.T, time, order)

    def derivative_bounds(self, order: int) -> Array:
        """The largest control point of the derivative, which is a spline again and stays in their hull.

        Args:
            order: of the derivative.

        Returns:
            The bound, the same for every piece, shape (m, nv), rad or m over the order's power of s.
        """
        check_order(order)
        shape = len(self.breaks) - 1, len(self.joints)
        if order > self.degree:
            return np.zeros(shape)
        curve = self._differentiated(self.control.T, order)
        return np.broadcast_to(np.abs(curve.c[: len(curve.t) - curve.k - 1]).max(axis=0), shape)

    @property
    def _knots(self) -> Array:
        ends = self.degree * (self.breaks[0],), self.degree * (self.breaks[-1],)
        return np.concatenate((ends[0], self.breaks, ends[1]))

    def _differentiated(self, control: Array, order: int) -> scipy.interpolate.BSpline:
        """The derivative as a spline of its own, whose control points are differences of these.

        Differentiating the basis instead loses the digits in which neighbouring control points differ.
        """
        curve = scipy.interpolate.BSpline(self._knots, control, self.degree)
        return curve.derivative(order) if order > 0 else curve

    def _evaluated(self, control: Array, time: ArrayLike, order: int) -> Array:
        """Derivatives at the times of the splines with these control points, (K, n) to (N, n)."""
        check_order(order)
        t = checked("time", time, ("N",))
        if order > self.degree:
            return np.zeros((len(t), control.shape[1]))
        inside = np.clip(t, 0.0, self.duration)
        values = np.asarray(self._differentiated(control, order)(inside))
        if order > 0:
            values[t != inside] = 0.0
        return values


def bezier(joints: Sequence[str], duration: float, control: ArrayLike, *, robot: str = "") -> SplineMotion:
    r"""A Bezier curve: a spline of one piece, $q(t) = \sum_i c_i \binom{d}{i} s^i (1-s)^{d-i}$ with s = t/T.

    Args:
        joints: names of the nv joints.
        duration: T, s.
        control: control points c_0 … c_d, shape (nv, d + 1), rad or m; six for degree 5.
        robot: digest of the robot it is made for.
    """
    points = checked("control", control, (len(joints), "d"))
    breaks = np.array([0.0, checked_seconds("duration", duration)])
    return SplineMotion(tuple(joints), breaks, points, points.shape[1] - 1, robot)


# From pose to pose: quintic connections between any two states, and pick-and-place through waypoints.


def quintic(
    joints: Sequence[str],
    duration: float,
    start: ArrayLike,
    end: ArrayLike,
    *,
    start_velocity: ArrayLike | None = None,
    start_acceleration: ArrayLike | None = None,
    end_velocity: ArrayLike | None = None,
    end_acceleration: ArrayLike | None = None,
    robot: str = "",
) -> SplineMotion:
    r"""The polynomial of degree 5 between two states; between two poses at rest it has the least jerk.

    With h = T/5, the outer control points of the Bezier curve are

    $$c_0 = q_0,\quad c_1 = c_0 + h v_0,\quad c_2 = 2 c_1 - c_0 + \tfrac{5}{4} h^2 a_0,$$

    and the same backwards from the end.

    Args:
        joints: names of the nv joints.
        duration: T, s.
        start: q at the start, shape (nv,), rad or m.
        end: q at the end, shape (nv,), rad or m.
        start_velocity: v at the start, shape (nv,), rad/s or m/s; None for zero.
        start_acceleration: a at the start, shape (nv,), rad/s² or m/s²; None for zero.
        end_velocity: v at the end, shape (nv,), rad/s or m/s; None for zero.
        end_acceleration: a at the end, shape (nv,), rad/s² or m/s²; None for zero.
        robot: digest of the robot it is made for.

    Returns:
        The motion, a Bezier curve.
    """
    h = checked_seconds("duration", duration) / 5.0
    nv = len(joints)
    given = {
        "start": start,
        "start_velocity": start_velocity,
        "start_acceleration": start_acceleration,
        "end": end,
        "end_velocity": end_velocity,
        "end_acceleration": end_acceleration,
    }
    q0, v0, a0, q1, v1, a1 = (
        np.zeros(nv) if value is None else checked(name, value, (nv,)) for name, value in given.items()
    )
    front = (q0, q0 + h * v0, q0 + 2.0 * h * v0 + 1.25 * h**2 * a0)
    back = (q1 - 2.0 * h * v1 + 1.25 * h**2 * a1, q1 - h * v1, q1)
    return bezier(joints, duration, np.stack((*front, *back), axis=1), robot=robot)


def pick_and_place(
    joints: Sequence[str],
    waypoints: ArrayLike,
    times: ArrayLike,
    *,
    degree: int = 5,
    robot: str = "",
) -> SplineMotion:
    """A spline through waypoints in joint space, at rest at first and last (Lambert 2023, section 4.4.2).

    The paper's polynomials are cubic. Rest, with zero velocity and acceleration at both ends, asks four
    conditions beyond the waypoints: the quintic spline has room for them, the cubic one gets two more breaks,
    in the middle of the first and of the last stretch. Acceleration is continuous in both.

    Args:
        joints: names of the nv joints.
        waypoints: poses to pass, two or more, shape (n, nv), rad or m.
        times: when, increasing, the first at 0, shape (n,), s.
        degree: 3 or 5.
        robot: digest of the robot it is made for.

    Raises:
        InputError: another degree, or times that do not increase from 0.
    """
    if degree not in (3, 5):
        raise InputError(f"must be 3 or 5, got {degree}.", place="degree")
    poses = checked("waypoints", waypoints, ("n", len(joints)))
    t = checked("times", times, (len(poses),))
    if len(t) < 2 or t[0] != 0.0 or (np.diff(t) <= 0.0).any():
        raise InputError("must be two or more, increase, and start at 0 s.", place="times")
    breaks = t if degree == 5 else _with_inner_breaks(t)
    shape = (len(joints), len(breaks) - 1 + degree)
    curve = SplineMotion(tuple(joints), breaks, np.zeros(shape), degree, robot)
    at, ends = curve.basis(t), curve.basis(t[[0, -1]])
    # The rows of velocity and acceleration are scaled to the size of those of position.
    conditions = np.vstack((at.q, ends.v * t[-1], ends.a * t[-1] ** 2))
    values = np.vstack((poses, np.zeros((4, len(joints)))))
    control = np.linalg.solve(conditions, values).T
    # A clamped spline is at rest exactly where its three outer control points are one.
    control[:, :3], control[:, -3:] = poses[0][:, None], poses[-1][:, None]
    return curve.with_coefficients(control)


def _with_inner_breaks(t: Array) -> Array:
    """The times with two more, (n + 2,), s."""
    if len(t) == 2:
        return np.linspace(0.0, t[1], 4)
    return np.unique(np.concatenate((t, [0.5 * (t[0] + t[1]), 0.5 * (t[-2] + t[-1])])))


# Point-to-point segments: from waypoint to waypoint along straight lines, all joints in step.
#
# On a segment every joint follows one path coordinate, $q(t) = q_0 + s(t)\,(q_1 - q_0)$ with s from 0 to 1.
# Its acceleration is a trapezoid, then zero while s goes at its peak speed, then the same trapezoid
# downwards:
#
# $$R = \frac{V}{A\,(1 - \rho)},\qquad C = \frac{1}{V} - R,$$
#
# with the peak speed V, the peak acceleration A, the time R of a ramp, of which a share ρ is spent on raising
# the acceleration and as much on lowering it, and the time C at peak speed. Where the segment is too short to
# reach the speed allowed, C = 0 and $V = \sqrt{A (1 - \rho)}$. Position, velocity and acceleration are
# continuous and the jerk is bounded: the whole way is one cubic spline.

RISE = 0.3
"""ρ: share of a ramp that the acceleration takes to rise, and again to fall."""
_SHORTEST_CRUISE = 0.02
"""A time at peak speed shorter than this share of a ramp is given to the ramps: breaks must not crowd."""


def through_waypoints(
    joints: Sequence[str],
    waypoints: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    *,
    dwell: float = 0.0,
    robot: str = "",
) -> SplineMotion:
    """Go from waypoint to waypoint in straight lines, at rest at each, as fast as the limits allow.

    On every segment one joint reaches its speed or its acceleration limit and the others keep in step.

    Args:
        joints: names of the nv joints.
        waypoints: poses to rest at, two or more, each unlike the one before, shape (n, nv), rad or m.
        velocity: largest speeds, positive for joints that move, infinite where there is no limit, shape
            (nv,), or one row for each segment, shape (n - 1, nv), rad/s or m/s.
        acceleration: largest accelerations, positive for joints that move, finite, shape (nv,), or one row
            for each segment, shape (n - 1, nv), rad/s² or m/s².
        dwell: how long to rest at each waypoint between the first and the last, s.
        robot: digest of the robot it is made for.

    Returns:
        The motion, a cubic spline; at the waypoints velocity and acceleration are zero to the last bit.

    Raises:
        InputError: there is no segment, one goes nowhere, or a limit is not positive.
    """
    poses = checked("waypoints", waypoints, ("n", len(joints)))
    if len(poses) < 2:
        raise InputError(f"must be two or more, got {len(poses)}.", place="waypoints")
    if not (math.isfinite(dwell) and dwell >= 0.0):
        raise InputError(f"must be zero or more, got {dwell} s.", place="dwell")
    delta = np.diff(poses, axis=0)
    still = ~delta.any(axis=1)
    if still.any():
        k = int(still.argmax())
        raise InputError(f"numbers {k} and {k + 1} are the same pose.", place="waypoints")
    V = _path_limit("velocity", velocity, delta, finite=False)
    A = _path_limit("acceleration", acceleration, delta, finite=True)
    steps, states, rests = [0.0], [_at_rest(poses[0])], [0]
    for k, d in enumerate(delta):
        times, inner = _profile(float(V[k]), float(A[k]))
        moving = inner[:, :, None] * d
        moving[:, 0] += poses[k]
        steps += times
        states += [moving, _at_rest(poses[k + 1])]
        rests.append(len(steps) - 1)
        if dwell > 0.0 and k + 1 < len(delta):
            steps.append(dwell)
            states.append(states[-1])
            rests.append(len(steps) - 1)
    breaks = np.cumsum(steps)
    control = _control_points(breaks, np.concatenate(states), np.array(rests))
    return SplineMotion(tuple(joints), breaks, control, 3, robot)


def _path_limit(name: str, limits: ArrayLike, delta: Array, *, finite: bool) -> Array:
    """What the joints that move leave to the path coordinate on each segment, (n - 1,), per s or per s²."""
    rows = np.ndim(limits) == 2
    values = checked(name, limits, delta.shape if rows else delta.shape[1:], finite=finite)
    most = np.broadcast_to(values, delta.shape)
    moves = delta != 0.0
    if not (most[moves] > 0.0).all():
        raise InputError(f"must be positive for joints that move, got {most[moves].min()}.", place=name)
    share = np.full(delta.shape, np.inf)
    np.divide(most, np.abs(delta), out=share, where=moves)
    return np.asarray(share.min(axis=1))


def _at_rest(pose: Array) -> Array:
    """The state at a waypoint, (1, 3, nv)."""
    return np.stack((pose, 0.0 * pose, 0.0 * pose))[None]


def _profile(speed: float, acceleration: float) -> tuple[list[float], Array]:
    """How long the m pieces of a segment last, and s, its speed and acceleration between, (m - 1, 3)."""
    V = min(speed, math.sqrt(acceleration * (1.0 - RISE)))
    R = V / (acceleration * (1.0 - RISE))
    C = 1.0 / V - R
    if C < _SHORTEST_CRUISE * R:
        R, C = 1.0 / V, 0.0
    A, rise = V / (R * (1.0 - RISE)), RISE * R
    # The ramp up, at the ends of its three pieces; the ramp down is the same, backwards in time.
    up = [
        (A * rise**2 / 6.0, A * rise / 2.0, A),
        (V * (R / 2.0 - rise) + A * rise**2 / 6.0, V - A * rise / 2.0, A),
        (V * R / 2.0, V, 0.0),
    ]
    down = [(1.0 - s, v, -a) for s, v, a in reversed(up)]
    pieces = [rise, R - 2.0 * rise, rise]
    if C > 0.0:
        return [*pieces, C, *pieces], np.array([*up, *down])
    return [*pieces, *pieces], np.array([*up, *down[1:]])


def _control_points(breaks: Array, states: Array, rests: Array) -> Array:
    r"""Control points of the cubic spline with these states at its breaks, (m + 1, 3, nv) to (nv, m + 3).

    The control point over three neighbouring knots depends on the state at the middle one alone (de Boor and
    Fix): $c = q + \tfrac{1}{3} (h_+ - h_-)\,v - \tfrac{1}{6} h_+ h_-\,a$, with the distances h to the others.
    """
    m = len(breaks) - 1
    i = np.arange(m + 3)
    before, at, after = (np.clip(i + shift, 0, m) for shift in (-2, -1, 0))
    down, up = (breaks[at] - breaks[before])[:, None], (breaks[after] - breaks[at])[:, None]
    q, v, a = states[at, 0], states[at, 1], states[at, 2]
    control = q + (up - down) / 3.0 * v - up * down / 6.0 * a
    # A spline rests at a break exactly where the three control points about it are one.
    for shift in range(3):
        control[rests + shift] = states[rests, 0]
    return np.ascontiguousarray(control.T)
