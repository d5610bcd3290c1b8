"""URDF, the description of robots in ROS: read with the line of all that is wrong with it, and written."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.assembly import Chain, RawJoint, RawLink, assemble_robot, planar
from steelyard.robot.descriptions.meshes import MeshFolder, mesh_source
from steelyard.robot.descriptions.rounding import (
    Rounding,
    meant_axis,
    meant_placement,
    rounding_findings,
    snapping_findings,
)
from steelyard.robot.descriptions.xml import LARGEST, Element, parse_xml, read_xml
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic
from steelyard.robot.link import Box, Capsule, Cylinder, Geometry, Link, MeshFile, MeshSource, Shape, Sphere
from steelyard.robot.model import STANDARD_GRAVITY, Robot
from steelyard.robot.plausibility import Solid, implausible, link_solid

# The words of URDF: what stands twice where it may stand once, and what looks like a word but is none.
#
# Readers take the first of two `<limit>`s and pass over `<limits>` or `lowr="-1"` without a word, so that a
# joint turns out to have other limits than the file seems to state.

_ALIKE = 0.75
"""Similarity of two words, dimensionless, from which one is taken for the other misspelt."""


@dataclass(frozen=True)
class Wording:
    """What an element may hold: attributes, children that stand once, and children that may repeat."""

    attributes: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


_SHAPE = Wording(once=("origin", "geometry", "material"))
WORDING = {
    "robot": Wording(("name",), repeated=("link", "joint", "material")),
    "link": Wording(("name",), once=("inertial",), repeated=("visual", "collision")),
    "joint": Wording(
        ("name", "type"), once=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
    ),
    "parent": Wording(("link",)),
    "child": Wording(("link",)),
    "origin": Wording(("xyz", "rpy")),
    "axis": Wording(("xyz",)),
    "limit": Wording(("lower", "upper", "velocity", "effort")),
    "dynamics": Wording(("damping", "friction")),
    "mimic": Wording(("joint", "multiplier", "offset")),
    "inertial": Wording(once=("origin", "mass", "inertia")),
    "mass": Wording(("value",)),
    "inertia": Wording(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": _SHAPE,
    "collision": _SHAPE,
    "geometry": Wording(once=("mesh", "sphere", "box", "cylinder", "capsule")),
    "material": Wording(("name",), once=("color", "texture")),
    "color": Wording(("rgba",)),
    "mesh": Wording(("filename", "scale")),
    "sphere": Wording(("radius",)),
    "box": Wording(("size",)),
    "cylinder": Wording(("radius", "length")),
    "capsule": Wording(("radius", "length")),
}
"""The elements of URDF that a robot is read from, by tag; other tools put words of their own between them."""


def repeated_elements(parent: Element) -> Iterator[Element]:
    """The children that stand a second time where one may stand.

    Args:
        parent: an element of URDF.

    Returns:
        Every copy but the first.
    """
    wording = WORDING.get(parent.tag, Wording())
    for tag in wording.once:
        yield from list(parent.all(tag))[1:]


def wording_findings(root: Element) -> list[Finding]:
    """What is odd about the words of a URDF.

    Args:
        root: the `<robot>`.

    Returns:
        A warning for each repeated element, and for each word that seems to be another one misspelt.
    """
    findings = []
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for copy in repeated_elements(element):
            message = f"<{copy.tag}> stands twice in <{element.tag}>; the first is read."
            findings.append(Finding(Severity.WARNING, "repeated-element", message, copy.place))
        findings += _misspelt(element)
        waiting += [child for child in element.children if child.tag in WORDING]
    return findings


def _misspelt(element: Element) -> Iterator[Finding]:
    wording = WORDING[element.tag]
    for name in element.attributes:
        if name not in wording.attributes and (meant := _meant(name, wording.attributes, element.attributes)):
            message = f"<{element.tag}> has the attribute '{name}', which is not read; '{meant}' is missing."
            yield Finding(Severity.WARNING, "misspelt", message, element.place)
    tags = {child.tag for child in element.children}
    known = (*wording.once, *wording.repeated)
    for child in element.children:
        if child.tag not in known and (meant := _meant(child.tag, known, () if wording.repeated else tags)):
            message = f"<{child.tag}> in <{element.tag}> is not read; did you mean <{meant}>?"
            yield Finding(Severity.WARNING, "misspelt", message, child.place)


def _meant(word: str, known: tuple[str, ...], present: Collection[str]) -> str | None:
    """The word of URDF that another seems to be, unless that one is there already."""
    missing = [other for other in known if other not in present]
    return next(iter(get_close_matches(word.lower(), missing, n=1, cutoff=_ALIKE)), None)


# A `<link>` of a URDF: its inertial and collision shapes, and whether they fit each other.

_ZERO = (0.0, 0.0, 0.0)
THINNEST = 1e-3
"""Thickness that a shape without any is given, m."""


def read_urdf_link(element: Element, meshes: MeshFolder, findings: list[Finding]) -> RawLink:
    """Read a link.

    Args:
        element: the `<link>`.
        meshes: where its meshes are looked for.
        findings: where to report what is odd.

    Returns:
        The link as stated.

    Raises:
        DescriptionError: an element or a number that is needed is missing or malformed.
    """
    name = element.text("name")
    inertial = element.first("inertial")
    body = None if inertial is None else _body(inertial)
    collision: list[Geometry] = []
    solids: list[Solid | None] = []
    for item in element.all("collision"):
        geometry, before = item.need("geometry"), len(findings)
        shape = read_shape(geometry, findings)
        if shape is None:
            solids.append(None)
            continue
        collision.append(Geometry(shape, origin_pose(item.first("origin"))))
        mesh = meshes.read(shape, geometry.children[0].place) if isinstance(shape, MeshFile) else None
        # What has no thickness of its own says nothing about mass.
        flat = any(finding.code == "flat-shape" for finding in findings[before:])
        solids.append(None if flat else link_solid(collision[-1], mesh))
    visual = _visual(element, meshes)
    if inertial is None or body is None:
        return RawLink(name, element.place, None, tuple(collision), visual=visual)
    findings += implausible(name, body, solids, inertial.place)
    return RawLink(name, element.place, body, tuple(collision), inertial.place, visual=visual)


def _visual(link: Element, meshes: MeshFolder) -> tuple[Geometry, ...]:
    """What a link looks like; meshes that cannot be reached are reported, broken shapes are left out."""
    shapes = []
    for visual in link.all("visual"):
        for geometry in visual.all("geometry"):
            for mesh in geometry.all("mesh"):
                if name := mesh.attributes.get("filename", "").strip():
                    meshes.find(name, mesh.place)
            try:
                shape, pose = read_shape(geometry, []), origin_pose(visual.first("origin"))
            except DescriptionError:
                # Nothing but a picture depends on it.
                continue
            if shape is not None:
                shapes.append(Geometry(shape, pose))
    return tuple(shapes)


def origin_pose(element: Element | None) -> Pose:
    """Where an `<origin>` says that something stands.

    Args:
        element: the `<origin>`; None where there is none.

    Returns:
        The pose in what carries it.
    """
    if element is None:
        return Pose.identity()
    return Pose.from_rpy(element.vector("rpy", _ZERO), element.vector("xyz", _ZERO))


def _body(inertial: Element) -> Body:
    mass = inertial.need("mass").number("value")
    if 0.0 < abs(mass) < 1.0 / LARGEST:
        raise DescriptionError(f"a mass of {mass:g} kg is none.", place=inertial.place, remedy="Write 0.")
    tensor = inertial.need("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    X_LC = origin_pose(inertial.first("origin"))
    I_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if mass == 0.0:
        # A massless body has no com; its tensor, if any, does not depend on where it sits.
        X_LC = Pose(X_LC.rotation, np.zeros(3))
    return Body(mass, np.zeros(3), I_C).moved(X_LC)


def read_shape(geometry: Element, findings: list[Finding]) -> Shape | None:
    """Read a `<geometry>`.

    Args:
        geometry: the element.
        findings: where to report a shape that cannot be used.

    Returns:
        The shape; `None` where it cannot be used.

    Raises:
        DescriptionError: it is empty.
    """
    if not geometry.children:
        raise DescriptionError("<geometry> is empty.", place=geometry.place)
    element = geometry.children[0]
    try:
        match element.tag:
            case "sphere":
                return Sphere(element.number("radius"))
            case "box":
                return Box(*_thick(element.vector("size", _ZERO), element, findings))
            case "cylinder":
                sizes = element.number("radius"), element.number("length")
                return Cylinder(*_thick(sizes, element, findings))
            case "capsule":
                return Capsule(element.number("radius"), element.number("length"))
            case "mesh":
                return MeshFile(element.text("filename"), element.vector("scale", (1.0, 1.0, 1.0)))
    except DescriptionError as error:
        # A broken collision shape does not touch the dynamics: report it and go on without it.
        findings.append(Finding(Severity.ERROR, "bad-shape", error.message, element.place))
        return None
    findings.append(
        Finding(Severity.WARNING, "unknown-shape", f"<{element.tag}> is not a URDF shape.", element.place)
    )
    return None


def _thick(sizes: Sequence[float], element: Element, findings: list[Finding]) -> list[float]:
    """Sizes of a plate or a rod, which can be hit all the same, with a thickness; others as they are."""
    if all(sizes) or not any(sizes):
        return list(sizes)
    message = f"the {element.tag} has no thickness; it counts as {1e3 * THINNEST:g} mm thick."
    findings.append(Finding(Severity.INFO, "flat-shape", message, element.place))
    return [size or THINNEST for size in sizes]


# A `<joint>` of a URDF: where it sits, how it moves, within which limits, and its friction.

_X = (1.0, 0.0, 0.0)
_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "floating": JointKind.FLOATING,
    # Two slides and this turn; see `assembly.planar`.
    "planar": JointKind.CONTINUOUS,
    "fixed": None,
}
_LIMITED = ("revolute", "continuous", "prismatic")


def read_urdf_joint(element: Element, findings: list[Finding], snapped: list[Rounding] | None) -> Chain:
    """Read a joint.

    Args:
        element: the `<joint>`.
        findings: where to report what is odd.
        snapped: where to note the rounded numbers that were replaced by what they mean; `None` to keep the
            numbers as stated and report them instead.

    Returns:
        The joint, and no link; a planar joint is a chain of three, with virtual links between.

    Raises:
        DescriptionError: an element or a number that is needed is missing or malformed.
    """
    name = element.text("name")
    stated = element.text("type")
    if stated not in _KINDS:
        raise DescriptionError(
            f"joint '{name}' has the type '{stated}'.",
            place=element.place,
            remedy=f"Supported: {', '.join(_KINDS)}.",
        )
    kind = _KINDS[stated]
    origin = element.first("origin")
    placement, meant_at, roundings = _placement(origin)
    axis = meant_along = np.array(_X)
    if kind is not None:
        axis, meant_along, rounded = _axis(element, name, findings)
        roundings += rounded
    if snapped is None:
        findings += rounding_findings(name, roundings)
    else:
        snapped += roundings
        placement, axis = meant_at, meant_along
    joint = RawJoint(
        name=name,
        place=element.place,
        kind=kind,
        parent=element.need("parent").text("link"),
        child=element.need("child").text("link"),
        placement=placement,
        axis=axis,
        limits=_limits(element, name, kind, findings) if kind and stated in _LIMITED else Limits(),
        drive=_drive(element, name),
        mimic=_mimic(element, name, stated),
    )
    return planar(joint) if stated == "planar" else ([], [joint])


def _mimic(joint: Element, name: str, stated: str) -> Mimic | None:
    element = joint.first("mimic")
    if element is None or stated == "fixed":
        return None
    if stated in ("planar", "floating"):
        raise DescriptionError(f"{stated} joint '{name}' cannot mimic another.", place=element.place)
    try:
        return Mimic(element.text("joint"), element.number("multiplier", 1.0), element.number("offset", 0.0))
    except DescriptionError as error:
        raise DescriptionError(f"joint '{name}': {error.message}", place=element.place) from error


def _placement(origin: Element | None) -> tuple[Pose, Pose, list[Rounding]]:
    """The placement as stated, as meant, and the numbers in which the two differ."""
    if origin is None:
        return Pose.identity(), Pose.identity(), []
    stated = Pose.from_rpy(origin.vector("rpy", _ZERO), origin.vector("xyz", _ZERO))
    meant, roundings = meant_placement(
        origin.words("xyz", "0 0 0"), origin.words("rpy", "0 0 0"), origin.place
    )
    return stated, meant, roundings


def _axis(joint: Element, name: str, findings: list[Finding]) -> tuple[Array, Array, list[Rounding]]:
    """The axis as stated, as meant, and the rounding in which the two differ."""
    element = joint.first("axis")
    if element is None:
        return np.array(_X), np.array(_X), []
    stated = np.array(element.vector("xyz", _X))
    length = float(np.linalg.norm(stated))
    if length < 1e-6:
        raise DescriptionError(f"the axis of joint '{name}' has no direction.", place=element.place)
    if abs(length - 1.0) > 1e-6:
        message = f"the axis of joint '{name}' has length {length:.6g} and was scaled to 1."
        findings.append(Finding(Severity.WARNING, "axis-not-unit", message, element.place))
    unit = np.asarray(stated / length)
    meant, roundings = meant_axis(unit, " ".join(element.words("xyz", "1 0 0")), element.place)
    return unit, meant, roundings


def _limits(joint: Element, name: str, kind: JointKind, findings: list[Finding]) -> Limits:
    element = joint.first("limit")
    bounded = kind is not JointKind.CONTINUOUS
    if element is None:
        if bounded:
            message = f"{kind.value} joint '{name}' states no limits; they are taken as infinite."
            findings.append(Finding(Severity.WARNING, "missing-limit", message, joint.place))
        return Limits()
    # URDF's own default for a missing lower or upper attribute is zero.
    lower = element.number("lower", 0.0, largest=math.inf) if bounded else -math.inf
    upper = element.number("upper", 0.0, largest=math.inf) if bounded else math.inf
    if bounded and lower == upper:
        message = f"joint '{name}' may not move: its lower and upper limit are both {lower:g}."
        findings.append(Finding(Severity.WARNING, "empty-range", message, element.place))
    for attribute in ("velocity", "effort"):
        if attribute not in element.attributes:
            message = f"joint '{name}' states no {attribute} limit; it is taken as infinite."
            findings.append(Finding(Severity.WARNING, "missing-limit", message, element.place))
    try:
        return Limits(
            lower,
            upper,
            velocity=element.number("velocity", math.inf, largest=math.inf),
            effort=element.number("effort", math.inf, largest=math.inf),
        )
    except SteelyardError as error:
        raise DescriptionError(f"joint '{name}': {error.message}", place=element.place) from error


def _drive(joint: Element, name: str) -> Drive:
    element = joint.first("dynamics")
    if element is None:
        return Drive()
    try:
        return Drive(
            viscous=element.number("damping") if "damping" in element.attributes else None,
            coulomb=element.number("friction") if "friction" in element.attributes else None,
        )
    except DescriptionError:
        raise
    except SteelyardError as error:
        raise DescriptionError(f"joint '{name}': {error}", place=element.place) from error


# URDF into a Robot, reporting what is wrong with the line it stands on and inventing nothing.
#
# Pinocchio and urdfdom keep no line numbers, fill a missing inertial with zeros and stop at the first error;
# they judge this reader in the tests instead.


def load_urdf(
    path: FilePath, *, snap: bool = False, floating: bool = False, package_path: Sequence[FilePath] = ()
) -> Robot:
    """Read a URDF file.

    Args:
        path: the file; meshes are looked for in its folder and in the packages they name.
        snap: whether rounded angles, offsets and axes of joints are read as what they mean (`1.5708` as
            π/2), which is the mechanism to ask what can be identified; otherwise they are reported.
        floating: whether the base is free to move, see `Robot.floating`; without it a lone body cannot move.
        package_path: folders in which packages are looked for, see `packages`.

    Returns:
        The robot; its `findings` say what was noticed, in the order of the lines.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    path = Path(path)
    meshes = mesh_source(path.parent, package_path)
    return robot_from_urdf_element(read_xml(path), path.name, meshes, snap=snap, floating=floating)


def parse_urdf(
    text: bytes | str,
    name: str = "URDF",
    *,
    folder: MeshSource | FilePath | None = None,
    snap: bool = False,
) -> Robot:
    """Read URDF from text.

    Args:
        text: the XML.
        name: what to call it in messages.
        folder: where to look for meshes; they are not looked for when left out.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.
    """
    return robot_from_urdf_element(parse_xml(text, name), name, folder, snap=snap)


def robot_from_urdf_element(
    root: Element, source: str, folder: MeshSource | FilePath | None, *, snap: bool, floating: bool = False
) -> Robot:
    """Build the robot of a URDF's root element.

    Args:
        root: the `<robot>`.
        source: name of the file it comes from.
        folder: where to look for meshes; they are not looked for where it is `None`.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.
        floating: whether the base is free to move, see `load_urdf`.

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
    links = [read_urdf_link(element, meshes, findings) for element in root.all("link")]
    joints = []
    for element in root.all("joint"):
        between, chain = read_urdf_joint(element, findings, snapped)
        links += between
        joints += chain
    findings += snapping_findings(snapped or [])
    robot = assemble_robot(root.text("name"), links, joints, findings, source=source, floating=floating)
    return replace(robot, meshes=MeshSource.of(folder))


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


# A Robot as URDF text, and what of it has no word in URDF.

UNBOUNDED = "1e30"
"""What stands for no limit: URDF knows no infinity, and urdfdom refuses a joint that leaves a limit out."""
URDF_KINDS = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FLOATING)
"""Kinds of moving joints that URDF has."""
TENSOR_ENTRIES = {
    "ixx": (0, 0),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyy": (1, 1),
    "iyz": (1, 2),
    "izz": (2, 2),
}
"""Where the attributes of `<inertia>` stand in the tensor."""
LinkLines = Callable[[str, Body | None, tuple[Geometry, ...]], Iterable[str]]
"""The lines of a link: of its name, its body and the shapes it collides with."""


def urdf_text(robot: Robot, link_lines: LinkLines | None = None, unbounded: str = UNBOUNDED) -> bytes:
    """Write a robot as URDF: its tree, limits, viscous and Coulomb friction, inertias and simple shapes.

    Args:
        robot: the robot.
        link_lines: writes a link; None to write what `parse_urdf` reads back, capsules among it.
        unbounded: the number that stands for no limit.

    Returns:
        XML in UTF-8, one element to a line.

    Raises:
        DescriptionError: it has a joint that URDF cannot state.
    """
    write = link_lines or _link
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(robot.name)}>"]
    for link in (robot.base, *robot.links):
        lines += write(link.name, link.own, link.collision)
        for part in link.fixed:
            lines += write(part.name, part.body, ())
            lines += _joint_element(f"{part.name}_mount", "fixed", link.name, part.name, part.placement, [])
    for joint, link in zip(robot.joints, robot.links, strict=True):
        parent = robot.base if joint.parent < 0 else robot.links[joint.parent]
        lines += _joint(joint, parent, link, unbounded)
    return ("\n".join([*lines, "</robot>"]) + "\n").encode()


def unworded(robot: Robot) -> Iterator[tuple[str, str]]:
    """What a URDF of a robot does not say.

    Returns:
        What it is, and its value.
    """
    if not np.array_equal(robot.gravity, STANDARD_GRAVITY):
        yield "gravity, m/s²", _words(robot.gravity)
    for joint in robot.joints:
        for name in ("rotor", "offset"):
            value = getattr(joint.drive, name)
            if value:
                yield f"the {name} of joint '{joint.name}'", repr(float(value))
    for link in (robot.base, *robot.links):
        for item in link.collision:
            if isinstance(item.shape, MeshFile):
                yield f"a collision mesh of link '{link.name}'", item.shape.file


def _link(name: str, body: Body | None, collision: tuple[Geometry, ...]) -> Iterator[str]:
    yield f"  <link name={quoteattr(name)}>"
    if body is not None:
        I_C = body.inertia
        yield "    <inertial>"
        yield f'      <origin xyz="{_words(body.com)}"/>'
        yield f'      <mass value="{body.mass!r}"/>'
        yield (
            f'      <inertia ixx="{I_C[0, 0]:.17g}" ixy="{I_C[0, 1]:.17g}" ixz="{I_C[0, 2]:.17g}" '
            f'iyy="{I_C[1, 1]:.17g}" iyz="{I_C[1, 2]:.17g}" izz="{I_C[2, 2]:.17g}"/>'
        )
        yield "    </inertial>"
    for item in collision:
        if not isinstance(item.shape, MeshFile):
            yield f"    <collision>{origin_element(item.pose)}<geometry>{_shape(item)}</geometry></collision>"
    yield "  </link>"


def _shape(item: Geometry) -> str:
    shape = item.shape
    match shape:
        case Sphere():
            return f'<sphere radius="{shape.radius!r}"/>'
        case Box():
            return f'<box size="{_words(np.array([shape.x, shape.y, shape.z]))}"/>'
        case Cylinder():
            return f'<cylinder radius="{shape.radius!r}" length="{shape.length!r}"/>'
        case Capsule():
            return f'<capsule radius="{shape.radius!r}" length="{shape.length!r}"/>'
        case MeshFile():
            return f"<mesh filename={quoteattr(shape.file)}/>"


def _joint(joint: Joint, parent: Link, child: Link, unbounded: str) -> list[str]:
    if joint.kind not in URDF_KINDS:
        raise DescriptionError(
            f"joint '{joint.name}' is {joint.kind.value}, which URDF cannot state.",
            remedy=f"It has {', '.join(kind.value for kind in URDF_KINDS)} joints.",
        )
    if joint.kind is JointKind.FLOATING:
        return _joint_element(joint.name, "floating", parent.name, child.name, joint.placement, [])
    limits = joint.limits
    endless = math.isinf(limits.lower) and math.isinf(limits.upper)
    kind = JointKind.CONTINUOUS if joint.kind is JointKind.REVOLUTE and endless else joint.kind
    stated = [("velocity", limits.velocity), ("effort", limits.effort)]
    if kind is not JointKind.CONTINUOUS:
        stated = [("lower", limits.lower), ("upper", limits.upper), *stated]
    inside = [
        f'<axis xyz="{_words(joint.axis)}"/>',
        "<limit " + " ".join(f'{name}="{_bound(value, unbounded)}"' for name, value in stated) + "/>",
    ]
    friction = [("damping", joint.drive.viscous), ("friction", joint.drive.coulomb)]
    if any(value is not None for _, value in friction):
        words = " ".join(f'{name}="{_word(value)}"' for name, value in friction if value is not None)
        inside.append(f"<dynamics {words}/>")
    if joint.mimic is not None:
        leader = quoteattr(joint.mimic.joint)
        factor = f'multiplier="{_word(joint.mimic.multiplier)}" offset="{_word(joint.mimic.offset)}"'
        inside.append(f"<mimic joint={leader} {factor}/>")
    return _joint_element(joint.name, kind.value, parent.name, child.name, joint.placement, inside)


def _joint_element(
    name: str, kind: str, parent: str, child: str, placement: Pose, inside: list[str]
) -> list[str]:
    return [
        f'  <joint name={quoteattr(name)} type="{kind}">',
        f"    {origin_element(placement)}",
        f"    <parent link={quoteattr(parent)}/>",
        f"    <child link={quoteattr(child)}/>",
        *(f"    {line}" for line in inside),
        "  </joint>",
    ]


def _bound(value: float, unbounded: str) -> str:
    if abs(value) < float(unbounded):
        return _word(value)
    return unbounded if value > 0 else f"-{unbounded}"


def origin_element(pose: Pose) -> str:
    """Where something stands.

    Args:
        pose: its pose in what carries it.

    Returns:
        The element on one line.
    """
    return f'<origin xyz="{_words(pose.translation)}" rpy="{_words(pose.rpy)}"/>'


def inertial_element(body: Body) -> str:
    """An `<inertial>` whose axes are the link's.

    Args:
        body: the body in the link's frame.

    Returns:
        The element on one line.
    """
    tensor = " ".join(f'{key}="{_word(body.inertia[at])}"' for key, at in TENSOR_ENTRIES.items())
    return (
        f'<inertial><origin xyz="{_words(body.com)}" rpy="0 0 0"/><mass value="{_word(body.mass)}"/>'
        f"<inertia {tensor}/></inertial>"
    )


def _words(values: Array) -> str:
    return " ".join(_word(x) for x in values)


def _word(value: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return repr(float(value) + 0.0)
