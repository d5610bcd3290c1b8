"""Coverage of 95 % intervals on simulated plants: industrial sensors cover, low-cost ones warn.

Simulating is most of the work, so logs are kept in the user's cache, outcomes beside them for as long as the
code that they rest on stays the same: a study that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import steelyard
from steelyard.arrays import Array
from steelyard.estimation import with_full_set
from steelyard.estimation.linear import fit_weighted
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, problem_of
from steelyard.recording import Recording, read, write
from steelyard.robot import Robot
from steelyard.simulation import sensor_preset, simulate_motion
from steelyard.simulation.sensor import RobotSample
from steelyard.uncertainty import ACCURACY, LinkIntervals, base_intervals
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot
from studies.believable_simulated import believing, off_by
from tables import Bound, Study

ROBOTS = ("panda", "lbr_med7", "ur10e")
SEEDS = {"ideal": 1, "industrial": 200, "low-cost": 20}
DRIVE = ("viscous", "coulomb", "offset", "rotor")
NOT_NEGATIVE = ("viscous", "coulomb", "rotor")
ROUND_OFF = 1e-12
WORKERS = 2
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "steelyard" / "coverage"
ROOMS = ("consistency", "estimation", "identification", "problem", "signals", "uncertainty", "workflows")


@dataclass(frozen=True)
class Case:
    """One run of one plant."""

    sensor: str
    robot: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Offsets are counted, as those of the recording: the meter's bias is part of them. `covered_joint` counts
    with the joint's own offsets as the truth. The least eigenvalue of a pseudo-inertia is relative to its
    largest; errors are in SI units, the lag in s. `links` has, by who decided them, how many intervals of
    masses, centres of mass, inertias and drive terms there are, and how many of them cover.
    """

    case: Case
    count: int
    covered: int
    count_plain: int
    covered_plain: int
    covered_joint: int
    drifting: int
    error: float
    method: str
    findings: tuple[str, ...]
    least_eigenvalue: float
    least_friction: float
    lag: float
    lag_deviation: float
    links: dict[str, tuple[int, int]]

    @property
    def biased(self) -> bool:
        """Whether the user was told that intervals do not hold."""
        return "biased-motion" in self.findings

    @property
    def possible(self) -> bool:
        """Whether the returned links can exist."""
        return min(self.least_eigenvalue, self.least_friction) >= -ROUND_OFF


def run() -> Study:
    """Identify every plant; pool the intervals."""
    outcomes = _outcomes([Case(s, r, k) for s, n in SEEDS.items() for k in range(n) for r in ROBOTS])
    ideal, industrial, cheap = ([o for o in outcomes if o.case.sensor == s] for s in SEEDS)
    pooled, untold = _coverage(industrial), [o for o in cheap if not o.biased]
    full = _link_coverage(industrial)
    return Study(
        "Coverage of intervals",
        f"Each run: a random Fourier motion of 10 s on a MuJoCo plant ({', '.join(ROBOTS)}). Each is "
        "identified by `steelyard.identify` with linear drives, the motion that it is judged by being its "
        "own; only the log of `ideal` is used as it is, without preparation. Offsets are in the count. An "
        "offset is all that is constant in the torques of a recording, so its truth is the joint's own and "
        "the bias that the meter has in that run: no torque tells the two apart, and a model with both "
        "predicts what the meter will read. The tables by robot "
        "also have the figures without offsets and with the joint's own as the truth. The truth of "
        "`low-cost` includes its hidden Coulomb friction; its drives make up to 2 % more or less torque than "
        "their currents say, which is stated as the error of their torque constants (2 %/√3), since no log "
        "shows it. Numbers of links and joints are masses, centres of "
        f"mass, inertias about them and drive terms; the prior's links are off by {100 * ACCURACY:g} %, "
        "which is the accuracy that their intervals take it to have, and it says nothing of the drives.",
        (
            Bound("ideal: largest error of a base parameter, SI", max(o.error for o in ideal), 1e-6),
            Bound("industrial: intervals that cover, percent, at least", pooled, 93.0, atmost=False),
            Bound("industrial: intervals that cover, percent, at most", pooled, 97.0),
            Bound(
                "industrial: numbers of links and joints in their intervals, percent, at least",
                full,
                93,
                False,
            ),
            Bound("industrial: numbers of links and joints in their intervals, percent, at most", full, 99.0),
            Bound(
                "low-cost: intervals that cover in runs without a bias finding, percent",
                _coverage(untold) if untold else 100.0,
                93.0,
                atmost=False,
                note=f"{len(untold)} of {len(cheap)} runs have none",
            ),
            Bound("returned models that cannot exist", sum(not o.possible for o in outcomes), 0),
        ),
        {sensor: {robot: _summary(outcomes, sensor, robot) for robot in ROBOTS} for sensor in SEEDS},
    )


def judged(case: Case) -> Outcome:
    """Simulate and identify one case."""
    robot = zoo_robot(case.robot)
    layout = layout_of(robot, DRIVE)
    log, specimen = _log(case, robot)
    # The prior states every link with the accuracy that intervals of links take it to have.
    believed = off_by(np.random.default_rng([case.seed, 1]), layout, ACCURACY)
    fit = None if case.sensor == "ideal" else _identified(robot, log, believed, case.sensor)
    estimate = _exact(robot, layout, log) if fit is None else fit.estimate
    phi = layout_of(specimen.robot, DRIVE).complete_nominal()
    joint = estimate.base.matrix @ phi
    offsets = layout.drive_columns[:, DRIVE.index("offset")]
    phi[offsets] += specimen.bias
    truth = estimate.base.matrix @ phi
    intervals = base_intervals(estimate, systematic=True)
    covers = intervals.cover(truth).astype(bool)
    plain = np.array(["offset" not in name for name in estimate.base.names])
    noticed = estimate.findings if fit is None else (*fit.findings, *estimate.findings)
    drift = np.array(estimate.detail.get("friction_drift", []))
    eigenvalue, friction = _margins(layout, estimate)
    return Outcome(
        case,
        count=len(covers),
        covered=int(covers.sum()),
        count_plain=int(plain.sum()),
        covered_plain=int(covers[plain].sum()),
        covered_joint=int(intervals.cover(joint).sum()),
        drifting=int((drift > 0.0).any(axis=-1).sum()),
        error=float(np.abs(estimate.values - truth).max()),
        method=estimate.method,
        findings=tuple(finding.code for finding in noticed),
        least_eigenvalue=eigenvalue,
        least_friction=friction,
        lag=0.0 if fit is None else _lag(fit),
        lag_deviation=float(estimate.detail.get("torque_lag_deviation", 0.0)),
        links={} if fit is None or fit.intervals is None else _links(fit.intervals, phi),
    )


def _identified(robot: Robot, log: Recording, believed: Array, sensor: str) -> Identification:
    """By `identify`, from all of the log: it is the intervals that are judged, not the torques held out.

    What the data sheet says of the torque constants is told: no log shows that all torques are 2 % off.
    """
    error = sensor_preset(sensor).gain_error / np.sqrt(3.0)
    return identify(
        robot,
        log,
        holdout=log,
        prior=believing(robot, believed),
        drive=DRIVE,
        torque_constant_error=(error,) if error > 0.0 else None,
    )


def _exact(robot: Robot, layout: Layout, log: Recording) -> Estimate:
    """From a log that is the truth, and needs no preparation."""
    problem = problem_of(robot, layout, [log])
    estimate = fit_weighted(problem, colour="white")
    return with_full_set(problem, estimate) if estimate.parameters is None else estimate


def _lag(fit: Identification) -> float:
    """By how much torques were moved, s."""
    steps = [step for log in fit.question.train for step in log.provenance if step.action == "without_delay"]
    return float(str(steps[-1].detail["delay"])) if steps else 0.0


def _links(found: LinkIntervals, truth: Array) -> dict[str, tuple[int, int]]:
    """By who decided them, how many numbers that `identify` shows there are, and how many intervals hold."""
    layout = found.layout
    bodies = [Body.from_parameters(truth[k : k + 10]) for k in range(0, 10 * len(layout.links), 10)]
    com = np.array([body.com for body in bodies])
    i, j = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
    inertia = np.array([body.inertia[i, j] for body in bodies])
    alone = [*range(0, 10 * len(bodies), 10), *range(10 * len(bodies), layout.size)]
    ends = np.concatenate(
        [found.ends[alone], found.com_ends.reshape(-1, 2), found.inertia_ends.reshape(-1, 2)]
    )
    values = np.concatenate([truth[alone], com.ravel(), inertia.ravel()])
    decided = [found.decided_by[k] for k in alone]
    decided += [word for row in (*found.com_decided_by, *found.inertia_decided_by) for word in row]
    held = (ends[:, 0] <= values) & (values <= ends[:, 1])
    return {
        who: (decided.count(who), int(sum(h for h, by in zip(held, decided, strict=True) if by == who)))
        for who in sorted(set(decided))
    }


def _log(case: Case, robot: Robot) -> tuple[Recording, RobotSample]:
    """The log of a case, simulated or as kept, and what was drawn for its run."""
    rng = np.random.default_rng(case.seed)
    motion = random_fourier(robot, rng)
    # What `simulate` will draw first; a copy, so that it draws the same.
    specimen = sensor_preset(case.sensor).drawn(robot, deepcopy(rng))
    path = CACHE / f"{case.sensor}-{case.robot}-{case.seed}.npz"
    if path.exists():
        log = read(path)
        if np.allclose(log.channels["q_ref"], motion.sample(log.time).q, rtol=0.0, atol=1e-9):
            return log, specimen
    log = simulate_motion(robot, motion, sensor=case.sensor, rng=rng)
    CACHE.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"part-{path.name}")
    write(log, part)
    part.replace(path)
    return log, specimen


def _margins(layout: Layout, estimate: Estimate) -> tuple[float, float]:
    """The least eigenvalue of a link's pseudo-inertia over its largest, and the least friction or rotor."""
    phi = estimate.parameters
    assert phi is not None
    ratios = []
    for link in layout.links:
        m, x, y, z, xx, xy, yy, xz, yz, zz = phi[layout.of_link(link)]
        tensor, first = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.array([x, y, z])
        second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        values = np.linalg.eigvalsh(np.block([[second, first[:, None]], [first[None], np.array([[m]])]]))
        ratios.append(values[0] / max(abs(values[-1]), np.finfo(float).tiny))
    signed = [phi[k] for k, name in enumerate(layout.names) if name.split(".")[-1] in NOT_NEGATIVE]
    return float(min(ratios)), float(min(signed))


def _outcomes(cases: list[Case]) -> list[Outcome]:
    """Judge what was not judged yet; each outcome is written down as soon as it is there."""
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / f"outcomes-{_fingerprint()}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {outcome.case: outcome for outcome in map(_restored, lines)}
    missing = [case for case in cases if case not in done]
    with ProcessPoolExecutor(WORKERS) as workers, path.open("a") as journal:
        for outcome in workers.map(judged, missing):
            journal.write(json.dumps(asdict(outcome)) + "\n")
            journal.flush()
            done[outcome.case] = outcome
    return [done[case] for case in cases]


def _restored(line: str) -> Outcome:
    fields = json.loads(line)
    return Outcome(
        **{
            **fields,
            "case": Case(**fields["case"]),
            "findings": tuple(fields["findings"]),
            "links": {who: tuple(pair) for who, pair in fields["links"].items()},
        }
    )


def _fingerprint() -> str:
    """A digest of the code that outcomes rest on, given the logs."""
    package = Path(steelyard.__file__).parent
    files = [Path(__file__), *(file for room in ROOMS for file in sorted((package / room).glob("*.py")))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _coverage(outcomes: list[Outcome]) -> float:
    return 100.0 * sum(o.covered for o in outcomes) / sum(o.count for o in outcomes)


def _link_coverage(outcomes: list[Outcome]) -> float:
    pairs = [pair for o in outcomes for pair in o.links.values()]
    return 100.0 * sum(held for _, held in pairs) / max(1, sum(count for count, _ in pairs))


def _by_who(outcomes: list[Outcome]) -> dict[str, str]:
    """By who decided them, the share of numbers of links and joints in their intervals."""
    found = {}
    for who in sorted({who for o in outcomes for who in o.links}):
        pairs = [o.links[who] for o in outcomes if who in o.links]
        count = sum(n for n, _ in pairs)
        found[who] = f"{100 * sum(held for _, held in pairs) / count:.1f} % of {count}"
    return found


def _summary(outcomes: list[Outcome], sensor: str, robot: str) -> dict[str, Any]:
    mine = [o for o in outcomes if (o.case.sensor, o.case.robot) == (sensor, robot)]
    shares = np.array([100.0 * o.covered / o.count for o in mine])
    return {
        "runs": len(mine),
        "base parameters": mine[0].count,
        "covered, percent": round(_coverage(mine), 2),
        "standard error over runs": round(float(shares.std(ddof=1) / np.sqrt(len(mine))), 2)
        if mine[1:]
        else None,
        "covered without offsets, percent": round(
            100.0 * sum(o.covered_plain for o in mine) / sum(o.count_plain for o in mine), 2
        ),
        "covered with the joint's own offsets as the truth, percent": round(
            100.0 * sum(o.covered_joint for o in mine) / sum(o.count for o in mine), 2
        ),
        "numbers of links and joints in their intervals, by who decided them": _by_who(mine),
        "joints whose friction is found to drift, per run": round(
            sum(o.drifting for o in mine) / len(mine), 3
        ),
        "largest error": max(o.error for o in mine),
        "mean lag of the torque, ms": round(1e3 * float(np.mean([o.lag for o in mine])), 3),
        "deviation of the lag, ms": round(1e3 * float(np.mean([o.lag_deviation for o in mine])), 3),
        "least eigenvalue of a pseudo-inertia over its largest": min(o.least_eigenvalue for o in mine),
        "methods": dict(Counter(o.method for o in mine)),
        "findings, runs": dict(Counter(code for o in mine for code in set(o.findings))),
    }
