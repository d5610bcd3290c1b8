"""Instrumental variables: an estimate that noise in the measured motion does not bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError
from steelyard.estimation.equations import (
    OnBlind,
    Rows,
    RowSource,
    Solution,
    base_rows,
    pieces,
    residual_rms,
    residuals,
)
from steelyard.estimation.linear import settled_weights
from steelyard.estimation.noise import Colour, Spread, covariance_under, linear_covariance
from steelyard.estimation.physical import with_full_set
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

if TYPE_CHECKING:
    from steelyard.control import LoopSettings
    from steelyard.motion import Motion

# The estimator

WEAK = 0.1
"""Correlation of a combination of instruments with the regressor below which it says next to nothing."""
_NONE = 1e-8


@with_one_blas_thread
def fit_instrumental(
    problem: Problem,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    colour: Colour = "autoregressive",
    on_blind: OnBlind = "refuse",
) -> Estimate:
    r"""The base parameters whose residual is uncorrelated with a motion that carries no measurement noise.

    $$\hat\beta = \Big(\sum_k w_k^2 Z_k^T W_k\Big)^{-1} \sum_k w_k^2 Z_k^T \tau_k$$

    W is the regressor of the measured motion, Z that of the instruments: the references, a simulation of the
    closed loop along them, or another run of the same motion. Least squares, where Z = W, is biased by noise
    in W however long the log is; this is not, as long as that noise knows nothing of Z.

    Args:
        problem: the question, with its samples.
        q: positions of the instruments at the same samples, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate, its covariance, and a finding where the instruments are weak.

    Raises:
        NoSolutionError: the motion hides base parameters, or the instruments do.
        InputError: the instruments do not fit the samples, or these were not kept.
    """
    source = instrumented_rows(problem, q, v, a)
    weights, plain = settled_weights(problem, on_blind)
    values, gain, weakest = instrumental_solution(source, weights, plain)
    covariance, _ = linear_covariance(source, weights, gain, residuals(source, values), colour)
    finding = Finding(
        Severity.WARNING,
        "weak-instruments",
        f"the instruments of a combination of parameters correlate with its regressor by only {weakest:.2g}.",
    )
    return Estimate(
        method="instrumental variables",
        layout=problem.layout,
        base=problem.base,
        values=values,
        residual=residual_rms(problem, values),
        samples=problem.samples.n,
        condition=plain.condition,
        covariance=Spread(covariance, plain.blind).covariance,
        weights=weights,
        findings=(finding,) if weakest < WEAK else (),
        recordings=problem.digests,
        detail={"colour": colour, "weakest_instrument": weakest},
    )


def instrumented_rows(problem: Problem, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> RowSource:
    """The torque equations with the regressor of another motion as instruments.

    Args:
        problem: the question, with its samples.
        q: positions of the instruments, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        The source of the equations.

    Raises:
        InputError: the instruments do not fit the samples, or these were not kept.
    """
    at = problem.samples
    motion = [
        checked(f"instruments {name}", given, like.shape)
        for name, given, like in (("q", q, at.q), ("v", v, at.v), ("a", a, at.a))
    ]
    plain = base_rows(problem)

    def rows() -> Iterator[Rows]:
        for part, measured in zip(pieces(problem), plain(), strict=True):
            Z = torque_regressor(problem.robot, problem.layout, *(x[part] for x in motion))
            yield Rows(measured.regressor, Z[..., problem.base.columns], measured.target)

    return rows


def instrumental_solution(source: RowSource, weights: Array, plain: Solution) -> tuple[Array, Array, float]:
    """Solve the equations multiplied by their instruments.

    Args:
        source: the equations.
        weights: of the degrees of freedom, shape (nv,), 1/(N·m) or 1/N.
        plain: the least-squares solution; what it calls hidden is left out.

    Returns:
        beta, shape (b,), SI; its gain, shape (b, b), SI; and the smallest canonical correlation of
        instruments and regressor, dimensionless.

    Raises:
        NoSolutionError: the instruments do not show a combination of parameters.
    """
    b = len(plain.values)
    ZW, ZZ, WW, Zy = np.zeros((b, b)), np.zeros((b, b)), np.zeros((b, b)), np.zeros(b)
    for rows in source():
        w = weights[:, None]
        W, Z = (w * rows.regressor).reshape(-1, b), (w * rows.instruments).reshape(-1, b)
        ZW += Z.T @ W
        ZZ += Z.T @ Z
        WW += W.T @ W
        Zy += Z.T @ (weights * rows.target).reshape(-1)
    seen = np.flatnonzero(np.diag(plain.inverse) > 0.0)
    part = np.ix_(seen, seen)
    z, x = (np.sqrt(np.diag(G)[seen]) for G in (ZZ, WW))
    z = np.where(z > 0.0, z, 1.0)
    half_z, half_x = _half_inverse(ZZ[part] / np.outer(z, z)), _half_inverse(WW[part] / np.outer(x, x))
    weakest = float(np.linalg.svd(half_z @ (ZW[part] / np.outer(z, x)) @ half_x, compute_uv=False)[-1])
    if weakest < _NONE:
        raise NoSolutionError(
            "a combination of parameters has no instrument: their motion does not show it.",
            place="instruments",
            remedy="Take the references of a richer motion.",
            evidence={"weakest": weakest},
        )
    gain, values = np.zeros((b, b)), np.zeros(b)
    inverse = scipy.linalg.inv(ZW[part] / np.outer(z, x))
    gain[part] = inverse / np.outer(x, z)
    values[seen] = inverse @ (Zy[seen] / z) / x
    return values, gain, weakest


def _half_inverse(G: Array) -> Array:
    """A symmetric inverse root of a Gram matrix on what it spans."""
    values, vectors = np.linalg.eigh(G)
    alive = values > 1e-14 * values[-1]
    return np.asarray((vectors[:, alive] / np.sqrt(values[alive])) @ vectors[:, alive].T)


# The bias of least squares: its distance from instrumental variables


@dataclass(frozen=True, eq=False)
class Shift:
    """The instrumental estimate minus the weighted least-squares one.

    Attributes:
        values: the difference, zero where the motion is blind, shape (b,), SI.
        covariance: of the difference if the motion is exact, shape (b, b), SI.
        deviations: of the weighted least-squares estimate, shape (b,), SI.
        weakest: smallest canonical correlation of instruments and regressor, dimensionless.
    """

    values: Array
    covariance: Array
    deviations: Array
    weakest: float


def instrumental_shift(problem: Problem, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Shift:
    r"""Compare both estimates on the same data (Durbin, Wu and Hausman).

    Both are linear in the torques, so what torque noise does to their difference is known without assuming
    that one of them is efficient:
    $\hat\beta_Z - \hat\beta_W = \sum_k w_k^2\,(B_Z Z_k^T - B_W W_k^T)\,e_k$.

    Args:
        problem: the question, with its samples.
        q: positions of the instruments, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        The difference.

    Raises:
        InputError: the instruments do not fit the samples, or these were not kept.
        NoSolutionError: the instruments do not show a combination of parameters.
    """
    weights, plain = settled_weights(problem, "infinite")
    measured, instrumented = base_rows(problem), instrumented_rows(problem, q, v, a)
    values, gain, weakest = instrumental_solution(instrumented, weights, plain)
    left = residuals(measured, plain.values)
    own, noise = linear_covariance(measured, weights, plain.inverse, left, "autoregressive")

    def both() -> Iterator[Rows]:
        for rows in instrumented():
            joined = np.concatenate([rows.instruments, rows.regressor], axis=-1)
            yield Rows(rows.regressor, joined, rows.target)

    covariance = covariance_under(both, weights, np.hstack([gain, -plain.inverse]), noise)
    return Shift(values - plain.values, covariance, np.sqrt(np.diag(own)), weakest)


# Instruments from a simulation of the closed loop: the motion as the model makes it, without any noise.

CYCLE = 1e-3
"""Control cycle where neither law nor file states one, s."""
ROUNDS = 3
"""Simulations with the model of the round before; the instruments settle faster than the estimate."""


def loop_instruments(
    problem: Problem, parameters: ArrayLike, settings: LoopSettings, motion: Motion, times: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """Simulate the closed loop along a motion and read it at the samples of the logs.

    Args:
        problem: the question, for its robot and layout.
        parameters: phi, the model that is simulated, shape (p,), SI.
        settings: the controller and its delay.
        motion: what it was told to follow; its time starts with that of each log.
        times: sample times of each log, each shape (N,), s.

    Returns:
        q, shape (N, nv), rad or m; v, shape (N, nv), rad/s or m/s; and a, shape (N, nv), rad/s² or m/s²;
        of all logs, one after the other.

    Raises:
        NoSolutionError: the simulation diverges.
    """
    # Only this method simulates, and the simulation's code generator is large to load.
    from steelyard.rollout import ClosedLoop, rollout

    phi = checked("parameters", parameters, (problem.layout.size,))
    cycle = settings.cycle or CYCLE
    end = max(float(time[-1]) for time in times)
    clock = cycle * np.arange(int(np.ceil(end / cycle)) + 2)
    asked = motion.sample(clock)
    run = rollout(
        problem.robot,
        problem.layout,
        phi,
        asked.q,
        asked.v,
        asked.a,
        ClosedLoop(settings.controller, cycle, settings.delay),
    )
    a = np.gradient(run.v, cycle, axis=0)
    t = np.concatenate(list(times))
    q, v, acceleration = (
        np.column_stack([np.interp(t, run.time, column) for column in signal.T])
        for signal in (run.q, run.v, a)
    )
    return q, v, acceleration


@with_one_blas_thread
def fit_loop_instrumental(
    problem: Problem, settings: LoopSettings, motion: Motion, *, rounds: int = ROUNDS
) -> Estimate:
    r"""Instrumental variables whose instruments are simulated with the model itself (Janot et al. 2014).

    It starts with the planned motion as instruments: least squares may be bent so far that its model cannot
    be simulated. Each round simulates the closed loop with the possible links of the estimate so far, and
    fits by `fit_instrumental` with that motion.

    Args:
        problem: the question, with its samples.
        settings: the controller and its delay.
        motion: what it was told to follow; its time starts with that of each log.
        rounds: how many simulations.

    Raises:
        NoSolutionError: a simulation diverges, or the motion hides base parameters.
    """
    at = problem.samples
    times = [at.time[part] for part in at.motions]
    planned = [motion.sample(time) for time in times]
    q, v, a = (np.vstack([getattr(sample, name) for sample in planned]) for name in "qva")
    estimate = fit_instrumental(problem, q, v, a, on_blind="infinite")
    for _ in range(rounds):
        model = with_full_set(problem, estimate).representative
        instruments = loop_instruments(problem, model, settings, motion, times)
        estimate = fit_instrumental(problem, *instruments, on_blind="infinite")
    return estimate
