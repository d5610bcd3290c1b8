"""Margins of whole motions: what they are, their gradients by differences and by Pinocchio, and in words."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_states
from steelyard.errors import InputError, ShapeError
from steelyard.finding import Severity
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, Scene, bounds_of, clearance_of, violations
from steelyard.limits.margins import Margins
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, JointKind, Limits, Robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

NAMES = [field.name for field in fields(Margins)]


def limits_of(robot: Robot, *, distance: float = 0.0, drive: tuple[str, ...] = ()) -> MotionLimits:
    table = Obstacle("table", Box(1.0, 1.0, 0.1), Pose.from_rpy([0.1, 0.2, 0.3], [0.5, 0.1, -0.1]))
    layout = layout_of(robot, drive)
    clearance = clearance_of(robot, Scene((table,)))
    return MotionLimits(robot, clearance, layout, layout.complete_nominal(), distance)


def random_weights(rng: np.random.Generator, like: Margins) -> Margins:
    return Margins(*(rng.standard_normal(getattr(like, name).shape) for name in NAMES))


def weighted(margins: Margins, weights: Margins) -> float:
    return float(sum((getattr(margins, n) * getattr(weights, n)).sum() for n in NAMES))


def test_each_margin_is_the_way_to_its_limit() -> None:
    robot = zoo_robot("panda")
    rng = np.random.default_rng(0)
    q, v, a = random_states(rng, robot, 5)
    limits = limits_of(robot, distance=0.02)
    margins = limits.margins(q, v, a)
    tau = PinocchioRobot.of(robot, link_parameters(robot))
    for k, joint in enumerate(robot.joints):
        most = joint.limits
        np.testing.assert_allclose(margins.position[:, k], np.c_[q[:, k] - most.lower, most.upper - q[:, k]])
        np.testing.assert_allclose(margins.velocity[:, k].min(axis=1), most.velocity - np.abs(v[:, k]))
        np.testing.assert_allclose(
            margins.acceleration[:, k].min(axis=1), most.acceleration - np.abs(a[:, k])
        )
        judged = np.array([tau.torques(q[n], v[n], a[n])[k] for n in range(5)])
        np.testing.assert_allclose(margins.torque[:, k].min(axis=1), most.effort - np.abs(judged))
    assert limits.clearance is not None
    np.testing.assert_allclose(margins.clearance, limits.clearance.distances(q) - 0.02)
    assert margins.smallest == min(getattr(margins, name).min() for name in NAMES)
    assert margins.smallest < 0.0


@pytest.mark.parametrize("name", ["panda", "puma560", "scara"])
def test_the_adjoint_is_the_difference_of_the_weighted_margins(name: str) -> None:
    robot = zoo_robot(name)
    rng = np.random.default_rng(1)
    q, v, a = random_states(rng, robot, 3)
    limits = limits_of(robot, drive=("viscous", "coulomb", "offset", "rotor"))
    weights = random_weights(rng, limits.margins(q, v, a))
    gradient = limits.adjoint(q, v, a, weights)
    h = 1e-6
    for which, bar in enumerate((gradient.q, gradient.v, gradient.a)):
        assert bar.shape == v.shape
        for n, k in np.ndindex(*v.shape):
            ahead, behind = [x.copy() for x in (q, v, a)], [x.copy() for x in (q, v, a)]
            ahead[which][n, k] += h
            behind[which][n, k] -= h
            change = weighted(limits.margins(*ahead), weights) - weighted(limits.margins(*behind), weights)
            assert bar[n, k] == pytest.approx(change / (2 * h), rel=1e-5, abs=1e-4)


def test_torque_gradients_are_pinocchios() -> None:
    robot = zoo_robot("panda")
    rng = np.random.default_rng(2)
    q, v, a = random_states(rng, robot, 4)
    layout = layout_of(robot)
    limits = MotionLimits(robot, None, layout, layout.complete_nominal())
    zero = limits.margins(q, v, a)
    weights = Margins(*(np.zeros(getattr(zero, n).shape) for n in NAMES))
    pull = rng.standard_normal((4, 7, 2))
    gradient = limits.adjoint(q, v, a, replace(weights, torque=pull))
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    for n in range(4):
        parts = pin.computeRNEADerivatives(judge.model, judge.data, q[n], v[n], a[n])
        w = pull[n, :, 0] - pull[n, :, 1]
        for found, part in zip((gradient.q, gradient.v, gradient.a), parts, strict=True):
            full = part if part is not parts[2] else np.triu(part) + np.triu(part, 1).T
            np.testing.assert_allclose(found[n], w @ full, rtol=1e-9, atol=1e-9)


def test_a_limit_that_is_not_stated_is_infinitely_far_and_pulls_at_nothing() -> None:
    robot = zoo_robot("two_link")
    robot = replace(robot, joints=tuple(replace(joint, limits=Limits()) for joint in robot.joints))
    layout = layout_of(robot)
    limits = MotionLimits(robot, None, layout, layout.complete_nominal())
    q, v, a = random_states(np.random.default_rng(3), robot, 3)
    margins = limits.margins(q, v, a)
    assert margins.smallest == np.inf
    gradient = limits.adjoint(q, v, a, random_weights(np.random.default_rng(4), margins))
    assert not gradient.q.any()
    assert not gradient.v.any()
    assert not gradient.a.any()
    assert violations(limits, margins) == ()


def test_a_floating_base_has_no_position_limit_and_its_joints_keep_theirs() -> None:
    robot = zoo_robot("panda")
    free = robot.floating()
    q, v, a = random_states(np.random.default_rng(5), free, 2)
    margins = MotionLimits(free).margins(q, v, a)
    assert np.isinf(margins.position[:, :6]).all()
    fixed = MotionLimits(robot).margins(q[:, 7:], v[:, 6:], a[:, 6:])
    np.testing.assert_array_equal(margins.position[:, 6:], fixed.position)
    np.testing.assert_array_equal(margins.velocity[:, 6:], fixed.velocity)
    limited = replace(free, joints=(replace(free.joints[0], limits=Limits(-1.0, 1.0)), *free.joints[1:]))
    (finding,) = bounds_of(limited).findings
    assert finding.code == "unchecked-limit"
    assert "floating joint has no single position" in finding.message


def test_a_joint_that_mimics_another_keeps_its_own_limits() -> None:
    robot = zoo_robot("two_link")
    tied = replace(robot.joints[1], mimic=Mimic("joint1", -2.0, 0.5))
    robot = replace(robot, joints=(robot.joints[0], tied))
    limits = MotionLimits(robot)
    q, v, a = np.array([[1.5], [0.2]]), np.array([[4.0], [1.0]]), np.array([[1.0], [2.0]])
    margins = limits.margins(q, v, a)
    np.testing.assert_allclose(margins.position[:, 1, 0], -2.0 * q[:, 0] + 0.5 + np.pi)
    np.testing.assert_allclose(margins.velocity[:, 1, 0], -2.0 * v[:, 0] + 6.0)
    weights = random_weights(np.random.default_rng(6), margins)
    gradient = limits.adjoint(q, v, a, weights)
    assert gradient.v.shape == (2, 1)
    w = weights.velocity[..., 0] - weights.velocity[..., 1]
    np.testing.assert_allclose(gradient.v[:, 0], w[:, 0] - 2.0 * w[:, 1])
    (broken,) = violations(limits, margins)
    assert broken.place == "joint 'joint2'"


def test_broken_limits_are_named_with_their_size_and_time() -> None:
    robot = zoo_robot("panda")
    limits = limits_of(robot, distance=0.01)
    q = np.tile([0.0, 0.3, 0.0, -1.5, 0.0, 1.8, 0.0], (3, 1))
    v, a = np.zeros((3, 7)), np.zeros((3, 7))
    time = [0.0, 0.5, 1.0]
    before = violations(limits, limits.margins(q, v, a), time)
    v[1, 3] = -2.175 - 0.12
    (found,) = [f for f in violations(limits, limits.margins(q, v, a), time) if f not in before]
    assert found.severity is Severity.ERROR
    assert str(found) == (
        "error: joint 'panda_joint4': velocity exceeds its limit of -2.175 rad/s by 0.12 rad/s at t = 0.5 s."
    )
    v[1, 3] = -2.175 + 0.01
    (near,) = [
        f for f in violations(limits, limits.margins(q, v, a), time, near=0.01) if f.code == "velocity-limit"
    ]
    assert near.severity is Severity.INFO
    assert near.message == "velocity reaches -2.175 rad/s but for 0.01 rad/s at t = 0.5 s."


def test_near_and_overlapping_pairs_are_named_with_their_distance() -> None:
    robot = zoo_robot("two_link")
    for height, words in (
        (-2.53, "is 5 mm from box 'floor', less than the 10 mm required, in sample 0."),
        (-2.52, "overlaps box 'floor' by 5 mm, less than the 10 mm required, in sample 0."),
    ):
        floor = Obstacle("floor", Box(1.0, 1.0, 0.01), Pose(np.eye(3), np.array([0.0, 0.0, height])))
        limits = MotionLimits(robot, clearance_of(robot, Scene((floor,))), distance=0.01)
        margins = limits.margins(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)))
        (found,) = [f for f in violations(limits, margins) if f.place == "link2"]
        assert found.message == words
        assert found.code == "clearance"


def test_what_is_not_checked_is_said() -> None:
    robot = zoo_robot("panda")
    assert {f.code for f in MotionLimits(robot).findings} == {"unchecked-torque", "unchecked-clearance"}
    assert MotionLimits(robot).margins(np.zeros(7), np.zeros(7), np.zeros(7)).torque.shape == (1, 0, 2)
    layout = layout_of(robot)
    with pytest.raises(InputError, match="need both a layout and parameters"):
        MotionLimits(robot, layout=layout)
    with pytest.raises(InputError, match="belongs to another robot"):
        MotionLimits(robot, clearance_of(zoo_robot("scara")))
    limits, still = MotionLimits(robot), (np.zeros(7), np.zeros(7), np.zeros(7))
    zeros = Margins(*(np.zeros(getattr(limits.margins(*still), name).shape) for name in NAMES))
    with pytest.raises(ShapeError, match=r"weights\.velocity"):
        limits.adjoint(*still, replace(zeros, velocity=np.zeros((1, 6, 2))))


def test_every_zoo_robot_has_finite_position_limits_or_turns_without_end() -> None:
    bounds = bounds_of(zoo_robot("kinova_gen3"))
    endless = [joint.kind is JointKind.CONTINUOUS for joint in zoo_robot("kinova_gen3").joints]
    np.testing.assert_array_equal(np.isinf(bounds.upper), endless)
