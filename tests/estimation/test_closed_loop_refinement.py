"""Closed-loop refinement of a small arm: recovery, the optimum by SciPy, outcomes, covariance."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares

from paper_004.closed_loop import search_box
from steelyard.control import FeedforwardPD
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation.closed_loop.constraints import Point, SearchBox
from steelyard.estimation.closed_loop.fit import fit_closed_loop_input
from steelyard.estimation.closed_loop.run import LoopRun, block_means
from steelyard.estimation.closed_loop.search import Refinement, RefinementOutcome
from steelyard.identifiable import MinimalModel, minimal_model, structural_identifiability
from steelyard.layout import layout_of
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot

CYCLE, AVERAGE = 2e-3, 10
ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ["viscous", "rotor"])
PLANT = layout_of(ROBOT, ["viscous", "coulomb", "rotor"])


@cache
def model() -> MinimalModel:
    return minimal_model(ROBOT, LAYOUT)


@cache
def loop() -> ClosedLoop:
    return ClosedLoop(FeedforwardPD(ROBOT, 1.0, 0.5, 400.0, 36.0, cycle=CYCLE), CYCLE, CYCLE)


@cache
def truth(coulomb: float = 0.0) -> np.ndarray:
    """The plant: friction that the model lacks, rotors and viscous friction that it has."""
    phi = np.array(PLANT.complete_nominal())
    for joint, rotor in zip(PLANT.joints, (0.12, 0.08), strict=True):
        phi[PLANT.index(f"{joint}.viscous")] = 0.6
        phi[PLANT.index(f"{joint}.rotor")] = rotor
        phi[PLANT.index(f"{joint}.coulomb")] = coulomb
    return phi


def true_beta() -> np.ndarray:
    return model().of_standard([truth()[PLANT.index(name)] for name in LAYOUT.names])


def sizes() -> np.ndarray:
    """By which the base parameters are compared, some of which are zero."""
    return np.maximum(np.abs(true_beta()), 0.2)


@cache
def references(cycles: int = 1500, seed: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    A, w, p = rng.uniform(0.2, 0.6, (3, 2)), rng.uniform(1, 6, (3, 2)), rng.uniform(0, 6, (3, 2))
    x = w * (CYCLE * np.arange(cycles))[:, None, None] + p
    return (A * np.sin(x)).sum(1), (A * w * np.cos(x)).sum(1), -(A * w * w * np.sin(x)).sum(1)


def run(coulomb: float = 0.0, noise: float = 0.0, seed: int = 0, refs_seed: int = 3) -> LoopRun:
    refs = references(seed=refs_seed)
    made = rollout(ROBOT, PLANT, truth(coulomb), *refs, loop())
    rng = np.random.default_rng(seed)
    signals = [x + noise * rng.normal(size=x.shape) for x in (made.tau, made.q, made.v)]
    return LoopRun(*refs, AVERAGE, *(block_means(x, AVERAGE) for x in signals))


def starts(seed: int, spread: float) -> np.ndarray:
    return true_beta() + spread * sizes() * np.random.default_rng(seed).uniform(-1, 1, model().size)


def simulated(beta: np.ndarray, of: LoopRun, signal: str = "tau") -> np.ndarray:
    """The judge's own way to the simulated blocks: the full vector, and a loop over blocks."""
    made = rollout(ROBOT, LAYOUT, model().standard(beta), of.q_ref, of.v_ref, of.a_ref, loop())
    x = getattr(made, signal)
    return np.array([x[k : k + AVERAGE].mean(axis=0) for k in range(0, len(x) - AVERAGE + 1, AVERAGE)])


@pytest.mark.parametrize("jacobian", ["exact", "didim", "differences"])
def test_data_of_the_model_itself_gives_its_parameters_back(jacobian: str) -> None:
    fit = fit_closed_loop_input(model(), [run()], loop(), starts(1, 0.3), jacobian=jacobian)
    assert fit.outcome is RefinementOutcome.CONVERGED
    assert not fit.reason
    np.testing.assert_allclose(fit.values, true_beta(), atol=1e-8 * np.abs(true_beta()).max())


@pytest.mark.parametrize("jacobian", ["exact", "didim", "differences"])
def test_with_friction_the_model_lacks_it_ends_where_scipy_ends(jacobian: str) -> None:
    log, weights = run(coulomb=0.3), np.array([1.0, 2.5])
    judged = least_squares(
        lambda beta: ((log.tau - simulated(beta, log)) * weights).ravel(),
        true_beta(),
        x_scale=sizes(),
        jac="3-point",
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
    )
    fit = fit_closed_loop_input(
        model(), [log], loop(), starts(4, 0.2), weights=weights, jacobian=jacobian, tolerance=1e-6
    )
    assert fit.converged
    assert np.abs(fit.values - true_beta()).max() > 1e-2, "the friction bends, or this shows nothing"
    np.testing.assert_allclose(fit.values, judged.x, atol=5e-5 * np.abs(judged.x).max())
    np.testing.assert_allclose(fit.rms, np.sqrt(2 * judged.cost / judged.fun.size), rtol=1e-7)


def test_several_runs_are_fitted_together() -> None:
    logs = [run(coulomb=0.3), run(coulomb=0.3, refs_seed=8).coarser(2)]
    apart = [fit_closed_loop_input(model(), [log], loop(), true_beta()) for log in logs]
    fit = fit_closed_loop_input(model(), logs, loop(), true_beta())
    assert fit.samples == sum(log.blocks for log in logs)

    def squares(of: Refinement) -> float:
        return of.rms**2 * of.samples * ROBOT.nv

    fine = logs[0].tau - simulated(fit.values, logs[0])
    coarse = logs[1].tau - simulated(fit.values, run(coulomb=0.3, refs_seed=8)).reshape(-1, 2, 2).mean(1)
    np.testing.assert_allclose(squares(fit), (fine**2).sum() + (coarse**2).sum(), rtol=1e-9)
    assert squares(fit) > sum(squares(one) for one in apart), "none is at its own optimum"


def test_a_box_is_kept_and_its_optimum_is_scipys() -> None:
    log, best = run(coulomb=0.3), fit_closed_loop_input(model(), [run(coulomb=0.3)], loop(), true_beta())
    lower, upper = best.values - 10.0, best.values + 10.0
    upper[0], lower[-1] = best.values[0] - 0.02, best.values[-1] + 0.05
    start = np.clip(true_beta(), lower, upper)
    judged = least_squares(
        lambda beta: (log.tau - simulated(beta, log)).ravel(),
        0.5 * (start + np.clip(best.values, lower + 1e-6, upper - 1e-6)),
        bounds=(lower, upper),
        xtol=1e-13,
        ftol=1e-13,
        gtol=1e-13,
    )
    fit = fit_closed_loop_input(
        model(), [log], loop(), true_beta(), constraint=SearchBox(lower, upper), tolerance=1e-6
    )
    assert fit.converged
    assert (fit.values >= lower).all()
    assert (fit.values <= upper).all()
    assert fit.values[0] == upper[0]
    assert fit.values[-1] == lower[-1]
    assert fit.detail["at_bounds"] == [model().names[0], model().names[-1]]
    assert fit.rms <= np.sqrt(2 * judged.cost / judged.fun.size) * (1 + 1e-9)
    np.testing.assert_allclose(fit.values, judged.x, atol=1e-3)


def test_the_papers_box_is_a_hundred_times_the_start_with_positive_rotors() -> None:
    start = true_beta()
    start[0] *= -1.0
    box = search_box(model(), start)
    rotors = [k for k, name in enumerate(model().names) if name.endswith(".rotor")]
    assert rotors
    for k, value in enumerate(start):
        width = 100 * abs(value) if value else np.inf
        assert box.upper[k] == value + width
        assert box.lower[k] == (0.0 if k in rotors else value - width)


def test_a_start_that_cannot_be_simulated_is_an_outcome_with_its_reason() -> None:
    start = true_beta()
    start[[k for k, name in enumerate(model().names) if ".I" in name]] *= -1.0
    for jacobian in ("exact", "didim", "differences"):
        fit = fit_closed_loop_input(model(), [run()], loop(), start, jacobian=jacobian)
        assert fit.outcome is RefinementOutcome.DIVERGED
        assert "positive definite" in fit.reason
        assert fit.covariance is None
        assert not fit.history.size
        assert np.isinf(fit.rms)
        np.testing.assert_array_equal(fit.values, start)


def test_a_start_that_cannot_be_simulated_may_be_moved_until_it_can() -> None:
    start = true_beta()
    start[[k for k, name in enumerate(model().names) if ".I" in name]] *= -1.0
    fit = fit_closed_loop_input(model(), [run()], loop(), start, approach=True)
    assert fit.converged
    assert fit.detail["approach"] > 0.0
    assert "positive definite" in fit.detail["approach_reason"]
    np.testing.assert_allclose(fit.values, true_beta(), atol=1e-8 * np.abs(true_beta()).max())
    near = fit_closed_loop_input(model(), [run()], loop(), starts(1, 0.1), approach=True)
    assert near.detail["approach"] == 0.0, "a start that can be simulated stays"


def test_a_budget_that_is_spent_is_an_outcome_with_its_reason() -> None:
    fit = fit_closed_loop_input(model(), [run(coulomb=0.3)], loop(), starts(5, 0.2), budget=1)
    assert fit.outcome is RefinementOutcome.BUDGET
    assert "1 steps" in fit.reason
    assert fit.iterations == 1


def test_a_search_that_finds_no_way_down_stalls_and_says_so() -> None:
    class Uphill:
        name = "uphill"

        def begin(self, beta, metric):
            return Point(beta)

        def best(self, matrix, target, at):
            step = np.linalg.lstsq(matrix, target, rcond=None)[0]
            return Point(at.beta - step)

    fit = fit_closed_loop_input(model(), [run()], loop(), starts(6, 0.2), constraint=Uphill())
    assert fit.outcome is RefinementOutcome.STALLED
    assert fit.reason
    assert len(fit.history) == 1


def test_steps_that_diverge_are_shortened_and_the_squares_never_rise() -> None:
    """From far away full steps lead to negative inertia; the search comes home all the same."""
    home = 0
    for seed in range(8):
        start = true_beta() * np.exp(1.5 * np.random.default_rng(seed).uniform(-1, 1, model().size))
        fit = fit_closed_loop_input(model(), [run(coulomb=0.1)], loop(), start, budget=60)
        assert (np.diff(fit.history) <= 0.0).all()
        home += fit.converged
        assert fit.converged or fit.reason
    assert home >= 6


def test_errors_over_deviations_have_unit_spread_under_white_noise() -> None:
    errors = []
    for seed in range(60):
        fit = fit_closed_loop_input(model(), [run(noise=0.05, seed=seed)], loop(), true_beta())
        errors.append((fit.values - true_beta()) / fit.deviations)
    np.testing.assert_allclose(np.std(errors), 1.0, atol=0.12)
    assert np.abs(np.mean(errors, axis=0)).max() < 4.0 / np.sqrt(60)


def test_what_a_motion_does_not_show_has_infinite_deviation_and_does_not_move() -> None:
    """An arm that hangs still shows neither friction nor inertia."""
    refs = tuple(np.zeros((400, 2)) for _ in range(3))
    made = rollout(ROBOT, PLANT, truth(), *refs, loop())
    log = LoopRun(*refs, AVERAGE, block_means(made.tau, AVERAGE))
    start = true_beta()
    fit = fit_closed_loop_input(model(), [log], loop(), start)
    assert np.isinf(fit.condition)
    hidden = [k for k, name in enumerate(model().names) if name.endswith(".viscous")]
    assert len(hidden) == 2
    assert np.isinf(fit.deviations[hidden]).all()
    np.testing.assert_array_equal(fit.values[hidden], start[hidden])


def test_the_same_question_gives_the_same_bits() -> None:
    one, two = (fit_closed_loop_input(model(), [run(coulomb=0.3)], loop(), starts(1, 0.2)) for _ in range(2))
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.history, two.history)


def test_a_refinement_is_an_estimate_that_predicts_the_same() -> None:
    fit = fit_closed_loop_input(model(), [run(coulomb=0.3)], loop(), true_beta())
    estimate = fit.estimate(structural_identifiability(ROBOT, LAYOUT).base)
    np.testing.assert_allclose(model().of_standard(estimate.representative), fit.values, rtol=1e-10)
    np.testing.assert_allclose(np.sort(estimate.deviations), np.sort(fit.deviations), rtol=1e-6)
    assert estimate.detail["outcome"] == "converged"


def test_what_does_not_fit_is_refused_by_name() -> None:
    log = run()
    for wrong in ({"jacobian": "guess"}, {"tolerance": 0.0}, {"budget": 0}, {"weights": [1.0, 0.0]}):
        with pytest.raises((InputError, UnknownNameError)):
            fit_closed_loop_input(model(), [log], loop(), true_beta(), **wrong)
    with pytest.raises(InputError, match="runs"):
        fit_closed_loop_input(model(), [], loop(), true_beta())
    with pytest.raises(InputError, match="start"):
        fit_closed_loop_input(model(), [log], loop(), true_beta()[:-1])
