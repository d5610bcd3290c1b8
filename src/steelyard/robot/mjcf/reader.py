"""MJCF into a Robot, reporting what is wrong with the line it stands on and inventing nothing.

MuJoCo's compiler keeps few line numbers, opens files anywhere, and fails where a mesh is missing; it judges
this reader in the tests instead. Joints and links are MuJoCo's: the same coordinates (but a quaternion is
x, y, z, w), in the same order, with the world as base. Several mechanisms in one file are one tree, all of
them children of the world.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.robot.assembly import assemble
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.mjcf.actuator import drive_joints
from steelyard.robot.mjcf.attributes import report_unknown_attributes
from steelyard.robot.mjcf.body import read_bodies
from steelyard.robot.mjcf.content import Context
from steelyard.robot.mjcf.defaults import Defaults
from steelyard.robot.mjcf.equality import tie_joints
from steelyard.robot.mjcf.include import expand_includes
from steelyard.robot.mjcf.inertial import scale_to_total
from steelyard.robot.mjcf.mesh import MeshAssets
from steelyard.robot.mjcf.placement import Placements
from steelyard.robot.mjcf.settings import read_compiler, read_gravity
from steelyard.robot.mjcf.unmodelled import check_sections
from steelyard.robot.model import Robot
from steelyard.robot.raw import RawLink
from steelyard.robot.rounding import Rounding, snapping_findings
from steelyard.robot.xml import Element, parse_xml, read_xml


def load_mjcf(path: FilePath, *, snap: bool = False, floating: bool = False) -> Robot:
    """Read an MJCF file.

    Args:
        path: the file; meshes and included files are looked for inside its folder only.
        snap: whether rounded orientations, offsets and axes of joints are read as what they mean, which is
            the mechanism to ask what can be identified; otherwise they are reported.
        floating: whether the world is free to move with all that is fixed to it, see `Robot.floating`.

    Returns:
        The robot; its `findings` say what was noticed, in the order of the lines.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    path = Path(path)
    root = read_xml(path)
    expand_includes(root, path.parent, path)
    return _robot(root, path.name, path.parent, snap, floating)


def parse_mjcf(
    text: bytes | str, name: str = "MJCF", *, folder: FilePath | None = None, snap: bool = False
) -> Robot:
    """Read MJCF from text.

    Args:
        text: the XML.
        name: what to call it in messages.
        folder: where to look for meshes and included files; they are not looked for when left out.
        snap: whether rounded numbers of joints are read as what they mean, see `load_mjcf`.

    Returns:
        The robot.
    """
    root = parse_xml(text, name)
    inside = None if folder is None else Path(folder)
    expand_includes(root, inside)
    return _robot(root, name, inside, snap)


def _robot(root: Element, source: str, folder: Path | None, snap: bool, floating: bool = False) -> Robot:
    findings: list[Finding] = []
    snapped: list[Rounding] | None = [] if snap else None
    check_sections(root, findings)
    report_unknown_attributes(root, findings)
    compiler = read_compiler(root, findings)
    gravity = read_gravity(root, findings)
    defaults = Defaults(root)
    meshes = MeshAssets(root, compiler, defaults, MeshFolder(folder, findings))
    placements = Placements(compiler, findings, snapped)
    bodies = read_bodies(root, Context(compiler, defaults, placements, meshes, findings))
    joints = tie_joints(bodies.joints, bodies.references, root, defaults, findings)
    joints = drive_joints(joints, root, compiler, defaults, findings)
    links = bodies.links
    if compiler.total_mass is not None:
        links = _scaled(links, compiler.total_mass, root.place, findings)
    findings += snapping_findings(snapped or [])
    message = "MJCF states no velocity limits; they are taken as infinite."
    findings.append(Finding(Severity.INFO, "missing-limit", message, root.place))
    name = root.attributes.get("model", "").strip() or Path(source).stem
    return assemble(name, links, joints, findings, source=source, floating=floating).with_gravity(gravity)


def _scaled(links: list[RawLink], total: float, place: str, findings: list[Finding]) -> list[RawLink]:
    if any(finding.code == "missing-inertial" for finding in findings):
        raise DescriptionError(
            f"asks for a total mass of {total:g} kg, but not every mass is known.",
            place=place,
            remedy="Put the meshes beside the file, or remove 'settotalmass'.",
        )
    bodies = scale_to_total([link.body for link in links], total, place)
    return [replace(link, body=body) for link, body in zip(links, bodies, strict=True)]
