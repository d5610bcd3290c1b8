"""An arm and what it may hold, all within boxes of parameters: its momentum over windows of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics import momentum_rate_regressor, momentum_regressor
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import JointKind, Robot
from steelyard.uncertainty.payload_polytope import PayloadBox

# Windows of time that follow each other, and sums over them.


@dataclass(frozen=True, eq=False)
class TimeWindows:
    """Windows that touch but do not overlap.

    Attributes:
        time: of all samples, also of those before the first window and after the last, shape (N,), s.
        edges: samples at which windows begin and the last one ends, shape (n + 1,), dimensionless.
    """

    time: Array
    edges: IntArray

    @classmethod
    def regular(cls, time: Array, length: float, *, margin: float = 0.0) -> TimeWindows:
        """Windows of one length, each edge at the sample next to its time.

        Args:
            time: sample times, increasing, shape (N,), s.
            length: of a window, s.
            margin: time of the log that stays free before the first window and after the last, s.

        Raises:
            InputError: a window is shorter than an interval, or longer than the log between its margins.
        """
        free = margin * (1.0 - 1e-9)
        first = int(np.searchsorted(time, time[0] + free))
        last = int(np.searchsorted(time, time[-1] - free, side="right")) - 1
        begin, total = time[first], float(time[last] - time[first])
        largest = float(np.diff(time).max(initial=0.0))
        if not largest * (1.0 - 1e-6) <= length <= total * (1.0 + 1e-9):
            between = f" between margins of {margin:g} s" if margin else ""
            raise InputError(
                f"of {length:g} s must hold the largest interval of the log, {largest:g} s, and fit into its "
                f"{total:g} s{between}.",
                place="window",
            )
        middles = 0.5 * (time[1:] + time[:-1])
        count = int(np.floor(total / length * (1.0 + 1e-9)))
        edges = np.searchsorted(middles, begin + length * np.arange(count + 1))
        return cls(read_only(time), read_only(np.unique(edges)))

    @property
    def count(self) -> int:
        """Number of windows n."""
        return len(self.edges) - 1

    @property
    def intervals(self) -> Array:
        """Time between samples, shape (N - 1, 1), s."""
        return np.asarray(np.diff(self.time)[:, None])

    @property
    def lengths(self) -> Array:
        """Length of each window, shape (n, 1), s."""
        return np.asarray(np.diff(self.time[self.edges])[:, None])

    def total(self, values: Array) -> Array:
        """Sums over the intervals of each window.

        Args:
            values: of each interval, shape (N - 1, ...), any unit.

        Returns:
            The sums, shape (n, ...), same unit.
        """
        return np.asarray(np.add.reduceat(values[: self.edges[-1]], self.edges[:-1], axis=0))

    def trapezoid(self, values: Array) -> Array:
        """Integrals by the trapezoidal rule.

        Args:
            values: at each sample, shape (N, ...), any unit.

        Returns:
            The integrals, shape (n, ...), that unit times s.
        """
        h = self.intervals.reshape((-1,) + (1,) * (values.ndim - 1))
        return self.total(0.5 * h * (values[1:] + values[:-1]))

    def held(self, values: Array) -> Array:
        """Integrals of values that each hold until the next sample.

        Args:
            values: at each sample, shape (N, k), any unit.

        Returns:
            The integrals, shape (n, k), that unit times s.
        """
        return self.total(self.intervals * values[:-1])


# Few samples among many, and straight lines between them: for what is costly and varies slowly.


@dataclass(frozen=True, eq=False)
class TimeNodes:
    """Chosen samples, the first and the last among them; between two of them is a span.

    Attributes:
        time: of all samples, shape (N,), s.
        samples: the chosen ones, shape (M,), dimensionless.
    """

    time: Array
    samples: IntArray

    @classmethod
    def spaced(cls, time: Array, spacing: float) -> TimeNodes:
        """Samples about a spacing apart; all of them where they are farther from each other.

        Args:
            time: sample times, increasing, shape (N,), s.
            spacing: time between nodes, s.
        """
        wanted = np.arange(time[0], time[-1], spacing)
        samples = np.searchsorted(time, wanted, side="right") - 1
        return cls(time, read_only(np.unique(np.append(samples, len(time) - 1))))

    @property
    def lengths(self) -> Array:
        """Length of each span, shape (M - 1, 1), s."""
        return np.asarray(np.diff(self.time[self.samples])[:, None])

    @cached_property
    def spans(self) -> IntArray:
        """The span in which each interval between samples lies, shape (N - 1,), dimensionless."""
        return np.repeat(np.arange(len(self.samples) - 1), np.diff(self.samples))

    def interpolated(self, values: Array) -> Array:
        """Straight lines between the nodes.

        Args:
            values: at the nodes, shape (M, ...), any unit.

        Returns:
            Values at all samples, shape (N, ...), same unit.
        """
        span = np.append(self.spans, len(self.samples) - 2)
        share = (self.time - self.time[self.samples[span]]) / self.lengths[span, 0]
        share = share.reshape((-1,) + (1,) * (values.ndim - 1))
        return np.asarray((1.0 - share) * values[span] + share * values[span + 1])

    def largest(self, values: Array) -> Array:
        """The largest value in each span.

        Args:
            values: of each interval between samples, shape (N - 1, ...), any unit.

        Returns:
            The largest, shape (M - 1, ...), same unit.
        """
        return np.asarray(np.maximum.reduceat(values, self.samples[:-1], axis=0))


# How large the momentum of an arm and its derivatives can be, whatever its position.
#
# Joint a moves body i by a twist with linear part at most $\lambda_{ia}$ and angular part at most
# $\gamma_{ia}$: for a turning joint the length of the chain between the two, and one; for a sliding joint
# one, and zero. Moving a joint in between turns that twist about the joint's own axis, which lengthens
# neither part at the joint, so these are bounds on *every* derivative of the twist in the positions. With the
# size of a body in $m, |h|, \|I\|$ let
#
# $$\kappa_i(x, y) = m\,\lambda_x\lambda_y + |h|\,(\lambda_x\gamma_y + \gamma_x\lambda_y)
#   + \|I\|\,\gamma_x\gamma_y, \qquad \lambda_x = \sum_a \lambda_{ia}|x_a|, \;
#   \gamma_x = \sum_a \gamma_{ia}|x_a|.$$
#
# Then $|x^T H_i\,y| \le \kappa_i(x, y)$, and each derivative in a position at most doubles it.


@dataclass(frozen=True, eq=False)
class ArmNorms:
    """Sizes of the links, of the payload after them, and of the twists that joints give them.

    Attributes:
        mass: largest mass of each body, shape (nb,), kg.
        moment: largest |h|, shape (nb,), kg·m.
        inertia: largest Frobenius norm of the tensor, shape (nb,), kg·m².
        reach: λ, at least γ where a joint slides, zero where a joint does not move a body, shape (nb, nv),
            m or dimensionless.
        turn: γ, shape (nb, nv), dimensionless.
        moves: one where a joint moves a body, else zero, shape (nb, nv), dimensionless.
        gravity: its size, m/s².
    """

    mass: Array
    moment: Array
    inertia: Array
    reach: Array
    turn: Array
    moves: Array
    gravity: float

    def rows(self, x: Array, y: Array) -> Array:
        r"""$\sum_i \kappa_i(x, y)$ over the bodies that each joint moves.

        Args:
            x: joint rates, not negative, shape (..., nv), SI.
            y: joint rates, not negative, shape (..., nv), SI.

        Returns:
            The sums, shape (..., nv), SI.
        """
        lx, gx, ly, gy = x @ self.reach.T, x @ self.turn.T, y @ self.reach.T, y @ self.turn.T
        size = self.mass * lx * ly + self.moment * (lx * gy + gx * ly) + self.inertia * gx * gy
        return np.asarray(size @ self.moves)

    def momentum(self, y: Array) -> Array:
        r"""$\sum_i \kappa_i(e_k, y)$, which no $|H y|$ in row k exceeds.

        Args:
            y: joint rates, not negative, shape (..., nv), SI.

        Returns:
            The sums, shape (..., nv), SI.
        """
        ly, gy = y @ self.reach.T, y @ self.turn.T
        linear, angular = self.mass * ly + self.moment * gy, self.moment * ly + self.inertia * gy
        return np.asarray(linear @ self.reach + angular @ self.turn)

    @property
    def weight(self) -> Array:
        r"""$|g| \sum_i (m\lambda_{ik} + |h|)$: bounds the weight's torque and its derivatives, (nv,), N·m."""
        size = self.mass[:, None] * self.reach + self.moment[:, None]
        return np.asarray(self.gravity * (size * self.moves).sum(axis=0))

    @classmethod
    def of(
        cls, robot: Robot, links: Array, payload: Array, link: str, placement: Pose, travel: Array
    ) -> ArmNorms:
        """The norms of an arm with what it holds.

        Args:
            robot: an arm of turning and sliding joints.
            links: largest size of each link's ten numbers, shape (nb, 10), SI.
            payload: largest size of the payload's ten numbers, in its own frame, shape (10,), SI.
            link: name of the link that carries the payload.
            placement: the payload's frame in that link's.
            travel: largest |q|, shape (nv,), rad or m.

        Raises:
            InputError: a joint is helical.
        """
        nv = robot.nv
        slides = np.array([joint.kind is JointKind.PRISMATIC for joint in robot.joints])
        distance, moves = np.zeros((nv + 1, nv)), np.zeros((nv + 1, nv))
        for i, joint in enumerate(robot.joints):
            if joint.kind is JointKind.HELICAL:
                raise InputError(
                    f"joint '{joint.name}' is helical, for which there is no bound.", place="robot"
                )
            if joint.parent >= 0:
                step = float(np.linalg.norm(joint.placement.translation)) + slides[i] * travel[i]
                moves[i] = moves[joint.parent]
                distance[i] = (distance[joint.parent] + step) * moves[i]
            moves[i, i] = 1.0
        carrier = robot.link_names.index(link)
        moves[nv] = moves[carrier]
        distance[nv] = (distance[carrier] + float(np.linalg.norm(placement.translation))) * moves[nv]
        if slides.any():
            distance = np.maximum(distance, moves)
        sizes = np.vstack([links, payload])
        tensor = sizes[:, 4:] * np.array([1.0, np.sqrt(2.0), 1.0, np.sqrt(2.0), np.sqrt(2.0), 1.0])
        return cls(
            sizes[:, 0],
            np.linalg.norm(sizes[:, 1:4], axis=1),
            np.linalg.norm(tensor, axis=1),
            distance,
            moves * ~slides,
            moves,
            float(np.linalg.norm(robot.gravity)),
        )


# Momentum equations of the loaded arm, and their slopes over the boxes
#
# The link columns of $W_c$ are quadratic in the velocity, so their slopes
# $D_j = \tfrac12(W_c(q, v + e_j) - W_c(q, v - e_j))$ are exact, and the momentum is linear in it: columns
# $W_m(q, e_j)$ hold the mass matrix. Of any such columns W, the largest $|W\phi|$ over the boxes is
# $|W\phi_0| + |W|\,d$.

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
