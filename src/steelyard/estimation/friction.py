"""Friction that is not linear in its shape: Stribeck's velocity and exponent, found with all the rest."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.friction_rows import friction_layout, shape_names, shaped_rows, stribeck_places
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.weighted import ROUND_OFF
from steelyard.estimation.weighted_rows import residuals, weighted_factor
from steelyard.estimation.weighted_solution import OnBlind, Solution, solved
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

_ROUNDS, _STEPS, _SETTLED = 3, 60, 1e-10
_LONGEST_STEP = 0.7
_LOSSES = 12
_SURE, _NOTHING = 3.0, 1e-3


@with_one_blas_thread
def fit_friction(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""Base parameters together with the shape $(v_s, \delta)$ of each joint's Stribeck friction.

    $$\min_{v_s, \delta}\ \min_\beta \sum_k w_k^2 \lVert W_k(v_s, \delta)\,\beta - \tau_k \rVert^2$$

    For given shapes the best β is linear least squares (variable projection), so Gauss-Newton searches over
    the logarithms of the shapes alone, damped until the projected loss falls. It starts at the shapes of the
    problem's layout and finds the nearest minimum: state shapes of the right order. Weights follow the noise.

    Args:
        problem: the question, with its samples; its layout has the term `stribeck`.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters and shapes that the motion hides in an error, `infinite`
            gives what it hides an infinite variance. A joint without Stribeck friction hides its shape.

    Returns:
        The estimate; its layout carries the shapes found, its `detail` the deviations of their logarithms.

    Raises:
        InputError: the layout has no Stribeck term, joints mimic others, or the samples were not kept.
        NoSolutionError: the motion hides something, or the search does not settle.
    """
    if "stribeck" not in problem.layout.drive:
        raise InputError(
            "has no term 'stribeck'.", place="layout", remedy="Ask about 'stribeck' among the drive terms."
        )
    if problem.robot.ties is not None:
        raise InputError("has joints that mimic others, which share their friction.", place="robot")
    shapes = np.array(problem.layout.stribeck_shapes[stribeck_places(problem)[0]])
    weights = np.ones(problem.robot.nv)
    for _ in range(_ROUNDS):
        shapes, solution = _search(problem, shapes, weights)
        source = shaped_rows(problem, shapes, solution.values)
        left = np.concatenate(residuals(source, _with_shapes(solution.values, shapes)))
        floor = ROUND_OFF * float(np.sqrt((problem.samples.tau**2).mean()))
        weights = 1.0 / np.maximum(np.sqrt((left**2).mean(axis=0)), floor)
    names = (*problem.base.names, *shape_names(problem))
    source = shaped_rows(problem, shapes, _significant(problem, solution, weights))
    everything = solved(weighted_factor(source, repeat(weights)), names, on_blind)
    pieces = residuals(source, _with_shapes(solution.values, shapes))
    covariance, noise = linear_covariance(source, weights, everything.inverse, pieces, colour)
    dense = Spread(covariance, everything.blind).covariance
    b = problem.base.count
    return Estimate(
        method="separable friction",
        layout=friction_layout(problem, shapes),
        base=problem.base,
        values=solution.values,
        residual=np.sqrt((left**2).mean(axis=0)),
        samples=problem.samples.n,
        condition=everything.condition,
        covariance=dense[:b, :b],
        weights=weights,
        recordings=problem.digests,
        detail={
            "colour": colour,
            "shapes": dict(zip(shape_names(problem), shapes.T.ravel().tolist(), strict=True)),
            "log_deviations": dict(
                zip(shape_names(problem), np.sqrt(np.diag(dense)[b:]).tolist(), strict=True)
            ),
            "orders": [model.order for model in noise],
        },
    )


def _significant(problem: Problem, solution: Solution, weights: Array) -> Array:
    """Beta without Stribeck coefficients that could as well be zero: a shape of nothing cannot be known."""
    beta, places = np.array(solution.values), stribeck_places(problem)[1]
    noise = np.sqrt(np.diag(solution.inverse)[places])
    least = _SURE * noise + _NOTHING / weights.min()
    beta[places] = np.where(np.abs(beta[places]) > least, beta[places], 0.0)
    return beta


def _with_shapes(beta: Array, shapes: Array) -> Array:
    """Beta with no change of the shapes beside it."""
    return np.concatenate([beta, np.zeros(shapes.size)])


def _search(problem: Problem, shapes: Array, weights: Array) -> tuple[Array, Solution]:
    """Gauss-Newton on the logarithms of the shapes, with Levenberg's damping."""
    R, solution, loss = _projected(problem, shapes, weights)
    exact = (ROUND_OFF * float(np.linalg.norm(R[:, -1]))) ** 2
    damping, failed = 1e-3, 0
    for _ in range(_STEPS if loss > exact else 0):
        b = problem.base.count
        # What is left of the slopes' columns once beta may answer (Kaufman's Jacobian).
        J, r = R[b:-1, b:-1], R[b:-1, -1]
        size = max(float(np.linalg.norm(J, axis=0).max()), np.finfo(float).tiny)
        lower = np.vstack([J, np.sqrt(damping) * size * np.eye(J.shape[1])])
        step = np.linalg.lstsq(lower, np.r_[r, np.zeros(J.shape[1])], rcond=None)[0]
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), np.finfo(float).tiny))
        trial = shapes * np.exp(step.reshape(2, -1).T)
        R_trial, trial_solution, trial_loss = _projected(problem, trial, weights)
        if trial_loss < loss:
            gained = loss - trial_loss
            shapes, R, solution, loss = trial, R_trial, trial_solution, trial_loss
            damping, failed = max(damping / 10.0, 1e-12), 0
            if gained <= _SETTLED * loss or loss <= exact:
                return shapes, solution
        else:
            damping, failed = damping * 10.0, failed + 1
            if np.abs(step).max() < 1e-9 or failed > _LOSSES:
                return shapes, solution
    if loss <= exact:
        return shapes, solution
    raise NoSolutionError(
        f"the shapes of Stribeck friction did not settle in {_STEPS} steps.",
        place="friction",
        remedy="Start from other shapes, or leave 'stribeck' out of the drive terms.",
        evidence={"shapes": shapes.tolist()},
    )


def _projected(problem: Problem, shapes: Array, weights: Array) -> tuple[Array, Solution, float]:
    """The triangle at given shapes with the slopes' columns, the best beta there, and the loss it leaves."""
    b = problem.base.count
    beta: Array | None = None
    for _ in range(2):
        # The first pass finds beta, which the slopes' columns of the second need.
        R = weighted_factor(shaped_rows(problem, shapes, beta), repeat(weights))
        if beta is None:
            keep = [*range(b), R.shape[1] - 1]
            small = np.asarray(np.linalg.qr(R[:, keep], mode="r"))
            solution = solved(small, problem.base.names, "infinite")
            loss = float(small[b, b] ** 2)
            beta = solution.values
    return R, solution, loss
