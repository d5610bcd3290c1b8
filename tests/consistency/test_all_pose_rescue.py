"""Least change with proof: optimal by cvxpy on a grid of poses, minimal beside the poses' own projection."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from oracles.all_pose_models import eigenvalues, full_model, paper_004
from paper_004.pose_projection import project_at_poses, project_by_ladder
from steelyard.consistency.all_poses.check import check_certificate
from steelyard.consistency.all_poses.projection import (
    LADDER,
    project_to_all_poses,
    project_to_all_poses_by_ladder,
)
from steelyard.consistency.pose_search import PoseDomain
from steelyard.dynamics import momentum_regressor
from steelyard.errors import InputError
from steelyard.zoo import zoo_robot


def broken(seed: int) -> np.ndarray:
    _, truth = paper_004()
    return truth + 2e-3 * np.random.default_rng(seed).normal(size=truth.size)


@pytest.mark.parametrize(("margin", "weighted"), [(0.01, False), (0.05, False), (0.05, True)])
def test_of_two_links_the_change_is_the_least_that_a_fine_grid_of_poses_allows(
    margin: float, weighted: bool
) -> None:
    proof, beta = full_model(zoo_robot("two_link"))
    model, rng = proof.model, np.random.default_rng(1)
    beta = beta - 0.3 + 0.2 * rng.normal(size=beta.size)
    R = np.diag(rng.uniform(0.5, 2.0, beta.size)) if weighted else np.eye(beta.size)
    x, constraints = cp.Variable(beta.size), []
    for angle in np.linspace(-np.pi, np.pi, 73):
        W = momentum_regressor(model.robot, model.layout, np.tile([0.0, angle], (2, 1)), np.eye(2))
        M = cp.reshape((W @ model.basis).reshape(4, -1) @ x, (2, 2), order="C")
        constraints.append(0.5 * (M + M.T) - margin * np.eye(2) >> 0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(R @ (x - beta))), constraints)
    problem.solve(solver="CLARABEL")
    found = project_to_all_poses(proof, beta, margin=margin, metric=R)
    assert found.distance > 1e-2
    assert found.distance == pytest.approx(np.sqrt(problem.value), rel=2e-3)
    np.testing.assert_allclose(found.beta, beta + found.change, atol=1e-15)


@pytest.mark.parametrize("margin", [0.0, 1e-3])
def test_a_rescue_is_proven_and_changes_hardly_more_than_chosen_poses_demand(margin: float) -> None:
    proof, _ = paper_004()
    model, domain = proof.model, PoseDomain.every(proof.model.robot)
    for seed in (1, 3):
        beta = broken(seed)
        found = project_to_all_poses(proof, beta, margin=margin)
        assert found.certificate.bound > margin or found.certificate.bound == margin > 0.0
        np.testing.assert_array_equal(found.certificate.parameters, model.standard(found.beta))
        assert check_certificate(model.robot, model.layout, found.certificate)
        poses = domain.draw(50, np.random.default_rng(seed))
        assert eigenvalues(model, model.standard(found.beta), poses).min() > margin
        least = project_at_poses(model, beta, domain, np.random.default_rng(seed), margin=margin)
        assert (1 - 1e-4) * least.distance <= found.distance <= 1.05 * least.distance
        assert least.low.value >= margin - 1e-5


def test_what_passes_is_returned_unchanged() -> None:
    proof, truth = paper_004()
    found = project_to_all_poses(proof, truth, margin=1e-3)
    assert found.distance == 0.0
    np.testing.assert_array_equal(found.beta, truth)


def test_what_no_pose_shows_is_not_changed() -> None:
    proof, _ = paper_004()
    found = project_to_all_poses(proof, broken(1))
    viscous = np.array([name.endswith(".viscous") for name in proof.model.names])
    assert viscous.sum() == 8
    assert np.abs(found.change[viscous]).max() < 1e-7 < np.abs(found.change).max()


def test_the_ladder_stops_at_the_first_margin_that_is_proven() -> None:
    proof, _ = paper_004()
    found = project_to_all_poses_by_ladder(proof, broken(1))
    assert found.margin == LADDER[0]
    assert found.certificate.bound >= LADDER[0]


def test_the_ladder_of_poses_passes_its_own_audit() -> None:
    proof, _ = paper_004()
    lower, upper = np.full(8, -np.pi / 2), np.full(8, np.pi / 2)
    lower[3], upper[3] = -np.pi, 0.0
    box = PoseDomain(lower, upper)
    found = project_by_ladder(proof.model, broken(2), box, np.random.default_rng(0))
    assert found.margin in LADDER
    assert found.low.value > 0.0
    assert (found.poses >= lower - 1e-9).all()
    everywhere = project_to_all_poses(proof, broken(2), margin=found.margin)
    assert found.distance <= everywhere.distance * (1 + 1e-4)


def test_a_larger_margin_asks_for_a_larger_change() -> None:
    proof, _ = paper_004()
    distances = [project_to_all_poses(proof, broken(1), margin=margin).distance for margin in (0.0, *LADDER)]
    assert distances == sorted(distances)
    assert distances[-1] > distances[0]


def test_a_negative_margin_is_refused() -> None:
    proof, truth = paper_004()
    with pytest.raises(InputError, match="negative"):
        project_to_all_poses(proof, truth, margin=-1e-3)
