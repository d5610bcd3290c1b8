r"""B-splines: piecewise polynomials moved by control points; without inner breaks, a Bezier curve.

$$q_j(t) = \sum_i c_{j,i}\,B_{i,d}(t)$$

over the breaks $0 = \tau_0 < \dots < \tau_m = T$, each end being d + 1 knots. A curve of degree d has
continuous derivatives up to order d - 1, starts at its first control point and ends at its last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked, read_only
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError
from steelyard.motion.basis import Basis
from steelyard.motion.fields import check_order, check_schema, checked_joints, checked_seconds
from steelyard.motion.motion import MotionSample

SCHEMA = 1
DEGREES = range(3, 10)
"""From the lowest with continuous acceleration to that of the Taylor series by which motions are enclosed."""


@dataclass(frozen=True, eq=False)
class SplineMotion:
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
        object.__setattr__(self, "joints", checked_joints(self.joints))
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

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self)

    def with_coefficients(self, coefficients: ArrayLike) -> SplineMotion:
        """The same breaks with other control points.

        Args:
            coefficients: control points, shape (nv, m + degree), rad or m.

        Returns:
            The motion.
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

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        return MotionSample(*(self.derivative(time, order) for order in range(3)))

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

    Returns:
        The motion.
    """
    points = checked("control", control, (len(joints), "d"))
    breaks = np.array([0.0, checked_seconds("duration", duration)])
    return SplineMotion(tuple(joints), breaks, points, points.shape[1] - 1, robot)
