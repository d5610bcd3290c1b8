"""Instrumental variables: an estimate that noise in the measured motion does not bend."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.residual import residual_rms
from steelyard.estimation.weighted import settled_weights
from steelyard.estimation.weighted_rows import Rows, RowSource, base_rows, pieces, residuals
from steelyard.estimation.weighted_solution import OnBlind, Solution
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

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
