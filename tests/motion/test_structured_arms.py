"""Structured motions of any arm: proven safe at all times, whatever stands around and however weak it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, Scene, certify, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import extent
from steelyard.motion.recipes import structured_recipes
from steelyard.motion.structured import StructuredMotions, structured_motions, wrist_of
from steelyard.pose import Pose
from steelyard.robot import Box, Robot
from steelyard.zoo import zoo_robot

FEW = tuple(recipe for recipe in structured_recipes() if recipe.name in ("PA03", "PC06", "AG01", "V02"))
FOLDED = np.radians([[0, 0, 0, -90, 0, 0, 0, 0], [0, 0, 0, -150, 0, 0, 0, 0], [0, 60, 0, -150, 0, 0, 0, 0]])
"""Postures of the CRANE-X7 with its hand axis."""


def limits_of(robot: Robot, scene: Scene | None = None) -> MotionLimits:
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    return MotionLimits(robot, clearance_of(robot, scene), layout, layout.complete_nominal())


@cache
def crane() -> tuple[MotionLimits, StructuredMotions]:
    limits = limits_of(zoo_robot("crane_x7_hand"))
    return limits, structured_motions(limits, postures=FOLDED, wrist=5, recipes=FEW)


@pytest.mark.parametrize("name", ["panda", "ur10e", "kinova_gen3", "so101", "one_link", "two_link", "scara"])
def test_any_arm_has_motions_that_are_safe_at_all_times_and_move_every_joint(name: str) -> None:
    limits = limits_of(zoo_robot(name))
    motions = structured_motions(limits, recipes=FEW)
    assert motions.names == ("PA03", "PC06", "AG01", "V02")
    assert (np.abs(np.diff(motions.postures, axis=0)) > 0.0).any(axis=1).all()
    for item in motions:
        certify(limits, item.motion)
        goes = extent(item.motion)
        assert (goes.upper > goes.lower + 1e-3).all(), item.name


@pytest.mark.parametrize(
    ("name", "wrist"),
    [("panda", 5), ("ur10e", 4), ("kinova_gen3", 5), ("crane_x7", 5), ("scara", None), ("one_link", None)],
)
def test_the_wrist_is_the_last_joint_across_the_one_behind_it(name: str, wrist: int | None) -> None:
    assert wrist_of(zoo_robot(name)) == wrist


def test_swings_stop_before_an_obstacle_and_a_posture_that_touches_it_is_refused() -> None:
    robot = zoo_robot("crane_x7_hand")
    free = crane()[1]
    beside = Obstacle("wall", Box(0.4, 0.02, 0.6), Pose(np.eye(3), [0.3, 0.14, 0.3]))
    limits = limits_of(robot, Scene((beside,)))
    motions = structured_motions(limits, postures=FOLDED, wrist=5, recipes=FEW[:1])
    certify(limits, motions["PA03"])
    assert extent(motions["PA03"]).upper[0] < 0.7 * extent(free["PA03"]).upper[0]
    inside = Obstacle("box", Box(0.2, 0.2, 0.2), Pose(np.eye(3), [0.2, 0.0, 0.35]))
    with pytest.raises(InputError, match="postures: the robot is not clear, or too weak, at the first one"):
        structured_motions(limits_of(robot, Scene((inside,))), postures=FOLDED, wrist=5, recipes=FEW)


def weakened(robot: Robot, **change: float) -> Robot:
    joints = [replace(joint, limits=replace(joint.limits, **change)) for joint in robot.joints]
    return replace(robot, joints=tuple(joints))


def test_weak_drives_go_slower_and_still_keep_their_torques() -> None:
    # No Coulomb friction: of a joint that stands still a proof knows no side, and would take long.
    robot = weakened(zoo_robot("crane_x7_hand"), effort=3.4)
    layout = layout_of(robot, ["viscous", "rotor"])
    limits = MotionLimits(robot, clearance_of(robot), layout, layout.complete_nominal())
    motions = structured_motions(limits, postures=FOLDED, wrist=5, recipes=FEW[1:2])
    certify(limits, motions["PC06"])
    assert motions["PC06"].duration > 1.1 * crane()[1]["PC06"].duration
    assert "slowed-swing" in {finding.code for finding in motions.findings}


def test_a_joint_without_limits_has_finite_ones_and_one_without_speed_stands_still() -> None:
    robot = weakened(zoo_robot("panda"), velocity=np.inf, acceleration=np.inf)
    goes = extent(structured_motions(MotionLimits(robot), recipes=FEW[:1])["PA03"])
    assert (goes.velocity <= 0.9 * 2.0 * (1.0 + 1e-5)).all()
    assert (goes.acceleration <= 0.9 * 8.0 * (1.0 + 1e-5)).all()
    joints = list(zoo_robot("panda").joints)
    joints[4] = replace(joints[4], limits=replace(joints[4].limits, velocity=0.0))
    still = structured_motions(MotionLimits(replace(robot, joints=tuple(joints))), recipes=FEW[:1])["PA03"]
    moved = np.ptp(still.sample(np.linspace(0.0, still.duration, 500)).q, axis=0) > 0.1
    assert moved.tolist() == [True] * 4 + [False] + [True] * 2


def test_a_rest_at_the_waypoints_and_other_amplitudes_are_had_on_request() -> None:
    limits, _ = crane()
    amplitude = np.radians([20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 0.0])
    few = structured_motions(
        limits, postures=FOLDED, wrist=5, amplitude=amplitude, recipes=FEW[:1], dwell=0.5
    )
    goes = extent(few["PA03"])
    np.testing.assert_allclose(goes.upper[:3], amplitude[:3], atol=1e-5)
    assert goes.upper[7] == goes.lower[7]
    resting = few["PA03"].sample(np.linspace(0.0, few["PA03"].duration, 4000))
    assert 0.3 < (~resting.v.any(axis=1)).mean() < 0.8


def test_what_cannot_be_had_is_refused_with_its_name() -> None:
    limits, motions = crane()
    with pytest.raises(UnknownNameError, match="unknown structured motion 'PD01'"):
        motions["PD01"]
    for change, words in (
        ({"amplitude": np.zeros(8)}, "amplitude: must be zero or more, and not zero for all"),
        ({"wrist": 8}, "wrist: must be -1 to 7, got 8"),
        ({"postures": np.zeros((2, 8))}, "postures: expected shape"),
    ):
        with pytest.raises(InputError, match=words):
            structured_motions(limits, recipes=FEW[:1], **change)
