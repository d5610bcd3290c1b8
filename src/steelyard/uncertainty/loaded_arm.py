r"""An arm and what it may hold, all within boxes of parameters: its momentum equations and how they bend.

The link columns of $W_c$ are quadratic in the velocity, so their slopes
$D_j = \tfrac12(W_c(q, v + e_j) - W_c(q, v - e_j))$ are exact, and the momentum is linear in it: columns
$W_m(q, e_j)$ hold the mass matrix. Of any such columns W, the largest $|W\phi|$ over the boxes is
$|W\phi_0| + |W|\,d$.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import momentum_rate_regressor, momentum_regressor
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.time_windows import TimeWindows

STEP = 1e-4
"""Of differences in the position, rad or m."""
PIECE = 512
"""Samples treated at a time: their columns stay in the cache."""


@dataclass(frozen=True, eq=False)
class LoadedArm:
    """The links of an arm and the payload on one of them.

    Attributes:
        robot: the robot without payload.
        links: the layout of its links alone.
        parameters: of the links, shape (10 nv,), SI.
        spread: largest error of each, shape (10 nv,), SI.
        carrier: columns of the link that carries the payload.
        to_link: from the payload's ten numbers to the link's frame, shape (10, 10), SI.
        prior: what the payload can be.
    """

    robot: Robot
    links: Layout
    parameters: Array
    spread: Array
    carrier: slice
    to_link: Array
    prior: PayloadBox

    def integrated(self, windows: TimeWindows, q: Array, v: Array) -> Array:
        r"""Columns $\Delta W_m - \int W_c\,dt$ of the links, by the trapezoidal rule.

        Args:
            windows: over which.
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.

        Returns:
            The columns, shape (n, nv, 10 nv), SI.
        """
        ends = windows.edges
        Y = np.diff(momentum_regressor(self.robot, self.links, q[ends], v[ends]), axis=0)
        for first, last in _runs(ends):
            part = slice(ends[first], ends[last] + 1)
            piece = TimeWindows(windows.time[part], ends[first : last + 1] - ends[first])
            Y[first:last] -= piece.trapezoid(
                momentum_rate_regressor(self.robot, self.links, q[part], v[part])
            )
        return Y

    def velocity_slopes(self, q: Array, v: Array) -> Array:
        r"""Largest $|\partial (W_c\phi)_k / \partial v_j|$ of links and payload at each sample.

        Args:
            q: joint positions, shape (N, nv), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.

        Returns:
            The bounds, shape (N, nv of j, nv of k), SI.
        """
        nv = self.robot.nv
        slopes = np.empty((len(q), nv, nv))
        for first in range(0, len(q), PIECE):
            part = slice(first, first + PIECE)
            for j, unit in enumerate(np.eye(nv)):
                ahead, behind = (
                    momentum_rate_regressor(self.robot, self.links, q[part], v[part] + sign * unit)
                    for sign in (1.0, -1.0)
                )
                ahead -= behind
                slopes[part, j] = 0.5 * self._largest(ahead)
        return slopes

    def inertia(self, q: Array) -> Array:
        r"""Largest $|H_{kj}|$ of links and payload, rotors apart.

        Args:
            q: joint positions, shape (E, nv), rad or m.

        Returns:
            The bounds, shape (E, nv of j, nv of k), SI.
        """
        units = np.eye(self.robot.nv)
        columns = [
            momentum_regressor(self.robot, self.links, q, np.broadcast_to(unit, q.shape)) for unit in units
        ]
        return np.stack([self._largest(W) for W in columns], axis=1)

    def position_slopes(self, q: Array, v: Array) -> Array:
        r"""Largest $|\partial (W_m\phi)_k / \partial q_j|$ of links and payload, by central differences.

        Args:
            q: joint positions, shape (E, nv), rad or m.
            v: joint velocities, shape (E, nv), rad/s or m/s.

        Returns:
            The bounds, shape (E, nv of j, nv of k), SI; they leave out `STEP`²/6 of the third derivative.
        """
        columns = []
        for unit in STEP * np.eye(self.robot.nv):
            ahead, behind = (
                momentum_regressor(self.robot, self.links, q + sign * unit, v) for sign in (1.0, -1.0)
            )
            columns.append((ahead - behind) / (2.0 * STEP))
        return np.stack([self._largest(W) for W in columns], axis=1)

    def _largest(self, W: Array) -> Array:
        """Largest size of W phi over the boxes of links and payload, shape (N, nv)."""
        A = W[..., self.carrier] @ self.to_link
        middle = W @ self.parameters + A @ self.prior.centre
        return np.asarray(np.abs(middle) + np.abs(W) @ self.spread + np.abs(A) @ self.prior.spread)


def _runs(edges: IntArray) -> Iterator[tuple[int, int]]:
    """Successive windows with about `PIECE` samples together: first, and one past the last."""
    first = 0
    while first < len(edges) - 1:
        last = first + 1
        while last < len(edges) - 1 and edges[last + 1] - edges[first] <= PIECE:
            last += 1
        yield first, last
        first = last
