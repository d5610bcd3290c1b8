"""What the URDF reader notices without refusing: each finding has a code, its line and its numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from steelyard.finding import Finding, Severity
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Robot, Sphere, parse_urdf

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def _robot(joint: str = "", link: str = INERTIAL, kind: str = "revolute", more: str = "") -> Robot:
    limited = "<limit" in joint or joint == "unlimited"
    limit = "" if limited else '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
    inside = "" if joint == "unlimited" else joint
    return parse_urdf(
        f'<robot name="r">\n<link name="base"/>\n<link name="arm">\n{link}\n</link>\n'
        f'<joint name="j" type="{kind}">\n<parent link="base"/><child link="arm"/>\n{inside}{limit}\n'
        f"</joint>\n{more}</robot>",
        "r.urdf",
    )


def _only(robot: Robot) -> Finding:
    assert len(robot.findings) == 1, robot.findings
    return robot.findings[0]


def test_a_clean_description_has_no_findings() -> None:
    assert _robot().findings == ()


def test_an_axis_that_is_not_unit_is_scaled_and_reported() -> None:
    robot = _robot('<axis xyz="0 3 4"/>')
    finding = _only(robot)
    assert (finding.severity, finding.code, finding.place) == (Severity.WARNING, "axis-not-unit", "r.urdf:8")
    assert "length 5 and was scaled to 1" in finding.message
    np.testing.assert_allclose(robot.joints[0].axis, [0, 0.6, 0.8], rtol=1e-15)


def test_a_missing_axis_is_urdfs_x() -> None:
    np.testing.assert_array_equal(_robot().joints[0].axis, [1, 0, 0])


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_missing_limits_are_infinite_and_reported(kind: str) -> None:
    robot = _robot("unlimited", kind=kind)
    finding = _only(robot)
    assert (finding.code, finding.place) == ("missing-limit", "r.urdf:6")
    assert f"{kind} joint 'j' states no limits" in finding.message
    assert (robot.joints[0].limits.lower, robot.joints[0].limits.effort) == (-math.inf, math.inf)


def test_a_continuous_joint_needs_no_limits_and_ignores_its_range() -> None:
    assert _robot("unlimited", kind="continuous").findings == ()
    limits = (
        _robot('<limit lower="-1" upper="1" velocity="2" effort="3"/>', kind="continuous").joints[0].limits
    )
    assert (limits.lower, limits.upper, limits.velocity) == (-math.inf, math.inf, 2.0)


def test_a_missing_velocity_or_effort_limit_is_infinite_and_reported() -> None:
    robot = _robot('<limit lower="-1" upper="1"/>')
    assert [finding.code for finding in robot.findings] == ["missing-limit"] * 2
    assert [finding.place for finding in robot.findings] == ["r.urdf:8"] * 2
    assert "no velocity limit" in robot.findings[0].message
    assert "no effort limit" in robot.findings[1].message


def test_a_range_without_width_is_reported() -> None:
    finding = _only(_robot('<limit velocity="2" effort="3"/>'))
    assert (finding.code, finding.place) == ("empty-range", "r.urdf:8")
    assert "lower and upper limit are both 0" in finding.message


def test_a_moving_link_without_inertial_is_an_error() -> None:
    finding = _only(_robot(link=""))
    assert (finding.severity, finding.code) == (Severity.ERROR, "missing-inertial")
    assert (finding.place, finding.message) == ("r.urdf:3", "moving link 'arm' states no inertial.")
    assert _robot(link="").links[0].body is None


def test_a_moving_link_whose_bolted_links_have_inertials_is_a_warning() -> None:
    more = (
        f'<link name="hand">{INERTIAL}</link>'
        '<joint name="w" type="fixed"><parent link="arm"/><child link="hand"/></joint>'
    )
    robot = _robot(link="", more=more)
    finding = _only(robot)
    assert (finding.severity, finding.code) == (Severity.WARNING, "missing-inertial")
    assert "only the links fixed to it state one" in finding.message
    assert robot.links[0].own is None
    assert robot.links[0].body is not None
    assert robot.links[0].body.mass == 2.0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('izz="1"', 'izz="3"', r"triangle inequality: 1 \+ 1 falls short of 3 by 1 kg"),
        ('ixx="1"', 'ixx="-1"', "principal moment is -1 kg"),
        ('mass value="2"', 'mass value="-2"', "mass"),
    ],
)
def test_an_impossible_inertia_is_an_error_with_its_reason(old: str, new: str, reason: str) -> None:
    robot = _robot(link=INERTIAL.replace(old, new))
    finding = _only(robot)
    assert (finding.severity, finding.code, finding.place) == (
        Severity.ERROR,
        "impossible-inertia",
        "r.urdf:3",
    )
    assert "the inertia of link 'arm' is physically impossible: " in finding.message
    assert re.search(f"impossible: .*{reason}", finding.message)
    assert robot.links[0].body is not None  # reported, not repaired
    assert robot.links[0].body.consistency.consistent is False


def test_a_massless_link_is_reported_and_keeps_nothing_invented() -> None:
    zeros = " ".join(f'{key}="0"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    link = f'<inertial><origin xyz="1 2 3"/><mass value="0"/><inertia {zeros}/></inertial>'
    robot = _robot(link=link)
    assert _only(robot).code == "zero-mass"
    assert robot.links[0].body is not None
    np.testing.assert_array_equal(robot.links[0].body.parameters, np.zeros(10))


def test_a_mimic_joint_is_reported_as_independent() -> None:
    finding = _only(_robot('<mimic joint="other"/>'))
    assert (finding.code, finding.place) == ("mimic-ignored", "r.urdf:6")


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        ('<cone radius="1"/>', "unknown-shape"),
        ('<sphere radius="-1"/>', "bad-shape"),
        ('<sphere radius="wide"/>', "bad-shape"),
        ('<box size="1 2 0"/>', "bad-shape"),
        ('<cylinder radius="1"/>', "bad-shape"),
        ("<mesh/>", "bad-shape"),
    ],
)
def test_a_shape_that_cannot_be_used_is_reported_and_left_out(shape: str, code: str) -> None:
    robot = _robot(link=f"{INERTIAL}\n<collision><geometry>\n{shape}</geometry></collision>")
    finding = _only(robot)
    assert (finding.code, finding.place) == (code, "r.urdf:6")
    assert robot.links[0].collision == ()


def test_shapes_are_kept_where_they_stand_on_the_link_that_carries_them() -> None:
    shapes = (
        '<sphere radius="0.1"/>',
        '<box size="1 2 3"/>',
        '<cylinder radius="0.1" length="2"/>',
        '<capsule radius="0.1" length="2"/>',
        '<mesh filename="a.stl" scale="1 2 3"/>',
        '<mesh filename="b.stl"/>',
    )
    collision = "".join(
        f'<collision><origin xyz="{k} 0 0"/><geometry>{shape}</geometry></collision>'
        for k, shape in enumerate(shapes)
    )
    more = (
        f'<link name="hand">{collision}</link><joint name="w" type="fixed"><origin xyz="0 5 0"/>'
        '<parent link="arm"/><child link="hand"/></joint>'
    )
    items: tuple[Geometry, ...] = _robot(more=more).links[0].collision
    assert [item.shape for item in items] == [
        Sphere(0.1),
        Box(1, 2, 3),
        Cylinder(0.1, 2),
        Capsule(0.1, 2),
        MeshFile("a.stl", (1, 2, 3)),
        MeshFile("b.stl"),
    ]
    for k, item in enumerate(items):
        np.testing.assert_array_equal(item.pose.translation, [k, 5, 0])


def test_a_finding_reads_as_one_line() -> None:
    finding = Finding(Severity.WARNING, "code", "something is odd.", "r.urdf:3")
    assert str(finding) == "warning: r.urdf:3: something is odd."
    assert str(Finding(Severity.INFO, "code", "all is well.")) == "info: all is well."
