"""URDF into a Robot, reporting what is wrong with the line it stands on and inventing nothing.

Pinocchio and urdfdom keep no line numbers, fill a missing inertial with zeros and stop at the first error;
they judge this reader in the tests instead.
"""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.robot.assembly import assemble
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.model import Robot
from steelyard.robot.rounding import Rounding, snapping_findings
from steelyard.robot.urdf.joint import read_joint
from steelyard.robot.urdf.link import read_link
from steelyard.robot.urdf.wording import wording_findings
from steelyard.robot.xml import Element, parse_xml, read_xml


def load_urdf(path: FilePath, *, snap: bool = False, floating: bool = False) -> Robot:
    """Read a URDF file.

    Args:
        path: the file; meshes are looked for inside its folder only.
        snap: whether rounded angles, offsets and axes of joints are read as what they mean (`1.5708` as
            π/2), which is the mechanism to ask what can be identified; otherwise they are reported.
        floating: whether the base is free to move, see `Robot.floating`; without it a lone body cannot move.

    Returns:
        The robot; its `findings` say what was noticed, in the order of the lines.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    path = Path(path)
    return robot_from_urdf_element(read_xml(path), path.name, path.parent, snap=snap, floating=floating)


def parse_urdf(
    text: bytes | str, name: str = "URDF", *, folder: FilePath | None = None, snap: bool = False
) -> Robot:
    """Read URDF from text.

    Args:
        text: the XML.
        name: what to call it in messages.
        folder: where to look for meshes; they are not looked for when left out.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.

    Returns:
        The robot.
    """
    return robot_from_urdf_element(parse_xml(text, name), name, folder, snap=snap)


def robot_from_urdf_element(
    root: Element, source: str, folder: FilePath | None, *, snap: bool, floating: bool = False
) -> Robot:
    """Build the robot of a URDF's root element.

    Args:
        root: the `<robot>`.
        source: name of the file it comes from.
        folder: where to look for meshes; they are not looked for where it is `None`.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.
        floating: whether the base is free to move, see `load_urdf`.

    Returns:
        The robot.

    Raises:
        DescriptionError: the element cannot be understood as one tree of supported joints.
    """
    if root.tag != "robot":
        raise DescriptionError(
            f"the root element is <{root.tag}>, a URDF starts with <robot>.", place=root.place
        )
    if root.attributes.get("name", "") == "":
        raise DescriptionError("<robot> lacks the attribute 'name'.", place=root.place)
    _refuse_xacro(root)
    findings = wording_findings(root)
    snapped: list[Rounding] | None = [] if snap else None
    meshes = MeshFolder(folder, findings)
    links = [read_link(element, meshes, findings) for element in root.all("link")]
    joints = []
    for element in root.all("joint"):
        between, chain = read_joint(element, findings, snapped)
        links += between
        joints += chain
    findings += snapping_findings(snapped or [])
    return assemble(root.text("name"), links, joints, findings, source=source, floating=floating)


def _refuse_xacro(root: Element) -> None:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.startswith("xacro:"):
            raise DescriptionError(
                f"contains <{element.tag}>, so it is a xacro file and not yet a URDF.",
                place=element.place,
                remedy="Name the file .xacro, so that it is expanded first.",
            )
        waiting += reversed(element.children)
