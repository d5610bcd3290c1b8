"""One door for every kind of description: the content decides, and what is refused says what would do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.campaigns.spec import robot_document, robot_of
from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.robot import load_robot
from steelyard.workflows.given import given_robot
from steelyard.zoo import find_robot

URDF = """<robot name="u"><link name="a"/><link name="b"/><joint name="j" type="continuous">
<parent link="a"/><child link="b"/><origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
XACRO = URDF.replace('name="u">', 'name="x"><xacro:property name="p" value="1"/>')
MJCF = """<mujoco model="m"><worldbody><body name="b"><joint name="j" type="hinge" axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("r.urdf", URDF, "u"),
        ("r.URDF", URDF, "u"),
        ("r.xml", URDF, "u"),
        ("r.xacro", URDF, "u"),
        ("r.xacro", XACRO, "x"),
        ("r.urdf.xacro", XACRO, "x"),
        ("r.urdf", XACRO, "x"),
        ("r.xml", XACRO, "x"),
        ("r.xml", MJCF, "m"),
        ("r.mjcf", MJCF, "m"),
    ],
)
def test_a_description_is_read_as_what_it_is(tmp_path: Path, file: str, text: str, name: str) -> None:
    (tmp_path / file).write_text(text)
    for robot in (
        load_robot(tmp_path / file),
        load_robot(str(tmp_path / file)),
        find_robot(str(tmp_path / file)),
    ):
        assert (robot.name, robot.nv, robot.source) == (name, 1, file)


@pytest.mark.parametrize("door", [load_robot, find_robot])
@pytest.mark.parametrize("text", [URDF, XACRO])
def test_snapping_is_asked_for_at_every_door(tmp_path: Path, door: object, text: str) -> None:
    (tmp_path / "r.urdf").write_text(text)
    assert callable(door)
    tilts = [
        abs(door(str(tmp_path / "r.urdf"), snap=snap).joints[0].placement.rotation[2, 2])
        for snap in (True, False)
    ]
    assert tilts[0] < 1e-15 < 1e-6 < tilts[1]


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("r.docx", URDF, r"'\.docx' is not a kind .* Supported: \.urdf, \.xacro, \.xml, \.mjcf"),
        ("r", URDF, r"'' is not a kind .* Supported: \.urdf"),
        ("r.xml", "<sdf/>", r"r\.xml:1: the root element is <sdf>.*<robot>.*<mujoco>"),
        ("r.xacro", "<sdf/>", r"r\.xacro:1: the root element is <sdf>"),
        ("r.xml", "", r"r\.xml:1: is not well-formed XML"),
        ("r.mjcf", "<mujoco", r"r\.mjcf:1: is not well-formed XML"),
    ],
)
def test_what_is_no_description_is_refused_with_what_would_be(
    tmp_path: Path, file: str, text: str, reason: str
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(DescriptionError, match=reason):
        load_robot(tmp_path / file)


def test_arguments_are_for_xacro_only(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    with pytest.raises(DescriptionError, match="takes no arguments, got 'side'"):
        load_robot(tmp_path / "r.urdf", arguments={"side": "left"})


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for file in ("r.urdf", "r.xacro", "r.xml", "r.docx"):
        with pytest.raises(DescriptionError, match="there is no such file"):
            load_robot(tmp_path / file)
    with pytest.raises(UnknownNameError, match=r"unknown robot 'pandda'\. Did you mean 'panda'"):
        find_robot("pandda")


QUARTER = 'rpy="1.5708 0 0"'
LINK = (
    '<link name="{}"><inertial><mass value="1"/><origin xyz=".1 .2 .3"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
TURN = (
    '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/>'
    '<origin xyz="0 0 .3" {2}/><axis xyz="0 0 1"/></joint>'
)


def _elbow(folder: Path, quarter: str) -> Path:
    """An arm whose neighbouring axes are meant to be at right angles."""
    file = folder / "elbow.urdf"
    links = "".join(LINK.format(f"l{k}") for k in range(4))
    turns = "".join(TURN.format(k, k + 1, quarter) for k in range(3))
    file.write_text(f'<robot name="elbow">{links}{turns}</robot>')
    return file


def test_a_found_robot_is_the_one_that_commands_and_campaigns_work_on(tmp_path: Path) -> None:
    file = _elbow(tmp_path, QUARTER)
    robot = find_robot(file)
    np.testing.assert_array_equal(robot.joints[1].placement.rotation, [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert any(finding.code == "snapped-angle" for finding in robot.findings)
    assert given_robot(str(file)).digest == robot.digest
    assert robot_of(robot_document(str(file))).digest == robot.digest
    as_written = find_robot(file, snap=False)
    assert as_written.digest != robot.digest
    assert as_written.digest == load_robot(file).digest == given_robot(str(file), snap=False).digest


def test_a_found_robot_has_the_parameters_of_the_mechanism_that_was_meant(tmp_path: Path) -> None:
    rounded = find_robot(_elbow(tmp_path, QUARTER))
    count = structural_identifiability(rounded, layout_of(rounded)).count
    # Fifteen digits are a quarter turn to the last bit, so nothing is left to be read otherwise.
    exact = find_robot(_elbow(tmp_path, 'rpy="1.570796326794897 0 0"'), snap=False)
    assert count == structural_identifiability(exact, layout_of(exact)).count


@pytest.mark.parametrize(("file", "text"), [("r.urdf", URDF), ("r.xacro", XACRO), ("r.xml", MJCF)])
def test_a_base_may_be_read_as_free(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    free = load_robot(tmp_path / file, floating=True)
    assert free.digest == load_robot(tmp_path / file).floating().digest
    assert find_robot("two_link", floating=True).digest == find_robot("two_link").floating().digest


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("r.urdf", '<robot name="r"><link name="box"/></robot>'),
        ("r.xml", '<mujoco><worldbody><geom size="1"/></worldbody></mujoco>'),
    ],
)
def test_a_body_without_joints_moves_only_where_it_is_free(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(DescriptionError, match="nothing can move"):
        load_robot(tmp_path / file)
    robot = load_robot(tmp_path / file, floating=True)
    assert (robot.nv, robot.nq, len(robot.links)) == (6, 7, 1)
