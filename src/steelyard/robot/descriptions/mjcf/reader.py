r"""MJCF into a Robot, reporting what is wrong with the line it stands on and inventing nothing.

MuJoCo's own parser loses lines and what a file does not state, opens files anywhere, and takes half of what
is refused here (decision 8); its compiler judges this reader in the tests instead. Joints and links are
MuJoCo's: the same coordinates (but a quaternion is x, y, z, w), in the same order, with the world as base.
Several mechanisms in one file are one tree, all of them children of the world.

A body's joints act one after the other, all stated in the body's frame as the file draws it:
$X_{PB}(q) = X_{PB}\,J_1(q_1)\,J_2(q_2)\dots$ Each joint's child frame has the body's axes and sits in its
anchor, so the link of a body has its frame in the anchor of its last joint. Where that is not the body's
origin, the origin is remembered as the fixed link `<body>/origin`. A free joint's coordinates are those of
the body in the world, wherever the file draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.assembly import RawJoint, RawLink, assemble_robot, chained
from steelyard.robot.descriptions.meshes import MeshFolder, mesh_source
from steelyard.robot.descriptions.mjcf.conventions import (
    MAIN,
    ORIENTATIONS,
    Compiler,
    Defaults,
    Placements,
    read_compiler,
    read_gravity,
)
from steelyard.robot.descriptions.mjcf.geoms import (
    Geom,
    MeshAssets,
    read_geom,
    read_inertial,
    scale_to_total,
    weigh,
)
from steelyard.robot.descriptions.mjcf.joints import (
    BodyJoint,
    drive_joints,
    read_joint,
    tie_joints,
)
from steelyard.robot.descriptions.rounding import Rounding, snapping_findings
from steelyard.robot.descriptions.xml import MAX_DEPTH, MAX_ELEMENTS, Element, read_xml
from steelyard.robot.joint import JointKind, Limits
from steelyard.robot.link import Geometry, MeshSource, shapes_in_frame
from steelyard.robot.model import Robot
from steelyard.robot.plausibility import implausible


def load_mjcf(
    path: FilePath, *, snap: bool = False, floating: bool = False, package_path: Sequence[FilePath] = ()
) -> Robot:
    """Read an MJCF file.

    Args:
        path: the file; included files are looked for inside its folder only, meshes in its package too.
        snap: whether rounded orientations, offsets and axes of joints are read as what they mean, which is
            the mechanism to ask what can be identified; otherwise they are reported.
        floating: whether the world is free to move with all that is fixed to it, see `Robot.floating`.
        package_path: folders in which meshes may lie too.

    Returns:
        The robot; its `findings` say what was noticed, in the order of the lines.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    return read_mjcf(Path(path), snap=snap, floating=floating, package_path=package_path).robot


@dataclass(frozen=True, eq=False)
class BodySource:
    """Where the file states a link.

    Attributes:
        body: the `<body>`.
        inertial: its `<inertial>`, or None.
        frame: X_LF, what encloses the inertial, or would, in the link's frame.
        origin: X_LB, the body's own frame in the link's.
        weighed: whether its inertia is that of its geoms, whatever its inertial says.
        unknown: why its inertia cannot be told, a mesh that is missing say; empty where it can.
    """

    body: Element
    inertial: Element | None
    frame: Pose
    origin: Pose
    weighed: bool
    unknown: str = ""


@dataclass(frozen=True, eq=False)
class JointSource:
    """Where the file states a joint.

    Attributes:
        stated: the `<joint>` as it stands.
        resolved: the same with what its class gives it.
        drive: its own friction and rotor, without those of its actuators.
    """

    stated: Element
    resolved: Element
    drive: Drive


@dataclass(frozen=True, eq=False)
class MjcfContent:
    """An MJCF file as it was read.

    Attributes:
        robot: what it describes.
        root: the `<mujoco>` element, includes expanded.
        compiler: how its numbers are meant.
        bodies: where each link stands, in the order of MuJoCo's bodies, by name.
        joints: where each moving joint stands, by name.
    """

    robot: Robot
    root: Element
    compiler: Compiler
    bodies: dict[str, BodySource]
    joints: dict[str, JointSource]


def read_mjcf(
    path: Path,
    *,
    snap: bool = False,
    floating: bool = False,
    package_path: Sequence[FilePath] = (),
    read: Callable[[Path], Element] = read_xml,
) -> MjcfContent:
    """Read an MJCF file, with where it states what.

    Args:
        path: the file, see `load_mjcf`.
        snap: as there.
        floating: as there.
        package_path: as there.
        read: reads it and the files it includes.

    Returns:
        The robot and its places.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    root = read(path)
    _expand_includes(root, path.parent, path, read)
    return _content(root, path.name, mesh_source(path.parent, package_path), snap, floating)


def _content(root: Element, source: str, folder: MeshSource, snap: bool, floating: bool) -> MjcfContent:
    findings: list[Finding] = []
    snapped: list[Rounding] | None = [] if snap else None
    _check_sections(root, findings)
    _report_unknown_attributes(root, findings)
    compiler = read_compiler(root, findings)
    gravity = read_gravity(root, findings)
    defaults = Defaults(root)
    meshes = MeshAssets(root, compiler, defaults, MeshFolder(folder, findings))
    placements = Placements(compiler, findings, snapped)
    bodies = _read_bodies(root, _Context(compiler, defaults, placements, meshes, findings))
    joints = tie_joints(bodies.joints, bodies.references, root, defaults, findings)
    joints = drive_joints(joints, root, compiler, defaults, findings)
    links = bodies.links
    if compiler.total_mass is not None:
        links = _scaled(links, compiler.total_mass, root.place, findings)
    findings += snapping_findings(snapped or [])
    message = "MJCF states no velocity limits; they are taken as infinite."
    findings.append(Finding(Severity.INFO, "missing-limit", message, root.place))
    name = root.attributes.get("model", "").strip() or Path(source).stem
    robot = assemble_robot(name, links, joints, findings, source=source, floating=floating)
    robot = replace(robot.with_gravity(gravity), meshes=folder)
    return MjcfContent(robot, root, compiler, bodies.sources, bodies.joint_sources)


def _scaled(links: list[RawLink], total: float, place: str, findings: list[Finding]) -> list[RawLink]:
    if any(finding.code == "missing-inertial" for finding in findings):
        raise DescriptionError(
            f"asks for a total mass of {total:g} kg, but not every mass is known.",
            place=place,
            remedy="Put the meshes beside the file, or remove 'settotalmass'.",
        )
    bodies = scale_to_total([link.body for link in links], total, place)
    return [replace(link, body=body) for link, body in zip(links, bodies, strict=True)]


def _expand_includes(root: Element, folder: Path, own: Path, read: Callable[[Path], Element]) -> None:
    """Put the children of each included file's root in the place of its `<include>`.

    As in MuJoCo a name is looked up in the folder of the main file, then in that of the including file, and
    no file may be included twice, which rules out loops.
    """
    seen = {own.resolve()}
    # Each task: an element whose children may hold includes, its depth, and the folder of its file.
    tasks, count = [(root, 1, folder)], 0
    while tasks:
        element, depth, here = tasks.pop()
        count += 1
        if count > MAX_ELEMENTS:
            raise DescriptionError(
                f"holds more than {MAX_ELEMENTS} elements with what it includes.", place=root.file
            )
        if depth > MAX_DEPTH:
            raise DescriptionError(f"elements are nested deeper than {MAX_DEPTH}.", place=element.place)
        waiting = [(child, here) for child in reversed(element.children)]
        element.children = []
        while waiting:
            child, child_folder = waiting.pop()
            if child.tag != "include":
                element.children.append(child)
                tasks.append((child, depth + 1, child_folder))
                continue
            path = _file(child, folder, child_folder)
            if path in seen:
                raise DescriptionError(
                    f"'{child.attributes['file']}' is included twice, or includes itself.", place=child.place
                )
            seen.add(path)
            waiting += [(inner, path.parent) for inner in reversed(read(path).children)]


def _file(include: Element, folder: Path, here: Path) -> Path:
    name = include.text("file")
    for start in (folder, here):
        try:
            path = (start / name).resolve()
            inside = path.is_relative_to(folder.resolve())
            exists = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            # Names too long, with a null byte, or through a loop of symbolic links.
            break
        if not inside:
            raise DescriptionError(
                f"includes '{name}', which lies outside the description's folder and was not opened.",
                place=include.place,
                remedy="Copy the file into the folder.",
            )
        if exists:
            return path
    raise DescriptionError(f"includes '{name}', but there is no such file.", place=include.place)


_SECTIONS = (
    "actuator",
    "asset",
    "compiler",
    "contact",
    "custom",
    "default",
    "deformable",
    "equality",
    "extension",
    "keyframe",
    "option",
    "sensor",
    "size",
    "statistic",
    "tendon",
    "visual",
    "worldbody",
)
_MAKES_BODIES = ("attach", "composite", "flex", "flexcomp", "replicate")


def _check_sections(root: Element, findings: list[Finding]) -> None:
    """Refuse what would change which bodies there are; report what adds forces."""
    if root.tag != "mujoco":
        raise DescriptionError(
            f"the root element is <{root.tag}>, an MJCF file starts with <mujoco>.", place=root.place
        )
    for section in root.children:
        if section.tag not in _SECTIONS:
            raise UnknownNameError("section", section.tag, _SECTIONS, place=section.place)
    waiting = [child for child in root.children if child.tag in ("worldbody", "deformable")]
    while waiting:
        element = waiting.pop()
        if element.tag in _MAKES_BODIES:
            raise DescriptionError(
                f"<{element.tag}> makes bodies that the file does not state, which is not supported.",
                place=element.place,
                remedy="Save the model from MuJoCo (mj_saveLastXML), which writes them out.",
            )
        if element.tag == "plugin":
            message = "a plugin may add forces, which are not modelled."
            findings.append(Finding(Severity.WARNING, "plugin-ignored", message, element.place))
        waiting += element.children
    for section in root.all("tendon"):
        for tendon in section.children:
            name = tendon.attributes.get("name", "")
            message = f"tendon '{name}' is not modelled, nor any spring, friction or limit of it."
            findings.append(Finding(Severity.WARNING, "tendon-ignored", message, tendon.place))


_PLACE = {"pos", *ORIENTATIONS}
# fmt: off
_JOINT = {
    "actuatorfrclimited", "actuatorfrcrange", "actuatorgravcomp", "armature", "axis", "class",
    "damping", "frictionloss", "group", "limited", "margin", "name", "pos", "range", "ref",
    "solimpfriction", "solimplimit", "solreffriction", "solreflimit", "springdamper", "springref",
    "springyield", "stiffness", "type", "user",
}
_GEOM = _PLACE | {
    "adhesion", "castshadow", "class", "conaffinity", "condim", "contype", "density", "fitscale",
    "fluidcoef", "fluidshape", "friction", "fromto", "gap", "group", "hfield", "margin", "mass",
    "material", "mesh", "name", "priority", "rgba", "shellinertia", "size", "solimp", "solmix",
    "solref", "surfacevel", "type", "user",
}
# fmt: on
_KNOWN = {
    "body": _PLACE | {"childclass", "fuse", "gravcomp", "mocap", "name", "simple", "sleep", "user"},
    "frame": _PLACE | {"childclass", "name"},
    "inertial": _PLACE | {"diaginertia", "fullinertia", "mass"},
    "joint": _JOINT,
    "freejoint": {"align", "group", "name"},
    "geom": _GEOM,
}
"""As of MuJoCo 4.0."""


def _report_unknown_attributes(root: Element, findings: list[Finding]) -> None:
    """Look through bodies and defaults for attributes that do not exist."""
    waiting = [child for child in root.children if child.tag in ("worldbody", "default")]
    while waiting:
        element = waiting.pop()
        waiting += element.children
        known = _KNOWN.get(element.tag)
        if known is None:
            continue
        for attribute in element.attributes:
            if attribute not in known:
                near = get_close_matches(attribute, sorted(known), n=1)
                guess = f" Did you mean '{near[0]}'?" if near else ""
                message = f"<{element.tag}> has no attribute '{attribute}'; it is ignored.{guess}"
                findings.append(Finding(Severity.WARNING, "unknown-attribute", message, element.place))


_IGNORED = ("site", "camera", "light", "plugin")
_ELEMENTS = ("body", "frame", "geom", "inertial", "joint", "freejoint", *_IGNORED)


@dataclass(frozen=True, eq=False)
class _Item:
    """An element inside a body.

    Attributes:
        element: the element.
        frame: X_BF, the innermost frame around it in the body's frame.
        around: the default class that holds there.
    """

    element: Element
    frame: Pose
    around: str


@dataclass(frozen=True, eq=False)
class _Context:
    """What every element of one file is read with.

    Attributes:
        compiler: how numbers are stated.
        defaults: the default classes.
        placements: reads poses.
        meshes: the meshes.
        findings: where to report.
        names: of all bodies and joints so far.
    """

    compiler: Compiler
    defaults: Defaults
    placements: Placements
    meshes: MeshAssets
    findings: list[Finding]
    names: set[str] = field(default_factory=set)

    def note_names(self, world: Element) -> None:
        """Note the names the file gives, so that those made up are others."""
        waiting = [world]
        while waiting:
            element = waiting.pop()
            self.names.add(element.attributes.get("name", "").strip())
            waiting += [child for child in element.children if child.tag in _ELEMENTS]

    def fresh(self, name: str) -> str:
        """A name that nothing has."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def content(self, body: Element, around: str) -> Iterator[_Item]:
        """What a body holds, in the order of the file, its frames dissolved."""
        waiting = [_Item(child, Pose.identity(), around) for child in reversed(body.children)]
        while waiting:
            item = waiting.pop()
            element = item.element
            if element.tag not in _ELEMENTS:
                raise UnknownNameError(
                    f"element of <{body.tag}>", element.tag, _ELEMENTS, place=element.place
                )
            if element.tag != "frame":
                yield item
                continue
            inner = self.defaults.known(element.attributes.get("childclass", item.around), element)
            frame = item.frame @ self.placements.pose(element, element.attributes.get("name", "frame"))
            waiting += [_Item(child, frame, inner) for child in reversed(element.children)]

    def resolve(self, item: _Item) -> Element:
        """An element with the attributes its class gives it."""
        return self.defaults.resolve(item.element, item.around)


def _read_link(
    element: Element,
    name: str,
    items: Sequence[_Item],
    placement: Pose,
    context: _Context,
    *,
    moves: bool,
) -> RawLink:
    """Read a body as a link."""
    inertials = [item for item in items if item.element.tag == "inertial"]
    if len(inertials) > 1:
        raise DescriptionError(f"body '{name}' states two inertials.", place=inertials[1].element.place)
    place = inertials[0].element.place if inertials else element.place
    stated: Body | str | None = None
    if inertials:
        stated = read_inertial(inertials[0].element, inertials[0].frame, context.placements)
    geoms = _geoms(items, context)
    body = weigh(name, stated, geoms, context.compiler, place, context.findings, moves=moves)
    if body is not None and stated is not None:
        rooms = [geom.room for geom in geoms if geom.collides]
        context.findings.extend(implausible(name, body, rooms, place))
    in_link = None if body is None else body.moved(placement)
    collision, visual = _shapes(geoms, placement)
    return RawLink(name, element.place, in_link, collision, place, visual=visual)


def _read_world(name: str, place: str, items: Sequence[_Item], context: _Context) -> RawLink:
    """Read the world as the base: its collision shapes alone."""
    for item in items:
        if item.element.tag in ("joint", "freejoint", "inertial"):
            raise DescriptionError(f"the world has no <{item.element.tag}>.", place=item.element.place)
    collision, visual = _shapes(_geoms(items, context), Pose.identity())
    return RawLink(name, place, None, collision, visual=visual)


def _geoms(items: Sequence[_Item], context: _Context) -> list[Geom]:
    return [
        read_geom(context.resolve(item), item.frame, context.placements, context.meshes, context.findings)
        for item in items
        if item.element.tag == "geom"
    ]


def _shapes(geoms: Sequence[Geom], X_LB: Pose) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    """What collides and what is seen, in the frame of the link."""
    collision = shapes_in_frame([geom.collision for geom in geoms if geom.collision is not None], X_LB)
    return collision, shapes_in_frame([geom.visual for geom in geoms if geom.visual is not None], X_LB)


_WORLD = "world"
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Every body of a file.

    Attributes:
        links: the bodies, the world first; the frames between several joints of one body, and the origins of
            bodies whose link has its frame elsewhere.
        joints: their joints, and a fixed one for each body without, from the world outwards.
        references: coordinate of each moving joint where the file draws it, rad or m, by name.
        sources: where each body stands, by name.
        joint_sources: where each moving joint stands, by name.
    """

    links: list[RawLink] = field(default_factory=list)
    joints: list[RawJoint] = field(default_factory=list)
    references: dict[str, float] = field(default_factory=dict)
    sources: dict[str, BodySource] = field(default_factory=dict)
    joint_sources: dict[str, JointSource] = field(default_factory=dict)


def _read_bodies(root: Element, context: _Context) -> _Bodies:
    """Read all `<worldbody>` elements as one tree."""
    world = Element("worldbody", {}, root.file, root.line)
    for section in root.all("worldbody"):
        world.children += section.children
        world.file, world.line = section.file, section.line
    context.note_names(world)
    items = list(context.content(world, MAIN))
    bodies = _Bodies([_read_world(_WORLD, world.place, items, context)])
    start = _Carrier(_WORLD, Pose.identity(), moves=False)
    tasks = [(item, start) for item in reversed(items) if item.element.tag == "body"]
    while tasks:
        item, parent = tasks.pop()
        own, inside = _add(bodies, item, parent, context)
        tasks += [(inner, own) for inner in reversed(inside) if inner.element.tag == "body"]
    return bodies


@dataclass(frozen=True, eq=False)
class _Carrier:
    """A body that carries others: its link, its own frame X_LB in that link's, and whether it can move."""

    link: str
    frame: Pose
    moves: bool


def _add(bodies: _Bodies, item: _Item, parent: _Carrier, context: _Context) -> tuple[_Carrier, list[_Item]]:
    """Add one body; the body as a carrier, and what it holds."""
    element = item.element
    place = element.place
    name = element.attributes.get("name", "").strip() or context.fresh(f"body{len(bodies.links)}")
    around = context.defaults.known(element.attributes.get("childclass", item.around), element)
    items = list(context.content(element, around))
    joints, places = _joints(items, name, parent.link, context)
    bodies.joint_sources.update(places)
    weld = context.fresh(f"{name}_fixed")
    X_PB = Pose.identity()
    if not (joints and joints[0].kind is JointKind.FLOATING):
        pose = context.placements.pose(element, joints[0].name if joints else weld)
        X_PB = parent.frame @ item.frame @ pose
    offset = joints[-1].anchor if joints else np.zeros(3)
    X_LB = Pose(np.eye(3), -offset)
    if element.number("gravcomp", 0.0) != 0.0:
        message = f"body '{name}' is relieved of gravity ('gravcomp'), which is not modelled."
        context.findings.append(Finding(Severity.WARNING, "gravcomp-ignored", message, place))
    own = _Carrier(name, X_LB, parent.moves or bool(joints))
    noticed = len(context.findings)
    bodies.links.append(_read_link(element, name, items, X_LB, context, moves=own.moves))
    unknown = [x.message for x in context.findings[noticed:] if x.code == "missing-inertial"]
    bodies.sources[name] = replace(_source(element, items, X_LB, context), unknown="".join(unknown))
    if not joints:
        bodies.joints.append(_fixed(weld, place, parent.link, name, X_PB))
        return own, items
    between, chain = chained(_in_a_row(joints, parent.link, name, X_PB))
    bodies.links.extend(between)
    bodies.joints.extend(chain)
    bodies.references.update({joint.name: joint.reference for joint in joints})
    if offset.any():
        origin = context.fresh(f"{name}/origin")
        bodies.links.append(RawLink(origin, place, None, ()))
        bodies.joints.append(_fixed(weld, place, name, origin, X_LB))
    return own, items


def _source(body: Element, items: Sequence[_Item], X_LB: Pose, context: _Context) -> BodySource:
    inertial = next((item for item in items if item.element.tag == "inertial"), None)
    geoms = [context.resolve(item) for item in items if item.element.tag == "geom"]
    first, last = context.compiler.inertia_groups
    counted = any(first <= geom.number("group", 0.0) <= last for geom in geoms)
    weighed = counted and context.compiler.inertia_from_geom == "true"
    if inertial is None:
        return BodySource(body, None, X_LB, X_LB, weighed)
    return BodySource(body, inertial.element, X_LB @ inertial.frame, X_LB, weighed)


def _joints(
    items: Sequence[_Item], body: str, parent: str, context: _Context
) -> tuple[list[BodyJoint], dict[str, JointSource]]:
    stated = [item for item in items if item.element.tag in ("joint", "freejoint")]
    joints, places = [], {}
    for k, item in enumerate(stated, start=1):
        # MuJoCo gives a <freejoint> nothing of the defaults.
        element = context.resolve(item) if item.element.tag == "joint" else item.element
        number = str(k) if len(stated) > 1 else ""
        name = element.attributes.get("name", "").strip() or context.fresh(f"{body}_joint{number}")
        joints.append(
            read_joint(element, name, item.frame, context.compiler, context.placements, context.findings)
        )
        places[name] = JointSource(item.element, element, joints[-1].drive)
    for joint in joints:
        if joint.kind is JointKind.FLOATING and (len(joints) > 1 or parent != _WORLD):
            raise DescriptionError(
                f"free joint '{joint.name}' must be the only joint of a body in the world.", place=joint.place
            )
    return joints, places


def _in_a_row(joints: Sequence[BodyJoint], parent: str, child: str, X_PB: Pose) -> list[RawJoint]:
    """The joints of one body, each placed in the child frame of the one before."""
    row = []
    start: Pose = X_PB
    before: Array = np.zeros(3)
    for joint in joints:
        step = Pose(np.eye(3), joint.anchor - before)
        placement = start @ step @ joint.rest
        row.append(
            RawJoint(
                joint.name,
                joint.place,
                joint.kind,
                parent,
                child,
                placement,
                joint.axis,
                joint.limits,
                joint.drive,
            )
        )
        start, before = Pose.identity(), joint.anchor
    return row


def _fixed(name: str, place: str, parent: str, child: str, placement: Pose) -> RawJoint:
    return RawJoint(name, place, None, parent, child, placement, _Z, Limits(), Drive())
