"""The Gen3 of Zhang et al. (2025): the zoo's arm with a gripper, heavy gears, limits of the user guide."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.newton_euler import world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from shared_material import ROBOTS, needs_shared
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Capsule, Robot, load_robot
from steelyard.zoo import zoo_robot

PUBLIC = ROBOTS / "kinova_gen3" / "gen3_2f85.urdf"
FLANGE = "gen3_end_effector_link"


def public_gripper(opening: float) -> list[Body]:
    """The gripper's parts of the public description in the flange's frame, at an angle of the knuckles."""
    robot = load_robot(PUBLIC).untied
    q = np.zeros(robot.nv)
    for i, name in enumerate(robot.joint_names):
        if "robotiq" in name:
            q[i] = opening if ("left" in name) != ("finger_tip" in name) else -opening
    poses = [Pose(R, p) for R, p in world_poses(robot, q)]
    flange = robot.frame(FLANGE)
    to_flange = (poses[flange.link] @ flange.placement).inverse()
    parts = []
    for pose, link in zip(poses, robot.links, strict=True):
        if "robotiq" in link.name and link.own is not None:
            parts.append(link.own.moved(to_flange @ pose))
        for part in link.fixed:
            if "robotiq" in part.name and part.body is not None:
                parts.append(part.body.moved(to_flange @ pose @ part.placement))
    return parts


def gripper(robot: Robot) -> Body:
    (part,) = (part for part in robot.links[6].fixed if part.body is not None)
    assert part.body is not None
    assert np.array_equal(part.placement.matrix, robot.frame(FLANGE).placement.matrix)
    return part.body


def test_it_is_the_bare_arm_with_something_at_its_flange() -> None:
    bare, ours = zoo_robot("kinova_gen3"), zoo_robot("kinova_gen3_2f85")
    assert ours.joint_names == bare.joint_names
    for mine, other in zip(ours.joints, bare.joints, strict=True):
        assert np.array_equal(mine.placement.matrix, other.placement.matrix)
        assert mine.kind is other.kind
        assert (mine.drive.viscous, mine.drive.coulomb) == (other.drive.viscous, other.drive.coulomb)
    for link, other_link in zip(ours.links, bare.links, strict=True):
        assert link.own is not None
        assert other_link.own is not None
        assert np.array_equal(link.own.parameters, other_link.own.parameters)


@needs_shared
def test_the_gripper_is_the_sum_of_its_public_parts() -> None:
    ours = gripper(zoo_robot("kinova_gen3_2f85"))
    first, *rest = public_gripper(0.0)
    whole = sum(rest, start=first)
    assert ours.mass == pytest.approx(whole.mass, abs=1e-5)
    np.testing.assert_allclose(ours.com, whole.com, atol=1e-4)
    np.testing.assert_allclose(ours.inertia, whole.inertia, atol=6e-6)


def test_bracelet_and_gripper_weigh_what_paper_000_says() -> None:
    """Section VI-A: about 1.28 kg."""
    body = zoo_robot("kinova_gen3_2f85").links[6].body
    assert body is not None
    assert body.mass == pytest.approx(1.28, abs=0.01)


@needs_shared
@pytest.mark.parametrize("opening", [0.0, 0.2, 0.4, 0.6, 0.8])
def test_the_capsule_holds_every_part_of_the_gripper(opening: float) -> None:
    """However far it is open; a part reaches as far as a thin rod of its gyration radius would."""
    robot = zoo_robot("kinova_gen3_2f85")
    _, geometry = robot.links[6].collision
    assert isinstance(geometry.shape, Capsule)
    to_capsule = geometry.pose.inverse() @ robot.frame(FLANGE).placement
    for part in public_gripper(opening):
        moved = part.moved(to_capsule)
        half_lengths, axes = np.linalg.eigh(0.5 * np.trace(moved.inertia) * np.eye(3) - moved.inertia)
        for square, axis in zip(half_lengths, axes.T, strict=True):
            for sign in (1.0, -1.0):
                x = moved.com + sign * math.sqrt(3.0 * max(square, 0.0) / moved.mass) * axis
                x[2] -= np.clip(x[2], -0.5 * geometry.shape.length, 0.5 * geometry.shape.length)
                assert np.linalg.norm(x) < geometry.shape.radius


def test_the_tool_is_between_the_fingers() -> None:
    robot = zoo_robot("kinova_gen3_2f85")
    assert robot.tool_frame.name == "gen3_grasp"
    at = robot.frame(FLANGE).placement.inverse().apply(robot.tool_frame.placement.translation)
    np.testing.assert_allclose(at, [0.0, 0.0, 0.12], atol=1e-15)
    assert np.array_equal(robot.tool_frame.placement.rotation, robot.frame(FLANGE).placement.rotation)


def test_the_limits_are_those_of_the_user_guide() -> None:
    """Ranges within those of the public description, speeds above them."""
    robot, bare = zoo_robot("kinova_gen3_2f85"), zoo_robot("kinova_gen3")
    np.testing.assert_allclose(np.degrees(robot.limit_array("upper"))[[1, 3, 5]], [128.9, 147.8, 120.3])
    assert (robot.limit_array("upper") <= bare.limit_array("upper")).all()
    np.testing.assert_allclose(np.degrees(robot.limit_array("velocity")), [100.0] * 4 + [180.0] * 3)
    np.testing.assert_allclose(np.degrees(robot.limit_array("acceleration")), [297.94] * 4 + [572.95] * 3)
    np.testing.assert_allclose(robot.limit_array("effort"), [56.7] * 4 + [29.4] * 3)
    np.testing.assert_allclose(bare.limit_array("acceleration"), robot.limit_array("acceleration"), rtol=1e-4)


def test_its_mass_matrix_rests_on_its_gears() -> None:
    r"""$H = H_{links} + G$ is at least the smallest gear, and in some poses hardly more."""
    robot = zoo_robot("kinova_gen3_2f85")
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    gears = np.diag([joint.drive.rotor for joint in robot.joints])
    poses = np.random.default_rng(0).uniform(-3, 3, (500, 7))
    smallest = min(np.linalg.eigvalsh(judge.mass_matrix(q) + gears)[0] for q in poses)
    assert 8.03 < smallest < 1.01 * 8.03
