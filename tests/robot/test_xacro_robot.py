"""A xacro file becomes the robot of its expansion, and what is noticed names the lines of the sources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xacro

from steelyard.errors import DescriptionError
from steelyard.robot import MeshFile, Robot, load_robot, parse_urdf
from steelyard.robot.descriptions.xacro.expansion import load_xacro

HEAD = '<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
MAIN = (
    HEAD
    + """<xacro:arg name="name" default="arm"/>
<xacro:arg name="joints" default="4"/>
<xacro:include filename="macros/link.xacro"/>
<xacro:rod name="l0" length="0.1" mass="1"/>
<xacro:macro name="chain" params="n last">
  <xacro:rod name="l${n}" length="${0.3/n}" mass="${2.0/n}"/>
  <joint name="j${n}" type="revolute"><parent link="l${n - 1}"/><child link="l${n}"/>
    <origin xyz="0 0 ${0.3/n}" rpy="${pi/2 if n % 2 else -pi/2} 0 ${radians(15)*n}"/><axis xyz="0 0 1"/>
    <limit lower="${-pi}" upper="${pi}" velocity="${10/n}" effort="${100 - n}"/></joint>
  <xacro:if value="${n &lt; last}"><xacro:chain n="${n + 1}" last="${last}"/></xacro:if>
</xacro:macro>
<xacro:chain n="1" last="$(arg joints)"/>
</robot>
"""
)
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="rod" params="name length mass radius:=0.02">
  <link name="${name}">
    <inertial>
      <origin xyz="0 0 ${length/2}"/>
      <mass value="${mass}"/>
      <xacro:property name="across" value="${mass*(3*radius**2 + length**2)/12}"/>
      <inertia ixx="${across}" iyy="${across}" izz="${mass*radius**2/2}" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</xacro:macro>
</robot>
"""


@pytest.fixture
def description(tmp_path: Path) -> Path:
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros" / "link.xacro").write_text(LINK)
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(MAIN)
    return path


def reference_robot(path: Path, arguments: dict[str, str]) -> Robot:
    return parse_urdf(xacro.process_file(str(path), mappings=arguments, verbosity=0).toxml())


@pytest.mark.parametrize("joints", [1, 4, 12])
def test_the_robot_is_that_of_the_reference_expansion(description: Path, joints: int) -> None:
    arguments = {"joints": str(joints), "name": "reference"}
    expected = reference_robot(description, dict(arguments))
    robot = load_xacro(description, arguments=arguments)
    assert robot.digest == expected.digest
    assert (robot.name, robot.nv, robot.source) == ("reference", joints, "arm.urdf.xacro")
    heights = [joint.placement.translation[2] for joint in robot.joints]
    np.testing.assert_allclose(heights, [0.3 / n for n in range(1, joints + 1)], rtol=1e-15)


def test_arguments_left_out_take_their_defaults(description: Path) -> None:
    assert (load_robot(description).name, load_robot(description).nv) == ("arm", 4)
    assert load_robot(description, arguments={"joints": "2"}).nv == 2


def test_findings_name_the_file_and_line_of_the_macro_that_states_it(description: Path) -> None:
    (description.parent / "macros" / "link.xacro").write_text(LINK.replace("${mass*radius**2/2}", "9"))
    findings = [finding for finding in load_xacro(description).findings if finding.place]
    assert findings
    assert {finding.place for finding in findings} & {"macros/link.xacro:4", "macros/link.xacro:8"}


def test_a_number_the_expansion_leaves_out_is_refused_at_the_line_of_its_source(description: Path) -> None:
    (description.parent / "macros" / "link.xacro").write_text(LINK.replace('ixy="0"', 'ixy="zero"'))
    with pytest.raises(
        DescriptionError, match=r"^macros/link\.xacro:8: <inertia> needs a finite number in 'ixy'"
    ):
        load_robot(description)


def test_an_error_inside_an_included_file_names_that_file(description: Path) -> None:
    (description.parent / "macros" / "link.xacro").write_text(LINK.replace("length/2", "lenght/2"))
    with pytest.raises(
        DescriptionError, match=r"^macros/link\.xacro:5: .*'lenght', which is not defined"
    ) as caught:
        load_robot(description)
    assert "length, mass, name" in str(caught.value)


def test_rounded_angles_are_snapped_on_request(description: Path) -> None:
    description.write_text(MAIN.replace("${pi/2 if", "${1.5708 if"))
    meant, stated = load_xacro(description, snap=True), load_xacro(description)
    assert meant.joints[0].placement.rotation[2, 2] == pytest.approx(0.0, abs=1e-15)
    assert abs(stated.joints[0].placement.rotation[2, 2]) > 1e-6


@pytest.mark.parametrize(
    "name",
    [
        "file://$(find my_arm)/meshes/a.stl",
        "$(find my_arm)/meshes/a.stl",
        "../meshes/a.stl",
        "$(dirname)/../meshes/a.stl",
    ],
)
def test_where_the_package_lies_is_no_part_of_the_robot(tmp_path: Path, name: str) -> None:
    mesh = f'<collision><geometry><mesh filename="{name}"/></geometry></collision>'
    robots = []
    for place in ("here", "there"):
        folder = tmp_path / place
        for inner in ("urdf", "urdf/macros", "meshes"):
            (folder / inner).mkdir(parents=True)
        (folder / "package.xml").write_text("<package>\n  <name>my_arm</name>\n</package>")
        (folder / "meshes" / "a.stl").write_text("solid a\nendsolid a\n")
        (folder / "urdf" / "macros" / "link.xacro").write_text(LINK.replace("</link>", mesh + "</link>"))
        (folder / "urdf" / "arm.xacro").write_text(MAIN)
        robots.append(load_robot(folder / "urdf" / "arm.xacro"))
    one, other = robots
    assert one.digest == other.digest
    assert not [finding for finding in one.findings if finding.code in ("mesh-missing", "mesh-outside")]
    shape = one.links[0].collision[0].shape
    assert isinstance(shape, MeshFile)
    assert not shape.file.startswith("/")
