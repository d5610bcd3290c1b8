"""Identification from momentum: positions, velocities and torques, no accelerations."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.estimation.momentum_rows import integrated_rows, integration_error, window_durations
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.weighted import ROUND_OFF
from steelyard.estimation.weighted_rows import RowSource, residuals, weighted_factor
from steelyard.estimation.weighted_solution import OnBlind, Solution, solved
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

_ROUNDS, _SETTLED = 30, 1e-6


@with_one_blas_thread
def fit_momentum(
    problem: Problem, window: float, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""The base parameters that explain how the momentum changes over windows of time (paper 000, Cor. 10).

    $$\Big[ W_m \big|_{t_i}^{t_{i+h}} - \int_{t_i}^{t_{i+h}} W_c\,dt \Big]\,\phi
      = \int_{t_i}^{t_{i+h}} \tau\,dt$$

    in windows that do not overlap, integrated by the trapezoidal rule, whose error is second order in the
    interval where the paper's Euler rule has first. Each degree of freedom is weighted by its own noise. The
    rule's error is estimated from the integrand's second differences; a finding says where it is no longer
    small beside the residual.

    The log is best given at its own rate, with velocities that hold little noise (`signals.prepared` with the
    log's interval) and torques as they were measured: the integral averages the noise of torques, nothing
    averages that of the velocities at the two ends, and one end is shared with the next window. What that
    leaves of memory in the noise, the covariance takes from the residuals.

    Args:
        problem: the question, with its samples; accelerations are not needed, see `problem_of`.
        window: length of a window, s; at least one interval of the log.
        colour: what is assumed of the noise of successive windows.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate; its residual is that of the mean torque over a window. `integrated` gives the equations
        that `with_full_set` and estimators of possible links need where there are no accelerations.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few windows for their number.
        InputError: the window is shorter than an interval or longer than a motion, the layout has a load
            term, or the samples were not kept.
    """
    source = integrated_rows(problem, window)
    weights, solution = _settled(problem, source, on_blind)
    left = residuals(source, solution.values)
    covariance, noise = linear_covariance(source, weights, solution.inverse, left, colour)
    impulse = np.sqrt((np.concatenate(left) ** 2).mean(axis=0))
    error = integration_error(problem, window, solution.values)
    durations = window_durations(problem, window)
    findings = tuple(
        Finding(
            Severity.WARNING,
            "integration-error",
            f"the trapezoidal rule is off by about {e:.2g} N·m·s in a window, the residual is {r:.2g} N·m·s.",
            place=joint,
        )
        for joint, e, r in zip(problem.robot.joint_names, error, impulse, strict=False)
        if e > r
    )
    return Estimate(
        method="momentum",
        layout=problem.layout,
        base=problem.base,
        values=solution.values,
        residual=impulse / durations.mean(),
        samples=problem.samples.n,
        condition=solution.condition,
        covariance=Spread(covariance, solution.blind).covariance,
        weights=weights,
        findings=findings,
        recordings=problem.digests,
        detail={
            "window": float(window),
            "windows": len(durations),
            "colour": colour,
            "integration_error": error.tolist(),
            "orders": [model.order for model in noise],
        },
    )


def _settled(problem: Problem, source: RowSource, on_blind: OnBlind) -> tuple[Array, Solution]:
    """Weights that agree with the noise of the windows, shape (nv,), 1/(N·m·s), and the solution there."""
    first = next(iter(source()))
    weights = np.ones(first.target.shape[1])
    target = np.concatenate([rows.target for rows in source()])
    floor = ROUND_OFF * max(float(np.sqrt((target**2).mean())), np.finfo(float).tiny)
    for _ in range(_ROUNDS):
        solution = solved(weighted_factor(source, repeat(weights)), problem.base.names, on_blind)
        square, paid = np.zeros(len(weights)), np.zeros(len(weights))
        for rows in source():
            square += ((rows.target - rows.regressor @ solution.values) ** 2).sum(axis=0)
            paid += np.einsum("tki,ij,tkj->k", rows.regressor, solution.inverse, rows.regressor)
        windows_left = len(target) - weights**2 * paid
        if (windows_left < 1.0).any():
            raise NoSolutionError(
                f"{len(target)} windows leave nothing to tell the noise by after {problem.base.count} base "
                "parameters.",
                place="window",
                remedy="Take shorter windows or a longer log.",
            )
        before, weights = weights, 1.0 / np.maximum(np.sqrt(square / windows_left), floor)
        if np.abs(weights / before - 1.0).max() < _SETTLED:
            break
    return before, solution
