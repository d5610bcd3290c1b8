"""Robot, Joint, Limits, Link: what they hold, what they refuse, what they derive."""

from __future__ import annotations

import math
import sys
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from oracles.random_robots import random_robot
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, ShapeError, UnknownNameError
from steelyard.inertia.body import random_body
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Capsule,
    Cylinder,
    FixedLink,
    Joint,
    JointKind,
    Limits,
    Link,
    Robot,
    Sphere,
    parse_urdf,
)

X = np.array([1.0, 0.0, 0.0])
HERE = Pose.identity()


def _joint(name: str, parent: int, **more: object) -> Joint:
    return Joint(name, JointKind.REVOLUTE, parent, HERE, X, **more)  # type: ignore[arg-type]


def _robot(*parents: int, links: tuple[Link, ...] | None = None) -> Robot:
    joints = tuple(_joint(f"j{i}", parent) for i, parent in enumerate(parents))
    return Robot("r", Link("base"), joints, links or tuple(Link(f"l{i}") for i in range(len(parents))))


def test_gravity_falls_along_minus_z_unless_told() -> None:
    robot = _robot(-1)
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(robot.with_gravity((1, 2, 3)).gravity, [1, 2, 3])
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])
    with pytest.raises(ShapeError, match="gravity"):
        robot.with_gravity((1, 2))
    with pytest.raises(ShapeError, match="gravity"):
        robot.with_gravity((1, 2, math.nan))


def test_nothing_of_a_robot_can_be_written_into() -> None:
    robot = random_robot(np.random.default_rng(0), bodies=3)
    for array in (robot.gravity, robot.joints[0].axis, robot.joints[0].placement.rotation):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Robot("r", Link("b"), (), ()), "robot 'r': has no moving joint"),
        (lambda: _robot(-1, 0, links=(Link("l"),)), "2 joints but 1 moving links"),
        (lambda: _robot(-1, 1), "joint 'j1': its parent link has index 1, but parents must come before"),
        (lambda: _robot(-2), "joint 'j0': its parent link has index -2"),
        (lambda: _robot(-1, -1, links=(Link("l"), Link("l"))), "links: the name 'l' is used twice"),
        (lambda: _robot(-1, links=(Link("base"),)), "links: the name 'base' is used twice"),
        (
            lambda: _robot(-1, links=(Link("l", fixed=(FixedLink("l", HERE),)),)),
            "links: the name 'l' is used twice",
        ),
        (
            lambda: replace(_robot(-1, -1), joints=(_joint("j", -1), _joint("j", -1))),
            "joints: the name 'j' is used twice",
        ),
        (lambda: replace(_joint("j", -1), axis=2 * X), "joint 'j': the axis must have length 1, got 2"),
        (lambda: Limits(lower=2, upper=1), "limits: the lower limit 2 lies above the upper limit 1"),
        (lambda: Limits(velocity=-1), "the velocity limit -1 is negative"),
        (lambda: Limits(acceleration=-1), "the acceleration limit -1 is negative"),
        (lambda: Limits(effort=math.nan), "a limit is not a number"),
        (lambda: Sphere(0.0), "the radius of a sphere must be positive, got 0 m"),
        (lambda: Box(1, math.nan, 1), "the y of a box must be positive"),
        (lambda: Cylinder(1, -1), "the length of a cylinder must be positive"),
        (lambda: Capsule(-1, 1), "the radius of a capsule must be positive"),
    ],
)
def test_what_cannot_be_a_robot_is_refused(make: object, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        make()  # type: ignore[operator]


def test_depths_count_joints_from_the_base_and_the_tool_sits_at_the_longest_chain() -> None:
    robot = _robot(-1, 0, -1, 2, 3)
    assert robot.depths == (1, 2, 1, 2, 3)
    assert robot.tool_frame.name == "l4"
    tip = FixedLink("tip", Pose.from_rpy((0, 0, 0), (0, 0, 1)))
    tipped = replace(robot, links=(*robot.links[:4], Link("l4", fixed=(tip,))))
    assert (tipped.tool_frame.name, tipped.tool_frame.link) == ("tip", 4)
    np.testing.assert_array_equal(tipped.tool_frame.placement.translation, [0, 0, 1])


def test_frames_are_found_by_name_and_a_wrong_name_gets_a_suggestion() -> None:
    robot = _robot(-1, 0)
    assert [frame.name for frame in robot.frames] == ["base", "l0", "l1"]
    assert [robot.frame(name).link for name in ("base", "l0", "l1")] == [-1, 0, 1]
    with pytest.raises(UnknownNameError, match=r"unknown link 'l11'\. Did you mean 'l1'"):
        robot.frame("l11")


def test_a_link_weighs_what_it_and_its_bolted_links_weigh_in_one_frame() -> None:
    rng = np.random.default_rng(0)
    own, part = random_body(rng), random_body(rng)
    X_LF = Pose.from_rpy((0.1, 0.2, 0.3), (1, 2, 3))
    body = Link("l", own, (FixedLink("f", X_LF, part), FixedLink("g", HERE, None))).body
    assert body is not None
    assert body.mass == own.mass + part.mass
    com = (own.mass * own.com + part.mass * X_LF.apply(part.com)) / body.mass
    np.testing.assert_allclose(body.com, com, rtol=1e-14)
    assert Link("l", None, (FixedLink("g", HERE, None),)).body is None


def test_limits_come_as_arrays_in_joint_order() -> None:
    robot = random_robot(np.random.default_rng(1), bodies=4)
    for name in ("lower", "upper", "velocity", "acceleration", "effort"):
        assert robot.limit_array(name).tolist() == [getattr(joint.limits, name) for joint in robot.joints]


def test_units_follow_the_kind_of_joint() -> None:
    turning, sliding = _joint("j", -1), replace(_joint("j", -1), kind=JointKind.PRISMATIC)
    assert (turning.position_unit, turning.effort_unit) == ("rad", "N·m")
    assert (sliding.position_unit, sliding.effort_unit) == ("m", "N")
    assert [kind for kind in JointKind if not kind.rotates] == [JointKind.PRISMATIC, JointKind.FLOATING]


def test_a_chain_of_5000_joints_is_read_without_recursion() -> None:
    count = 5000
    assert count > sys.getrecursionlimit()
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="{"fixed" if k % 10 else "continuous"}"><origin rpy="0.1 0 0" xyz="0 0 1"/>'
        f'<parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(count)
    )
    robot = parse_urdf(f'<robot name="snake">{links}{joints}</robot>')
    assert robot.nv == 500
    assert len(robot.frames) == count + 1
    assert max(robot.depths) == 500


def test_the_digest_knows_what_moves_weighs_or_limits_and_nothing_else() -> None:
    robot = random_robot(np.random.default_rng(2), bodies=3)
    joint, link = robot.joints[0], robot.links[0]
    body = random_body(np.random.default_rng(9))

    def with_joint(**changes: object) -> Robot:
        return replace(robot, joints=(replace(joint, **changes), *robot.joints[1:]))  # type: ignore[arg-type]

    def with_link(**changes: object) -> Robot:
        return replace(robot, links=(replace(link, **changes), *robot.links[1:]))  # type: ignore[arg-type]

    other_kind = next(kind for kind in JointKind if kind is not joint.kind)
    changed = [
        replace(robot, name="other"),
        replace(robot, base=Link("other")),
        robot.with_gravity(np.nextafter(robot.gravity, 1)),
        with_joint(name="other"),
        with_joint(kind=other_kind),
        with_joint(placement=Pose.from_rpy((0.1, 0, 0))),
        with_joint(axis=-joint.axis),
        with_joint(limits=Limits(effort=1.0)),
        with_joint(limits=Limits(acceleration=1.0)),
        with_joint(drive=Drive(rotor=0.125)),
        with_link(name="other"),
        with_link(own=body),
        with_link(fixed=(FixedLink("extra", HERE),)),
        with_link(fixed=(FixedLink("extra", HERE, body),)),
    ]
    digests = {robot.digest, *(each.digest for each in changed)}
    assert len(digests) == len(changed) + 1
    twin = random_robot(np.random.default_rng(2), bodies=3)
    assert replace(twin, source="elsewhere", findings=()).digest == robot.digest
