r"""What errors of torque constants do to an estimate: systematic, the same in every log made with them.

Torques made from currents are each joint's current times a constant. Where that of joint j is off by a factor
$g_j$ all its torques are, and weighted least squares with them:

$$\frac{\partial \hat\beta}{\partial g_j} = (W^T\Lambda W)^{-1}\,W_j^T\,\lambda_j\,\tau_j, \qquad
  \Sigma_{sys} = G\,\mathrm{diag}(e^2)\,G^T.$$

No longer log makes this smaller, and two logs made with the same constants share it. So it is kept apart from
the covariance of the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.estimation.weighted import settled_weights
from steelyard.estimation.weighted_solution import solved
from steelyard.problem import Estimate, Problem


def gain_sensitivity(problem: Problem, weights: ArrayLike) -> Array:
    r"""How least squares with given weights changes when the torques of one joint are scaled.

    Args:
        problem: the question.
        weights: of the degrees of freedom, shape (nv,), 1/(N·m) or 1/N; their common factor does not matter.

    Returns:
        G, the change per unit of relative gain of each degree of freedom, zero for what the motion hides,
        shape (b, nv), SI.
    """
    small, base = problem.compressed, problem.base
    w = checked("weights", weights, (len(small.triangles),))
    inverse = solved(problem.base_factor(w), base.names, "infinite").inverse
    place = {int(column): k for k, column in enumerate(base.columns)}
    G = np.zeros((base.count, len(w)))
    for j, (columns, T) in enumerate(zip(small.columns, small.triangles, strict=True)):
        inside = [(i, place[int(c)]) for i, c in enumerate(columns) if int(c) in place]
        mine, theirs = [i for i, _ in inside], [k for _, k in inside]
        # A triangle has the products of its equations: Wᵀτ = TᵀT's last column.
        G[:, j] = w[j] ** 2 * inverse[:, theirs] @ (T[:, mine].T @ T[:, -1])
    return G


def with_constant_errors(problem: Problem, estimate: Estimate, errors: ArrayLike) -> Estimate:
    """The estimate with what errors of torque constants add, kept apart in `systematic`.

    Args:
        problem: the question it answers.
        estimate: the answer; its weights are used where it has some.
        errors: relative standard deviation of each torque constant, shape (nv,), dimensionless.

    Returns:
        A new estimate, with `systematic` where an error is not zero.

    Raises:
        InputError: an error is negative.
    """
    e = checked("errors", errors, (problem.robot.nv,))
    if (e < 0.0).any():
        raise InputError(f"must not be negative, got {e.min():g}.", place="errors")
    if not e.any():
        return estimate
    weights = settled_weights(problem, "infinite")[0] if estimate.weights is None else estimate.weights
    scaled = gain_sensitivity(problem, weights) * e
    detail = {**estimate.detail, "torque_constant_errors": e.tolist()}
    return replace(estimate, systematic=scaled @ scaled.T, detail=detail)
