"""What the sensors do to the truth, read from the logs alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from steelyard.arrays import Array
from steelyard.control import PD
from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Joint, JointKind, Limits, Link, Robot
from steelyard.simulation import SENSORS, SensorPreset, simulate_motion
from steelyard.zoo import zoo_robot


def run(robot: Robot, sensor: str | SensorPreset, seed: int = 0, **options: float) -> Recording:
    motion = random_fourier(robot, np.random.default_rng(1))
    return simulate_motion(robot, motion, sensor=sensor, rng=np.random.default_rng(seed), **options)  # type: ignore[arg-type]


def limits(robot: Robot) -> Array:
    return np.array([joint.limits.effort for joint in robot.joints])


def bare(robot: Robot) -> Robot:
    """The robot without friction and rotors."""
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def assert_multiples(values: Array, step: Array | float) -> None:
    """Each value is a step times a whole number, to the last bit."""
    np.testing.assert_array_equal(np.rint(values / step) * step, values)
    assert len(np.unique(values)) > 10


def slide_and_hinge() -> Robot:
    body = Body(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    bounds = Limits(-0.5, 0.5, velocity=1.0, acceleration=5.0, effort=30.0)
    x = np.array([1.0, 0.0, 0.0])
    joints = (
        Joint("slide", JointKind.PRISMATIC, -1, Pose.identity(), x, bounds),
        Joint("hinge", JointKind.REVOLUTE, 0, Pose.identity(), x[::-1].copy(), bounds),
    )
    return Robot("slide_and_hinge", Link("base"), joints, (Link("a", body), Link("b", body)))


@pytest.mark.parametrize(("name", "meter"), [("industrial", ()), ("low-cost", ("current",))])
def test_the_log_holds_what_the_sensors_show_and_nothing_else(name: str, meter: tuple[str, ...]) -> None:
    log = run(zoo_robot("two_link"), name, duration=0.1)
    assert set(log.channels) == {"q", "v", "tau", "q_ref", "v_ref", "a_ref", *meter}
    assert not log.extra


@pytest.mark.parametrize(("name", "step"), [("industrial", 1e-5), ("low-cost", 2 * math.pi / 4096)])
def test_positions_lie_on_the_encoders_grid_a_hundredth_of_it_for_a_slide(name: str, step: float) -> None:
    log = run(slide_and_hinge(), name, duration=2.0)
    assert_multiples(log.q[:, 0], step * 0.01)
    assert_multiples(log.q[:, 1], step)


def test_the_encoder_shows_the_nearest_step() -> None:
    robot = zoo_robot("two_link")
    truth, seen = (run(robot, SensorPreset(name="mine", encoder=step), duration=0.3) for step in (0.0, 1e-9))
    # With steps this fine the controller does nearly the same, so the two runs can be compared.
    error = seen.q - truth.q
    assert np.abs(error).max() < 0.6e-9
    assert abs(error.mean()) < 0.05e-9
    assert error.std() == pytest.approx(1e-9 / math.sqrt(12), rel=0.1)


def test_velocity_is_the_difference_of_the_measured_positions() -> None:
    log = run(zoo_robot("two_link"), "industrial", duration=0.5)
    assert log.v is not None
    assert not log.v[0].any()
    np.testing.assert_allclose(log.v[1:], np.diff(log.q, axis=0) * 1000, rtol=0, atol=1e-9)


def test_a_low_cost_drive_smooths_its_velocity_with_the_lag_of_paper_004() -> None:
    log = run(zoo_robot("two_link"), "low-cost", duration=0.5)
    # Backward Euler of s / (1 + T s), T = 2 ms, at h = 1 ms.
    T, h = 2e-3, 1e-3
    smooth = lfilter([1 / (T + h), -1 / (T + h)], [1, -T / (T + h)], log.q - log.q[0], axis=0)
    np.testing.assert_allclose(log.v, smooth, rtol=0, atol=1e-9)


def test_the_torque_meters_noise_bias_and_quantum_are_those_of_the_preset() -> None:
    robot = zoo_robot("panda")
    law, L = PD(robot, 600.0, 60.0), limits(zoo_robot("panda"))
    motion = random_fourier(robot, np.random.default_rng(1))
    biases, errors = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        log = simulate_motion(robot, motion, controller=law, sensor="industrial", rng=rng, duration=0.8)
        assert log.tau is not None
        assert_multiples(log.tau, 0.0002 * L)
        rows = zip(log.q, log.v, log.q_ref, log.v_ref, log.a_ref, strict=True)  # type: ignore[arg-type]
        command = np.clip([law.torque(*row) for row in rows], -L, L)
        error = (log.tau[1:] - command[:-1]) / L  # the command of one cycle acts in the next
        biases.append(error.mean(axis=0))
        errors.append(error - error.mean(axis=0))
    n, noise = len(errors[0]), np.array(errors)
    sure = 0.003 / math.sqrt(n)
    assert np.abs(biases).max() < 0.001 + 4 * sure
    # Uniform in ±0.1 %: standard deviation 0.0577 %, here from 42 draws.
    assert math.hypot(0.001 / math.sqrt(3), sure) == pytest.approx(np.std(biases), rel=0.3)
    expected = math.hypot(0.003, 0.0002 / math.sqrt(12))
    np.testing.assert_allclose(noise.std(axis=(0, 1)), expected, rtol=5 / math.sqrt(2 * 6 * n))
    assert np.mean(np.abs(noise) > 2 * expected) == pytest.approx(0.0455, abs=0.005)
    neighbours = np.mean(noise[:, 1:] * noise[:, :-1]) / expected**2
    assert abs(neighbours) < 5 / math.sqrt(noise.size)
    between = np.corrcoef(noise.reshape(-1, 7).T) - np.eye(7)
    assert np.abs(between).max() < 5 / math.sqrt(6 * n)


def test_the_ammeter_counts_quanta_and_the_torque_is_the_nominal_constant_times_the_current() -> None:
    robot = zoo_robot("panda")
    log = run(robot, "low-cost", duration=0.5)
    assert log.current is not None
    assert_multiples(log.current, 2.69e-3)
    np.testing.assert_array_equal(log.tau, limits(robot) / SENSORS["low-cost"].current_at_limit * log.current)


def torque_that_moved(robot: Robot, log: Recording) -> tuple[Array, Array]:
    """Velocities (N - 2, nv) and rigid-body torques by central differences of exact positions."""
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    v = (log.q[2:] - log.q[:-2]) * 500
    a = (log.q[2:] - 2 * log.q[1:-1] + log.q[:-2]) * 1e6
    return v, np.array([judge.torques(*row) for row in zip(log.q[1:-1], v, a, strict=True)])


def test_the_joint_feels_more_or_less_than_the_drive_believes_by_at_most_the_gain_error() -> None:
    robot = bare(zoo_robot("two_link"))
    gains = []
    for seed in range(6):
        log = run(robot, SensorPreset(name="mine", gain_error=0.02), seed, duration=0.6)
        assert log.tau is not None
        tau = 0.5 * (log.tau[1:-1] + log.tau[:-2])  # held before and after the instant of the difference
        _, moved = torque_that_moved(robot, log)
        gain = (tau * moved).sum(axis=0) / (tau**2).sum(axis=0)
        np.testing.assert_allclose(moved, gain * tau, atol=2e-3 * np.abs(tau).max())
        gains.append(gain - 1.0)
    assert np.abs(gains).max() < 0.0201
    assert np.std(gains) == pytest.approx(0.02 / math.sqrt(3), rel=0.5)


def test_the_hidden_friction_is_coulombs_and_between_its_shares_of_the_limit() -> None:
    robot = bare(zoo_robot("two_link"))
    shares = []
    for seed in range(6):
        preset = SensorPreset(name="mine", coulomb_least=0.0025, coulomb_most=0.008)
        log = run(robot, preset, seed, duration=0.6)
        assert log.tau is not None
        v, moved = torque_that_moved(robot, log)
        friction = 0.5 * (log.tau[1:-1] + log.tau[:-2]) - moved
        sliding = (np.abs(v) > 0.05).all(axis=1)
        sign = np.sign(v[sliding])
        coulomb = (sign * friction[sliding]).mean(axis=0)
        np.testing.assert_allclose(friction[sliding], sign * coulomb, atol=0.02)
        shares.append(coulomb / limits(robot))
        assert log.provenance[0].detail["robot"] == robot.digest
    assert 0.00249 < np.min(shares) < 0.004
    assert 0.0065 < np.max(shares) < 0.00801
