"""The mesh of an object: placed on it, wrapped in its convex hull, and held against its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh
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


@dataclass(frozen=True, eq=False)
class ObjectMesh:
    """A mesh on an object.

    Attributes:
        source: name of the file it was read from.
        content: what is seen, as OBJ, in the file's own frame and unit.
        scale: length of that unit, m.
        pose: X_OM, the mesh's frame in the object's.
        surface: its triangles in the object's frame.
        hull: their convex hull in the object's frame, corners left out where it has too many.
        gap: how far corners that were left out stand in front of its faces, m.
        findings: what was noticed while reading.
    """

    source: str
    content: bytes
    scale: float
    pose: Pose
    surface: Mesh
    hull: Mesh
    gap: float
    findings: tuple[Finding, ...] = ()


def object_mesh(path: FilePath, *, scale: float = 1.0, pose: Pose | None = None) -> ObjectMesh:
    """Read the mesh of an object.

    An OBJ file is kept as it is. STL comes in a binary and a text form and simulators read one, the other or
    neither, so that its triangles are written as OBJ, to the last digit.

    Args:
        path: a file ending in `.stl` or `.obj`.
        scale: length of the file's unit, m; the formats do not say it (0.001 for millimetres).
        pose: X_OM, the mesh's frame in the object's; None where they are the same.

    Returns:
        The mesh with its hull.

    Raises:
        InputError: the file is missing, of another kind or malformed, or all of it lies in a plane.
    """
    file, X = Path(path), pose or Pose.identity()
    if not 0.0 < scale < np.inf:
        raise InputError(f"must be positive, got {scale}.", place="scale")
    own = Mesh.read(file)
    surface = Mesh(X.apply(scale * own.vertices), own.faces)
    try:
        whole = convex_hull(surface.vertices)
    except InputError as error:
        raise InputError(error.message, place=str(file), remedy="An object fills some space.") from error
    hull = thinned_hull(whole)
    gap = 0.0 if hull is whole else max(float(heights(hull, whole.vertices).max()), 0.0)
    content = file.read_bytes() if file.suffix.lower() == ".obj" else obj_content(own)
    findings = []

    def note(severity: Severity, code: str, message: str) -> None:
        findings.append(Finding(severity, code, message, str(file)))

    if b"mtllib" in content:
        note(Severity.INFO, "materials-left-out", "names a file of materials, which is not copied.")
    defects = surface.edge_defects()
    if defects.open or defects.misoriented:
        message = (
            f"is not watertight: {defects.open} edges are open and {defects.misoriented} join faces that "
            "disagree about which side is out. It is seen as it is; its inside cannot be weighed."
        )
        note(Severity.WARNING, "mesh-not-watertight", message)
    if hull is not whole:
        message = (
            f"its convex hull has {len(whole.vertices)} corners, of which {len(hull.vertices)} are kept for "
            f"contact; the others stand up to {1e3 * gap:.2g} mm in front of its faces."
        )
        note(Severity.INFO, "hull-thinned", message)
    return ObjectMesh(file.name, content, float(scale), X, surface, hull, gap, tuple(findings))


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
