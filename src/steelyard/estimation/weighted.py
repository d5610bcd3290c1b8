"""Least squares with each degree of freedom weighted by its own noise, and intervals that know its colour."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_model import NoiseModel
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.residual import residual_rms
from steelyard.estimation.weighted_rows import base_rows, residuals
from steelyard.estimation.weighted_solution import OnBlind, Solution, solved
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

ROUND_OFF = 1e-12
"""Noise below this share of the torque is taken for round-off, so that weights stay finite."""
_ROUNDS, _SETTLED = 30, 1e-6


@with_one_blas_thread
def fit_weighted(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""The base parameters that explain the torques best when every joint has a noise of its own.

    $$\min_\beta \sum_k \frac{\lVert W_k \beta - \tau_k \rVert^2}{\sigma_k^2}, \qquad
      \sigma_k^2 = \frac{\lVert r_k \rVert^2}{N - h_k}$$

    with $h_k$ the number of parameters that joint k pays for, the trace of its part of the hat matrix. Both
    are repeated until the noise settles. The covariance respects the memory of the residual; it takes the
    motion as exact, see `uncertainty` for a check of that.

    Args:
        problem: the question; its samples are needed unless `colour` is `white`.
        colour: what is assumed of the noise: `autoregressive`, `newey-west`, or `white`.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate, with covariance, weights, and in `detail` the noise's deviation and order by joint.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few samples for their number.
        InputError: the samples are needed but were not kept.
    """
    weights, solution = settled_weights(problem, on_blind)
    spread, noise = weighted_spread(problem, solution.values, weights, colour)
    return Estimate(
        method="weighted least squares",
        layout=problem.layout,
        base=problem.base,
        values=solution.values,
        residual=residual_rms(problem, solution.values),
        samples=problem.compressed.samples,
        condition=solution.condition,
        covariance=spread.covariance,
        weights=weights,
        recordings=problem.digests,
        detail={
            "colour": colour,
            "noise": (1.0 / weights).tolist(),
            "orders": [model.order for model in noise],
        },
    )


def settled_weights(problem: Problem, on_blind: OnBlind) -> tuple[Array, Solution]:
    """The weights that agree with the noise they lead to, and the solution there.

    Args:
        problem: the question.
        on_blind: what to do where the motion hides base parameters.

    Returns:
        Weights, shape (nv,), 1/(N·m) or 1/N; and the solution.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few samples for their number.
    """
    small = problem.compressed
    torque = np.array([np.linalg.norm(T[:, -1]) for T in small.triangles]) / np.sqrt(small.samples)
    floor = ROUND_OFF * max(torque.max(), np.finfo(float).tiny)
    weights = np.ones(len(torque))
    for _ in range(_ROUNDS):
        solution = solved(problem.base_factor(weights), problem.base.names, on_blind)
        rms = residual_rms(problem, solution.values)
        left = small.samples - _paid(problem, solution, weights)
        if (left < 1.0).any():
            raise NoSolutionError(
                f"{small.samples} samples leave nothing to tell the noise by after {problem.base.count} base "
                "parameters.",
                place="recording",
                remedy="Record a longer motion.",
            )
        before = weights
        weights = 1.0 / np.maximum(rms * np.sqrt(small.samples / left), floor)
        if np.abs(weights / before - 1.0).max() < _SETTLED:
            break
    return before, solution


def weighted_spread(
    problem: Problem, values: Array, weights: Array, colour: Colour = "autoregressive"
) -> tuple[Spread, tuple[NoiseModel, ...]]:
    """How sure least squares with given weights is, from the residual that its estimate leaves.

    Args:
        problem: the question.
        values: beta, shape (b,), SI.
        weights: of the degrees of freedom, shape (nv,), 1/(N·m) or 1/N; their common factor does not matter
            where the samples were kept.
        colour: what is assumed of the noise; only `white` where the samples were not kept, and then the
            weights are taken for one over the noise.

    Returns:
        The spread, and the noise of each degree of freedom where a model of it is used.
    """
    solution = solved(problem.base_factor(weights), problem.base.names, "infinite")
    if colour == "white" and problem.evidence is None:
        return Spread(solution.inverse, solution.blind), ()
    source = base_rows(problem)
    left = residuals(source, values)
    covariance, noise = linear_covariance(source, weights, solution.inverse, left, colour)
    return Spread(covariance, solution.blind), noise


def _paid(problem: Problem, solution: Solution, weights: Array) -> Array:
    """Trace of each degree of freedom's part of the hat matrix, shape (nv,)."""
    place = {int(column): k for k, column in enumerate(problem.base.columns)}
    paid = []
    for w, columns, T in zip(weights, problem.compressed.columns, problem.compressed.triangles, strict=True):
        inside = [(i, place[int(c)]) for i, c in enumerate(columns) if int(c) in place]
        mine, base = [i for i, _ in inside], [j for _, j in inside]
        W = T[:, mine]
        paid.append(w**2 * float(np.sum((W @ solution.inverse[np.ix_(base, base)]) * W)))
    return np.array(paid)
