"""Which robots have a rational geometry, and what is said of those that have none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.identifiable.exact.identifiability import exact_identifiability
from steelyard.identifiable.exact.mechanism import decimals, rational_mechanism
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot, parse_urdf
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

ROUNDED = """<robot name="rounded"><link name="base"/><link name="arm"/><link name="tip"/>
  <joint name="swing" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="nod" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 0 1"/>
    <origin xyz="0.3 0 0" rpy="1.5708 0 0"/></joint></robot>"""


def with_joint(robot: Robot, i: int, **changes: object) -> Robot:
    joints = list(robot.joints)
    joints[i] = replace(joints[i], **changes)
    return replace(robot, joints=tuple(joints))


def test_numbers_are_the_decimals_that_were_written() -> None:
    assert decimals([0.333, -0.0825, 1e-5]) == (Fraction(333, 1000), Fraction(-33, 400), Fraction(1, 100000))


def test_round_off_of_composed_placements_is_not_a_length() -> None:
    third = 0.1 + 0.2
    assert third != 0.3
    assert decimals([third, 6e-17, 0.0]) == (Fraction(3, 10), 0, 0)


def test_a_small_length_that_was_written_stays() -> None:
    assert decimals([1e-9, 5e-13, 0.4]) == (Fraction(1, 10**9), Fraction(5, 10**13), Fraction(2, 5))


def test_a_rounded_angle_is_refused_with_its_links_and_the_remedy() -> None:
    robot = parse_urdf(ROUNDED)
    with pytest.raises(InputError, match=r"'tip' on 'arm' \(joint 'nod'\).*this one so.*floating point"):
        exact_identifiability(robot, layout_of(robot))


def test_a_snapped_description_is_taken() -> None:
    robot = parse_urdf(ROUNDED, snap=True)
    assert exact_identifiability(robot, layout_of(robot)).count == 8


def test_an_oblique_placement_on_the_base_names_the_base() -> None:
    robot = with_joint(zoo_robot("puma560"), 0, placement=Pose.from_rpy((0.3, 0.0, 0.0)))
    with pytest.raises(InputError, match="'link1' on 'base'"):
        exact_identifiability(robot, layout_of(robot))


def test_an_axis_without_a_rational_length_is_refused() -> None:
    robot = with_joint(zoo_robot("puma560"), 2, axis=np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0))
    with pytest.raises(InputError, match=r"axis of joint 'joint3'.*no rational unit vector"):
        exact_identifiability(robot, layout_of(robot))


def test_a_layout_with_friction_that_grows_with_the_load_is_refused() -> None:
    robot = zoo_robot("scara")
    with pytest.raises(InputError, match="not linear"):
        exact_identifiability(robot, layout_of(robot, ("load",)))


def test_a_layout_of_another_robot_is_refused() -> None:
    with pytest.raises(InputError):
        exact_identifiability(zoo_robot("scara"), layout_of(zoo_robot("puma560")))


def test_what_a_ball_or_a_free_base_can_turn_need_not_be_a_quarter_turn() -> None:
    placement = Pose.from_rpy((0.2, -0.4, 0.9), (0.1, 0.0, 0.0))
    for kind in (JointKind.SPHERICAL, JointKind.FLOATING):
        joint = Joint("free", kind, -1, placement, np.array([0.0, 0.0, 1.0]))
        robot = Robot("ball", Link("base"), (joint,), (Link("body"),))
        straight = with_joint(robot, 0, placement=Pose(np.eye(3), placement.translation))
        layout = layout_of(robot)
        turned, plain = exact_identifiability(robot, layout), exact_identifiability(straight, layout)
        assert turned.groupings == plain.groupings


def test_a_joint_that_turns_with_another_keeps_its_phase() -> None:
    robot = zoo_robot("one_link")
    twin = replace(robot.joints[0], name="twin", mimic=Mimic(robot.joints[0].name, 1.0, offset=0.5))
    pair = replace(robot, joints=(*robot.joints, twin), links=(*robot.links, Link("twin_link")))
    with pytest.raises(InputError, match="'twin_link'"):
        rational_mechanism(pair)
