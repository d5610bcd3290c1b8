"""The collision test of Tian et al. (2024): verdicts beside Coal's, and motions designed either way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import process_time

import coal
import numpy as np

from paper_003.tool_constraints import virtual_constraints_of
from paper_003.virtual_constraints import VirtualConstraints
from steelyard.arrays import Array, BoolArray
from steelyard.dynamics import forward_kinematics
from steelyard.errors import NoSolutionError
from steelyard.excitation import SearchBudget, design
from steelyard.limits import Clearance, clearance_of
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry, Robot, Sphere
from steelyard.robot.link import Shape
from steelyard.zoo import zoo_robot
from studies.excitation import TOOL, med7
from tables import Bound, Study

POSES = 50_000
SEEDS = 5
RATE, PERIOD = 1000.0, 10.0
TOOLS = {
    "rod": TOOL,
    "plate": (Geometry(Box(0.2, 0.12, 0.02), Pose.from_rpy((0.0, 0.0, 0.0), (0.04, 0.0, 0.05))),),
    "hook": (Geometry(Capsule(0.02, 0.4), Pose.from_rpy((0.0, 2.2, 0.0), (0.2, 0.0, 0.05))),),
    "endoscope": (
        Geometry(Box(0.06, 0.06, 0.12), Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 0.08))),
        Geometry(Capsule(0.005, 0.3), Pose.from_rpy((0.0, 1.2, 0.0), (0.15, 0.0, 0.17))),
    ),
}

_DESCRIPTION = f"""Med7 with four tools at {POSES} random poses within its limits. A pose collides where Coal
finds a shape of the tool inside a shape of a link, the one that holds it left out. The paper's test calls it
free where no feature point, a mean of the Gaussian mixture with the best information criterion, is inside the
smallest ellipsoid around a link. "Larger" inflates links by the distance of the tool's furthest corner from
its nearest mean; "balls" puts around the means what holds the whole tool. Missed are collisions called free;
refused are free poses called colliding."""
_DESIGNS = f"""Motions of {PERIOD:g} s from one local search for each of {SEEDS} seeds, 1 cm asked for. They
collide where a sample at {RATE:g} Hz has the tool inside a link; what the links do to each other is not
counted, which the paper does not watch. Time is the processor's, in the median."""


@dataclass(frozen=True)
class Verdicts:
    """The paper's test of one tool, in one way; shares of the colliding and of the free poses."""

    tool: str
    way: str
    points: int
    pairs: int
    uncovered: float
    radius: float
    colliding: float
    missed: float
    refused: float


@dataclass(frozen=True)
class Searched:
    """A design: the tool's least exact distance from the links, m, and the least g of the paper's points.

    Where no motion was found both are NaN.
    """

    tool: str
    way: str
    seed: int
    cond: float
    seconds: float
    distance: float
    g: float

    @property
    def found(self) -> bool:
        """Whether there is a motion."""
        return bool(np.isfinite(self.cond))


def run() -> Study:
    """Judge every tool in every way, then design with every constraint."""
    robot = zoo_robot("lbr_med7")
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    q = np.random.default_rng(20260120).uniform(lower, upper, (POSES, robot.nv))
    verdicts = [verdict for name in TOOLS for verdict in judged(robot, name, q)]
    searches = [search for name in TOOLS for search in designed(name)]
    missed = [verdict.missed for verdict in verdicts if verdict.way == "balls"]
    papers = [search.g for search in searches if search.way == "means" and search.found]
    return Study(
        "Virtual constraints of Tian et al. (2024)",
        f"{_DESCRIPTION}\n\n{_verdict_table(verdicts)}\n\n{_DESIGNS}\n\n{_search_table(searches)}",
        (
            Bound("share of collisions that balls around the feature points miss", max(missed), 0.0),
            Bound(f"least g of motions designed with means, at {RATE:g} Hz", min(papers), 0.0, atmost=False),
        ),
        {
            "verdicts": [asdict(verdict) for verdict in verdicts],
            "designs": [asdict(search) for search in searches],
        },
    )


def judged(robot: Robot, name: str, q: Array) -> list[Verdicts]:
    """One tool: as the paper has it, with larger ellipsoids, and with balls that hold the tool."""
    tool = TOOLS[name]
    colliding = _collisions(robot, tool, q)
    means = virtual_constraints_of(robot, tool, np.random.default_rng(0))
    larger = virtual_constraints_of(robot, tool, np.random.default_rng(0), inflation=means.features.uncovered)
    balls = virtual_constraints_of(robot, tool, np.random.default_rng(0), covering=True)
    ways = {"means": means, "larger": larger, "balls": balls}
    return [_verdicts(name, way, constraints, q, colliding) for way, constraints in ways.items()]


def _verdicts(
    tool: str, way: str, constraints: VirtualConstraints, q: Array, colliding: BoolArray
) -> Verdicts:
    free = (constraints.values(q) > 0.0).all(axis=1)
    return Verdicts(
        tool,
        way,
        len(constraints.features.points),
        len(constraints.pairs),
        constraints.features.uncovered,
        constraints.features.radius,
        float(colliding.mean()),
        float(free[colliding].mean()),
        float((~free[~colliding]).mean()),
    )


def _collisions(robot: Robot, tool: tuple[Geometry, ...], q: Array) -> BoolArray:
    """Coal's verdict at every pose."""
    frame = robot.tool_frame
    held = [(_coal(item.shape), (frame.placement @ item.pose).matrix) for item in tool]
    others = [
        (index, _coal(item.shape), item.pose.matrix)
        for index, link in enumerate((robot.base, *robot.links), start=-1)
        if index != frame.link
        for item in link.collision
    ]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    still = np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))
    X = np.concatenate([forward_kinematics(robot, q), still], axis=1)  # so that -1 is the base
    found = np.zeros(len(q), dtype=bool)
    for n in range(len(q)):
        tools = [(shape, _transform(X[n, frame.link] @ local)) for shape, local in held]
        for index, shape, local in others:
            place = _transform(X[n, index] @ local)
            for own, at in tools:
                result.clear()
                found[n] |= bool(coal.collide(own, at, shape, place, request, result))
    return found


def _coal(shape: Shape) -> coal.ShapeBase:
    match shape:
        case Sphere(radius):
            return coal.Sphere(radius)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Box(x, y, z):
            return coal.Box(x, y, z)
    raise TypeError(type(shape).__name__)


def _transform(X: Array) -> coal.Transform3s:
    return coal.Transform3s(X[:3, :3].copy(), X[:3, 3].copy())


def designed(name: str) -> list[Searched]:
    """Motions with one tool, by exact distances and by both kinds of virtual constraints."""
    problem = med7()
    tool = TOOLS[name]
    exact = clearance_of(problem.robot, tool=tool)
    ways: dict[str, Clearance | VirtualConstraints] = {
        "distances": exact,
        "means": virtual_constraints_of(problem.robot, tool, np.random.default_rng(0)),
        "balls": virtual_constraints_of(problem.robot, tool, np.random.default_rng(0), covering=True),
    }
    held = Clearance(problem.robot, tuple(pair for pair in exact.pairs if "tool" in pair.owners))
    searches = []
    for way, clearance in ways.items():
        asked = replace(problem, clearance=clearance)
        for seed in range(SEEDS):
            before = process_time()
            try:
                found = design(asked, SearchBudget(None, rounds=1), np.random.default_rng(seed), workers=1)
            except NoSolutionError:
                searches.append(Searched(name, way, seed, *[np.nan] * 4))
                continue
            seconds = process_time() - before
            q = found.motion.sample(np.linspace(0.0, found.motion.duration, int(RATE * PERIOD) + 1)).q
            distance, g = float(held.distances(q).min()), float(ways["means"].values(q).min())
            searches.append(Searched(name, way, seed, found.cond, seconds, distance, g))
    return searches


def _verdict_table(verdicts: list[Verdicts]) -> str:
    rows = [
        ("tool", "way", "points", "pairs", "uncovered, mm", "balls, mm", "colliding", "missed", "refused"),
        ("---",) * 9,
    ]
    for v in verdicts:
        sizes = (f"{1e3 * v.uncovered:.0f}", f"{1e3 * v.radius:.0f}")
        shares = (f"{100 * share:.1f} %" for share in (v.colliding, v.missed, v.refused))
        rows.append((v.tool, v.way, str(v.points), str(v.pairs), *sizes, *shares))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _search_table(searches: list[Searched]) -> str:
    rows = [
        ("tool", "way", "motions", "cond, median", "colliding", "least distance, mm", "least g", "time, s"),
        ("---",) * 8,
    ]
    for tool, way in dict.fromkeys((search.tool, search.way) for search in searches):
        every = [search for search in searches if (search.tool, search.way) == (tool, way)]
        own = [search for search in every if search.found]
        count = f"{len(own)} of {len(every)}"
        if not own:
            rows.append((tool, way, count, *[""] * 5))
            continue
        figures = (
            f"{np.median([s.cond for s in own]):.1f}",
            str(sum(s.distance < 0.0 for s in own)),
            f"{1e3 * min(s.distance for s in own):.1f}",
            f"{min(s.g for s in own):.3f}",
            f"{np.median([s.seconds for s in own]):.1f}",
        )
        rows.append((tool, way, count, *figures))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
