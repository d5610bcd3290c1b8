r"""What is odd about a link by its shapes, its joints and common sense alone, whoever stated its numbers.

A link that can exist need not be one that anybody has built: with $\rho$ the density of steel and V what it
may fill, $m > \rho V$ is heavier than a solid block; a centre of mass lies within the shapes, or near the
lines between the link's joints; and $\sqrt{\lambda_{max}(I_c) / m}$, the radius of gyration, is at most
about the link's size. Frames often lie outside the shapes, and shapes are often coarse, so a doubt is only
raised well beyond these bounds, and called absurd far beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array, keep_read_only
from steelyard.consistency.link_shapes import LinkShape
from steelyard.inertia import Body
from steelyard.robot import JointKind, Robot

STEEL = 7850.0
"""Density of steel, kg/m³: no link is heavier than a solid block of it."""
HEAVY = 0.4
"""Share of a solid steel block from which on a mass is odd; public descriptions stay below 0.24."""
LIGHTEST = 20.0
"""Least density of a link over its hull, kg/m³; the arms at hand have 200 to 4 200."""
_LONGEST_TRAVEL = 100.0  # m; a larger range of a prismatic joint is no limit at all


@dataclass(frozen=True)
class Doubt:
    """One number of a robot that is hard to believe.

    Attributes:
        owner: the link or joint, or `robot`.
        quantity: what it is about, such as `mass`.
        absurd: whether it is out of the question, not only odd.
        message: the doubt in plain words, with its numbers.
        excess: how many times it is beyond what is believable, above 1; orders doubts by weight.
    """

    owner: str
    quantity: str
    absurd: bool
    message: str
    excess: float

    def __post_init__(self) -> None:
        # Comparisons of array entries give NumPy's own truth values, which are not JSON's.
        object.__setattr__(self, "absurd", bool(self.absurd))
        object.__setattr__(self, "excess", float(self.excess))


@dataclass(frozen=True, eq=False)
class LinkPlace:
    """Where a link's mass can be; arrays are read-only.

    Attributes:
        link: its name.
        joints: its own joint's origin first, then those of the joints it carries and of the frames bolted to
            it, in its frame, shape (k, 3), m.
        length: largest distance between its own joint and these, travel of sliding joints included, and at
            least a quarter of the robot's reach, or the longest other link where it carries no joint, m; zero
            where all frames coincide.
        reach: longest way along the robot from joint to joint, m; zero where all frames coincide.
        shape: its shapes, or None where they are not known.
        normals: outward unit normals of the hull of shapes and joints, shape (f, 3), dimensionless; empty
            where the shapes are not known.
        offsets: of these faces, shape (f,), m.
        volume: of the hull of shapes and joints, m³; zero where the shapes are not known.
    """

    link: str
    joints: Array
    length: float
    reach: float
    shape: LinkShape | None
    normals: Array
    offsets: Array
    volume: float

    def __post_init__(self) -> None:
        keep_read_only(self, "joints", "normals", "offsets")

    @property
    def known(self) -> bool:
        """Whether anything says how large the link is."""
        return self.shape is not None or self.length > 0.0

    @property
    def size(self) -> float:
        """Largest extent of the link, m: of its shapes, or of a generous arm between its joints."""
        return self.length + 0.2 if self.shape is None else max(self.shape.size, self.length)

    @property
    def heaviest(self) -> float:
        """Mass of a solid steel block that fills what the link may fill, kg.

        Without shapes that is a bar of the link's length and 10 cm more, a third of the length and 10 cm
        wide: wider than any arm of that length. With shapes it is their hull and a bar half as wide between
        the joints, since collision shapes may leave parts of a link out.
        """
        if self.shape is None:
            return float(STEEL * (self.length + 0.1) * (0.1 + self.length / 3.0) ** 2)
        return float(STEEL * (self.volume + (self.length + 0.05) * (0.05 + self.length / 10.0) ** 2))

    def outside(self, point: Array) -> float:
        """How far a point lies outside the shapes and joints, or from the lines between the joints.

        Args:
            point: in the link's frame, shape (3,), m.

        Returns:
            The distance, m; zero or negative inside the shapes.
        """
        if self.shape is not None:
            return float((self.normals @ point - self.offsets).max())
        own, others = self.joints[0], self.joints[1:]
        distances = [float(np.linalg.norm(point - own))]
        for end in others:
            way = end - own
            share = np.clip((point - own) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
            distances.append(float(np.linalg.norm(point - own - share * way)))
        return min(distances)


def link_places(robot: Robot, shapes: Mapping[str, LinkShape]) -> dict[str, LinkPlace]:
    """Where the mass of each moving link can be.

    Args:
        robot: the robot.
        shapes: those of its links that are known, see `link_shapes`.

    Returns:
        The places by link, in order; virtual links are left out.
    """
    ends: dict[int, list[Array]] = {
        k: [part.placement.translation for part in link.fixed] for k, link in enumerate(robot.links)
    }
    carrying = {joint.parent for joint in robot.joints}
    for joint in robot.joints:
        ends.setdefault(joint.parent, []).append(joint.placement.translation)
    spans: list[float] = []
    reaches: list[float] = []
    for k, joint in enumerate(robot.joints):
        sliding = joint.kind is JointKind.PRISMATIC
        travel = _travel(joint.limits.lower, joint.limits.upper) if sliding else 0.0
        spans.append(max([travel, *(float(np.linalg.norm(end)) for end in ends[k])]))
        reaches.append(spans[k] + (reaches[joint.parent] if joint.parent >= 0 else 0.0))
    reach = max(reaches)
    places = {}
    for k, link in enumerate(robot.links):
        if not link.virtual:
            joints = np.vstack([np.zeros(3), *ends[k]])
            # Nothing marks the far end of the last link, which may be as long as any other.
            length = max(spans[k], 0.25 * reach if k in carrying else max(spans))
            places[link.name] = _place(link.name, joints, length, reach, shapes.get(link.name))
    return places


def doubts_about(body: Body, place: LinkPlace) -> list[Doubt]:
    """What is odd about a link's body at its place.

    Args:
        body: the link with all that is bolted to it, in its frame.
        place: where its mass can be.

    Returns:
        The doubts; none for a body without mass, of which nothing more can be said.
    """
    doubts: list[Doubt] = []
    if not body.mass > 0.0 or not place.known:
        return doubts

    def doubt(quantity: str, absurd: bool, message: str, excess: float) -> None:
        doubts.append(Doubt(place.link, quantity, absurd, f"{place.link} {message}", excess))

    m, steel = body.mass, place.heaviest
    if m > HEAVY * steel:
        what = "its shapes" if place.shape is not None else "a bar between its joints"
        message = f"weighs {m:.4g} kg ({what} of solid steel: {steel:.3g} kg)"
        doubt("mass", m > steel, message, m / (HEAVY * steel))
    elif place.shape is not None and m < LIGHTEST * place.shape.volume:
        density = m / place.shape.volume
        message = f"weighs {m:.3g} kg, {density:.2g} kg/m³ of its shapes: lighter than foam"
        doubt("mass", False, message, LIGHTEST / density)
    outside, size = place.outside(body.com), place.size
    what = "outside its shapes" if place.shape is not None else "from its joints"
    odd, wild = (
        (0.02 + 0.1 * size, max(0.1, 0.5 * size))
        if place.shape is not None
        else (0.15 + place.length, 0.5 + 2.0 * place.length)
    )
    if outside > odd:
        doubt("com", outside > wild, f"has its centre of mass {outside:.3g} m {what}", outside / odd)
    radius = float(np.sqrt(max(0.0, float(np.linalg.eigvalsh(body.inertia)[-1])) / m))
    if radius > 1.2 * size + 0.05:
        message = f"has a radius of gyration of {radius:.3g} m, but measures {size:.2g} m"
        wide = 1.2 * size + 0.05
        doubt("radius of gyration", radius > 3.0 * size + 0.3, message, radius / wide)
    elif radius < 0.01 * size:
        message = f"is a point: its radius of gyration is {1e3 * radius:.2g} mm, it measures {size:.2g} m"
        doubt("radius of gyration", False, message, 0.01 * size / max(radius, 1e-9))
    return doubts


def _place(link: str, joints: Array, length: float, reach: float, shape: LinkShape | None) -> LinkPlace:
    unknown = LinkPlace(link, joints, length, reach, None, np.empty((0, 3)), np.empty(0), 0.0)
    if shape is None:
        return unknown
    try:
        hull = ConvexHull(np.vstack([shape.vertices, joints]))
    except QhullError:
        # Joints so far from the shapes that double precision sees no volume.
        return unknown
    normals, offsets = hull.equations[:, :3], -hull.equations[:, 3]
    return LinkPlace(link, joints, length, reach, shape, normals, offsets, float(hull.volume))


def _travel(lower: float, upper: float) -> float:
    travel = upper - lower
    return travel if 0.0 <= travel <= _LONGEST_TRAVEL else 0.0
