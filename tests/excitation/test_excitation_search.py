"""The search: optimal to first order, one seed one motion, interruptible, honest when infeasible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from excitation.small_designs import TABLE, TOOL, med7, problem_of, two_link
from steelyard.errors import InputError, NoSolutionError
from steelyard.excitation import (
    DesignProblem,
    Progress,
    SearchBudget,
    design,
    fourier_family,
    payload_columns,
    robot_columns,
)
from steelyard.excitation.columns import proximal_base
from steelyard.excitation.interior_point import Iterate, _factorised, _learn, minimise_within_limits
from steelyard.excitation.local_search import Searcher, random_unknowns
from steelyard.identifiable import Criterion, score
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.limits import clearance_of
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.robot import Capsule, Geometry
from steelyard.zoo import zoo_robot


def rounds(count: int) -> SearchBudget:
    return SearchBudget(seconds=None, rounds=count)


def test_two_harmonics_leave_a_motion_from_rest_to_rest_and_one_leaves_none() -> None:
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(0), harmonics=2, period=4.0)
    assert fourier_family(robot, harmonics=2, period=4.0).sine.shape == motion.sine.shape
    ends = motion.sample(np.array([0.0, 4.0]))
    np.testing.assert_allclose(ends.v, 0.0, atol=1e-12)
    assert np.ptp(motion.sample(np.linspace(0.0, 4.0, 50)).q, axis=0).min() > 0.1
    with pytest.raises(InputError, match="at least 2, got 1"):
        fourier_family(robot, harmonics=1)


def test_the_method_finds_the_minimum_of_a_quadratic_in_a_box_as_another_solver_does() -> None:
    searcher = Searcher(two_link())
    limits, shape = searcher.limits, searcher.unknowns.shape
    rng = np.random.default_rng(0)
    A, target = rng.standard_normal((12, 12))[:, : shape[0] * shape[1]], 2.0 * rng.standard_normal(12)
    H = A.T @ A + 0.1 * np.eye(A.shape[1])

    def f(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = x.ravel()
        return float(0.5 * z @ H @ z - (A.T @ target) @ z), (H @ z - A.T @ target).reshape(shape)

    iterate = Iterate(np.zeros(shape))
    for weight in (1e-2, 1e-4, 1e-6, 1e-8):
        minimise_within_limits(f, limits, iterate, weight, tolerance=1e-10, iterations=300)
    rows = [
        {"type": "ineq", "fun": lambda z, s=side: (1.0 - s * limits.values(z.reshape(shape))).ravel()}
        for side in (1.0, -1.0)
    ]
    judge = minimize(lambda z: f(z)[0], np.zeros(H.shape[0]), constraints=rows, tol=1e-10, method="SLSQP")
    assert np.abs(limits.values(iterate.x)).max() > 0.99
    assert f(iterate.x)[0] == pytest.approx(judge.fun, rel=1e-4)


@pytest.mark.parametrize("steep", [1e200, 1e308, np.inf, np.nan])
def test_a_function_that_bends_beyond_numbers_ends_the_search_where_it_is(steep: float) -> None:
    searcher = Searcher(two_link())
    shape = searcher.unknowns.shape

    def f(x: np.ndarray) -> tuple[float, np.ndarray]:
        # At the start it is as steep as told, everywhere else it is higher.
        return (0.0 if not x.any() else 1.0), np.full(shape, steep)

    iterate = Iterate(np.zeros(shape))
    with np.errstate(all="ignore"):
        minimise_within_limits(f, searcher.limits, iterate, 1e-2, tolerance=1e-10, iterations=50)
    assert np.isfinite(iterate.x).all()
    assert np.abs(searcher.limits.values(iterate.x)).max() < 1.0


@pytest.mark.parametrize("diagonal", [[-1.0, -2.0, 0.5], [-1e-3, -1e200, 1.0], [0.0, 0.0, 0.0]])
def test_a_curvature_that_is_not_positive_definite_is_raised_until_it_is(diagonal: list[float]) -> None:
    K = np.diag(diagonal)
    factor, lower = _factorised(K)
    assert lower
    raised = np.tril(factor) @ np.tril(factor).T - K
    assert raised[0, 0] >= -min(diagonal)
    np.testing.assert_allclose(raised, raised[0, 0] * np.eye(3), rtol=1e-9)


@pytest.mark.parametrize("curved", [3.0, 0.3, 0.1, -2.0])
def test_the_learnt_curvature_is_that_along_the_step_or_a_fifth_of_what_was_believed(curved: float) -> None:
    r"""Powell's damping: $s^T H_+ s = \max(s^T t, s^T H s / 5)$, so H stays positive definite."""
    rng = np.random.default_rng(0)
    factor, s, across = rng.standard_normal((6, 6)), rng.standard_normal(6), rng.standard_normal(6)
    H = factor @ factor.T + np.eye(6)
    believed = s @ H @ s
    t = curved * believed * s / (s @ s) + 0.1 * (across - s * (across @ s) / (s @ s))
    iterate = Iterate(np.zeros((2, 3)), curvature=H)
    _learn(iterate, s.reshape(2, 3), t.reshape(2, 3))
    assert iterate.curvature is not None
    assert s @ iterate.curvature @ s == pytest.approx(max(curved, 0.2) * believed)
    assert np.linalg.eigvalsh(iterate.curvature).min() > 0.0
    if curved > 0.2:
        np.testing.assert_allclose(iterate.curvature @ s, t, atol=1e-9 * np.abs(t).max())


def test_the_end_of_a_search_meets_the_conditions_of_optimality() -> None:
    """The gradient is a combination, with weights of the right sign, of those of reached limits."""
    searcher = Searcher(replace(two_link(), criterion="a"))
    x = random_unknowns(searcher, np.random.default_rng(1))
    assert x is not None
    iterate = Iterate(searcher.search(x).x)
    last = searcher.stages[-1]
    minimise_within_limits(
        searcher.function(last), searcher.limits, iterate, last.barrier, tolerance=1e-10, iterations=500
    )
    found = iterate.x
    gradient = searcher.function(searcher.stages[-1])(found)[1]
    y = searcher.limits.values(found)
    reached = np.argwhere(np.abs(y) > 0.99)
    pulls = []
    for j, row in reached:
        weights = np.zeros_like(y)
        weights[j, row] = np.sign(y[j, row])
        pulls.append(searcher.limits.pull(weights).ravel())
    left = nnls(np.array(pulls).T, -gradient.ravel())[1]
    start = searcher.function(searcher.stages[-1])(x)[1]
    assert left < 0.01 * np.linalg.norm(start)


@pytest.mark.parametrize("criterion", ["cond", "a", "d", "e", "rc-free"])
def test_a_design_beats_the_best_of_many_random_motions(criterion: str) -> None:
    asked = replace(two_link(), criterion=criterion)
    searcher = Searcher(asked)
    found = design(asked, rounds(2), np.random.default_rng(0), workers=1)
    values = []
    for seed in range(50):
        motion = random_fourier(
            asked.robot, np.random.default_rng(seed), harmonics=4, period=4.0, start=asked.start, fraction=1.0
        )
        values.append(score(criterion, searcher.objective.information(motion)).value)
    if asked.criterion.maximised:
        assert found.value > max(values)
    else:
        assert found.value < min(values)


def test_r_c_is_never_below_the_condition_number() -> None:
    searcher = Searcher(two_link())
    for seed in range(20):
        x = random_unknowns(searcher, np.random.default_rng(seed))
        assert x is not None
        information = searcher.objective.information(searcher.unknowns.motion(x))
        cond = score("cond", information).value
        assert score("rc", information).value >= cond
        assert score("rc-free", information).value >= cond


def test_the_same_seed_gives_the_same_bits_on_one_worker_and_on_two() -> None:
    asked = two_link()
    alone = design(asked, rounds(7), np.random.default_rng(4), workers=1)
    pair = design(asked, rounds(7), np.random.default_rng(4), workers=2)
    other = design(asked, rounds(7), np.random.default_rng(5), workers=1)
    assert alone.motion.digest == pair.motion.digest
    assert alone.motion.digest != other.motion.digest
    assert [p.best for p in alone.history] == [p.best for p in pair.history]


def test_a_time_budget_is_replayed_by_its_number_of_rounds() -> None:
    timed = design(two_link(), SearchBudget(seconds=1.0), np.random.default_rng(2), workers=1)
    again = design(two_link(), rounds(timed.rounds), np.random.default_rng(2), workers=1)
    assert timed.motion.digest == again.motion.digest


def test_more_rounds_are_never_worse() -> None:
    found = design(two_link(), rounds(8), np.random.default_rng(0), workers=1)
    best = [progress.best for progress in found.history]
    assert best == sorted(best, reverse=True)
    assert found.value == best[-1]
    assert found.rounds == 8


def test_an_interruption_keeps_the_best_so_far() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.rounds == 2:
            raise KeyboardInterrupt

    found = design(two_link(), rounds(50), np.random.default_rng(0), workers=1, progress=interrupt)
    assert found.interrupted
    assert found.rounds == 2
    assert np.isfinite(found.value)


def test_what_is_already_recorded_shifts_the_design_to_what_is_missing() -> None:
    """After data that knows one joint's drive by heart, a design spends its effort on the rest."""
    asked = replace(two_link(), criterion="a")
    searcher = Searcher(asked)
    first = design(asked, rounds(2), np.random.default_rng(0), workers=1)
    recorded = np.zeros((asked.layout.size, asked.layout.size))
    known = [k for k, name in enumerate(asked.layout.names) if "viscous" in name or "coulomb" in name]
    recorded[known, known] = 1e6
    told = replace(asked, recorded=recorded)
    second = design(told, rounds(2), np.random.default_rng(0), workers=1)

    def after(motion) -> float:
        return score("a", Searcher(told).objective.information(motion)).value

    assert after(second.motion) < after(first.motion)
    assert score("a", searcher.objective.information(second.motion)).value > first.value


def test_base_columns_span_what_the_numerical_base_spans_proximal_first() -> None:
    robot = zoo_robot("lbr_med7")
    layout, base = robot_columns(robot)
    assert base.count == 57
    # The layout holds what else the description states; it is known, and not asked about.
    known = {x.name: 0.0 for x in layout.parameters if x.term in ("rotor", "offset")}
    peer = numerical_base(robot, layout.fixing(known), np.random.default_rng(3))
    assert base.count == peer.count
    # Both maps have the same row space, and K is the identity in its own columns.
    joint = np.linalg.matrix_rank(np.vstack([base.matrix, peer.matrix]))
    assert joint == base.count
    np.testing.assert_allclose(base.matrix[:, base.columns], np.eye(base.count), atol=1e-12)
    # No set of independent columns begins earlier.
    assert (np.sort(base.columns) <= np.sort(peer.columns)).all()


def test_a_payload_design_is_judged_by_its_ten_parameters() -> None:
    robot = zoo_robot("lbr_med7")
    layout, base = payload_columns(robot)
    assert base.count == 10
    assert all(name.startswith("lbr_link_7.") for name in base.names)
    found = design(
        DesignProblem(robot, fourier_family(robot, 3, 6.0), layout, base, start=np.zeros(7)),
        rounds(1),
        np.random.default_rng(0),
        workers=1,
    )
    assert len(found.columns) == 10
    assert np.isfinite(found.cond)


def test_asking_about_nothing_that_shows_is_refused() -> None:
    robot = zoo_robot("one_link")
    layout = layout_of(robot)
    with pytest.raises(InputError, match="none of the parameters shows"):
        proximal_base(robot, layout, np.random.default_rng(0), [layout.names[0]])


def test_a_start_outside_the_limits_names_the_joint() -> None:
    asked = replace(two_link(), start=np.array([0.0, 100.0]))
    with pytest.raises(NoSolutionError, match="not strictly inside its limits") as error:
        design(asked, rounds(1), np.random.default_rng(0), workers=1)
    assert asked.robot.joint_names[1] in error.value.place


def test_a_tool_inside_a_link_names_the_pair() -> None:
    robot = zoo_robot("lbr_med7")
    inside = (Geometry(Capsule(0.03, 0.2), Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, -0.2))),)
    asked = problem_of(robot, clearance=clearance_of(robot, TABLE, tool=inside))
    with pytest.raises(NoSolutionError, match="the tool is inside the robot") as error:
        design(asked, rounds(1), np.random.default_rng(0), workers=1)
    assert "tool" in error.value.place


def test_a_start_that_touches_the_table_names_both() -> None:
    robot = zoo_robot("lbr_med7")
    down = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    asked = problem_of(robot, clearance=clearance_of(robot, TABLE, tool=TOOL), start=down)
    with pytest.raises(NoSolutionError, match="at the start") as error:
        design(asked, rounds(1), np.random.default_rng(0), workers=1)
    assert "table" in error.value.place


def test_a_start_too_heavy_to_hold_names_the_joint() -> None:
    asked = two_link()
    phi = 1e4 * asked.layout.complete_nominal()
    with pytest.raises(NoSolutionError, match="holding the start takes"):
        design(
            replace(asked, parameters=phi, start=np.array([0.3, 0.4])),
            rounds(1),
            np.random.default_rng(0),
            workers=1,
        )


def test_too_few_samples_for_the_columns_are_refused() -> None:
    with pytest.raises(NoSolutionError, match="cannot show"):
        design(replace(med7(), rate=0.5), rounds(1), np.random.default_rng(0), workers=1)


def test_unknown_criteria_and_empty_budgets_are_refused() -> None:
    with pytest.raises(InputError, match="Valid: cond"):
        replace(two_link(), criterion="best")
    with pytest.raises(InputError, match="seconds or rounds"):
        SearchBudget(None, None)
    assert two_link().criterion is Criterion.COND
