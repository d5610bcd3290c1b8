"""Least change that makes the mass matrix positive definite: at every pose, proven, or at chosen poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones import ConeProgram, Semidefinite, solve
from steelyard.consistency.all_poses.check import PoseCertificate
from steelyard.consistency.all_poses.proof import AllPoseProof
from steelyard.errors import InputError, NoSolutionError, SolverError

# Least change that makes the mass matrix positive definite at every pose, with its proof.
#
# Oaki et al. (2026), eqs. (8) and (12) ask for the parameters nearest to given ones with $M(q) \succeq
# \varepsilon 1$ at the poses of a domain. Here the condition is the certificate itself,
#
# $$\min_{\beta,\,y} \lVert R(\beta - \hat\beta) \rVert^2 \quad\text{subject to}\quad
#   N_i^T X_i(\beta, y)\,N_i \succeq \varepsilon\,e_i e_i^T + \eta\,1 ,$$
#
# so the result comes with a proof for all poses. The small $\eta$, a share of the largest form, makes the
# bound strict and pays for the solver's residual; with $\varepsilon = 0$ it is what keeps M definite.

LADDER = (0.001, 0.002, 0.005, 0.01)
"""The margins of Oaki et al. (2026), kg·m²."""
_WEIGHT = 1e3
"""Norm of the scaled metric: changes are small, and the solver's accuracy is absolute."""
_SHARES = (1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True, eq=False)
class AllPoseProjection:
    """Parameters near given ones whose mass matrix is positive definite at every pose.

    Attributes:
        beta: base parameters, shape (b,), SI.
        margin: epsilon that was asked for, kg·m² or kg.
        change: beta less the given parameters, shape (b,), SI.
        distance: length of the change in the metric, units of the metric times SI.
        certificate: the proof that no eigenvalue is below its bound, which is at least the margin.
    """

    beta: Array
    margin: float
    change: Array
    distance: float
    certificate: PoseCertificate


def project_to_all_poses(
    proof: AllPoseProof, beta: ArrayLike, *, margin: float = 0.0, metric: ArrayLike | None = None
) -> AllPoseProjection:
    """Change base parameters as little as makes the mass matrix exceed a margin at every pose.

    Args:
        proof: what was prepared for the model.
        beta: the given base parameters, shape (b,), SI.
        margin: epsilon, not negative, kg·m² or kg; zero asks for any positive bound.
        metric: R, shape (k, b), any unit, such as the factor of the data's base regressor; None for the
            identity.

    Returns:
        The nearest parameters; the given ones where they pass.

    Raises:
        InputError: the margin is negative.
        NoSolutionError: no parameters with a certificate were found.
    """
    if not (np.isfinite(margin) and margin >= 0.0):
        raise InputError(f"must be finite and not negative, got {margin}.", place="margin")
    b = proof.model.size
    given = checked("beta", beta, (b,))
    R = np.eye(b) if metric is None else checked("metric", metric, ("k", b))
    for share in _SHARES:
        try:
            values, moves, bounds = _nearest(proof, given, margin, R, share)
        except SolverError:
            continue
        for near in (given, values):
            certificate = proof.certificate(near, moves, bounds)
            if certificate is not None:
                change = near - given
                distance = float(np.linalg.norm(R @ change))
                return AllPoseProjection(read_only(near), margin, read_only(change), distance, certificate)
    raise NoSolutionError(
        f"no parameters with a proven margin of {margin:g} were found.",
        place="rescue",
        remedy="Ask for a smaller margin, or a metric that lets the rotor inertias move.",
        evidence={"margin": margin},
    )


def project_to_all_poses_by_ladder(
    proof: AllPoseProof,
    beta: ArrayLike,
    *,
    margins: Sequence[float] = LADDER,
    metric: ArrayLike | None = None,
) -> AllPoseProjection:
    """Rescue with the smallest of some margins that leads to a proof, as Oaki et al. (2026) climb them.

    Args:
        proof: what was prepared for the model.
        beta: the given base parameters, shape (b,), SI.
        margins: to be tried in this order, kg·m² or kg.
        metric: R, shape (k, b), any unit; None for the identity.

    Returns:
        The first rescue that is proven.

    Raises:
        NoSolutionError: none of them is.
    """
    for margin in margins:
        try:
            return project_to_all_poses(proof, beta, margin=margin, metric=metric)
        except NoSolutionError:
            continue
    raise NoSolutionError(
        f"none of the margins {list(margins)} led to a proof.", place="margins", evidence={"margins": margins}
    )


def _nearest(
    proof: AllPoseProof, given: Array, margin: float, R: Array, share: float
) -> tuple[Array, Array, list[float]]:
    """Parameters, moves and the bounds to check, from the program above in the change of beta."""
    constants = proof.forms_of(proof.model.standard(given))
    size = max(float(np.abs(X).max(initial=0.0)) for X in constants) or 1.0
    slack = share * size
    constraints = []
    for X, base, move, own in zip(
        constants, proof.base_forms, proof.move_forms, proof.own_rates, strict=True
    ):
        floor = slack * np.eye(len(X))
        floor[own, own] += margin
        constraints.append(Semidefinite((X - floor) / size, np.concatenate([base, move])))
    weight = _WEIGHT / max(float(np.linalg.norm(R, 2)), np.finfo(float).tiny)
    objective = np.hstack([weight * R, np.zeros((len(R), proof.chosen.size))])
    program = ConeProgram.least_squares(objective, np.zeros(len(R)), constraints)
    answer = solve(program, accept_reduced=True)
    moves = np.zeros(proof.checker.blocks.size)
    moves[proof.chosen] = size * answer.x[given.size :]
    values = given + size * answer.x[: given.size]
    return values, moves, [margin + 0.5 * slack, *([margin] if margin > 0.0 else [])]
