"""Ordinary least squares on base parameters."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from steelyard.errors import NoSolutionError
from steelyard.estimation.residual import residual_rms
from steelyard.identifiability import Criterion, Information, score
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

_BLIND = 1e-10


@with_one_blas_thread
def fit_least_squares(problem: Problem) -> Estimate:
    r"""The base parameters that leave the least squared torque: $\min_\beta \lVert W_1\beta - \tau \rVert^2$.

    Solved by an orthogonal factorisation of the column-scaled regressor; nothing is regularised.

    Args:
        problem: the question.

    Returns:
        The estimate.

    Raises:
        NoSolutionError: the motion does not show every base parameter; names those it hides.
    """
    R = problem.base_factor()
    W, tau = R[:, :-1], R[:, -1]
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    Q, triangle, pivots = scipy.linalg.qr(W / scale, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    hidden = pivots[diagonal <= _BLIND * diagonal[0]]
    if hidden.size:
        names = ", ".join(problem.base.names[k] for k in sorted(hidden))
        raise NoSolutionError(
            f"the motion shows {W.shape[1] - hidden.size} of {W.shape[1]} base parameters; it hides {names}.",
            place="recording",
            remedy="Record a richer motion.",
            evidence={"hidden": [int(k) for k in hidden]},
        )
    beta = np.empty(W.shape[1])
    beta[pivots] = scipy.linalg.solve_triangular(triangle, Q.T @ tau)
    beta /= scale
    return Estimate(
        method="least squares",
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value,
        recordings=problem.digests,
    )
