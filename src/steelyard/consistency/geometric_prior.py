"""What is known of links that nobody weighed: bodies from their shapes, their joints and a total mass.

A vendor's description may state no inertials, or ones that cannot be meant: placeholders of 1e-9 kg, grams
for kilograms, an estimate that ran away. Such links are taken to be uniform: of one density over their
shapes, or a round bar between their joints where the shapes are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.link_doubts import LinkPlace, doubts_about, link_places
from steelyard.consistency.link_shapes import link_shapes, uniform_body
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, capsule, sphere
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import MeshSource, Robot

DENSITY = 900.0
"""Stated mass over the volume of the collision shapes, kg/m³: the median of 22 descriptions, all moving links
of each together: those of the zoo, and public ones of KUKA, Universal Robots, SO-101 and Mini Cheetah robots.
They range from 340 (SO-101) to 2 600 (a SCARA), half of them from 520 to 1 040."""
THICKNESS = 0.05
"""Radius of a link between its joints relative to the robot's reach. With `DENSITY` it gives 0.6 to 1.8 of
the stated moving mass of twelve public arms whose meshes are not at hand, 0.2 to 5.5 of a single link's; an
old arm such as the Puma 560 is six times as heavy."""
TIP = 0.7
"""Radius of a link that carries no joint, relative to that: a ball at its own joint."""
PLACEHOLDER = 1e-6
"""Mass that stands for none, kg."""


@dataclass(frozen=True, eq=False)
class GeometricPrior:
    """What is believed of a robot beforehand; arrays are read-only.

    Attributes:
        parameters: every link complete; drive terms NaN where nothing is known, shape (p,), SI.
        replaced: names of the links whose bodies come from their geometry.
        findings: what was taken from where, and what was not believed.
    """

    parameters: Array
    replaced: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))


def sane_prior(
    robot: Robot,
    layout: Layout,
    prior: Array | None = None,
    total_mass: float | None = None,
    *,
    meshes: MeshSource | FilePath | None = None,
) -> GeometricPrior:
    """A prior in which no link is impossible or absurd: such links are named and replaced, not obeyed.

    A link is replaced where no such body exists, where its mass is none (1e-6 kg or less), and where
    `doubts_about` it are absurd: heavier than solid steel, its centre of mass far outside its shapes, its
    radius of gyration far larger than itself.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        prior: what is believed beforehand, NaN where nothing is, shape (p,), SI; None for the description's
            numbers.
        total_mass: of all moving links, kg; what the links that are kept leave of it is shared by the
            others in proportion to their volume. None for the density of typical arms, 900 kg/m³.
        meshes: where meshes are looked for, or the folder that their names start from; None for where the
            robot says.

    Returns:
        The prior, with one finding for each link that was not believed.

    Raises:
        InputError: the total mass is not positive, or not more than the links that are kept weigh.
    """
    phi = layout.nominal if prior is None else checked("prior", prior, (layout.size,), finite=False)
    places = link_places(robot, link_shapes(robot, meshes))
    refused: dict[str, str] = {}
    for name in places:
        ten = phi[layout.of_link(name)]
        if np.isfinite(ten).all() and not _fixed(layout, name):
            why = _why_not(ten, places[name])
            if why:
                refused[name] = why
    return _completed(robot, layout, phi, refused, total_mass, meshes)


def _why_not(ten: Array, place: LinkPlace) -> str:
    """Why a link is not believed; empty where it is."""
    if ten[0] <= PLACEHOLDER:
        return f"{place.link} is said to weigh {ten[0]:.2g} kg"
    body = Body.from_parameters(ten)
    if not body.consistency.consistent:
        return f"{place.link} cannot exist: " + " ".join(str(reason) for reason in body.consistency.reasons)
    absurd = [doubt for doubt in doubts_about(body, place) if doubt.absurd]
    return max(absurd, key=lambda doubt: doubt.excess).message if absurd else ""


def _completed(
    robot: Robot,
    layout: Layout,
    known: Array,
    refused: dict[str, str],
    total_mass: float | None,
    meshes: MeshSource | FilePath | None,
) -> GeometricPrior:
    phi = np.array(known)
    places = link_places(robot, link_shapes(robot, meshes))
    missing = [
        name
        for name in places
        if not _fixed(layout, name) and (name in refused or not np.isfinite(phi[layout.of_link(name)]).all())
    ]
    if not missing:
        return GeometricPrior(phi, (), ())
    # Bodies of density 1, which weigh their volume.
    solids = _solids(robot, places, missing)
    kept = float(sum(phi[layout.of_link(name)][0] for name in layout.links if name not in missing))
    density = _density(float(sum(solid[0] for solid in solids.values())), kept, total_mass)
    for name in missing:
        phi[layout.of_link(name)] = density * solids[name]
    findings = [
        Finding(
            Severity.WARNING,
            "absurd-prior",
            f"{why}; that is not believed, a uniform body of {phi[layout.of_link(name)][0]:.3g} kg "
            f"{_where(places[name])} is taken instead.",
            name,
        )
        for name, why in refused.items()
    ]
    unstated = [name for name in missing if name not in refused]
    if unstated:
        findings.append(_told(unstated, places, density, phi, layout, total_mass))
    return GeometricPrior(phi, tuple(missing), tuple(findings))


def _solids(robot: Robot, places: dict[str, LinkPlace], names: list[str]) -> dict[str, Array]:
    """Ten parameters of each link at density 1, from its shapes or as a bar."""
    radius, bars = THICKNESS * _reach(places), _bars(robot)
    solids = {}
    for name in names:
        shape = places[name].shape
        if shape is None:
            solids[name] = _bar(bars[name], radius, density=1.0).parameters
        else:
            solids[name] = uniform_body(shape, shape.volume)
    return solids


def _told(
    unstated: list[str],
    places: dict[str, LinkPlace],
    density: float,
    phi: Array,
    layout: Layout,
    total_mass: float | None,
) -> Finding:
    mass = sum(float(phi[layout.of_link(name)][0]) for name in unstated)
    shaped = sum(places[name].shape is not None for name in unstated)
    source = "as the total mass leaves" if total_mass is not None else "as arms typically have"
    message = (
        f"no inertial is stated for {', '.join(unstated)}; they are taken to be uniform, {shaped} of "
        f"{len(unstated)} by their shapes and the others between their joints, with {density:.3g} kg/m³ "
        f"{source}, {mass:.3g} kg together."
    )
    return Finding(Severity.WARNING, "prior-from-shapes", message)


def _fixed(layout: Layout, link: str) -> bool:
    """Whether a link's numbers are known, as those of a virtual link are."""
    return not layout.free[layout.of_link(link)].any()


def _reach(places: dict[str, LinkPlace]) -> float:
    """A length of the robot as a whole, m: its reach, its shapes', or a metre where nothing is known."""
    sizes = [place.shape.size for place in places.values() if place.shape is not None]
    return max((place.reach for place in places.values()), default=0.0) or max(sizes, default=1.0)


def _bars(robot: Robot) -> dict[str, tuple[Array, Array]]:
    """Both ends of the bar that each link is where its shapes are not known, in its frame, m.

    It goes from the link's own joint to the furthest it carries. A link whose frame coincides with the next
    one, as where axes meet in a shoulder, reaches back along its own axis instead: it and the link before
    share the way between their joints.
    """
    bars = {link.name: (np.zeros(3), np.zeros(3)) for link in robot.links}
    carries = {joint.parent for joint in robot.joints}
    for joint in robot.joints:
        way = joint.placement.translation
        if joint.parent >= 0 and np.linalg.norm(way) > np.linalg.norm(
            bars[robot.links[joint.parent].name][1]
        ):
            bars[robot.links[joint.parent].name] = np.zeros(3), np.asarray(way)
    for k, joint in enumerate(robot.joints):
        name, way = robot.links[k].name, joint.placement.translation
        back = joint.placement.rotation.T @ -way
        along = abs(float(back @ joint.axis)) > 0.9 * float(np.linalg.norm(way))
        if k in carries and not bars[name][1].any() and along and joint.kind.rotates:
            bars[name] = np.zeros(3), 0.5 * back
            before = robot.links[joint.parent].name if joint.parent >= 0 else None
            if before is not None and np.array_equal(bars[before][1], way):
                bars[before] = np.zeros(3), 0.5 * way
    return bars


def _bar(ends: tuple[Array, Array], radius: float, *, density: float) -> Body:
    """A round bar between two points; a smaller ball where they coincide."""
    way = ends[1] - ends[0]
    length = float(np.linalg.norm(way))
    if length < 0.1 * radius:
        return sphere(TIP * radius, density=density).moved(Pose(np.eye(3), ends[0]))
    z = way / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    X = Pose(np.column_stack([x, np.cross(z, x), z]), 0.5 * (ends[0] + ends[1]))
    return capsule(radius, length, density=density).moved(X)


def _where(place: LinkPlace) -> str:
    return "in its shapes" if place.shape is not None else "between its joints"


def _density(volume: float, kept: float, total_mass: float | None) -> float:
    if total_mass is None:
        return DENSITY
    if not (total_mass > 0.0 and np.isfinite(total_mass)):
        raise InputError(f"must be positive and finite, got {total_mass:g} kg.", place="total mass")
    if total_mass <= kept:
        raise InputError(
            f"of {total_mass:g} kg leaves nothing: the links that state their mass weigh {kept:.4g} kg.",
            place="total mass",
            remedy="State the mass of all moving links.",
        )
    return (total_mass - kept) / volume
