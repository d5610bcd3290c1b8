"""What the MJCF reader notices without refusing: each finding has a code, its line and its numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from robot.mjcf_files import robot_of_mjcf
from shared_material import ROBOTS, needs_shared
from steelyard.finding import Finding, Severity
from steelyard.robot import JointKind, Robot
from steelyard.robot.descriptions.mjcf.reader import load_mjcf

INERTIAL = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'
DRIVEN = '<actuator><motor joint="j" forcerange="-9 9"/></actuator>'


def _robot(
    joint: str = "", body: str = INERTIAL, *, attributes: str = "", before: str = "", after: str = DRIVEN
) -> Robot:
    """The joint is on line 5, what the body holds starts on line 6, what follows the bodies on line 9."""
    return robot_of_mjcf(
        f'<mujoco model="r">\n{before}\n<worldbody>\n<body name="arm" {attributes}>\n'
        f'<joint name="j" {joint}/>\n{body}\n</body>\n</worldbody>\n{after}</mujoco>',
        "r.xml",
    )


def _noticed(robot: Robot) -> list[Finding]:
    """All but the word that MJCF has no velocity limits, which every file gets."""
    words = [finding for finding in robot.findings if "velocity limits" in finding.message]
    assert len(words) == 1
    assert words[0].severity is Severity.INFO
    return [finding for finding in robot.findings if finding not in words]


def _only(robot: Robot) -> tuple[str, str, str]:
    (finding,) = _noticed(robot)
    return finding.severity.value, finding.code, finding.place


def test_a_clean_description_has_no_findings() -> None:
    assert _noticed(_robot('range="-90 90"')) == []


def test_a_hinge_without_a_range_turns_without_end_and_that_is_no_fault() -> None:
    robot = _robot()
    assert robot.joints[0].kind is JointKind.CONTINUOUS
    assert _noticed(robot) == []


def test_a_slide_without_a_range_and_a_joint_without_effort_are_reported() -> None:
    robot = _robot('type="slide"', after="")
    assert [(f.code, f.place) for f in _noticed(robot)] == [("missing-limit", "r.xml:5")] * 2
    assert robot.joints[0].limits.effort == math.inf


@pytest.mark.parametrize(
    ("joint", "code"),
    [
        ('stiffness="3"', "spring-ignored"),
        ('springdamper="1 1"', "spring-ignored"),
        ('damping="1 2"', "damping-ignored"),
        ('dampign="1"', "unknown-attribute"),
    ],
)
def test_what_a_joint_has_beyond_the_model_is_reported_at_its_line(joint: str, code: str) -> None:
    assert _only(_robot(joint)) == ("warning", code, "r.xml:5")


def test_a_misspelled_attribute_comes_with_the_nearest_that_exists() -> None:
    (finding,) = _noticed(_robot('dampign="1"'))
    assert "Did you mean 'damping'?" in finding.message


@pytest.mark.parametrize(
    ("joint", "code"), [('range="0 90"', "limit-ignored"), ('damping="1"', "drive-ignored")]
)
def test_limits_and_friction_of_a_ball_are_reported(joint: str, code: str) -> None:
    robot = _robot(f'type="ball" {joint}', after="")
    assert _only(robot) == ("warning", code, "r.xml:5")
    assert robot.joints[0].kind is JointKind.SPHERICAL
    assert robot.joints[0].drive.viscous is None


@pytest.mark.parametrize(
    ("after", "code", "severity"),
    [
        ('<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>', "tendon-ignored", "warning"),
        ('<actuator><motor tendon="t"/></actuator>', "actuator-ignored", "warning"),
        ('<actuator><motor site="s"/></actuator>', "actuator-ignored", "warning"),
    ],
)
def test_forces_beyond_the_model_are_reported(after: str, code: str, severity: str) -> None:
    assert _only(_robot(after=DRIVEN + "\n" + after)) == (severity, code, "r.xml:10")


@pytest.mark.parametrize(
    "equality",
    ['connect body1="arm" anchor="0 0 0"', 'weld body1="arm"', 'joint joint1="j"', 'tendon tendon1="t"'],
)
def test_an_equality_that_is_not_active_says_nothing(equality: str) -> None:
    off = f'<equality><{equality} active="false"/></equality>'
    assert _noticed(_robot(after=DRIVEN + off)) == []
    by_default = f'<default><equality active="false"/></default><equality><{equality}/></equality>'
    assert _noticed(_robot(after=DRIVEN + by_default)) == []


@pytest.mark.parametrize(
    ("before", "code", "severity"),
    [
        ('<option density="1.2"/>', "fluid-ignored", "warning"),
        ('<option viscosity="1e-5"/>', "fluid-ignored", "warning"),
        ('<option><flag frictionloss="disable"/></option>', "flag-ignored", "info"),
        ('<compiler alignfree="true"/>', "alignfree-ignored", "info"),
    ],
)
def test_settings_beyond_the_model_are_reported(before: str, code: str, severity: str) -> None:
    assert _only(_robot(before=before)) == (severity, code, "r.xml:2")


def test_relief_from_gravity_and_plugins_are_reported() -> None:
    assert _only(_robot(attributes='gravcomp="1"')) == ("warning", "gravcomp-ignored", "r.xml:4")
    assert _only(_robot(body=INERTIAL + '<plugin plugin="x"/>')) == ("warning", "plugin-ignored", "r.xml:6")


@pytest.mark.parametrize(
    ("inertial", "code"),
    [
        ('<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>', "impossible-inertia"),
        ('<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>', "impossible-inertia"),
        ('<inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/>', "zero-mass"),
    ],
)
def test_impossible_and_absent_masses_are_errors_at_the_inertial(inertial: str, code: str) -> None:
    assert _only(_robot(body=inertial)) == ("error", code, "r.xml:6")


def test_a_mass_far_from_its_shapes_and_a_com_outside_are_reported() -> None:
    shape = '<geom size=".1"/>'
    heavy = _robot(body=f'<inertial pos="0 0 0" mass="2000" diaginertia="9 9 9"/>{shape}')
    assert _only(heavy) == ("warning", "mass-implausible", "r.xml:6")
    away = _robot(body=f'<inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/>{shape}')
    assert _only(away) == ("warning", "com-outside", "r.xml:6")


@pytest.mark.parametrize(
    "body",
    [
        '<inertial pos="0 0 0" mass="1"/>',
        '<geom type="box" size=".1 .1"/>',
        '<geom size=".1" shellinertia="true"/>',
        '<geom type="mesh" mesh="m"/>',
        '<geom type="box" mesh="m"/>',
        '<geom size=".1"/><geom type="mesh" mesh="m" contype="0" conaffinity="0"/>',
    ],
)
def test_an_inertia_that_cannot_be_told_is_missing_not_invented(body: str) -> None:
    robot = _robot(body=body, before='<asset><mesh name="m" file="m.stl"/></asset>')
    places = [finding.place for finding in robot.findings if finding.code == "missing-inertial"]
    assert places == ["r.xml:4", "r.xml:6"]
    assert robot.links[0].body is None


def test_a_mesh_that_weighs_nothing_need_not_be_there() -> None:
    robot = _robot(
        body='<geom size=".1"/><geom type="mesh" mesh="m" mass="0" contype="0" conaffinity="0"/>',
        before='<asset><mesh name="m" file="m.stl"/></asset>',
    )
    # Its absence is told, and no number is missing.
    assert [finding.code for finding in _noticed(robot)] == ["mesh-missing"]
    assert robot.mass == pytest.approx(1000 * 4 / 3 * math.pi * 0.1**3)


def test_bounds_that_change_a_body_are_reported_with_both_numbers() -> None:
    robot = _robot(before='<compiler boundmass="5"/>')
    assert _only(robot) == ("warning", "inertia-bounded", "r.xml:6")
    assert "mass 2 to 5 kg" in _noticed(robot)[0].message


def test_collision_shapes_that_are_not_kept_are_reported() -> None:
    wide = '<inertial pos="0 0 0" mass="2000" diaginertia="900 900 900"/>'
    ellipsoid = _robot(body=f'{wide}<geom type="ellipsoid" size="1 1 1"/>')
    assert _only(ellipsoid) == ("warning", "unknown-shape", "r.xml:6")
    assert _only(_robot(body=f'{wide}<geom size="-1"/>')) == ("error", "bad-shape", "r.xml:6")


@pytest.mark.parametrize(
    ("name", "code"),
    [("none.stl", "mesh-missing"), ("../out.stl", "mesh-outside"), ("/etc/m.stl", "mesh-outside")],
)
def test_a_mesh_that_cannot_be_reached_is_reported_at_its_asset(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "robot").mkdir()
    (tmp_path / "out.stl").write_text("solid\nendsolid\n")
    file = tmp_path / "robot" / "r.xml"
    file.write_text(
        f'<mujoco><asset>\n<mesh file="{name}"/></asset><worldbody><body name="a"><joint name="j"/>{INERTIAL}'
        f"</body></worldbody>{DRIVEN}</mujoco>"
    )
    assert _only(load_mjcf(file)) == ("warning", code, "r.xml:2")


@needs_shared
def test_a_public_robot_whose_inertia_hangs_on_a_missing_mesh_says_so() -> None:
    robot = load_mjcf(ROBOTS / "menagerie" / "robotstudio_so101" / "so101.xml")
    (finding,) = [finding for finding in robot.findings if finding.code == "missing-inertial"]
    assert (finding.severity, finding.place) == (Severity.ERROR, "so101.xml:177")
    assert "camera_mount" in finding.message


def test_rounded_quaternions_and_angles_are_reported_or_snapped() -> None:
    text = (
        '<mujoco><compiler angle="radian"/><worldbody>\n'
        f'<body name="a" quat="0.7071 0.7071 0 0"><joint name="j" axis="1e-7 0 1"/>{INERTIAL}\n'
        f'<body name="b" euler="1.5708 0 0.3" pos="1 1e-9 0"><joint name="k"/>{INERTIAL}\n'
        f'<body name="c" quat="1.3e-11 -3.67321e-06 1 -3.67321e-06"><joint name="l"/>{INERTIAL}'
        "</body></body></body></worldbody></mujoco>"
    )
    stated, snapped = robot_of_mjcf(text, "r.xml"), robot_of_mjcf(text, "r.xml", snap=True)
    found = [(f.code, f.place) for f in stated.findings if f.code.startswith("rounded")]
    assert found == [
        ("rounded-axis", "r.xml:2"),
        ("rounded-angle", "r.xml:3"),
        ("rounded-offset", "r.xml:3"),
        ("rounded-angle", "r.xml:4"),
    ]
    # A scaled quaternion of equal numbers is a quarter turn already.
    quarter = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    np.testing.assert_array_equal(stated.joints[0].placement.rotation, quarter)
    turn = np.array([[math.cos(0.3), -math.sin(0.3), 0], [math.sin(0.3), math.cos(0.3), 0], [0, 0, 1]])
    np.testing.assert_array_equal(snapped.joints[0].axis, [0, 0, 1])
    np.testing.assert_array_equal(snapped.joints[1].placement.rotation, np.array(quarter) @ turn)
    np.testing.assert_array_equal(snapped.joints[1].placement.translation, [1, 0, 0])
    np.testing.assert_array_equal(snapped.joints[2].placement.rotation, np.diag([-1.0, 1.0, -1.0]))
    assert np.abs(stated.joints[2].placement.rotation - np.diag([-1.0, 1.0, -1.0])).max() > 1e-6
    kinds = [finding.code for finding in snapped.findings if finding.code.startswith("snapped")]
    assert sorted(kinds) == ["snapped-angle", "snapped-axis", "snapped-offset"]


def test_quarter_turns_in_degrees_are_exact_and_no_rounding() -> None:
    robot = robot_of_mjcf(
        f'<mujoco><worldbody><body name="a" euler="90 0 -180"><joint name="j"/>{INERTIAL}</body></worldbody>'
        "</mujoco>"
    )
    assert set(np.abs(robot.joints[0].placement.rotation).ravel()) == {0.0, 1.0}
    assert not any(finding.code.startswith("rounded") for finding in robot.findings)
