"""The mesh of an object: placed on it, cut into convex parts, painted, and held against its inertia."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh, PaintedSurface, Picture, painted_surfaces
from steelyard.limits import convex_pieces
from steelyard.pose import Pose

# The convex hull of an object: closed, facing outwards, with no more corners than a simulator can bear.

MOST_CORNERS = 256
"""Corners of a hull that touches: every contact searches them at every step."""
_CHUNK = 2048  # points at a time, which bounds the memory of a large mesh


def convex_hull(points: ArrayLike) -> Mesh:
    """The convex hull of points as a closed mesh whose faces point outwards.

    Args:
        points: in any order, shape (n, 3), m.

    Returns:
        The hull; its vertices are those points that are its corners.

    Raises:
        InputError: the points lie in a plane.
    """
    cloud = checked("points", points, ("n", 3))
    try:
        hull = ConvexHull(cloud - cloud.mean(axis=0))
    except (QhullError, ValueError) as error:
        raise InputError("lies in a plane, so that it has no convex hull.", place="points") from error
    inwards = (_normals(cloud[hull.simplices]) * hull.equations[:, :3]).sum(axis=1) < 0.0
    faces = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    kept, places = np.unique(faces, return_inverse=True)
    return Mesh(cloud[kept], places.reshape(faces.shape))


def thinned_hull(hull: Mesh, most: int = MOST_CORNERS) -> Mesh:
    """A hull with fewer corners, none of it outside the given one.

    Kept are the corners that reach furthest in evenly spread directions, seen in a frame in which the hull is
    as wide along every axis.

    Args:
        hull: a convex mesh.
        most: corners it may keep, at least 16.

    Returns:
        The hull of the corners that are kept; the given one where it has few enough.
    """
    if len(hull.vertices) <= most:
        return hull
    # A spiral from pole to pole whose turns are a golden section apart covers the sphere evenly.
    k = np.arange(most)
    z, turn = 1.0 - (2.0 * k + 1.0) / most, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z**2)
    directions = np.column_stack((r * np.cos(turn), r * np.sin(turn), z))
    spread = hull.vertices - hull.vertices.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1]
    along = spread @ axes
    along /= along.max(axis=0) - along.min(axis=0)
    furthest = [int((along @ direction).argmax()) for direction in directions]
    return convex_hull(hull.vertices[np.unique(furthest)])


def heights(hull: Mesh, points: Array) -> Array:
    """How far points lie in front of the face of a hull that they are most in front of.

    Args:
        hull: a convex mesh whose faces point outwards.
        points: shape (n, 3), m.

    Returns:
        The heights, not positive inside, shape (n,), m.
    """
    corners = hull.vertices[hull.faces]
    normals = _normals(corners)
    areas = np.linalg.norm(normals, axis=1)
    solid = areas > 1e-12 * areas.max()  # a sliver of a triangulated face has no direction
    units = normals[solid] / areas[solid, None]
    offsets = (units * corners[solid, 0]).sum(axis=1)
    parts = np.array_split(points, max(1, len(points) // _CHUNK))
    return np.concatenate([(part @ units.T - offsets).max(axis=1) for part in parts])


def _normals(corners: Array) -> Array:
    """Twice the area of triangles (k, 3, 3) along their normal, shape (k, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


DENSEST, LIGHTEST = 22_600.0, 1.0
"""Densities between which an object's hull is believed, kg/m^3: osmium, and less than any foam."""


VISUAL, MATERIALS = "visual", "visual.mtl"
"""What files of what is seen are called, and the file of their materials."""


@dataclass(frozen=True, eq=False)
class SeenSurface:
    """A part of a mesh that looks alike.

    Attributes:
        file: what its file is called.
        content: as OBJ, in the mesh's own frame and unit.
        color: red, green, blue and opacity from 0 to 1, for formats that do not read the file's materials;
            None where nothing is said.
        pictured: whether the file's materials name a picture.
        png: the file of its picture as PNG; None where there is none.
    """

    file: str
    content: bytes
    color: tuple[float, ...] | None = None
    pictured: bool = False
    png: str | None = None


@dataclass(frozen=True, eq=False)
class ObjectMesh:
    """A mesh on an object.

    Attributes:
        source: name of the file it was read from.
        seen: what is seen, as OBJ, in the file's own frame and unit.
        scale: length of that unit, m.
        pose: X_OM, the mesh's frame in the object's.
        surface: its triangles in the object's frame.
        hull: their convex hull in the object's frame, corners left out where it has too many.
        gap: how far corners that were left out stand in front of its faces, m.
        parts: what touches, in the object's frame: convex meshes that together hold the surface and what it
            encloses, but for corners that were left out.
        centroid: of the solid inside, or of the hull where it is not closed, in the object's frame,
            shape (3,), m.
        solid: whether it is closed, so that it encloses a solid.
        files: what its looks need beside, by name.
        findings: what was noticed while reading.
    """

    source: str
    seen: tuple[SeenSurface, ...]
    scale: float
    pose: Pose
    surface: Mesh
    hull: Mesh
    gap: float
    parts: tuple[Mesh, ...]
    centroid: Array
    solid: bool
    files: Mapping[str, bytes] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def object_mesh(
    path: FilePath, *, scale: float = 1.0, pose: Pose | None = None, centre: ArrayLike | None = None
) -> ObjectMesh:
    """Read the mesh of an object.

    An OBJ file without materials is kept as it is. STL comes in a binary and a text form and simulators read
    one, the other or neither, so that its triangles are written as OBJ, to the last digit, and so are those
    of all other kinds.

    Args:
        path: a file ending in `.stl` or `.obj`; with the extra `meshes` also `.ply`, `.glb` or `.dae`.
        scale: length of the file's unit, m; the formats do not say it (0.001 for millimetres).
        pose: X_OM, the mesh's frame in the object's; None where they are the same.
        centre: where in the object's frame the centroid of its solid is put, shape (3,), m; of `pose` the
            rotation alone counts then. None for the place that `pose` says.

    Returns:
        The mesh with its hull and its convex parts.

    Raises:
        InputError: the file is missing, of another kind or malformed, or all of it lies in a plane.
        MissingExtraError: its kind is read by a library that is not installed.
    """
    file, X = Path(path), pose or Pose.identity()
    if not 0.0 < scale < np.inf:
        raise InputError(f"must be positive, got {scale}.", place="scale")
    read = Mesh.read(file)
    own = Mesh(scale * read.vertices, read.faces)
    try:
        whole = convex_hull(own.vertices)
    except InputError as error:
        raise InputError(error.message, place=str(file), remedy="An object fills some space.") from error
    try:
        middle, solid = own.properties(mass=1.0).body.com, True
    except InputError:
        middle, solid = whole.properties(mass=1.0).body.com, False
    if centre is not None:
        X = Pose(X.rotation, checked("centre", centre, (3,)) - X.rotation @ middle)
    surface, whole = Mesh(X.apply(own.vertices), own.faces), Mesh(X.apply(whole.vertices), whole.faces)
    hull = thinned_hull(whole)
    gap = 0.0 if hull is whole else max(float(heights(hull, whole.vertices).max()), 0.0)
    findings: list[Finding] = []

    def note(severity: Severity, code: str, message: str) -> None:
        findings.append(Finding(severity, code, message, str(file)))

    if read.doubt:
        stated = pose is not None
        message = (
            f"{read.doubt}." if stated else f"{read.doubt}. Say how it lies by --mesh-pose or --mesh-turn."
        )
        note(Severity.INFO if stated else Severity.WARNING, "doubtful-mesh", message)
    seen, files = _seen(file, read, findings)
    # In the mesh's own frame, so that pieces that are kept on disk serve at every place.
    cut = convex_pieces(own)
    parts = (hull,) if len(cut) == 1 else tuple(Mesh(X.apply(h.vertices), h.faces) for h in _thin_hulls(cut))
    defects = surface.edge_defects()
    if defects.open or defects.misoriented:
        message = (
            f"is not watertight: {defects.open} edges are open and {defects.misoriented} join faces that "
            "disagree about which side is out. It is seen as it is; its inside cannot be weighed"
            + (", and what touches is one convex hull." if defects.open else ".")
        )
        note(Severity.WARNING, "mesh-not-watertight", message)
    if len(parts) > 1:
        far = _furthest_in_front(parts, [X.apply(points) for points in cut])
        message = f"is written as {len(parts)} convex parts for contact, which hold all of it" + (
            "." if far <= 1e-9 else f" but for corners that stand up to {1e3 * far:.2g} mm in front of them."
        )
        note(Severity.INFO, "convex-parts", message)
    elif hull is not whole:
        message = (
            f"its convex hull has {len(whole.vertices)} corners, of which {len(hull.vertices)} are kept for "
            f"contact; the others stand up to {1e3 * gap:.2g} mm in front of its faces."
        )
        note(Severity.INFO, "hull-thinned", message)
    place = X.apply(middle)
    told = tuple(findings)
    return ObjectMesh(file.name, seen, float(scale), X, surface, hull, gap, parts, place, solid, files, told)


def _thin_hulls(cut: Sequence[Array]) -> list[Mesh]:
    return [thinned_hull(convex_hull(points)) for points in cut]


def _furthest_in_front(parts: Sequence[Mesh], cut: Sequence[Array]) -> float:
    """How far points of pieces stand in front of the parts that were made of them, m."""
    return max(float(heights(part, points).max()) for part, points in zip(parts, cut, strict=True))


# What is seen: an OBJ file as it is, or one for each material, with the materials and pictures they name.

_NAMING = re.compile(
    rb"^[ \t]*(mtllib|usemtl|maplib|usemap|shadow_obj|trace_obj|call|csh)\b[^\n]*\n?", re.MULTILINE
)
"""Lines of an OBJ file that name other files, or what stands in them."""


def _seen(file: Path, own: Mesh, findings: list[Finding]) -> tuple[tuple[SeenSurface, ...], dict[str, bytes]]:
    """What is seen of a mesh, and the files it takes beside."""
    surfaces, noticed = painted_surfaces(file)
    findings += noticed
    if not surfaces:
        content = file.read_bytes() if file.suffix.lower() == ".obj" else obj_content(own)
        if _NAMING.search(content):
            content = _NAMING.sub(b"", content)
        return (SeenSurface(f"{VISUAL}.obj", content),), {}
    materials: list[str] = []
    files: dict[str, bytes] = {}
    seen: list[SeenSurface] = []
    names: dict[int, tuple[str, str | None]] = {}
    for k, surface in enumerate(surfaces, start=1):
        file_name = f"{VISUAL}.obj" if len(surfaces) == 1 else f"{VISUAL}_{k}.obj"
        png = None
        if surface.picture is not None:
            if id(surface.picture) not in names:
                names[id(surface.picture)] = _written(
                    surface.picture, len(names) + 1, files, str(file), findings
                )
            named, png = names[id(surface.picture)]
        if surface.colors is None:
            red, green, blue, opacity = surface.color
            shade = f"{red:.9g} {green:.9g} {blue:.9g}"
            lines = [f"newmtl look_{k}", f"Ka {shade}", f"Kd {shade}", "Ks 0 0 0", f"d {opacity:.9g}"]
            materials += [*lines, *([f"map_Kd {named}"] if surface.picture is not None else []), ""]
        content = _painted_content(surface, None if surface.colors is not None else f"look_{k}")
        seen.append(SeenSurface(file_name, content, surface.mean_color, surface.picture is not None, png))
    if any(surface.colors is not None for surface in surfaces):
        message = (
            "has a colour at each corner. They stand in the OBJ file, where few programs look; models say "
            "their mean."
        )
        findings.append(Finding(Severity.INFO, "colours-averaged", message, str(file)))
    if materials:
        files[MATERIALS] = "\n".join(materials).encode()
    return tuple(seen), files


def _written(
    picture: Picture, k: int, files: dict[str, bytes], place: str, findings: list[Finding]
) -> tuple[str, str | None]:
    """Put a picture among the files; its name, and that of the same as PNG."""
    name = f"texture_{k}.{picture.kind}"
    files[name] = picture.content
    png = picture.as_png()
    if png is None:
        message = (
            "has a JPEG picture, which MuJoCo does not read: object.xml shows it without. Save it as PNG, or "
            "install Pillow (`pip install 'steelyard[meshes]'`)."
        )
        findings.append(Finding(Severity.WARNING, "texture-not-in-mjcf", message, place))
        return name, None
    files[f"texture_{k}.png"] = png
    return name, f"texture_{k}.png"


def _painted_content(surface: PaintedSurface, material: str | None) -> bytes:
    """A painted surface as an OBJ file, exact to the last bit; of no material its corners have colours."""
    lines = [] if material is None else [f"mtllib {MATERIALS}"]
    points = (surface.vertices + 0.0).tolist()
    if surface.colors is None:
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in points]
    else:
        shades = np.round(surface.colors, 6).tolist()
        lines += [
            f"v {x!r} {y!r} {z!r} {r:.6g} {g:.6g} {b:.6g}"
            for (x, y, z), (r, g, b) in zip(points, shades, strict=True)
        ]
    lines += [] if material is None else [f"usemtl {material}"]
    corners = (surface.faces + 1).tolist()
    if surface.picture_points is None or surface.picture_faces is None:
        lines += [f"f {a} {b} {c}" for a, b, c in corners]
    else:
        lines += [f"vt {u!r} {v!r}" for u, v in (surface.picture_points + 0.0).tolist()]
        pairs = zip(corners, (surface.picture_faces + 1).tolist(), strict=True)
        lines += [f"f {a}/{i} {b}/{j} {c}/{k}" for (a, b, c), (i, j, k) in pairs]
    return ("\n".join(lines) + "\n").encode()


def obj_content(mesh: Mesh) -> bytes:
    """A mesh as an OBJ file, exact to the last bit.

    Returns:
        The content of the file.
    """
    corners = [f"v {x!r} {y!r} {z!r}" for x, y, z in (mesh.vertices + 0.0).tolist()]
    faces = [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    return ("\n".join([*corners, *faces]) + "\n").encode()


def fit_findings(body: Body, mesh: ObjectMesh) -> tuple[Finding, ...]:
    r"""Say where an inertia cannot belong to what a mesh shows: its scale or place is wrong, or a number is.

    Mass inside a convex hull has its centre there, and with R the distance of the farthest corner from it,
    $\int |p - c|^2\,dm = \tfrac12\mathrm{tr}(I_c) \le m R^2$.

    Args:
        body: the body, in the object's frame; it has mass.
        mesh: the mesh on it.

    Returns:
        The findings; none where all fits.
    """
    findings = []

    def warn(code: str, message: str) -> None:
        findings.append(Finding(Severity.WARNING, code, f"{message} Check scale and pose.", mesh.source))

    outside = float(heights(mesh.hull, body.com[None])[0])
    if outside > mesh.gap:
        warn("com-outside-mesh", f"the centre of mass lies {1e3 * outside:.3g} mm outside its convex hull.")
    reach = float(np.linalg.norm(mesh.surface.vertices - body.com, axis=1).max())
    gyration = float(np.sqrt(max(0.5 * np.trace(body.inertia), 0.0) / body.mass))
    if gyration > reach:
        warn(
            "inertia-exceeds-mesh",
            f"mass is spread {1e3 * gyration:.3g} mm (rms) about its centre, but no corner is farther away "
            f"than {1e3 * reach:.3g} mm.",
        )
    density = body.mass / mesh.hull.properties(mass=body.mass).volume
    if not LIGHTEST < density < DENSEST:
        warn("implausible-density", f"{body.mass:.3g} kg would fill its convex hull at {density:.2g} kg/m^3.")
    return tuple(findings)


# Where the mesh lies, by what was stated or by the centre of mass, and what the identified numbers say to it.

LOOSE = 0.01
"""Half an interval of the centre of mass from which on a place by it is a warning, m."""
BEYOND = 1.5
"""Half intervals of 95 % by which a number that tells a wrong orientation is off: three deviations."""

_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
_AXES = "xyz"


def placement_findings(
    body: Body,
    mesh: ObjectMesh,
    ends: Mapping[str, tuple[float, float]],
    *,
    placed: bool,
) -> tuple[Finding, ...]:
    """Hold the place and the turn of a mesh against what was identified.

    A uniform solid of the shape has its centroid at the centre of mass and its principal axes along those
    of the inertia. Where its principal moments are those identified and the entries of the inertia are not,
    it is the turn that is wrong.

    Args:
        body: what was identified, in the object's frame.
        mesh: the mesh on it.
        ends: of the 95 % intervals: of the centre `com_x` to `com_z`, m, of the inertia about it `I_xx` to
            `I_zz` and of its principal moments `moment_1` to `moment_3`, kg m^2.
        placed: whether the mesh was put where its centroid is the centre of mass.

    Returns:
        The findings.
    """
    of_what = "centroid" if mesh.solid else "centroid of its convex hull (it is not closed)"
    half = [0.5 * (ends[f"com_{axis}"][1] - ends[f"com_{axis}"][0]) for axis in _AXES]
    findings = []
    if placed:
        listed = ", ".join(f"{axis} {1e3 * value:.3g}" for axis, value in zip(_AXES, half, strict=True))
        place = ", ".join(f"{1e3 * value:.1f}" for value in mesh.pose.translation)
        message = (
            f"its place follows from the centre of mass: uniform density is assumed and its {of_what} put "
            f"there, so that its origin is at {place} mm. The 95 % interval of the centre lets it move by "
            f"± {listed} mm."
        )
        severity = Severity.WARNING if max(half) > LOOSE else Severity.INFO
        findings.append(Finding(severity, "mesh-placed", message, mesh.source))
    else:
        off = mesh.centroid - body.com
        listed = ", ".join(f"{axis} {1e3 * value:+.2f}" for axis, value in zip(_AXES, off, strict=True))
        inside = all(
            ends[f"com_{axis}"][0] <= value <= ends[f"com_{axis}"][1]
            for axis, value in zip(_AXES, mesh.centroid, strict=True)
        )
        message = (
            f"at uniform density its {of_what} lies {1e3 * float(np.linalg.norm(off)):.3g} mm from the "
            f"identified centre of mass ({listed} mm), {'within' if inside else 'outside'} its 95 % interval."
        )
        if not inside:
            message += " Check scale and pose; or its density is not uniform."
        severity = Severity.INFO if inside else Severity.WARNING
        findings.append(Finding(severity, "mesh-centroid", message, mesh.source))
    return (*findings, *_axis_findings(body, mesh, ends))


def _axis_findings(
    body: Body, mesh: ObjectMesh, ends: Mapping[str, tuple[float, float]]
) -> tuple[Finding, ...]:
    """Say that a solid has the moments that were identified about other axes."""
    if not mesh.solid:
        return ()
    uniform = mesh.surface.properties(mass=body.mass).body.inertia
    entries = {f"I_{_AXES[i]}{_AXES[j]}": float(uniform[i, j]) for i, j in _ENTRIES}
    moments = {f"moment_{k}": float(x) for k, x in enumerate(np.linalg.eigvalsh(uniform), start=1)}
    off = [name for name, value in entries.items() if not _about(ends[name], value)]
    if not off or not all(_about(ends[name], value) for name, value in moments.items()):
        return ()
    turn = _turn_between(np.linalg.eigh(uniform)[1], np.linalg.eigh(body.inertia)[1])
    message = (
        "filled evenly it has the principal moments that were identified, but about other axes: "
        f"{', '.join(off)} are off by more than {BEYOND:g} half intervals. A turn of "
        f"{np.degrees(turn):.0f} degrees would bring them together: check its orientation."
    )
    return (Finding(Severity.WARNING, "axis-misfit", message, mesh.source),)


def _about(ends: tuple[float, float], value: float) -> bool:
    """Whether a value lies within an interval that is made `BEYOND` times as wide."""
    low, high = ends
    return abs(value - 0.5 * (low + high)) <= BEYOND * 0.5 * (high - low)


def _turn_between(ours: Array, theirs: Array) -> float:
    """The least angle that turns axes into others, each in columns and of either sense, rad."""
    # Of the turns that bring the axes together the least has the largest trace; the senses of two axes are
    # free, that of the third follows.
    R = theirs.T @ ours
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * np.sign(np.linalg.det(R))
    trace = float((signs * np.diag(R)).sum(axis=1).max())
    return float(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)))
