"""A description that simulators load: what is wrong is changed and listed, what is right stays as written.

The text is edited in place, one kind of defect after the other. No edit moves a line, so a place names the
same element before and after. Whatever needs a number nobody stated is left, and stays among the findings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.errors import DescriptionError, InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.robot.mjcf import load_mjcf
from steelyard.robot.model import Robot
from steelyard.robot.repair.edits import Change, Edits
from steelyard.robot.repair.expanded import element_text
from steelyard.robot.repair.geometry import repair_geometry, repair_materials, repair_mesh_paths
from steelyard.robot.repair.inertial import repair_inertials, repair_moving
from steelyard.robot.repair.joint import repair_joint
from steelyard.robot.repair.names import repair_names, repair_repeated, repair_spelling
from steelyard.robot.repair.source import Node, as_utf8, declared_encoding, parse_nodes
from steelyard.robot.urdf import parse_urdf
from steelyard.robot.urdf.writer import unworded, urdf_text
from steelyard.robot.xacro import expand_xacro, load_xacro, uses_xacro
from steelyard.robot.xml import parse_xml, read_bytes

_FILL = "State its <inertial>, or choose a mass to fill in."
REMEDIES = {
    "missing-inertial": _FILL,
    "zero-mass": _FILL,
    "impossible-inertia": "State a positive mass, or choose one to fill in.",
    "com-outside": "Check the <origin> of its <inertial>, and the units of its shapes.",
    "mass-implausible": "Check its <mass> in kg, and the units of its shapes.",
    "misspelt": "Correct the word if that is what was meant.",
    "unknown-leader": "Correct the name of the joint in <mimic>, or make the joint fixed.",
    "empty-range": "State its lower and upper limit, or make it fixed.",
}
"""What a person can do about the findings that no repair may touch, by code."""


@dataclass(frozen=True, eq=False)
class Repair:
    """A repaired description.

    Attributes:
        text: the URDF, in UTF-8.
        changes: everything that was changed, in the order of the lines.
        robot: what the repaired text describes; its findings are those that are left.
    """

    text: bytes
    changes: tuple[Change, ...]
    robot: Robot

    @property
    def left(self) -> tuple[Finding, ...]:
        """What is still wrong, because only a person can know what was meant."""
        return tuple(finding for finding in self.robot.findings if finding.severity is not Severity.INFO)


def repair_file(
    path: FilePath, out: FilePath, *, keep_meshes: bool = False, fill_mass: float | None = None
) -> Repair:
    """Repair a description file; nothing is written.

    Args:
        path: a URDF, xacro or MJCF file; the latter two become URDF first, without the meshes of a MJCF, and
            places are then lines of the outcome.
        out: where the repaired URDF will lie; its meshes are named as seen from there.
        keep_meshes: whether shapes stay whose mesh cannot be reached from the file alone.
        fill_mass: mass for moving links that state none, kg; `None` to leave them as they are.

    Returns:
        The repaired description.

    Raises:
        DescriptionError: it cannot be understood, so it cannot be known what it means.
        InputError: the mass is not positive.
    """
    path, out = Path(path), Path(out)
    content, name = read_bytes(path), path.name
    converted: tuple[Change, ...] = ()
    root = parse_xml(content, name)
    expanded = path.suffix.lower() == ".xacro" or uses_xacro(root)
    if expanded:
        content, name = element_text(expand_xacro(path)), out.name
    elif root.tag == "mujoco":
        content, converted = _converted(path)
        name = out.name
    elif root.tag != "robot":
        raise DescriptionError(
            f"the root element is <{root.tag}>, which starts no robot description.",
            place=root.place,
            remedy="A URDF or a xacro file starts with <robot>, a MJCF file with <mujoco>.",
        )
    try:
        repaired = repair_urdf(
            content,
            name,
            folder=path.parent,
            out_folder=out.parent,
            keep_meshes=keep_meshes,
            fill_mass=fill_mass,
        )
    except InputError:
        if expanded:
            load_xacro(path)  # is refused for the same reason, with the lines of the file that was given
        raise
    return replace(repaired, changes=(*converted, *repaired.changes))


def _converted(path: Path) -> tuple[bytes, tuple[Change, ...]]:
    """A MJCF description as URDF, with what is lost on the way."""
    robot = load_mjcf(path)
    try:
        text = urdf_text(robot)
    except DescriptionError as error:
        raise DescriptionError(error.message, place=path.name, remedy=error.remedy) from error
    reason = "URDF has no word for it, or its mesh stands in an asset of the MJCF"
    lost = (Change(path.name, what, value, "", reason) for what, value in unworded(robot))
    format_change = Change(path.name, "the format", "MJCF", "URDF", "the repaired description is a URDF")
    return text, (format_change, *lost)


def repair_urdf(
    content: bytes,
    name: str = "URDF",
    *,
    folder: FilePath | None = None,
    out_folder: FilePath | None = None,
    keep_meshes: bool = False,
    fill_mass: float | None = None,
) -> Repair:
    """Repair a URDF given as text, see `repair_file`.

    Args:
        content: the XML.
        name: what to call it in messages.
        folder: where its meshes lie; they are not looked for, and stay, when left out.
        out_folder: where the repaired file will lie; the same folder when left out.
        keep_meshes: whether shapes stay whose mesh cannot be reached from the file alone.
        fill_mass: mass for moving links that state none, kg; `None` to leave them as they are.

    Returns:
        The repaired description.

    Raises:
        DescriptionError: it cannot be understood, so it cannot be known what it means.
        InputError: the mass is not positive.
    """
    if fill_mass is not None and not 0 < fill_mass < float("inf"):
        raise InputError(f"must be a positive mass in kg, got {fill_mass:g}.", place="fill_mass")
    here = None if folder is None else Path(folder)
    parse_xml(content, name)
    text, changes = as_utf8(content, name), []
    if text != content:
        reason = "not every simulator reads other encodings"
        changes.append(Change(f"{name}:1", "the encoding", declared_encoding(content), "utf-8", reason))

    def stage(change: Callable[[Node, Edits], None]) -> None:
        nonlocal text
        edits = Edits(text)
        change(parse_nodes(text, name), edits)
        text = edits.result()
        changes.extend(edits.changes)

    stage(repair_spelling)
    stage(repair_repeated)
    stage(lambda root, edits: repair_names(root, edits, Path(name).stem))
    stage(lambda root, edits: repair_geometry(root, edits, None if keep_meshes else here))
    stage(repair_materials)
    stage(_repair_joints)
    stage(repair_inertials)
    robot = parse_urdf(text, name, folder=here)
    stage(lambda root, edits: repair_moving(root, robot, edits, fill_mass))
    robot = parse_urdf(text, name, folder=here)
    if here is not None and out_folder is not None:
        there = Path(out_folder)
        stage(lambda root, edits: repair_mesh_paths(root, edits, here, there))
    return Repair(text, tuple(sorted(changes, key=_line)), robot)


def _repair_joints(root: Node, edits: Edits) -> None:
    for joint in root.nodes("joint"):
        repair_joint(joint, edits)


def _line(change: Change) -> int:
    return int(change.place.rpartition(":")[2])
