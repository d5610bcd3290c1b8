"""Guaranteed bounds on payloads: the truth is always inside, and broken assumptions raise an alarm.

Logs come from inverse dynamics along random motions, so that every error in them is known to keep its bound,
or to break it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from paper_000.theorem13 import LinearBounds, linear_bounds, log_cholesky_bounds
from steelyard.dynamics import inverse_dynamics
from steelyard.inertia import change_of_frame
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty import (
    ContradictionError,
    ErrorBounds,
    GuaranteedBounds,
    PayloadBox,
    bounded_rows,
    guaranteed_bounds,
)
from steelyard.uncertainty.momentum_windows import WINDOW
from steelyard.uncertainty.payload_polytope import BoundedRows
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("kinova_gen3", "panda")
PATTERNS = ("uniform", "bias", "adversarial", "alternating")
KEPT, BROKEN = 500, 200
BREAKS = ("noise", "model")
DRIVE = ("viscous", "coulomb", "offset", "rotor")
DURATION, RATE, FINER = 7.5, 1000.0, 4
HEAVIEST, EXTENT = 4.0, 0.3
TORQUE, MODEL, VELOCITY, POSITION = (0.025, 0.1), 0.05, 5e-4, 1e-5
OUTSIDE = 10.0
"""How far a broken parameter is off, in parts of its spread."""
WORKERS = 2
Array = np.ndarray


@dataclass(frozen=True)
class Case:
    """One run; `broken` says which assumption does not hold, if any."""

    seed: int
    broken: str = ""

    @property
    def robot(self) -> str:
        """Which robot."""
        return ROBOTS[self.seed % len(ROBOTS)]

    @property
    def pattern(self) -> str:
        """How errors follow each other."""
        return PATTERNS[self.seed // len(ROBOTS) % len(PATTERNS)]


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes:
        inside: whether the truth was inside after the first pass, and after the second among possible bodies.
        alarm: whether no payload was found to explain the data.
        explained: whether another solver finds a payload in the prior that does; None where it was not asked.
        used: largest share of its error that the truth needs in a row.
        theorem: half-widths of Theorem 13's linear form over those of the last pass.
        weighted: those of the same with rows weighted by their errors, over those of the first pass.
        half_width: of the last pass, SI.
        covered: whether Theorem 13 as it is published, in log-Cholesky coordinates, covers the truth.
        minimiser: where the minimiser that the theorem asks for exists.
    """

    case: Case
    inside: bool
    alarm: bool
    explained: bool | None
    used: float
    theorem: tuple[float, ...] = ()
    weighted: tuple[float, ...] = ()
    half_width: tuple[float, ...] = ()
    covered: bool | None = None
    minimiser: str = ""


@dataclass(frozen=True)
class Grip:
    """Where the payload is held."""

    link: str
    placement: Pose


@dataclass(frozen=True, eq=False)
class Weighing:
    """A robot with a payload, its log without errors, and the errors that are allowed."""

    robot: Robot
    layout: Layout
    parameters: Array
    ten: Array
    held: Grip
    log: Recording
    errors: ErrorBounds
    prior: PayloadBox

    def rows(self, log: Recording, prior: PayloadBox | None = None) -> BoundedRows:
        """The equations of a log, made with the robot's stated parameters."""
        phi = self.layout.complete_nominal()
        known = self.prior if prior is None else prior
        return bounded_rows(self.robot, self.layout, phi, log, self.held, self.errors, known)


def run() -> Study:
    """Weigh every payload."""
    kept = [Case(seed) for seed in range(KEPT)]
    broken = [Case(seed, kind) for kind in BREAKS for seed in range(BROKEN // len(BREAKS))]
    with ProcessPoolExecutor(WORKERS) as workers:
        outcomes = list(workers.map(judged, [*kept, *broken], chunksize=5))
    good = [o for o in outcomes if not o.case.broken]
    bad = [o for o in outcomes if o.case.broken]
    telling = [o for o in bad if not o.explained]
    theorem = np.array([o.theorem for o in good if o.theorem])
    return Study(
        "Guaranteed bounds on payloads",
        f"{KEPT} runs of {DURATION:g} s at {RATE:g} Hz on {' and '.join(ROBOTS)}, payloads of 0.2 to "
        f"{HEAVIEST:g} kg, robot parameters at random corners of ±{100 * MODEL:g} %, torques off by "
        f"{100 * TORQUE[0]:g} % and {TORQUE[1]:g} N·m, velocities by {VELOCITY:g} rad/s, positions by "
        f"{POSITION:g} rad: drawn evenly, of one sign, of the sign that moves least squares most, or of "
        f"alternating sign from window to window. Then {BROKEN} runs in which torque errors are twice what "
        f"is stated, or one parameter is {OUTSIDE:g} spreads off. A run can be caught when no payload of the "
        "prior explains it, which another solver decides. Theorem 13 as it is published, in log-Cholesky "
        f"coordinates at the point that a solver returns, covers the truth in {_count(good, _covered)} of "
        f"the {len(good)} runs; the minimiser that it asks for exists in "
        f"{sum(o.minimiser not in ('', 'NOWHERE') for o in good)} of them.",
        (
            Bound("runs with errors inside their bounds: the truth is outside", _count(good, _missed), 0),
            Bound("runs with errors inside their bounds: false alarms", _count(good, _alarmed), 0),
            Bound(
                "runs with a broken assumption that can be caught: caught, percent",
                100.0 * _count(telling, _alarmed) / max(len(telling), 1),
                90.0,
                atmost=False,
                note=f"{len(telling)} of {len(bad)} can be caught",
            ),
            Bound(
                "half-width of Theorem 13's linear form over ours: mass, median",
                float(np.median(theorem[:, 0])),
                1.8,
                atmost=False,
            ),
            Bound(
                "half-width of Theorem 13's linear form over ours: least of the first moments, median",
                float(np.median(theorem[:, 1:4].min(axis=1))),
                2.5,
                atmost=False,
            ),
        ),
        {
            "by pattern": {pattern: _summary(good, "pattern", pattern) for pattern in PATTERNS},
            "by robot": {robot: _summary(good, "robot", robot) for robot in ROBOTS},
            "broken": {kind: _broken_summary(bad, kind) for kind in BREAKS},
        },
    )


def judged(case: Case) -> Outcome:
    """Weigh one payload: with the prior, then again with what that left of it, among possible bodies."""
    rng = np.random.default_rng([20260119, case.seed, BREAKS.index(case.broken) + 1 if case.broken else 0])
    weighing = drawn(rng, case)
    log = with_errors(weighing, case.pattern, rng, 2.0 if case.broken == "noise" else 1.0)
    rows = weighing.rows(log)
    delta = weighing.parameters - weighing.layout.complete_nominal()
    used = np.abs(rows.target - rows.load @ weighing.ten - rows.robot @ delta) / rows.error
    explained = explains(rows, weighing.prior) if case.broken else None
    try:
        first = guaranteed_bounds(rows, weighing.prior)
        known = weighing.prior.narrowed(first.lower, first.upper)
        last = guaranteed_bounds(weighing.rows(log, known), known, possible=True)
    except ContradictionError:
        return Outcome(case, False, True, explained, float(used.max()))
    inside = first.contains(weighing.ten) and last.contains(weighing.ten)
    published = None if case.broken else log_cholesky_bounds(rows)
    covered = published and bool(
        ((published.lower <= weighing.ten) & (weighing.ten <= published.upper)).all()
    )
    return Outcome(
        case,
        inside,
        False,
        explained,
        float(used.max()),
        _ratio(linear_bounds(rows), last),
        _ratio(linear_bounds(rows, 1.0 / rows.error), first),
        tuple(last.half_width),
        covered,
        "" if published is None else published.minimiser.name,
    )


def drawn(rng: np.random.Generator, case: Case) -> Weighing:
    """A payload, a robot at a corner of its box, and a motion, from one seed."""
    robot = zoo_robot(case.robot)
    layout = layout_of(robot, DRIVE)
    nominal = layout.complete_nominal()
    phi = nominal + MODEL * np.abs(nominal) * rng.choice([-1.0, 1.0], nominal.shape)
    if case.broken == "model":
        k = rng.choice(np.flatnonzero(nominal != 0.0))
        phi[k] = nominal[k] * (1.0 + OUTSIDE * MODEL * rng.choice([-1.0, 1.0]))
    tool = robot.tool_frame
    held = Grip(robot.link_names[tool.link], tool.placement)
    ten = random_body(rng, mass=(0.2, HEAVIEST), size=0.1).parameters
    full = phi.copy()
    full[layout.of_link(held.link)] += change_of_frame(held.placement) @ ten
    time = np.linspace(0.0, DURATION, round(FINER * RATE * DURATION) + 1)
    s = random_fourier(robot, rng, period=DURATION).sample(time)
    smooth = layout_of(robot, [term for term in DRIVE if term != "coulomb"])
    steady = inverse_dynamics(robot, smooth, full[[layout.index(n) for n in smooth.names]], s.q, s.v, s.a)
    errors = ErrorBounds.stated(
        robot,
        layout,
        nominal,
        torque=TORQUE,
        model=MODEL,
        velocity=VELOCITY,
        position=POSITION,
        acceleration=1.01 * np.abs(s.a).max(axis=0),
        torque_rate=1.01 * np.abs(np.diff(steady, axis=0)).max(axis=0) / time[1],
    )
    at = slice(None, None, FINER)
    tau = inverse_dynamics(robot, layout, full, s.q[at], s.v[at], s.a[at])
    log = Recording(robot.joint_names, time[at], s.q[at], v=s.v[at], tau=tau)
    return Weighing(robot, layout, phi, ten, held, log, errors, PayloadBox.in_ball(HEAVIEST, EXTENT))


def with_errors(weighing: Weighing, pattern: str, rng: np.random.Generator, times: float = 1.0) -> Recording:
    """The log with errors as large as their bounds, those of the torque so many times as large."""
    log, e = weighing.log, weighing.errors
    v, tau = log.channels["v"], log.channels["tau"]
    shares = [_shares(weighing, pattern, rng) for _ in range(3)]
    return log.with_channels(
        q=log.q + e.position * shares[0],
        v=v + e.velocity * shares[1],
        tau=tau + times * (e.torque_relative * np.abs(tau) + e.torque_absolute) * shares[2],
    )


def _shares(weighing: Weighing, pattern: str, rng: np.random.Generator) -> Array:
    """Errors in parts of their bound, shape (N, nv)."""
    shape = weighing.log.q.shape
    if pattern == "uniform":
        return rng.uniform(-1.0, 1.0, shape)
    signs = rng.choice([-1.0, 1.0], shape[1])
    if pattern == "bias":
        return np.broadcast_to(signs, shape)
    window = (weighing.log.time / WINDOW + 1e-6).astype(int)
    if pattern == "alternating":
        return signs * np.where(window % 2, -1.0, 1.0)[:, None]
    A = weighing.rows(weighing.log).load
    pull = np.sign(rng.standard_normal(10) @ np.linalg.pinv(A)).reshape(-1, shape[1])
    return pull[np.minimum(window, len(pull) - 1)]


def explains(rows: BoundedRows, prior: PayloadBox) -> bool:
    """Whether another solver finds a payload of the prior that explains the data."""
    W = np.hstack([rows.load, rows.robot]) / rows.error[:, None]
    y = rows.target / rows.error
    box = [*zip(prior.lower, prior.upper, strict=True), *zip(-rows.spread, rows.spread, strict=True)]
    G = np.hstack([prior.conditions, np.zeros((len(prior.limits), rows.robot.shape[1]))])
    found = scipy.optimize.linprog(
        np.zeros(W.shape[1]),
        np.vstack([W, -W, G]),
        np.concatenate([1.0 + y, 1.0 - y, prior.limits]),
        bounds=box,
        method="highs-ipm",
    )
    return bool(found.status == 0)


def _ratio(linear: LinearBounds, hull: GuaranteedBounds) -> tuple[float, ...]:
    return tuple(0.5 * (linear.upper - linear.lower) / hull.half_width)


def _count(outcomes: list[Outcome], condition: Callable[[Outcome], bool]) -> int:
    return sum(condition(outcome) for outcome in outcomes)


def _missed(outcome: Outcome) -> bool:
    return not outcome.alarm and not outcome.inside


def _covered(outcome: Outcome) -> bool:
    return bool(outcome.covered)


def _alarmed(outcome: Outcome) -> bool:
    return outcome.alarm


def _summary(outcomes: list[Outcome], name: str, value: str) -> dict[str, Any]:
    mine = [o for o in outcomes if getattr(o.case, name) == value]
    quiet = [o for o in mine if not o.alarm]
    return {
        "runs": len(mine),
        "truth outside": _count(mine, _missed),
        "alarms": _count(mine, _alarmed),
        "largest share of its error that the truth needs in a row": max(o.used for o in mine),
        "half-widths, SI, median": _medians([o.half_width for o in quiet]),
        "covered by Theorem 13 as published": _count(mine, _covered),
        "Theorem 13 over the last pass, median": _medians([o.theorem for o in quiet]),
        "the same weighted, over the first pass, median": _medians([o.weighted for o in quiet]),
    }


def _medians(values: list[tuple[float, ...]]) -> list[float]:
    return [float(f"{x:.3g}") for x in np.median(values, axis=0)]


def _broken_summary(outcomes: list[Outcome], kind: str) -> dict[str, Any]:
    mine = [o for o in outcomes if o.case.broken == kind]
    unseen = [o for o in mine if not o.alarm]
    return {
        "runs": len(mine),
        "explained by some payload of the prior": sum(bool(o.explained) for o in mine),
        "alarms": _count(mine, _alarmed),
        "alarms although a payload that cannot exist explains": sum(
            o.alarm and bool(o.explained) for o in mine
        ),
        "without alarm, truth outside": _count(unseen, _missed),
        "alarms by pattern": dict(Counter(o.case.pattern for o in mine if o.alarm)),
    }
