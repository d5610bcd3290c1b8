"""A robot that carries a parameter vector says what the vector says, and no more than it must."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from export.material import EVERY, full_layout, nominal_estimate, random_estimate
from oracles.agreement import assert_agree
from oracles.random_robots import SOLID, random_robot
from steelyard.errors import InputError
from steelyard.formats import robot_with_parameters
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import FixedLink, Link, Robot
from steelyard.zoo import ZOO, zoo_robot


@pytest.mark.parametrize("seed", range(10))
def test_its_layout_states_the_vector(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = full_layout(robot, EVERY)
    phi = random_estimate(rng, robot, layout)
    carried = robot_with_parameters(robot, layout, phi)
    again = layout_of(carried, EVERY)
    assert again.stribeck == layout.stribeck
    for link in robot.link_names:
        assert_agree(again.nominal[again.of_link(link)], phi[layout.of_link(link)], relative=1e-12)
    drives = slice(10 * len(robot.links), None)
    assert np.array_equal(again.nominal[drives], phi[drives])


@pytest.mark.parametrize("name", ZOO)
def test_the_nominal_vector_changes_no_link(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    carried = robot_with_parameters(robot, layout, layout.nominal)
    assert all(one is other for one, other in zip(carried.links, robot.links, strict=True))


def _with_bolt(mass: float) -> tuple[Robot, FixedLink]:
    robot = random_robot(np.random.default_rng(3), bodies=2, shapes=SOLID, fixed=False)
    bolt = FixedLink("bolt", Pose.from_rpy([0.1, 0.2, 0.3], [0.1, 0, 0]), Body(mass, [0, 0, 0.1], np.eye(3)))
    links = (replace(robot.links[0], fixed=(bolt,)), robot.links[1])
    return replace(robot, links=links), bolt


def test_bolted_links_keep_what_the_description_states() -> None:
    robot, bolt = _with_bolt(0.01)
    layout = layout_of(robot)
    phi = layout.nominal
    phi[:10] += Body(0.5, [0.0, 0.1, 0.0], 0.01 * np.eye(3)).parameters
    carried = robot_with_parameters(robot, layout, phi)
    assert carried.links[0].fixed == (bolt,)
    assert carried.findings == robot.findings
    assert carried.links[0].own is not None
    assert carried.links[0].own.consistency.consistent


def test_bolted_links_heavier_than_the_estimate_carry_nothing_and_that_is_said() -> None:
    robot, _ = _with_bolt(50.0)
    layout = layout_of(robot)
    phi = layout.nominal
    phi[:10] = Body(2.0, [0.0, 0.1, 0.0], 0.1 * np.eye(3)).parameters
    carried = robot_with_parameters(robot, layout, phi)
    assert carried.links[0].fixed[0].body is None
    assert carried.links[0].own is not None
    assert carried.links[0].own.mass == 2.0
    assert [finding.code for finding in carried.findings] == ["bolted-links-emptied"]
    assert "50 kg" in carried.findings[0].message


def test_bolted_links_that_leave_a_body_which_cannot_exist_carry_nothing_either() -> None:
    robot, bolt = _with_bolt(0.5)
    assert bolt.body is not None
    layout = layout_of(robot)
    phi = layout.nominal
    phi[:10] = Body(2.0, [0.0, 0.1, 0.0], 1e-9 * np.eye(3)).parameters
    carried = robot_with_parameters(robot, layout, phi)
    assert carried.links[0].fixed[0].body is None
    assert [finding.code for finding in carried.findings] == ["bolted-links-emptied"]


def test_a_bolted_link_of_exactly_the_estimated_mass_is_no_division_by_zero() -> None:
    robot, _ = _with_bolt(2.0)
    layout = layout_of(robot)
    phi = layout.nominal
    phi[:10] = Body(2.0, [0.0, 0.1, 0.0], 0.1 * np.eye(3)).parameters
    assert robot_with_parameters(robot, layout, phi).links[0].fixed[0].body is None


def test_an_impossible_link_is_refused_by_name() -> None:
    robot = zoo_robot("panda")
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    phi[layout.index("panda_link3.m")] *= -1.0
    with pytest.raises(InputError, match=r"link 'panda_link3': .*impossible"):
        robot_with_parameters(robot, layout, phi)


def test_friction_that_creates_energy_is_refused_by_name() -> None:
    robot = zoo_robot("two_link")
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    name = f"{robot.joint_names[1]}.viscous"
    phi[layout.index(name)] = -0.1
    with pytest.raises(InputError, match=rf"joint '{robot.joint_names[1]}': viscous cannot be negative"):
        robot_with_parameters(robot, layout, phi)


def test_a_layout_of_another_robot_is_refused() -> None:
    layout = layout_of(zoo_robot("panda"))
    with pytest.raises(InputError, match="layout: is not of robot 'ur10e'"):
        robot_with_parameters(zoo_robot("ur10e"), layout, layout.nominal)


def test_a_virtual_link_stays_without_mass() -> None:
    robot = random_robot(np.random.default_rng(1), bodies=2, fixed=False)
    robot = replace(robot, links=(Link("between", virtual=True), robot.links[1]))
    layout = layout_of(robot)
    phi = layout.nominal
    phi[0] = 1.0
    with pytest.raises(InputError, match="frame without mass"):
        robot_with_parameters(robot, layout, phi)
