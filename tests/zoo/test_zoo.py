"""What holds for every robot of the zoo, the rods of Lambert (2023), and how a robot is found by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from steelyard.errors import UnknownNameError
from steelyard.inertia import check_body
from steelyard.robot import Box, Capsule, Geometry, JointKind, Sphere
from steelyard.zoo import ZOO, find_robot, zoo_robot


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


@pytest.mark.parametrize("name", ZOO)
def test_every_limit_is_stated_and_every_drive_complete(name: str) -> None:
    robot = zoo_robot(name)
    for limit in ("velocity", "acceleration", "effort"):
        assert np.isfinite(robot.limit_array(limit)).all()
        assert (robot.limit_array(limit) > 0).all()
    for joint in robot.joints:
        assert joint.drive.viscous is not None
        assert joint.drive.coulomb is not None
        bounded = math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper)
        assert bounded == (joint.kind is not JointKind.CONTINUOUS)


@pytest.mark.parametrize("name", ZOO)
def test_it_holds_itself_up_within_its_torque_limits(name: str) -> None:
    """Nominal weight and stated limits are of the same machine: at rest no joint needs all it has."""
    robot = zoo_robot(name)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    rest = np.zeros(robot.nv)
    for q in np.random.default_rng(0).uniform(-3, 3, (200, robot.nv)):
        assert (np.abs(judge.torques(q, rest, rest)) < robot.limit_array("effort")).all()


@pytest.mark.parametrize("name", ZOO)
def test_the_centre_of_mass_of_a_link_lies_in_or_near_its_shapes(name: str) -> None:
    robot = zoo_robot(name)
    for link in robot.links:
        if link.collision and link.body is not None:
            assert min(outside(geometry, link.body.com) for geometry in link.collision) < 0.06


def outside(geometry: Geometry, point: np.ndarray) -> float:
    """Distance from a shape to a point, zero inside, m."""
    x = geometry.pose.inverse().apply(point)
    match geometry.shape:
        case Sphere(radius):
            return max(0.0, float(np.linalg.norm(x)) - radius)
        case Capsule(radius, length):
            x[2] -= np.clip(x[2], -length / 2, length / 2)
            return max(0.0, float(np.linalg.norm(x)) - radius)
        case Box(a, b, c):
            return float(np.linalg.norm(np.maximum(np.abs(x) - np.array([a, b, c]) / 2, 0.0)))
    raise AssertionError(geometry.shape)


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
