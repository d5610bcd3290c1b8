"""Costs and margins of the planner: their derivatives, and that the room covers what the tube takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from safe_learning.learning_arm import HIGHEST, HOME, LOWEST, setting
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError, ShapeError, UnknownNameError
from steelyard.inertia import change_of_frame
from steelyard.limits import NotCertifiedError
from steelyard.motion import RecedingPlans
from steelyard.pose import Pose
from steelyard.safe_learning import GoalCost, WeightedCosts
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.cost import PayloadExcitation, PlanCost
from steelyard.safe_learning.planning.margins import STRETCHES, PlanMargins, radius_slopes
from steelyard.uncertainty import PayloadBox

TABLE_I = PayloadBox.between(LOWEST, HIGHEST)
ARM = setting().arm
EXCITATION = PayloadExcitation(ARM.robot, ARM.held.link)
POSE = Pose.from_rpy((0.3, -0.5, 0.2), (0.02, -0.03, 0.1))


@cache
def plans(moving: bool = False) -> RecedingPlans:
    family = setting().plans(HOME)
    return setting().plans(family.plan(np.full(7, 0.2))) if moving else family


def margins(form: str = "clamped") -> PlanMargins:
    return PlanMargins.of(setting(form).certifier(TABLE_I), plans())


def parameters(seed: int, size: float = 0.6) -> np.ndarray:
    return size * np.random.default_rng(seed).uniform(-1.0, 1.0, 7)


def differences(value: Callable[[np.ndarray], np.ndarray], k: np.ndarray, step: float = 1e-5) -> np.ndarray:
    rows = [(value(k + step * d) - value(k - step * d)) / (2.0 * step) for d in np.eye(len(k))]
    return np.stack(rows, axis=-1)


COSTS: dict[str, PlanCost] = {
    "excitation": EXCITATION,
    "in another frame": replace(EXCITATION, frame=change_of_frame(POSE)),
    "after other plans": replace(EXCITATION, shown=np.diag(np.linspace(0.1, 2.0, 10)), driven=True),
    "goal": GoalCost(HOME + 0.3),
    "both": WeightedCosts(((0.5, EXCITATION), (2.0, GoalCost(HOME - 0.2)))),
}


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("moving", [False, True])
def test_the_gradient_of_a_cost_is_that_of_its_values(name: str, moving: bool) -> None:
    cost = COSTS[name].of(plans(moving))
    for seed in range(3):
        k = parameters(seed)
        expected = differences(lambda x: cost.values(x[None])[0], k)
        assert cost.gradient(k) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    many = np.stack([parameters(seed) for seed in range(4)])
    assert cost.values(many) == pytest.approx([cost.values(k[None])[0] for k in many])


def test_the_rows_are_those_of_pinocchio() -> None:
    oracle = PinocchioRobot.of(ARM.robot)
    q, v, a = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 7))
    Y = oracle.regressor(q, v, a)
    assert EXCITATION.rows(q[None], v[None], a[None])[0] == pytest.approx(Y[:, -10:], abs=1e-12)


def test_the_condition_number_is_that_of_stacked_rows_and_earlier_plans_add_theirs() -> None:
    motions = [plans().plan(parameters(seed)).driven for seed in range(2)]
    W = []
    for motion in motions:
        at = motion.sample(np.linspace(0.0, motion.duration, 128))
        W.append(EXCITATION.rows(at.q, at.v, at.a).reshape(-1, 10))
    assert EXCITATION.condition(motions[0]) == pytest.approx(np.linalg.cond(W[0]), rel=1e-6)
    after = replace(EXCITATION, shown=EXCITATION.information(motions[0]))
    assert after.condition(motions[1]) == pytest.approx(np.linalg.cond(np.concatenate(W)), rel=1e-6)


def test_a_robot_that_stands_still_shows_too_little() -> None:
    still = plans().plan(np.zeros(7))
    assert EXCITATION.condition(still.motion) == np.inf
    cost = EXCITATION.of(plans())
    assert np.isfinite(cost.values(np.zeros((1, 7)))).all()
    assert not cost.gradient(np.zeros(7)).any()


@pytest.mark.parametrize("form", ["armour", "clamped", "componentwise"])
def test_the_derivatives_of_margins_are_those_of_their_values(form: str) -> None:
    """Where a joint passes through rest its Coulomb friction has no slope, and those margins are left out."""
    mine = margins(form)
    for seed in range(3):
        k = parameters(seed)
        mine.measure_room(k)
        values, slopes = mine.values(k[None])[0], mine.slopes(k)
        expected = differences(lambda x: mine.values(x[None])[0], k, 1e-6)
        _, v, _ = mine.samples.at(k[None])
        quick = np.append((np.abs(v) > 0.021).all(axis=1).repeat(7), np.ones(STRETCHES, dtype=bool))
        near = quick & (values < 0.39)
        assert near.sum() > 10
        assert slopes[near] == pytest.approx(expected[near], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("form", ["armour", "clamped", "componentwise"])
def test_the_slope_of_the_robust_radius_is_that_of_the_certified_bound(form: str) -> None:
    law = RobustLaw(form, 0.3)
    w = np.random.default_rng(0).uniform(0.1, 5.0, 7)
    expected = differences(lambda x: law.torque_bound(x), w)
    joint = np.arange(7)
    assert radius_slopes(law, np.tile(w, (7, 1)), joint) == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(radius_slopes(law, np.zeros((7, 7)), joint)).all()


@pytest.mark.parametrize("form", ["clamped", "componentwise"])
def test_no_state_of_the_tube_between_the_instants_has_less_left_than_the_margins_less_their_room(
    form: str,
) -> None:
    """States on the edge of the tube at random times; the law is written out."""
    mine, rng = margins(form), np.random.default_rng(0)
    certifier = mine.certifier
    dynamics, tube, effort = certifier.dynamics, certifier.tube, certifier.limits.bounds.effort
    columns = dynamics.layout.drive_columns[:, 1]
    for seed in range(3):
        k = parameters(seed, 0.4)
        mine.measure_room(k)
        least = mine.values(k[None])[0, : STRETCHES * 7].reshape(STRETCHES, 7)
        motion = plans().plan(k).motion
        t = rng.uniform(0.0, motion.duration, 2000)
        d, e, r = motion.sample(t), rng.standard_normal((2000, 7)), rng.standard_normal((2000, 7))
        e *= tube.radius / tube.kr / np.linalg.norm(e, axis=1, keepdims=True)
        r *= tube.radius / np.linalg.norm(r, axis=1, keepdims=True)
        v_a, a_a = d.v + tube.kr * e, d.a + tube.kr * (r - tube.kr * e)
        Y = passivity_regressor(dynamics.robot, dynamics.layout, d.q - e, v_a - r, v_a, a_a)
        s = np.clip(v_a / dynamics.rest_velocity, -1.0, 1.0)
        Y[:, np.arange(7), columns] = s
        idle = (dynamics.nominal + dynamics.half_widths)[columns] * (1.0 - np.abs(s))
        most = np.abs(Y @ dynamics.nominal)
        most += certifier.law.torque_bound(np.abs(Y) @ dynamics.half_widths + idle)
        left = 1.0 - most / effort
        stretch = np.minimum((t / motion.duration * STRETCHES).astype(int), STRETCHES - 1)
        assert (left >= least[stretch] - 1e-12).all()
        assert (left - least[stretch]).min() < 0.06


def test_a_refusal_takes_away_at_least_what_was_lacking_around_its_instant() -> None:
    mine, joint = margins(), ARM.robot.joint_names[2]
    k = parameters(0, 0.3)
    before = mine.values(k[None])[0, : STRETCHES * 7].reshape(STRETCHES, 7)
    words = {"kind": "torque", "name": joint, "instant": 1.5, "margin": -0.567, "broken": False, "remedy": ""}
    mine.learn(NotCertifiedError("", **words))
    lost = before - mine.values(k[None])[0, : STRETCHES * 7].reshape(STRETCHES, 7)
    assert (lost[:, 2] > 0.01).sum() in (2, 3)
    assert not np.delete(lost, 2, axis=1).any()
    assert np.abs(mine.samples.time[lost[:, 2] > 0.0] - 1.5).max() < 2.0 * 3.0 / STRETCHES


def test_what_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown link 'hand'"):
        PayloadExcitation(ARM.robot, "hand")
    with pytest.raises(ShapeError, match="frame"):
        replace(EXCITATION, frame=np.eye(6))
    with pytest.raises(ShapeError, match="goal"):
        GoalCost(np.zeros(6)).of(plans())
    with pytest.raises(InputError, match="weights of zero or more"):
        WeightedCosts(((-1.0, EXCITATION),))
