"""Whether the links and drives of a model can exist, and whether a person would believe them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.arrays import Array
from steelyard.audit.verdict import Check, Status
from steelyard.consistency import Doubt, LinkPlace, doubts_about, link_places, link_shapes
from steelyard.drive import drive_term
from steelyard.dynamics import mass_matrix
from steelyard.files import FilePath
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, MeshSource, Robot

# Physical consistency of links, and what follows for the mass matrix

POSES = 2000
"""Random poses at which the mass matrix is looked at where nothing is proven."""


def check_links(layout: Layout, phi: Array) -> Check:
    """Ask whether every link can exist and every drive takes energy out.

    Args:
        layout: the order of the parameters.
        phi: a full parameter vector, shape (p,), SI.

    Returns:
        The check; its message names each impossible link with the reason.
    """
    wrong: dict[str, str] = {}
    for k, link in enumerate(layout.links):
        verdict = Body.from_parameters(phi[10 * k : 10 * k + 10]).consistency
        if not verdict.consistent:
            wrong[link] = " ".join(str(reason) for reason in verdict.reasons)
    for parameter, value in zip(layout.parameters, phi, strict=True):
        driven = parameter.term in layout.drive and not drive_term(parameter.term).signed
        if driven and value < -1e-12:
            wrong[parameter.name] = f"{value:.3g} {parameter.unit} is negative."
    if not wrong:
        message = f"all {len(layout.links)} links can exist, and no drive creates energy."
        return Check("physical consistency", Status.PASS, message)
    listed = "; ".join(f"{name}: {reason}" for name, reason in wrong.items())
    return Check("physical consistency", Status.FAIL, f"no such body exists: {listed}", {"impossible": wrong})


def check_mass_matrix(
    robot: Robot, layout: Layout, phi: Array, possible: bool, rng: np.random.Generator
) -> Check:
    """Ask whether the mass matrix is positive definite at every pose.

    Where all links can exist with something to spare it is: it is a sum of their positive inertias. Links on
    the edge of the possible prove only that it is not negative. Otherwise it is looked at in random poses,
    which can refute it and never prove it.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        phi: a full parameter vector, shape (p,), SI.
        possible: whether all links can exist.
        rng: source of the poses.
    """
    name = "mass matrix"
    lower = np.maximum(robot.limit_array("lower"), -np.pi)
    upper = np.minimum(robot.limit_array("upper"), np.pi)
    if robot.nq != robot.nv:
        return Check(name, Status.NOT_RUN, "poses of floating and spherical joints are not drawn.")
    q = rng.uniform(lower, upper, (POSES, robot.nv))
    smallest = float(np.linalg.eigvalsh(mass_matrix(robot, layout, phi, q))[:, 0].min())
    bodies = phi[: 10 * len(layout.links)].reshape(-1, 10)
    strict = possible and all(Body.from_parameters(body).consistency.strict for body in bodies)
    evidence = {"smallest_eigenvalue": smallest, "poses": POSES, "proven": strict}
    if smallest <= 0.0:
        message = f"is not positive definite: smallest eigenvalue {smallest:.3g} in {POSES} random poses."
        return Check(name, Status.FAIL, message, evidence)
    if possible:
        what = "positive definite at every pose" if strict else "not negative at any pose"
        message = (
            f"is {what}, since all links can exist; smallest eigenvalue {smallest:.3g} in {POSES} poses."
        )
        return Check(name, Status.PASS, message, evidence)
    message = f"was positive definite in {POSES} random poses, smallest eigenvalue {smallest:.3g}; no proof."
    return Check(name, Status.WARN, message, evidence)


# Believable links and drives: the check `plausible`
#
# Links that can exist (`check_links`) may still weigh tonnes: what a log leaves open can be anything. So
# every number is held against what is known besides the log: the description's, the shapes, the joints'
# torque limits, and common sense. The bounds are wide. A doubt warns; what is out of the question fails.
#
# The torque that holds the arm still is $\tau_j = -u_j^T \sum_k (p_k - o_j) \times m_k g$ over the links k
# beyond joint j, with axis u and origin o (a sliding joint: $-u_j^T \sum_k m_k g$).

NAME = "plausible"
LINK_RATIOS = (0.33, 3.0), (0.1, 10.0)
"""Mass of a link against its described one: outside the first a doubt, outside the second absurd."""
TOTAL_RATIOS = (0.5, 2.0), (0.2, 5.0)
"""The same of all moving links together."""
WEIGHED_RATIOS = (0.8, 1.25), (0.5, 2.0)
"""The same against a total that somebody weighed."""
SMALL = 0.01
"""Share of the described total below which a link's mass is at most a doubt: nothing depends on it."""
COM_ODD = 0.1
"""Distance from the described centre of mass below which one outside the shapes is no doubt, m."""
LEAST_ROTOR = 1e-7
"""Rotor inertia below which a number is none, kg·m² or kg: smaller than that of a wrist watch."""
SLOWEST = 0.1
"""Acceleration that a torque limit must be able to give its own rotor, rad/s² or m/s²."""
HOLDING = 3.0, 100.0
"""How often the torque that holds the arm in half its poses may exceed the limit: doubt, absurd.

Limits are often placeholders, so only what is wrong by grams for kilograms is called absurd.
"""
_NO_LIMIT = 1e6  # N·m or N; larger limits stand for none
_POSES = 32
_NAMED = 3
_NEGLIGIBLE = 1e-6  # kg; a described mass below is a placeholder


def check_plausible(
    robot: Robot,
    layout: Layout,
    phi: Array,
    described: Array | None = None,
    total: float | None = None,
    *,
    meshes: MeshSource | FilePath | None = None,
) -> Check:
    """Ask whether links and drives are ones that somebody could have built.

    Args:
        robot: the robot, with shapes and limits.
        layout: the order of the parameters.
        phi: a full parameter vector, NaN where nothing is known, shape (p,), SI.
        described: what is known beforehand, NaN where nothing is, shape (p,), SI; None to judge by shapes,
            limits and common sense alone. A described link that is absurd itself is not held against.
        total: weighed mass of all moving links, kg.
        meshes: where meshes are looked for, or the folder that their names start from; None for where the
            robot says.

    Returns:
        The check: `warn` where a number is odd, `fail` where it is absurd. Its message names the worst.
    """
    places = link_places(robot, link_shapes(robot, meshes))
    bodies = _bodies(layout, phi)
    before = {} if described is None else _trusted(_bodies(layout, described), places)
    doubts: list[Doubt] = []
    for name, body in bodies.items():
        if name in places:
            doubts += _known(doubts_about(body, places[name]), body, before.get(name), places[name])
    doubts += _masses(bodies, before, total)
    doubts += _held(robot, bodies)
    doubts += _drives(robot, layout, phi)
    return _judged(doubts, _evidence(bodies, before, places, doubts))


def _bodies(layout: Layout, phi: Array) -> dict[str, Body]:
    """The links whose numbers are known."""
    tens = {link: phi[10 * k : 10 * k + 10] for k, link in enumerate(layout.links)}
    return {
        link: Body.from_parameters(ten)
        for link, ten in tens.items()
        if np.isfinite(ten).all() and (ten[0] != 0.0 or not ten[1:4].any())
    }


def _trusted(bodies: Mapping[str, Body], places: Mapping[str, LinkPlace]) -> dict[str, Body]:
    """The described links that are not absurd themselves."""
    return {
        name: body
        for name, body in bodies.items()
        if name in places
        and body.mass > _NEGLIGIBLE
        and not any(doubt.absurd for doubt in doubts_about(body, places[name]))
    }


def _known(doubts: list[Doubt], body: Body, before: Body | None, place: LinkPlace) -> list[Doubt]:
    """The doubts that the description does not explain, and one about the way the centre of mass went."""
    if before is None:
        return doubts
    moved = float(np.linalg.norm(body.com - before.com))
    spread = _radius(body) / max(_radius(before), 1e-9)
    kept = [
        doubt
        for doubt in doubts
        if not (doubt.quantity == "com" and moved <= COM_ODD)
        and not (doubt.quantity == "radius of gyration" and 0.2 <= spread <= 2.0)
        and not (doubt.quantity == "mass" and 0.5 <= body.mass / before.mass <= 1.5)
    ]
    named = any(doubt.quantity == "com" for doubt in kept)
    if place.shape is None and not named and moved > COM_ODD + 0.25 * place.length:
        message = f"{place.link} has its centre of mass {moved:.3g} m from the described one"
        absurd = moved > 0.5 + 2.0 * place.length
        kept.append(Doubt(place.link, "com", absurd, message, moved / (COM_ODD + 0.25 * place.length)))
    return kept


def _masses(bodies: Mapping[str, Body], before: Mapping[str, Body], total: float | None) -> list[Doubt]:
    """Masses against what the description and the scales say."""
    doubts = []
    whole = sum(body.mass for body in before.values())
    both = [name for name in bodies if name in before]
    for name in both:
        m, known = bodies[name].mass, before[name].mass
        if (absurd := _beyond(m / known, LINK_RATIOS)) is not None:
            small = abs(m - known) < SMALL * whole
            message = f"{name} weighs {m:.4g} kg, described {known:.4g} kg"
            doubts.append(Doubt(name, "mass", absurd and not small, message, _excess(m / known)))
    sum_now = sum(bodies[name].mass for name in both)
    if both and (absurd := _beyond(sum_now / whole, TOTAL_RATIOS)) is not None:
        message = f"the moving links weigh {sum_now:.4g} kg together, described {whole:.4g} kg"
        doubts.append(Doubt("robot", "total mass", absurd, message, _excess(sum_now / whole)))
    everything = sum(body.mass for body in bodies.values())
    if total is not None and (absurd := _beyond(everything / total, WEIGHED_RATIOS)) is not None:
        message = f"the moving links weigh {everything:.4g} kg together, on the scales {total:.4g} kg"
        doubts.append(Doubt("robot", "total mass", absurd, message, _excess(everything / total)))
    return doubts


def _excess(ratio: float) -> float:
    return max(ratio, 1.0 / max(ratio, 1e-9))


def _beyond(ratio: float, bounds: tuple[tuple[float, float], tuple[float, float]]) -> bool | None:
    """None for a ratio within the first bounds; otherwise whether it is outside the second."""
    (low, high), (least, most) = bounds
    if low <= ratio <= high:
        return None
    return not least <= ratio <= most


def _radius(body: Body) -> float:
    """Largest radius of gyration about the centre of mass, m."""
    return float(np.sqrt(max(0.0, float(np.linalg.eigvalsh(body.inertia)[-1])) / body.mass))


def _held(robot: Robot, bodies: Mapping[str, Body]) -> list[Doubt]:
    """Joints whose limits are far from holding the arm still."""
    doubts = []
    needed = _holding(robot, bodies)
    for joint, torque in zip(robot.joints, needed, strict=True):
        limit = joint.limits.effort
        if joint.mimic is not None or not 0.0 < limit < _NO_LIMIT or torque <= HOLDING[0] * limit:
            continue
        unit = joint.effort_unit
        message = (
            f"in half its poses {joint.name} needs {torque:.3g} {unit} or more to hold the arm still, "
            f"its limit is {limit:.3g} {unit}"
        )
        doubts.append(
            Doubt(joint.name, "holding torque", torque > HOLDING[1] * limit, message, torque / limit)
        )
    return doubts


def _holding(robot: Robot, bodies: Mapping[str, Body]) -> Array:
    """Median over poses of the torque or force that holds the arm still, shape (joints,), N·m or N."""
    # A few poses of a chain of hundreds say as much, and inspect shall not wait for more.
    poses = int(np.clip(1200 // len(robot.joints), 6, _POSES))
    torques = np.zeros((poses, len(robot.joints)))
    carried = [bodies.get(link.name) for link in robot.links]
    for n in range(poses):
        placed: list[Pose] = []
        for k, joint in enumerate(robot.joints):
            parent = Pose.identity() if joint.parent < 0 else placed[joint.parent]
            placed.append(parent @ joint.placement @ joint.motion(_position(joint, k, n)))
        mass = np.zeros(len(placed))
        moment = np.zeros((len(placed), 3))
        for k in range(len(placed) - 1, -1, -1):
            joint, body = robot.joints[k], carried[k]
            if body is not None:
                mass[k] += body.mass
                moment[k] += body.mass * (placed[k].rotation @ body.com + placed[k].translation)
            u = placed[k].rotation @ joint.axis
            lever = moment[k] - mass[k] * placed[k].translation
            pull = robot.gravity * mass[k]
            torques[n, k] = u @ (pull if joint.kind is JointKind.PRISMATIC else _cross(lever, robot.gravity))
            if joint.parent >= 0:
                mass[joint.parent] += mass[k]
                moment[joint.parent] += moment[k]
    # What turns freely in several directions has no drive whose limit could be asked about.
    torques[:, [joint.kind.nv != 1 for joint in robot.joints]] = 0.0
    return np.asarray(np.median(np.abs(torques), axis=0))


def _cross(a: Array, b: Array) -> Array:
    """As `np.cross`, which takes ten times as long for two vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def _position(joint: Joint, k: int, n: int) -> Array:
    """Position of joint k in pose n: evenly spread over the ranges, floating and spherical ones at rest."""
    if joint.kind.nv > 1:
        q = np.zeros(joint.kind.nq)
        q[-1] = 1.0
        return q
    widest = np.pi if joint.kind.rotates else 1.0
    lower, upper = max(joint.limits.lower, -widest), min(joint.limits.upper, widest)
    if lower > upper:  # a range that lies beyond a turn, or beyond a metre
        lower, upper = joint.limits.lower, joint.limits.upper
    # Multiples of square roots of 2, 3, 5, … fill a box evenly (Weyl's sequence); no chance is needed.
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
    share = ((n + 1) * np.sqrt(primes[k % len(primes)] + k // len(primes))) % 1.0
    return np.array([lower + share * (upper - lower)])


def _drives(robot: Robot, layout: Layout, phi: Array) -> list[Doubt]:
    """Rotor inertia and friction against what each joint can do."""
    doubts = []
    joints = {joint.name: joint for joint in robot.joints}
    for name in layout.joints:
        joint = joints[name]
        values = dict(zip(layout.drive, phi[layout.of_joint(name)], strict=True))
        limit, unit = joint.limits.effort, joint.effort_unit
        limited = 0.0 < limit < _NO_LIMIT
        inertia_unit = "kg·m²" if joint.kind.rotates else "kg"
        rotor = values.get("rotor", np.nan)
        if 0.0 < rotor < LEAST_ROTOR:
            message = f"{name} has a rotor inertia of {rotor:.2g} {inertia_unit}, which is none"
            doubts.append(Doubt(name, "rotor", False, message, LEAST_ROTOR / rotor))
        if limited and rotor * SLOWEST > limit:
            message = (
                f"{name} has a rotor inertia of {rotor:.3g} {inertia_unit}, which its limit of {limit:.3g} "
                f"{unit} hardly moves"
            )
            doubts.append(Doubt(name, "rotor", True, message, rotor * SLOWEST / limit))
        coulomb = values.get("coulomb", np.nan)
        if limited and coulomb > limit:
            message = f"{name} has a Coulomb friction of {coulomb:.3g} {unit}, above its limit of {limit:.3g}"
            doubts.append(Doubt(name, "coulomb", True, message, coulomb / limit))
        drag = values.get("viscous", np.nan) * min(joint.limits.velocity, _NO_LIMIT)
        if limited and joint.limits.velocity < _NO_LIMIT and drag > 1.5 * limit:
            message = (
                f"{name} has a viscous friction of {drag:.3g} {unit} at its speed limit, above its torque "
                f"limit of {limit:.3g}"
            )
            doubts.append(Doubt(name, "viscous", drag > 10.0 * limit, message, drag / limit))
    return doubts


def _evidence(
    bodies: Mapping[str, Body],
    before: Mapping[str, Body],
    places: Mapping[str, LinkPlace],
    doubts: list[Doubt],
) -> dict[str, object]:
    links = {}
    for name, body in bodies.items():
        place, known = places.get(name), before.get(name)
        if place is None:
            continue
        massive = body.mass > 0.0
        links[name] = {
            "mass": body.mass,
            "described_mass": None if known is None else known.mass,
            "solid_steel_mass": place.heaviest if place.known else None,
            "shapes_volume": None if place.shape is None else place.shape.volume,
            "com_outside": max(0.0, place.outside(body.com)) if massive and place.known else None,
            "radius_of_gyration": _radius(body) if massive else None,
            "size": place.size if place.known else None,
        }
    whole = sum(body.mass for body in bodies.values())
    return {
        "links": links,
        "total_mass": whole,
        "described_total_mass": sum(body.mass for body in before.values()) if before else None,
        "absurd": _worst(doubts, absurd=True),
        "odd": _worst(doubts, absurd=False),
    }


def _worst(doubts: list[Doubt], *, absurd: bool) -> list[str]:
    """What is said of one kind of doubt, the heaviest first, each quantity of an owner once."""
    chosen: dict[tuple[str, str], Doubt] = {}
    for doubt in sorted(doubts, key=lambda doubt: -doubt.excess):
        if doubt.absurd is absurd:
            chosen.setdefault((doubt.owner, doubt.quantity), doubt)
    return [doubt.message for doubt in chosen.values()]


def _judged(doubts: list[Doubt], evidence: dict[str, object]) -> Check:
    absurd, odd = _worst(doubts, absurd=True), _worst(doubts, absurd=False)
    worst = absurd or odd
    if not worst:
        message = "every number that could be judged is one that somebody could have built."
        if not evidence["links"]:
            return Check(NAME, Status.NOT_RUN, "no link states its inertia.", evidence)
        return Check(NAME, Status.PASS, message, evidence)
    listed = "; ".join(worst[:_NAMED])
    more = len(worst) - _NAMED
    listed += f"; and {more} more" if more > 0 else ""
    if absurd:
        return Check(NAME, Status.FAIL, f"nobody has built such a robot: {listed}.", evidence)
    return Check(NAME, Status.WARN, f"hard to believe: {listed}.", evidence)
