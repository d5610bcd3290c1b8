"""A description that simulators load, from one that they do not, with every change listed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import pi
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError, InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, check_body, nearest_consistent, sphere
from steelyard.robot.descriptions.meshes import MeshFolder, mesh_source
from steelyard.robot.descriptions.mjcf.reader import load_mjcf
from steelyard.robot.descriptions.rounding import (
    Rounding,
    meant_axis,
    meant_placement,
    quarter_turns,
)
from steelyard.robot.descriptions.source_edits import (
    Change,
    Edits,
    Node,
    as_utf8,
    declared_encoding,
    element_text,
    parse_nodes,
)
from steelyard.robot.descriptions.urdf import (
    UNBOUNDED,
    WORDING,
    parse_urdf,
    read_shape,
    repeated_elements,
    unworded,
    urdf_text,
)
from steelyard.robot.descriptions.xacro.expansion import expand_xacro, load_xacro
from steelyard.robot.descriptions.xml import parse_xml, read_description
from steelyard.robot.link import MeshFile, MeshSource
from steelyard.robot.model import Robot
from steelyard.robot.plausibility import DENSITY, INNER_MARGIN

__all__ = ["REMEDIES", "Change", "Repair", "repair_file", "repair_urdf"]

# Spelling and names: words in the wrong case, names used twice, a robot without a name.

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def repair_spelling(root: Node, edits: Edits) -> None:
    """Write tags, attributes and joint types of URDF in lower case, where they differ by their case alone.

    Args:
        root: the description.
        edits: where the changes go.
    """
    for node in _urdf_elements(root):
        tag = node.tag.lower()
        if node.tag != tag:
            edits.retag(node, tag, f"the tag <{node.tag}>", "URDF tags are lower case")
        for name in node.attributes:
            lower = name.lower()
            if name != lower and lower in WORDING[tag].attributes and lower not in node.attributes:
                what = f"the attribute '{name}' of <{tag}>"
                edits.respell(node, name, lower, what, "URDF attributes are lower case")
        kind = node.attributes.get("type", "")
        if tag == "joint" and kind not in _TYPES and kind.lower() in _TYPES:
            what = f"the type of joint '{node.attributes.get('name', '')}'"
            edits.set(node, {"type": kind.lower()}, what, "URDF joint types are lower case")


def _urdf_elements(root: Node) -> Iterator[Node]:
    """The robot, its links and joints and all in them; blocks of other tools have words of their own."""
    yield root
    for child in root.children:
        if isinstance(child, Node) and child.tag.lower() in ("link", "joint", "material"):
            yield from (node for node in child.descendants() if node.tag.lower() in WORDING)


def repair_repeated(root: Node, edits: Edits) -> None:
    """Take out what stands a second time where one may stand; the first is what readers read.

    Args:
        root: the description.
        edits: where the changes go.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        copies = [copy for copy in repeated_elements(node) if isinstance(copy, Node)]
        for copy in copies:
            said = " ".join(f"{name}={value}" for name, value in copy.attributes.items())
            reason = f"it stands twice in <{node.tag}>, and the first is read"
            edits.remove(copy, f"a second <{copy.tag}>", said, reason)
        waiting += [
            child
            for child in node.children
            if isinstance(child, Node) and child.tag in WORDING and not any(child is copy for copy in copies)
        ]


def repair_names(root: Node, edits: Edits, stem: str) -> None:
    """Make every name unique, and give the robot one.

    A repeated joint is renamed. A repeated link is renamed where its copies are alike and each has a joint of
    its own, and left out where only one can be meant; which of two different links is meant is not guessed.

    Args:
        root: the description.
        edits: where the changes go.
        stem: what to call a robot without a name.

    Raises:
        DescriptionError: a link name is used twice and it cannot be known which link is meant where.
    """
    if not root.attributes.get("name", "").strip():
        edits.set(root, {"name": stem}, "the name of the robot", "a URDF needs one")
    joints = _unique_joints(root, edits)
    for name, links in _grouped(root, "link"):
        if len(links) > 1:
            _separate(name, links, joints, _taken(root, "link"), edits)


def _unique_joints(root: Node, edits: Edits) -> list[Node]:
    """The joints that stay, the repeated ones renamed."""
    kept = list(root.nodes("joint"))
    taken = _taken(root, "joint")
    for name, joints in _grouped(root, "joint"):
        for k, copy in enumerate(joints[1:]):
            if _content(copy) in [_content(other) for other in joints[: k + 1]]:
                edits.remove(copy, f"joint '{name}'", name, "the same joint stands above already")
                kept = [joint for joint in kept if joint is not copy]
            else:
                reason = "its name is used twice"
                edits.set(copy, {"name": _free(name, taken)}, f"the name of joint '{name}'", reason)
    return kept


def _separate(name: str, links: list[Node], joints: list[Node], taken: set[str], edits: Edits) -> None:
    children = [end for joint in joints for end in joint.nodes("child") if end.attributes.get("link") == name]
    parents = [end for joint in joints for end in joint.nodes("parent") if end.attributes.get("link") == name]
    alike = all(_content(copy) == _content(links[0]) for copy in links[1:])
    if alike and len(children) <= 1:
        for copy in links[1:]:
            edits.remove(copy, f"link '{name}'", name, "the same link stands above already")
    elif alike and len(children) == len(links) and not parents:
        for copy, end in zip(links[1:], children[1:], strict=True):
            new = _free(name, taken)
            edits.set(copy, {"name": new}, f"the name of link '{name}'", "its name is used twice")
            edits.set(end, {"link": new}, "the child of a joint", f"link '{name}' was renamed")
    else:
        raise DescriptionError(
            f"the link name '{name}' is used twice, first at {links[0].place}, and it cannot be known which "
            "of the two is meant where.",
            place=links[1].place,
            remedy="Rename one, and the joints that carry it.",
        )


def _grouped(root: Node, tag: str) -> list[tuple[str, list[Node]]]:
    groups: dict[str, list[Node]] = {}
    for node in root.nodes(tag):
        if name := node.attributes.get("name", ""):
            groups.setdefault(name, []).append(node)
    return list(groups.items())


def _taken(root: Node, tag: str) -> set[str]:
    return {node.attributes.get("name", "") for node in root.nodes(tag)}


def _free(name: str, taken: set[str]) -> str:
    k = 2
    while f"{name}_{k}" in taken:
        k += 1
    taken.add(f"{name}_{k}")
    return f"{name}_{k}"


def _content(node: Node) -> list[tuple[int, str, tuple[tuple[str, str], ...]]]:
    """Everything an element says, whatever its layout: depth, tag and attributes of all in it."""
    said = []
    waiting = [(0, node)]
    while waiting:
        depth, item = waiting.pop()
        said.append((depth, item.tag, tuple(sorted(item.attributes.items()))))
        waiting += [(depth + 1, child) for child in reversed(item.children) if isinstance(child, Node)]
    return said


# Joints as simulators want them: limits stated, axes of length one, rounded numbers written as meant.

_ZERO = (0.0, 0.0, 0.0)
_PARTS = {"x": 0, "y": 1, "z": 2, "roll": 0, "pitch": 1, "yaw": 2}


def repair_joint(joint: Node, edits: Edits) -> None:
    """Repair one joint.

    Args:
        joint: the `<joint>`.
        edits: where the changes go.

    Raises:
        DescriptionError: a number cannot be read.
    """
    name, kind = joint.text("name"), joint.text("type")
    if kind in ("revolute", "continuous", "prismatic"):
        _repair_limits(joint, name, kind, edits)
    _repair_origin(joint, name, edits)
    if kind != "fixed":
        _repair_axis(joint, name, edits)


def _repair_limits(joint: Node, name: str, kind: str, edits: Edits) -> None:
    limit = joint.node("limit")
    if limit is not None:
        missing = [key for key in ("velocity", "effort") if key not in limit.attributes]
        if missing:
            what = f"the {' and '.join(missing)} limit of joint '{name}'"
            reason = f"a limit must be stated; {UNBOUNDED} stands for none"
            edits.set(limit, dict.fromkeys(missing, UNBOUNDED), what, reason)
    elif kind == "revolute":
        reason = "a revolute joint must state limits; one without them is continuous"
        edits.set(joint, {"type": "continuous"}, f"the type of joint '{name}'", reason)
    elif kind == "prismatic":
        stated = " ".join(f'{key}="{UNBOUNDED}"' for key in ("upper", "velocity", "effort"))
        reason = f"a prismatic joint must state limits; {UNBOUNDED} stands for none"
        edits.add(joint, f'<limit lower="-{UNBOUNDED}" {stated}/>', f"the limits of joint '{name}'", reason)


def _repair_origin(joint: Node, name: str, edits: Edits) -> None:
    origin = joint.node("origin")
    if origin is None:
        return
    origin.vector("xyz", _ZERO)
    origin.vector("rpy", _ZERO)
    xyz, rpy = origin.words("xyz", "0 0 0"), origin.words("rpy", "0 0 0")
    _, roundings = meant_placement(xyz, rpy, origin.place)
    for attribute, words, code in (("xyz", xyz, "rounded-offset"), ("rpy", rpy, "rounded-angle")):
        found = [rounding for rounding in roundings if rounding.code == code]
        if found:
            reason = "; ".join(str(rounding) for rounding in found)
            values = {attribute: " ".join(_meant(words, found))}
            edits.set(origin, values, f"the origin of joint '{name}'", reason)


def _meant(words: Sequence[str], roundings: Sequence[Rounding]) -> list[str]:
    exact = list(words)
    for rounding in roundings:
        turns = quarter_turns(rounding.literal) if rounding.unit == "rad" else 0
        exact[_PARTS[rounding.part]] = repr(turns * math.pi / 2) if turns else "0"
    return exact


def _repair_axis(joint: Node, name: str, edits: Edits) -> None:
    axis = joint.node("axis")
    if axis is None or "xyz" not in axis.attributes:
        return
    stated = np.array(axis.vector("xyz", _ZERO))
    length = float(np.linalg.norm(stated))
    if length < 1e-6:
        raise DescriptionError(f"the axis of joint '{name}' has no direction.", place=axis.place)
    literal = " ".join(axis.words("xyz", ""))
    meant, roundings = meant_axis(stated / length, literal, axis.place)
    if not roundings and abs(length - 1.0) <= 1e-6:
        return
    reason = str(roundings[0]) if roundings else f"its length is {length:.6g}"
    written = " ".join(repr(float(x)) for x in meant)
    edits.set(axis, {"xyz": written}, f"the axis of joint '{name}'", reason)


# Inertials that can exist: the nearest tensor for one that cannot, and never a mass that is not stated.

_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
_LEAST_MOMENT = 1e-14
"""Principal moments below this, kg m², are refused by MuJoCo, whose own bound is 1e-15."""
_LEAST_MASS = 1e-14
"""The same for the mass of a link that moves, kg."""
_ROUND_OFF = 1e-14


def repair_inertials(root: Node, edits: Edits) -> None:
    """Replace tensors that cannot be, or that simulators cannot tell from such, by the nearest that can.

    Mass and centre of mass stay as stated. Links without a positive mass stay as they are.

    Args:
        root: the description.
        edits: where the changes go.

    Raises:
        DescriptionError: a number is missing or cannot be read.
    """
    for link in root.nodes("link"):
        inertial = link.node("inertial")
        if inertial is None:
            continue
        mass, I_C = _stated(inertial)
        if mass > 0 and I_C.any() and not _loadable(I_C):
            check = check_body(Body(mass, np.zeros(3), I_C).parameters)
            why = " ".join(str(reason).rstrip(".") for reason in check.reasons)
            reason = why or "a principal moment, or what it lacks to the sum of the others, is next to zero"
            _set_tensor(inertial, link.text("name"), mass, I_C, reason, edits)


def repair_moving(root: Node, robot: Robot, edits: Edits, fill_mass: float | None) -> None:
    """See to it that every link that moves has inertia.

    A moving point mass is given the smallest tensor that counts. A mass is filled in only where the caller
    chose one, as a ball of water.

    Args:
        root: the description.
        robot: the robot it describes.
        edits: where the changes go.
        fill_mass: mass for links that state none, kg; `None` to leave them as they are.
    """
    nodes = {link.text("name"): link for link in root.nodes("link")}
    weightless: list[str] = []
    for link in robot.links:
        if link.virtual:
            continue
        body, inertial = link.body, nodes[link.name].node("inertial")
        if body is None or body.mass < _LEAST_MASS:
            weightless.append(link.name)
        elif np.linalg.eigvalsh(body.inertia)[0] < _LEAST_MOMENT and inertial is not None:
            mass, I_C = _stated(inertial)
            if mass > 0:
                reason = "a moving link needs moments that are not zero"
                _set_tensor(inertial, link.name, mass, I_C, reason, edits)
    if fill_mass is None:
        return
    for name, node in nodes.items():
        inertial = node.node("inertial")
        negative = inertial is not None and _stated(inertial)[0] < 0
        if name in weightless or negative:
            _fill(node, inertial, fill_mass, edits)


def _stated(inertial: Node) -> tuple[float, Array]:
    """Mass, and the tensor about the centre of mass in the axes of the inertial's own frame."""
    tensor = inertial.need("inertia")
    I_C = np.zeros((3, 3))
    for key, (i, j) in _ENTRIES.items():
        I_C[i, j] = I_C[j, i] = tensor.number(key)
    return inertial.need("mass").number("value"), I_C


def _loadable(I_C: Array) -> bool:
    """Whether its moments are positive and obey the triangle inequality in spite of another's round-off."""
    low, middle, high = np.linalg.eigvalsh(I_C)
    diagonal = not (I_C - np.diag(I_C.diagonal())).any()
    return bool(low >= _LEAST_MOMENT and low + middle - high >= (0.0 if diagonal else _ROUND_OFF * high))


def _nearest(mass: float, I_C: Array) -> Array:
    """The nearest tensor inside the possible ones, by as small a margin as simulators notice."""
    phi = Body(mass, np.zeros(3), I_C).parameters
    margin = INNER_MARGIN
    while True:
        near = Body.from_parameters(nearest_consistent(phi, margin=margin * mass)).inertia
        if _loadable(near):
            return near
        margin *= 10.0


def _set_tensor(inertial: Node, link: str, mass: float, I_C: Array, reason: str, edits: Edits) -> None:
    near = _nearest(mass, I_C)
    moved = np.abs(near - I_C) > 1e-12 * np.abs(near).max()
    values = {key: repr(float(near[at])) for key, at in _ENTRIES.items() if moved[at]}
    tensor = inertial.node("inertia")
    if tensor is not None:
        edits.set(tensor, values, f"the inertia of link '{link}'", f"{reason}; this is the nearest possible")


def _fill(link: Node, inertial: Node | None, mass: float, edits: Edits) -> None:
    I_C = sphere((3 * mass / (4 * pi * DENSITY)) ** (1 / 3), mass=mass).inertia
    values = {key: repr(float(I_C[at])) for key, at in _ENTRIES.items()}
    name = link.text("name")
    reason = f"no mass was stated; {mass:g} kg of water in a ball was asked for"
    if inertial is None:
        tensor = " ".join(f'{key}="{value}"' for key, value in values.items())
        stated = f'<inertial><mass value="{mass!r}"/><inertia {tensor}/></inertial>'
        edits.add(link, stated, f"the inertial of link '{name}'", reason)
        return
    tensor_node, mass_node = inertial.node("inertia"), inertial.node("mass")
    if mass_node is not None:
        edits.set(mass_node, {"value": repr(mass)}, f"the mass of link '{name}'", reason)
    if tensor_node is not None and not _loadable(_stated(inertial)[1]):
        edits.set(tensor_node, values, f"the inertia of link '{name}'", reason)


# Shapes and materials that no simulator can load, taken out: meshes out of reach, sizes that are none.

_UNREACHED = {
    "mesh-missing": "there is no such file",
    "mesh-outside": "it lies outside the description's folder",
    "mesh-unresolved": "nothing around the file says where that package is",
    "bad-mesh": "the mesh cannot be read",
}
_COLLIDING = (".stl", ".obj", ".msh")
"""Meshes that every simulator takes for collision; what a link looks like may be in other formats."""


def repair_geometry(root: Node, edits: Edits, folder: MeshSource | None) -> None:
    """Take out the shapes that cannot be used.

    Args:
        root: the description.
        edits: where the changes go.
        folder: where its meshes lie; they are not looked for, and stay, when left out.
    """
    known: dict[tuple[str, str], str] = {}
    for link in root.nodes("link"):
        name = link.text("name")
        for kind in ("collision", "visual"):
            for item in link.nodes(kind):
                shape, reason = _defect(item, folder, known)
                if reason:
                    edits.remove(item, f"a {kind} shape of link '{name}'", shape, reason)


def _defect(item: Node, folder: MeshSource | None, known: dict[tuple[str, str], str]) -> tuple[str, str]:
    """What a shape is, and why it cannot be used; no reason where it can."""
    geometry = item.node("geometry")
    if geometry is None or not geometry.children:
        return item.tag, "it has no geometry"
    findings: list[Finding] = []
    shape = read_shape(geometry, findings)
    tag = geometry.children[0].tag
    if shape is None:
        # What a link looks like is not read by simulators that compute; a shape only they know stays.
        return tag, findings[0].message.rstrip(".") if item.tag == "collision" else ""
    if not isinstance(shape, MeshFile) or folder is None:
        return tag, ""
    key = (item.tag, shape.file)
    if key not in known:
        known[key] = _mesh_defect(item.tag, shape, folder)
    return shape.file, known[key]


def _mesh_defect(tag: str, shape: MeshFile, folder: MeshSource) -> str:
    findings: list[Finding] = []
    meshes = MeshFolder(folder, findings)
    if tag == "collision":
        meshes.read(shape, "")
    else:
        meshes.find(shape.file, "")
    suffix = Path(shape.file).suffix.lower()
    for finding in findings:
        if finding.code in _UNREACHED:
            return _UNREACHED[finding.code]
    if tag == "collision" and suffix not in _COLLIDING:
        return f"MuJoCo reads no '{suffix}' mesh; convert it to STL or OBJ"
    return ""


def repair_materials(root: Node, edits: Edits) -> None:
    """Take out the materials that make a parser stop: without a name, with no proper colour, or repeated.

    Args:
        root: the description.
        edits: where the changes go.
    """
    seen: set[str] = set()
    for material in root.nodes("material"):
        name = material.attributes.get("name", "")
        reason = _material_defect(material)
        if not reason and name in seen:
            reason = "its name is used twice; the first stays"
        if reason:
            edits.remove(material, f"material '{name}'", name, reason)
        seen.add(name)
    for link in root.nodes("link"):
        for shape in (*link.nodes("visual"), *link.nodes("collision")):
            for material in shape.nodes("material"):
                if reason := _material_defect(material):
                    name = material.attributes.get("name", "")
                    edits.remove(material, f"a material of link '{link.text('name')}'", name, reason)


def _material_defect(material: Node) -> str:
    if not material.attributes.get("name", "").strip():
        return "it has no name"
    for color in material.nodes("color"):
        try:
            color.numbers("rgba", 4)
        except DescriptionError:
            return "its colour is not four numbers"
    return ""


def repair_mesh_paths(root: Node, edits: Edits, folder: MeshSource, out_folder: Path) -> None:
    """Name the meshes as they are reached from another folder.

    Args:
        root: the description.
        edits: where the changes go.
        folder: where the description was read, and its meshes lie.
        out_folder: where the description will be written.
    """
    if Path(folder.folder).resolve() == out_folder.resolve():
        return
    meshes = MeshFolder(folder, [])
    for link in root.nodes("link"):
        for mesh in (node for node in link.descendants() if node.tag == "mesh"):
            try:
                name = mesh.text("filename")
            except DescriptionError:
                continue
            path = meshes.find(name, mesh.place)
            if path is not None:
                moved = Path(os.path.relpath(path, out_folder.resolve())).as_posix()
                reason = "the repaired file lies in another folder"
                edits.set(mesh, {"filename": moved}, f"a mesh of link '{link.text('name')}'", reason)


# The repair: what is wrong is changed and listed, what is right stays as written
#
# The text is edited in place, one kind of defect after the other. No edit moves a line, so a place names the
# same element before and after. Whatever needs a number nobody stated is left, and stays among the findings.

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
    path: FilePath,
    out: FilePath,
    *,
    keep_meshes: bool = False,
    fill_mass: float | None = None,
    package_path: Sequence[FilePath] = (),
) -> Repair:
    """Repair a description file; nothing is written.

    Args:
        path: a URDF, xacro or MJCF file; the latter two become URDF first, without the meshes of a MJCF, and
            places are then lines of the outcome.
        out: where the repaired URDF will lie; its meshes are named as seen from there.
        keep_meshes: whether shapes stay whose mesh cannot be reached from the file alone.
        fill_mass: mass for moving links that state none, kg; `None` to leave them as they are.
        package_path: folders in which packages of meshes and xacro files are looked for.

    Returns:
        The repaired description.

    Raises:
        DescriptionError: it cannot be understood, so it cannot be known what it means.
        InputError: the mass is not positive.
    """
    path, out = Path(path), Path(out)
    content, name = read_description(path), path.name
    converted: tuple[Change, ...] = ()
    root = parse_xml(content, name)
    expanded = path.suffix.lower() == ".xacro" or root.uses_xacro
    if expanded:
        content, name = element_text(expand_xacro(path, package_path=package_path)), out.name
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
            folder=mesh_source(path.parent, package_path),
            out_folder=out.parent,
            keep_meshes=keep_meshes,
            fill_mass=fill_mass,
        )
    except InputError:
        if expanded:
            # Is refused for the same reason, with the lines of the file that was given.
            load_xacro(path, package_path=package_path)
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
    folder: MeshSource | FilePath | None = None,
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
    here = MeshSource.of(folder)
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
