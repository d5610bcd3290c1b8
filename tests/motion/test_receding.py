"""Plans of a receding horizon: they start where they must, stop, go on smoothly and keep limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from steelyard.errors import InputError, NoSolutionError
from steelyard.motion import extent, in_sequence
from steelyard.motion.receding_horizon import RecedingPlans
from steelyard.zoo import zoo_robot

JOINTS = ("a", "b", "c")
UNLIMITED = np.full(3, np.inf)
LEFT, RIGHT = np.array([0.5, 1.0, 2.0]), np.array([0.7, 0.1, 2.0])


def plans(seed: int = 0, **changes: object) -> RecedingPlans:
    rng = np.random.default_rng(seed)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 3))
    given: dict[str, object] = {"lowest": q - LEFT, "highest": q + RIGHT}
    return RecedingPlans(JOINTS, q, v, a, **(given | changes))  # type: ignore[arg-type]


def textbook(start: np.ndarray, end: float, T: float) -> Polynomial:
    """The quintic with a state at 0 and rest at T, from its six equations."""
    rows = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0]]
    i = np.arange(6.0)
    at_end = [T**i, i * T ** np.maximum(i - 1, 0), i * (i - 1) * T ** np.maximum(i - 2, 0)]
    return Polynomial(np.linalg.solve(np.array([*rows, *at_end]), [*start, end, 0.0, 0.0]))


@pytest.mark.parametrize("seed", range(5))
def test_a_plan_is_the_quintic_from_its_state_to_rest_at_the_end_its_parameter_chooses(seed: int) -> None:
    family = plans(seed)
    k = np.random.default_rng([seed, 1]).uniform(-1.0, 1.0, 3)
    motion = family.plan(k).motion
    t = np.linspace(0.0, 3.0, 50)
    for j in range(3):
        end = family.lowest[j] + (family.highest[j] - family.lowest[j]) * (1.0 + k[j]) / 2.0
        curve = textbook(np.array([family.q[j], family.v[j], family.a[j]]), end, 3.0)
        for order in range(3):
            assert motion.derivative(t, order)[:, j] == pytest.approx(curve.deriv(order)(t), abs=1e-11)


def test_the_ends_of_the_parameter_are_the_ends_stated() -> None:
    family = plans(3)
    for k, end in ((-1.0, family.lowest), (1.0, family.highest)):
        motion = family.plan(np.full(3, k)).motion
        assert (motion.sample([motion.duration]).q[0] == end).all()


@pytest.mark.parametrize("switch", [0.4, 1.5, 2.9])
def test_what_is_driven_and_the_brake_are_the_plan_cut_in_two(switch: float) -> None:
    plan = plans(4, switch=switch).plan([0.3, -0.9, 1.0])
    assert plan.driven.duration + plan.brake.duration == pytest.approx(3.0, abs=1e-15)
    for part, offset in ((plan.driven, 0.0), (plan.brake, switch)):
        t = np.linspace(0.0, part.duration, 40)
        for order in range(4):
            expected = plan.motion.derivative(np.minimum(t + offset, 3.0), order)
            assert part.derivative(t, order) == pytest.approx(expected, abs=1e-10)


def test_the_brake_ends_in_a_standstill_to_the_last_bit() -> None:
    for seed in range(20):
        plan = plans(seed, switch=1.1).plan(np.random.default_rng(seed).uniform(-1.0, 1.0, 3))
        for motion in (plan.motion, plan.brake):
            end = motion.sample([motion.duration])
            assert not end.v.any()
            assert not end.a.any()
        assert (plan.brake.control[:, -3:] == plan.motion.control[:, -3:]).all()


def test_position_velocity_and_acceleration_go_on_over_many_plans() -> None:
    rng = np.random.default_rng(8)
    plan = RecedingPlans.at_rest(JOINTS, [0.1, -0.4, 2.0], np.full(3, 1.0), robot="r").plan([1.0, -0.3, 0.5])
    driven = [plan.driven]
    for _ in range(6):
        plan = RecedingPlans.after(plan, np.full(3, 1.0)).plan(rng.uniform(-1.0, 1.0, 3))
        driven.append(plan.driven)
    whole = in_sequence([*driven, plan.brake])
    seams = whole.breaks[1:-1]
    for order, tight in enumerate((1e-13, 1e-12, 1e-11)):
        jump = whole.derivative(seams, order) - whole.derivative(np.nextafter(seams, 0.0), order)
        assert np.abs(jump).max() < tight
    assert (plan.motion.duration, plan.switch, plan.motion.robot) == (3.0, 1.5, "r")
    assert not whole.sample([whole.duration]).v.any()


def test_slopes_are_differences_in_the_parameter() -> None:
    family, k, t = plans(5), np.array([0.2, -0.5, 0.7]), np.linspace(0.0, 3.0, 31)
    slopes = family.slopes(t)
    for j in range(3):
        step = 0.25 * np.eye(3)[j]
        above, below = (family.plan(k + sign * step).motion.sample(t) for sign in (1.0, -1.0))
        for name in ("q", "v", "a"):
            # A plan is affine in its parameter: the difference is exact at any step.
            difference = (getattr(above, name) - getattr(below, name)) / 0.5
            expected = np.zeros_like(difference)
            expected[:, j] = getattr(slopes, name)[:, j]
            assert difference == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_every_plan_within_limits_keeps_them_and_hardly_any_end_is_lost(seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    q, v, a = rng.uniform(-0.5, 0.5, (3, 3))
    family = RecedingPlans(JOINTS, q, v, a, q - 9.0, q + 9.0)
    lower, upper = np.array([-1.0, -np.inf, -2.0]), np.array([1.5, np.inf, 2.0])
    velocity, acceleration = np.array([1.0, 0.8, 2.5]), np.array([np.inf, 2.0, 1.5])
    kept = family.within(lower, upper, velocity, acceleration)

    def worst(end: np.ndarray) -> np.ndarray:
        goes = extent(family.plan((end - q) / 9.0).motion)
        excess = [
            goes.upper - upper,
            lower - goes.lower,
            goes.velocity - velocity,
            goes.acceleration - acceleration,
        ]
        return np.max(excess, axis=0)

    for k in (-np.ones(3), np.ones(3), rng.uniform(-1.0, 1.0, 3)):
        end = kept.plan(k).motion.control[:, -1]
        assert (worst(end) <= 1e-6).all()
    beyond = 0.02 * (kept.highest - kept.lowest)
    assert (worst(kept.lowest - beyond) > 0.0).all()
    assert (worst(kept.highest + beyond) > 0.0).all()


def test_limits_leave_stated_ends_alone_where_they_do_not_matter() -> None:
    family = plans(6)
    kept = family.within(-UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED)
    assert (kept.lowest == family.lowest).all()
    assert (kept.highest == family.highest).all()


def test_the_first_plan_of_an_arm_reaches_as_far_as_speed_and_acceleration_let_it() -> None:
    # From rest to rest a quintic over T peaks at 15/8 of its mean speed and 10/√3 of d/T².
    robot = zoo_robot("kinova_gen3")
    speed, acceleration = robot.limit_array("velocity"), robot.limit_array("acceleration")
    family = RecedingPlans.at_rest(robot.joint_names, np.zeros(7), np.full(7, 50.0))
    kept = family.within(np.full(7, -np.inf), np.full(7, np.inf), speed, acceleration)
    reach = np.minimum(3.0 * speed * 8.0 / 15.0, 9.0 * acceleration * np.sqrt(3.0) / 10.0)
    assert kept.highest == pytest.approx(reach, rel=5e-3)
    assert (kept.highest <= reach).all()
    assert kept.lowest == pytest.approx(-kept.highest, abs=1e-12)


def test_a_state_that_cannot_stop_within_limits_is_refused_with_its_joint() -> None:
    family = RecedingPlans(
        JOINTS, np.zeros(3), np.array([0.0, 1.0, 0.0]), np.zeros(3), np.full(3, -9.0), np.full(3, 9.0)
    )
    with pytest.raises(NoSolutionError, match="the position of joint 'b' between"):
        family.within(-UNLIMITED, np.array([np.inf, 0.05, np.inf]), UNLIMITED, UNLIMITED)
    with pytest.raises(NoSolutionError, match=r"the velocity of joint 'b' between -0\.9 and 0\.9"):
        family.within(-UNLIMITED, UNLIMITED, np.full(3, 0.9), UNLIMITED)


def test_what_is_no_plan_is_refused() -> None:
    family = plans()
    with pytest.raises(InputError, match=r"within \[-1, 1\], got -1\.5"):
        family.plan([0.0, -1.5, 1.0])
    with pytest.raises(InputError, match=r"between 0 and the duration of 3\.0 s"):
        plans(switch=3.0)
    with pytest.raises(InputError, match="joint 'a', above the highest end"):
        plans(lowest=np.full(3, 20.0))
