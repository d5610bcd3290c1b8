"""Two estimates: what moved is named, chance is not, and models that mean different things are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.model import Model, adjusted
from steelyard.model.comparison import compared
from steelyard.model.model import require_alike, torque_difference
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("panda")
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb"])
NAMES = [f"p{k}" for k in range(40)]


def _model(
    scale: float = 1.0, robot_name: str = "panda", drive: tuple[str, ...] = ("viscous", "coulomb")
) -> Model:
    robot = zoo_robot(robot_name)
    layout = layout_of(robot, drive)
    return Model(robot, layout, scale * layout.complete_nominal())


def test_holms_rule_is_that_of_his_step_down_test() -> None:
    # Levels 0.05/4, 0.05/3, 0.05/2: the third of 0.03 stops the walk although it is below 0.05 by itself.
    chances = adjusted(np.array([0.01, 0.04, 0.03, 0.005]))
    assert chances == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert ((chances <= 0.05) == [True, False, False, True]).all()
    assert adjusted(np.array([0.7, 0.9])).max() <= 1.0


def test_a_single_parameter_is_judged_by_the_normal_distribution() -> None:
    found = compared(["m"], np.array([1.0]), np.array([0.3]), np.array([2.0]), np.array([0.4]))
    (difference,) = found.moved
    assert difference.deviation == pytest.approx(0.5)
    assert difference.score == pytest.approx(2.0)
    assert difference.chance == pytest.approx(2.0 * scipy.stats.norm.cdf(-2.0))


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_where_nothing_moved_something_is_named_in_five_percent_of_cases_at_most(correlation: float) -> None:
    rng = np.random.default_rng(0)
    n, cases = len(NAMES), 1000
    named = 0
    deviations = rng.uniform(0.1, 10.0, n)
    root = np.linalg.cholesky((1 - correlation) * np.eye(n) + correlation)
    for _ in range(cases):
        a, b = (deviations * (root @ rng.standard_normal(n)) for _ in range(2))
        named += bool(compared(NAMES, a, deviations, b, deviations).moved)
    # Five percent of 1000, and four of its standard deviations.
    assert named / cases < 0.05 + 4 * np.sqrt(0.05 * 0.95 / cases)
    if correlation == 0.0:
        assert named / cases > 0.02, "a rule that names nothing is no rule"


def test_what_moved_is_named_the_clearest_first() -> None:
    rng = np.random.default_rng(1)
    deviations = np.full(len(NAMES), 0.1)
    a = rng.standard_normal(len(NAMES))
    b = a + 0.05 * rng.standard_normal(len(NAMES))
    b[[3, 17]] = a[[3, 17]] + [1.0, -2.0]
    found = compared(NAMES, a, deviations, b, deviations)
    assert [x.name for x in found.moved] == ["p17", "p3"]
    assert found.moved[0].change == pytest.approx(-2.0)
    assert {x.name for x in found.within} == set(NAMES) - {"p3", "p17"}


def test_what_one_of_them_does_not_know_is_neither_moved_nor_within() -> None:
    one = np.array([0.1, np.inf, 0.0])
    found = compared(["a", "b", "c"], np.zeros(3), one, np.array([0.0, 1e9, 0.0]), np.array([0.1, 0.1, 0.0]))
    assert found.unknown == ("b",)
    assert {x.name for x in found.within} == {"a", "c"}
    assert not found.moved


def test_exact_statements_moved_where_they_differ_by_more_than_round_off() -> None:
    zero = np.zeros(2)
    found = compared(["a", "b"], np.ones(2), zero, np.array([1.0 + 1e-12, 1.0 + 1e-6]), zero)
    assert [x.name for x in found.moved] == ["b"]
    assert found.moved[0].score == np.inf


@pytest.mark.parametrize(("level", "deviation"), [(0.0, 1.0), (1.0, 1.0), (0.95, -1.0), (0.95, np.nan)])
def test_levels_and_deviations_that_are_none_are_refused(level: float, deviation: float) -> None:
    with pytest.raises(InputError):
        compared(["a"], np.zeros(1), np.array([deviation]), np.zeros(1), np.ones(1), level=level)


def test_torques_are_linear_in_the_parameters_so_ten_percent_more_is_ten_percent_apart() -> None:
    same = torque_difference(_model(), _model(), np.random.default_rng(0))
    assert same.overall == 0.0
    more = torque_difference(_model(), _model(1.1), np.random.default_rng(0))
    assert more.overall == pytest.approx(10.0)
    assert more.joints == pytest.approx([10.0] * 7)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (_model(robot_name="lbr_med7"), "links differ"),
        (_model(drive=("viscous",)), "drive terms differ: coulomb"),
        (
            Model(ROBOT.with_gravity([0.0, 0.0, 0.0]), LAYOUT, LAYOUT.complete_nominal()),
            "gravity differs",
        ),
    ],
)
def test_models_whose_parameters_mean_different_things_are_refused(other: Model, message: str) -> None:
    require_alike(_model(), _model(1.1))
    with pytest.raises(InputError, match=message):
        require_alike(_model(), other)


def test_a_joint_that_stands_elsewhere_is_named() -> None:
    joints = list(ROBOT.joints)
    placement = joints[3].placement
    joints[3] = replace(joints[3], placement=replace(placement, translation=placement.translation + 1e-3))
    moved = Model(replace(ROBOT, joints=tuple(joints)), LAYOUT, LAYOUT.complete_nominal())
    with pytest.raises(InputError, match="'panda_joint4' is not the same"):
        require_alike(_model(), moved)
