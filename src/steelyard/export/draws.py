r"""Models drawn from what the data leaves open, each of which can exist: for domain randomisation.

Base parameters are drawn from their covariance and completed to links that can exist,

$$\beta_k \sim \mathcal N(K\hat\phi, \Sigma), \qquad K\phi_k = \beta_k, \qquad \phi_k \in \mathcal P,$$

near the estimate. Where a drawn $\beta_k$ has no possible links, which happens when the estimate lies near
the border of $\mathcal P$, the possible vector is taken that is most likely beside it,

$$\min_{\phi \in \mathcal P} (K\phi - \beta_k)^T \Sigma^{-1} (K\phi - \beta_k)
  + \epsilon^2 d^2(\phi, \hat\phi),$$

with a small weight on the distance from the estimate (see `completion`), and `Draws.shift` says how far its
base parameters are from the drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError
from steelyard.export.completion import Completion
from steelyard.export.possible import Possible
from steelyard.identifiability import BaseParameters
from steelyard.layout import Layout
from steelyard.robot import Robot

_NEGATIVE = 1e-9  # eigenvalue of a correlation matrix that is round-off and no mistake


@dataclass(frozen=True, eq=False)
class Draws:
    """Parameter vectors drawn from a posterior, each possible.

    Attributes:
        parameters: phi of each model, shape (n, p), SI.
        values: the base parameters drawn, shape (n, b), SI.
        shift: root mean square distance of each model's base parameters from those drawn, in standard
            deviations, shape (n,), dimensionless; zero where the drawn ones are possible.
    """

    parameters: Array
    values: Array
    shift: Array

    def __post_init__(self) -> None:
        for name, shape in (("parameters", ("n", "p")), ("values", ("n", "b")), ("shift", ("n",))):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))


def draw_models(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    covariance: ArrayLike,
    base: BaseParameters,
    n: int,
    rng: np.random.Generator,
) -> Draws:
    """Draw models from the posterior of an estimate.

    A base parameter of infinite variance was not seen at all; no number can be drawn for it, so it stays at
    the estimate. What the base parameters leave open stays near the estimate.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: the estimate phi, shape (p,), SI; possible.
        covariance: of the base parameters, shape (b, b), SI; infinite variances where the data is blind.
        base: the base parameters.
        n: how many, at least one.
        rng: source of randomness.

    Returns:
        The models.

    Raises:
        InputError: the number is not positive, the estimate is impossible, or the covariance is none.
    """
    if n < 1:
        raise InputError(f"must be at least 1, got {n}.", place="n")
    phi = checked("parameters", parameters, (layout.size,))
    possible = Possible.around(robot, layout, phi)
    K = base.matrix
    seen, deviations, root = _root(covariance, base.count)
    noise = rng.standard_normal((n, root.shape[1])) @ root.T
    values = np.tile(K @ phi, (n, 1))
    values[:, seen] += noise * deviations
    completion = Completion(phi, K, possible, seen, deviations, root)
    spread = deviations > 0.0
    models, shift = np.empty((n, layout.size)), np.zeros(n)
    for k in range(n):
        models[k] = completion.of(values[k])
        off = (K @ models[k] - values[k])[seen[spread]] / deviations[spread]
        shift[k] = np.sqrt(np.mean(off**2)) if off.size else 0.0
    return Draws(models, values, shift)


def _root(covariance: ArrayLike, count: int) -> tuple[IntArray, Array, Array]:
    """Which base parameters are seen, their deviations, and a square root of their correlations."""
    C = checked("covariance", covariance, (count, count), finite=False)
    variances = np.diag(C)
    if np.isnan(variances).any() or (variances < 0.0).any():
        raise InputError("has variances that are negative or no numbers.", place="covariance")
    seen = np.flatnonzero(np.isfinite(variances))
    block = C[np.ix_(seen, seen)]
    if not np.isfinite(block).all() or np.abs(block - block.T).max(initial=0.0) > 1e-9 * np.abs(block).max(
        initial=0.0
    ):
        raise InputError("is not symmetric and finite where its variances are.", place="covariance")
    deviations = np.sqrt(np.diag(block))
    safe = np.where(deviations > 0.0, deviations, 1.0)
    eigenvalues, vectors = np.linalg.eigh(block / np.outer(safe, safe))
    if eigenvalues.min(initial=0.0) < -_NEGATIVE * max(1.0, float(eigenvalues.max(initial=0.0))):
        raise InputError(
            f"is no covariance: its correlations have the eigenvalue {eigenvalues[0]:.3g}.",
            place="covariance",
        )
    return seen, deviations, np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
