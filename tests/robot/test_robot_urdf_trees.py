"""Random trees written as URDF come back as the same robot, for us and for Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot, random_states, urdf_text
from steelyard.dynamics import torque_regressor
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot, parse_urdf

SEEDS = range(30)


def _pair(seed: int) -> tuple[Robot, Robot]:
    robot = random_robot(np.random.default_rng(seed))
    return robot, parse_urdf(urdf_text(robot)).with_gravity(robot.gravity)


def _assert_same_pose(one: Pose, other: Pose) -> None:
    np.testing.assert_allclose(one.matrix, other.matrix, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_reading_gives_back_every_joint(seed: int) -> None:
    robot, read = _pair(seed)
    assert set(read.joint_names) == set(robot.joint_names)
    for joint in robot.joints:
        twin = read.joints[read.joint_names.index(joint.name)]
        assert (twin.kind, twin.limits) == (joint.kind, joint.limits)
        assert (twin.drive.viscous, twin.drive.coulomb) == (joint.drive.viscous, joint.drive.coulomb)
        assert (twin.drive.offset, twin.drive.rotor) == (None, None)
        parents = [
            None if each.parent < 0 else tree.links[each.parent].name
            for each, tree in ((joint, robot), (twin, read))
        ]
        assert parents[0] == parents[1]
        np.testing.assert_allclose(twin.axis, joint.axis, rtol=0, atol=1e-15)
        _assert_same_pose(twin.placement, joint.placement)


@pytest.mark.parametrize("seed", SEEDS)
def test_reading_gives_back_every_link_and_what_is_bolted_to_it(seed: int) -> None:
    robot, read = _pair(seed)
    links = {link.name: link for link in (read.base, *read.links)}
    for link in (robot.base, *robot.links):
        twin = links[link.name]
        assert (twin.own is None) == (link.own is None)
        assert [part.name for part in twin.fixed] == [part.name for part in link.fixed]
        for part, original in zip(twin.fixed, link.fixed, strict=True):
            _assert_same_pose(part.placement, original.placement)
        assert [item.shape for item in twin.collision] == [item.shape for item in link.collision]
        for item, original_item in zip(twin.collision, link.collision, strict=True):
            _assert_same_pose(item.pose, original_item.pose)
        if link.body is not None:
            assert twin.body is not None
            assert_agree(twin.body.parameters, link.body.parameters)
    assert read.mass == pytest.approx(robot.mass, rel=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_reads_the_same_robot_from_the_text(seed: int) -> None:
    robot, read = _pair(seed)
    judge = PinocchioRobot.from_urdf(read, urdf_text(robot))
    judge.model.gravity.linear = robot.gravity.copy()
    assert_agree(link_parameters(read), judge.bodies())
    q, v, a = random_states(np.random.default_rng(seed), read, 2)
    Y = torque_regressor(read, layout_of(read), q, v, a)
    for n in range(2):
        assert_agree(Y[n], judge.regressor(q[n], v[n], a[n]))


@pytest.mark.parametrize("seed", SEEDS)
def test_parents_come_before_children_and_subtrees_stand_together(seed: int) -> None:
    _, read = _pair(seed)
    for i, joint in enumerate(read.joints):
        assert joint.parent < i
        # Between a link and its parent stand only links of the parent's subtree.
        for k in range(max(joint.parent, 0) + 1, i):
            ancestor = k
            while ancestor > joint.parent >= 0:
                ancestor = read.joints[ancestor].parent
            assert ancestor == joint.parent or joint.parent < 0
