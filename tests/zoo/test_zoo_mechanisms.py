"""The mechanisms of Wensing et al. (2024), judged by its tables and by the sources of their numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.newton_euler import world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from shared_material import ROBOTS, needs_shared
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot, load_robot
from steelyard.zoo import zoo_robot

G = 9.81
ALONG_X, DOWN, NONE = (G, 0.0, 0.0), (0.0, 0.0, -G), (0.0, 0.0, 0.0)


def link_poses(robot: Robot, q: np.ndarray) -> list[Pose]:
    return [Pose(R, p) for R, p in world_poses(robot, q)]


# Wensing et al. (2024), Tables 2, 4 and 5 and Fig. 4. A Cheetah leg whose gravity runs along its first axis
# shows less.
@pytest.mark.parametrize(
    ("name", "gravity", "count"),
    [
        ("puma560", DOWN, 36),
        ("puma560", NONE, 34),
        ("scara", DOWN, 8),
        ("scara", NONE, 8),
        ("cheetah3_leg", ALONG_X, 17),
        ("cheetah3_leg", NONE, 13),
        ("cheetah3_leg", DOWN, 15),
        ("rr_parallel", DOWN, 4),
        ("rr_parallel", ALONG_X, 6),
        ("rr_perpendicular", DOWN, 8),
    ],
)
def test_as_many_parameters_show_as_paper_002_says(
    name: str, gravity: tuple[float, float, float], count: int
) -> None:
    robot = zoo_robot(name).with_gravity(gravity)
    assert numerical_base(robot, layout_of(robot), np.random.default_rng(0)).count == count


@pytest.mark.parametrize(
    ("name", "gravity"),
    [("puma560", DOWN), ("scara", DOWN), ("rr_parallel", DOWN), ("cheetah3_leg", ALONG_X)],
)
def test_it_stands_in_the_gravity_of_the_paper(name: str, gravity: tuple[float, float, float]) -> None:
    assert tuple(zoo_robot(name).gravity) == gravity


def test_four_legs_show_four_times_what_one_shows() -> None:
    robot = zoo_robot("cheetah3")
    assert numerical_base(robot, layout_of(robot), np.random.default_rng(0)).count == 4 * 17


def test_the_cheetah_can_be_let_go() -> None:
    held, free = zoo_robot("cheetah3"), zoo_robot("cheetah3").floating()
    assert (held.nv, free.nv, free.nq) == (12, 18, 19)
    assert free.mass == held.mass


def test_the_cheetah_weighs_the_sum_of_its_published_parts() -> None:
    # Cheetah-Software, Cheetah3.h: the torso, and per leg three links and three rotors.
    leg = 1.645278752937798 + 1.071200401412615 + 0.9019384095786234
    rotors = 0.4999939189070923 + 0.5405045213157799 + 0.5398676189202086
    assert zoo_robot("cheetah3").mass == pytest.approx(26.6 + 4 * (leg + rotors), rel=1e-12)
    assert zoo_robot("cheetah3_leg").mass == pytest.approx(leg + rotors - 0.4999939189070923, rel=1e-12)


def centre_of_mass(robot: Robot, q: np.ndarray) -> np.ndarray:
    bodies = [link.body for link in robot.links]
    places = [pose.apply(body.com) for pose, body in zip(link_poses(robot, q), bodies, strict=True)]
    return np.average(places, axis=0, weights=[body.mass for body in bodies])


def test_left_legs_mirror_right_ones() -> None:
    robot, rng = zoo_robot("cheetah3"), np.random.default_rng(0)
    q = np.zeros((4, 3))
    right, left = rng.uniform(-1, 1, 3), np.zeros(3)
    left[:] = right * (-1, 1, 1)  # the ab/ad axis points forward on both sides
    for front, side in ((0, right), (1, left), (2, right), (3, left)):
        q[front] = side
    assert centre_of_mass(robot, q.ravel())[1] == pytest.approx(0.0, abs=1e-12)
    feet = [pose.apply([0.345, 0, 0]) for pose in link_poses(robot, q.ravel())[2::3]]
    for right_foot, left_foot in ((feet[0], feet[1]), (feet[2], feet[3])):
        np.testing.assert_allclose(right_foot * (1, -1, 1), left_foot, atol=1e-12)


def test_the_links_of_a_left_leg_lie_where_the_published_first_moments_say() -> None:
    # Cheetah-Software, Cheetah3.h: m and mx, my, mz of hip and knee, in frames with x back, y right, z up.
    robot = zoo_robot("cheetah3")
    poses = link_poses(robot, np.zeros(12))
    at_hip = np.array([0.3, 0.128 + 0.045, 0.0])
    thigh, shank = (1.071200401412615, 0.9019384095786234)
    thigh_moment = (-7.564034441661159e-4, -3.180527291037499e-2, -0.104749680865413)
    shank_moment = (2.215928611851693e-2, 3.623331361414656e-3, -4.411934868569409e-2)
    for name, joint, mass, moment in (
        ("fl_thigh", at_hip, thigh, thigh_moment),
        ("fl_shank", at_hip - (0, 0, 0.342), shank, shank_moment),
    ):
        i = robot.link_names.index(name)
        own = robot.links[i].own
        assert own is not None
        expected = joint + np.array(moment) / mass * (-1, -1, 1)
        np.testing.assert_allclose(poses[i].apply(own.com), expected, atol=1e-12)


def test_at_zero_the_cheetah_stands_on_straight_legs_beside_its_hips() -> None:
    robot = zoo_robot("cheetah3")
    foot = link_poses(robot, np.zeros(12))[2].apply(robot.tool_frame.placement.translation)
    # Half the torso's length; half its width and the hip's offset, to the right; both leg links, down.
    np.testing.assert_allclose(foot, [0.3, -0.128 - 0.045, -0.342 - 0.345], atol=1e-12)


def test_a_cheetah_leg_hangs_below_its_shoulder_at_zero() -> None:
    robot = zoo_robot("cheetah3_leg")
    shank = link_poses(robot, np.zeros(3))[2]
    foot = shank.apply(robot.tool_frame.placement.translation)
    np.testing.assert_allclose(foot, [0.342 + 0.345, -0.045, 0.0], atol=1e-12)


@needs_shared
def test_the_puma_has_the_reach_of_the_public_description() -> None:
    """Its frames differ from ours, so only what the elbow does to the wrist's distance is compared."""
    ours, public = zoo_robot("puma560"), load_robot(ROBOTS / "puma560" / "puma560_robot.urdf")
    extremes = []
    for robot in (ours, public):
        distances = []
        for elbow in np.linspace(-math.pi, math.pi, 721):
            poses = link_poses(robot, np.array([0.3, -0.5, elbow, 0.0, 0.0, 0.0]))
            distances.append(np.linalg.norm(poses[4].translation - poses[1].translation))
        extremes.append((min(distances), max(distances)))
    np.testing.assert_allclose(extremes[0], extremes[1], atol=1e-3)


def test_the_puma_stretches_out_along_x() -> None:
    poses = link_poses(zoo_robot("puma560"), np.array([0.0, 0.0, -math.pi / 2, 0.0, 0.0, 0.0]))
    # a2 and d4 along x, d3 along y; a3 lifts the wrist.
    np.testing.assert_allclose(poses[5].translation, [0.4318 + 0.4331, 0.1501, 0.0203], atol=1e-12)


def test_the_puma_is_held_up_by_the_gravity_torques_armstrong_published() -> None:
    """Armstrong et al. 1986, gravity constants g1 to g5 [N·m], with the wrist straight."""
    g1, g2, g3, g4, g5 = -37.2, -8.44, 1.02, 0.249, -0.0282
    robot = zoo_robot("puma560")
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    rest = np.zeros(6)
    for shoulder, elbow in np.random.default_rng(0).uniform(-3, 3, (20, 2)):
        q = np.array([0.0, shoulder, elbow - math.pi, 0.0, 0.0, 0.0])  # his elbow counts from half a turn
        s23, c23 = math.sin(shoulder + elbow), math.cos(shoulder + elbow)
        third = g2 * s23 + g4 * c23 + g5 * s23
        second = g1 * math.cos(shoulder) + g3 * math.sin(shoulder) + third
        np.testing.assert_allclose(judge.torques(q, rest, rest)[1:3], [second, third], atol=0.08)
