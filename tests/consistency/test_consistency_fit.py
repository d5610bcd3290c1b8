"""The fit over possible vectors: conditions of optimality, another formulation, projections, full sets."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from steelyard.consistency import check_parameters, feasible_set, fit_feasible, full_set
from steelyard.consistency.feasible_fit import minimise_over_feasible
from steelyard.consistency.feasible_set import BALL
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable import structural_identifiability
from steelyard.inertia import nearest_consistent, pseudo_inertia
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def possible_vector(layout: Layout, rng: np.random.Generator) -> np.ndarray:
    links = [random_body(rng).parameters for _ in layout.links]
    return np.concatenate([*links, rng.uniform(0, 1, layout.size - 10 * len(layout.links))])


def equations(size: int, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random equations that leave directions unseen, and ask for something impossible."""
    R = rng.normal(size=(size + 5, rank)) @ rng.normal(size=(rank, size))
    return R, rng.normal(size=size + 5) * 3.0


@pytest.fixture(scope="module")
def layout() -> Layout:
    return layout_of(zoo_robot("two_link"), DRIVE)


def by_cvxpy(R: np.ndarray, r: np.ndarray, layout: Layout) -> float:
    """The least squared residual, with the pseudo-inertia written out entry by entry."""
    phi = cp.Variable(layout.size)
    constraints = []
    for k in range(len(layout.links)):
        m, x, y, z, xx, xy, yy, xz, yz, zz = (phi[10 * k + i] for i in range(10))
        J = cp.bmat(
            [
                [(yy + zz - xx) / 2, -xy, -xz, x],
                [-xy, (xx + zz - yy) / 2, -yz, y],
                [-xz, -yz, (xx + yy - zz) / 2, z],
                [x, y, z, m],
            ]
        )
        constraints.append(J >> 0)
    constraints += [phi[k] >= 0 for k, name in enumerate(layout.names) if name.endswith(("s", "b", "rotor"))]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(R @ phi - r)), constraints)
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("seed", range(4))
def test_the_residual_is_the_least_that_an_independent_formulation_finds(layout: Layout, seed: int) -> None:
    rng = np.random.default_rng(seed)
    R, r = equations(layout.size, 18, rng)
    fit = fit_feasible(R, r, feasible_set(layout, possible_vector(layout, rng)))
    assert fit.squares - fit.tie_break <= by_cvxpy(R, r, layout) * (1 + 1e-6)
    assert fit.squares >= by_cvxpy(R, r, layout) * (1 - 1e-6)
    assert check_parameters(layout, fit.parameters).consistent


def test_the_solution_satisfies_the_conditions_of_optimality(layout: Layout) -> None:
    rng = np.random.default_rng(5)
    R, r = equations(layout.size, layout.size, rng)
    possible = feasible_set(layout, possible_vector(layout, rng))
    A = R * possible.scales
    found = minimise_over_feasible(A, r, possible.constraints, np.zeros(layout.size), least=1e-12)
    Z, S = found.multipliers, found.slack
    pull = np.zeros(layout.size)
    for k in range(len(layout.links)):
        pull[10 * k : 10 * k + 10] = [np.vdot(Z.matrices[k], pseudo_inertia(e)) for e in np.eye(10)]
        np.testing.assert_allclose(
            S.matrices[k], pseudo_inertia(found.x[10 * k : 10 * k + 10]), atol=1e-9 * S.largest
        )
    pull[possible.constraints.bounded] += Z.numbers
    gradient = A.T @ (A @ found.x - r)
    np.testing.assert_allclose(gradient, pull, atol=1e-7 * np.abs(gradient).max())
    assert np.linalg.eigvalsh(Z.matrices).min() > 0
    assert np.linalg.eigvalsh(S.matrices).min() > 0
    assert Z.numbers.min() > 0
    assert np.abs(S.matrices @ Z.matrices).max() < 1e-7 * found.value
    assert np.abs(S.numbers * Z.numbers).max() < 1e-7 * found.value


def test_no_possible_vector_fits_better(layout: Layout) -> None:
    rng = np.random.default_rng(6)
    R, r = equations(layout.size, 20, rng)
    fit = fit_feasible(R, r, feasible_set(layout, possible_vector(layout, rng)))
    for scale in (1.0, 0.1, 1e-2, 1e-3):
        for _ in range(50):
            other = (1 - scale) * fit.parameters + scale * possible_vector(layout, rng)
            assert np.sum((R @ other - r) ** 2) >= fit.squares - fit.tie_break - fit.gap


def test_among_equal_fits_the_one_nearest_to_the_reference_is_taken(layout: Layout) -> None:
    rng = np.random.default_rng(7)
    R, _ = equations(layout.size, 12, rng)
    reference, truth = possible_vector(layout, rng), possible_vector(layout, rng)
    possible = feasible_set(layout, reference)
    fit = fit_feasible(R, R @ truth, possible)
    assert np.linalg.norm(R @ (fit.parameters - truth)) < 1e-6 * np.linalg.norm(R @ truth)
    x = cp.Variable(layout.size)
    T, s = possible.metric, possible.scales
    inside = [
        sum(x[10 * k + i] * pseudo_inertia(np.eye(10)[i]) for i in range(10)) >> 0
        for k in range(len(layout.links))
    ]
    rows = np.linalg.svd(R * s)[2][:12]
    inside += [rows @ x == rows @ (truth / s), x[possible.constraints.bounded] >= 0]
    best = cp.Problem(cp.Minimize(cp.norm(T @ (x - reference / s))), inside).solve(solver=cp.CLARABEL)
    assert fit.distance == pytest.approx(best, rel=1e-4)
    assert fit.distance < possible.distance(truth, reference)


def test_bounds_and_known_parameters_hold(layout: Layout) -> None:
    rng = np.random.default_rng(8)
    fixed = layout.fixing({"link1.m": 3.0, "joint1.viscous": 0.2})
    R, r = equations(layout.size, layout.size, rng)
    upper = np.full(layout.size, np.inf)
    upper[layout.index("link2.m")] = 0.5
    lower = np.full(layout.size, -np.inf)
    lower[layout.index("joint2.rotor")] = 0.3
    fit = fit_feasible(R, r, feasible_set(fixed, possible_vector(layout, rng), lower=lower, upper=upper))
    values = dict(zip(layout.names, fit.parameters, strict=True))
    assert values["link1.m"] == pytest.approx(3.0, rel=1e-12)
    assert values["joint1.viscous"] == pytest.approx(0.2, rel=1e-12)
    assert values["link2.m"] <= 0.5 * (1 + 1e-9)
    assert values["joint2.rotor"] >= 0.3 * (1 - 1e-9)
    assert check_parameters(fixed, fit.parameters).consistent


def test_bounds_that_no_body_satisfies_are_reported_as_such(layout: Layout) -> None:
    upper, lower = np.full(layout.size, np.inf), np.full(layout.size, -np.inf)
    upper[layout.index("link1.m")] = 1e-3
    upper[layout.index("link1.Ixx")] = upper[layout.index("link1.Iyy")] = 1e-3
    lower[layout.index("link1.mz")] = 5.0
    R, r = equations(layout.size, layout.size, np.random.default_rng(9))
    with pytest.raises(NoSolutionError, match="no best possible vector"):
        fit_feasible(R, r, feasible_set(layout, lower=lower, upper=upper))
    with pytest.raises(InputError, match="no room"):
        feasible_set(layout, lower=np.full(layout.size, 1.0), upper=np.full(layout.size, 0.5))


def test_a_floor_keeps_every_link_away_from_the_edge(layout: Layout) -> None:
    rng = np.random.default_rng(10)
    R, r = equations(layout.size, layout.size, rng)
    possible = feasible_set(layout, possible_vector(layout, rng), floor=0.02)
    x = fit_feasible(R, r, possible).parameters / possible.scales
    for k in range(len(layout.links)):
        assert np.linalg.eigvalsh(pseudo_inertia(x[10 * k : 10 * k + 10]))[0] >= 0.02 * (1 - 1e-9)


def test_the_link_that_cannot_exist_is_named_and_possible_ones_are_not(layout: Layout) -> None:
    rng = np.random.default_rng(11)
    truth = possible_vector(layout, rng)
    truth[10:20] = [1.0, 0, 0, 0, 1.0, 0, 0.1, 0, 0, 0.1]  # Breaks the triangle inequality.
    R = rng.normal(size=(layout.size, layout.size))
    fit = fit_feasible(R, R @ truth, feasible_set(layout, possible_vector(layout, rng)))
    assert "link2" in fit.active
    inside = possible_vector(layout, rng)
    assert fit_feasible(R, R @ inside, feasible_set(layout)).active == {}


def test_fitted_to_a_vector_it_is_the_closed_form_projection_of_each_link(layout: Layout) -> None:
    rng = np.random.default_rng(12)
    possible = feasible_set(layout, possible_vector(layout, rng))
    phi = possible_vector(layout, rng)
    phi[10:20] = [1.0, 0, 0.2, 0, 1.0, 0, 0.1, 0, 0, 0.1]
    phi[layout.index("joint1.coulomb")] = -0.4
    x = phi / possible.scales
    expected = x.copy()
    expected[10:20] = nearest_consistent(x[10:20], length=1.0)
    expected[layout.index("joint1.coulomb")] = 0.0
    near = fit_feasible(possible.metric / possible.scales, possible.metric @ x, possible).parameters
    np.testing.assert_allclose(near / possible.scales, expected, atol=2e-4 * np.abs(expected).max())
    assert check_parameters(layout, near).consistent


@pytest.mark.parametrize("name", ["two_link", "panda", "ur10e"])
def test_base_parameters_of_a_possible_robot_get_possible_links_with_the_same_torques(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    base = structural_identifiability(robot, layout).base
    truth = possible_vector(layout, np.random.default_rng(13))
    found = full_set(base, base.matrix @ truth, feasible_set(layout))
    assert found.same
    assert found.reason == ""
    np.testing.assert_allclose(base.matrix @ found.parameters, base.matrix @ truth, rtol=1e-9, atol=1e-9)
    assert check_parameters(layout, found.parameters).consistent


def test_base_parameters_no_robot_can_have_are_refused_with_the_reason() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    base = structural_identifiability(robot, layout).base
    truth = layout.complete_nominal()
    beta = base.matrix @ truth
    beta[base.names.index("panda_joint4.coulomb")] = -2.0
    found = full_set(base, beta, feasible_set(layout))
    assert not found.same
    assert found.change > 1e-3
    assert "panda_joint4.coulomb" in found.reason
    assert check_parameters(layout, found.parameters).consistent
    np.testing.assert_allclose(found.values, base.matrix @ found.parameters)


def test_links_nothing_is_known_of_are_named_and_start_as_a_ball() -> None:
    layout = layout_of(zoo_robot("two_link"))
    blank = replace(layout, parameters=tuple(replace(p, nominal=None) for p in layout.parameters))
    possible = feasible_set(blank)
    assert possible.unknown == layout.links
    assert possible.reference[0] == BALL[0]
    assert check_parameters(blank, possible.reference).consistent
