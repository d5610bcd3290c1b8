"""Random payloads on simulated arms with industrial sensors: how close mass, centre and moments come.

About ten minutes on two idle cores.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product

import numpy as np

from steelyard.control import ComputedTorque
from steelyard.excitation import (
    DesignProblem,
    SearchBudget,
    design,
    fourier_family,
    payload_columns,
)
from steelyard.identifiable import Criterion
from steelyard.identification import (
    completed_fit,
    identification_data,
    identification_fit,
    identification_problem,
)
from steelyard.inertia import Body, box
from steelyard.layout import layout_of
from steelyard.limits import clearance_of
from steelyard.motion import Motion, random_fourier
from steelyard.payloads import (
    QUANTITIES,
    ArmModel,
    DecidedBy,
    PayloadEstimate,
    described,
    errors_of,
    mounted_at,
    payload_of,
    quantities,
    weigh_by_residual,
    weigh_with_model,
)
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import prepared_alike
from steelyard.simulation import sensor_preset, simulate_motion
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("panda", "kinova_gen3")
PAYLOADS = 40
MASSES = (0.2, 4.0)
DENSITIES = (500.0, 3000.0)
SENSOR = "industrial"
ROUNDS = 8
HARMONICS, PERIOD = 5, 10.0
STIFFNESS, DAMPING = 2500.0, 100.0
BELIEVED = Body(2.0, np.array([0.0, 0.0, 0.05]), 0.005 * np.eye(3))
"""What the controller takes every payload for."""
WORKERS = 2
MOMENTS = [name.startswith("moment") for name in QUANTITIES]
HEAVIEST = Body(MASSES[1], np.array([0.04, 0.04, 0.1]), 0.01 * np.eye(3))
TORQUE_SHARE = 0.5
"""Share of the torque limits that the design may use with the heaviest payload; the rest is for control."""
RESIDUAL, KNOWN, IDENTIFIED = "empty run", "known robot", "identified robot"
WAYS = (RESIDUAL, KNOWN, IDENTIFIED)
IDENTIFICATION = 15.0
"""Length of the random motion that the robot is identified from, s."""
IDENTIFICATIONS = 1000
"""Seed of the first of these runs; those with a payload have lower ones."""

_DESCRIPTION = f"""Boxes of {MASSES[0]:g} to {MASSES[1]:g} kg and {DENSITIES[0]:g} to {DENSITIES[1]:g}
kg/m³, turned at random and held up to 5 cm off the tool's axis, on MuJoCo plants with `{SENSOR}` sensors. One
motion of {PERIOD:g} s, designed for the payload's ten numbers within all limits and {100 * TORQUE_SHARE:g} %
of the torques with 4 kg in the hand. The controller takes every payload for one of 2 kg, so that runs lag,
sag and rise. "{RESIDUAL}" takes the torque of one run without the payload off, "{KNOWN}" that of the true
robot, "{IDENTIFIED}" that of a robot estimated from a random motion of {IDENTIFICATION:g} s, another one for
each payload, whose covariance is in the interval. A moment counts as settled where the estimate says the data
decided it; the others are flagged, and their errors stand beside."""


@dataclass(frozen=True)
class Outcome:
    """One payload weighed in one way; errors in kg, m and as shares of the true moments."""

    robot: str
    seed: int
    way: str
    mass: float
    mass_error: float
    com_error: float
    moment_errors: tuple[float, ...]
    flagged: tuple[bool, ...]
    covered: float
    mass_covered: bool


def run(payloads: int = PAYLOADS) -> Study:
    """Weigh every payload on every arm in both ways."""
    with ProcessPoolExecutor(WORKERS) as workers:
        found = workers.map(weighed, *zip(*product(ROBOTS, range(payloads)), strict=True), chunksize=5)
        outcomes = [outcome for several in found for outcome in several]
    bounds = []
    for robot in ROBOTS:
        part = [o for o in outcomes if (o.robot, o.way) == (robot, IDENTIFIED)]
        share = 100.0 * float(np.mean([o.mass_covered for o in part]))
        bounds.append(
            Bound(f"{robot}, {IDENTIFIED}: 95 % interval holds the mass, percent", share, 90, False)
        )
    for robot, way in product(ROBOTS, (RESIDUAL, KNOWN)):
        part = [o for o in outcomes if (o.robot, o.way) == (robot, way)]
        relative = float(np.median([o.mass_error / o.mass for o in part]))
        name = f"{robot}, {way}"
        bounds.append(Bound(f"{name}: mass error, median, percent", 100.0 * relative, 0.5))
        bounds.append(
            Bound(f"{name}: com error, median, mm", 1e3 * float(np.median([o.com_error for o in part])), 2.0)
        )
        unflagged = [e for o in part for e, f in zip(o.moment_errors, o.flagged, strict=True) if not f]
        late = sum(e > 0.15 for e in unflagged)
        bounds.append(
            Bound(
                f"{name}: principal moments off by over 15 % and not flagged",
                late,
                0,
                note=f"{len(unflagged)} of {3 * len(part)} not flagged",
            )
        )
    return Study(
        "Payloads",
        f"{_DESCRIPTION}\n\n{_table(outcomes)}",
        tuple(bounds),
        {"payloads": [asdict(outcome) for outcome in outcomes]},
    )


def weighed(name: str, seed: int) -> tuple[Outcome, ...]:
    """One payload, all ways."""
    robot, motion, empty = _arm(name)
    body = drawn_payload(np.random.default_rng([20261116, seed]))
    loaded, bare = (found.recording for found in prepared_alike([_run(robot, motion, body, seed + 1), empty]))
    held, model = mounted_at(robot), described(robot)
    interval = 1e-3
    ways = {
        RESIDUAL: weigh_by_residual(
            robot, held, [loaded], [bare], description=_doubted(model), interval=interval
        ),
        KNOWN: weigh_with_model(model, held, [loaded], interval=interval),
        IDENTIFIED: weigh_with_model(_identified(name, seed), held, [loaded], interval=interval),
    }
    estimates = {way: payload_of(w, np.random.default_rng(seed)) for way, w in ways.items()}
    return tuple(_judged(name, seed, way, body, estimate) for way, estimate in estimates.items())


def drawn_payload(rng: np.random.Generator) -> Body:
    """A box somewhere in the hand."""
    mass, density = rng.uniform(*MASSES), rng.uniform(*DENSITIES)
    sides = rng.uniform(0.5, 1.5, 3)
    sides *= (mass / density / sides.prod()) ** (1.0 / 3.0)
    place = np.append(rng.uniform(-0.05, 0.05, 2), rng.uniform(0.02, 0.1))
    return box(sides, mass=mass).moved(Pose.from_rpy(rng.uniform(-np.pi, np.pi, 3), place))


def _doubted(model: ArmModel) -> ArmModel:
    """A description whose numbers are all ten percent off: residual torques hardly ask it."""
    return ArmModel(model.robot, model.layout, 0.9 * model.parameters, "a description ten percent off")


def _identified(name: str, seed: int) -> ArmModel:
    """As by `identify --method wls`, but without a prior, which here would be the truth, and unjudged.

    Each payload gets a robot identified anew: with one for all, all intervals would hold or none.
    """
    robot = zoo_robot(name)
    motion = random_fourier(robot, np.random.default_rng([20261118, seed]), period=IDENTIFICATION)
    log = _run(robot, motion, None, IDENTIFICATIONS + seed)
    layout = layout_of(robot, ("viscous", "coulomb", "offset", "rotor"))
    # All of the log is learnt from: what the model is good for is judged by what it weighs.
    posed = identification_problem(identification_data(robot, layout, [log], log))
    fit = completed_fit(identification_fit(posed, "wls")).estimate
    assert fit.covariance is not None
    errors = errors_of(fit.base.matrix, fit.values, fit.covariance)
    return ArmModel(robot, layout, fit.representative, "an identification", errors)


@cache
def _arm(name: str) -> tuple[Robot, Motion, Recording]:
    robot = zoo_robot(name)
    heavy = robot.with_body("heaviest", HEAVIEST)
    layout, base = payload_columns(heavy)
    problem = DesignProblem(
        heavy,
        fourier_family(heavy, HARMONICS, PERIOD),
        layout,
        base,
        criterion=Criterion.A,
        noise=sensor_preset(SENSOR).torque_noise * robot.limit_array("effort"),
        clearance=clearance_of(heavy),
        acceleration=True,
        parameters=layout.complete_nominal(),
        torque_share=TORQUE_SHARE,
    )
    motion = design(problem, SearchBudget(None, ROUNDS), np.random.default_rng(0), workers=1).motion
    return robot, motion, _run(robot, motion, None, 0)


def _run(robot: Robot, motion: Motion, body: Body | None, seed: int) -> Recording:
    held = robot if body is None else robot.with_body("payload", body)
    controller = ComputedTorque.nominal(robot.with_body("payload", BELIEVED), STIFFNESS, DAMPING)
    return simulate_motion(
        held, motion, controller=controller, sensor=SENSOR, rng=np.random.default_rng([7, seed])
    )


def _judged(robot: str, seed: int, way: str, body: Body, estimate: PayloadEstimate) -> Outcome:
    truth = quantities(body.parameters)
    found = estimate.values
    error = np.abs(found - truth)
    return Outcome(
        robot,
        seed,
        way,
        body.mass,
        float(error[0]),
        float(np.linalg.norm(found[1:4] - truth[1:4])),
        tuple((error[MOMENTS] / truth[MOMENTS]).tolist()),
        tuple(estimate.decided[n] is DecidedBy.PRIOR for n in QUANTITIES if n.startswith("moment")),
        float(np.mean((estimate.lower <= truth) & (truth <= estimate.upper))),
        bool(estimate.lower[0] <= truth[0] <= estimate.upper[0]),
    )


def _table(outcomes: list[Outcome]) -> str:
    heads = (
        "arm, way",
        "mass, %",
        "com, mm",
        "settled moments, %",
        "flagged moments, %",
        "flagged",
        "95 % cover",
    )
    rows = [heads, ("---",) * len(heads)]
    for robot, way in product(ROBOTS, WAYS):
        part = [o for o in outcomes if (o.robot, o.way) == (robot, way)]
        moments = {
            flag: 100.0
            * np.array(
                [e for o in part for e, f in zip(o.moment_errors, o.flagged, strict=True) if f == flag]
            )
            for flag in (False, True)
        }
        rows.append(
            (
                f"{robot}, {way}",
                _told(100.0 * np.array([o.mass_error / o.mass for o in part])),
                _told(1e3 * np.array([o.com_error for o in part])),
                _told(moments[False]),
                _told(moments[True]),
                f"{len(moments[True])} of {3 * len(part)}",
                f"{100.0 * np.mean([o.covered for o in part]):.0f} %",
            )
        )
    return "Medians, and in brackets the largest.\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _told(errors: np.ndarray) -> str:
    return f"{np.median(errors):.2g} ({errors.max():.2g})" if errors.size else "-"
