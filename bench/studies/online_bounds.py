"""Bounds after 7.5 s of certified motion against Theorem 13 on the same data, and what every cycle took."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paper_000.theorem13 import linear_bounds, log_cholesky_bounds
from steelyard.errors import NoSolutionError
from steelyard.safe_learning import (
    OnlineRun,
    ProcessWorker,
    Replanner,
    SafeLearningConfig,
    SyncWorker,
    run_online,
    violations_of,
)
from steelyard.safe_learning.planning.delay_bounds import tube_acceleration
from steelyard.uncertainty import bounded_rows
from studies.online_arms import World, drawn_world
from tables import Bound, Study

SEEDS = 20
PLANS = 4
CYCLE = 2.5e-4
VELOCITY = 5e-4
BUDGET = 0.3
DRAWS = 20
"""Worlds drawn for a seed until one has a first plan."""
Array = np.ndarray


@dataclass(frozen=True)
class Outcome:
    """One run.

    Attributes:
        refused: worlds whose start had no certified plan.
        outcome: how it ended.
        violations: promises that were broken.
        conditions: of each plan.
        half_width: ours, SI.
        ratio: half-widths of Theorem 13's linear form over ours.
        weighted: of the same with rows weighted by their errors, over ours.
        covered: whether the theorem's log-Cholesky form covers the truth.
        minimiser: where the minimiser exists that it asks for.
        plan: what plan and certificate took, each time, s.
        bounds: what bounds took, s.
        whole: both, s.
    """

    refused: int
    outcome: str
    violations: tuple[str, ...]
    conditions: tuple[float, ...]
    half_width: tuple[float, ...]
    ratio: tuple[float, ...]
    weighted: tuple[float, ...]
    covered: bool
    minimiser: str
    plan: tuple[float, ...]
    bounds: tuple[float, ...]
    whole: tuple[float, ...]


def run(seeds: int = SEEDS) -> Study:
    """Let every arm learn; one at a time, as its worker has a process of its own."""
    outcomes = [learned(seed) for seed in range(seeds)]
    ratio = np.array([o.ratio for o in outcomes])
    first = np.array([o.conditions[0] for o in outcomes])
    every = np.concatenate([o.conditions for o in outcomes])
    plan, whole = (np.concatenate([getattr(o, name) for o in outcomes]) for name in ("plan", "whole"))
    covered = sum(o.covered for o in outcomes)
    return Study(
        "Bounds in closed loop",
        f"{seeds} runs of a Gen3 with a drawn end-effector of Table I, drawn start pose, warning torques, "
        f"clamped law, {PLANS} plans or until the bounds settle, control at {1 / CYCLE:g} Hz, torques off by "
        f"2.5 % and 0.1 N·m, velocities by {VELOCITY:g} rad/s. Planning and bounds run in a process of their "
        f"own beside the robot. The log-Cholesky form of Theorem 13 covers the truth in {covered} of them; "
        f"the minimiser that it asks for exists in "
        f"{sum(o.minimiser != 'NOWHERE' for o in outcomes)}.",
        (
            Bound("promises broken", sum(len(o.violations) for o in outcomes), 0),
            Bound(
                "half-width of Theorem 13's linear form over ours: least of all ten",
                float(ratio.min()),
                1.0,
                atmost=False,
            ),
            Bound("the same, median of the mass", float(np.median(ratio[:, 0])), 1.0, atmost=False),
            Bound("cond of the first plans: median", float(np.median(first)), 25.0),
            Bound("cond of all plans: median", float(np.median(every)), 25.0),
            Bound("plan and certify: median, s", float(np.median(plan)), 0.3),
            Bound(
                "plan and certify: worst, s", float(plan.max()), 0.3, note="wall time, search stops at 0.3 s"
            ),
            Bound("one whole cycle of thinking: worst, s", float(whole.max()), 1.2),
        ),
        {"runs": [vars(o) for o in outcomes]},
    )


def learned(seed: int) -> Outcome:
    """Let one arm learn."""
    for draw in range(DRAWS):
        rng = np.random.default_rng([20261116, seed, draw])
        world = drawn_world(
            rng, form="clamped", pattern="edge", cycle=CYCLE, velocity_error=VELOCITY, obstacles=0
        )
        replanner = Replanner.exciting(world.setting, budget=BUDGET)
        replanner.warm_up(world.start)
        link, worker = world.link(), ProcessWorker(replanner)
        try:
            done = run_online(
                world.setting,
                link,
                worker,
                world.start,
                guard=SyncWorker(replanner),
                most_plans=PLANS,
                seed=seed,
            )
        except NoSolutionError:
            continue
        finally:
            worker.close()
        return judged(world, done, violations_of(done, link, world.ten), draw)
    raise NoSolutionError("no start has a first plan.", place=f"seed {seed}")


def judged(world: World, done: OnlineRun, violations: tuple[str, ...], refused: int) -> Outcome:
    """Compare the bounds of a run with the theorem on the same equations."""
    setting, record = world.setting, done.record
    options = {"lag": setting.cycle, "errors": setting.errors}
    every = [
        tube_acceleration(m.move.certificate, setting.arm.robot, plan=m.move.motion, **options)
        for m in record.moves
    ]
    most = np.max(every, axis=0)
    rows = _rows(setting, done, most)
    ours = record.box.spread
    plain, weighted = linear_bounds(rows), linear_bounds(rows, 1.0 / rows.error)
    published = log_cholesky_bounds(rows)
    answers = [known for known in record.knowledge[1:] if known.plan_seconds > 1e-3]
    return Outcome(
        refused,
        record.outcome,
        violations,
        tuple(m.move.condition for m in record.moves if m.offset == 0 and m.move.condition is not None),
        tuple(ours.tolist()),
        tuple((0.5 * (plain.upper - plain.lower) / ours).tolist()),
        tuple((0.5 * (weighted.upper - weighted.lower) / ours).tolist()),
        bool(((published.lower <= world.ten) & (world.ten <= published.upper)).all()),
        published.minimiser.name,
        tuple(known.plan_seconds for known in answers),
        tuple(known.bounds_seconds for known in answers),
        tuple(known.plan_seconds + known.bounds_seconds for known in answers),
    )


def _rows(setting: SafeLearningConfig, done: OnlineRun, acceleration: Array) -> Any:
    arm, errors = setting.arm, replace(setting.errors, acceleration=acceleration)
    model = (arm.robot, arm.layout, arm.parameters)
    return bounded_rows(*model, done.recording, arm.held, errors, setting.prior, window=setting.window)
