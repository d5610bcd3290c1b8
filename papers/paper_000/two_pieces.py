r"""Motions from rest to rest in two pieces of degree 5, joined in a state that is free to choose.

The state (q, v, a) of every joint where the pieces meet are its three unknowns; the position, every
derivative and the jerk are linear in them:

$$q_j(t) = b_0(t)\,q_{j,start} + \sum_{i=1}^3 b_i(t)\,x_{j,i} + b_4(t)\,q_{j,end}.$$
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.motion import MotionSample, SequenceMotion, in_sequence, quintic

_COLUMNS = ("start", "position", "velocity", "acceleration", "end")
_GAUSS = 3
"""Points of Gauss' rule on each piece: the square of the jerk has degree 4."""


@dataclass(frozen=True, eq=False)
class TwoPieces:
    """The family of motions between two poses; x are position, velocity · τ and acceleration · τ² in between.

    Attributes:
        joints: names of the nv joints.
        start: where it starts, shape (nv,), rad or m.
        end: where it ends, shape (nv,), rad or m.
        durations: of both pieces, s.
        robot: digest of the robot it is made for.
    """

    joints: tuple[str, ...]
    start: Array
    end: Array
    durations: tuple[float, float]
    robot: str = ""

    @property
    def straight(self) -> Array:
        """The unknowns of the least jerk: one quintic over the whole time, shape (nv, 3), rad or m."""
        whole = quintic(self.joints, sum(self.durations), self.start, self.end)
        at = whole.sample([self.durations[0]])
        return np.stack([at.q[0], at.v[0] * self._tau, at.a[0] * self._tau**2], axis=1)

    def motion(self, x: Array) -> SequenceMotion:
        """The motion of given unknowns.

        Args:
            x: unknowns, shape (nv, 3), rad or m.

        Returns:
            Both pieces in sequence.
        """
        q, v, a = x[:, 0], x[:, 1] / self._tau, x[:, 2] / self._tau**2
        first, second = self.durations
        return in_sequence(
            [
                quintic(
                    self.joints,
                    first,
                    self.start,
                    q,
                    end_velocity=v,
                    end_acceleration=a,
                    robot=self.robot,
                ),
                quintic(
                    self.joints,
                    second,
                    q,
                    self.end,
                    start_velocity=v,
                    start_acceleration=a,
                    robot=self.robot,
                ),
            ]
        )

    def basis(self, time: Array) -> MotionSample:
        """The functions b_0 … b_4 and their derivatives.

        Args:
            time: when, shape (N,), s.

        Returns:
            One column for each, shape (N, 5), SI.
        """
        return self._unit.sample(time)

    def at(self, basis: MotionSample, x: Array) -> MotionSample:
        """The motion of given unknowns where the basis was evaluated.

        Args:
            basis: of the times.
            x: unknowns, shape (nv, 3), rad or m.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        c = np.column_stack([self.start, x, self.end])
        return MotionSample(basis.q @ c.T, basis.v @ c.T, basis.a @ c.T)

    def jerk(self, x: Array) -> float:
        r"""The integral $\int \sum_j \dddot q_j^2\,dt$.

        Args:
            x: unknowns, shape (nv, 3), rad or m.

        Returns:
            The integral, rad²/s⁵ or m²/s⁵.
        """
        rows, shift = self.jerk_rows
        return float(((x @ rows.T + shift) ** 2).sum())

    @cached_property
    def jerk_rows(self) -> tuple[Array, Array]:
        """Rows J, shape (6, 3), and s, shape (nv, 6), SI: the integral is the sum of the squares J x + s."""
        points, weights = np.polynomial.legendre.leggauss(_GAUSS)
        first, second = self.durations
        time = np.concatenate([0.5 * first * (points + 1.0), first + 0.5 * second * (points + 1.0)])
        root = np.sqrt(0.5 * np.concatenate([first * weights, second * weights]))
        J = root[:, None] * self._unit.derivative(time, 3)
        shift = np.outer(self.start, J[:, 0]) + np.outer(self.end, J[:, 4])
        return read_only(J[:, 1:4]), read_only(shift)

    @property
    def _tau(self) -> float:
        """The time that brings velocity and acceleration to the size of positions, s."""
        return 0.5 * sum(self.durations)

    @cached_property
    def _unit(self) -> SequenceMotion:
        """A motion whose "joints" are the five functions."""
        one = np.eye(5)
        v, a = one[2] / self._tau, one[3] / self._tau**2
        first, second = self.durations
        return in_sequence(
            [
                quintic(_COLUMNS, first, one[0], one[1], end_velocity=v, end_acceleration=a),
                quintic(_COLUMNS, second, one[1], one[4], start_velocity=v, start_acceleration=a),
            ]
        )
