"""Modified Denavit-Hartenberg frames, judged by Pinocchio, by published tables and by their definition."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_robot, random_states
from shared_material import needs_shared, robot_files
from steelyard.archive import from_document, to_document
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import Body
from steelyard.link_frames import LinkFrames, modified_dh_frames, urdf_frames
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot, load_robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import ZOO, zoo_robot

UNIT = Body(1.0, np.zeros(3), np.eye(3))
Z = (0.0, 0.0, 1.0)


def arm(*joints: tuple[Pose, tuple[float, float, float]], kinds: str = "", parents: str = "") -> Robot:
    """A robot by the placement and axis of its joints, revolute and in a row unless stated.

    Args:
        joints: placement in the parent's frame, and axis.
        kinds: one letter a joint, `r` revolute, `p` prismatic, `f` floating, `s` spherical, `h` helical.
        parents: one digit a joint, `0` for the base, `1` for the first link.
    """
    letters = dict(
        zip("rpfsh", ("revolute", "prismatic", "floating", "spherical", "helical"), strict=True),
    )
    made = []
    for i, (placement, axis) in enumerate(joints):
        kind = JointKind(letters[kinds[i]]) if kinds else JointKind.REVOLUTE
        parent = int(parents[i]) - 1 if parents else i - 1
        pitch = 0.1 if kind is JointKind.HELICAL else 0.0
        made.append(Joint(f"joint{i + 1}", kind, parent, placement, np.array(axis), pitch=pitch))
    links = tuple(Link(f"link{i + 1}", UNIT) for i in range(len(made)))
    return Robot("arm", Link("base"), tuple(made), links)


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy: tuple[float, float, float] = (0, 0, 0)) -> Pose:
    return Pose.from_rpy(rpy, (x, y, z))


def in_base(robot: Robot, frames: LinkFrames, q: np.ndarray) -> np.ndarray:
    """X_0D of every link by our forward kinematics, (nb, 4, 4)."""
    X_0L = forward_kinematics(robot, q[None])[0]
    return np.array([X @ pose.matrix for X, pose in zip(X_0L, frames.poses, strict=True)])


def by_table(robot: Robot, frames: LinkFrames, positions: np.ndarray) -> Iterator[np.ndarray]:
    """X_0D of every link from the table alone, given every joint's position."""
    X: list[Pose] = []
    for joint, row, position in zip(robot.joints, frames.rows, positions, strict=True):
        assert row is not None
        X.append((frames.base if joint.parent < 0 else X[joint.parent]) @ row.pose(position))
        yield X[-1].matrix


SERIAL_AND_TREES = [*ZOO, *range(25)]


def some_robot(which: str | int) -> Robot:
    return zoo_robot(which) if isinstance(which, str) else random_robot(np.random.default_rng(which))


@pytest.mark.parametrize("which", SERIAL_AND_TREES)
def test_the_table_reproduces_the_kinematics(which: str | int) -> None:
    robot = some_robot(which)
    frames = modified_dh_frames(robot)
    q = random_states(np.random.default_rng(7), robot, 1)[0][0]
    table = np.array(list(by_table(robot, frames, q)))
    np.testing.assert_allclose(table, in_base(robot, frames, q), atol=1e-12)
    judge = PinocchioRobot.of(robot)
    pin.forwardKinematics(judge.model, judge.data, judge.q(q))
    for k, name in enumerate(robot.joint_names):
        X_0L = judge.data.oMi[judge.model.getJointId(name)].homogeneous
        np.testing.assert_allclose(table[k], X_0L @ frames.poses[k].matrix, atol=1e-12)
    assert frames.misfit < 1e-13


def test_tied_and_helical_joints_follow_the_table_by_their_own_positions() -> None:
    robot = arm((at(), Z), (at(x=0.3, rpy=(1.0, 0, 0)), Z), (at(y=0.2, rpy=(0, 0.7, 0)), Z), kinds="rhr")
    tied = replace(robot.joints[2], mimic=Mimic("joint1", -2.0, 0.4))
    robot = replace(robot, joints=(*robot.joints[:2], tied))
    frames = modified_dh_frames(robot)
    q = np.array([0.3, -1.1])
    table = np.array(list(by_table(robot, frames, np.array([0.3, -1.1, -2.0 * 0.3 + 0.4]))))
    np.testing.assert_allclose(table, in_base(robot, frames, q), atol=1e-13)


@pytest.mark.parametrize("which", SERIAL_AND_TREES)
def test_frames_are_what_their_definition_says(which: str | int) -> None:
    robot = some_robot(which)
    frames = modified_dh_frames(robot)
    X_0D = in_base(robot, frames, np.zeros(robot.nq))
    X_0L = forward_kinematics(robot, np.zeros((1, robot.nq)))[0]
    for i, joint in enumerate(robot.joints):
        z, x, origin = X_0D[i, :3, 2], X_0D[i, :3, 0], X_0D[i, :3, 3]
        np.testing.assert_allclose(z, X_0L[i, :3, :3] @ joint.axis, atol=1e-12)
        np.testing.assert_allclose(np.cross(z, origin - X_0L[i, :3, 3]), 0, atol=1e-12)  # on the axis
        children = [k for k, other in enumerate(robot.joints) if other.parent == i]
        straight = [k for k in children if (r := frames.rows[k]) and abs(r.gamma) + abs(r.b) < 1e-9]
        assert bool(straight) == bool(children)
        for k in straight:  # x is perpendicular to the next axis and meets it
            axis, point = X_0L[k, :3, :3] @ robot.joints[k].axis, X_0L[k, :3, 3]
            assert abs(x @ axis) < 1e-12
            row = frames.rows[k]
            assert row is not None
            np.testing.assert_allclose(np.cross(axis, origin + row.a * x - point), 0, atol=1e-12)
        row = frames.rows[i]
        assert row is not None
        assert abs(row.theta) <= np.pi / 2 + 1e-5


def degrees(frames: LinkFrames) -> np.ndarray:
    """Columns alpha [deg], a [m], theta [deg], d [m] of a serial chain."""
    rows = [row for row in frames.rows if row is not None]
    assert all(row.gamma == row.b == 0.0 for row in rows)
    return np.array([[np.degrees(r.alpha), r.a, np.degrees(r.theta), r.d] for r in rows])


# Panda: Franka Emika's own table (FCI documentation, control parameters), without its flange. CRANE-X7:
# heights of RT Corporation's description added up by hand, 41 + 64, 65 + 185 and 121 + 129 mm. SCARA: the
# table of the public model of Wensing et al. (2024).
KNOWN_TABLES = {
    "panda": [
        [0, 0, 0, 0.333],
        [-90, 0, 0, 0],
        [90, 0, 0, 0.316],
        [90, 0.0825, 0, 0],
        [-90, -0.0825, 0, 0.384],
        [90, 0, 0, 0],
        [90, 0.088, 0, 0],
    ],
    "crane_x7": [
        [0, 0, 0, 0.105],
        [90, 0, 0, 0],
        [-90, 0, 0, 0.25],
        [90, 0, 0, 0],
        [-90, 0, 0, 0.25],
        [90, 0, 0, 0],
        [-90, 0, 0, 0],
    ],
    "scara": [[0, 0, 0, 0], [0, 0.1, 0, 0], [0, 0.2, 0, 0], [0, 0, 0, 0]],
}


@pytest.mark.parametrize("name", KNOWN_TABLES)
def test_the_table_of_an_arm_is_the_known_one(name: str) -> None:
    np.testing.assert_allclose(degrees(modified_dh_frames(zoo_robot(name))), KNOWN_TABLES[name], atol=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_where_the_description_puts_a_revolute_frame_on_its_axis_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5)
    joints = [replace(joint, kind=JointKind.REVOLUTE) for joint in robot.joints]
    robot = replace(robot, joints=tuple(joints))
    # Every link's frame slides along its axis and turns about it; what hangs on the link stays where it was.
    moves = [
        Pose(pin.exp3(rng.uniform(-3, 3) * joint.axis), rng.uniform(-0.5, 0.5) * joint.axis)
        for joint in joints
    ]
    moved = []
    for joint, move in zip(joints, moves, strict=True):
        parent = Pose.identity() if joint.parent < 0 else moves[joint.parent]
        moved.append(replace(joint, placement=parent.inverse() @ joint.placement @ move))
    other = replace(robot, joints=tuple(moved))
    q = rng.uniform(-3, 3, robot.nq)
    np.testing.assert_allclose(
        in_base(robot, modified_dh_frames(robot), q),
        in_base(other, modified_dh_frames(other), q),
        atol=1e-11,
    )


def test_a_rounded_quarter_turn_counts_as_exact_and_a_real_tilt_does_not() -> None:
    def with_turn(angle: float, **tolerance: float) -> LinkFrames:
        turned = at(x=0.4, y=0.2, rpy=(angle, 0.0, 0.0))
        robot = arm((at(), Z), (turned, (0.0, 1.0, 0.0)), (at(y=0.3), (0.0, 1.0, 0.0)))
        return modified_dh_frames(robot, **tolerance)

    exact, rounded, tilted = with_turn(np.pi / 2), with_turn(1.5708), with_turn(np.pi / 2 + 1e-3)
    np.testing.assert_allclose([row.d for row in exact.rows if row], 0.0, atol=1e-15)
    for one, other in zip(exact.poses, rounded.poses, strict=True):
        np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-5)
    assert 1e-7 < rounded.misfit < 1e-5
    assert tilted.misfit < 1e-12  # axes that are skew have one normal, so the table is exact again
    assert np.linalg.norm(tilted.poses[0].translation) > 100.0  # but it is far away
    assert with_turn(np.pi / 2 + 1e-3, parallel=2e-3).poses[0].translation == pytest.approx(np.zeros(3))


@needs_shared
@pytest.mark.parametrize("file", robot_files(".urdf"), ids=lambda file: file.stem)
def test_frames_of_public_descriptions_stay_near_their_links(file: Path) -> None:
    frames = modified_dh_frames(load_robot(file))
    assert frames.misfit < 1e-5
    assert max(np.linalg.norm(pose.translation) for pose in frames.poses) < 0.5


def test_parallel_and_coincident_axes_leave_the_origin_where_d_is_zero() -> None:
    frames = modified_dh_frames(arm((at(z=0.1), Z), (at(x=0.3, z=0.2), Z), (at(z=0.5), Z), (at(x=1e-8), Z)))
    expected = [[0, 0, 0, 0], [0, 0.3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(degrees(frames), expected, atol=1e-7)


def test_opposite_axes_are_half_a_turn_apart() -> None:
    frames = modified_dh_frames(arm((at(), Z), (at(x=0.3), (0.0, 0.0, -1.0))))
    np.testing.assert_allclose(degrees(frames), [[0, 0, 0, 0], [180, 0.3, 0, 0]], atol=1e-13)


def test_of_two_ways_at_right_angles_x_turns_forwards() -> None:
    for y in (0.3, -0.3):
        frames = modified_dh_frames(arm((at(), Z), (at(y=y), Z)))
        np.testing.assert_allclose(degrees(frames), [[0, 0, 90, 0], [0, y, 0, 0]], atol=1e-13)


def test_the_line_of_a_prismatic_joint_is_where_the_description_puts_it() -> None:
    frames = modified_dh_frames(arm((at(), Z), (at(x=0.3, z=0.2), Z), kinds="rp"))
    np.testing.assert_allclose(degrees(frames), [[0, 0, 0, 0], [0, 0.3, 0, 0]], atol=1e-13)
    np.testing.assert_allclose(frames.poses[1].translation, [0.0, 0.0, -0.2], atol=1e-13)


def test_the_longest_branch_sets_x_and_the_others_have_two_numbers_more() -> None:
    short, long = (at(y=0.2, z=0.1, rpy=(0, 1, 0)), Z), (at(x=0.3), Z)
    robot = arm((at(), Z), short, long, (at(x=0.1), Z), parents="0113")
    frames = modified_dh_frames(robot)
    first, branch, main, _ = frames.rows
    assert None not in (first, branch, main)
    assert (main.gamma, main.b, main.a) == (0.0, 0.0, pytest.approx(0.3))
    assert branch.gamma != 0.0
    assert branch.b != 0.0
    alone = modified_dh_frames(arm((at(), Z), short))
    assert not np.allclose(alone.poses[0].matrix, frames.poses[0].matrix)
    twins = modified_dh_frames(arm((at(), Z), short, long, parents="011"))
    np.testing.assert_allclose(alone.poses[0].matrix, twins.poses[0].matrix)  # of equal ones, the first


@pytest.mark.parametrize("kind", ["f", "s"])
def test_a_link_without_an_axis_keeps_its_own_frame(kind: str) -> None:
    robot = arm((at(x=0.2), Z), (at(x=0.1, y=0.3, rpy=(1, 0, 0)), Z), (at(y=0.1), Z), kinds=f"r{kind}r")
    frames = modified_dh_frames(robot)
    assert frames.rows[1] is None
    np.testing.assert_allclose(frames.poses[1].matrix, np.eye(4), atol=1e-15)
    assert frames.rows[2] is not None
    np.testing.assert_allclose(frames.poses[0].matrix, np.eye(4), atol=1e-15)  # as for a last link
    beside = arm(
        (at(x=0.2), Z),
        (at(x=0.1), Z),
        (at(x=0.1), Z),
        (at(x=0.3, y=0.3), Z),
        kinds=f"r{kind}rr",
        parents="0121",
    )
    turned = modified_dh_frames(beside).poses[0].rotation[:, 0]  # to the shorter branch, which has an axis
    np.testing.assert_allclose(turned, np.array([1.0, 1.0, 0.0]) / np.sqrt(2), atol=1e-15)


def test_urdf_frames_are_the_links_own() -> None:
    frames = urdf_frames(zoo_robot("panda"))
    assert (frames.name, frames.rows) == ("urdf", ())
    assert all(np.array_equal(pose.matrix, np.eye(4)) for pose in frames.poses)


def test_frames_survive_json_to_the_last_bit() -> None:
    frames = modified_dh_frames(zoo_robot("so101").floating())
    text = json.dumps(to_document(frames))
    again = from_document(LinkFrames, json.loads(text))
    assert json.dumps(to_document(again)) == text
    assert again.rows == frames.rows


def test_unknown_links_and_unequal_counts_are_refused() -> None:
    frames = urdf_frames(zoo_robot("two_link"))
    with pytest.raises(UnknownNameError, match="link1, link2"):
        frames.pose("link3")
    with pytest.raises(InputError, match="2 links do not match 1 poses"):
        replace(frames, poses=frames.poses[:1])
