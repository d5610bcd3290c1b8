"""Ordinary least squares on base parameters."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from steelyard.errors import NoSolutionError
from steelyard.problem import Estimate, Problem, condition_of

_BLIND = 1e-10


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
    W, tau = problem.regression()
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    Q, R, pivots = scipy.linalg.qr(W / scale, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
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
    beta[pivots] = scipy.linalg.solve_triangular(R, Q.T @ tau)
    beta /= scale
    residual = (tau - W @ beta).reshape(-1, problem.robot.nv)
    return Estimate(
        method="least squares",
        base=problem.base,
        values=beta,
        condition=condition_of(W),
        residual=np.sqrt((residual**2).mean(axis=0)),
        recording=problem.recording.digest,
    )
