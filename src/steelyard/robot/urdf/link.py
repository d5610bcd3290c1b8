"""A `<link>` of a URDF: its inertial and collision shapes, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.geometry import Box, Capsule, Cylinder, Geometry, MeshFile, Shape, Sphere
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.plausibility import Solid, implausible, solid
from steelyard.robot.raw import RawLink
from steelyard.robot.xml import LARGEST, Element

_ZERO = (0.0, 0.0, 0.0)
THINNEST = 1e-3
"""Thickness that a shape without any is given, m."""


def read_link(element: Element, meshes: MeshFolder, findings: list[Finding]) -> RawLink:
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
        collision.append(Geometry(shape, _pose(item.first("origin"))))
        mesh = meshes.read(shape, geometry.children[0].place) if isinstance(shape, MeshFile) else None
        # What has no thickness of its own says nothing about mass.
        flat = any(finding.code == "flat-shape" for finding in findings[before:])
        solids.append(None if flat else solid(collision[-1], mesh))
    _look_for_visual_meshes(element, meshes)
    if inertial is None or body is None:
        return RawLink(name, element.place, None, tuple(collision))
    findings += implausible(name, body, solids, inertial.place)
    return RawLink(name, element.place, body, tuple(collision), inertial.place)


def _look_for_visual_meshes(link: Element, meshes: MeshFolder) -> None:
    """Only to report those that cannot be reached: what a link looks like is not kept."""
    for visual in link.all("visual"):
        for geometry in visual.all("geometry"):
            for mesh in geometry.all("mesh"):
                if name := mesh.attributes.get("filename", "").strip():
                    meshes.find(name, mesh.place)


def _pose(element: Element | None) -> Pose:
    if element is None:
        return Pose.identity()
    return Pose.from_rpy(element.vector("rpy", _ZERO), element.vector("xyz", _ZERO))


def _body(inertial: Element) -> Body:
    mass = inertial.need("mass").number("value")
    if 0.0 < abs(mass) < 1.0 / LARGEST:
        raise DescriptionError(f"a mass of {mass:g} kg is none.", place=inertial.place, remedy="Write 0.")
    tensor = inertial.need("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    X_LC = _pose(inertial.first("origin"))
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
