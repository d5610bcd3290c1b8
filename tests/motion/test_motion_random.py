"""Random Fourier motions keep the limits at all times, use them, and come from their seed alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.random_robots import random_robot
from steelyard.errors import InputError
from steelyard.motion import UNLIMITED_SLIDE, UNLIMITED_TURN, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Limits, Link, Robot
from steelyard.zoo import zoo_robot

INF = math.inf


def robot_with(*limits: Limits, kind: JointKind = JointKind.REVOLUTE) -> Robot:
    axis = np.array([0.0, 0.0, 1.0])
    joints = [Joint(f"j{i}", kind, i - 1, Pose.identity(), axis, limit) for i, limit in enumerate(limits)]
    return Robot("arm", Link("base"), tuple(joints), tuple(Link(f"l{i}") for i in range(len(joints))))


@pytest.mark.parametrize("harmonics", [2, 3, 5, 10])
def test_limits_hold_at_twenty_kilohertz(harmonics: int) -> None:
    panda = zoo_robot("panda")
    t = np.arange(0.0, 2.0, 5e-5)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        robot = panda if seed < 5 else random_robot(rng)
        motion = random_fourier(robot, rng, harmonics=harmonics, period=2.0, fraction=0.8)
        seen, start = motion.sample(t), motion.sample([0.0]).q[0]
        for j, joint in enumerate(robot.joints):
            lower, upper = joint.limits.lower, joint.limits.upper
            reach = UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE
            lower = start[j] - reach if math.isinf(lower) else lower
            upper = start[j] + reach if math.isinf(upper) else upper
            assert seen.q[:, j].min() >= start[j] - 0.8 * (start[j] - lower)
            assert seen.q[:, j].max() <= start[j] + 0.8 * (upper - start[j])
            assert np.abs(seen.v[:, j]).max() <= joint.limits.velocity
            assert np.abs(seen.a[:, j]).max() <= joint.limits.acceleration


def test_every_joint_comes_within_a_percent_of_one_of_its_limits() -> None:
    robot = zoo_robot("panda")
    motion = random_fourier(robot, np.random.default_rng(5), period=10.0)
    seen = motion.sample(np.linspace(0.0, 10.0, 20_001))
    half = 0.5 * (robot.limit_array("upper") - robot.limit_array("lower"))
    middle = 0.5 * (robot.limit_array("upper") + robot.limit_array("lower"))
    used = np.maximum.reduce(
        [
            np.abs(seen.q - middle).max(axis=0) / (0.6 * half),
            np.abs(seen.v).max(axis=0) / robot.limit_array("velocity"),
            np.abs(seen.a).max(axis=0) / robot.limit_array("acceleration"),
        ]
    )
    assert (used > 0.99).all()
    assert (used <= 1.0).all()


def test_it_rests_in_the_start_pose_at_both_ends() -> None:
    robot = zoo_robot("panda")
    start = np.array([0.0, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7])
    motion = random_fourier(robot, np.random.default_rng(2), start=start)
    ends = motion.sample([0.0, motion.duration])
    np.testing.assert_allclose(ends.q, [start, start], atol=1e-14)
    np.testing.assert_allclose(ends.v, 0.0, atol=1e-14)
    np.testing.assert_allclose(ends.a, 0.0, atol=1e-13)
    assert motion.robot == robot.digest
    assert motion.joints == robot.joint_names


def test_the_same_seed_gives_the_same_bits() -> None:
    robot = zoo_robot("panda")
    one, two, other = (random_fourier(robot, np.random.default_rng(s)) for s in (7, 7, 8))
    assert one.coefficients.tobytes() == two.coefficients.tobytes()
    assert one.digest == two.digest
    assert one.digest != other.digest


def test_joints_without_limits_get_the_stated_reach() -> None:
    t = np.linspace(0.0, 10.0, 5001)
    for kind, reach in ((JointKind.CONTINUOUS, UNLIMITED_TURN), (JointKind.PRISMATIC, UNLIMITED_SLIDE)):
        robot = robot_with(Limits(), Limits(lower=1.0), Limits(upper=-1.0), kind=kind)
        motion = random_fourier(robot, np.random.default_rng(0), fraction=1.0)
        seen = motion.sample(t)
        np.testing.assert_allclose(seen.q[0], [0.0, 1.0 + reach, -1.0 - reach], atol=1e-14)
        far = np.abs(seen.q - seen.q[0]).max(axis=0)
        assert (far <= reach).all()
        assert (far > 0.99 * reach).all()


def test_joints_that_may_not_move_stand_still() -> None:
    robot = robot_with(Limits(0.4, 0.4), Limits(-1.0, 1.0, velocity=0.0), Limits(-1.0, 1.0))
    seen = random_fourier(robot, np.random.default_rng(0)).sample(np.linspace(0.0, 10.0, 101))
    assert (seen.q[:, :2] == [0.4, 0.0]).all()
    assert not seen.v[:, :2].any()
    assert seen.q[:, 2].max() > 0.3 or seen.q[:, 2].min() < -0.3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"harmonics": 1}, "harmonics: .*at least 2, got 1"),
        ({"fraction": 0.0}, r"fraction: must be in \(0, 1\]"),
        ({"fraction": 1.1}, r"fraction: must be in \(0, 1\]"),
        ({"period": -1.0}, "period: must be positive"),
        ({"start": [0.0]}, "start: expected shape"),
        ({"start": [2.0, 0.0]}, r"joint 'j0' starts at 2 rad.*\[-1, 1\]"),
        ({"start": [1.0, 0.0]}, "not strictly inside"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object], words: str) -> None:
    robot = robot_with(Limits(-1.0, 1.0), Limits(-1.0, 1.0))
    with pytest.raises(InputError, match=words):
        random_fourier(robot, np.random.default_rng(0), **options)


def test_a_floating_base_is_refused() -> None:
    robot = robot_with(Limits(), kind=JointKind.FLOATING)
    with pytest.raises(InputError, match="is floating; only arms"):
        random_fourier(robot, np.random.default_rng(0))
