"""The shapes a link is made of, for collision and for plausibility checks; never for dynamics."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import DescriptionError
from steelyard.pose import Pose


def _positive(shape: str, **sizes: float) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise DescriptionError(f"the {name} of a {shape} must be positive, got {size:g} m.", place=shape)


@dataclass(frozen=True)
class Sphere:
    """A ball. Attributes: radius, m."""

    radius: float

    def __post_init__(self) -> None:
        _positive("sphere", radius=self.radius)


@dataclass(frozen=True)
class Box:
    """A cuboid centred at its frame. Attributes: full edge lengths x, y, z, m."""

    x: float
    y: float
    z: float

    def __post_init__(self) -> None:
        _positive("box", x=self.x, y=self.y, z=self.z)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred at its frame. Attributes: radius and length, m."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive("cylinder", radius=self.radius, length=self.length)


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half balls at its ends. Attributes: radius; length without the caps, m."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive("capsule", radius=self.radius, length=self.length)


@dataclass(frozen=True)
class MeshFile:
    """A mesh by the name its description gives. Attributes: file name; scale along x, y, z, dimensionless."""

    file: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


Shape = Sphere | Box | Cylinder | Capsule | MeshFile


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape at its place on a link.

    Attributes:
        shape: what it is.
        pose: X_LG, the shape's frame in its link's.
    """

    shape: Shape
    pose: Pose
