"""MuJoCo's primitive shapes by their sizes, which are radii and half lengths: as shapes and as bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.inertia import Body, box, capsule, cylinder, ellipsoid, sphere
from steelyard.robot.geometry import Box, Capsule, Cylinder, Shape, Sphere
from steelyard.robot.xml import LARGEST, Element

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""How many sizes each primitive has."""
WATER = 1000.0
"""MuJoCo's density where a geom states none, kg/m³."""


@dataclass(frozen=True)
class Weight:
    """How heavy a geom is: exactly one of mass, kg, and density, kg/m³."""

    mass: float | None = None
    density: float | None = None

    @property
    def nothing(self) -> bool:
        """Whether it weighs nothing."""
        return not (self.mass or self.density)


def read_weight(geom: Element) -> Weight:
    """The weight a geom states; its mass where it states both.

    Args:
        geom: the `<geom>`, defaults resolved.

    Returns:
        The weight; the density of water where none is stated.

    Raises:
        DescriptionError: it is negative.
    """
    key = "mass" if "mass" in geom.attributes else "density"
    value = geom.number(key, WATER)
    if value < 0 or 0 < value < 1 / LARGEST:
        raise DescriptionError(f"<geom> has a {key} of {value:g}.", place=geom.place)
    return Weight(mass=value) if key == "mass" else Weight(density=value)


def no_body() -> Body:
    """The body of nothing."""
    return Body(0.0, np.zeros(3), np.zeros((3, 3)))


def primitive_shape(kind: str, sizes: Sequence[float]) -> Shape | None:
    """A primitive as a shape that is kept.

    Args:
        kind: a key of `SIZES`.
        sizes: as MuJoCo has them, m.

    Returns:
        The shape; `None` for an ellipsoid, which is none of ours.

    Raises:
        DescriptionError: a size is missing or not positive.
    """
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


def primitive_body(kind: str, sizes: Sequence[float], weight: Weight) -> Body:
    """A primitive as a solid, in its own frame.

    Args:
        kind: a key of `SIZES`.
        sizes: as MuJoCo has them, m.
        weight: mass or density, not zero.

    Returns:
        The body.

    Raises:
        InputError: a size is missing or not positive.
    """
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
    used = list(sizes[: SIZES[kind]])
    if len(used) < SIZES[kind] or min(used) < 1 / LARGEST:
        shown = " ".join(f"{size:g}" for size in sizes) or "none"
        raise DescriptionError(f"a {kind} needs {SIZES[kind]} positive size(s), got {shown}.", place=kind)
    return used
