"""No certificate is ever false: designs over robots and scenes, each sampled at 10 kHz."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import process_time

import numpy as np

from steelyard.enclosure import Tracking
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError, Obstacle, Scene, certify, clearance_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Robot, Sphere
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("lbr_med7", "panda", "ur10e", "kinova_gen3", "crane_x7", "scara", "puma560", "one_link")
DESIGNS = 1000
RATE, PERIOD = 10_000.0, 4.0
DRIVE = ("viscous", "coulomb", "offset", "rotor")
# Shapes of this robot that touch at every position: how it is drawn, not how it moves.
TOUCHING = {"crane_x7": [("crane_x7_upper_arm_revolute_part_link", "crane_x7_shoulder_revolute_part_link")]}
WORKERS = 2
BATCH = 1000
"""Samples judged at a time."""


@dataclass(frozen=True)
class Outcome:
    """What became of one design: whether it was certified, and how far the samples contradict the answer.

    Attributes:
        certified: whether there is a certificate.
        broken: whether it was refused as broken.
        excess: largest amount by which a proven margin exceeds the sampled one, SI.
        sampled: smallest sampled margin; of a refusal, the one at its instant, SI.
        seconds: processor time of the answer, s.
        stretches: looked at for a certificate.
    """

    certified: bool
    broken: bool
    excess: float
    sampled: float
    seconds: float
    stretches: int


def run() -> Study:
    """Certify every design; sample what is certified, and look at the instant of what is not."""
    with ProcessPoolExecutor(WORKERS) as workers:
        outcomes = list(workers.map(judged, range(DESIGNS), chunksize=10))
    certified = [o for o in outcomes if o.certified]
    refused = [o for o in outcomes if not o.certified]
    false = sum(o.sampled < 0.0 for o in certified)
    beyond = sum(o.excess > 1e-12 for o in certified)
    wrongly = sum(o.broken and o.sampled > 1e-9 for o in refused)
    undecided = sum(not o.broken for o in refused)
    seconds = float(np.median([o.seconds for o in certified]))
    return Study(
        "Certificates of random designs",
        f"{DESIGNS} Fourier motions of {PERIOD:g} s on {', '.join(ROBOTS)} among random tables, balls and "
        f"posts: {len(certified)} certified, {len(refused)} refused. In the median a certificate took "
        f"{1e3 * seconds:.0f} ms of processor time and {np.median([o.stretches for o in certified]):.0f} "
        "stretches.",
        (
            Bound(f"certificates that a sample at {RATE:g} Hz contradicts", false, 0),
            Bound("certificates that prove a larger margin than is sampled", beyond, 0),
            Bound("refusals for a limit that is kept", wrongly, 0),
            Bound("designs that were neither proven nor broken", undecided, 0),
        ),
    )


def judged(seed: int) -> Outcome:
    """One design, drawn from its seed."""
    rng = np.random.default_rng([20260117, seed])
    robot = zoo_robot(ROBOTS[seed % len(ROBOTS)])
    limits = _limits(rng, robot)
    motion = random_fourier(robot, rng, period=PERIOD, fraction=float(rng.uniform(0.1, 1.0)))
    before = process_time()
    try:
        certificate = certify(limits, motion, tracking=Tracking.perfect(robot.nv))
    except NotCertifiedError as refusal:
        at = motion.sample([refusal.instant])
        smallest = limits.margins(at.q, at.v, at.a).smallest
        return Outcome(False, refusal.broken, 0.0, smallest, process_time() - before, 0)
    seconds = process_time() - before
    smallest = _smallest(limits, motion)
    excess = max(
        proven - smallest[kind]
        for kind in smallest
        if np.isfinite(
            proven := min((m.margin for m in certificate.margins if m.kind == kind), default=np.inf)
        )
    )
    return Outcome(True, False, excess, min(smallest.values()), seconds, certificate.stretches)


def _limits(rng: np.random.Generator, robot: Robot) -> MotionLimits:
    layout = layout_of(robot, DRIVE)
    still = np.zeros(3)
    scene = Scene(
        (
            Obstacle("table", Box(1.2, 1.2, 0.1), Pose.from_rpy(still, [0.0, 0.0, rng.uniform(-0.8, -0.1)])),
            Obstacle("ball", Sphere(rng.uniform(0.02, 0.2)), Pose.from_rpy(still, rng.uniform(-1, 1, 3))),
            Obstacle("post", Capsule(0.05, 0.6), Pose.from_rpy(rng.uniform(-3, 3, 3), rng.uniform(-1, 1, 3))),
        )
    )
    clearance = clearance_of(robot, scene, ignore=TOUCHING.get(robot.name, ()))
    return MotionLimits(robot, clearance, layout, layout.complete_nominal())


def _smallest(limits: MotionLimits, motion: FourierMotion) -> dict[str, float]:
    """The smallest sampled margin of every kind."""
    kinds = ("position", "velocity", "acceleration", "torque", "clearance")
    smallest = dict.fromkeys(kinds, np.inf)
    times = np.linspace(0.0, motion.duration, int(RATE * motion.duration) + 1)
    for first in range(0, len(times), BATCH):
        at = motion.sample(times[first : first + BATCH])
        margins = limits.margins(at.q, at.v, at.a)
        for kind in kinds:
            smallest[kind] = min(smallest[kind], float(getattr(margins, kind).min(initial=np.inf)))
    return smallest
