r"""Short pieces of logs, each simulated from a start of its own, and what they say of the parameters.

A piece s has the sum of squares $\tfrac12 |r_s(\theta, x_s)|^2$, with $x_s = (q_0, v_0)$ its start. Its
normal equations are reduced to the parameters by the Schur complement of the start, so the cost of a fit is
linear in the number of pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, BoolArray
from steelyard.dynamics import Numbers
from steelyard.estimation.servo.log import ServoLog, smoothed_log
from steelyard.rollout import Columns, ServoArm, divides
from steelyard.threads import share

_DELAY = 8


@dataclass(frozen=True, eq=False)
class Segment:
    """One piece.

    Attributes:
        log: its log.
        first: its first sample.
        last: the sample after its last.
        start: positions and velocities at its start by smoothing, shape (2 n,), rad or m and per second.
        tolerance: how far the start may be from that, shape (2 n,), rad or m and per second.
    """

    log: ServoLog
    first: int
    last: int
    start: Array
    tolerance: Array


@dataclass(frozen=True, eq=False)
class MeasuredNoise:
    """Standard deviations of what is measured.

    Attributes:
        position: shape (n,), rad or m.
        velocity: shape (n,), rad/s or m/s.
    """

    position: Array
    velocity: Array


def segments_of(logs: Sequence[ServoLog], length: float, noise: MeasuredNoise) -> list[Segment]:
    """Cut logs into pieces.

    Args:
        logs: one or more.
        length: of a piece, s.
        noise: of the measurements.

    Returns:
        The pieces, in the order of the logs.
    """
    made = []
    for log in logs:
        motion = smoothed_log(log)
        span = log.time[-1] - log.time[0]
        count = max(1, round(span / length))
        bounds = np.searchsorted(log.time, log.time[0] + span * np.arange(count + 1) / count)
        bounds[-1] = len(log.time)
        window = (2 * motion.half + 1) * float(np.median(np.diff(motion.time)))
        # What smoothing may be wrong by: the noise, and what changes within the window.
        by_noise = 5.0 * noise.position / window
        by_change = 0.5 * window * np.sqrt(np.mean(motion.a**2, axis=0))
        tolerance = np.concatenate([20.0 * noise.position, 2.0 * np.hypot(by_noise, by_change)])
        for first, last in pairwise(bounds.tolist()):
            if last - first < 3:
                continue
            at = log.time[first]
            v = np.array([np.interp(at, motion.time, column) for column in motion.v.T])
            q = np.array([np.interp(at, motion.time, column) for column in motion.q.T])
            made.append(Segment(log, first, last, np.concatenate([q, v]), tolerance))
    return made


@dataclass(frozen=True, eq=False)
class Answers:
    """What the pieces say at some parameters.

    Attributes:
        cost: half the sum of squares of each piece, infinite where it diverged, shape (S,), dimensionless.
        H: normal matrix of each piece in parameters and start, shape (S, c, c), SI.
        g: gradient of each, shape (S, c), SI.
        square: squares of position residuals, summed, shape (S, n), rad² or m².
        velocity_square: squares of velocity residuals, summed, shape (S, n), (rad/s)² or (m/s)².
    """

    cost: Array
    H: Array
    g: Array
    square: Array
    velocity_square: Array

    def with_better(self, other: Answers, better: BoolArray) -> Answers:
        """The answers of the other for some pieces.

        Args:
            other: answers of the same pieces.
            better: which of them are taken, shape (S,), dimensionless.
        """
        pairs = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)]
        return Answers(
            *(np.where(better.reshape(-1, *[1] * (mine.ndim - 1)), its, mine) for mine, its in pairs)
        )


def answers(
    arm: ServoArm,
    given: Numbers,
    servo: Array,
    segments: Sequence[Segment],
    starts: Array,
    noise: MeasuredNoise,
    columns: Columns,
    slopes: Array,
    *,
    derivatives: bool = True,
) -> Answers:
    """Simulate all pieces, with derivatives.

    Args:
        arm: the robot.
        given: link numbers.
        servo: servo numbers, shape (n, 11), SI.
        segments: the pieces.
        starts: where each starts, shape (S, 2 n), rad or m and per second.
        noise: of the measurements.
        columns: what derivatives are taken in.
        slopes: derivative of each number in its unknown, shape (c,), SI.
        derivatives: whether H and g are asked for; zero otherwise.

    Returns:
        The answers, piece by piece.
    """
    S, n, c = len(segments), arm.robot.nv, columns.total
    found = Answers(
        np.full(S, np.inf), np.zeros((S, c, c)), np.zeros((S, c)), np.zeros((S, n)), np.zeros((S, n))
    )
    at, divided = columns.first_start, divides(servo[:, _DELAY], columns)

    def run(first: int, last: int) -> None:
        for s in range(first, last):
            piece, x = segments[s], starts[s]
            log, rows = piece.log, slice(piece.first, piece.last)
            steps = arm.steps(log.time[rows], log.command, servo[:, _DELAY], divided=divided)
            q, v, track, records = arm.fly(given, servo, steps, x[:n], x[n:])
            if records < 0:
                continue
            from_start = (x - piece.start) / piece.tolerance
            r = (q - log.position[rows]) / noise.position
            cost = 0.5 * float(np.sum(r * r) + from_start @ from_start)
            found.square[s] = np.sum((q - log.position[rows]) ** 2, axis=0)
            r_v = None
            if log.velocity is not None:
                r_v = (v - log.velocity[rows]) / noise.velocity
                cost += 0.5 * float(np.sum(r_v * r_v))
                found.velocity_square[s] = np.sum((v - log.velocity[rows]) ** 2, axis=0)
            if not np.isfinite(cost):
                continue
            found.cost[s] = cost
            if not derivatives:
                continue
            dq, dv = arm.follow(given, servo, steps, track, records, columns)
            J = (dq / noise.position[:, None]).reshape(-1, c) * slopes
            H, g = J.T @ J, J.T @ r.ravel()
            if r_v is not None:
                J = (dv / noise.velocity[:, None]).reshape(-1, c) * slopes
                H += J.T @ J
                g += J.T @ r_v.ravel()
            H[range(at, c), range(at, c)] += piece.tolerance**-2
            g[at:] += from_start / piece.tolerance
            found.H[s], found.g[s] = H, g

    share(S, run, least=1)
    return found


@dataclass(frozen=True, eq=False)
class Reduced:
    """Normal equations of all pieces in the parameters alone.

    Attributes:
        H: of each piece, shape (S, p, p), SI.
        g: of each piece, shape (S, p), SI.
        back: change of a start with the parameters, shape (S, 2 n, p), SI.
        own: change of a start at given parameters, shape (S, 2 n), SI.
    """

    H: Array
    g: Array
    back: Array
    own: Array


def reduced(found: Answers, parameters: int, damping: float) -> Reduced:
    """Eliminate the starts.

    Args:
        found: the answers.
        parameters: how many columns are parameters; they come first.
        damping: share of its diagonal that is added to the start's part, dimensionless.

    Returns:
        The reduced equations.
    """
    p = parameters
    H_xx = found.H[:, p:, p:].copy()
    diagonal = np.arange(H_xx.shape[1])
    # A piece that diverged says nothing; its start stays where it is.
    H_xx[~np.isfinite(found.cost)] = np.eye(len(diagonal))
    H_xx[:, diagonal, diagonal] *= 1.0 + damping
    H_xp, g_x = found.H[:, p:, :p], found.g[:, p:, None]
    solved = np.linalg.solve(H_xx, np.concatenate([H_xp, g_x], axis=2))
    back, own = -solved[:, :, :p], -solved[:, :, p]
    return Reduced(
        found.H[:, :p, :p] + np.swapaxes(H_xp, 1, 2) @ back,
        found.g[:, :p] + (np.swapaxes(H_xp, 1, 2) @ own[:, :, None])[:, :, 0],
        back,
        own,
    )
