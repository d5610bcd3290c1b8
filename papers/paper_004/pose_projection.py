r"""Least change that passes at chosen poses, as (8) and (12) of Oaki et al. state it; no proof.

$$\min_\beta \lVert R(\beta - \hat\beta)\rVert^2 \quad\text{subject to}\quad
  M(q_k; \beta) \succeq \varepsilon 1, \quad k = 1, \dots, K .$$

The poses are not a grid: the local minima of the smallest eigenvalue are added one round after another until
no lower one is found. What the search misses stays unknown;
`steelyard.consistency.project_to_all_poses` proves instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones import ConeProgram, Semidefinite, solve
from steelyard.consistency import PoseDomain, lowest_pose
from steelyard.consistency.all_poses.projection import LADDER
from steelyard.consistency.pose_search import LowPose, low_poses
from steelyard.dynamics import momentum_regressor
from steelyard.errors import NoSolutionError
from steelyard.identifiable import MinimalModel

ROUNDS = 60
_MISSED = 1e-6
"""How far below the margin an eigenvalue may stay, relative to the margin and the largest entry of M."""
_PER_ROUND = 4
_WEIGHT = 1e3
"""Norm of the scaled metric: changes are small, and the solver's accuracy is absolute."""


@dataclass(frozen=True, eq=False)
class PoseProjection:
    """Parameters near given ones whose mass matrix exceeds a margin wherever a search looked.

    Attributes:
        beta: base parameters, shape (b,), SI.
        margin: epsilon, kg·m² or kg.
        change: beta less the given parameters, shape (b,), SI.
        distance: length of the change in the metric, units of the metric times SI.
        poses: where the margin was asked for, shape (K, nq), rad or m.
        rounds: of adding poses.
        low: the lowest pose found afterwards.
    """

    beta: Array
    margin: float
    change: Array
    distance: float
    poses: Array
    rounds: int
    low: LowPose


def project_at_poses(
    model: MinimalModel,
    beta: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    margin: float = 0.0,
    metric: ArrayLike | None = None,
) -> PoseProjection:
    """Change base parameters as little as passes at the lowest poses that a search finds.

    Args:
        model: the model.
        beta: the given base parameters, shape (b,), SI.
        domain: where to look.
        rng: source of the poses.
        margin: epsilon, kg·m² or kg.
        metric: R, shape (k, b), any unit; None for the identity.

    Returns:
        The projection.

    Raises:
        NoSolutionError: after `ROUNDS` rounds there is still a pose that fails.
    """
    robot, layout, b = model.robot, model.layout, model.size
    given = checked("beta", beta, (b,))
    R = np.eye(b) if metric is None else checked("metric", metric, ("k", b))
    weight = _WEIGHT / max(float(np.linalg.norm(R, 2)), np.finfo(float).tiny)
    values, poses = given, np.zeros((0, robot.nq))
    constraints: list[Semidefinite] = []
    for rounds in range(ROUNDS):
        q, lows = low_poses(robot, layout, model.standard(values), domain, rng)
        if lows[0] >= margin - _MISSED * (margin + _size(constraints)):
            low = lowest_pose(robot, layout, model.standard(values), domain, rng)
            change = values - given
            distance = float(np.linalg.norm(R @ change))
            return PoseProjection(
                read_only(values), margin, read_only(change), distance, read_only(poses), rounds, low
            )
        worst = _apart(q[lows < margin])
        poses = np.vstack([poses, worst])
        constraints += [_at_least(model, given, pose, margin) for pose in worst]
        program = ConeProgram.least_squares(weight * R, np.zeros(len(R)), constraints)
        values = given + solve(program, accept_reduced=True).x
    raise NoSolutionError(
        f"after {ROUNDS} rounds and {len(poses)} poses an eigenvalue of {lows[0]:.3g} is left.",
        place="projection",
        evidence={"poses": poses, "lowest": float(lows[0])},
    )


def project_by_ladder(
    model: MinimalModel,
    beta: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    margins: Sequence[float] = LADDER,
    metric: ArrayLike | None = None,
) -> PoseProjection:
    """The projection with the smallest of some margins after which no pose is found that is not definite.

    Args:
        model: the model.
        beta: the given base parameters, shape (b,), SI.
        domain: where to look.
        rng: source of the poses.
        margins: to be tried in this order, kg·m² or kg.
        metric: R, shape (k, b), any unit; None for the identity.

    Returns:
        The first projection that passes.

    Raises:
        NoSolutionError: none does.
    """
    for margin in margins:
        try:
            found = project_at_poses(model, beta, domain, rng, margin=margin, metric=metric)
        except NoSolutionError:
            continue
        if not found.low.refutes:
            return found
    raise NoSolutionError(
        f"none of the margins {list(margins)} passed.", place="margins", evidence={"margins": margins}
    )


def _at_least(model: MinimalModel, given: Array, pose: Array, margin: float) -> Semidefinite:
    """M(q) - margin as a matrix linear in the change of beta."""
    n = model.robot.nv
    # Momenta at unit rates are the columns of M, one row of the regressor per entry.
    W = momentum_regressor(model.robot, model.layout, np.tile(pose, (n, 1)), np.eye(n))
    constant = W @ model.standard(given) - margin * np.eye(n)
    slopes = np.moveaxis(W @ model.basis, -1, 0)
    return Semidefinite(0.5 * (constant + constant.T), 0.5 * (slopes + slopes.transpose(0, 2, 1)))


def _apart(poses: Array) -> Array:
    """The first few poses that are not the same."""
    kept: list[Array] = []
    for pose in poses:
        if all(np.abs(pose - other).max() > 1e-3 for other in kept):
            kept.append(pose)
        if len(kept) == _PER_ROUND:
            break
    return np.array(kept).reshape(-1, poses.shape[1])


def _size(constraints: list[Semidefinite]) -> float:
    return max((float(np.abs(x.constant).max()) for x in constraints), default=0.0)
