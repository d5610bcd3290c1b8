r"""`Prior`: what is known of a robot before its log is looked at, and how far it is to be trusted.

A link is known by its description, a joint by a data sheet, by its description, or by what joints of its
torque are like. Every entry of the parameter vector has a centre and a trust: the weight of its divergence
against that of a described link, so that a term trusted by 0.04 may be off by five times as much. Beside the
centres stand known sums (a robot on a scale, a weighed link, equal legs) and walls: expressions that must
stay positive and are drawn to a value well inside, such as a mass, or the distance of a centre of mass from a
face of its link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked, keep_checked
from steelyard.consistency.link_shapes import LinkShape, uniform_body
from steelyard.drive import drive_term
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import (
    Body,
    characteristic_length,
    check_body,
    nearest_consistent,
    pseudo_inertia,
    relative_eigenvalue,
)
from steelyard.layout import Layout
from steelyard.robot import Robot

ARMATURE = 3e-3
"""Rotor inertia per torque limit of a joint that states none, kg·m² per N·m: between 7e-4 (UR5e) and 1e-2
(SO-101) in public simulator models."""
FRICTION = 0.05
"""Coulomb friction, and viscous friction at full speed, per torque limit, dimensionless."""
OFFSET = 0.05
"""Size of a torque offset, and of half a difference of friction by direction, per torque limit."""
LOAD = 0.05
"""Friction per torque that a gear carries, dimensionless."""
SPEED = 3.0
"""Full speed of a joint that states none, rad/s or m/s."""
TYPICAL, STATED, MEASURED = 0.04, 0.1, 100.0
"""Trust in what joints of that torque are like (off by a factor of about four where a link is off by 30 %),
in friction and armature of a description, and in numbers that were given."""
MASS = 1.0
"""Further trust in the mass of a link by itself: masses of descriptions are better known than how they are
spread, and torques tell them worst."""
GUESSED = 0.1
"""Trust in a link's body that was made from its shapes, because nobody stated one."""
SHAPE = 0.02
"""Trust in all walls of a link's shape together: they hold a centre of mass in, and draw it nowhere else."""
WIDER = (0.02, 0.1)
"""By how much a link may reach beyond its shapes: cables and covers, in m, and as a share of its size."""
EDGE = 1e-4
"""Smallest eigenvalue of a prior link's scaled pseudo-inertia over its mean: thinner ones are thickened."""
_WEAKEST = 3e-3
"""Torque that a joint is taken to have seen at least, over that of the joint which saw the most."""
_PSEUDO = pseudo_inertia(np.eye(10))
_ABSURD = 1e-3
"""A stated friction or armature below this share of what is typical says nothing (0 and 1e-6 are common)."""


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known beforehand of the parameters of a layout.

    Attributes:
        layout: the order of the parameters.
        centre: phi_0, shape (p,), SI; links strictly possible, terms that cannot be negative positive. Of a
            link that the layout fixes in part it is a possible body nearby; the fixed numbers themselves
            hold exactly, as known sums do.
        trust: weight of each parameter's divergence, alike for the ten of a link, shape (p,), dimensionless.
        sizes: size of each drive term, shape (p,), SI; ones for links.
        sources: where each number comes from: `description`, `given`, `shapes`, `typical` or `fixed`.
        sums: C of known sums C phi = d, shape (e, p), SI.
        totals: d, shape (e,), SI.
        walls: g of walls g phi + h > 0, shape (w, p), SI.
        wall_offsets: h, zero but for terms that must stay below a number, shape (w,), SI.
        wall_sizes: the value of each wall's expression well inside, shape (w,), SI.
        wall_trust: weight of each wall, shape (w,), dimensionless.
        findings: what was noticed.
    """

    layout: Layout
    centre: Array
    trust: Array
    sizes: Array
    sources: tuple[str, ...]
    sums: Array
    totals: Array
    walls: Array
    wall_offsets: Array
    wall_sizes: Array
    wall_trust: Array
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        p = self.layout.size
        keep_checked(self, (p,), "centre", "trust", "sizes")
        keep_checked(self, ("e", p), "sums")
        keep_checked(self, ("e",), "totals")
        keep_checked(self, ("w", p), "walls")
        keep_checked(self, ("w",), "wall_offsets", "wall_sizes", "wall_trust")

    @property
    def signed(self) -> BoolArray:
        """Which parameters are drive terms of either sign, shape (p,), dimensionless."""
        return signed_terms(self.layout)

    def without_mass_pull(self) -> Prior:
        """The same without the further trust in masses: what its stated accuracy is about.

        Returns:
            A new prior.
        """
        masses = np.arange(0, 10 * len(self.layout.links), 10)
        alone = (np.count_nonzero(self.walls, axis=1) == 1) & self.walls[:, masses].any(axis=1)
        return replace(
            self,
            walls=self.walls[~alone],
            wall_offsets=self.wall_offsets[~alone],
            wall_sizes=self.wall_sizes[~alone],
            wall_trust=self.wall_trust[~alone],
        )


def signed_terms(layout: Layout) -> BoolArray:
    """Which parameters are drive terms that may have either sign.

    Args:
        layout: the order of the parameters.

    Returns:
        One for each parameter, shape (p,), dimensionless.
    """
    n = 10 * len(layout.links)
    drives = [drive_term(parameter.term).signed for parameter in layout.parameters[n:]]
    return np.array([False] * n + drives)


def prior_of(
    robot: Robot,
    layout: Layout,
    believed: ArrayLike | None = None,
    *,
    torque: ArrayLike | None = None,
    total_mass: float | None = None,
    masses: Mapping[str, float] | None = None,
    rotors: Mapping[str, float] | None = None,
    equal: Sequence[tuple[str, str]] = (),
    guessed: Sequence[str] = (),
    shapes: Mapping[str, LinkShape] | None = None,
) -> Prior:
    """State what is known beforehand.

    Args:
        robot: the robot.
        layout: its parameters.
        believed: phi_0 of the links, and of drive terms where it states them, shape (p,), SI; NaN where
            nothing is believed. None for the description's numbers. A link that cannot exist is replaced by
            the nearest that can, one without thickness is thickened; a link of which nothing is believed is
            refused.
        torque: largest torque seen at each degree of freedom, shape (nv,), N·m or N: the size of a joint
            whose limit is not stated, or is far beyond what it was seen to do. None where nothing was seen.
        total_mass: of the whole robot on a scale, its base included where the description states one, kg.
        masses: of links that were weighed, kg, by name.
        rotors: rotor inertias from a data sheet, at the joint's output, kg·m² or kg, by joint.
        equal: pairs of links that are built alike, such as those of two legs. Where the description states
            them alike up to signs, as mirrored parts are, they are held alike up to these signs.
        guessed: links whose believed bodies nobody stated, such as those of `sane_prior`.
        shapes: of links, by name. A centre of mass stays inside its link's hull, and its mass inside an
            ellipsoid around it, both a little wider, where the prior does. An inertia whose radius of
            gyration exceeds the link is replaced.

    Raises:
        InputError: nothing is believed of a link, or a given number cannot be.
        UnknownNameError: there is no link or joint of a given name.
    """
    p, n = layout.size, len(layout.links)
    phi = layout.nominal if believed is None else np.array(checked("prior", believed, (p,), finite=False))
    trust, sources, findings = np.ones(p), ["description"] * p, list[Finding]()
    _fixed(layout, phi)
    _links(layout, phi, findings)
    _within_shapes(layout, phi, shapes or {}, findings)
    sizes = np.ones(p)
    _drives(robot, layout, phi, torque, sizes, trust, sources)
    for joint, value in (rotors or {}).items():
        k = _place(layout, layout.joints, joint, "rotor", "--rotor")
        _positive(value, f"--rotor {joint}")
        phi[k] = sizes[k] = value
        trust[k], sources[k] = MEASURED, "given"
    sums, totals = _sums(robot, layout, phi, total_mass, masses or {}, equal, findings)
    for link in masses or {}:
        sources[layout.of_link(link).start] = "given"
    for k in np.flatnonzero(~layout.free).tolist():
        sources[k] = "fixed"
        if k >= 10 * n or not layout.free[k - k % 10 : k - k % 10 + 10].any():
            phi[k] = np.nan_to_num(layout.nominal[k])
    for link in guessed:
        ten = layout.of_link(link)
        trust[ten] = GUESSED
        sources[ten] = ["shapes" if source == "description" else source for source in sources[ten]]
    friction = _friction_walls(layout, phi)
    upper, bounds = _upper_walls(layout)
    around, room = _shape_walls(layout, phi, shapes or {})
    weighty = np.array([k for k in range(0, 10 * n, 10) if layout.free[k]], dtype=int)
    walls = np.vstack([np.eye(p)[weighty], friction, upper, around])
    offsets = np.concatenate([np.zeros(len(weighty) + len(friction)), bounds, np.zeros(len(around))])
    apart = np.maximum(friction @ phi, 1e-3 * np.abs(friction) @ sizes)
    return Prior(
        layout,
        phi,
        trust,
        sizes,
        tuple(sources),
        sums,
        totals,
        walls,
        offsets,
        np.concatenate([phi[weighty], apart, bounds + upper @ phi, room]),
        np.concatenate(
            [
                MASS * trust[weighty],
                np.full(len(friction) + len(upper), TYPICAL),
                _shared(layout, around, SHAPE),
            ]
        ),
        tuple(findings),
    )


def _fixed(layout: Layout, phi: Array) -> None:
    """Put what the layout fixes into a prior's links, in place."""
    for link in layout.links:
        ten = layout.of_link(link)
        fixed, known = ~layout.free[ten], layout.nominal[ten]
        if fixed[0] and known[0] > 0.0 and phi[ten.start] > 0.0:
            phi[ten] *= known[0] / phi[ten.start]
        phi[ten] = np.where(fixed, known, phi[ten])


def _links(layout: Layout, phi: Array, findings: list[Finding]) -> None:
    """Make every free link of a prior strictly possible, in place."""
    n = len(layout.links)
    bodies = phi[: 10 * n].reshape(n, 10)
    if blind := [layout.links[k] for k in range(n) if not np.isfinite(bodies[k]).all()]:
        raise InputError(
            f"says nothing about {', '.join(blind)}.",
            place="prior",
            remedy="Give a description that states its inertials as --prior.",
        )
    stated = bodies[bodies[:, 0] > 0.0, 0]
    light = 1e-3 * float(np.median(stated)) if stated.size else 1e-3
    for k, link in enumerate(layout.links):
        if not layout.free[10 * k : 10 * k + 10].any():
            continue
        possible = check_body(bodies[k])
        if not possible.consistent:
            reasons = " ".join(str(reason) for reason in possible.reasons)
            findings.append(
                Finding(
                    Severity.WARNING,
                    "impossible-prior",
                    f"the prior states a body that cannot exist and is replaced by the nearest: {reasons}",
                    link,
                )
            )
            bodies[k] = nearest_consistent(bodies[k])
        _thicken(bodies[k : k + 1], light)


def _thicken(body: Array, light: float) -> None:
    """Give a body on the edge of the possible (a point, a rod, no mass) a little mass and thickness."""
    if body[0, 0] < light:
        length = 0.1
        body[0] += light * np.array([1, 0, 0, 0, length**2, 0, length**2, 0, 0, length**2])
    if float(relative_eigenvalue(body)[0]) < EDGE:
        length = float(characteristic_length(body)[0])
        body[:] = nearest_consistent(body, margin=EDGE * float(body[0, 0]), length=np.array([length]))


def _drives(
    robot: Robot,
    layout: Layout,
    phi: Array,
    torque: ArrayLike | None,
    sizes: Array,
    trust: Array,
    sources: list[str],
) -> None:
    seen = np.full(robot.nv, np.nan) if torque is None else checked("torque", torque, (robot.nv,))
    # A joint that stood still saw nothing, which does not make it a watch's.
    seen = np.maximum(seen, _WEAKEST * seen.max(initial=0.0))
    joints = {joint.name: joint for joint in robot.joints}
    free = [joint.name for joint in robot.joints if joint.nv]
    largest = {name: float(seen[k]) for k, name in enumerate(free) if k < robot.nv}
    for name in layout.joints:
        joint = joints[name]
        limit, speed = joint.limits.effort, joint.limits.velocity
        moved = largest.get(name, np.nan)
        # Limits of 1e3 are common; a joint is not ten times stronger than it was seen to be.
        limit = limit if np.isfinite(limit) and limit > 0.0 else 3.0 * moved
        limit = float(np.nanmin([limit, 10.0 * moved])) if moved > 0.0 else limit
        limit = limit if np.isfinite(limit) and limit > 0.0 else 1.0
        speed = speed if np.isfinite(speed) and speed > 1e-2 else SPEED
        typical = {
            "viscous": FRICTION * limit / speed,
            "coulomb": FRICTION * limit,
            "stribeck": FRICTION * limit,
            "rotor": ARMATURE * limit,
            "offset": OFFSET * limit,
            "asymmetric": OFFSET * limit / speed,
            "load": LOAD,
        }
        start = layout.of_joint(name).start
        for place, term in enumerate(layout.drive):
            k = start + place
            size, signed, below = typical[term], drive_term(term).signed, drive_term(term).below
            stated = np.isfinite(phi[k]) and phi[k] < below and (signed or phi[k] > _ABSURD * size)
            if not stated:
                phi[k] = 0.0 if signed else size
            sizes[k] = size if signed else phi[k]
            trust[k] = STATED if stated and not signed else TYPICAL
            sources[k] = "description" if stated else "typical"


def _friction_walls(layout: Layout, phi: Array) -> Array:
    """Viscous friction takes energy in both directions: F_v + F_a and F_v - F_a are positive.

    A prior that says otherwise is moved inside, in place. Where the layout fixes them so that there is no
    inside there is no wall.
    """
    if not {"viscous", "asymmetric"} <= set(layout.drive):
        return np.zeros((0, layout.size))
    rows = []
    for joint in layout.joints:
        start = layout.of_joint(joint).start
        viscous, asymmetric = (start + layout.drive.index(term) for term in ("viscous", "asymmetric"))
        if abs(phi[asymmetric]) > 0.9 * phi[viscous]:
            if layout.free[asymmetric]:
                phi[asymmetric] = 0.5 * np.sign(phi[asymmetric]) * phi[viscous]
            elif layout.free[viscous]:
                phi[viscous] = 2.0 * abs(phi[asymmetric])
        for sign in (1.0, -1.0):
            row = np.zeros(layout.size)
            row[viscous], row[asymmetric] = 1.0, sign
            if layout.free[[viscous, asymmetric]].any() and row @ phi > 0.0:
                rows.append(row)
    return np.array(rows).reshape(-1, layout.size)


def _upper_walls(layout: Layout) -> tuple[Array, Array]:
    """Walls that keep drive terms below what they must stay below, shape (w, p), and that, shape (w,)."""
    n = 10 * len(layout.links)
    below = [(k, drive_term(layout.parameters[k].term).below) for k in range(n, layout.size)]
    held = [(k, most) for k, most in below if np.isfinite(most) and layout.free[k]]
    return -np.eye(layout.size)[[k for k, _ in held]], np.array([most for _, most in held])


def _within_shapes(
    layout: Layout, phi: Array, shapes: Mapping[str, LinkShape], findings: list[Finding]
) -> None:
    """Replace inertias of a prior that spread a link's mass farther than its shapes are long, in place."""
    for link, shape in shapes.items():
        ten = layout.of_link(link)
        stated = Body.from_parameters(phi[ten])
        gyration = float(np.sqrt(max(np.trace(stated.inertia), 0.0) / (2.0 * stated.mass)))
        if not layout.free[ten].all() or gyration <= shape.size:
            continue
        even = Body.from_parameters(uniform_body(shape, stated.mass))
        phi[ten] = Body(stated.mass, stated.com, even.inertia).parameters
        findings.append(
            Finding(
                Severity.WARNING,
                "prior-beyond-shape",
                f"the prior states a radius of gyration of {gyration:.3g} m, its shapes are {shape.size:.3g} "
                "m long; its inertia is replaced by that of a mass spread evenly over them.",
                link,
            )
        )


def _shape_walls(layout: Layout, phi: Array, shapes: Mapping[str, LinkShape]) -> tuple[Array, Array]:
    """Walls that keep each centre of mass in its hull and each mass in an ellipsoid around it.

    Returns the walls, shape (w, p), and what each is well inside, shape (w,), both SI.
    """
    rows, room = [np.zeros((0, layout.size))], [np.zeros(0)]
    for link, shape in shapes.items():
        ten = layout.of_link(link)
        faces = np.zeros((len(shape.offsets) + 1, layout.size))
        faces[:, ten] = _room_of(shape)
        values = faces @ phi
        if not layout.free[ten].any() or (values[:-1] <= 0.0).any():
            continue
        well = np.full(len(faces), 0.2 * shape.size * phi[ten.start])
        well[-1] = 0.2 * phi[ten.start]
        held = slice(None) if values[-1] > 0.0 else slice(0, -1)
        rows.append(faces[held])
        room.append(np.maximum(values, well)[held])
    return np.vstack(rows), np.concatenate(room)


def _room_of(shape: LinkShape) -> Array:
    r"""The walls of a shape as rows of a link's ten numbers, shape (k + 1, 10), SI.

    $(d + \delta)\,m - n^T m c > 0$ for the faces of a hull, and $\mathrm{tr}(J Q) > 0$ for the ellipsoid.
    """
    beyond = WIDER[0] + WIDER[1] * shape.size
    rows = np.zeros((len(shape.offsets) + 1, 10))
    rows[:-1, 0] = shape.offsets + beyond
    rows[:-1, 1:4] = -shape.normals
    rows[-1] = np.einsum("kij,ij->k", _PSEUDO, _widened(shape.ellipsoid, 1.0 + 2.0 * beyond / shape.size))
    return rows


def _widened(ellipsoid: Array, factor: float) -> Array:
    """The quadric of the same ellipsoid, longer by a factor about its centre."""
    centre = -np.linalg.solve(ellipsoid[:3, :3], ellipsoid[:3, 3])
    back = np.eye(4)
    back[:3, :3] /= factor
    back[:3, 3] = centre * (1.0 - 1.0 / factor)
    return np.asarray(back.T @ ellipsoid @ back)


def _shared(layout: Layout, walls: Array, trust: float) -> Array:
    """The trust in each wall, where those of one link share it, shape (w,), dimensionless."""
    owner = np.array([int(np.flatnonzero(wall)[0]) // 10 for wall in walls], dtype=int)
    return trust / np.bincount(owner, minlength=1)[owner] if len(walls) else np.zeros(0)


def _sums(
    robot: Robot,
    layout: Layout,
    phi: Array,
    total_mass: float | None,
    masses: Mapping[str, float],
    equal: Sequence[tuple[str, str]],
    findings: list[Finding],
) -> tuple[Array, Array]:
    rows, totals, p = list[Array](), list[float](), layout.size
    mass_places = [10 * k for k in range(len(layout.links))]
    for link, mass in masses.items():
        k = _place(layout, layout.links, link, "m", "--mass")
        _positive(mass, f"--mass {link}")
        if not layout.free[k] and abs(mass - layout.nominal[k]) > 1e-9 * mass:
            raise InputError(
                f"is {mass:g} kg, but the layout fixes it at {layout.nominal[k]:g} kg.",
                place=f"--mass {link}",
            )
        rows.append(np.eye(p)[k])
        totals.append(float(mass))
        _scaled_link(layout, phi, link, float(mass))
    if total_mass is not None:
        _positive(total_mass, "--total-mass")
        moving = float(total_mass)
        if robot.base.body is not None and not robot.base.virtual:
            moving -= robot.base.body.mass
        if moving <= 0.0:
            raise InputError(
                f"{total_mass:g} kg is less than the base alone, {total_mass - moving:g} kg.",
                place="--total-mass",
            )
        weighed = [layout.of_link(link).start for link in masses]
        rest = [k for k in mass_places if k not in weighed and layout.free[k]]
        left = moving - sum(float(phi[k]) for k in mass_places if k not in rest)
        if not rest or left <= 0.0:
            raise InputError(
                f"{total_mass:g} kg leaves {left:.4g} kg for links that were not weighed.",
                place="--total-mass",
                remedy="Check it against --mass and the mass of the base.",
            )
        factor = left / float(phi[rest].sum())
        for k in rest:
            phi[k : k + 10] *= factor
        row = np.zeros(p)
        row[mass_places] = 1.0
        rows.append(row)
        totals.append(moving)
        if not 0.5 < factor < 2.0:
            findings.append(
                Finding(
                    Severity.WARNING,
                    "total-mass-far-off",
                    f"the links that were not weighed are described with {left / factor:.4g} kg, the scale "
                    f"leaves {left:.4g} kg for them; all were scaled by {factor:.3g}.",
                    "--total-mass",
                )
            )
    for first, second in equal:
        signs = _alike(layout, phi, first, second)
        a, b = layout.of_link(first).start, layout.of_link(second).start
        for k in range(10):
            if layout.free[a + k] or layout.free[b + k]:
                row = np.zeros(p)
                row[a + k], row[b + k] = 1.0, -signs[k]
                rows.append(row)
                totals.append(0.0)
    return np.array(rows).reshape(-1, p), np.array(totals)


def _alike(layout: Layout, phi: Array, first: str, second: str) -> Array:
    """The signs by which the numbers of two links agree, and a prior in which they agree, in place."""
    for name in (first, second):
        if name not in layout.links:
            raise UnknownNameError("moving link", name, layout.links, place="--equal")
    if first == second:
        raise InputError(f"'{first}' is equal to itself.", place="--equal")
    a, b = phi[layout.of_link(first)], phi[layout.of_link(second)]
    # Only mirrors turn signs, and they turn them in pairs; of those that fit as well, the fewest.
    mirrors = sorted(product((1.0, -1.0), repeat=3), key=lambda axes: -sum(axes))
    candidates = np.array([[1, x, y, z, 1, x * y, 1, x * z, y * z, 1.0] for x, y, z in mirrors])
    length = float(characteristic_length(a))
    units = a[0] * np.array([1.0, *[length] * 3, *[length**2] * 6])
    apart = np.linalg.norm((a - candidates * b) / units, axis=1)
    signs = candidates[int(np.flatnonzero(apart <= 1.01 * apart.min() + 1e-9)[0])]
    mean = 0.5 * (a + signs * b)
    phi[layout.of_link(first)], phi[layout.of_link(second)] = mean, signs * mean
    return np.asarray(signs)


def _scaled_link(layout: Layout, phi: Array, link: str, mass: float) -> None:
    phi[layout.of_link(link)] *= mass / phi[layout.of_link(link).start]


def _place(layout: Layout, owners: Sequence[str], owner: str, term: str, option: str) -> int:
    if owner not in owners:
        raise UnknownNameError("link" if term == "m" else "joint", owner, owners, place=option)
    name = f"{owner}.{term}"
    if name not in layout.names:
        raise InputError(
            f"the drive has no term '{term}', so nothing can be known of it.",
            place=option,
            remedy=f"Add {term} to --drive.",
        )
    return layout.index(name)


def _positive(value: float, place: str) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise InputError(f"must be a positive number, got {value:g}.", place=place)
