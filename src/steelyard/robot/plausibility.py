"""Whether a link's stated inertia can be, and whether it fits the shapes the link is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Mesh, check_body, nearest_consistent
from steelyard.robot.link import Box, Capsule, Cylinder, Geometry, MeshFile, Sphere

DENSITY = 1000.0
"""Water, kg/m³. Shapes are coarse and links hollow, so only a factor of `MASS_FACTOR` is worth a word."""
MASS_FACTOR = 100.0
INNER_MARGIN = 1e-6
"""How far inside the possible bodies the suggested one lies, relative; its printed digits then lie inside."""


def impossible(link: str, body: Body, place: str) -> Finding | None:
    """Why a body cannot exist, and the nearest one about its centre of mass that can.

    About the centre of mass the nearest body keeps the stated mass and centre of mass wherever the mass is
    positive; only the tensor changes.

    Args:
        link: the link's name.
        body: its stated inertia, in the link's frame.
        place: file and line of the inertial.

    Returns:
        An error, or `None` for a body that can exist.
    """
    check = check_body(body.parameters)
    if check.consistent:
        return None
    why = " ".join(str(reason) for reason in check.reasons)
    central = Body(body.mass, np.zeros(3), body.inertia).parameters
    scale = abs(body.mass) or float(np.linalg.norm(body.inertia))
    nearest = nearest_consistent(central, margin=INNER_MARGIN * scale)
    m, ixx, ixy, iyy, ixz, iyz, izz = (f"{value:.9g}" for value in nearest[[0, 4, 5, 6, 7, 8, 9]])
    message = (
        f"the inertia of link '{link}' is physically impossible: {why} The nearest possible about the same "
        f"centre of mass, in the link's axes: mass {m} kg, ixx {ixx}, ixy {ixy}, ixz {ixz}, iyy {iyy}, "
        f"iyz {iyz}, izz {izz} kg m^2."
    )
    return Finding(Severity.ERROR, "impossible-inertia", message, place)


@dataclass(frozen=True, eq=False)
class Solid:
    """How much room one shape takes.

    Attributes:
        lower: least coordinates in the link's frame, shape (3,), m.
        upper: largest coordinates in the link's frame, shape (3,), m.
        volume: m³; `None` for a mesh that encloses none.
    """

    lower: Array
    upper: Array
    volume: float | None


def link_solid(item: Geometry, mesh: Mesh | None = None) -> Solid | None:
    """The room a shape takes in its link's frame.

    Args:
        item: the shape at its place.
        mesh: the mesh itself, where the shape is one.

    Returns:
        The solid; `None` for a mesh that was not read.
    """
    shape = item.shape
    match shape:
        case Sphere():
            r = shape.radius
            return _boxed(item, (r, r, r), 4 / 3 * pi * r**3)
        case Box():
            return _boxed(item, (shape.x / 2, shape.y / 2, shape.z / 2), shape.x * shape.y * shape.z)
        case Cylinder():
            r, length = shape.radius, shape.length
            return _boxed(item, (r, r, length / 2), pi * r**2 * length)
        case Capsule():
            r, length = shape.radius, shape.length
            return _boxed(item, (r, r, length / 2 + r), pi * r**2 * (length + 4 / 3 * r))
        case MeshFile():
            if mesh is None:
                return None
            points = item.pose.apply(mesh.vertices[np.unique(mesh.faces)])
            return Solid(points.min(axis=0), points.max(axis=0), _enclosed(mesh))


def _boxed(item: Geometry, half: tuple[float, float, float], volume: float) -> Solid:
    # A box turned by R fits into one with half edges |R| h.
    reach = np.abs(item.pose.rotation) @ np.array(half)
    return Solid(item.pose.translation - reach, item.pose.translation + reach, volume)


def _enclosed(mesh: Mesh) -> float | None:
    try:
        # Absurd coordinates may overflow in the integrals; the result is then refused as not finite.
        with np.errstate(over="ignore", invalid="ignore"):
            return mesh.properties(density=DENSITY).volume
    except InputError:
        return None


def implausible(link: str, body: Body, solids: Sequence[Solid | None], place: str) -> list[Finding]:
    """What is odd about a link's mass and centre of mass beside its shapes.

    Nothing is said where a shape is unknown, since it may explain what looks odd.

    Args:
        link: the link's name.
        body: its stated inertia, in the link's frame.
        solids: its collision shapes.
        place: file and line of the inertial.
    """
    known = [item for item in solids if item is not None]
    if not known or len(known) < len(solids) or not body.mass > 0:
        return []
    findings = []
    lower = np.min([item.lower for item in known], axis=0)
    upper = np.max([item.upper for item in known], axis=0)
    size = float(np.linalg.norm(upper - lower))
    outside = float(np.linalg.norm(np.maximum(0.0, np.maximum(lower - body.com, body.com - upper))))
    if outside > size:
        message = (
            f"the centre of mass of link '{link}' lies {outside:.3g} m outside its collision shapes, "
            f"which measure {size:.3g} m across."
        )
        findings.append(Finding(Severity.WARNING, "com-outside", message, place))
    volumes = [item.volume for item in known if item.volume is not None]
    filled = DENSITY * sum(volumes)
    odd = body.mass > MASS_FACTOR * filled or body.mass * MASS_FACTOR < filled
    if len(volumes) == len(known) and odd:
        message = (
            f"link '{link}' is said to weigh {body.mass:.3g} kg, but its collision shapes filled with water "
            f"would weigh {filled:.3g} kg."
        )
        findings.append(Finding(Severity.WARNING, "mass-implausible", message, place))
    return findings
