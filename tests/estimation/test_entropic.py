"""The entropic fit: gradient, limits of the strength, invariance, choice by the data."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import chi2

from estimation.test_lmi import problem, truth_of
from steelyard.consistency import check_parameters
from steelyard.errors import InputError
from steelyard.estimation.entropic import fit_entropic
from steelyard.estimation.lmi import fit_lmi
from steelyard.inertia import pseudo_inertia
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def objective(phi: np.ndarray, R: np.ndarray, prior: np.ndarray, strength: float, signs: list[int]) -> float:
    """The objective as the paper writes it."""
    D = 0.0
    for k in range(0, signs[0] // 10 * 10, 10):
        if k + 10 > signs[0]:
            break
        ratio = np.linalg.solve(pseudo_inertia(prior[k : k + 10]), pseudo_inertia(phi[k : k + 10]))
        D += np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4
    ratio = phi[signs] / prior[signs]
    D += float((ratio - np.log(ratio) - 1).sum())
    return float(np.sum((R @ np.r_[phi, -1]) ** 2) + strength * D)


@pytest.mark.parametrize("strength", [1e-2, 1.0, 100.0])
def test_the_gradient_vanishes_and_every_neighbour_is_worse(strength: float) -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    prior = truth_of(layout, 3)
    question = problem("two_link", 0.1, truth=truth_of(layout, 4), prior=prior)
    phi, R = fit_entropic(question, strength=strength).parameters, question.factor()
    signs = [k for k, p in enumerate(layout.parameters) if p.term in ("viscous", "coulomb", "rotor")]
    best = objective(phi, R, prior, strength, signs)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            other = phi + size * (truth_of(layout, int(rng.integers(1 << 30))) - phi)
            assert objective(other, R, prior, strength, signs) >= best * (1 - 1e-9)
    for k in range(layout.size):
        h = 1e-6 * max(abs(phi[k]), 1e-3)
        e = h * np.eye(layout.size)[k]
        up, down = (objective(phi + sign * e, R, prior, strength, signs) for sign in (1, -1))
        curvature = up - 2 * best + down
        assert abs(up - down) <= 2e-2 * max(curvature, 1e-9 * best)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_an_independent_formulation_finds_the_same_optimum() -> None:
    layout = layout_of(zoo_robot("two_link"))
    prior = truth_of(layout, 5)
    question = problem("two_link", 0.1, truth=truth_of(layout, 6), prior=prior, layout=layout)
    R, phi, D = question.factor(), cp.Variable(20), 0.0
    for k in (0, 10):
        J = sum(phi[k + i] * pseudo_inertia(np.eye(10)[i]) for i in range(10))
        J_0 = pseudo_inertia(prior[k : k + 10])
        D += cp.trace(np.linalg.inv(J_0) @ J) - cp.log_det(J) + np.linalg.slogdet(J_0)[1] - 4
    best = cp.Problem(cp.Minimize(cp.sum_squares(R[:, :-1] @ phi - R[:, -1]) + 0.5 * D)).solve(
        solver=cp.CLARABEL
    )
    estimate = fit_entropic(question, strength=0.5)
    ours = estimate.detail["squared_residual"] + 0.5 * estimate.detail["divergence"]
    assert ours == pytest.approx(best, rel=1e-6)


def test_a_strong_pull_gives_the_prior_and_a_weak_one_the_conic_fit() -> None:
    question = problem("panda", 0.1)
    prior = question.layout.complete_nominal()
    strong = fit_entropic(question, prior, strength=1e9)
    np.testing.assert_allclose(strong.parameters[:70], prior[:70], rtol=1e-3, atol=1e-5)
    conic = fit_lmi(question).detail["squared_residual"]
    squares = [
        fit_entropic(question, prior, strength=s).detail["squared_residual"] for s in (1e-3, 1e-1, 1e1)
    ]
    assert conic * (1 - 1e-6) <= squares[0] <= squares[1] <= squares[2]
    assert squares[0] == pytest.approx(conic, rel=1e-3)


def test_links_are_strictly_possible_at_any_strength() -> None:
    question = problem("panda", 0.3)
    for strength in (1e-2, 1.0):
        verdict = check_parameters(question.layout, fit_entropic(question, strength=strength).parameters)
        assert verdict.consistent
        assert all(link.strict for link in verdict.links)


def test_the_strength_of_the_data_is_the_strongest_it_does_not_reject() -> None:
    question = problem("panda", 0.1)
    prior = np.array(question.layout.complete_nominal())
    for k in range(7):
        prior[10 * k : 10 * k + 10] *= 1.3
    estimate = fit_entropic(question, prior)
    least = fit_lmi(question).detail["squared_residual"]
    variance = least / (400 * 7 - question.base.count)
    allowed = least + variance * chi2.ppf(0.95, question.base.count)
    strength = estimate.detail["strength"]
    assert estimate.detail["squared_residual"] <= allowed
    stronger = fit_entropic(question, prior, strength=1.1 * strength)
    assert stronger.detail["squared_residual"] > allowed


def test_friction_without_a_prior_is_fitted_and_never_negative() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    truth = np.array(layout.complete_nominal())
    truth[layout.index("joint1.viscous")] = -0.3
    truth[layout.index("joint2.viscous")] = 0.7
    prior = np.array(layout.complete_nominal())
    prior[20:] = np.nan
    question = problem("two_link", 0.0, truth=truth, prior=prior)
    phi = fit_entropic(question, strength=1e-3).parameters
    assert phi[layout.index("joint1.viscous")] == 0.0
    assert phi[layout.index("joint2.viscous")] == pytest.approx(0.7, abs=0.2)


def test_a_prior_that_cannot_be_is_refused_by_name() -> None:
    question = problem("two_link", 0.0)
    prior = np.array(question.layout.complete_nominal())
    prior[0] = -1.0
    with pytest.raises(InputError, match="link1 must be strictly possible"):
        fit_entropic(question, prior)
    prior[0] = np.nan
    with pytest.raises(InputError, match="says nothing about link1"):
        fit_entropic(question, prior)
    with pytest.raises(InputError, match="must be positive"):
        fit_entropic(question, question.layout.complete_nominal(), strength=0.0)
