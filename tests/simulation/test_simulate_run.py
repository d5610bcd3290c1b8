"""The `ideal` log obeys the equations of motion in every row, and comes from its inputs alone."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from shared_material import ROBOTS, needs_shared
from steelyard.control import PD, ComputedTorque
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.motion import FourierMotion, random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot, load_robot
from steelyard.simulation import simulate_motion, tracking_error
from steelyard.zoo import ZOO, zoo_robot


def moved(robot: Robot, seed: int = 1) -> FourierMotion:
    return random_fourier(robot, np.random.default_rng(seed))


def assert_obeys_the_equations_of_motion(robot: Robot, log: Recording) -> None:
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    terms = ("viscous", "coulomb", "offset", "rotor")
    Fv, Fc, Fo, Ia = (np.array([j.drive.value(t) or 0.0 for j in robot.joints]) for t in terms)
    assert log.v is not None
    assert log.a is not None
    assert log.tau is not None
    rigid = np.array([judge.torques(*row) for row in zip(log.q, log.v, log.a, strict=True)])
    expected = rigid + Fv * log.v + Fc * np.sign(log.v) + Fo + Ia * log.a
    assert_agree(log.tau, expected, relative=1e-9)


@pytest.mark.parametrize("name", list(ZOO))
def test_every_row_of_the_ideal_log_obeys_the_equations_of_motion(name: str) -> None:
    robot = zoo_robot(name)
    log = simulate_motion(robot, moved(robot), duration=1.0)
    assert_obeys_the_equations_of_motion(robot, log)
    assert (tracking_error(log) < 1e-4).all()
    assert np.abs(log.v).max() > 0.1


@needs_shared
def test_a_public_arm_with_stiff_friction_is_followed_and_obeys_them_too() -> None:
    robot = load_robot(ROBOTS / "lbr_stack" / "med7.urdf")
    log = simulate_motion(robot, moved(robot), duration=0.5)
    assert_obeys_the_equations_of_motion(robot, log)
    assert (tracking_error(log) < 2e-3).all()


def test_it_starts_at_rest_where_the_motion_starts_and_logs_the_references() -> None:
    robot = zoo_robot("two_link")
    motion = moved(robot)
    log = simulate_motion(robot, motion, duration=0.5)
    np.testing.assert_array_equal(log.time, np.arange(501) / 1000)
    np.testing.assert_allclose(log.q[0], motion.sample([0.0]).q[0], atol=1e-15)
    assert log.v is not None
    assert not log.v[0].any()
    reference = motion.sample(log.time)
    for name in ("q", "v", "a"):
        np.testing.assert_allclose(getattr(log, f"{name}_ref"), getattr(reference, name), atol=1e-13)
    assert log.joints == robot.joint_names


def test_the_logged_positions_velocities_and_accelerations_belong_together() -> None:
    robot = zoo_robot("panda")
    log = simulate_motion(robot, moved(robot), duration=1.0, controller=PD(robot, 600.0, 60.0))
    assert log.v is not None
    assert log.a is not None
    h = 1e-3
    np.testing.assert_allclose((log.q[2:] - log.q[:-2]) / (2 * h), log.v[1:-1], rtol=0, atol=2e-2)
    change = (log.v[1:] - log.v[:-1]) / h
    smooth = ~(np.sign(log.v[1:]) != np.sign(log.v[:-1]))
    assert np.median(np.abs(change - log.a[:-1])[smooth]) < 0.05 * np.abs(log.a).max()


def test_the_torque_of_the_log_is_the_controllers() -> None:
    robot = zoo_robot("two_link")
    law = PD(robot, 80.0, 8.0)
    log = simulate_motion(robot, moved(robot), duration=0.3, controller=law)
    rows = zip(log.q, log.v, log.q_ref, log.v_ref, log.a_ref, strict=True)  # type: ignore[arg-type]
    np.testing.assert_array_equal(log.tau, [law.torque(*row) for row in rows])
    assert_obeys_the_equations_of_motion(robot, log)


def test_the_same_inputs_give_the_same_bits() -> None:
    robot = zoo_robot("panda")
    one, two = (simulate_motion(zoo_robot("panda"), moved(robot), duration=0.2) for _ in range(2))
    assert one.digest == two.digest
    assert one.provenance == two.provenance
    assert one.digest != simulate_motion(robot, moved(robot, seed=2), duration=0.2).digest


def test_a_slower_log_is_every_tenth_row_of_the_same_run() -> None:
    robot = zoo_robot("two_link")
    fast, slow = (simulate_motion(robot, moved(robot), duration=0.5, rate=rate) for rate in (1000.0, 100.0))
    assert slow.n == 51
    for name, channel in slow.channels.items():
        np.testing.assert_array_equal(channel, fast.channels[name][::10], err_msg=name)


def test_the_motion_decides_the_duration_unless_told_and_repeats() -> None:
    robot = zoo_robot("one_link")
    motion = random_fourier(robot, np.random.default_rng(0), period=0.7)
    assert simulate_motion(robot, motion, rate=200.0).n == 141
    twice = simulate_motion(robot, motion, rate=200.0, duration=1.4)
    assert twice.n == 281
    assert twice.q_ref is not None
    np.testing.assert_allclose(twice.q_ref[140:], twice.q_ref[:141], atol=1e-13)


def test_the_history_says_what_was_done_to_what() -> None:
    robot = zoo_robot("one_link")
    motion = moved(robot)
    log = simulate_motion(robot, motion, duration=0.1, rng=np.random.default_rng(42))
    (step,) = log.provenance
    assert step.action == "simulate"
    assert step.detail["robot"] == robot.digest
    assert step.detail["motion"] == motion.digest
    assert step.detail["sensor"] == "ideal"
    assert step.detail["rate"] == 1000.0
    assert step.detail["seed"] == 42
    assert step.detail["mujoco"] == mujoco.__version__
    controller = step.detail["controller"]
    assert isinstance(controller, Mapping)
    assert controller["law"] == "computed-torque"


def test_tracking_error_is_the_rms_of_the_position_error() -> None:
    error = np.array([[0.3, 0.0], [-0.4, 1.0]])
    log = Recording(("a", "b"), [0.0, 1.0], np.ones((2, 2)), q_ref=np.ones((2, 2)) + error)
    np.testing.assert_allclose(tracking_error(log), [np.sqrt(0.125), np.sqrt(0.5)], rtol=1e-12)
    with pytest.raises(InputError, match="no position references"):
        tracking_error(Recording(("a", "b"), [0.0, 1.0], np.ones((2, 2))))


def test_an_unstable_controller_is_reported_with_the_time() -> None:
    robot = zoo_robot("panda")
    with pytest.raises(NoSolutionError, match=r"diverged at 0\.\d+ s: joint '.*' would reach"):
        simulate_motion(robot, moved(robot), controller=PD(robot, 1e6, 1e6), duration=1.0)


def test_what_does_not_fit_together_is_refused() -> None:
    robot, other = zoo_robot("two_link"), zoo_robot("one_link")
    motion = moved(robot)
    with pytest.raises(UnknownNameError, match=r"unknown sensor preset 'perfect'\. Valid: ideal"):
        simulate_motion(robot, motion, sensor="perfect")
    with pytest.raises(InputError, match="motion: it is for the joints"):
        simulate_motion(other, motion)
    with pytest.raises(InputError, match="controller: it is for the joints"):
        simulate_motion(robot, motion, controller=ComputedTorque.nominal(other, 1.0, 1.0))
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="rate: must be positive"):
            simulate_motion(robot, motion, rate=rate)
    for duration in (0.0, 1e-4, np.inf):
        with pytest.raises(InputError, match="duration: must be finite and hold"):
            simulate_motion(robot, motion, duration=duration)
