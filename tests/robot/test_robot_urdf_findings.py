"""What the URDF reader notices without refusing: each finding has a code, its line and its numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from steelyard.errors import SteelyardError
from steelyard.finding import Finding, Severity
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Robot, Sphere, parse_urdf
from steelyard.robot.link import Shape

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


NUMBERS = ("mass", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@pytest.mark.parametrize(
    ("old", "new", "reason", "nearest"),
    [
        # The second moments tr(I)/2 - I of the nearest are those stated with what is negative set to zero.
        ('izz="1"', 'izz="3"', r"triangle inequality: 1 \+ 1 falls short of 3 by 1 kg", (2, 1.5, 1.5, 3)),
        ('ixx="1"', 'ixx="-1"', "principal moment is -1 kg", (2, 0, 1.5, 1.5)),
        ('mass value="2"', 'mass value="-2"', "mass", (0, 1, 1, 1)),
    ],
)
def test_an_impossible_inertia_is_an_error_with_its_reason_and_the_nearest_possible(
    old: str, new: str, reason: str, nearest: tuple[float, ...]
) -> None:
    robot = _robot(link='<inertial><origin xyz="1 2 3"/>\n' + INERTIAL[10:].replace(old, new))
    finding = _only(robot)
    assert (finding.severity, finding.code) == (Severity.ERROR, "impossible-inertia")
    assert finding.place == "r.urdf:4"
    assert re.search(f"the inertia of link 'arm' is physically impossible: .*{reason}", finding.message)
    said = _numbers_said(finding.message)
    diagonal = [said[key] for key in ("mass", "ixx", "iyy", "izz")]
    np.testing.assert_allclose(diagonal, nearest, atol=1e-4)
    assert robot.links[0].body is not None  # reported, not repaired
    assert robot.links[0].body.consistency.consistent is False
    assert f'{robot.links[0].body.mass:g}"' in (new if "mass" in new else INERTIAL)


def _numbers_said(message: str) -> dict[str, float]:
    nearest = message[message.index("nearest possible") :]
    return {key: float(re.search(rf"{key} ([-+.e\d]+)[ ,]", nearest)[1]) for key in NUMBERS}  # type: ignore[index]


def test_the_nearest_possible_inertia_is_possible_with_the_digits_that_are_printed() -> None:
    rng = np.random.default_rng(7)
    seen = 0
    for _ in range(40):
        entries = dict(zip(NUMBERS, rng.normal(size=7) * 10.0 ** rng.integers(-6, 3), strict=True))
        entries["mass"] = abs(entries["mass"])
        tensor = " ".join(f'{key}="{entries[key]}"' for key in NUMBERS[1:])
        robot = _robot(link=f'<inertial><mass value="{entries["mass"]}"/><inertia {tensor}/></inertial>')
        for finding in robot.findings:
            said = _numbers_said(finding.message)
            ixx, ixy, ixz, iyy, iyz, izz = (said[key] for key in NUMBERS[1:])
            I_c = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
            assert said["mass"] == pytest.approx(entries["mass"], rel=1e-8)
            assert np.linalg.eigvalsh(0.5 * np.trace(I_c) * np.eye(3) - I_c)[0] > 0
            seen += 1
    assert seen > 20


ZEROS = " ".join(f'{key}="0"' for key in NUMBERS[1:])
MASSLESS = f'<inertial><origin xyz="1 2 3"/><mass value="0"/><inertia {ZEROS}/></inertial>'


def test_a_massless_link_is_reported_and_keeps_nothing_invented() -> None:
    robot = _robot(link=MASSLESS)
    assert _only(robot).code == "zero-mass"
    assert robot.links[0].body is not None
    np.testing.assert_array_equal(robot.links[0].body.parameters, np.zeros(10))


def test_a_joint_with_nothing_to_move_is_an_error_and_a_massless_link_that_carries_something_is_not() -> None:
    alone = _only(_robot(link=MASSLESS))
    assert (alone.severity, alone.place) == (Severity.ERROR, "r.urdf:4")
    assert "mass zero, and nothing it carries has any: its joint accelerates without bound" in alone.message
    for kind in ("fixed", "continuous"):
        more = (
            f'<link name="hand">{INERTIAL}</link>'
            f'<joint name="w" type="{kind}"><parent link="arm"/><child link="hand"/></joint>'
        )
        carrying = _only(_robot(link=MASSLESS, more=more))
        assert (carrying.severity, carrying.message) == (Severity.WARNING, "link 'arm' has mass zero.")


def test_findings_come_in_the_order_of_their_lines() -> None:
    more = (
        f'<link name="hand">\n\n{MASSLESS}</link>\n'
        '<joint name="w" type="fixed">\n<origin rpy="0 0 3.14"/>'
        '<parent link="arm"/><child link="hand"/></joint>'
    )
    robot = _robot('<limit lower="0" upper="0"/>', link=INERTIAL.replace('izz="1"', 'izz="9"'), more=more)
    lines = [int(finding.place.removeprefix("r.urdf:")) for finding in robot.findings]
    assert lines == [4, 8, 8, 8, 12, 14]
    assert [finding.code for finding in robot.findings][:2] == ["impossible-inertia", "empty-range"]


def test_a_mimic_of_a_joint_that_does_not_exist_is_a_finding_and_the_joint_moves_by_itself() -> None:
    robot = _robot('<mimic joint="jj"/>')
    (finding,) = [finding for finding in robot.findings if finding.code == "unknown-leader"]
    assert finding.severity is Severity.ERROR
    assert finding.place == "r.urdf:6"
    assert "mimics 'jj', which does not exist" in finding.message
    assert robot.joints[0].mimic is None
    assert robot.nv == 1


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("<mimic/>", "lacks the attribute 'joint'"),
        ('<mimic joint="j" multiplier="0"/>', "multiplier of zero"),
        ('<mimic joint="j" offset="nan"/>', "offset"),
        ('<mimic joint="j"/>', "mimics itself"),
    ],
)
def test_a_mimic_that_cannot_be_is_refused_with_its_line(tag: str, message: str) -> None:
    with pytest.raises(SteelyardError, match=rf"r\.urdf:[68].*{message}"):
        _robot(tag)


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        ('<cone radius="1"/>', "unknown-shape"),
        ('<sphere radius="-1"/>', "bad-shape"),
        ('<sphere radius="wide"/>', "bad-shape"),
        ('<box size="0 0 0"/>', "bad-shape"),
        ('<box size="1 2 -1"/>', "bad-shape"),
        ('<cylinder radius="1"/>', "bad-shape"),
        ("<mesh/>", "bad-shape"),
    ],
)
def test_a_shape_that_cannot_be_used_is_reported_and_left_out(shape: str, code: str) -> None:
    robot = _robot(link=f"{INERTIAL}\n<collision><geometry>\n{shape}</geometry></collision>")
    finding = _only(robot)
    assert (finding.code, finding.place) == (code, "r.urdf:6")
    assert robot.links[0].collision == ()


@pytest.mark.parametrize(
    ("shape", "kept"),
    [
        ('<box size="1 2 0"/>', Box(1.0, 2.0, 1e-3)),
        ('<box size="0 2 0"/>', Box(1e-3, 2.0, 1e-3)),
        ('<cylinder radius="1" length="0"/>', Cylinder(1.0, 1e-3)),
    ],
)
def test_a_shape_without_thickness_is_given_some(shape: str, kept: Shape) -> None:
    robot = _robot(link=f"{INERTIAL}\n<collision><geometry>\n{shape}</geometry></collision>")
    assert _only(robot).code == "flat-shape"
    assert [item.shape for item in robot.links[0].collision] == [kept]


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
