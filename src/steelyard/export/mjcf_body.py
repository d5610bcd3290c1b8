"""What stands inside a body of a MJCF model: its inertial, its shapes, the frames bolted to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.export.xml_words import attributes, quaternion, words
from steelyard.finding import Finding, Severity
from steelyard.inertia import MujocoPrincipal
from steelyard.robot import Box, Capsule, Cylinder, Geometry, Link, MeshFile, Sphere

LEAST = 1e-14
"""Smallest mass (kg) and principal moment (kg m²) of a moving body; MuJoCo refuses what is below 1e-15."""


def body_inertial(link: Link, findings: list[Finding]) -> str:
    """The `<inertial>` of a link and everything bolted to it, about principal axes.

    MuJoCo judges the triangle inequality of the moments to the last bit and refuses masses and moments next
    to zero, both of which an estimate on the border of the possible has. The largest moment is lowered by its
    round-off, and what is below `LEAST` raised to it, which is said.

    Args:
        link: the link.
        findings: where to say what was raised.

    Returns:
        The element.

    Raises:
        DescriptionError: the link states no inertial.
    """
    body = link.body
    place = f"link '{link.name}'"
    if body is None:
        raise DescriptionError("states no inertial.", place=place, remedy="Every moving body needs one.")
    principal = MujocoPrincipal.from_body(body)
    moments = _loadable(principal.diaginertia)
    mass = max(body.mass, LEAST)
    if mass > body.mass or (principal.diaginertia < LEAST).any():
        message = f"its mass or a principal moment is below {LEAST:g} SI, which MuJoCo refuses; raised to it."
        findings.append(Finding(Severity.INFO, "raised-for-mujoco", message, place))
    stated = {
        "pos": words(body.com),
        "quat": words(principal.iquat),
        "mass": words(mass),
        "diaginertia": words(moments),
    }
    return f"<inertial{attributes(stated)}/>"


def _loadable(moments: Array) -> Array:
    """Moments, largest first, that MuJoCo takes."""
    high, middle, low = (float(x) for x in np.maximum(moments, LEAST))
    return np.array([min(high, low + middle), middle, low])


def body_parts(link: Link, findings: list[Finding]) -> Iterator[str]:
    """The collision shapes of a link, and the links bolted to it as sites.

    Args:
        link: the link.
        findings: where to say which meshes were left out.

    Returns:
        The elements.
    """
    for item in link.collision:
        if isinstance(item.shape, MeshFile):
            message = f"the collision mesh '{item.shape.file}' is left out."
            findings.append(Finding(Severity.INFO, "mesh-left-out", message, f"link '{link.name}'"))
        else:
            yield f"<geom{attributes(_geom(item))}/>"
    for part in link.fixed:
        at = {"pos": words(part.placement.translation), "quat": words(quaternion(part.placement))}
        yield f"<site{attributes({'name': part.name, **at})}/>"


def _geom(item: Geometry) -> dict[str, str]:
    match item.shape:
        case Sphere(radius):
            kind, size = "sphere", [radius]
        case Box(x, y, z):
            kind, size = "box", [x / 2, y / 2, z / 2]
        case Cylinder(radius, length):
            kind, size = "cylinder", [radius, length / 2]
        case Capsule(radius, length):
            kind, size = "capsule", [radius, length / 2]
        case MeshFile():
            raise DescriptionError("a mesh is no simple shape.", place="geometry")
    return {
        "type": kind,
        "size": words(size),
        "pos": words(item.pose.translation),
        "quat": words(quaternion(item.pose)),
    }
