"""Faults while learning: each ends in a proven stop or an announced broken assumption, never in silence.

The judge sees the true states. A violation is silent when nothing has been announced until `SOON` after it.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.errors import NoSolutionError
from steelyard.finding import Severity
from steelyard.safe_learning import DONE, OnlineRun, Replanner, run_online
from studies.online_arms import FORMS, PATTERNS, drawn_world
from studies.online_faults import FAULTS, Rig, Trial
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.driven_truth import Driven, contacts, limit_shares

RUNS = 20
"""Runs of each fault."""
CYCLE, VELOCITY_ERROR = 1e-3, 5e-4
PLANS, EVALUATIONS, MOST_OBSTACLES = 3, 200, 3
SOON = 0.1
"""How long after a violation an announcement is still one, s."""
DRAWS = 50
"""Worlds that are drawn for a run until one has a first plan."""
WORKERS = 2
LATER = ("contradiction", "scene")
"""Alarms that the loop times itself; after all others, which a reading shows, nothing is driven."""
ENDINGS = ("silent", "crashed", "announced", "misled", "stopped", "harmless")


@dataclass(frozen=True)
class Case:
    """One run with a fault."""

    fault: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What became of it.

    Attributes:
        ending: one of `ENDINGS`.
        delay: from the fault to its announcement, s; None where there was none.
        broken: what was violated.
        said: what was announced, or what the loop died of.
    """

    ending: str
    delay: float | None
    broken: tuple[str, ...]
    said: str


def run(count: int = RUNS) -> Study:
    """Drive every fault."""
    table: dict[str, dict[str, Any]] = {}
    found: list[tuple[Case, Outcome]] = []
    with ProcessPoolExecutor(WORKERS) as workers:
        for fault in FAULTS:
            cases = [Case(fault, seed) for seed in range(count)]
            outcomes = list(workers.map(judged, cases))
            found += zip(cases, outcomes, strict=True)
            table[fault] = _row(outcomes)
            print(f"safe_faults {fault}: {table[fault]}", flush=True)
    bad = {end: [(c.fault, c.seed, o.broken, o.said) for c, o in found if o.ending == end] for end in ENDINGS}
    return Study(
        "Faults while learning",
        f"{count} runs of each fault at random times, on a Gen3 with gripper at {1e-3 / CYCLE:g} kHz, in "
        "worlds as those of the study of safe runs. Judged by the true states: a broken limit, a contact or "
        f"a tube that is left is silent when nothing was announced until {SOON:g} s after it; the tube "
        "counts as left where readings cannot hide it. Stopped is a proven stop; misled is a run whose last "
        "bounds do not hold the load, with nothing announced and nothing broken.\n\n" + _table(table),
        (
            Bound("runs with a silent violation", len(bad["silent"]), 0),
            Bound("runs in which the loop died", len(bad["crashed"]), 0),
        ),
        {"faults": table} | {end: bad[end] for end in ("silent", "crashed", "misled")},
    )


def judged(case: Case) -> Outcome:
    """Drive and judge one run."""
    _warm()
    for draw in range(DRAWS):
        rng = np.random.default_rng([20261117, list(FAULTS).index(case.fault), case.seed, draw])
        world = drawn_world(
            rng,
            form=FORMS[case.seed % 5],
            pattern=PATTERNS[case.seed % 3],
            cycle=CYCLE,
            velocity_error=VELOCITY_ERROR,
            obstacles=int(rng.integers(MOST_OBSTACLES + 1)),
        )
        replanner = Replanner.exciting(world.setting, budget=None, evaluations=EVALUATIONS)
        found = faulty_run(case.fault, Trial(world, replanner, rng), PLANS, 1000 * case.seed)
        if found is not None:
            return found
    raise NoSolutionError(f"none of {DRAWS} worlds has a first plan.", place=f"{case}")


def faulty_run(fault: str, trial: Trial, plans: int, seed: int) -> Outcome | None:
    """Drive and judge a run; None where no first plan was proven."""
    rig = FAULTS[fault](trial)
    try:
        return judge(trial, rig, driven(trial, rig, plans, seed))
    except NoSolutionError:
        return None
    except Exception as error:  # whatever the loop dies of is the finding
        return Outcome("crashed", None, (), f"{type(error).__name__}: {error}")
    finally:
        rig.worker.close()


def driven(trial: Trial, rig: Rig, plans: int, seed: int) -> OnlineRun:
    """Drive a run."""
    return run_online(
        trial.world.setting,
        rig.link,
        rig.worker,
        trial.world.start,
        guard=rig.guard,
        most_plans=plans,
        patience=rig.patience,
        seed=seed,
        scene_source=rig.scene_source,
    )


def judge(trial: Trial, rig: Rig, done: OnlineRun) -> Outcome:
    """Compare what was announced with what happened."""
    first = first_violations(trial, rig, done)
    record, announced = done.record, announcement(done)
    warned = [event for event in record.events if event.severity is not Severity.INFO]
    if announced > min(first.values(), default=np.inf) + SOON:
        ending = "silent"
    elif record.alarm is not None:
        ending = "announced"
    elif not ((record.box.lower <= rig.ten) & (rig.ten <= record.box.upper)).all():
        ending = "misled"
    else:
        # A run that ends as it should is stopped once.
        ending = "harmless" if record.outcome == DONE and _stops(done) == 1 else "stopped"
    delay = announced - rig.when if ending == "announced" else None
    said = record.alarm.sentence if record.alarm is not None else "; ".join(x.sentence for x in warned)
    return Outcome(ending, delay, tuple(sorted(first)), said)


def _stops(done: OnlineRun) -> int:
    return sum(move.stopped for move in done.record.moves)


def announcement(done: OnlineRun) -> float:
    """When a broken assumption was announced, by the count of cycles, s; never where none was."""
    record = done.record
    if record.alarm is None:
        return float(np.inf)
    if record.alarm.kind in LATER:
        return record.alarm.time
    return record.setting.cycle * len(done.cycles.commands)


def first_violations(trial: Trial, rig: Rig, done: OnlineRun) -> dict[str, float]:
    """When each promise was first broken, s."""
    log, setting = done.cycles, trial.world.setting
    q, v, _ = rig.plant.truth
    # What a motor is asked for counts, not what pushes the arm.
    truth = Driven(setting.cycle, q, v, log.commands, log.q_ref, log.v_ref)
    r, e = truth.tube_errors(setting.tube.kr)
    dq, dv = (float(np.linalg.norm(x)) for x in (setting.errors.position, setting.errors.velocity))
    hidden = 2.0 * (dv + setting.tube.kr * dq)
    over = {name: share > 1.0 for name, share in limit_shares(truth, setting.arm.robot).items()}
    over["tube"] = (r > setting.tube.radius + hidden) | (e > setting.tube.position + 2.0 * dq)
    over["contact"], _ = contacts(truth, setting.arm.robot, rig.scenes, setting.tool)
    return {name: float(truth.time[np.argmax(row)]) for name, row in over.items() if row.any()}


@cache
def _warm() -> None:
    """Compile once in each process."""
    world = drawn_world(
        np.random.default_rng(0),
        form="clamped",
        pattern="even",
        cycle=CYCLE,
        velocity_error=1e-3,
        obstacles=1,
    )
    Replanner.exciting(world.setting, budget=None, evaluations=64).warm_up(world.start)


def _row(outcomes: list[Outcome]) -> dict[str, Any]:
    delays = [o.delay for o in outcomes if o.delay is not None]
    return {
        "runs": len(outcomes),
        **{ending: sum(o.ending == ending for o in outcomes) for ending in ENDINGS},
        "violations announced in time": sum(bool(o.broken) and o.ending == "announced" for o in outcomes),
        "delay, s, median": round(float(np.median(delays)), 4) if delays else None,
        "delay, s, worst": round(max(delays), 4) if delays else None,
    }


def _table(rows: dict[str, dict[str, Any]]) -> str:
    names = list(next(iter(rows.values())))
    lines = [["fault", *names], ["---"] * (1 + len(names))]
    lines += [[fault, *("" if x is None else str(x) for x in row.values())] for fault, row in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
