"""Gravity-compensated PID: the weight is Pinocchio's, the integral is summed by hand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot
from steelyard.control import GravityPID, control_command
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot


@pytest.mark.parametrize("seed", range(10))
def test_without_error_it_carries_the_weight_and_the_offsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot("panda") if seed == 0 else random_robot(rng)
    law = GravityPID.nominal(robot, 30.0, 20.0, 10.0, 5.0, cycle=1e-3)
    q, v, a_ref = rng.uniform(-2, 2, (3, robot.nv))
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    gravity = pin.computeGeneralizedGravity(judge.model, judge.data, judge.q(q))
    offset = np.array([joint.drive.value("offset") or 0.0 for joint in robot.joints])
    # Both in Pinocchio's order of joints.
    assert_agree(judge.v(law.torque(q, v, q, v, a_ref)), gravity + judge.v(offset))


def test_the_integral_sums_the_error_and_stays_within_its_limit() -> None:
    robot, rng, h = zoo_robot("panda"), np.random.default_rng(3), 2e-3
    kp, ki, kd = rng.uniform(5, 50, (3, robot.nv))
    limit = rng.uniform(0.05, 0.4, robot.nv)
    law = GravityPID.nominal(robot, kp, ki, kd, limit, cycle=h)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    offset = np.array([joint.drive.value("offset") or 0.0 for joint in robot.joints])
    memory, integral, clamped = np.array(law.memory), np.zeros(robot.nv), 0
    for _ in range(60):
        q, v, q_ref, v_ref, a_ref = rng.uniform(-1, 1.5, (5, robot.nv))
        integral = np.clip(integral + ki * h * (q_ref - q), -limit, limit)
        clamped += int((np.abs(integral) == limit).sum())
        still = np.zeros(robot.nv)
        expected = judge.torques(q, still, still) + offset + kp * (q_ref - q) + integral + kd * (v_ref - v)
        assert_agree(control_command(law, memory, q, v, q_ref, v_ref, a_ref), expected)
    assert 0 < clamped < 60 * robot.nv  # both regimes were seen


def test_a_clamped_integral_turns_back_at_once() -> None:
    robot, still = zoo_robot("one_link"), [0.0]
    law = GravityPID.nominal(robot, 0.0, 100.0, 0.0, 2.0, cycle=1e-2)
    memory = np.array(law.memory)
    for _ in range(1000):  # far beyond the limit
        wound = control_command(law, memory, [0.0], still, [1.0], still, still)[0]
    assert wound == pytest.approx(2.0)  # hanging straight down, the rod weighs nothing
    back = control_command(law, memory, [0.0], still, [-0.5], still, still)[0]
    assert back == pytest.approx(1.5)


@pytest.mark.parametrize(("limit", "reaches"), [(20.0, True), (0.5, False)])
def test_the_integral_removes_the_error_of_a_wrong_model_if_its_limit_lets_it(
    limit: float, reaches: bool
) -> None:
    robot, h = zoo_robot("two_link"), 2e-3
    layout = layout_of(robot)
    phi = 0.7 * layout.complete_nominal()  # the arm is heavier than the law thinks
    law = GravityPID(robot, layout, phi, 60.0, 60.0, 12.0, limit, cycle=h)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    goal, still = np.array([0.8, 0.5]), np.zeros(2)
    q, v, memory = goal.copy(), np.zeros(2), np.array(law.memory)
    for _ in range(6000):
        tau = control_command(law, memory, q, v, goal, still, still)
        v = v + h * pin.aba(judge.model, judge.data, q, v, tau)
        q = q + h * v
    assert np.abs(v).max() < 1e-3
    assert bool(np.abs(goal - q).max() < 1e-3) is reaches
