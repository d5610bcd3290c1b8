"""What `steelyard online` does, step by step: prepare, drive, judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.cli.online_request import OnlineRequest, OnlineTask, task_of
from steelyard.cli.output import say
from steelyard.online import (
    GoalCost,
    InlineThinker,
    Mind,
    MuJoCoLink,
    OnlineRun,
    Onlooker,
    ProcessThinker,
    SensorErrors,
    WeightedCosts,
    published_bounds,
    run_online,
    violations_of,
)
from steelyard.uncertainty import Theorem13


@dataclass(frozen=True, eq=False)
class Learned:
    """What was asked, what happened, and what it broke.

    Attributes:
        request: as it was given.
        task: what it means.
        run: the run.
        violations: promises that were broken, in sentences.
        seconds: from the first cycle to the last answer, wall time, s.
        preparation: before that, s.
        theorem13: what paper 000's theorem says of the same log; None where something assumed is not so.
    """

    request: OnlineRequest
    task: OnlineTask
    run: OnlineRun
    violations: tuple[str, ...]
    seconds: float
    preparation: float
    theorem13: Theorem13 | None = None


def learn(
    request: OnlineRequest,
    *,
    real_time: bool = False,
    watched: Callable[[OnlineTask], Onlooker] | None = None,
) -> Learned:
    """Run the whole line.

    Args:
        request: what was asked.
        real_time: whether the simulated robot's clock is the wall's, and answers can be late.
        watched: makes who looks on, once the task is known.

    Returns:
        What happened.

    Raises:
        NoSolutionError: no first plan was proven, so the robot did not move.
    """
    begin = time.perf_counter()
    task = task_of(request)
    setting = task.setting
    for sentence in task.assumed:
        say(sentence)
    if task.goal is None:
        mind = Mind.exciting(setting, budget=request.budget)
    else:
        goal, excitation = GoalCost(task.goal), Mind.exciting(setting).cost
        mind = Mind(setting, WeightedCosts(((1.0, goal), (request.excite, excitation))), request.budget)
    say("Preparing: everything is compiled and tried once before the robot moves.")
    mind.warm_up(task.start)
    errors = setting.errors
    sensors = SensorErrors(
        float(errors.torque_relative[0]), errors.torque_absolute, errors.velocity, errors.position, "even"
    )
    rng = np.random.default_rng(request.seed)
    link = MuJoCoLink(
        task.true, task.start, cycle=request.cycle, errors=sensors, rng=rng, wall_clock=real_time
    )
    thinker = ProcessThinker(mind)
    guard = ProcessThinker(mind) if real_time else InlineThinker(mind)
    try:
        # After the processes have been made: a live view has threads, and a fork copies only one.
        onlooker = None if watched is None else watched(task)
        moving = time.perf_counter()
        run = run_online(
            setting,
            link,
            thinker,
            task.start,
            guard=guard,
            most_plans=request.plans,
            patience=0.0 if real_time else None,
            until_settled=task.goal is None,
            seed=request.seed,
            onlooker=onlooker,
        )
    finally:
        thinker.close()
        guard.close()
    seconds = time.perf_counter() - moving
    broken = violations_of(run, link, task.truth)
    return Learned(request, task, run, broken, seconds, moving - begin, published_bounds(run))
