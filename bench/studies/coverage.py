"""Coverage of 95 % intervals on simulated plants: industrial sensors cover, low-cost ones warn."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.signal

from steelyard.arrays import Array
from steelyard.estimation import fit_weighted
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.simulate import simulate
from steelyard.uncertainty import base_intervals, bias_findings
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("panda", "lbr_med7", "ur10e")
SEEDS = {"ideal": 1, "industrial": 200, "low-cost": 20}
DRIVE = ("viscous", "coulomb", "offset", "rotor")
CUTOFF, KEPT_EVERY, SETTLING = 25.0, 5, 300
WORKERS = 2


@dataclass(frozen=True)
class Case:
    """One run of one plant."""

    robot: str
    sensor: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """How many base parameters there are, how many intervals cover, the largest error, and bias found."""

    case: Case
    count: int
    covered: int
    error: float
    biased: bool


def run() -> Study:
    """Identify every plant; pool the intervals."""
    cases = [Case(r, s, k) for s, seeds in SEEDS.items() for r in ROBOTS for k in range(seeds)]
    with ProcessPoolExecutor(WORKERS) as workers:
        outcomes = list(workers.map(judged, cases, chunksize=4))
    ideal, industrial, cheap = ([o for o in outcomes if o.case.sensor == s] for s in SEEDS)
    silent = [o for o in cheap if not o.biased and o.covered < 0.93 * o.count]
    figures = [Bound("ideal: largest error of a base parameter, SI", max(o.error for o in ideal), 1e-6)]
    pooled = _coverage(industrial)
    figures += [
        Bound("industrial: 95 % intervals that cover, percent, at least", pooled, 93.0, atmost=False),
        Bound("industrial: 95 % intervals that cover, percent, at most", pooled, 97.0),
        Bound("low-cost: runs that do not cover and carry no bias finding", len(silent), 0),
    ]
    return Study(
        "Coverage of intervals",
        f"Each run of a random Fourier motion of 10 s on a MuJoCo plant ({', '.join(ROBOTS)}), identified by "
        f"weighted least squares. Positions pass a zero-phase filter of {CUTOFF:g} Hz and are derived twice; "
        "torques are not filtered, but centred on the interval for which the drive holds them. Offsets are "
        "left out of the count: the meter's own bias, drawn anew in each run, is part of them. Bias is asked "
        "of the references as instruments.",
        tuple(figures),
        {sensor: _by_robot(outcomes, sensor) for sensor in SEEDS},
    )


def judged(case: Case) -> Outcome:
    """Simulate and identify one case."""
    robot, rng = zoo_robot(case.robot), np.random.default_rng(case.seed)
    layout = layout_of(robot, DRIVE)
    motion = random_fourier(robot, rng)
    log = simulate(robot, motion, sensor=case.sensor, rng=rng, torque_limits=False)
    ideal = case.sensor == "ideal"
    recording, references = (log, None) if ideal else _prepared(log)
    problem = problem_of(robot, layout, [recording])
    truth = problem.base.matrix @ layout.complete_nominal()
    estimate = fit_weighted(problem, colour="white" if ideal else "autoregressive")
    asked = np.array(["offset" not in name for name in problem.base.names])
    covers = base_intervals(estimate).cover(truth)[asked]
    biased = references is not None and any(
        finding.code == "biased-motion" for finding in bias_findings(problem, *references)
    )
    error = float(np.abs(estimate.values - truth).max())
    return Outcome(case, int(asked.sum()), int(covers.sum()), error, biased)


def _prepared(log: Recording) -> tuple[Recording, tuple[Array, Array, Array]]:
    """Velocities and accelerations by a zero-phase filter; references by the same one."""
    step = float(np.diff(log.time).mean())
    sections = scipy.signal.butter(4, CUTOFF, fs=1.0 / step, output="sos")
    kept = slice(SETTLING, log.n - SETTLING, KEPT_EVERY)

    def smooth(x: Array) -> Array:
        return np.asarray(scipy.signal.sosfiltfilt(sections, x, axis=0))

    q = smooth(log.q)
    v = np.gradient(q, step, axis=0)
    a = np.gradient(v, step, axis=0)
    tau = np.array(log.channels["tau"])
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    recording = Recording(log.joints, log.time[kept], q[kept], v=v[kept], a=a[kept], tau=tau[kept])
    q_ref, v_ref, a_ref = (smooth(log.channels[name])[kept] for name in ("q_ref", "v_ref", "a_ref"))
    return recording, (q_ref, v_ref, a_ref)


def _coverage(outcomes: list[Outcome]) -> float:
    return 100.0 * sum(o.covered for o in outcomes) / sum(o.count for o in outcomes)


def _by_robot(outcomes: list[Outcome], sensor: str) -> dict[str, Any]:
    table = {}
    for robot in ROBOTS:
        mine = [o for o in outcomes if o.case.sensor == sensor and o.case.robot == robot]
        table[robot] = {
            "runs": len(mine),
            "covered, percent": round(_coverage(mine), 2),
            "largest error": max(o.error for o in mine),
            "runs with a bias finding": sum(o.biased for o in mine),
        }
    return table
