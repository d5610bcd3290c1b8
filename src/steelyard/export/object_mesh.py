"""The mesh of an object: placed on it, wrapped in its convex hull, and held against its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.errors import InputError
from steelyard.export.object_hull import convex_hull, heights, thinned_hull
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh, edge_defects, mesh_properties, read_mesh
from steelyard.pose import Pose

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
    own = read_mesh(file)
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
    defects = edge_defects(surface)
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

    Args:
        mesh: the mesh.

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
    density = body.mass / mesh_properties(mesh.hull, mass=body.mass).volume
    if not LIGHTEST < density < DENSEST:
        warn("implausible-density", f"{body.mass:.3g} kg would fill its convex hull at {density:.2g} kg/m^3.")
    return tuple(findings)
