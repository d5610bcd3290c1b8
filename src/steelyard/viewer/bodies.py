"""The bodies of a picture: what each link looks like, and what it weighs by each source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from steelyard.arrays import Array, keep_checked
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Ellipsoid, Mesh
from steelyard.model import Model
from steelyard.robot import Geometry, Link, MeshFile, MeshFolder, Robot
from steelyard.viewer.surfaces import moved, surface_of

Role = Literal["visual", "collision"]
Source = Literal["described", "estimated"]


@dataclass(frozen=True, eq=False)
class ViewSurface:
    """One shape of a body as it is drawn.

    Attributes:
        role: whether it is what is seen or what collides.
        mesh: its triangles in the frame of the body.
    """

    role: Role
    mesh: Mesh


@dataclass(frozen=True, eq=False)
class ViewMass:
    """What one source says of a body's mass.

    Attributes:
        source: who says it.
        mass: kg.
        com: centre of mass in the frame of the body, shape (3,), m.
        ellipsoid: the uniform solid that moves alike; None where there is none.
        interval95: ends of the mass's 95 % interval, kg; None where nobody states one.
        reason: why there is no ellipsoid; empty where there is one.
    """

    source: Source
    mass: float
    com: Array
    ellipsoid: Ellipsoid | None
    interval95: tuple[float, float] | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        keep_checked(self, (3,), "com")

    @classmethod
    def of(cls, source: Source, body: Body, interval95: tuple[float, float] | None = None) -> ViewMass:
        """What is drawn of a body; one that cannot exist has no ellipsoid, and that is said.

        Args:
            source: who states it.
            body: in the frame of the link.
            interval95: ends of the mass's 95 % interval, kg; None for none.
        """
        try:
            return cls(source, body.mass, body.com, body.equivalent_ellipsoid(), interval95)
        except InputError as error:
            return cls(source, body.mass, body.com, None, interval95, error.message)

    @property
    def document(self) -> dict[str, Any]:
        """The numbers as JSON states them."""
        return {
            "mass": self.mass,
            "com": self.com.tolist(),
            "semi_axes": None if self.ellipsoid is None else self.ellipsoid.semi_axes.tolist(),
            "axes": None if self.ellipsoid is None else self.ellipsoid.pose.rotation.tolist(),
            "interval95": None if self.interval95 is None else list(self.interval95),
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class ViewBody:
    """One body of the picture.

    Attributes:
        name: of its link, or of an object that is held.
        frame: index of the frame that carries it: 0 for the base, i + 1 for moving link i.
        surfaces: what it looks like and what collides, in that frame.
        masses: what it weighs, by source.
    """

    name: str
    frame: int
    surfaces: tuple[ViewSurface, ...] = ()
    masses: tuple[ViewMass, ...] = ()

    def mass(self, source: Source) -> ViewMass | None:
        """What a source says of it.

        Args:
            source: who.

        Returns:
            Its mass; None where that source states none.
        """
        return next((mass for mass in self.masses if mass.source == source), None)

    @property
    def document(self) -> dict[str, Any]:
        """What is shown of it, without the triangles."""
        roles = [surface.role for surface in self.surfaces]
        return {
            "name": self.name,
            "frame": self.frame,
            "surfaces": {role: roles.count(role) for role in ("visual", "collision")},
            "triangles": sum(len(surface.mesh.faces) for surface in self.surfaces),
            **{mass.source: mass.document for mass in self.masses},
        }


def view_bodies(
    robot: Robot, model: Model | None, findings: list[Finding], *, looks: Robot | None = None
) -> tuple[ViewBody, ...]:
    """The links of a robot, the base first.

    Args:
        robot: the robot.
        model: an estimate of it; None where only the description speaks.
        findings: where to report meshes that cannot be shown.
        looks: a description of the same links that has their shapes; None for the robot's own.

    Returns:
        A body for each link.
    """
    shown = robot if looks is None else looks
    folder = MeshFolder(shown.meshes, [])
    shaped = {link.name: link for link in (shown.base, *shown.links)}
    bodies = []
    for frame, link in enumerate((robot.base, *robot.links)):
        surfaces = _surfaces(shaped.get(link.name, link), folder, findings)
        bodies.append(ViewBody(link.name, frame, surfaces, _masses(link, model)))
    return tuple(bodies)


def held_object(
    name: str, body: Body, shapes: Sequence[ViewSurface], interval95: tuple[float, float] | None
) -> ViewBody:
    """A weighed object by itself, in its own frame.

    Args:
        name: what it is called.
        body: what was found, in its frame.
        shapes: its surfaces in that frame.
        interval95: ends of the mass's 95 % interval, kg; None where there is none.
    """
    return ViewBody(name, 0, tuple(shapes), (ViewMass.of("estimated", body, interval95),))


def _masses(link: Link, model: Model | None) -> tuple[ViewMass, ...]:
    estimated = None if model is None else model.links.get(link.name)
    described = link.body if model is None else None if estimated is None else estimated.described
    if link.virtual:
        return ()
    masses = []
    if described is not None and described.mass != 0.0:
        masses.append(ViewMass.of("described", described))
    if estimated is not None:
        ends = estimated.interval95.get("mass")
        interval = None if ends is None or not np.isfinite(ends).all() else (float(ends[0]), float(ends[1]))
        masses.append(ViewMass.of("estimated", estimated.body, interval))
    return tuple(masses)


def _surfaces(link: Link, folder: MeshFolder, findings: list[Finding]) -> tuple[ViewSurface, ...]:
    found: list[ViewSurface] = []
    unseen: dict[str, int] = {}
    roles: tuple[tuple[Role, tuple[Geometry, ...]], ...] = (
        ("visual", link.visual),
        ("collision", link.collision),
    )
    for role, shapes in roles:
        for item in shapes:
            mesh = folder.read(item.shape, link.name) if isinstance(item.shape, MeshFile) else None
            if isinstance(item.shape, MeshFile):
                if mesh is None:
                    why = f"{role} mesh not shown: {folder.why(item.shape.file)}."
                    unseen[why] = unseen.get(why, 0) + 1
                    continue
            else:
                mesh = surface_of(item.shape)
            found.append(ViewSurface(role, moved(mesh, item.pose)))
    for why, count in unseen.items():
        findings.append(Finding(Severity.WARNING, "unseen-mesh", f"{count} {why}", link.name))
    return tuple(found)
