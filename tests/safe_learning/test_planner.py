"""The planner: what it returns is certified, cheap, in time, and the same for the same seed."""

from __future__ import annotations

import itertools
import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from safe_learning.learning_arm import HIGHEST, HOME, LOWEST, setting
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import MotionLimits, Scene
from steelyard.limits.scene import Obstacle
from steelyard.motion import RecedingPlans
from steelyard.pose import Pose
from steelyard.robot import Sphere
from steelyard.safe_learning import GoalCost, SafeLearningConfig, WeightedCosts
from steelyard.safe_learning.checker import check_plan
from steelyard.safe_learning.planning.cost import PayloadExcitation
from steelyard.safe_learning.planning.search import Clock, PlannedMove, Planner, PlanSearch
from steelyard.uncertainty import PayloadBox

TABLE_I = PayloadBox.between(LOWEST, HIGHEST)
LOOKS = 120


def excitation(asked: SafeLearningConfig) -> PayloadExcitation:
    return PayloadExcitation(asked.arm.robot, asked.arm.held.link, asked.arm.held.to_link)


@cache
def planner(form: str = "clamped") -> Planner:
    asked = setting(form)
    return Planner(asked.certifier(TABLE_I), excitation(asked))


@cache
def plans() -> RecedingPlans:
    return setting().plans(HOME)


@cache
def found(form: str, seed: int) -> PlannedMove:
    return planner(form).best(plans(), np.random.default_rng(seed), budget=None, evaluations=LOOKS)


def condition(move: PlannedMove) -> float:
    """Of the regressor of the last link at 128 samples, by its singular values."""
    at = move.plan.motion.sample(np.linspace(0.0, move.plan.motion.duration, 128))
    W = excitation(setting()).rows(at.q, at.v, at.a).reshape(-1, 10)
    return float(np.linalg.cond(W))


@pytest.mark.parametrize("form", ["clamped", "componentwise"])
def test_certified_plans_show_the_payload_far_better_than_random_ones(form: str) -> None:
    """The comparison of Zhang et al. (2025), reduced: the full one is the study `certified_excitation`."""
    best = [condition(found(form, seed)) for seed in range(3)]
    drawn = [
        condition(planner(form).random(plans(), np.random.default_rng(seed), budget=None, evaluations=50))
        for seed in range(3)
    ]
    assert np.median(best) <= 25.0
    assert np.median(best) < 0.3 * np.median(drawn)


def test_what_is_returned_is_proven_and_the_independent_check_agrees() -> None:
    move, limits = found("clamped", 0), planner().certifier.limits
    assert move.certificate.motion.motion == move.plan.motion.digest
    check = check_plan(move.certificate, limits, move.plan.motion)
    assert min(check.position, check.velocity, check.acceleration, check.torque, check.clearance) >= 0.0


def test_a_plan_goes_on_from_the_state_at_the_switch_and_is_proven_too() -> None:
    first = found("clamped", 0).plan
    following = setting().plans(first)
    move = planner().best(following, np.random.default_rng(0), budget=None, evaluations=LOOKS)
    start = move.plan.motion.sample([0.0])
    for name in "qva":
        assert getattr(start, name) == pytest.approx(getattr(first.at_switch, name), abs=1e-12)
    assert move.certificate.torque_margins.min() >= 0.0


def test_the_same_seed_and_evaluations_give_the_same_plan_also_in_another_process() -> None:
    again = pickle.loads(pickle.dumps(planner()))
    family = pickle.loads(pickle.dumps(plans()))
    move = again.best(family, np.random.default_rng(0), budget=None, evaluations=LOOKS)
    assert move.plan.motion.digest == found("clamped", 0).plan.motion.digest
    assert (move.evaluations, move.tries) == (found("clamped", 0).evaluations, found("clamped", 0).tries)
    assert pickle.loads(pickle.dumps(move)).plan.motion.digest == move.plan.motion.digest


def test_more_evaluations_never_make_the_plan_worse() -> None:
    """The same starts are searched from in the same order."""
    longer = planner().best(plans(), np.random.default_rng(1), budget=None, evaluations=2 * LOOKS)
    assert longer.cost <= found("clamped", 1).cost


def test_a_goal_within_reach_is_reached_and_one_beyond_it_is_approached() -> None:
    near, far = HOME + 0.15, HOME + 3.0 * np.eye(7)[0]
    certifier = planner().certifier
    for goal, left in ((near, 0.03), (far, 3.0 - 1.15)):
        move = Planner(certifier, GoalCost(goal)).best(
            plans(), np.random.default_rng(0), budget=None, evaluations=60
        )
        end = move.plan.motion.sample([move.plan.motion.duration]).q[0]
        assert np.linalg.norm(end - goal) <= left
        assert move.cost == pytest.approx(float(((end - goal) ** 2).sum()))


def test_both_costs_together_give_up_some_of_each() -> None:
    goal = HOME + 0.15
    both = WeightedCosts(((1.0, excitation(setting())), (20.0, GoalCost(goal))))
    move = Planner(planner().certifier, both).best(
        plans(), np.random.default_rng(0), budget=None, evaluations=LOOKS
    )

    def missed(move: PlannedMove) -> float:
        return float(np.linalg.norm(move.plan.motion.sample([3.0]).q[0] - goal))

    assert missed(move) < missed(found("clamped", 0))
    assert condition(move) > condition(found("clamped", 0))


def test_the_budget_is_kept_and_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a millisecond whenever it is read."""
    ticks = itertools.count()
    monkeypatch.setattr(
        "steelyard.safe_learning.planning.search.time.perf_counter", lambda: 1e-3 * next(ticks)
    )
    move = planner().best(plans(), np.random.default_rng(0), budget=0.3)
    assert 0.2 < move.seconds <= 0.3


def test_where_nothing_is_certified_the_limit_in_the_way_is_named() -> None:
    asked = setting()
    wrist = Obstacle("ball", Sphere(0.4), Pose(np.eye(3), (0.45, 0.0, 0.4)))
    blocked = Planner(asked.among(Scene((wrist,))).certifier(TABLE_I), excitation(asked))
    for choose in (blocked.best, blocked.random):
        with pytest.raises(NoSolutionError, match=r"the clearance of .* was in the way") as refusal:
            choose(plans(), np.random.default_rng(0), budget=None, evaluations=30)
        assert "sphere 'ball'" in str(refusal.value)


def test_the_room_left_by_the_tube_keeps_ends_inside_the_limits() -> None:
    kept = planner().kept(plans())
    bounds: MotionLimits = planner().certifier.limits
    upper = bounds.robot.limit_array("upper")
    assert (kept.highest <= upper - planner().certifier.tube.position).all()
    assert (kept.lowest >= plans().lowest).all()


@pytest.mark.parametrize(("budget", "evaluations"), [(None, None), (0.0, None), (None, 0)])
def test_a_search_without_an_end_or_a_beginning_is_refused(
    budget: float | None, evaluations: int | None
) -> None:
    with pytest.raises(InputError):
        planner().best(plans(), np.random.default_rng(0), budget=budget, evaluations=evaluations)


def test_starts_that_keep_all_limits_are_ordered_by_cost_and_come_first() -> None:
    draws = np.arange(5.0)[:, None]
    cost, margin = np.array([3.0, 1.0, 2.0, 0.0, 0.0]), np.array([0.1, 0.2, 0.9, -0.5, -0.1])
    search = PlanSearch(
        SimpleNamespace(values=lambda k: cost[k[:, 0].astype(int)]),  # type: ignore[arg-type]
        SimpleNamespace(values=lambda k: margin[k[:, 0].astype(int), None]),  # type: ignore[arg-type]
        Clock(None, 10),
    )
    assert search.screened(draws)[:, 0].tolist() == [1.0, 2.0, 0.0, 4.0, 3.0]
