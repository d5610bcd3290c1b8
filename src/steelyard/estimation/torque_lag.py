r"""How late the measured torque is, found with the parameters; what not knowing it adds to their covariance.

A drive that holds its torque for a cycle, a filter in its ammeter, a bus: torque and position in one row of a
log are rarely of one instant. To first order a torque that is late by d is one more column of the regressor,

$$\tau(t) = W(t - d)\,\beta \approx W\beta + D\,d, \qquad D = -\frac{d}{dt}(W\beta).$$

Left out, it goes into inertias and viscous friction, whose torques look like it; 0.5 ms is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, BoolArray, keep_checked
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import Rows, base_rows, pieces, residuals, solved, weighted_factor
from steelyard.estimation.linear import settled_weights
from steelyard.estimation.load_friction import tangent_rows
from steelyard.estimation.noise import Colour, linear_covariance
from steelyard.problem import Estimate, Evidence, Problem
from steelyard.recording import Recording
from steelyard.signals import is_turning, without_delay

_SAME_STEP = 1.5  # a longer interval, in median ones, is a gap
_NONE = 1e-12


@dataclass(frozen=True, eq=False)
class TorqueLag:
    """How late the torque is, and what it does to the estimate.

    Attributes:
        seconds: how late, s; negative where the torque leads the motion.
        deviation: its standard deviation, s.
        sensitivity: change of the least-squares estimate for each second that the torque is late, zero where
            the motion is blind, shape (b,), SI.
    """

    seconds: float
    deviation: float
    sensitivity: Array

    def __post_init__(self) -> None:
        keep_checked(self, ("b",), "sensitivity")


def torque_lag(problem: Problem, *, colour: Colour = "autoregressive") -> TorqueLag:
    r"""Estimate how late the torque is, by weighted least squares on the regressor with one more column.

    With $D_\perp$ the part of D that no parameters explain, $d = D_\perp^T r / D_\perp^T D_\perp$. This is
    one step from zero: where d is not small against the motion's shortest period, move the torque by it
    (`signals.without_delay`) and ask again. A joint's equations next to its turning points are left out.

    Args:
        problem: the question, with its samples, neighbours in time where there is no gap.
        colour: what is assumed of the noise.

    Returns:
        The lag common to all degrees of freedom.

    Raises:
        InputError: the samples were not kept.
        NoSolutionError: a lag would look like a change of parameters, or there are too few samples.
    """
    weights, plain = settled_weights(problem, "infinite")
    source, at, names = base_rows(problem), problem.samples, problem.base.names
    left = np.concatenate(residuals(source, plain.values))
    usable = _usable(at)
    late = -_slope(at, at.tau - left) * usable

    def with_lateness() -> Iterator[Rows]:
        for part, rows in zip(pieces(problem), source(), strict=True):
            W = np.concatenate([rows.regressor, late[part][..., None]], axis=-1)
            yield Rows(W, W, rows.target)

    R = weighted_factor(with_lateness, [weights * usable[part] for part in pieces(problem)])
    # The last column of [W D] alone decides the last unknown; what is left of it is D without W's part.
    information = R[-2, -2] ** 2
    if information <= _NONE * (R[:-1, -2] ** 2).sum():
        raise NoSolutionError(
            "a torque that is late would look like other parameters.",
            place="recording",
            remedy="Record a motion of several frequencies.",
        )
    g = solved(R[:-1, :-1], names, "infinite").values

    def alone() -> Iterator[Rows]:
        for part, rows in zip(pieces(problem), source(), strict=True):
            column = ((late[part] - rows.regressor @ g) * usable[part])[..., None]
            yield Rows(column, column, rows.target)

    # Equations left out count as silent; the others stand for them.
    noise = left * usable / np.sqrt(np.maximum(usable.mean(axis=0), 1.0 / at.n))
    parts = [noise[part] for part in pieces(problem)]
    variance, _ = linear_covariance(alone, weights, np.array([[1.0 / information]]), parts, colour)
    return TorqueLag(float(R[-2, -1] / R[-2, -2]), float(np.sqrt(variance[0, 0])), g)


def torque_aligned(
    problem: Problem, recordings: Sequence[Recording], interval: float
) -> tuple[tuple[Recording, ...], TorqueLag | None]:
    """Move torques by their lag where sampling explains it: within two deviations of one interval of the log.

    A row of a log is of one instant only to within that interval, so this much is nobody's fault and needs no
    warning. More is a delay to be told of, or a controller that answers to the encoders' noise, which looks
    like one; then the torques stay where they are.

    Args:
        problem: the question posed for these recordings.
        recordings: logs with q, v, a and tau, made ready.
        interval: sampling interval of the logs as they were recorded, s.

    Returns:
        The recordings, and the lag that was taken out or None, for `with_lag`.

    Raises:
        InputError: the interval is not positive, or the samples were not kept.
    """
    if not (math.isfinite(interval) and interval > 0.0):
        raise InputError(f"must be positive, got {interval:g} s.", place="interval")
    try:
        lag = torque_lag(problem)
    except NoSolutionError:
        return tuple(recordings), None
    if abs(lag.seconds) > interval + 2.0 * lag.deviation:
        return tuple(recordings), None
    return tuple(without_delay(log, lag.seconds, ["tau"]) for log in recordings), lag


def lag_seen_by(problem: Problem, estimate: Estimate, lag: TorqueLag) -> TorqueLag:
    r"""A lag whose sensitivity is that of an estimate of other parameters than it was found with.

    $$g = \arg\min_g \lVert W g - D \rVert, \qquad D = -\frac{d\hat\tau}{dt}$$

    with the equations W of the estimate's base parameters, linearised there where friction grows with load.

    Args:
        problem: the question that the estimate answers, with its samples.
        estimate: its answer.
        lag: how late the torques were that were moved.

    Returns:
        The same lag and deviation with a new sensitivity.
    """
    at, phi, columns = problem.samples, estimate.representative, problem.base.columns
    source = tangent_rows(problem, phi, columns) if "load" in problem.layout.drive else base_rows(problem)
    usable = _usable(at)
    late = -_slope(at, inverse_dynamics(problem.robot, problem.layout, phi, at.q, at.v, at.a)) * usable
    weights = np.ones(late.shape[1]) if estimate.weights is None else estimate.weights

    def lateness() -> Iterator[Rows]:
        for part, rows in zip(pieces(problem), source(), strict=True):
            yield Rows(rows.regressor, rows.regressor, late[part])

    R = weighted_factor(lateness, [weights * usable[part] for part in pieces(problem)])
    return replace(lag, sensitivity=solved(R, problem.base.names, "infinite").values)


def with_lag(estimate: Estimate, lag: TorqueLag) -> Estimate:
    r"""Add to an estimate's covariance what an estimated lag adds: $\Sigma + \sigma_d^2\,g g^T$.

    Args:
        estimate: from torques that were moved by the lag; unchanged where it has no covariance.
        lag: the lag.

    Returns:
        A new estimate.
    """
    if estimate.covariance is None:
        return estimate
    g = np.where(np.isfinite(np.diag(estimate.covariance)), lag.sensitivity, 0.0)
    covariance = estimate.covariance + lag.deviation**2 * np.outer(g, g)
    detail = {**estimate.detail, "torque_lag_deviation": lag.deviation}
    return replace(estimate, covariance=covariance, detail=detail)


def _usable(at: Evidence) -> BoolArray:
    """Equations that have both neighbours and no turning point of their joint nearby, shape (N, nv)."""
    usable = np.zeros(at.v.shape, dtype=np.bool_)
    steps = [np.diff(at.time[part]) for part in at.motions]
    longest = _SAME_STEP * float(np.median(np.concatenate(steps)))
    for part, step in zip(at.motions, steps, strict=True):
        gaps = np.flatnonzero(step > longest) + 1
        for first, last in pairwise([part.start, *(part.start + gaps), part.stop]):
            usable[first + 1 : last - 1] = ~is_turning(at.v[first:last])[1:-1]
    return usable


def _slope(at: Evidence, torque: Array) -> Array:
    """Time derivative of a torque, zero at the ends of each motion, shape (N, nv), N·m/s or N/s."""
    slope = np.zeros(torque.shape)
    for part in at.motions:
        t, tau = at.time[part], torque[part]
        inner = slice(part.start + 1, part.stop - 1)
        slope[inner] = (tau[2:] - tau[:-2]) / (t[2:] - t[:-2])[:, None]
    return slope
