"""A `<geom>` of an MJCF file: a collision shape, and a part of its body's inertia where none is stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.errors import DescriptionError, InputError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.geometry import Geometry, Shape
from steelyard.robot.mjcf.mesh import MeshAsset, MeshAssets
from steelyard.robot.mjcf.orientation import turn_from_z, unit
from steelyard.robot.mjcf.placement import Placements
from steelyard.robot.mjcf.solid import SIZES, no_body, primitive_body, primitive_shape, read_weight
from steelyard.robot.plausibility import Solid, solid
from steelyard.robot.xml import Element

_UNBOUNDED = ("plane", "hfield")
_LEVEL = 1e-3
"""A plane this close to the frame's own, m and dimensionless, is the ground."""
_KINDS = (*SIZES, *_UNBOUNDED, "mesh", "sdf")
_FOLDS = 1e-4
"""Relative surplus of volume worth a word; MuJoCo keeps vertices in single precision."""
_ALONG_A_LINE = ("capsule", "cylinder", "box", "ellipsoid")


@dataclass(frozen=True, eq=False)
class Geom:
    """One geom at its place on a body.

    Attributes:
        body: what it weighs, in the body's frame, or the reason why that cannot be told.
        collides: whether it takes part in contacts.
        collision: its shape in the body's frame, where it collides and its shape is one that is kept.
        room: how much room that takes; `None` where that is not known.
        group: number that says whether it counts for inertia.
        place: file and line.
    """

    body: Body | str
    collides: bool
    collision: Geometry | None
    room: Solid | None
    group: float
    place: str


def read_geom(
    element: Element, frame: Pose, placements: Placements, meshes: MeshAssets, findings: list[Finding]
) -> Geom:
    """Read a geom.

    Args:
        element: the `<geom>`, defaults resolved.
        frame: X_BF, what encloses it in the body's frame.
        placements: reads its pose.
        meshes: the file's meshes.
        findings: where to report a collision shape that is impossible, or none that is kept.

    Returns:
        The geom.

    Raises:
        DescriptionError: a number is malformed, or the pose is stated twice.
        UnknownNameError: its type or its mesh does not exist; lists those that do.
    """
    kind = element.choice("type", _KINDS, "sphere")
    pose, sizes = _pose_and_sizes(element, kind, placements)
    X_BG = frame @ pose
    asset = meshes.asset(element.text("mesh"), element) if kind == "mesh" else None
    body = _body(element, kind, sizes, asset)
    if asset is not None and isinstance(body, Body) and body.mass > 0 and asset.surplus > _FOLDS:
        message = (
            f"mesh '{asset.name}' folds back, so that MuJoCo's 'legacy' rule counts {asset.surplus:.1%} more "
            "volume than it encloses; the enclosed volume is taken."
        )
        findings.append(Finding(Severity.WARNING, "mesh-folds", message, element.place))
    collides = element.number("contype", 1.0) != 0 or element.number("conaffinity", 1.0) != 0
    collision = room = None
    if collides and asset is not None:
        collision = Geometry(asset.shape, X_BG @ asset.pose)
        room = solid(Geometry(asset.shape, X_BG), asset.mesh)
    elif collides and kind not in _UNBOUNDED:
        shape = _shape(element, kind, sizes, findings)
        collision = None if shape is None else Geometry(shape, X_BG)
        room = None if collision is None else solid(collision)
    elif collides and not _is_ground(kind, X_BG):
        message = f"a {kind} is no shape that is kept; state it by a scene, or a level one by --floor."
        findings.append(Finding(Severity.WARNING, "unknown-shape", message, element.place))
    return Geom(
        body=body if isinstance(body, str) else body.moved(X_BG),
        collides=collides and kind not in _UNBOUNDED,
        collision=collision,
        room=room,
        group=element.number("group", 0.0),
        place=element.place,
    )


def _is_ground(kind: str, pose: Pose) -> bool:
    """Whether it is the plane that most files draw their robot on, where a floor is assumed anyway."""
    level = float(pose.rotation[2, 2]) > 1.0 - _LEVEL
    return kind == "plane" and level and abs(float(pose.translation[2])) <= _LEVEL


def _pose_and_sizes(element: Element, kind: str, placements: Placements) -> tuple[Pose, list[float]]:
    sizes = element.numbers("size", 1, 3) if "size" in element.attributes else []
    if "fromto" not in element.attributes:
        return placements.plain(element), sizes
    if kind not in _ALONG_A_LINE:
        raise DescriptionError(
            f"a {kind} cannot be stated by 'fromto'.",
            place=element.place,
            remedy=f"Valid for: {', '.join(_ALONG_A_LINE)}.",
        )
    if any(element.vector("pos", (0.0, 0.0, 0.0))):
        raise DescriptionError("<geom> states both 'fromto' and 'pos'.", place=element.place)
    ends = np.array(element.numbers("fromto", 6)).reshape(2, 3)
    R = turn_from_z(unit(element, (ends[0] - ends[1]).tolist(), "line"))
    half = 0.5 * float(np.linalg.norm(ends[0] - ends[1]))
    # An orientation stated besides is overridden. Only the first size counts; a box or an ellipsoid has it
    # along both directions across the line.
    return Pose(R, ends.mean(axis=0)), [*sizes[:1] * (SIZES[kind] - 1), half]


def _body(element: Element, kind: str, sizes: list[float], asset: MeshAsset | None) -> Body | str:
    """What the geom weighs, in its own frame, or why that cannot be told."""
    weight = read_weight(element)
    if weight.nothing or kind in _UNBOUNDED:
        return no_body()
    if element.attributes.get("shellinertia") == "true":
        return "a geom is hollow ('shellinertia'), which is not modelled"
    if asset is not None:
        return asset.body(weight)
    if kind == "sdf" or "mesh" in element.attributes:
        return f"a {kind} is fitted to a mesh or a distance field"
    try:
        return primitive_body(kind, sizes, weight)
    except InputError as error:
        return error.message.removesuffix(".")


def _shape(element: Element, kind: str, sizes: list[float], findings: list[Finding]) -> Shape | None:
    shape = None
    try:
        if kind in SIZES and "mesh" not in element.attributes:
            shape = primitive_shape(kind, sizes)
    except DescriptionError as error:
        findings.append(Finding(Severity.ERROR, "bad-shape", error.message, element.place))
        return None
    if shape is None:
        name = f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
        message = f"{name} of this form is no shape that is kept; the collision geometry lacks it."
        findings.append(Finding(Severity.WARNING, "unknown-shape", message, element.place))
    return shape
