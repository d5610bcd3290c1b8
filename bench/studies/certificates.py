"""No certificate is ever false: designs over robots and scenes, each sampled at 10 kHz.

A thousand designs as `steelyard excite` makes them, by one local search each, and as many random motions,
which break limits more often. About a quarter of an hour on two idle cores.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import process_time

import numpy as np

from steelyard.enclosure import Tracking
from steelyard.errors import NoSolutionError
from steelyard.excitation import DesignProblem, SearchBudget, design, fourier_family, robot_columns
from steelyard.identifiable import Criterion
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError, Scene, certify, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import Motion, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Robot, Sphere
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("lbr_med7", "panda", "ur10e", "kinova_gen3", "crane_x7", "scara", "puma560", "one_link")
DESIGNS = 1000
RATE, PERIOD, HARMONICS = 10_000.0, 3.0, 3
CRITERIA = (Criterion.A, Criterion.COND)
DRIVE = ("viscous", "coulomb", "offset", "rotor")
# Shapes of this robot that touch at every position: how it is drawn, not how it moves.
TOUCHING = {"crane_x7": [("crane_x7_upper_arm_revolute_part_link", "crane_x7_shoulder_revolute_part_link")]}
WORKERS = 2
BATCH = 1000
"""Samples judged at a time."""


@dataclass(frozen=True)
class Outcome:
    """What became of one motion: whether it was certified, and how far the samples contradict the answer.

    Attributes:
        designed: whether it was designed, not drawn.
        found: whether there is a motion; a scene may leave none.
        certified: whether there is a certificate.
        broken: whether it was refused as broken.
        excess: largest amount by which a proven margin exceeds the sampled one, SI.
        sampled: smallest sampled margin; of a refusal, the one at its instant, SI.
        seconds: processor time of the answer, s.
        stretches: looked at for a certificate.
    """

    designed: bool
    found: bool
    certified: bool
    broken: bool
    excess: float
    sampled: float
    seconds: float
    stretches: int


def run() -> Study:
    """Certify every motion; sample what is certified, and look at the instant of what is not."""
    with ProcessPoolExecutor(WORKERS) as workers:
        outcomes = list(workers.map(judged, range(2 * DESIGNS), chunksize=8))
    parts = {
        "designs": [o for o in outcomes if o.designed],
        "random motions": [o for o in outcomes if not o.designed],
    }
    bounds = [bound for name, part in parts.items() for bound in _bounds(name, part)]
    return Study(
        "Certificates",
        f"Fourier motions of {PERIOD:g} s on {', '.join(ROBOTS)} among random tables, balls and posts. "
        + " ".join(_told(name, part) for name, part in parts.items()),
        tuple(bounds),
    )


def _bounds(name: str, outcomes: list[Outcome]) -> list[Bound]:
    certified = [o for o in outcomes if o.certified]
    refused = [o for o in outcomes if o.found and not o.certified]
    return [
        Bound(
            f"{name}: certificates that a sample at {RATE:g} Hz contradicts",
            sum(o.sampled < 0.0 for o in certified),
            0,
        ),
        Bound(
            f"{name}: certificates that prove a larger margin than is sampled",
            sum(o.excess > 1e-12 for o in certified),
            0,
        ),
        Bound(
            f"{name}: refusals for a limit that is kept",
            sum(o.broken and o.sampled > 1e-9 for o in refused),
            0,
        ),
        Bound(f"{name}: neither proven nor broken", sum(not o.broken for o in refused), 0),
    ]


def _told(name: str, outcomes: list[Outcome]) -> str:
    certified = [o for o in outcomes if o.certified]
    found = sum(o.found for o in outcomes)
    seconds = float(np.median([o.seconds for o in certified]))
    stretches = float(np.median([o.stretches for o in certified]))
    return (
        f"Of {len(outcomes)} {name}, {len(outcomes) - found} had no solution in their scene, "
        f"{len(certified)} were certified and {found - len(certified)} refused; in the median a "
        f"certificate took {1e3 * seconds:.0f} ms of processor time and {stretches:.0f} stretches."
    )


def judged(seed: int) -> Outcome:
    """One motion, designed or drawn from its seed."""
    rng = np.random.default_rng([20260117, seed // 2])
    robot = zoo_robot(ROBOTS[seed // 2 % len(ROBOTS)])
    limits, designed = _limits(rng, robot), bool(seed % 2)
    try:
        motion = _designed(rng, limits) if designed else _drawn(rng, robot)
    except NoSolutionError:
        return Outcome(designed, False, False, False, 0.0, np.inf, 0.0, 0)
    before = process_time()
    try:
        certificate = certify(limits, motion, tracking=Tracking.perfect(robot.nv))
    except NotCertifiedError as refusal:
        at = motion.sample([refusal.instant])
        smallest = limits.margins(at.q, at.v, at.a).smallest
        return Outcome(designed, True, False, refusal.broken, 0.0, smallest, process_time() - before, 0)
    seconds = process_time() - before
    least = _smallest(limits, motion)
    excess = max(
        proven - least[kind]
        for kind in least
        if np.isfinite(
            proven := min((m.margin for m in certificate.margins if m.kind == kind), default=np.inf)
        )
    )
    return Outcome(designed, True, True, False, excess, min(least.values()), seconds, certificate.stretches)


def _drawn(rng: np.random.Generator, robot: Robot) -> Motion:
    return random_fourier(robot, rng, period=PERIOD, fraction=float(rng.uniform(0.1, 1.0)))


def _designed(rng: np.random.Generator, limits: MotionLimits) -> Motion:
    """A design that presses against every limit, as designs do."""
    robot = limits.robot
    layout, base = robot_columns(robot, DRIVE)
    problem = DesignProblem(
        robot,
        fourier_family(robot, HARMONICS, PERIOD),
        layout,
        base,
        criterion=CRITERIA[int(rng.integers(len(CRITERIA)))],
        clearance=limits.clearance,
        distance=0.005,
        acceleration=True,
        parameters=layout.complete_nominal(),
    )
    return design(problem, SearchBudget(None, 1), rng, workers=1).motion


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


def _smallest(limits: MotionLimits, motion: Motion) -> dict[str, float]:
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
