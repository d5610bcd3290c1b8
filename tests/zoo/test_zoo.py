"""The zoo: its numbers against public descriptions and the papers they come from."""

from __future__ import annotations

import numpy as np
import pytest

from shared_material import ROBOTS, needs_shared
from steelyard.errors import UnknownNameError
from steelyard.inertia import check_body
from steelyard.pose import Pose
from steelyard.robot import Robot, load_robot
from steelyard.zoo import ZOO, find_robot, zoo_robot


def link_poses(robot: Robot, q: np.ndarray) -> list[Pose]:
    """Pose of every moving link in the base, by chaining placements with Rodrigues' formula."""
    poses: list[Pose] = []
    for joint, q_j in zip(robot.joints, q, strict=True):
        x, y, z = joint.axis
        S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = Pose(np.eye(3) + np.sin(q_j) * S + (1 - np.cos(q_j)) * S @ S, np.zeros(3))
        parent = poses[joint.parent] if joint.parent >= 0 else Pose.identity()
        poses.append(parent @ joint.placement @ turn)
    return poses


@pytest.mark.parametrize("name", ZOO)
def test_every_number_has_a_source_and_every_body_can_exist(name: str) -> None:
    entry, robot = ZOO[name], zoo_robot(name)
    assert entry.name == name == robot.name
    assert {"kinematics", "limits"} <= set(entry.sources)
    assert all(len(source) > 5 for source in entry.sources.values())
    assert robot.findings == ()
    for link in robot.links:
        assert link.body is not None
        assert check_body(link.body.parameters).strict


@pytest.mark.parametrize("name", ZOO)
def test_building_twice_gives_the_same_robot(name: str) -> None:
    assert zoo_robot(name).digest == zoo_robot(name).digest


@needs_shared
def test_the_panda_stands_where_the_public_description_says() -> None:
    ours, public = zoo_robot("panda"), load_robot(ROBOTS / "panda_erd" / "panda.urdf")
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = rng.uniform(-3, 3, 7)
        fingers = np.zeros(public.nv - 7)
        theirs = link_poses(public, np.r_[q, fingers])[:7]
        for mine, other in zip(link_poses(ours, q), theirs, strict=True):
            assert np.abs(mine.translation - other.translation).max() < 1e-9
            assert np.abs(mine.rotation - other.rotation).max() < 1e-9
    flange = public.frame("panda_link8")
    assert np.allclose(flange.placement.translation, ours.tool_frame.placement.translation, atol=1e-12)


@needs_shared
def test_the_panda_weighs_and_is_limited_as_the_public_description_says() -> None:
    ours, public = zoo_robot("panda"), load_robot(ROBOTS / "panda_erd" / "panda.urdf")
    for mine, other in zip(ours.links, public.links, strict=False):
        if mine.name == "panda_link7":  # the public one carries a hand
            assert mine.own is not None
            assert other.own is not None
        np.testing.assert_allclose(mine.own.parameters, other.own.parameters, rtol=1e-12, atol=1e-15)
    for name in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(ours.limit_array(name), public.limit_array(name)[:7])


def test_the_rods_are_those_of_paper_001() -> None:
    # (5.3): m, c_x, c_z, m G_yy of the first rod; (5.5): the same of the second.
    one, two = zoo_robot("one_link"), zoo_robot("two_link")
    for link, (m, c_x, c_z, inertia) in (
        (one.links[0], (0.6, 0.0, -0.5, 0.2)),
        (two.links[0], (0.6, 0.0, -0.5, 0.2)),
        (two.links[1], (0.8, 0.0, -0.75, 0.6)),
    ):
        phi = link.body.parameters
        assert phi[0] == pytest.approx(m)
        assert phi[1] == pytest.approx(m * c_x)
        assert phi[3] == pytest.approx(m * c_z)
        assert phi[6] == pytest.approx(inertia)
    assert np.allclose(two.joints[1].placement.translation, [0, 0, -1.0])


def test_a_name_or_a_path_becomes_a_robot() -> None:
    assert find_robot("two_link").nv == 2
    with pytest.raises(UnknownNameError, match="Did you mean 'panda'") as caught:
        find_robot("pnda")
    assert set(caught.value.choices) == set(ZOO)
    with pytest.raises(ValueError, match="no such file"):
        find_robot("somewhere/else.urdf")
