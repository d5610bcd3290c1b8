"""Commands reach the joints late, in order, and within the limits, and the history says so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from steelyard.arrays import Array
from steelyard.control import PD
from steelyard.drive import Drive
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop, rollout
from steelyard.simulation import SENSORS, SensorPreset, simulate_motion
from steelyard.simulation.closed_loop import drawn
from steelyard.zoo import zoo_robot


def commands(law: PD, log: Recording) -> Array:
    """What the law answers to each row of the log, before any limit."""
    rows = zip(log.q, log.v, log.q_ref, log.v_ref, log.a_ref, strict=True)  # type: ignore[arg-type]
    return np.array([law.torque(*row) for row in rows])


def moved(robot: Robot) -> FourierMotion:
    return random_fourier(robot, np.random.default_rng(1), period=2.0)


def bare(robot: Robot) -> Robot:
    """The robot without friction, which the two simulators integrate in different ways."""
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def weak(effort: float) -> Robot:
    robot = zoo_robot("two_link")
    joints = [replace(j, limits=replace(j.limits, effort=effort)) for j in robot.joints]
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize(("delay", "rows"), [(0.0, 0), (0.3e-3, 1), (1e-3, 1), (1.5e-3, 2), (2e-3, 2)])
def test_the_torque_of_a_row_answers_the_row_that_was_read_a_delay_before(delay: float, rows: int) -> None:
    robot = zoo_robot("two_link")
    law, motion = PD(robot, 80.0, 8.0), moved(robot)
    log = simulate_motion(
        robot, motion, controller=law, sensor=SensorPreset(name="late", delay=delay), duration=0.2
    )
    assert log.tau is not None
    answer = commands(law, log)
    np.testing.assert_array_equal(log.tau[rows:], answer[: len(answer) - rows])
    np.testing.assert_array_equal(log.tau[:rows], answer[:1].repeat(rows, axis=0))


def test_without_its_noise_the_industrial_torque_is_exactly_one_millisecond_late() -> None:
    robot = zoo_robot("two_link")
    law, motion = PD(robot, 80.0, 8.0), moved(robot)
    quiet = replace(SENSORS["industrial"], torque_noise=0.0, torque_bias=0.0, torque_quantum=0.0)
    log = simulate_motion(robot, motion, controller=law, sensor=quiet, duration=0.2)
    assert log.tau is not None
    answer = commands(law, log)
    lateness = [float(np.abs(log.tau[5:] - answer[5 - k : len(answer) - k]).max()) for k in range(4)]
    assert lateness[1] == 0.0
    assert min(lateness[0], lateness[2], lateness[3]) > 1e-3


@pytest.mark.parametrize("delay", [0.0, 0.4e-3, 1e-3, 1.5e-3])
def test_the_arm_moves_as_in_the_rollout_with_the_same_delay(delay: float) -> None:
    robot = bare(zoo_robot("two_link"))
    motion = moved(robot)
    law = PD(robot, 60.0, 0.0)  # no velocity, so that its differentiation plays no part
    log = simulate_motion(
        robot, motion, controller=law, sensor=SensorPreset(name="late", delay=delay), duration=0.5
    )
    layout = layout_of(robot)
    s = motion.sample(log.time)
    start = {"q_start": s.q[0], "v_start": np.zeros(2), "code": "generic"}

    def difference(late: float) -> float:
        loop = ClosedLoop(law, 1e-3, delay=late, scheme="rk4", steps_per_cycle=4)
        judge = rollout(robot, layout, layout.complete_nominal(), s.q, s.v, s.a, loop, **start)  # type: ignore[arg-type]
        return float(np.abs(judge.q - log.q).max())

    assert difference(delay) < 1e-9
    assert difference(delay + 1e-6) > 1e-8


def test_jitter_is_uniform_about_the_delay_and_new_in_each_cycle() -> None:
    jittery = SensorPreset(name="jittery", delay=1.5e-3, jitter=0.3e-3)
    rng = np.random.default_rng(3)
    late, _ = drawn(jittery, jittery.drawn(zoo_robot("one_link"), rng), rng, 1500)
    assert 1.2e-3 <= late.min() < 1.21e-3
    assert 1.79e-3 < late.max() <= 1.8e-3
    assert late.mean() == pytest.approx(1.5e-3, abs=4 * 0.6e-3 / math.sqrt(12 * len(late)))
    assert late.std() == pytest.approx(0.6e-3 / math.sqrt(12), rel=0.1)
    assert abs(np.corrcoef(late[1:], late[:-1])[0, 1]) < 4 / math.sqrt(len(late))


@pytest.mark.parametrize(("jitter", "noise"), [(0.3e-3, 0.0), (0.0, 0.003), (0.3e-3, 0.003)])
def test_delay_and_noise_of_a_cycle_are_drawn_in_turn(jitter: float, noise: float) -> None:
    robot = zoo_robot("two_link")
    preset = SensorPreset(name="random", delay=1.5e-3, jitter=jitter, torque_noise=noise)
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    specimen = preset.drawn(robot, rng)
    delays, seen = drawn(preset, specimen, rng, 50)
    for delay, row in zip(delays, seen, strict=True):
        assert delay == 1.5e-3 + (jitter * other.uniform(-1.0, 1.0) if jitter else 0.0)
        np.testing.assert_array_equal(row, specimen.noise * (other.standard_normal(2) if noise else 0.0))
    assert rng.random() == other.random()


def test_the_true_torque_is_clipped_when_asked_and_still_moves_the_arm_as_it_must() -> None:
    robot = weak(4.0)
    law, motion = PD(robot, 150.0, 15.0), moved(robot)
    log = simulate_motion(robot, motion, controller=law, torque_limits=True, duration=1.0)
    answer = commands(law, log)
    np.testing.assert_array_equal(log.tau, np.clip(answer, -4.0, 4.0))
    counts = dict(zip(robot.joint_names, (np.abs(answer) > 4.0).sum(axis=0).tolist(), strict=True))
    assert log.provenance[0].detail["clipped_cycles"] == counts
    assert counts["joint1"] > 10
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    assert log.v is not None
    assert log.a is not None
    rigid = np.array([judge.torques(*row) for row in zip(log.q, log.v, log.a, strict=True)])
    Fv, Fc = (
        np.array([joint.drive.value(term) for joint in robot.joints]) for term in ("viscous", "coulomb")
    )
    assert_agree(log.tau, rigid + Fv * log.v + Fc * np.sign(log.v), relative=1e-9)  # type: ignore[arg-type]


def test_limits_hold_by_default_for_all_but_the_ideal_robot_and_the_history_counts_the_clipped_cycles() -> (
    None
):
    robot = weak(4.0)
    law, motion = PD(robot, 150.0, 15.0), moved(robot)

    def run(sensor: str, limited: bool | None = None) -> Recording:
        rng = np.random.default_rng(0)
        options = {"duration": 0.5, "rate": 250.0, "torque_limits": limited}
        return simulate_motion(robot, motion, controller=law, sensor=sensor, rng=rng, **options)  # type: ignore[arg-type]

    for sensor, slack in (("industrial", 0.03), ("low-cost", 0.002)):
        log = run(sensor)
        assert np.abs(log.tau).max() < 4.0 * (1 + slack)  # type: ignore[arg-type]
        counts = log.provenance[0].detail["clipped_cycles"]
        fast = simulate_motion(
            robot, motion, controller=law, sensor=sensor, rng=np.random.default_rng(0), duration=0.5
        )
        expected = (np.abs(commands(law, fast)) > 4.0).sum(axis=0).tolist()
        assert counts == dict(zip(robot.joint_names, expected, strict=True))
        assert expected[0] > 10
    for log in (run("ideal"), run("industrial", limited=False)):
        assert np.abs(log.tau).max() > 5.0  # type: ignore[arg-type]
        assert "clipped_cycles" not in log.provenance[0].detail
