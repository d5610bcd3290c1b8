"""A written URDF is the estimated robot in Pinocchio, and the file it came from in every other byte."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from export.material import bodies_of, full_layout, nominal_estimate, random_estimate
from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_robot, random_states
from shared_material import ROBOTS, needs_shared, robot_files
from steelyard.errors import DescriptionError
from steelyard.formats import robot_with_parameters
from steelyard.formats.model_files import urdf_model
from steelyard.formats.urdf import edited_urdf, new_urdf
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import Capsule, Geometry, JointKind, Robot, load_robot, parse_urdf
from steelyard.zoo import ZOO, zoo_robot

FILES = robot_files(".urdf")
NUMBERS = re.compile(rb"<inertial.*?</inertial>|<inertial[^>]*/>|<dynamics[^>]*>", re.DOTALL)

ONE = b"""<?xml version='1.0'?>\r
<!-- \xc3\xa4 comment with <inertial> in it -->\r
<robot name="one"><link name="base"/>
  <link name='arm'><visual><geometry><mesh filename="package://x/a.dae"/></geometry></visual>%s</link>
  <joint name="turn"   type="continuous"><parent link="base"/><child link="arm"/>%s<axis xyz="0 1 0"/></joint>
</robot>   <!-- end -->"""
FULL = (
    b'<inertial>\n<origin  rpy="0.1 0.2 0.3" xyz="0 0 1"/><mass value = "1"/><!-- kg -->'
    b'<inertia iyy="1" ixx="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def _assert_pinocchio_agrees(text: bytes, robot: Robot, layout: Layout, phi: np.ndarray) -> None:
    free = robot.untied
    file = PinocchioRobot.from_urdf(free, text.decode())
    built = PinocchioRobot.of(free, bodies_of(robot, phi))
    file.model.gravity.linear = robot.gravity.copy()
    for q, v, a in zip(*random_states(np.random.default_rng(5), free, 4), strict=True):
        assert_agree(file.torques(q, v, a), built.torques(q, v, a))


@pytest.mark.parametrize("name", ZOO)
def test_robots_of_the_zoo_are_written_whole(name: str) -> None:
    robot = zoo_robot(name)
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    text = urdf_model(robot, layout, phi).content
    _assert_pinocchio_agrees(text, robot, layout, phi)
    again = parse_urdf(text)
    for joint, term in ((j, t) for j in again.joints for t in ("viscous", "coulomb")):
        assert joint.drive.value(term) == phi[layout.index(f"{joint.name}.{term}")]
    assert again.joint_names == robot.joint_names
    assert {frame.name for frame in again.frames} == {frame.name for frame in robot.frames}
    for one, other in zip(again.joints, robot.joints, strict=True):
        assert (one.limits.lower, one.limits.upper) == (other.limits.lower, other.limits.upper)


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_are_written_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = full_layout(robot)
    phi = random_estimate(rng, robot, layout)
    _assert_pinocchio_agrees(urdf_model(robot, layout, phi).content, robot, layout, phi)


def test_a_floating_robot_is_written_whole() -> None:
    robot = zoo_robot("two_link").floating()
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(1), robot, layout)
    _assert_pinocchio_agrees(urdf_model(robot, layout, phi).content, robot, layout, phi)


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])
def test_public_files_are_edited_in_place(path: Path) -> None:
    robot = load_robot(path)
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(2), robot, layout)
    given = path.read_bytes()
    model = urdf_model(robot, layout, phi, description=given)
    assert "written-anew" not in [finding.code for finding in model.findings]
    _assert_pinocchio_agrees(model.content, robot, layout, phi)
    assert NUMBERS.sub(b"", model.content) == NUMBERS.sub(b"", given)


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])
def test_a_file_that_says_it_already_stays_byte_for_byte(path: Path) -> None:
    assert edited_urdf(path.read_bytes(), load_robot(path)) == path.read_bytes()


@needs_shared
def test_a_snapped_robot_keeps_the_files_placements_and_says_so() -> None:
    path = ROBOTS / "ur10_erd" / "ur10_robot.urdf"
    robot = load_robot(path, snap=True)
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    model = urdf_model(robot, layout, phi, description=path.read_bytes())
    moved = [
        not np.array_equal(a.placement.matrix, b.placement.matrix)
        for a, b in zip(robot.joints, load_robot(path).joints, strict=True)
    ]
    assert any(moved) == ("placements-differ" in [finding.code for finding in model.findings])


@pytest.mark.parametrize("inertial", [b"", FULL], ids=["no inertial", "an inertial"])
@pytest.mark.parametrize(
    "dynamics", [b"", b"<dynamics damping='1'/>", b'<dynamics friction="1" damping = "2"></dynamics>']
)
def test_what_is_missing_is_put_in_and_the_rest_stays(inertial: bytes, dynamics: bytes) -> None:
    given = ONE % (inertial, dynamics)
    robot = parse_urdf(given)
    layout = full_layout(robot, ("viscous", "coulomb"))
    phi = random_estimate(np.random.default_rng(4), robot, layout)
    text = urdf_model(robot, layout, phi, description=given).content
    _assert_pinocchio_agrees(text, robot, layout, phi)
    assert parse_urdf(text).joints[0].drive.viscous == phi[layout.index("turn.viscous")]
    assert parse_urdf(text).joints[0].drive.coulomb == phi[layout.index("turn.coulomb")]
    bare = re.compile(NUMBERS.pattern + rb"|</dynamics>", re.DOTALL)
    head, tail = b"<!-- \xc3\xa4 comment with <inertial> in it -->\r\n", b"</robot>   <!-- end -->"
    assert head in text
    assert text.endswith(tail)
    assert bare.sub(b"", text.replace(head, b"")) == bare.sub(b"", given.replace(head, b""))


def test_friction_that_was_not_found_is_zero_in_the_file() -> None:
    given = ONE % (FULL, b"<dynamics damping='1' friction='3'/>")
    robot = parse_urdf(given)
    layout = full_layout(robot, ())
    model = urdf_model(robot, layout, layout.nominal, description=given)
    drive = parse_urdf(model.content).joints[0].drive
    assert (drive.viscous, drive.coulomb) == (0.0, 0.0)


def test_an_emptied_bolted_link_states_zeros() -> None:
    bolt = (
        b'<link name="bolt">' + FULL + b'</link><joint name="b" type="fixed"><parent link="arm"/>'
        b'<child link="bolt"/></joint>'
    )
    given = (ONE % (FULL, b"")).replace(b"</robot>", bolt + b"</robot>")
    robot = parse_urdf(given)
    layout = full_layout(robot, ())
    phi = Body(0.5, [0.1, 0.0, 0.0], 0.01 * np.eye(3)).parameters
    model = urdf_model(robot, layout, phi, description=given)
    assert [finding.code for finding in model.findings] == ["bolted-links-emptied"]
    _assert_pinocchio_agrees(model.content, robot, layout, phi)
    part = parse_urdf(model.content).links[0].fixed[0]
    assert part.body is not None
    assert not part.body.parameters.any()


def test_a_robot_changed_since_it_was_read_is_written_anew_and_says_so() -> None:
    given = ONE % (FULL, b"")
    robot = parse_urdf(given).with_body("load", Body(1.0, np.zeros(3), np.eye(3)))
    layout = full_layout(robot, ())
    model = urdf_model(robot, layout, layout.nominal, description=given)
    assert [finding.code for finding in model.findings] == ["written-anew"]
    assert b"package://" not in model.content
    _assert_pinocchio_agrees(model.content, robot, layout, layout.nominal)


@needs_shared
@pytest.mark.parametrize("kept", [("lbr_A1",), ("lbr_A4", "lbr_A7")])
def test_a_locked_joint_becomes_fixed_and_keeps_its_links_and_meshes(kept: tuple[str, ...]) -> None:
    """Locked where it is written, the file means what Pinocchio makes of the free one held there."""
    path = ROBOTS / "lbr_stack" / "med7.urdf"
    free = load_robot(path)
    names = [name for name in free.joint_names if name not in kept]
    robot = free.locked({name: 0.1 * (k + 1) for k, name in enumerate(names)})
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(3), robot, layout)
    given = path.read_bytes()
    model = urdf_model(robot, layout, phi, description=given)
    assert "written-anew" not in [finding.code for finding in model.findings]
    assert model.content.count(b"<mesh") == given.count(b"<mesh") > 0
    assert model.content.count(b"<joint") == given.count(b"<joint")
    assert {frame.name for frame in parse_urdf(model.content).frames} == {frame.name for frame in free.frames}
    _assert_pinocchio_agrees(model.content, robot, layout, phi)


def test_links_bolted_at_a_rounded_angle_are_taken_off_where_the_file_has_them() -> None:
    bolt = (
        b'<link name="bolt">' + FULL + b'</link><joint name="b" type="fixed"><origin rpy="1.5708 0 0"/>'
        b'<parent link="arm"/><child link="bolt"/></joint>'
    )
    given = (ONE % (FULL.replace(b'"1"', b'"3"'), b"")).replace(b"</robot>", bolt + b"</robot>")
    robot = parse_urdf(given, snap=True)
    layout = full_layout(robot, ())
    phi = 1.1 * layout.nominal
    _assert_pinocchio_agrees(urdf_model(robot, layout, phi, description=given).content, robot, layout, phi)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_not_edited(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + (ONE % (FULL, b"")).decode().split("\r\n", 1)[1]
    with pytest.raises(DescriptionError, match="UTF-8"):
        edited_urdf(text.encode(encoding), parse_urdf(ONE % (FULL, b"")))


def test_names_with_special_letters_survive() -> None:
    robot = replace(zoo_robot("one_link"), name='a<b>&"c')
    assert parse_urdf(new_urdf(robot)).name == robot.name


def test_a_capsule_becomes_shapes_that_urdf_has() -> None:
    robot = zoo_robot("one_link")
    pose = Pose.from_rpy([0.3, 0.2, 0.1], [0.1, 0.2, 0.3])
    link = replace(robot.links[0], collision=(Geometry(Capsule(0.1, 0.4), pose),))
    text = new_urdf(replace(robot, links=(link,)))
    assert b"<capsule" not in text
    shapes = parse_urdf(text).links[0].collision
    ends = sorted(float((pose.inverse() @ item.pose).translation[2]) for item in shapes)
    assert ends == pytest.approx([-0.2, 0.0, 0.2])


def test_a_joint_urdf_cannot_state_is_refused_by_name() -> None:
    robot = zoo_robot("two_link")
    joint = replace(robot.joints[1], kind=JointKind.SPHERICAL)
    ball = replace(robot, joints=(robot.joints[0], joint))
    layout = full_layout(ball)
    carried = robot_with_parameters(ball, layout, random_estimate(np.random.default_rng(0), ball, layout))
    with pytest.raises(DescriptionError, match=f"joint '{joint.name}': it is spherical"):
        new_urdf(carried)
