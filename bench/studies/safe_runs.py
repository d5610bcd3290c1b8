"""Safe while learning: nothing is broken in closed-loop runs in which everything stated is true.

The judge sees the true states, which the loop does not: limits by comparison, contacts by MuJoCo's collision
detection, and every proof that was driven on by the check that is written apart from it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.errors import NoSolutionError
from steelyard.limits import MotionLimits, NotCertifiedError
from steelyard.safe_learning import (
    MuJoCoDriver,
    OnlineRun,
    Replanner,
    SafeLearningConfig,
    SyncWorker,
    run_online,
)
from steelyard.safe_learning.checker import check_plan
from studies.online_arms import FORMS, MOST_OBSTACLES, PATTERNS, SPREAD, TORQUE, World, drawn_world
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.driven_truth import Driven, contacts, limit_shares

RUNS = 200
CYCLE, VELOCITY_ERROR = 0.25e-3, 1e-3
PLANS, EVALUATIONS = 3, 250
DRAWS = 50
"""Worlds that are drawn for a run until one has a first plan."""
WORKERS = 2


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes:
        seed: of the run.
        form: of the law.
        pattern: of the sensors' errors.
        obstacles: how many.
        ending: how it ended.
        refusals: worlds in which no first plan was proven.
        plans: that were driven on.
        cycles: that were driven.
        used: largest share of each limit, of the tube, and of the proof's box that was used, dimensionless.
        distance: least distance, m.
        broken: what was violated.
        half_width: of the mass in the end, kg.
        seconds: processor time, s.
    """

    seed: int
    form: str
    pattern: str
    obstacles: int
    ending: str
    refusals: int
    plans: int
    cycles: int
    used: dict[str, float]
    distance: float
    broken: tuple[str, ...]
    half_width: float
    seconds: float


def run(count: int = RUNS) -> Study:
    """Drive every run."""
    outcomes = []
    with ProcessPoolExecutor(WORKERS) as workers:
        for outcome in workers.map(judged, range(count)):
            outcomes.append(outcome)
            if outcome.broken or len(outcomes) % 10 == 0:
                print(f"safe_runs {len(outcomes)}/{count} {', '.join(outcome.broken)}", flush=True)
    most = {name: max(o.used[name] for o in outcomes) for name in outcomes[0].used}
    broken = [o for o in outcomes if o.broken]
    return Study(
        "Safe while learning",
        f"{count} closed-loop runs of a Gen3 with gripper under the user guide's warning torques, at "
        f"{1e-3 / CYCLE:g} kHz, with up to {PLANS} plans each. Drawn in each: end effectors that can exist, "
        f"inside Table I or at its edge; an arm whose numbers are up to {100 * SPREAD:g} % off; a start; up "
        f"to {MOST_OBSTACLES} boxes, spheres, capsules, hulls and zonotopes. Torque readings are off by "
        f"{100 * TORQUE[0]:g} % and {TORQUE[1]:g} N·m, velocities by {VELOCITY_ERROR:g} rad/s: evenly, at "
        "either end, or always at one. Judged by the true states at every cycle, contact by MuJoCo. "
        f"{sum(o.refusals for o in outcomes)} further worlds were refused before the arm moved, for no first "
        "plan was proven in them.",
        (
            Bound("runs with a violation", len(broken), 0, note=", ".join(_kinds(broken))),
            Bound("largest share of a torque limit", most["torque"], 1.0),
            Bound("largest share of a velocity limit", most["velocity"], 1.0),
            Bound("largest share of a position range", most["position"], 1.0),
            Bound("largest share of the tube in r", most["r"], 1.0),
            Bound("largest share of the tube in e", most["e"], 1.0),
            Bound("largest share of the box that a law was proven for", most["box"], 1.0),
            Bound("least distance, mm", 1e3 * min(o.distance for o in outcomes), 0.0, atmost=False),
        ),
        {
            "plans driven": sum(o.plans for o in outcomes),
            "cycles": sum(o.cycles for o in outcomes),
            "endings": dict(Counter(o.ending for o in outcomes)),
            "worlds refused": sum(o.refusals for o in outcomes),
            "by law": {
                form: _summary([o for o in outcomes if o.form == form]) for form in sorted(set(FORMS))
            },
            "by pattern": {p: _summary([o for o in outcomes if o.pattern == p]) for p in PATTERNS},
            "violations": {o.seed: o.broken for o in broken},
            "processor seconds": round(sum(o.seconds for o in outcomes)),
        },
    )


def judged(seed: int) -> Outcome:
    """Drive and judge one run."""
    begin = time.process_time()
    _warm()
    form, pattern, obstacles = FORMS[seed % 5], PATTERNS[seed // 5 % 3], seed % (MOST_OBSTACLES + 1)
    for refusals in range(DRAWS):
        rng = np.random.default_rng([20261116, seed, refusals])
        world = drawn_world(
            rng,
            form=form,
            pattern=pattern,
            cycle=CYCLE,
            velocity_error=VELOCITY_ERROR,
            obstacles=obstacles,
        )
        try:
            link, done = driven(
                world, seed, Replanner.exciting(world.setting, budget=None, evaluations=EVALUATIONS)
            )
        except NoSolutionError:
            continue
        record = done.record
        used, distance, broken = violations(world, true_states(link, done), done)
        return Outcome(
            seed,
            form,
            pattern,
            obstacles,
            record.outcome,
            refusals,
            len({move.move.certificate.motion.motion for move in record.moves}),
            len(done.cycles.commands),
            used,
            distance,
            broken,
            float(record.box.spread[0]),
            time.process_time() - begin,
        )
    raise NoSolutionError(f"none of {DRAWS} worlds has a first plan.", place=f"seed {seed}")


def driven(
    world: World, seed: int, replanner: Replanner, plans: int = PLANS
) -> tuple[MuJoCoDriver, OnlineRun]:
    """Drive one run."""
    link, worker = world.link(), SyncWorker(replanner)
    start, seed = world.start, 1000 * seed
    return link, run_online(world.setting, link, worker, start, guard=worker, most_plans=plans, seed=seed)


def true_states(link: MuJoCoDriver, done: OnlineRun) -> Driven:
    """What the judges look at."""
    q, v, tau = link.truth
    return Driven(link.cycle, q, v, tau, done.cycles.q_ref, done.cycles.v_ref)


def violations(
    world: World, truth: Driven, done: OnlineRun
) -> tuple[dict[str, float], float, tuple[str, ...]]:
    """Shares of everything that was promised, the least distance, and what was broken."""
    setting = world.setting
    robot, tube = setting.arm.robot, setting.tube
    r, e = truth.tube_errors(tube.kr)
    used = {name: float(share.max()) for name, share in limit_shares(truth, robot).items()}
    used |= {"r": float(r.max() / tube.radius), "e": float(e.max() / tube.position)}
    used["box"] = max(_share_of_box(world, move.move.certificate) for move in done.record.moves)
    touching, distance = contacts(truth, robot, [(0.0, setting.scene)], setting.tool)
    broken = [name for name, share in used.items() if share > 1.0]
    broken += ["contact"] if touching.any() or distance < 0.0 else []
    broken += ["bounds"] if not all(_holds(known.box, world.ten) for known in done.record.knowledge) else []
    broken += ["alarm"] if done.record.alarm is not None else []
    broken += _unproven(setting, truth, done)
    return used, distance, tuple(broken)


def _share_of_box(world: World, certificate: Any) -> float:
    """How much of the box that a proof covers the truth uses."""
    off = np.abs(world.parameters - certificate.nominal)
    rho = certificate.half_widths
    return float(np.max(off[rho > 0.0] / rho[rho > 0.0])) if not (off[rho == 0.0] > 0.0).any() else np.inf


def _holds(box: Any, ten: np.ndarray) -> bool:
    return bool(((box.lower <= ten) & (ten <= box.upper)).all())


def _unproven(setting: SafeLearningConfig, truth: Driven, done: OnlineRun) -> list[str]:
    """What was driven on without a proof: cycles of no plan, other references, a proof that does not stand.

    Of each run one proof is checked again, another from run to run.
    """
    faults, covered, moves = [], np.zeros(len(truth.q), dtype=int), done.record.moves
    for driven_move in moves:
        rows = slice(driven_move.first, driven_move.first + driven_move.cycles)
        covered[rows] += 1
        motion = driven_move.move.motion
        moments = setting.cycle * (driven_move.offset + np.arange(driven_move.cycles))
        sample = motion.sample(np.minimum(moments, motion.duration))
        if np.abs(sample.q - truth.q_ref[rows]).max() > 1e-12:
            faults.append("another reference")
    if (covered != 1).any():
        faults.append("cycles without a plan")
    chosen = moves[len(truth.q) % len(moves)].move
    proof, known = chosen.certificate, setting.arm
    apart = setting.clearance
    limits = MotionLimits(known.robot, apart, known.layout, proof.nominal, distance=setting.distance)
    try:
        check_plan(proof, limits, chosen.motion)
    except NotCertifiedError as refusal:
        faults.append(f"a proof was not verified: {refusal}")
    return faults


@cache
def _warm() -> None:
    """Compile once in each process."""
    world = drawn_world(
        np.random.default_rng(0), form="clamped", pattern="even", cycle=1e-3, velocity_error=1e-3, obstacles=1
    )
    Replanner.exciting(world.setting, budget=None, evaluations=64).warm_up(world.start)


def _kinds(outcomes: list[Outcome]) -> list[str]:
    return sorted({kind for outcome in outcomes for kind in outcome.broken})


def _summary(outcomes: list[Outcome]) -> dict[str, Any]:
    if not outcomes:
        return {"runs": 0}
    return {
        "runs": len(outcomes),
        "violations": sum(bool(o.broken) for o in outcomes),
        "plans driven": sum(o.plans for o in outcomes),
        "largest shares": {name: round(max(o.used[name] for o in outcomes), 4) for name in outcomes[0].used},
        "least distance, mm": round(1e3 * min(o.distance for o in outcomes), 2),
        "half-width of the mass, kg, median": round(float(np.median([o.half_width for o in outcomes])), 3),
    }
