"""Least squares over possible links: optimality, recovery, what is named, what is kept."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation.physical import fit_lmi
from steelyard.inertia import PARAMETER_NAMES, pseudo_inertia
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem
from steelyard.problem.problem import problem_of_blocks
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def truth_of(layout: Layout, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    links = [random_body(rng).parameters for _ in layout.links]
    return np.concatenate([*links, rng.uniform(0.05, 1, layout.size - 10 * len(layout.links))])


def problem(
    name: str,
    noise: float,
    *,
    seed: int = 0,
    truth: np.ndarray | None = None,
    prior: np.ndarray | None = None,
    layout: Layout | None = None,
) -> Problem:
    """A log of 400 samples by inverse dynamics, of the nominal robot unless told otherwise."""
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE) if layout is None else layout
    rng = np.random.default_rng(seed)
    motion = random_fourier(robot, rng)
    s = motion.sample(np.linspace(0, motion.duration, 400, endpoint=False))
    phi = layout.complete_nominal() if truth is None else truth
    tau = inverse_dynamics(robot, layout, phi, s.q, s.v, s.a)
    tau = tau + noise * rng.normal(size=tau.shape)
    return problem_of_blocks(robot, layout, [(s.q, s.v, s.a, tau)], prior=prior)


def by_cvxpy(R: np.ndarray, layout: Layout) -> float:
    """The least squared residual over possible links, by an independent formulation."""
    phi = cp.Variable(layout.size)
    constraints = []
    for k in range(len(layout.links)):
        m, x, y, z, xx, xy, yy, xz, yz, zz = (phi[10 * k + i] for i in range(10))
        rows = [
            [(yy + zz - xx) / 2, -xy, -xz, x],
            [-xy, (xx + zz - yy) / 2, -yz, y],
            [-xz, -yz, (xx + yy - zz) / 2, z],
            [x, y, z, m],
        ]
        constraints.append(cp.bmat(rows) >> 0)
    signs = [k for k, p in enumerate(layout.parameters) if p.term in ("viscous", "coulomb", "rotor")]
    constraints.append(phi[signs] >= 0)
    squares = cp.sum_squares(R[:, :-1] @ phi - R[:, -1])
    return float(cp.Problem(cp.Minimize(squares), constraints).solve(solver=cp.CLARABEL))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_the_optimum_is_that_of_an_independent_formulation() -> None:
    question = problem("panda", 0.3)
    estimate = fit_lmi(question)
    squares = 400 * float((estimate.residual**2).sum())
    assert squares == pytest.approx(by_cvxpy(question.factor(), question.layout), rel=5e-6)
    assert check_parameters(question.layout, estimate.parameters).consistent


@pytest.mark.parametrize("name", ["two_link", "panda", "ur10e"])
def test_noise_free_data_of_a_possible_robot_gives_its_base_parameters(name: str) -> None:
    layout = layout_of(zoo_robot(name), DRIVE)
    truth = truth_of(layout, 1)
    question = problem(name, 0.0, truth=truth)
    estimate = fit_lmi(question)
    expected = question.base.matrix @ truth
    np.testing.assert_allclose(estimate.values, expected, atol=1e-6 * np.abs(expected).max())
    assert check_parameters(layout, estimate.parameters).consistent
    np.testing.assert_allclose(estimate.values, question.base.matrix @ estimate.parameters)


def test_what_the_data_does_not_show_stays_at_the_prior() -> None:
    # The mass and the first moment along the axis of the first link never show in any torque.
    layout = layout_of(zoo_robot("panda"), DRIVE)
    prior = np.array(layout.complete_nominal())
    estimate = fit_lmi(problem("panda", 0.0, prior=prior))
    assert estimate.detail["distance_to_prior"] < 0.05
    heavier = prior.copy()
    heavier[:10] *= 2.0
    moved = fit_lmi(problem("panda", 0.0, prior=heavier))
    assert moved.parameters[0] == pytest.approx(heavier[0], rel=0.3)
    np.testing.assert_allclose(moved.values, estimate.values, atol=1e-5)


def test_a_log_of_an_impossible_robot_names_the_link_on_the_edge() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    truth = np.array(layout.complete_nominal())
    truth[layout.index("joint2.viscous")] = -0.5
    question = problem("two_link", 0.0, truth=truth)
    estimate = fit_lmi(question)
    places = {finding.place for finding in estimate.findings if finding.code == "edge-of-the-possible"}
    assert "joint2.viscous" in places
    assert estimate.parameters[layout.index("joint2.viscous")] == pytest.approx(0.0, abs=1e-6)
    assert "joint2.viscous" in estimate.detail["active"]
    assert estimate.residual.max() > 1e-3


def test_weights_scale_the_equations_of_each_joint() -> None:
    question = problem("two_link", 0.2)
    weights = np.array([1.0, 50.0])
    plain, weighed = fit_lmi(question), fit_lmi(question, weights=weights)
    assert weighed.residual[1] < plain.residual[1] * (1 - 1e-7)
    assert weighed.residual[0] > plain.residual[0] * (1 + 1e-7)
    equal = fit_lmi(question, weights=[3.0, 3.0])
    np.testing.assert_allclose(equal.values, plain.values, rtol=1e-4, atol=1e-6)


def test_a_known_link_keeps_its_numbers_and_its_torque_is_accounted_for() -> None:
    robot = zoo_robot("two_link")
    free = layout_of(robot, DRIVE)
    nominal = free.complete_nominal()
    layout = free.fixing({f"link1.{name}": nominal[k] for k, name in enumerate(PARAMETER_NAMES)})
    estimate = fit_lmi(problem("two_link", 0.0, layout=layout))
    np.testing.assert_allclose(estimate.parameters[:10], nominal[:10], rtol=1e-12)
    assert estimate.residual.max() < 1e-6


def test_a_floor_keeps_links_inside_and_costs_residual() -> None:
    question = problem("panda", 0.3)
    loose, firm = fit_lmi(question), fit_lmi(question, floor=1e-3)
    assert (firm.residual**2).sum() >= (loose.residual**2).sum()
    margins = [link.margin for link in check_parameters(question.layout, firm.parameters).links]
    assert min(margins) > 1e-6
    smallest = [np.linalg.eigvalsh(pseudo_inertia(ten))[0] for ten in firm.parameters[:70].reshape(7, 10)]
    assert min(smallest) > 0
