"""Geoms, meshes and inertials of an MJCF file: collision shapes, and what a body weighs.

A body weighs what its `<inertial>` states, or the sum of its geoms, within the compiler's bounds. MuJoCo's
sizes of primitives are radii and half lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import PurePosixPath, PureWindowsPath

import numpy as np

from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import (
    Body,
    Mesh,
    box,
    capsule,
    cylinder,
    ellipsoid,
    sphere,
)
from steelyard.pose import Pose
from steelyard.robot.descriptions.meshes import MeshFolder
from steelyard.robot.descriptions.mjcf.conventions import (
    ORIENTATIONS,
    Compiler,
    Defaults,
    Placements,
    turn_from_z,
    unit,
)
from steelyard.robot.descriptions.xml import LARGEST, Element
from steelyard.robot.link import Box, Capsule, Cylinder, Geometry, MeshFile, Shape, Sphere
from steelyard.robot.plausibility import Solid, link_solid

_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""How many sizes each primitive has."""
_WATER = 1000.0
"""MuJoCo's density where a geom states none, kg/m³."""


@dataclass(frozen=True)
class _Weight:
    """How heavy a geom is: exactly one of mass, kg, and density, kg/m³."""

    mass: float | None = None
    density: float | None = None

    @property
    def nothing(self) -> bool:
        """Whether it weighs nothing."""
        return not (self.mass or self.density)


def _read_weight(geom: Element) -> _Weight:
    """The weight a geom states; its mass where it states both."""
    key = "mass" if "mass" in geom.attributes else "density"
    value = geom.number(key, _WATER)
    if value < 0 or 0 < value < 1 / LARGEST:
        raise DescriptionError(f"<geom> has a {key} of {value:g}.", place=geom.place)
    return _Weight(mass=value) if key == "mass" else _Weight(density=value)


def no_body() -> Body:
    """The body of nothing."""
    return Body(0.0, np.zeros(3), np.zeros((3, 3)))


def _primitive_shape(kind: str, sizes: Sequence[float]) -> Shape | None:
    """A primitive as a shape that is kept."""
    used = _checked(kind, sizes)
    match kind:
        case "sphere":
            return Sphere(used[0])
        case "capsule":
            return Capsule(used[0], 2 * used[1])
        case "cylinder":
            return Cylinder(used[0], 2 * used[1])
        case "box":
            return Box(2 * used[0], 2 * used[1], 2 * used[2])
    return None


def _primitive_body(kind: str, sizes: Sequence[float], weight: _Weight) -> Body:
    """A primitive as a solid, in its own frame."""
    used = _checked(kind, sizes)
    m, rho = weight.mass, weight.density
    match kind:
        case "sphere":
            return sphere(used[0], mass=m, density=rho)
        case "capsule":
            return capsule(used[0], 2 * used[1], mass=m, density=rho)
        case "cylinder":
            return cylinder(used[0], 2 * used[1], mass=m, density=rho)
        case "box":
            return box([2 * size for size in used], mass=m, density=rho)
    return ellipsoid(used, mass=m, density=rho)


def _checked(kind: str, sizes: Sequence[float]) -> list[float]:
    used = list(sizes[: _SIZES[kind]])
    if len(used) < _SIZES[kind] or min(used) < 1 / LARGEST:
        shown = " ".join(f"{size:g}" for size in sizes) or "none"
        raise DescriptionError(f"a {kind} needs {_SIZES[kind]} positive size(s), got {shown}.", place=kind)
    return used


_ONES = (1.0, 1.0, 1.0)
_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class _MeshAsset:
    """One `<mesh>`.

    Attributes:
        name: what geoms call it.
        shape: its file and scale.
        pose: X_AF, the file's frame in the asset's; exact where the scale is the same along all axes.
        mesh: its triangles in the asset's frame; `None` where they cannot be had.
        inertia: what counts as its inertia, in MuJoCo's words.
    """

    name: str
    shape: MeshFile
    pose: Pose
    mesh: Mesh | None
    inertia: str

    def body(self, weight: _Weight) -> Body | str:
        """What it weighs, in the asset's frame, or why that cannot be told.

        The volume counts that the mesh encloses. MuJoCo's `legacy` rule agrees unless the mesh folds back as
        seen from its centroid; there it counts some volume twice, see `surplus`.

        Args:
            weight: mass or density.

        Returns:
            The body, or the reason why there is none.
        """
        if self.inertia not in ("legacy", "exact"):
            return f"mesh '{self.name}' weighs by its {self.inertia} form, which is not modelled"
        if self.mesh is None:
            return f"mesh '{self.name}' cannot be read"
        try:
            # Absurd coordinates may overflow in the integrals; the result is then refused as not finite.
            with np.errstate(over="ignore", invalid="ignore"):
                return self.mesh.properties(mass=weight.mass, density=weight.density).body
        except InputError as error:
            return f"mesh '{self.name}' {error.message.removesuffix('.')}"

    @property
    def surplus(self) -> float:
        r"""Volume that MuJoCo's `legacy` rule counts beyond the enclosed one, relative, dimensionless.

        The faces and a point o span tetrahedra of signed volume V; the rule takes $\sum |V|$ for $|\sum V|$.
        It finds a centre of mass that way with the centroid of the surface as o, and the volume with that.
        """
        if self.mesh is None or self.inertia != "legacy":
            return 0.0
        corners = self.mesh.vertices[self.mesh.faces]
        with np.errstate(all="ignore"):
            sides = corners[:, 1:] - corners[:, :1]
            areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
            o = areas @ corners.mean(axis=1) / areas.sum()
            V = np.abs(np.linalg.det(corners - o))
            o = V @ (corners.sum(axis=1) + o) / (4.0 * V.sum())
            V = np.linalg.det(corners - o)
            return float(np.abs(V).sum() / abs(V.sum()) - 1.0)


class MeshAssets:
    """The `<mesh>` assets of one file by name."""

    def __init__(self, root: Element, compiler: Compiler, defaults: Defaults, folder: MeshFolder) -> None:
        """Note the assets and look for their files, so that those missing are reported at their line.

        Args:
            root: the `<mujoco>` element, includes expanded.
            compiler: says where mesh names start.
            defaults: the file's default classes.
            folder: where files are looked for.
        """
        self._folder = folder
        self._elements: dict[str, tuple[Element, str]] = {}
        self._read: dict[str, _MeshAsset] = {}
        for section in root.all("asset"):
            for stated in section.all("mesh"):
                element = defaults.resolve(stated)
                file = _file_name(element.attributes.get("file", "").strip(), compiler)
                name = element.attributes.get("name", "").strip() or PurePosixPath(file).stem
                self._elements[name] = (element, file)
                if file:
                    folder.find(file, element.place)

    def asset(self, name: str, geom: Element) -> _MeshAsset:
        r"""A mesh by name.

        With `refpos` p, `refquat` R and the scale S, a vertex v of the file is at $S\,R^T(v - p)$.

        Args:
            name: of the asset.
            geom: the element that names it.

        Raises:
            UnknownNameError: no such mesh; lists those that exist.
        """
        if name not in self._elements:
            raise UnknownNameError("mesh", name, self._elements, place=geom.place)
        if name not in self._read:
            self._read[name] = self._asset(name, *self._elements[name])
        return self._read[name]

    def _asset(self, name: str, element: Element, file: str) -> _MeshAsset:
        scale = element.vector("scale", _ONES)
        w, x, y, z = element.numbers("refquat", 4) if "refquat" in element.attributes else (1.0, 0, 0, 0)
        R = Pose.from_quaternion((x, y, z, w)).rotation
        p = np.array(element.vector("refpos", _ZERO))
        S = np.array(scale)
        mesh = self._folder.read(MeshFile(file), element.place) if file else None
        if mesh is not None:
            mesh = Mesh((mesh.vertices - p) @ R * S, mesh.faces)
        inertia = element.attributes.get("inertia", "legacy")
        return _MeshAsset(name, MeshFile(file or name, scale), Pose(R.T, -S * (R.T @ p)), mesh, inertia)


def _file_name(stated: str, compiler: Compiler) -> str:
    if not stated:
        return ""
    if compiler.strip_path:
        stated = PureWindowsPath(stated).name
    return f"{compiler.mesh_folder.rstrip('/')}/{stated}" if compiler.mesh_folder else stated


_UNBOUNDED = ("plane", "hfield")
_LEVEL = 1e-3
"""A plane this close to the frame's own, m and dimensionless, is the ground."""
_KINDS = (*_SIZES, *_UNBOUNDED, "mesh", "sdf")
_HIDDEN = 3
"""First of the groups that MuJoCo does not show unless asked."""
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
        visual: its shape in the body's frame, where MuJoCo shows it and its shape is one that is kept.
        room: how much room that takes; `None` where that is not known.
        group: number that says whether it counts for inertia.
        place: file and line.
    """

    body: Body | str
    collides: bool
    collision: Geometry | None
    visual: Geometry | None
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
        room = link_solid(Geometry(asset.shape, X_BG), asset.mesh)
    elif collides and kind not in _UNBOUNDED:
        shape = _shape(element, kind, sizes, findings)
        collision = None if shape is None else Geometry(shape, X_BG)
        room = None if collision is None else link_solid(collision)
    elif collides and not _is_ground(kind, X_BG):
        message = f"a {kind} is no shape that is kept; state it by a scene, or a level one by --floor."
        findings.append(Finding(Severity.WARNING, "unknown-shape", message, element.place))
    group, visual = element.number("group", 0.0), None
    if group < _HIDDEN and kind not in _UNBOUNDED:
        seen = asset.shape if asset is not None else _shape(element, kind, sizes, [])
        X_BV = X_BG if asset is None else X_BG @ asset.pose
        visual = None if seen is None else Geometry(seen, X_BV)
    return Geom(
        body=body if isinstance(body, str) else body.moved(X_BG),
        collides=collides and kind not in _UNBOUNDED,
        collision=collision,
        visual=visual,
        room=room,
        group=group,
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
    return Pose(R, ends.mean(axis=0)), [*sizes[:1] * (_SIZES[kind] - 1), half]


def _body(element: Element, kind: str, sizes: list[float], asset: _MeshAsset | None) -> Body | str:
    """What the geom weighs, in its own frame, or why that cannot be told."""
    weight = _read_weight(element)
    if weight.nothing or kind in _UNBOUNDED:
        return no_body()
    if element.attributes.get("shellinertia") == "true":
        return "a geom is hollow ('shellinertia'), which is not modelled"
    if asset is not None:
        return asset.body(weight)
    if kind == "sdf" or "mesh" in element.attributes:
        return f"a {kind} is fitted to a mesh or a distance field"
    try:
        return _primitive_body(kind, sizes, weight)
    except InputError as error:
        return error.message.removesuffix(".")


def _shape(element: Element, kind: str, sizes: list[float], findings: list[Finding]) -> Shape | None:
    shape = None
    try:
        if kind in _SIZES and "mesh" not in element.attributes:
            shape = _primitive_shape(kind, sizes)
    except DescriptionError as error:
        findings.append(Finding(Severity.ERROR, "bad-shape", error.message, element.place))
        return None
    if shape is None:
        name = f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
        message = f"{name} of this form is no shape that is kept; the collision geometry lacks it."
        findings.append(Finding(Severity.WARNING, "unknown-shape", message, element.place))
    return shape


def read_inertial(element: Element, frame: Pose, placements: Placements) -> Body | str:
    """Read an `<inertial>`.

    Args:
        element: the element.
        frame: X_BF, what encloses it in the body's frame.
        placements: reads its pose.

    Returns:
        The body in the body's frame, or the reason why it is not known.

    Raises:
        DescriptionError: a number is missing or malformed, or the tensor is stated twice.
    """
    mass = element.number("mass")
    if 0.0 < abs(mass) < 1.0 / LARGEST:
        raise DescriptionError(f"a mass of {mass:g} kg is none.", place=element.place, remedy="Write 0.")
    element.text("pos")
    full = "fullinertia" in element.attributes
    twice = [key for key in ("diaginertia", *ORIENTATIONS) if key in element.attributes]
    if full and twice:
        raise DescriptionError(
            f"<inertial> states 'fullinertia' and '{twice[0]}'.",
            place=element.place,
            remedy="A full tensor is in the body's axes; a diagonal one may have an orientation.",
        )
    if full:
        ixx, iyy, izz, ixy, ixz, iyz = element.numbers("fullinertia", 6)
        I_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    elif "diaginertia" in element.attributes:
        I_C = np.diag(element.numbers("diaginertia", 3))
    elif mass == 0.0:
        return no_body()
    else:
        return "its inertial states a mass but no tensor"
    X_BC = frame @ placements.plain(element)
    if mass == 0.0:
        # A massless body has no com; its tensor, if any, does not depend on where it sits.
        X_BC = Pose(X_BC.rotation, np.zeros(3))
    return Body(mass, np.zeros(3), I_C).moved(X_BC)


def weigh(
    name: str,
    stated: Body | str | None,
    geoms: Sequence[Geom],
    compiler: Compiler,
    place: str,
    findings: list[Finding],
    *,
    moves: bool = True,
) -> Body | None:
    """The inertia that holds for a body: stated, or summed over its geoms, and bounded.

    Args:
        name: of the body.
        stated: what its `<inertial>` says, in the body's frame, or why that is not known; `None` without one.
        geoms: its geoms.
        compiler: which of the two counts, and the bounds.
        place: file and line of the inertial or the body.
        findings: where to report an inertia that cannot be told, or was bounded.
        moves: whether it can move, so that its inertia matters.

    Returns:
        The inertia in the body's frame; `None` where nothing is stated or something is not known.
    """
    first, last = compiler.inertia_groups
    counted = [geom for geom in geoms if first <= geom.group <= last]
    from_geoms = compiler.inertia_from_geom == "true" or (
        compiler.inertia_from_geom == "auto" and stated is None
    )
    inertia = stated
    if from_geoms and counted:
        known = [geom.body for geom in counted if isinstance(geom.body, Body)]
        unknown = next((geom for geom in counted if isinstance(geom.body, str)), None)
        inertia = reduce(add, known, no_body()) if unknown is None else str(unknown.body)
        place = counted[0].place if unknown is None else unknown.place
    if isinstance(inertia, str):
        message = f"the inertia of body '{name}' is not known: {inertia}."
        severity = Severity.ERROR if moves else Severity.INFO
        findings.append(Finding(severity, "missing-inertial", message, place))
        return None
    if inertia is None and not (compiler.bound_mass > 0 or compiler.bound_inertia > 0):
        return None
    return _bounded(name, inertia or no_body(), compiler, place, findings)


def _bounded(name: str, body: Body, compiler: Compiler, place: str, findings: list[Finding]) -> Body:
    """The body with at least the compiler's mass and principal moments, balanced where it asks for that."""
    mass = max(body.mass, compiler.bound_mass) if compiler.bound_mass > 0 else body.mass
    moments, axes = np.linalg.eigh(body.inertia)
    bounded = np.maximum(moments, compiler.bound_inertia) if compiler.bound_inertia > 0 else moments
    if compiler.balance and 2 * bounded.max() > bounded.sum():
        bounded = np.full(3, bounded.mean())
    if mass == body.mass and (bounded == moments).all():
        return body
    message = (
        f"the compiler's settings change body '{name}': mass {body.mass:.6g} to {mass:.6g} kg, principal "
        f"moments {_listed(moments)} to {_listed(bounded)} kg m^2."
    )
    findings.append(Finding(Severity.WARNING, "inertia-bounded", message, place))
    return Body(mass, body.com, axes @ np.diag(bounded) @ axes.T)


def _listed(moments: np.ndarray) -> str:
    return " ".join(f"{value:.6g}" for value in moments)


def scale_to_total(bodies: Sequence[Body | None], total: float, place: str) -> list[Body | None]:
    """The bodies scaled so that together they have a given mass.

    Args:
        bodies: all bodies; `None` where nothing is stated.
        total: the mass, kg.
        place: file and line that asks for it.

    Returns:
        The bodies, in order.

    Raises:
        DescriptionError: they have no mass to scale.
    """
    mass = sum(body.mass for body in bodies if body is not None)
    if not mass > 0:
        raise DescriptionError(f"a mass of {mass:g} kg cannot be scaled to {total:g} kg.", place=place)
    k = total / mass
    return [None if body is None else Body(k * body.mass, body.com, k * body.inertia) for body in bodies]
