"""Plans of three seconds certified among twelve boxes, or refused: arm, box and tube of Zhang et al. (2025).

The proof is of torques, positions, velocities, obstacles and self-collision, for every state of a tube of
0.016 rad/s and every parameter of the box. Half of the plans are drawn; the other half is scaled until it all
but breaks a limit, where a search for a proof is longest.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import inertia_bounds
from steelyard.control import Tube
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import SplineMotion
from steelyard.motion.spline import bezier
from steelyard.pose import Pose
from steelyard.robot import Box
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.zoo import zoo_robot
from timing import Row

DRAWN, SCALED, BISECTIONS = 120, 30, 10
BOXES, PER_SCENE = 12, 10
DURATION, REACH = 3.0, 1.2
HOME = np.array([0.0, 0.26, np.pi, -2.2, 0.0, 0.96, np.pi / 2])
# Table I of Zhang et al. (2025): middle and half widths of the last link with all that it carries.
END_EFFECTOR = np.array([3.2, 0.0, 0.0, -0.55, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
HALF_WIDTHS = np.array([2.0, 0.4, 0.4, 0.45, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2])
REPEATS = 3


class Timed(NamedTuple):
    """One plan: whether it was certified, and the best time of the answer, s."""

    certified: bool
    seconds: float


def rows() -> list[Row]:
    """Median and worst of certificates and refusals."""
    rng = np.random.default_rng(0)
    timed: dict[str, list[Timed]] = {"drawn": [], "at a limit": []}
    _answer(_certifier(rng), _plan(np.zeros(7)))  # compiles
    for _ in range(DRAWN // PER_SCENE):
        certifier = _certifier(rng)
        for _ in range(PER_SCENE):
            timed["drawn"].append(_answer(certifier, _plan(rng.uniform(-REACH, REACH, 7) * rng.random())))
    for _ in range(SCALED):
        timed["at a limit"] += _approach(_certifier(rng), rng.uniform(-REACH, REACH, 7))
    found = []
    for which, every in timed.items():
        usual = 0.015 if which == "drawn" else None
        for what, certified in (("certificate", True), ("refusal", False)):
            seconds = [x.seconds for x in every if x.certified is certified]
            name = f"{what} of a 3 s plan, {which}, Gen3 among {BOXES} boxes"
            note = f"{len(seconds)} of {len(every)} plans, each the best of {REPEATS}"
            found += [
                Row(f"{name}: median", median(seconds), most_seconds=usual, note=note),
                Row(f"{name}: worst", max(seconds), most_seconds=0.05, note=note),
            ]
    return found


def _certifier(rng: np.random.Generator) -> PlanCertifier:
    """The setting of Zhang et al. (2025) among boxes around the arm, without those it touches at home."""
    robot = zoo_robot("kinova_gen3_2f85")
    layout = layout_of(robot, ("viscous", "coulomb", "rotor"))
    phi = layout.complete_nominal()
    rho = 0.05 * np.abs(phi)
    last = layout.of_link(robot.link_names[-1])
    phi[last], rho[last] = END_EFFECTOR, HALF_WIDTHS
    own = float(clearance_of(robot, Scene()).distances(HOME[None]).min())
    boxes: list[Obstacle] = []
    while len(boxes) < BOXES:
        angle, far, high = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 0.9), rng.uniform(0.0, 0.9)
        place = Pose(np.eye(3), (far * np.cos(angle), far * np.sin(angle), high))
        box = Obstacle(f"box {len(boxes)}", Box(*rng.uniform(0.05, 0.25, 3)), place)
        if clearance_of(robot, Scene((box,))).distances(HOME[None]).min() >= min(own, 0.03):
            boxes.append(box)
    limits = MotionLimits(robot, clearance_of(robot, Scene(tuple(boxes))), layout, phi)
    tube = Tube.of_radius(0.016, inertia_bounds(robot, layout, phi, rho).smallest, 5.0)
    return PlanCertifier(limits, rho, tube, RobustLaw("clamped", rest_velocity=0.02))


def _plan(by: Array) -> SplineMotion:
    joints = zoo_robot("kinova_gen3_2f85").joint_names
    return bezier(joints, DURATION, np.stack((HOME, HOME, HOME, *[HOME + by] * 3), axis=1))


def _approach(certifier: PlanCertifier, by: Array) -> list[Timed]:
    """Answers on the way to the longest plan in a direction that is certified."""
    low, high, found = 0.0, 2.0, []
    for _ in range(BISECTIONS):
        scale = 0.5 * (low + high)
        found.append(_answer(certifier, _plan(scale * by)))
        low, high = (scale, high) if found[-1].certified else (low, scale)
    return found[BISECTIONS // 2 :]


def _answer(certifier: PlanCertifier, plan: SplineMotion) -> Timed:
    best = np.inf
    for _ in range(REPEATS):
        before = perf_counter()
        try:
            certifier.certify(plan)
            certified = True
        except NotCertifiedError:
            certified = False
        best = min(best, perf_counter() - before)
    return Timed(certified, best)
