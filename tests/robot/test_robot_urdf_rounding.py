"""Rounded angles, offsets and axes: recognised by their digits, reported, and replaced only on request."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from oracles.random_robots import random_robot, urdf_text
from shared_material import DATA, ROBOTS, needs_shared, robot_files
from steelyard.errors import NoSolutionError
from steelyard.finding import Severity
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.robot import Robot, parse_urdf
from steelyard.robot.descriptions.urdf import load_urdf

CAUGHT = {
    "1.5708": 1,
    "3.1416": 2,
    "1.57075": 1,
    "1.5707": 1,
    "3.1415": 2,
    "1.57": 1,
    "3.14": 2,
    "1.571": 1,
    "+1.5708": 1,
    "-1.5708": -1,
    "15708e-4": 1,
    "1.5708E0": 1,
    "-4.7124": -3,
    "6.2832": 4,
    "1.570796325": 1,
    "1e-6": 0,
    "-3e-9": 0,
}
LEFT_ALONE = (
    "3.14148426",
    "0.00019159",
    "5.4949E-05",
    "1.1e-6",
    "1.5730",
    "1.5680",
    "1.570000",
    "2",
    "3.",
    "0.7853981633974483",
    "355",
    "90",
)


def _robot(origin: str = "", axis: str = "0 0 1", *, snap: bool = False, kind: str = "continuous") -> Robot:
    weight = (
        '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    return parse_urdf(
        f'<robot name="r"><link name="base"/><link name="arm">{weight}</link>'
        f'<link name="tip">{weight}</link>\n'
        f'<joint name="j" type="{kind}">\n{origin}\n<parent link="base"/><child link="arm"/>\n'
        f'<axis xyz="{axis}"/></joint>\n'
        '<joint name="k" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 0 1"/></joint>'
        "</robot>",
        "r.urdf",
        snap=snap,
    )


def _rpy(roll: str = "0", pitch: str = "0", yaw: str = "0") -> str:
    return f'<origin rpy="{roll} {pitch} {yaw}"/>'


def _turned(*quarters: int) -> np.ndarray:
    return Rotation.from_euler("xyz", np.array(quarters) * math.pi / 2).as_matrix().round()


@pytest.mark.parametrize("literal", CAUGHT)
@pytest.mark.parametrize("place", range(3))
def test_a_rounded_quarter_turn_is_reported_kept_as_stated_and_exact_on_request(
    literal: str, place: int
) -> None:
    words = ["0", "0", "0"]
    words[place] = literal
    k = CAUGHT[literal]
    stated = _robot(_rpy(*words))
    (finding,) = stated.findings
    assert (finding.severity, finding.code) == (Severity.WARNING, "rounded-angle")
    assert finding.place == "r.urdf:3"
    part = ("roll", "pitch", "yaw")[place]
    assert f"joint 'j': {part} '{literal}' stands for " in finding.message
    assert f"off by {abs(float(literal) - k * math.pi / 2):.2g} rad." in finding.message
    if k:
        assert f" = {k * math.pi / 2!r}, off by" in finding.message
    as_written = Rotation.from_euler("xyz", [float(word) for word in words]).as_matrix()
    np.testing.assert_allclose(stated.joints[0].placement.rotation, as_written, rtol=0, atol=1e-15)
    quarters = [k if index == place else 0 for index in range(3)]
    snapped = _robot(_rpy(*words), snap=True)
    np.testing.assert_array_equal(snapped.joints[0].placement.rotation, _turned(*quarters))


@pytest.mark.parametrize("literal", LEFT_ALONE)
def test_an_angle_that_its_digits_do_not_explain_is_believed(literal: str) -> None:
    stated, snapped = (_robot(_rpy(yaw=literal), snap=snap) for snap in (False, True))
    assert stated.findings == snapped.findings == ()
    np.testing.assert_allclose(
        snapped.joints[0].placement.rotation, stated.joints[0].placement.rotation, rtol=0, atol=1e-16
    )
    assert snapped.joints[0].placement.rotation[0, 1] != 0.0


@pytest.mark.parametrize("literal", ["1.5707963267948966", "3.14159265358979", "-1.1102E-16"])
def test_full_precision_is_no_rounding_and_still_exact_on_request(literal: str) -> None:
    snapped = _robot(_rpy(roll=literal), snap=True)
    assert _robot(_rpy(roll=literal)).findings == snapped.findings == ()
    assert set(np.unique(snapped.joints[0].placement.rotation)) <= {-1.0, 0.0, 1.0}


def test_an_error_no_rank_decision_can_see_is_only_information() -> None:
    (finding,) = _robot(_rpy("1.57079632679")).findings
    assert (finding.severity, finding.code) == (Severity.INFO, "rounded-angle")
    assert "off by 4.9e-12 rad" in finding.message


def test_only_the_rounded_ones_of_three_angles_are_replaced() -> None:
    snapped = _robot(_rpy("1.5708", "0.3", "-3.1416"), snap=True)
    expected = Rotation.from_euler("xyz", [math.pi / 2, 0.3, -math.pi]).as_matrix()
    np.testing.assert_allclose(snapped.joints[0].placement.rotation, expected, rtol=0, atol=3e-16)
    (finding,) = _robot(_rpy("1.5708", "0.3", "-3.1416")).findings
    assert "roll '1.5708' stands for π/2" in finding.message
    assert "; yaw '-3.1416' stands for -π" in finding.message
    assert "pitch" not in finding.message


def test_a_fixed_joint_is_part_of_the_mechanism() -> None:
    stated, snapped = (_robot(_rpy("1.57"), kind="fixed", snap=snap) for snap in (False, True))
    assert [finding.code for finding in stated.findings] == ["rounded-angle"]
    np.testing.assert_array_equal(snapped.joints[0].placement.rotation, _turned(1, 0, 0))


@pytest.mark.parametrize(("offset", "caught"), [("1e-7", True), ("-4E-9", True), ("1.1e-7", False)])
def test_an_offset_next_to_nothing_stands_for_none(offset: str, caught: bool) -> None:
    origin = f'<origin xyz="0.5 {offset} 0"/>'
    stated, snapped = (_robot(origin, snap=snap) for snap in (False, True))
    np.testing.assert_array_equal(stated.joints[0].placement.translation, [0.5, float(offset), 0])
    kept = [0.5, 0.0 if caught else float(offset), 0]
    np.testing.assert_array_equal(snapped.joints[0].placement.translation, kept)
    codes = [(finding.code, finding.place) for finding in stated.findings]
    assert codes == ([("rounded-offset", "r.urdf:3")] if caught else [])
    if caught:
        assert f"y '{offset}' stands for 0, off by" in stated.findings[0].message


@pytest.mark.parametrize(
    ("axis", "meant"),
    [("0 1e-7 1", "z"), ("-1 9e-7 -9e-7", "-x"), ("0 1.1e-6 1", None), ("0 0 1", None), ("0.6 0 0.8", None)],
)
def test_an_axis_with_two_components_next_to_nothing_is_a_coordinate_axis(
    axis: str, meant: str | None
) -> None:
    stated, snapped = (_robot(axis=axis, snap=snap) for snap in (False, True))
    given = np.array([float(word) for word in axis.split()])
    np.testing.assert_allclose(stated.joints[0].axis, given / np.linalg.norm(given), rtol=0, atol=1e-16)
    if meant is None:
        assert stated.findings == ()
        np.testing.assert_array_equal(snapped.joints[0].axis, stated.joints[0].axis)
    else:
        (finding,) = stated.findings
        assert (finding.code, finding.place) == ("rounded-axis", "r.urdf:5")
        assert f"direction '{axis}' stands for {meant}, off by" in finding.message
        np.testing.assert_array_equal(snapped.joints[0].axis, given.round())


def test_what_was_replaced_is_counted_with_the_largest_change() -> None:
    robot = _robot('<origin xyz="1e-8 0 0" rpy="1.5708 0 3.14"/>', axis="0 1e-7 1", snap=True)
    assert {finding.severity for finding in robot.findings} == {Severity.INFO}
    said = {finding.code: (finding.message, finding.place) for finding in robot.findings}
    assert said.keys() == {"snapped-angle", "snapped-offset", "snapped-axis"}
    message, place = said["snapped-angle"]
    assert message.startswith(
        "read 2 rounded angle value(s) as what they mean; the largest change: yaw '3.14'"
    )
    assert (message.endswith("off by 0.0016 rad."), place) == (True, "r.urdf:3")
    assert said["snapped-axis"][1] == "r.urdf:5"


def test_a_description_without_rounded_numbers_is_the_same_robot_either_way() -> None:
    text = urdf_text(random_robot(np.random.default_rng(3), bodies=5))
    stated, snapped = (parse_urdf(text, snap=snap) for snap in (False, True))
    assert stated.findings == snapped.findings
    for one, other in zip(stated.joints, snapped.joints, strict=True):
        np.testing.assert_allclose(one.placement.matrix, other.placement.matrix, rtol=0, atol=4e-16)


@needs_shared
def test_xmate_as_meant_has_69_base_parameters_43_of_them_rigid() -> None:
    # The rigid ones, the rotors of joints 3 to 7, and three friction terms at each of 7 joints.
    path = DATA / "xmate7p" / "XM7p.urdf"
    drive = ("viscous", "coulomb", "offset", "rotor")
    meant = load_urdf(path, snap=True)
    rng = np.random.default_rng(0)
    assert len(numerical_base(meant, layout_of(meant, drive), rng).names) == 69
    assert len(numerical_base(meant, layout_of(meant), rng).names) == 43
    stated = load_urdf(path)
    try:
        count = len(numerical_base(stated, layout_of(stated, drive), rng).names)
    except NoSolutionError:
        count = 0
    assert count in (0, 70)  # an appearance the rounding makes, or a rank that cannot be told
    for one, other in zip(stated.joints, meant.joints, strict=True):
        assert np.abs(one.placement.matrix - other.placement.matrix).max() < 2e-5


def _explained(literal: str) -> bool:
    """The rule in decimal arithmetic, for the angles of public files."""
    number = Decimal(literal)
    k = round(float(number) / (math.pi / 2))
    off = abs(float(number) - k * math.pi / 2)
    unit = float(Decimal(1).scaleb(int(number.as_tuple().exponent)))
    return 1e-14 < off <= (min(10 * unit, 2e-3) if k else 1e-6)


FILES = [*robot_files(".urdf"), *(sorted(DATA.rglob("*.urdf")) if DATA.is_dir() else [])]


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS.parent)) for path in FILES])
def test_the_joints_of_a_public_file_that_are_reported_are_those_written_rounded(path: Path) -> None:
    rounded = set()
    for joint in ElementTree.parse(path).getroot().findall("joint"):
        origin = joint.find("origin")
        words = [] if origin is None else origin.attrib.get("rpy", "0 0 0").split()
        if any(_explained(word) for word in words):
            rounded.add(joint.attrib["name"])
    found = [finding for finding in load_urdf(path).findings if finding.code.startswith("rounded")]
    assert {finding.code for finding in found} <= {"rounded-angle"}
    assert {finding.message.split("'")[1] for finding in found} == rounded
