"""One method, one dumbbell, one repetition: identify where the method does, carry, judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paper_000.dumbbells import Dumbbell
from paper_000.identification import identification, true_arm
from paper_000.knowledge import Identified
from paper_000.methods import CYCLE, Method
from paper_000.scenes import EXPERIMENTS
from paper_000.tasks import clearance, holding, task
from paper_000.trial import Trial, run
from paper_000.verdict import Verdict, judged, unsafe
from steelyard.arrays import Array
from steelyard.motion import Motion, MotionSample

HOLD = 0.5
"""How long the dumbbell is held at its place before it is let go, s."""


@dataclass(frozen=True, eq=False)
class Carried:
    """A dumbbell carried by a method.

    Attributes:
        verdict: what became of it.
        trial: the run of the task.
        before: the run of the excitation under the method's own law, where it learns from it; else None.
        identified: what the identification found; None for methods without one.
    """

    verdict: Verdict
    trial: Trial
    before: Trial | None
    identified: Identified | None


def carried(method: Method, name: str, dumbbell: Dumbbell, seed: int) -> Carried:
    """Let a method carry a dumbbell to its place.

    Where its identification phase was unsafe already, that is the verdict.

    Args:
        method: which.
        name: of the experiment.
        dumbbell: which.
        seed: of the repetition.

    Returns:
        What happened.
    """
    experiment, robot = EXPERIMENTS[name], holding(true_arm(seed), dumbbell)
    around = clearance(experiment, dumbbell, robot)
    rng = np.random.default_rng([20261118, seed, ord(name), dumbbell.pounds])
    identified, before, memory, wrong = None, None, None, ""
    if method.excitation:
        phase = identification(method.excitation, name, dumbbell, seed)
        identified, wrong = phase.identified, phase.identified.unsafe
        if method.learns:
            before = run(robot, method.controller(), phase.reference, rng)
            memory = before.memory[-1]
            wrong, _ = unsafe(around, before.q, float(before.load.max()), before.lost)
    law = method.controller(identified)
    trial = run(robot, law, held_at_the_end(task(name, dumbbell).motion), rng, memory)
    verdict = judged(experiment, dumbbell, around, trial)
    if wrong:
        verdict = Verdict(
            f"while identifying, {wrong}",
            verdict.error,
            verdict.distance,
            verdict.turn,
            verdict.gap,
            verdict.load,
        )
    return Carried(verdict, trial, before, identified)


def held_at_the_end(motion: Motion) -> MotionSample:
    """A motion at every cycle, and its end for a while.

    Args:
        motion: from rest to rest.

    Returns:
        The reference.
    """
    at = motion.sample(np.arange(round(motion.duration / CYCLE) + 1) * CYCLE)
    n = round(HOLD / CYCLE)

    def longer(x: Array, last: Array) -> Array:
        return np.vstack([x, np.broadcast_to(last, (n, x.shape[1]))])

    still = np.zeros(at.q.shape[1])
    return MotionSample(longer(at.q, at.q[-1]), longer(at.v, still), longer(at.a, still))
