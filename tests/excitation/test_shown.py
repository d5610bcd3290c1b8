"""What a motion shows of a payload, judged by Pinocchio's dense regressor and the law of a level hand."""

from __future__ import annotations

import numpy as np
import pytest

from excitation.planar_moves import dense_deviations, dense_rows, level_move, sampled
from steelyard.errors import InputError, UnknownNameError
from steelyard.excitation.payload_observability import (
    Observability,
    PayloadObservability,
    PayloadScale,
    TorqueMeter,
    by_kind,
    shown_by,
    shown_by_samples,
)
from steelyard.inertia import PARAMETER_NAMES
from steelyard.motion import MotionSample, SinusoidMotion, pick_and_place, random_fourier
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

ROBOTS = {name: zoo_robot(name) for name in ("panda", "kinova_gen3")}
RATE = 50.0
both_robots = pytest.mark.parametrize("robot", ROBOTS.values(), ids=list(ROBOTS))


def meter(robot: Robot, *unknown: str, share: float = 0.003) -> TorqueMeter:
    return TorqueMeter(share * robot.limit_array("effort"), RATE, unknown)


def hidden(shown: PayloadObservability) -> set[str]:
    return {name for name, sd in zip(PARAMETER_NAMES, shown.deviations, strict=True) if np.isinf(sd)}


@both_robots
def test_a_level_hand_hides_the_inertias_across_its_axis_and_nothing_else(robot: Robot) -> None:
    """Turning about z alone, a body resists by Izz, and pulls its axis about by Ixz and Iyz (Euler)."""
    shown = shown_by(robot, level_move(robot), meter(robot, "offset"))
    assert hidden(shown) == {"Ixx", "Ixy", "Iyy"}
    blind = [direction for direction in shown.not_shown if direction.strength == 0.0]
    assert {direction.terms for direction in blind} == {(("Ixx", 1.0),), (("Ixy", 1.0),), (("Iyy", 1.0),)}
    assert np.isinf(shown.cond)


@both_robots
def test_a_level_hand_leaves_mz_the_least_sure_of_the_first_moments(robot: Robot) -> None:
    """Lambert (2023), section 5.4: too little vertical motion to tell the height of the centre of mass."""
    shown = shown_by(robot, level_move(robot), meter(robot, "offset"))
    mx, my, mz = shown.deviations[1:4]
    assert mz > 2.0 * max(mx, my)


@both_robots
@pytest.mark.parametrize("unknown", [(), ("offset",), ("offset", "viscous", "coulomb")], ids=len)
def test_deviations_are_those_of_dense_least_squares(robot: Robot, unknown: tuple[str, ...]) -> None:
    motion = random_fourier(robot, np.random.default_rng(2), period=4.0)
    how = meter(robot, *unknown)
    expected = dense_deviations(*dense_rows(robot, sampled(motion, RATE), how.noise, unknown))
    np.testing.assert_allclose(shown_by(robot, motion, how).deviations, expected, rtol=1e-8)


def test_friction_of_joints_that_stand_still_confounds_nothing() -> None:
    robot = ROBOTS["panda"]
    motion = random_fourier(robot, np.random.default_rng(3), period=4.0)
    c = motion.coefficients.copy()
    c[:4, 1:] = 0.0
    motion = motion.with_coefficients(c)
    how = meter(robot, "offset", "viscous")
    at = sampled(motion, RATE)
    W, N = dense_rows(robot, at, how.noise, ("offset",))
    _, friction = dense_rows(robot, at, how.noise, ("viscous",), joints=(4, 5, 6))
    expected = dense_deviations(W, np.hstack((N, friction)))
    np.testing.assert_allclose(shown_by(robot, motion, how).deviations, expected, rtol=1e-7)


def test_an_arm_that_stands_still_shows_nothing_beside_unknown_offsets() -> None:
    robot = ROBOTS["panda"]
    q = np.tile(level_move(robot).sample([0.0]).q, (50, 1))
    at = MotionSample(q, 0.0 * q, 0.0 * q)
    assert hidden(shown_by_samples(robot, at, meter(robot, "offset"))) == set(PARAMETER_NAMES)


def test_a_change_that_is_not_shown_moves_no_torque_beyond_what_noise_and_offsets_explain() -> None:
    """The arm turns about its vertical first joint alone: most of what it hides are combinations."""
    robot = ROBOTS["kinova_gen3"]
    pose = level_move(robot).sample([0.0]).q[0] + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.7, 0.0])
    end = pose + np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    motion = pick_and_place(robot.joint_names, [pose, end, pose], (0.0, 1.0, 2.0), robot=robot.digest)
    how = meter(robot, "offset")
    shown = shown_by(robot, motion, how)
    W, N = dense_rows(robot, sampled(motion, RATE), how.noise)
    assert any(len(direction.terms) > 1 for direction in shown.not_shown)
    for direction in shown.not_shown:
        torque = W @ direction.change
        left = torque - N @ np.linalg.lstsq(N, torque, rcond=None)[0]
        scaled = np.linalg.norm(direction.change / shown.scale.ten)
        assert np.linalg.norm(left) <= (direction.strength + 1e-9 * np.linalg.norm(W)) * scaled
        assert direction.strength <= 1.0


def test_a_verdict_follows_the_deviation_over_the_scale_of_the_body() -> None:
    robot = ROBOTS["panda"]
    motion = random_fourier(robot, np.random.default_rng(4), period=4.0)
    scale = PayloadScale(2.0, 0.2)
    np.testing.assert_allclose(scale.ten, by_kind(2.0, 0.4, 0.08), rtol=1e-15)
    share = shown_by(robot, motion, meter(robot, "offset"), scale=scale).deviations[3] / scale.ten[3]
    for factor, verdict in ((0.099, "shown"), (0.101, "weak"), (0.99, "weak"), (1.01, "not shown")):
        noisier = meter(robot, "offset", share=0.003 * factor / share)
        shown = shown_by(robot, motion, noisier, scale=scale)
        assert shown.verdicts["mz"] is Observability(verdict)
        assert (shown.not_shown != ()) or verdict != "not shown"
        assert f"{verdict}: " in str(shown)


def test_what_is_missing_is_what_is_less_sure_than_wanted() -> None:
    robot = ROBOTS["panda"]
    shown = shown_by(robot, level_move(robot), meter(robot, "offset"))
    wanted = np.where(np.arange(10) == 2, 0.9, 1.1) * shown.deviations
    assert shown.missing(wanted) == ("my",)
    assert shown.missing(by_kind(1e9, 1e9, 1e9)) == ("Ixx", "Ixy", "Iyy")
    assert shown.missing(by_kind(1e9, 1e9, np.inf)) == ()


def test_pick_and_place_is_conditioned_far_worse_than_sinusoids() -> None:
    """Lambert (2023), section 5.4: about 1e3 against 8, over random amplitudes, frequencies and end poses."""
    robot = ROBOTS["panda"]
    rng = np.random.default_rng(5)
    pose = level_move(robot).sample([1.2]).q[0]
    waving, placing = [], []
    for _ in range(10):
        frequency = rng.uniform(1.0, 5.0, 7)
        sinusoid = SinusoidMotion(robot.joint_names, 10.0, pose, np.full(7, 0.3), frequency, np.zeros(7))
        ends = pose + rng.uniform(-0.3, 0.3, (2, 7))
        place = pick_and_place(robot.joint_names, ends, (0.0, 2.0))
        waving.append(shown_by(robot, sinusoid, meter(robot)).cond)
        placing.append(shown_by(robot, place, meter(robot)).cond)
    assert np.median(placing) > 10.0 * np.median(waving)


def test_a_meter_states_positive_noise_and_known_terms_for_every_joint() -> None:
    robot = ROBOTS["panda"]
    with pytest.raises(InputError, match="noise: must be positive, got 0"):
        TorqueMeter(np.zeros(7))
    with pytest.raises(InputError, match="rate: must be positive"):
        TorqueMeter(np.ones(7), rate=0.0)
    with pytest.raises(UnknownNameError, match="Did you mean 'coulomb'"):
        TorqueMeter(np.ones(7), unknown=("colomb",))
    with pytest.raises(InputError, match=r"noise: expected shape \(7,\)"):
        shown_by(robot, level_move(robot), TorqueMeter(np.ones(6)))
    with pytest.raises(InputError, match="moves other joints"):
        shown_by(ROBOTS["kinova_gen3"], level_move(robot), TorqueMeter(np.ones(7)))
    with pytest.raises(InputError, match="mass: must be positive"):
        PayloadScale(mass=0.0)
