"""Huber's estimator: outliers pull with a bounded force."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.residual import residual_rms
from steelyard.estimation.weighted import ROUND_OFF
from steelyard.estimation.weighted_rows import base_rows, residuals
from steelyard.estimation.weighted_solution import OnBlind, solved
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

TUNING = 1.345
"""Deviations beyond which a residual counts as an outlier; 95 % efficient on normal noise (Huber 1981)."""
NORMAL = 1.482602218505602
"""Deviations of normal noise per median absolute residual."""
_ROUNDS = 200
_STEADY, _SETTLED = 1e-2, 1e-6
"""Change of a base parameter in a round, in its deviations, from which on the scales are kept (medians jump
by a tenth of that from round to round and settle no further), and at which the answer is taken."""


@with_one_blas_thread
def fit_huber(
    problem: Problem,
    *,
    tuning: float = TUNING,
    colour: Colour = "autoregressive",
    on_blind: OnBlind = "refuse",
) -> Estimate:
    r"""The base parameters that minimise Huber's loss of the residuals, each in deviations of its joint.

    $$\min_\beta \sum_{t,k} \rho\!\left(\frac{\tau_{t,k} - W_{t,k}\beta}{s_k}\right), \qquad
      \rho(u) = \begin{cases} u^2/2 & |u| \le c \\ c\,|u| - c^2/2 & |u| > c \end{cases}$$

    by steps of least squares of the clipped residuals $s_k\,\psi(u)$, $\psi(u) = \max(-c, \min(c, u))$,
    longer by the share of residuals that are not clipped: they need no factorisation of the samples (Huber
    1981, section 7.8). $s_k$ is the median absolute residual of joint k made comparable to a deviation. To
    first order the answer is the least-squares fit of pseudo-residuals
    $s_k\,\psi(u) / \overline{\psi'}$, and their memory gives its covariance.

    Args:
        problem: the question, with its samples.
        tuning: c, dimensionless.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate; a finding says how many residuals were held back at each joint where that is unusual.

    Raises:
        NoSolutionError: the motion hides base parameters.
        InputError: the tuning is not positive, or the samples were not kept.
    """
    if not tuning > 0:
        raise InputError(f"must be positive, got {tuning}.", place="tuning")
    source, names = base_rows(problem), problem.base.names
    solution = solved(problem.base_factor(), names, on_blind)
    floor = ROUND_OFF * max(float(np.sqrt((problem.samples.tau**2).mean())), np.finfo(float).tiny)
    beta, scale, steady = solution.values, np.full(problem.robot.nv, floor), False
    for _ in range(_ROUNDS):
        left = residuals(source, beta)
        if not steady:
            scale = np.maximum(NORMAL * np.median(np.abs(np.concatenate(left)), axis=0), floor)
            solution = solved(problem.base_factor(1.0 / scale), names, on_blind)
            deviations = np.sqrt(np.diag(solution.inverse))
        bounded = [np.clip(r / scale, -tuning, tuning) for r in left]
        inside = float(np.mean(np.abs(np.concatenate(left)) <= tuning * scale))
        pull = sum(
            np.tensordot(u / scale, rows.regressor, axes=2) for rows, u in zip(source(), bounded, strict=True)
        )
        step = solution.inverse @ pull / max(inside, 0.5)
        beta = beta + step
        change = np.abs(step)
        if (change <= _SETTLED * deviations).all():
            break
        steady = steady or bool((change <= _STEADY * deviations).all())
    left = residuals(source, beta)
    held = np.mean(np.abs(np.concatenate(left)) > tuning * scale, axis=0)
    pseudo = [np.clip(r, -tuning * scale, tuning * scale) / (1.0 - held) for r in left]
    covariance, _ = linear_covariance(source, 1.0 / scale, solution.inverse, pseudo, colour)
    return Estimate(
        method="Huber",
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.samples.n,
        condition=solution.condition,
        covariance=Spread(covariance, solution.blind).covariance,
        weights=1.0 / scale,
        findings=_outliers(problem, left, scale),
        recordings=problem.digests,
        detail={"tuning": tuning, "colour": colour, "held_back": held.tolist()},
    )


def _outliers(problem: Problem, left: list[Array], scale: Array) -> tuple[Finding, ...]:
    """Joints with far more residuals beyond five deviations than normal noise has, which is none in 1e6."""
    share = np.mean(np.abs(np.concatenate(left)) > 5.0 * scale, axis=0)
    return tuple(
        Finding(
            Severity.WARNING,
            "outliers",
            f"{100 * x:.2g} % of the residuals exceed five deviations of {s:.3g}; their pull was bounded.",
            place=joint,
        )
        for joint, x, s in zip(problem.robot.joint_names, share, scale, strict=False)
        if x > 1e-3
    )
