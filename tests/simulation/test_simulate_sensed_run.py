"""Every run comes from its inputs and its seed alone, and can be identified as well as its sensors allow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, filtfilt

from steelyard.audit import torque_error
from steelyard.control import PD
from steelyard.estimation.linear import fit_least_squares
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.simulation import SENSORS, Plant, simulate_motion, tracking_error
from steelyard.zoo import zoo_robot

NOISY = ("industrial", "low-cost")


def run(sensor: str, seed: int = 5, duration: float = 0.3, rate: float = 1000.0) -> Recording:
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(1), period=2.0)
    rng = np.random.default_rng(seed)
    return simulate_motion(robot, motion, sensor=sensor, rng=rng, duration=duration, rate=rate)


def test_the_ideal_log_is_the_bare_loop_of_plant_and_law_and_draws_nothing() -> None:
    robot = zoo_robot("two_link")
    law, motion = PD(robot, 80.0, 8.0), random_fourier(robot, np.random.default_rng(1))
    rng = np.random.default_rng(0)
    log = simulate_motion(robot, motion, controller=law, rng=rng, duration=0.2)
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state
    plant, s = Plant(robot), motion.sample(np.arange(201) / 1000)
    plant.place(s.q[0], np.zeros(2))
    for k in range(201):
        q, v = plant.q, plant.v
        tau = law.torque(q, v, s.q[k], s.v[k], s.a[k])
        a = plant.acceleration(tau)
        for name, value in {"q": q, "v": v, "a": a, "tau": tau}.items():
            np.testing.assert_array_equal(log.channels[name][k], value, err_msg=f"{name} of row {k}")
        plant.advance(tau, 1e-3)


@pytest.mark.parametrize("sensor", NOISY)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(sensor: str) -> None:
    one, two, other = run(sensor), run(sensor), run(sensor, seed=6)
    assert one.digest == two.digest
    assert one.provenance == two.provenance
    assert one.tau is not None
    assert other.tau is not None
    assert (one.tau != other.tau).mean() > 0.5


@pytest.mark.parametrize("sensor", NOISY)
def test_a_slower_log_and_a_shorter_one_are_rows_of_the_same_run(sensor: str) -> None:
    log = run(sensor)
    slow, short = run(sensor, rate=100.0), run(sensor, duration=0.2)
    for name, channel in log.channels.items():
        np.testing.assert_array_equal(slow.channels[name], channel[::10], err_msg=name)
        np.testing.assert_array_equal(short.channels[name], channel[:201], err_msg=name)


@pytest.mark.parametrize("sensor", NOISY)
def test_the_history_has_the_presets_numbers_and_the_seed_but_nothing_that_was_drawn(sensor: str) -> None:
    detail = run(sensor).provenance[0].detail
    known = {"robot", "motion", "controller", "sensor", "rate", "duration", "seed", "mujoco"}
    assert set(detail) == known | {"preset", "clipped_cycles"}
    assert detail["sensor"] == sensor
    assert detail["seed"] == 5
    assert detail["preset"] == SENSORS[sensor].settings
    # Nor does the default controller's model know of it.
    assert detail["controller"] == run("ideal").provenance[0].detail["controller"]


@pytest.mark.parametrize(("sensor", "loose"), [("industrial", 1e-3), ("low-cost", 2e-2)])
def test_the_default_controller_follows_a_motion_through_the_sensors(sensor: str, loose: float) -> None:
    for name in ("two_link", "panda"):
        robot = zoo_robot(name)
        motion = random_fourier(robot, np.random.default_rng(1))
        log = simulate_motion(robot, motion, sensor=sensor, rng=np.random.default_rng(0), duration=1.0)
        assert (tracking_error(log) < loose).all()


def prepared(robot: Robot, log: Recording, cutoff: float) -> Recording:
    """Positions and torques through one zero-phase low pass, positions differentiated centrally, 50 Hz."""
    b, a = butter(4, cutoff, fs=1000.0)
    q, tau = (filtfilt(b, a, log.channels[name], axis=0) for name in ("q", "tau"))
    v = np.gradient(q, 1e-3, axis=0)
    acceleration = np.gradient(v, 1e-3, axis=0)
    kept = slice(200, -200, 20)
    moving = (np.abs(v[kept]) > 0.05).all(axis=1)  # the sign of Coulomb friction is certain
    rows = [x[kept][moving] for x in (log.time, q, v, acceleration, tau)]
    return Recording(robot.joint_names, rows[0], q=rows[1], v=rows[2], a=rows[3], tau=rows[4])


@pytest.mark.parametrize(
    ("sensor", "cutoff", "percent"), [("industrial", 20.0, 1.0), ("low-cost", 10.0, 3.0)]
)
def test_least_squares_on_a_log_predicts_another_motion(sensor: str, cutoff: float, percent: float) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["viscous", "coulomb", "offset"])
    motion, other = (random_fourier(robot, np.random.default_rng(seed), period=5.0) for seed in (1, 2))
    log = simulate_motion(robot, motion, sensor=sensor, rng=np.random.default_rng(0))
    estimate = fit_least_squares(problem_of(robot, layout, [prepared(robot, log, cutoff)]))
    truth = simulate_motion(robot, other, rate=50.0)
    assert truth.tau is not None
    error = torque_error(truth.tau, estimate.torque(robot, truth))
    assert error.overall < percent
