"""One moving link: the shapes it is made of, and everything that is bolted to it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.inertia import Body
from steelyard.pose import Pose

# The shapes a link is made of, for collision, for plausibility checks and to be seen; never for dynamics.


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


@dataclass(frozen=True)
class MeshSource:
    """Where the files that a description names are looked for.

    Attributes:
        folder: that of the description.
        package_path: folders that hold packages, or are one; `name=folder` where it is called otherwise.
    """

    folder: str
    package_path: tuple[str, ...] = ()

    @classmethod
    def of(cls, meshes: MeshSource | FilePath | None) -> MeshSource | None:
        """The source itself, or that of a folder alone.

        Args:
            meshes: the source, or the folder of a description; None for none.

        Returns:
            The source.
        """
        return meshes if meshes is None or isinstance(meshes, MeshSource) else cls(os.fspath(meshes))


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


def shapes_in_frame(shapes: Iterable[Geometry], placement: Pose) -> tuple[Geometry, ...]:
    """Shapes of one link in the frame of another.

    Args:
        shapes: in the frame F of the link that has them.
        placement: X_LF, that frame in the other's.

    Returns:
        The same shapes in L.
    """
    return tuple(Geometry(item.shape, placement @ item.pose) for item in shapes)


# `Link`


@dataclass(frozen=True, eq=False)
class FixedLink:
    """A link of the description that a fixed joint ties to a moving one; remembered, not lost.

    Attributes:
        name: its name in the description.
        placement: X_LF, its frame in the moving link's.
        body: its nominal inertia in its own frame, or `None` where the description states none.
    """

    name: str
    placement: Pose
    body: Body | None = None


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body of the tree; its frame is the child frame of its joint.

    Attributes:
        name: its name in the description.
        own: nominal inertia of the link alone, in its frame; `None` where the description states none.
        fixed: the links bolted to it.
        collision: collision shapes of the link and of the links bolted to it, in its frame.
        virtual: whether it is no body at all, but a frame between the axes of a compound joint; it has no
            mass, and that is known.
        visual: what they look like, in its frame; no part of what is stored or digested.
    """

    name: str
    own: Body | None = None
    fixed: tuple[FixedLink, ...] = ()
    collision: tuple[Geometry, ...] = ()
    virtual: bool = False
    visual: tuple[Geometry, ...] = field(default=(), repr=False, metadata={"kept": False})

    def __post_init__(self) -> None:
        if self.virtual and (self.own is not None or self.fixed or self.collision):
            raise DescriptionError("a virtual link carries nothing.", place=f"link '{self.name}'")

    @property
    def body(self) -> Body | None:
        """Nominal inertia of the link and all bolted to it, in its frame; `None` where nothing is stated."""
        if self.virtual:
            return Body(0.0, np.zeros(3), np.zeros((3, 3)))
        parts = [] if self.own is None else [self.own]
        parts += [part.body.moved(part.placement) for part in self.fixed if part.body is not None]
        return reduce(add, parts) if parts else None

    def with_bolted(self, other: Link, placement: Pose) -> Link:
        """The link with another one, and all that is bolted to that, bolted to it.

        Args:
            other: the link to carry.
            placement: X_LO, the other link's frame in this one's.

        Returns:
            A new link; nothing of the other is lost but its freedom to move.
        """
        parts = [FixedLink(part.name, placement @ part.placement, part.body) for part in other.fixed]
        return replace(
            self,
            fixed=(*self.fixed, FixedLink(other.name, placement, other.own), *parts),
            collision=(*self.collision, *shapes_in_frame(other.collision, placement)),
            visual=(*self.visual, *shapes_in_frame(other.visual, placement)),
        )
