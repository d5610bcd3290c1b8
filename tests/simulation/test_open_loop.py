"""Open-loop experiments: inputs with the spectra they promise, an arm that stays safe, logs that tell all."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lsim

from steelyard.drive import Drive
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.robot import Robot
from steelyard.simulation import joint_experiments, nominal_posture
from steelyard.simulation.joint_experiments import _Answers, open_loop, prbs, shift_register, square_wave
from steelyard.simulation.plant import Plant
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("crane_x7")
NAMES = ROBOT.joint_names
POSTURE = nominal_posture(ROBOT)


@pytest.mark.parametrize("order", range(3, 16))
def test_a_shift_register_has_the_correlation_of_noise(order: int) -> None:
    x = shift_register(order)
    n = 2**order - 1
    correlation = np.fft.ifft(np.abs(np.fft.fft(x)) ** 2).real
    assert len(x) == n
    assert correlation[0] == pytest.approx(n)
    assert correlation[1:] == pytest.approx(-np.ones(n - 1), abs=1e-6)


def test_a_seed_chooses_where_the_sequence_starts() -> None:
    x, y = shift_register(7), shift_register(7, np.random.default_rng(1))
    assert not np.array_equal(x, y)
    assert any(np.array_equal(np.roll(x, k), y) for k in range(127))
    assert np.array_equal(y, shift_register(7, np.random.default_rng(1)))
    held = prbs(0.3, 0.005, 7, 1000.0)
    assert np.array_equal(held[::5], 0.3 * x)
    assert np.array_equal(held, np.repeat(held[::5], 5))


def test_a_square_wave_swings_about_where_it_starts() -> None:
    u = square_wave(2.0, 0.4, 3, 1000.0)
    assert len(u) == 1200
    assert set(u) == {-2.0, 2.0}
    v = np.cumsum(u)
    assert abs(v.sum()) <= 2.0 * len(u)
    assert v.max() == pytest.approx(-v.min(), abs=4.0)


def smooth(robot: Robot) -> Robot:
    """Without dry friction."""
    drives = [Drive(joint.drive.viscous, 0.0, 0.0, joint.drive.rotor) for joint in robot.joints]
    joints = zip(robot.joints, drives, strict=True)
    return replace(robot, joints=tuple(replace(joint, drive=drive) for joint, drive in joints))


def test_a_wrist_without_dry_friction_is_a_lag_of_first_order() -> None:
    robot, torque = smooth(ROBOT), square_wave(0.2, 0.4, 2, 1000.0)
    log = open_loop(robot, NAMES[6], torque, posture=POSTURE, sensor="ideal", settling=0.1)
    M, D = 0.00453, robot.joints[6].drive.viscous
    # With a torque that is held, SciPy's simulation is exact at the samples.
    _, q, _ = lsim(([1.0], [M, D, 0.0]), torque, np.arange(len(torque)) * 1e-3, interp=False)
    assert log.q[:, 6] == pytest.approx(q, abs=2e-3 * np.ptp(q))


def test_gravity_is_balanced_and_the_other_joints_are_held() -> None:
    still = open_loop(ROBOT, NAMES[3], np.zeros(600), posture=POSTURE, rng=np.random.default_rng(0))
    assert np.ptp(still.q[:, 3]) < 0.01
    assert abs(still.provenance[0].detail["constant"]) > 0.5
    driven = open_loop(
        ROBOT, NAMES[3], square_wave(1.2, 0.4, 2, 1000.0), posture=POSTURE, rng=np.random.default_rng(0)
    )
    assert np.ptp(driven.q[:, 3]) > 0.1
    assert np.abs(np.delete(driven.q - POSTURE, 3, axis=1)).max() < 0.02


def test_a_push_ends_at_the_travel_and_short_of_the_limit() -> None:
    push = np.full(3000, 0.5)
    log = open_loop(ROBOT, NAMES[6], push, posture=POSTURE, rng=np.random.default_rng(0), travel=0.4)
    assert log.provenance[0].detail["ended"] == "left its room"
    assert log.n < 1000
    assert 0.35 < log.q[:, 6].max() <= 0.4
    near = POSTURE.copy()
    near[3] = -0.3
    upper = ROBOT.joints[3].limits.upper
    log = open_loop(
        ROBOT, NAMES[3], np.full(3000, 1.5), posture=near, rng=np.random.default_rng(0), travel=1.0
    )
    assert log.q[:, 3].max() <= upper - 0.1


def test_the_log_tells_what_was_commanded_and_how() -> None:
    u = prbs(0.3, 0.02, 4, 1000.0)
    log = open_loop(ROBOT, NAMES[5], u, posture=POSTURE, rng=np.random.default_rng(7), backlash=0.01)
    assert np.array_equal(log.extra[f"command_{NAMES[5]}"], u)
    detail = log.provenance[0].detail
    assert (detail["joint"], detail["sensor"], detail["seed"]) == (NAMES[5], "low-cost", 7)
    assert detail["backlash"] == (0.01,) * 7
    assert log.current is not None
    # The meter sees the command two readings later: 1.5 ms and at most 0.3 ms of jitter.
    assert np.abs(log.tau[10:, 5] - detail["constant"] - u[8:-2]).max() < 0.01
    again = open_loop(ROBOT, NAMES[5], u, posture=POSTURE, rng=np.random.default_rng(7), backlash=0.01)
    assert again == log


def test_every_joint_is_driven_far_enough_and_kept_within_its_room() -> None:
    robot = zoo_robot("scara")
    posture = nominal_posture(robot)
    logs = list(joint_experiments(robot, posture=posture, rng=np.random.default_rng(0), travel=0.5))
    assert len(logs) == 3 * 4
    for k, log in enumerate(logs):
        j, limits = k // 3, robot.joints[k // 3].limits
        assert f"command_{robot.joint_names[j]}" in log.extra
        half = min(0.5, posture[j] - limits.lower, limits.upper - posture[j])
        assert 0.2 * half < np.abs(log.q[:, j] - posture[j]).max() <= half


def test_the_crane_stands_in_posture_a() -> None:
    assert pytest.approx([0, 0, 0, -0.5 * math.pi, 0, 0, 0]) == POSTURE


def test_what_would_not_be_an_experiment_is_refused() -> None:
    good = {"posture": POSTURE, "rng": np.random.default_rng(0)}
    with pytest.raises(UnknownNameError, match="joint"):
        open_loop(ROBOT, "elbow", np.ones(50), **good)
    with pytest.raises(InputError, match="too near to its limits"):
        open_loop(ROBOT, NAMES[3], np.ones(50), posture=np.zeros(7), rng=np.random.default_rng(0), travel=1.0)
    with pytest.raises(InputError, match="generator"):
        open_loop(ROBOT, NAMES[3], np.ones(50), posture=POSTURE)
    with pytest.raises(NoSolutionError, match="--travel"):
        open_loop(ROBOT, NAMES[6], np.full(500, 3.9), **good, travel=0.05, settling=0.05)
    for call in (
        lambda: square_wave(1.0, 0.401, 1, 1000.0),
        lambda: square_wave(-1.0, 0.4, 1, 1000.0),
        lambda: prbs(1.0, 0.0005, 5, 1000.0),
        lambda: shift_register(2),
        lambda: open_loop(ROBOT, NAMES[3], np.ones(50), **good, travel=-1.0),
        lambda: open_loop(ROBOT, NAMES[3], np.ones(50), **good, settling=0.0),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("travel", [0.01, 0.1])
def test_the_largest_amplitude_uses_its_share_of_the_travel_and_no_more(travel: float) -> None:
    free = replace(ROBOT, joints=tuple(replace(joint, drive=Drive()) for joint in ROBOT.joints))
    cycle, shape = 2e-3, square_wave(1.0, 0.4, 2, 500.0)
    amplitude = _Answers(free, 0, POSTURE, cycle, travel).amplitude(shape)
    plant = Plant(free)
    plant.place(POSTURE, np.zeros(free.nv))
    # Without friction the position is the torque integrated twice.
    q = amplitude * np.cumsum(np.cumsum(shape)) * cycle**2 / plant.mass_matrix()[0, 0]
    assert np.abs(q).max() == pytest.approx(0.6 * travel, rel=2e-3)
