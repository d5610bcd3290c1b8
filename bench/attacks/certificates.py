"""Motions that are certified and yet break a limit: looked for by Pinocchio, Coal and an optimiser.

A case draws a description (zoo, public URDF and MJCF with meshes, generated trees), gives it friction,
rotors, a load, a tool, obstacles and a floor as `excite` would, draws a motion near its limits and asks for a
certificate. Every margin of the certificate is then compared with the smallest one that can be found: at many
instants, and from the worst of them downhill in time; torques at the worst corner of the parameters' box. In
a green certificate every shape of the description must be part of a pair, or be named.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from scipy.optimize import minimize_scalar

from attacks.attack import Attack
from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import NoSolutionError, SteelyardError
from steelyard.excitation import (
    DesignProblem,
    SearchBudget,
    design,
    fourier_family,
    home,
    robot_columns,
    spline_family,
)
from steelyard.finding import Severity
from steelyard.identifiable import Criterion
from steelyard.inertia.body import random_body
from steelyard.limits import (
    Certificate,
    Clearance,
    Floor,
    Hull,
    MotionLimits,
    NotCertifiedError,
    Part,
    Scene,
    certify,
    clearance_of,
    stands_upright,
)
from steelyard.limits.scene import Obstacle
from steelyard.motion import LinearMotion, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Geometry, Robot, Sphere, load_robot
from steelyard.zoo import ZOO, zoo_robot
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.coal_shapes import coal_shape
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, random_robot

PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "robots"
TREES = 6
"""Generated descriptions."""
KINDS = ("position", "velocity", "acceleration", "torque", "clearance")
DRIVE = ("viscous", "coulomb", "offset", "rotor")
INSTANTS = 120
DESIGNED = 0.02
"""Share of motions that a search designs; the others are drawn, and break limits more often."""
FOLLOWED = 3
"""Margins of a kind that are followed downhill from their worst instant."""
ROUNDING = 1e-6
"""What the judges may miss, by the size of what they measure; of a distance 2 µm more."""


@cache
def descriptions() -> dict[str, tuple[Robot, Path | None]]:
    """Every arm that can be had, by name, and the folder of its meshes."""
    found: dict[str, tuple[Robot, Path | None]] = {}
    for name in ZOO:
        found[name] = zoo_robot(name), None
    for path in sorted([*PUBLIC.rglob("*.urdf"), *PUBLIC.rglob("*.xml")]):
        try:
            found[f"{path.parent.name}/{path.stem}"] = load_robot(path), path.parent
        except SteelyardError:
            continue
    for k in range(TREES):
        tree = random_robot(np.random.default_rng(k), bodies=3 + k % 4, shapes=SOLID)
        found[f"tree{k}"] = replace(tree, gravity=np.array([0.0, 0.0, -9.81])), None
    held = {name: (_without_ties(robot), folder) for name, (robot, folder) in found.items()}
    return {name: (robot, folder) for name, (robot, folder) in held.items() if _usable(robot)}


def _without_ties(robot: Robot) -> Robot:
    """Fingers that follow one another are held still: nothing designs a motion for them."""
    leaders = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}
    within = {x.name: min(max(0.0, x.limits.lower), x.limits.upper) for x in robot.joints}
    return robot.locked({name: within[name] for name in leaders}) if leaders else robot


def _usable(robot: Robot) -> bool:
    if any(joint.nv > 1 or joint.nq > 1 for joint in robot.joints):
        return False
    return all(link.body is not None for link in robot.links)


def case(seed: int) -> dict[str, Any]:
    """One motion, its certificate, and the largest amount by which a proven margin exceeds the truth."""
    rng = np.random.default_rng([20, seed])
    names = sorted(descriptions())
    name = names[seed % len(names)]
    robot, folder = descriptions()[name]
    robot = _dressed(rng, robot)
    clearance = _clearance(rng, robot, folder)
    base = {"robot": name, "pairs": len(clearance.pairs), "amber": _amber(clearance)}
    layout, columns = robot_columns(robot, DRIVE)
    limits = MotionLimits(robot, clearance, layout, layout.complete_nominal(), float(rng.choice([0.0, 0.01])))
    spread = None if rng.random() < 0.7 else 0.1 * rng.random() * np.abs(layout.complete_nominal())
    designed = rng.random() < DESIGNED
    try:
        motion = _designed(rng, limits, layout, columns) if designed else _drawn(rng, limits)
        proof = certify(limits, motion, uncertainty=spread, sharpness=float(rng.choice([0.0, 0.5, 0.9])))
    except (NotCertifiedError, NoSolutionError) as refused:
        return {**base, "end": "refused", "why": getattr(refused, "kind", "no motion"), "designed": designed}
    judge = _Judge(limits, motion, spread)
    worst = judge.worst(proof)
    return {
        **base,
        "end": "certified",
        "designed": designed,
        "margins": len(proof.margins),
        "least": {kind: m.margin for kind in KINDS if (m := proof.smallest(kind)) is not None},
        "excess": max(worst.values(), default=-1.0),
        "by_kind": worst,
        "unnamed": _unnamed(robot, clearance, proof),
    }


def _dressed(rng: np.random.Generator, robot: Robot) -> Robot:
    """With friction and rotors where there are none, limits of every kind, and at times a load."""
    joints = []
    for joint in robot.joints:
        limits = joint.limits
        if np.isinf(limits.velocity):
            limits = replace(limits, velocity=float(rng.uniform(1.0, 4.0)))
        if np.isinf(limits.acceleration):
            limits = replace(limits, acceleration=float(rng.uniform(5.0, 30.0)))
        if np.isinf(limits.effort):
            limits = replace(limits, effort=float(rng.uniform(20.0, 300.0)))
        drive = joint.drive
        if drive == Drive() and rng.random() < 0.7:
            drive = Drive(*rng.uniform(0.0, 0.03, 2) * limits.effort, 0.0, float(rng.uniform(0.0, 0.2)))
        joints.append(replace(joint, limits=limits, drive=drive))
    dressed = replace(robot, joints=tuple(joints))
    if rng.random() < 0.3:
        body = random_body(rng, shape="solid")
        dressed = dressed.with_body("load", body)
    return dressed


def _clearance(rng: np.random.Generator, robot: Robot, folder: Path | None) -> Clearance:
    """As `excite` makes it: a scene, a tool and a floor."""
    tool = ()
    if rng.random() < 0.4:
        tool = (Geometry(_solid(rng), Pose.from_quaternion(rng.normal(size=4), 0.05 * rng.normal(size=3))),)
    obstacles = []
    for k in range(int(rng.integers(0, 4))):
        place = rng.normal(size=3)
        place *= rng.uniform(0.3, 1.5) / np.linalg.norm(place)
        shape = Hull(0.15 * rng.standard_normal((8, 3))) if rng.random() < 0.3 else _solid(rng)
        obstacles.append(Obstacle(f"thing{k}", shape, Pose.from_quaternion(rng.normal(size=4), place)))
    floor = Floor.of(robot, assumed=True) if stands_upright(robot) and rng.random() < 0.7 else None
    return clearance_of(
        robot, Scene(tuple(obstacles)), tool=tool, meshes=folder, rest=home(robot), distance=0.01, floor=floor
    )


def _solid(rng: np.random.Generator) -> Sphere | Box | Cylinder | Capsule:
    x, y, z = rng.uniform(0.02, 0.2, 3).tolist()
    return (Sphere(x), Box(x, y, z), Cylinder(x, y), Capsule(x, y))[int(rng.integers(4))]


def _drawn(rng: np.random.Generator, limits: MotionLimits) -> LinearMotion:
    """A random motion, small enough that about half of them can be certified."""
    period, harmonics = float(rng.uniform(2.0, 8.0)), int(rng.integers(2, 7))
    fraction = float(rng.choice([0.02, 0.05, 0.1, 0.2, 0.4, 0.7]))
    start = home(limits.robot) if rng.random() < 0.6 else None
    return random_fourier(
        limits.robot, rng, period=period, harmonics=harmonics, fraction=fraction, start=start
    )


def _designed(rng: np.random.Generator, limits: MotionLimits, layout: Any, columns: Any) -> LinearMotion:
    robot = limits.robot
    family = fourier_family(robot, 3, 4.0) if rng.random() < 0.5 else spline_family(robot, 6, 4.0)
    problem = DesignProblem(
        robot=robot,
        family=family,
        layout=layout,
        base=columns,
        start=home(robot),
        criterion=Criterion.COND,
        recorded=None,
        clearance=limits.clearance,
        distance=1.3 * limits.distance + 1e-3,
        acceleration=True,
        parameters=limits.parameters,
    )
    return design(problem, SearchBudget(None, 1), rng).motion


def _amber(clearance: Clearance) -> bool:
    return any(finding.severity is not Severity.INFO for finding in clearance.findings)


def _unnamed(robot: Robot, clearance: Clearance, proof: Certificate) -> list[str]:
    """Collision shapes of moving links that no pair, exclusion or finding of the certificate names."""
    named = " ".join(
        [
            *(margin.name for margin in proof.margins),
            *proof.assumptions.excluded,
            *(f"{x.place} {x.message}" for x in proof.assumptions.findings),
        ]
    )
    others = sum(bool(link.collision) for link in (robot.base, *robot.links))
    if others < 2 and not any(pair.second.link < 0 for pair in clearance.pairs):
        return []  # there is nothing that a single shape could hit
    return [link.name for link in robot.links if link.collision and link.name not in named]


def _coal_pairs(clearance: Clearance) -> list[tuple[Part, Any, Part, Any]]:
    """All pairs, each shape beside what Coal makes of it."""
    made = {part: coal_shape(part.shape) for pair in clearance.pairs for part in (pair.first, pair.second)}
    return [(x.first, made[x.first], x.second, made[x.second]) for x in clearance.pairs]


class _Judge:
    """What is left of every limit at an instant, by Pinocchio and Coal."""

    def __init__(self, limits: MotionLimits, motion: LinearMotion, spread: Array | None) -> None:
        self.limits, self.motion, self.spread = limits, motion, spread
        robot = limits.robot
        self.every = robot.untied
        bodies = np.array([link.body.parameters for link in robot.links])  # type: ignore[union-attr]
        self.arm = PinocchioRobot.of(self.every, np.where(bodies[:, :1] > 0.0, bodies, 1e-12))
        self.tied = np.eye(robot.nv) if robot.ties is None else robot.ties.rates
        self.offset = np.zeros(len(self.tied)) if robot.ties is None else robot.ties.offset
        drives = [joint.drive for joint in self.every.joints]
        self.drive = np.array([[getattr(x, term) or 0.0 for term in DRIVE] for x in drives])
        self.driven = [joint for joint in robot.joints if joint.mimic is None]
        self.pairs = [] if limits.clearance is None else _coal_pairs(limits.clearance)
        self.request = coal.DistanceRequest()
        self.request.gjk_tolerance = self.request.epa_tolerance = 1e-9
        self.request.gjk_max_iterations = self.request.epa_max_iterations = 1000

    def worst(self, proof: Certificate) -> dict[str, float]:
        """By kind: the largest amount by which a proven margin exceeds what was found, less rounding, SI."""
        t = np.linspace(0.0, self.motion.duration, INSTANTS)
        t = np.sort(np.append(t, [0.5 * (m.start + m.end) for m in proof.margins]))
        seen = [self.margins(instant) for instant in t]
        worst: dict[str, float] = {}
        for kind in KINDS:
            own = [m for m in proof.margins if m.kind == kind]
            gaps = []
            for margin in own:
                series = np.array([x[kind, margin.name] for x in seen])
                gaps.append((float(series.min()) - margin.margin, margin, int(series.argmin())))
            for _, margin, k in sorted(gaps, key=lambda x: x[0])[:FOLLOWED]:
                found = self._downhill(margin.kind, margin.name, t, k)
                size = max(1.0, self.size(kind, margin.name))
                slack = ROUNDING * size + (2e-6 if kind == "clearance" else 0.0)
                worst[kind] = max(worst.get(kind, -np.inf), margin.margin - found - slack)
        return worst

    def size(self, kind: str, name: str) -> float:
        if kind == "clearance":
            return 1.0
        joint = next(x for x in self.every.joints if x.name == name)
        values = {"velocity": joint.limits.velocity, "acceleration": joint.limits.acceleration}
        return float(values.get(kind, joint.limits.effort if kind == "torque" else 1.0))

    def _downhill(self, kind: str, name: str, t: Array, k: int) -> float:
        low, high = t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)]

        def left(instant: float) -> float:
            return self.margins(float(instant), kind, name)[kind, name]

        at = left(t[k])
        if not high > low:
            return at
        found = minimize_scalar(left, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
        return min(at, float(found.fun))

    def margins(self, t: float, kind: str = "", name: str = "") -> dict[tuple[str, str], float]:
        """All margins at an instant, or those of one kind, of a clearance of one pair."""
        at = self.motion.sample(np.array([t]))
        q, v, a = (np.ravel(x) @ self.tied.T for x in (at.q, at.v, at.a))
        q = q + self.offset
        found: dict[tuple[str, str], float] = {}
        for k, joint in enumerate(self.every.joints):
            limits = joint.limits
            found["position", joint.name] = min(q[k] - limits.lower, limits.upper - q[k])
            found["velocity", joint.name] = limits.velocity - abs(v[k])
            found["acceleration", joint.name] = limits.acceleration - abs(a[k])
        if kind in ("", "torque"):
            tau = self._torque(q, v, a)
            for joint, effort in zip(self.driven, tau, strict=True):
                found["torque", joint.name] = joint.limits.effort - effort
        if kind in ("", "clearance") and self.pairs:
            found |= self._distances(q, name)
        return found

    def _torque(self, q: Array, v: Array, a: Array) -> Array:
        """Largest size of every driven torque over the box of parameters, friction of either sign at rest."""
        viscous, coulomb, offset, rotor = self.drive.T
        middle = self.arm.torques(q, v, a) + rotor * a + viscous * v + offset
        signed = coulomb * np.sign(v)
        if self.spread is None:
            return np.abs((middle + signed) @ self.tied)
        Y = self.tied.T @ self.arm.regressor(q, v, a)
        layout, nb = self.limits.layout, len(self.every.links)
        assert layout is not None
        around = np.abs(Y) @ self.spread[: 10 * nb]
        rates = np.stack([v, np.sign(v), np.ones_like(v), a], axis=1)
        per = self.spread[10 * nb :].reshape(len(layout.joints), -1)
        order = [DRIVE.index(term) for term in layout.drive]
        own = np.abs(rates[:, order]) * per
        return np.abs((middle + signed) @ self.tied) + around + np.abs(self.tied.T) @ own.sum(axis=1)

    def _distances(self, q: Array, only: str = "") -> dict[tuple[str, str], float]:
        model, data = self.arm.model, self.arm.data
        pin.forwardKinematics(model, data, self.arm.q(q))
        still = pin.SE3.Identity()

        def place(part: Part) -> Any:
            X = still if part.link < 0 else data.oMi[self.arm._ids[part.link]]
            return coal.Transform3s(X.rotation @ part.pose.rotation, X.act(part.pose.translation.copy()))

        found = {}
        assert self.limits.clearance is not None
        for pair, (first, a, second, b) in zip(self.limits.clearance.pairs, self.pairs, strict=True):
            if only and pair.name != only:
                continue
            d = coal.distance(a, place(first), b, place(second), self.request, coal.DistanceResult())
            found["clearance", pair.name] = float(d) - self.limits.distance
        return found


def judge(outcomes: list[dict[str, Any]]) -> Study:
    """No margin above the truth, and no shape that nothing names."""
    certified = [x for x in outcomes if x["end"] == "certified"]
    false = [x for x in certified if x["excess"] > 0.0]
    ends = Counter(x["end"] if x["end"] == "certified" else f"refused by {x['why']}" for x in outcomes)
    green = [x for x in certified if not x["amber"]]
    robots = {x["robot"] for x in certified}
    margins = sum(x["margins"] for x in certified)
    tried = {x["robot"] for x in outcomes}
    unnamed = sum(len(x["unnamed"]) for x in green)
    return Study(
        "Attacks on certificates",
        f"{len(outcomes)} motions of {len(tried)} descriptions, judged by Pinocchio, Coal and an optimiser "
        f"over time and parameters; {margins} margins of certificates are compared. How they end: "
        f"{', '.join(f'{n} {end}' for end, n in ends.most_common())}.",
        (
            Bound("certificates with a margin above the truth", len(false), 0),
            Bound("shapes that nothing names, in green certificates", unnamed, 0),
            Bound("motions", len(outcomes), 10_000, False),
            Bound("descriptions with a certified motion", len(robots), 30, False),
        ),
    )


ATTACK = Attack("certificates", "certified motions that break a limit", 10_000, case, judge)
