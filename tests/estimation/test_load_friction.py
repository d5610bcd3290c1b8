"""Friction that grows with the load: found with the links that make it, judged by a general solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics, rigid_torque, torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import linearised, with_full_set
from steelyard.estimation.linear import fit_weighted
from steelyard.estimation.load_friction import fit_load_friction
from steelyard.estimation.physical import fit_lmi
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem, problem_of
from steelyard.robot import Robot
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import coloured, exact_log, exact_problem

TERMS = ("viscous", "coulomb", "offset", "rotor", "load")
LOADS = (0.18, 0.07, 0.12, 0.05, 0.2, 0.1, 0.15)


def loaded_layout(robot: Robot, loads: tuple[float, ...] = LOADS) -> tuple[Layout, Array]:
    """A layout with load friction, and parameters in which every drive term is there."""
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    for joint, load in zip(layout.joints, loads, strict=False):
        for term, value in zip(TERMS, (0.5, 0.8, 0.1, 0.05, load), strict=True):
            phi[layout.index(f"{joint}.{term}")] = value
    return layout, phi


def loaded_problem(
    name: str, level: float = 0.0, seed: int = 1, samples: int = 1500, loads: tuple[float, ...] = LOADS
) -> tuple[Problem, Array]:
    """A problem with load friction and noise in shares of each joint's torque, and its true parameters."""
    robot = zoo_robot(name)
    layout, phi = loaded_layout(robot, loads)
    log = exact_log(robot, layout, phi, samples=samples)
    tau = log.channels["tau"]
    noise = coloured(np.random.default_rng(seed), samples, level * tau.std(axis=0), 0.3)
    return problem_of(robot, layout, [log.with_channels(tau=tau + noise)], prior=phi), phi


@pytest.mark.parametrize("name", ["two_link", "ur10e"])
def test_noise_free_data_gives_the_truth_to_1e_8(name: str) -> None:
    problem, phi = loaded_problem(name)
    estimate = fit_load_friction(problem)
    np.testing.assert_allclose(estimate.values, problem.base.matrix @ phi, atol=1e-8)
    at = problem.samples
    predicted = inverse_dynamics(problem.robot, problem.layout, estimate.representative, at.q, at.v, at.a)
    np.testing.assert_allclose(predicted, at.tau, atol=1e-8)


def test_its_minimum_is_that_of_a_general_solver() -> None:
    problem, phi = loaded_problem("two_link", level=0.03)
    estimate = fit_load_friction(problem)
    at, w, base = problem.samples, estimate.weights, problem.base
    assert w is not None

    def left(beta: Array) -> Array:
        full = np.zeros(problem.layout.size)
        full[base.columns] = beta
        tau = inverse_dynamics(problem.robot, problem.layout, full, at.q, at.v, at.a)
        return np.asarray(((tau - at.tau) * w).ravel())

    judge = scipy.optimize.least_squares(left, base.matrix @ phi, x_scale="jac", xtol=1e-12, ftol=1e-12)
    assert 0.5 * (left(estimate.values) ** 2).sum() <= judge.cost * (1 + 1e-7)
    np.testing.assert_array_less(np.abs(estimate.values - judge.x), 0.02 * estimate.deviations)


def test_intervals_of_parameters_and_loads_cover() -> None:
    z = []
    for seed in range(30):
        problem, phi = loaded_problem("two_link", level=0.02, seed=seed, samples=600)
        estimate = fit_load_friction(problem)
        z.append((estimate.values - problem.base.matrix @ phi) / estimate.deviations)
    assert 0.91 < (np.abs(z) < 1.96).mean() < 0.98


def test_a_plant_of_other_code_with_load_friction_is_identified() -> None:
    robot = zoo_robot("two_link")
    drive = Drive(viscous=0.4, coulomb=0.6, offset=0.05, rotor=0.03, load=0.15)
    driven = replace(robot, joints=tuple(replace(joint, drive=drive) for joint in robot.joints))
    layout = layout_of(driven, TERMS)
    log = simulate_motion(driven, random_fourier(robot, np.random.default_rng(2)), rate=200.0)
    problem = problem_of(driven, layout, [log])
    truth = problem.base.matrix @ layout.complete_nominal()
    estimate = fit_load_friction(problem)
    np.testing.assert_allclose(estimate.values, truth, atol=1e-6)
    linear = layout_of(driven, TERMS[:-1])
    without = fit_weighted(problem_of(driven, linear, [log]))
    assert without.residual.max() > 0.05 > 1e4 * estimate.residual.max()


def test_the_base_is_all_that_the_torque_depends_on() -> None:
    problem, phi = loaded_problem("ur10e", samples=50)
    rng, at = np.random.default_rng(3), problem.samples
    K, _, V = problem.base.matrix, *np.linalg.svd(problem.base.matrix)[1:]
    unseen = V[len(K) :].T @ rng.normal(size=len(V) - len(K))
    tau = [inverse_dynamics(problem.robot, problem.layout, p, at.q, at.v, at.a) for p in (phi, phi + unseen)]
    np.testing.assert_allclose(*tau, atol=1e-9)


def test_load_friction_shows_a_rotor_apart_from_its_link() -> None:
    robot = zoo_robot("two_link")
    layout, _ = loaded_layout(robot)
    loaded = problem_of(robot, layout, [exact_log(robot, *loaded_layout(robot))])
    linear = problem_of(robot, layout_of(robot, TERMS[:-1]), [exact_log(robot, *loaded_layout(robot))])
    assert loaded.base.count == linear.base.count + 2 + 1
    assert "joint1.rotor" in loaded.base.names


def test_where_it_is_zero_the_rotor_has_no_interval_and_a_finding_says_so() -> None:
    problem, _ = loaded_problem("two_link", level=0.02, loads=(0.0, 0.1))
    estimate = fit_load_friction(problem, on_blind="infinite")
    assert np.isinf(estimate.deviations[problem.base.names.index("joint1.rotor")])
    assert np.isfinite(estimate.deviations[problem.base.names.index("joint1.load")])
    assert {("load-friction-near-zero", "joint1.load")} == {(f.code, f.place) for f in estimate.findings}
    with pytest.raises(NoSolutionError, match=r"joint1\.rotor|link1\.Izz|link1\.Iyy"):
        fit_load_friction(loaded_problem("two_link", loads=(0.0, 0.1))[0])


def test_a_joint_that_stands_hides_its_coefficient() -> None:
    problem, _ = loaded_problem("two_link")
    at = problem.samples
    v, a = np.array(at.v), np.array(at.a)
    v[:, 1] = a[:, 1] = 0.0
    held = replace(problem, evidence=replace(at, v=v, a=a), compressed=None)
    with pytest.raises(NoSolutionError, match=r"joint2\.load"):
        fit_load_friction(held)
    estimate = fit_load_friction(held, on_blind="infinite")
    assert np.isinf(estimate.deviations[problem.base.names.index("joint2.load")])
    assert ("hidden-load-friction", "joint2.load") in {(f.code, f.place) for f in estimate.findings}


def test_a_known_coefficient_is_kept() -> None:
    problem, phi = loaded_problem("two_link")
    layout = problem.layout.fixing({"joint2.load": LOADS[1], "link2.m": phi[problem.layout.index("link2.m")]})
    known = replace(problem, layout=layout, compressed=None)
    assert "joint2.load" not in known.base.names
    estimate = fit_load_friction(known)
    np.testing.assert_allclose(estimate.values, known.base.matrix @ phi, atol=1e-8)


def test_what_no_gear_has_is_left_out_at_its_joint_and_said() -> None:
    problem, phi = loaded_problem("two_link", level=0.01, loads=(0.1, 1.3))
    estimate = fit_load_friction(problem, on_blind="infinite")
    layout = estimate.layout
    assert layout.parameters[layout.index("joint2.load")].fixed
    assert estimate.representative[layout.index("joint2.load")] == 0.0
    (finding,) = [x for x in estimate.findings if x.code == "load-friction-left-out"]
    assert finding.place == "joint2.load"
    assert "gives 1.3" in finding.message
    first = layout.index("joint1.load")
    assert estimate.representative[first] == pytest.approx(phi[first], abs=0.1)
    stated = replace(problem, layout=layout, compressed=None)
    again = fit_load_friction(stated, on_blind="infinite")
    # Both settle by the loss, from different starts.
    assert (np.abs(again.values - estimate.values) <= 1e-3 * again.deviations).all()
    assert "load-friction-left-out" not in {x.code for x in again.findings}


def test_possible_links_predict_the_same_torques() -> None:
    problem, _ = loaded_problem("two_link")
    found = fit_load_friction(problem)
    estimate = with_full_set(linearised(problem, found), found)
    assert estimate.parameters is not None
    assert estimate.detail["full_set"]["same_torques"]  # type: ignore[index]
    at = problem.samples
    tau = inverse_dynamics(problem.robot, problem.layout, estimate.parameters, at.q, at.v, at.a)
    np.testing.assert_allclose(tau, at.tau, atol=1e-7)


def test_the_linearised_question_has_the_estimate_for_its_answer_and_the_slope_of_the_torque() -> None:
    problem, _ = loaded_problem("two_link", level=0.02)
    found = fit_load_friction(problem)
    linear = linearised(problem, found)
    R = linear.base_factor(found.weights)
    answer = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=None)[0]
    np.testing.assert_array_less(np.abs(answer - found.values), 1e-2 * found.deviations)
    at, phi = problem.samples, found.representative
    load = rigid_torque(problem.robot, problem.layout, phi, at.q, at.v, at.a)
    Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a, load=load)
    step = np.random.default_rng(0).normal(size=phi.size)
    slope = [
        inverse_dynamics(problem.robot, problem.layout, phi + s * step, at.q, at.v, at.a)
        for s in (-1e-6, 1e-6)
    ]
    J = linear.compressed.factor()[:, :-1]
    measured = np.linalg.norm((slope[1] - slope[0]) / 2e-6)
    assert np.linalg.norm(J @ step) == pytest.approx(measured, rel=1e-3)
    assert np.linalg.norm(Y @ step) != pytest.approx(measured, rel=1e-3)


def test_estimators_of_possible_links_take_the_linearised_question() -> None:
    problem, phi = loaded_problem("two_link", level=0.02)
    found = fit_load_friction(problem)
    possible = fit_lmi(linearised(problem, found), weights=found.weights)
    np.testing.assert_array_less(np.abs(possible.values - problem.base.matrix @ phi), 5.0 * found.deviations)


def test_linear_questions_and_estimators_that_need_them_are_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="no term 'load'"):
        fit_load_friction(exact_problem("two_link")[0])
    problem, _ = loaded_problem("two_link", samples=100)
    with pytest.raises(InputError, match="Leave 'load' out"):
        fit_weighted(problem)
