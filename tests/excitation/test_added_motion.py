"""The smallest motion to add: it does what is wanted and no less would, it keeps the limits, it is honest."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from excitation.planar_moves import dense_deviations, dense_rows, level_move, sampled
from excitation.small_designs import TOOL
from oracles.pinocchio_robot import PinocchioRobot
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError, NoSolutionError
from steelyard.excitation.added_motion import AddedMotion, Pause, PauseSearch, added_motion
from steelyard.excitation.objective import ObjectiveStage
from steelyard.excitation.payload_observability import PayloadScale, TorqueMeter, by_kind, shown_by
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import in_sequence, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Robot
from steelyard.zoo import zoo_robot

ROBOTS = {name: zoo_robot(name) for name in ("panda", "kinova_gen3")}
RATE = 100.0
both_robots = pytest.mark.parametrize("name", list(ROBOTS))


def meter(robot: Robot, *unknown: str) -> TorqueMeter:
    """The noise of an industrial meter."""
    return TorqueMeter(0.003 * robot.limit_array("effort"), RATE, unknown or ("offset",))


def limits_of(robot: Robot) -> MotionLimits:
    layout = layout_of(robot)
    return MotionLimits(robot, None, layout, layout.complete_nominal(), 0.01)


@cache
def answer(name: str) -> AddedMotion:
    robot = ROBOTS[name]
    durations = (0.8,) if name == "panda" else (0.8, 1.6)
    given = limits_of(robot), level_move(robot), meter(robot), np.random.default_rng(0)
    return added_motion(*given, durations=durations, rounds=1)


def wrist_pause() -> Pause:
    """The end of the Panda's move."""
    robot, scale = ROBOTS["panda"], PayloadScale()
    return Pause(limits_of(robot), level_move(robot), None, meter(robot), scale, 0.1 * scale.ten)


@both_robots
def test_the_whole_motion_reaches_every_wanted_deviation(name: str) -> None:
    robot, added = ROBOTS[name], answer(name)
    at = sampled(added.motion, RATE)
    deviations = dense_deviations(*dense_rows(robot, at, meter(robot).noise))
    assert (deviations <= added.required * (1.0 + 1e-9)).all()
    np.testing.assert_allclose(added.after.deviations, deviations, rtol=1e-7)
    np.testing.assert_array_equal(added.required, 0.1 * PayloadScale().ten)


@both_robots
def test_a_tenth_less_of_the_addition_would_not_do(name: str) -> None:
    robot, added = ROBOTS[name], answer(name)
    assert added.addition is not None
    pose = level_move(robot).sample([2.4]).q[0]
    c = 0.9 * added.addition.coefficients
    c[:, 0] += 0.1 * pose
    smaller = in_sequence([level_move(robot), added.addition.with_coefficients(c)])
    deviations = dense_deviations(*dense_rows(robot, sampled(smaller, RATE), meter(robot).noise))
    assert (deviations > added.required).any()


@both_robots
def test_all_limits_hold_and_are_certified(name: str) -> None:
    robot, added = ROBOTS[name], answer(name)
    at = sampled(added.motion, 500.0)
    assert (at.q >= robot.limit_array("lower")).all()
    assert (at.q <= robot.limit_array("upper")).all()
    assert (np.abs(at.v) <= robot.limit_array("velocity")).all()
    assert (np.abs(at.a) <= robot.limit_array("acceleration")).all()
    judge = PinocchioRobot.of(robot, layout_of(robot).complete_nominal().reshape(-1, 10))
    torques = np.array([judge.torques(q, v, a) for q, v, a in zip(at.q, at.v, at.a, strict=True)])
    assert (np.abs(torques) <= robot.limit_array("effort")).all()
    assert added.certificate.motion == added.motion.digest
    assert {margin.kind for margin in added.certificate.margins} >= {"position", "velocity", "torque"}


@both_robots
def test_it_is_the_planned_motion_and_then_the_wrist_alone(name: str) -> None:
    robot, added, planned = ROBOTS[name], answer(name), level_move(ROBOTS[name])
    assert added.addition is not None
    t = np.linspace(0.0, planned.duration, 20)
    np.testing.assert_allclose(added.motion.sample(t).q, planned.sample(t).q, rtol=0.0, atol=1e-15)
    later = added.motion.sample(planned.duration + np.linspace(0.0, added.addition.duration, 500))
    away = np.abs(later.q - planned.sample([planned.duration]).q).max(axis=0)
    moved = tuple(int(k) + 1 for k in np.flatnonzero(away > 1e-9))
    assert added.moving == moved
    assert min(moved) >= robot.nv - 2
    np.testing.assert_allclose(added.amplitude, away, rtol=5e-3, atol=1e-9)
    end = added.motion.sample([added.motion.duration])
    np.testing.assert_allclose(end.q, planned.sample([planned.duration]).q, atol=1e-12)
    assert np.abs(end.v).max() < 1e-12
    assert np.abs(end.a).max() < 1e-10


@both_robots
def test_the_sentence_says_how_long_where_how_far_and_what_for(name: str) -> None:
    added = answer(name)
    assert added.addition is not None
    text = str(added)
    assert f"Add {added.addition.duration:g} s of motion on joint" in text
    assert f"up to {added.amplitude.max():.2g} rad from the pose" in text
    for number in ("Ixx", "Ixy", "Iyy"):
        assert number in text.split("to show ")[1]


def test_nothing_is_added_where_nothing_is_missing() -> None:
    robot = ROBOTS["panda"]
    rich = random_fourier(robot, np.random.default_rng(2), period=8.0)
    rng = np.random.default_rng(0)
    added = added_motion(limits_of(robot), rich, meter(robot), rng)
    assert added.addition is None
    assert added.motion is rich
    assert added.moving == ()
    assert added.before is added.after
    assert str(added).startswith("Nothing needs to be added")
    assert rng.integers(2**63) == np.random.default_rng(0).integers(2**63)


def test_numbers_of_which_any_deviation_will_do_ask_for_no_motion() -> None:
    robot = ROBOTS["panda"]
    wanted = by_kind(0.1, 0.05, np.inf)
    assert shown_by(robot, level_move(robot), meter(robot)).missing(wanted) == ()
    added = added_motion(
        limits_of(robot), level_move(robot), meter(robot), np.random.default_rng(0), required=wanted
    )
    assert added.addition is None


def test_a_pause_between_two_parts_is_used_where_asked() -> None:
    robot, planned = ROBOTS["panda"], level_move(ROBOTS["panda"])
    back = replace(planned, control=planned.control[:, ::-1])
    added = added_motion(
        limits_of(robot),
        in_sequence([planned, back]),
        meter(robot),
        np.random.default_rng(0),
        part=1,
        required=by_kind(np.inf, 0.005, np.inf),
        durations=(0.8,),
        rounds=1,
    )
    assert added.addition is not None
    assert added.before.missing(added.required) == ("mz",)
    again = added.motion.sample(planned.duration + added.addition.duration + np.array([0.3, 1.0, 2.0]))
    np.testing.assert_allclose(again.q, back.sample([0.3, 1.0, 2.0]).q, atol=1e-12)
    assert added.after.missing(added.required) == ()


def test_a_wall_in_the_way_of_a_long_tool_is_avoided() -> None:
    robot = ROBOTS["panda"]
    end = level_move(robot).sample([2.4]).q
    X = forward_kinematics(robot, end, [robot.tool_frame.name])[0, 0]
    beside = X[:3, :3] @ TOOL[0].pose.translation + X[:3, 3] + np.array([0.0, 0.13, 0.0])
    wall = Scene((Obstacle("wall", Box(0.6, 0.02, 0.6), Pose(np.eye(3), beside)),))
    clearance = clearance_of(robot, wall, tool=TOOL)
    assert clearance.distances(sampled(answer("panda").motion, 200.0).q).min() < 0.0
    added = added_motion(
        replace(limits_of(robot), clearance=clearance),
        level_move(robot),
        meter(robot),
        np.random.default_rng(0),
        durations=(0.8,),
        rounds=1,
    )
    least = clearance.distances(sampled(added.motion, 200.0).q).min()
    proven = added.certificate.smallest("clearance")
    assert proven is not None
    assert 0.0 <= proven.margin <= least - 0.01


def test_what_no_motion_of_the_robot_shows_is_refused_by_name() -> None:
    robot = zoo_robot("scara")
    planned = random_fourier(robot, np.random.default_rng(0), period=4.0)
    with pytest.raises(NoSolutionError, match=r"no motion of it shows .*Ixx.* any deviation of these"):
        added_motion(
            MotionLimits(robot), planned, TorqueMeter(np.ones(robot.nv), RATE), np.random.default_rng(0)
        )


def test_too_little_time_is_refused_with_what_stays_missing() -> None:
    robot = ROBOTS["kinova_gen3"]
    with pytest.raises(NoSolutionError, match=r"up to 0\.2 s was found that shows .*Ixx"):
        added_motion(
            limits_of(robot),
            level_move(robot),
            meter(robot),
            np.random.default_rng(0),
            durations=(0.2,),
            rounds=1,
        )


def test_arguments_that_mean_nothing_are_refused() -> None:
    robot = ROBOTS["panda"]
    given = limits_of(robot), level_move(robot), meter(robot), np.random.default_rng(0)
    with pytest.raises(InputError, match="durations: must be one or more, and increase"):
        added_motion(*given, durations=(2.0, 1.0))
    with pytest.raises(InputError, match="part: must be 1 to 1"):
        added_motion(*given, part=2)
    with pytest.raises(InputError, match="required: must be positive"):
        added_motion(*given, required=np.zeros(10))


@pytest.mark.parametrize("unknown", [("offset",), ("offset", "viscous", "coulomb")], ids=len)
@pytest.mark.parametrize(
    "required", [by_kind(0.1, 0.01, 0.001), by_kind(0.1, 0.01, np.inf)], ids=["all", "some"]
)
def test_the_gradient_of_the_search_is_that_of_finite_differences(
    unknown: tuple[str, ...], required: np.ndarray
) -> None:
    pause = replace(wrist_pause(), meter=meter(ROBOTS["panda"], *unknown), required=required)
    searcher = PauseSearch(pause, 1, np.random.default_rng(0)).searcher((4, 5, 6), 1.6)
    rng = np.random.default_rng(1)
    x = 0.3 * rng.standard_normal(searcher.unknowns.shape)
    stage, f = ObjectiveStage(4.0, 1e-3), searcher.objective
    value, slope = f.gradient(x, stage)
    assert np.isfinite(value)
    for _ in range(3):
        way = rng.standard_normal(x.shape)
        h = 1e-5
        ahead, behind = (f.gradient(x + s * h * way, stage)[0] for s in (1.0, -1.0))
        assert (slope * way).sum() == pytest.approx((ahead - behind) / (2.0 * h), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("duration", [1.6, 4.8])
def test_the_search_looks_at_the_worst_share_that_all_of_the_motion_reaches(duration: float) -> None:
    """F is at least twice the logarithm of the largest deviation over the wanted one, and little more."""
    pause = replace(wrist_pause(), meter=meter(ROBOTS["panda"], "offset", "viscous"))
    searcher = PauseSearch(pause, 1, np.random.default_rng(0)).searcher((4, 5, 6), duration)
    x = np.zeros(searcher.unknowns.shape)
    x[4:] = 0.3 * np.random.default_rng(1).standard_normal(x[4:].shape)
    period = searcher.unknowns.motion(x)
    whole = in_sequence([period] * round(duration / period.duration))
    worst = 2.0 * np.log(pause.shortfall(whole))
    value = searcher.objective.gradient(x, ObjectiveStage(32.0, 0.0))[0]
    assert worst - 0.05 <= value <= worst + np.log(10.0) / 32.0 + 0.05


def test_a_long_addition_repeats_one_period() -> None:
    found = PauseSearch(wrist_pause(), 1, np.random.default_rng(3)).addition((4, 5, 6), 3.2)
    assert found is not None
    assert found.duration == 3.2
    t = np.linspace(0.0, 1.6, 30)
    first, second = found.sample(t), found.sample(t + 1.6)
    np.testing.assert_allclose(first.q, second.q, atol=1e-12)
    np.testing.assert_allclose(first.a, second.a, atol=1e-10)
    assert np.ptp(first.q[:, 4:], axis=0).min() > 1e-3
    assert np.ptp(first.q[:, :4], axis=0).max() < 1e-15


def test_one_seed_gives_one_motion_whatever_else_was_tried() -> None:
    answered = answer("panda").addition
    assert answered is not None
    search = PauseSearch(wrist_pause(), 1, np.random.default_rng(0))
    found = search.addition([k - 1 for k in answer("panda").moving], answered.duration)
    assert found is not None
    np.testing.assert_array_equal(search.pause.shrunk(found).coefficients, answered.coefficients)
