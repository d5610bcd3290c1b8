"""The identification phase: certified plans that show the load, random ones, or a Fourier series.

The robot starts where the dumbbell was lifted and moves among what stands there. Afterwards it is taken back
to where it started; that way is not simulated, and a law that learns keeps what it has learnt.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from paper_000.arm import drawn_arm
from paper_000.dumbbells import Dumbbell
from paper_000.fourier_phase import fourier_phase
from paper_000.knowledge import Phase
from paper_000.known_before import TORQUE_ERROR, error_bounds, identified, load_model, momentum_rows, prior
from paper_000.methods import CYCLE, KR, RADIUS
from paper_000.scenes import EXPERIMENTS, Experiment
from paper_000.tasks import clearance, holding
from paper_000.trial import VELOCITY_ERROR
from paper_000.verdict import unsafe
from steelyard.motion import MotionSample
from steelyard.robot import Robot
from steelyard.safe_learning import (
    MuJoCoDriver,
    Replanner,
    SafeLearningConfig,
    SensorErrors,
    SyncWorker,
    run_online,
)

PLANS = 4
"""Certified plans, 7.5 s in all where each is followed by the next (VI-D2)."""
EVALUATIONS = 300
"""Plans looked at in the search for each: a count, so that every machine finds the same."""


@cache
def true_arm(seed: int) -> Robot:
    """The arm of a repetition, the same with every dumbbell and every method.

    Args:
        seed: of the repetition.

    Returns:
        The arm with an empty gripper.
    """
    return drawn_arm(np.random.default_rng([20261116, seed]))


@lru_cache(maxsize=4)
def identification(excitation: str, name: str, dumbbell: Dumbbell, seed: int) -> Phase:
    """The phase before a task.

    Args:
        excitation: `optimised`, `random` or `fourier`.
        name: of the experiment.
        dumbbell: what is held.
        seed: of the repetition.

    Returns:
        The phase.
    """
    experiment, robot = EXPERIMENTS[name], holding(true_arm(seed), dumbbell)
    rng = np.random.default_rng([20261117, seed, ord(name), dumbbell.pounds, len(excitation)])
    if excitation == "fourier":
        return fourier_phase(experiment, dumbbell, robot, rng)
    return _certified_phase(experiment, dumbbell, robot, rng, seed, random=excitation == "random")


def _certified_phase(
    experiment: Experiment,
    dumbbell: Dumbbell,
    robot: Robot,
    rng: np.random.Generator,
    seed: int,
    *,
    random: bool,
) -> Phase:
    """Algorithm 2, with plans that are certified one by one."""
    setting = SafeLearningConfig.of(
        load_model(),
        prior(),
        error_bounds(),
        kr=KR,
        radius=RADIUS,
        scene=experiment.scene(dumbbell),
        tool=dumbbell.shapes,
        cycle=CYCLE,
    )
    worker = SyncWorker(Replanner.exciting(setting, budget=None, evaluations=EVALUATIONS, random=random))
    errors = SensorErrors(*TORQUE_ERROR, velocity=VELOCITY_ERROR)
    link = MuJoCoDriver(robot, experiment.start, cycle=CYCLE, errors=errors, rng=rng)
    done = run_online(
        setting, link, worker, experiment.start, guard=worker, most_plans=PLANS, seed=1000 * seed
    )
    q, _, tau = link.truth
    load = float((np.abs(tau) / robot.limit_array("effort")).max())
    wrong, _ = unsafe(clearance(experiment, dumbbell, robot), q, load)
    record, log = done.record, done.recording
    if not wrong and record.alarm is not None:
        wrong = record.alarm.sentence
    boxes = [(known.time, known.box) for known in record.knowledge]
    return Phase(
        identified(boxes, momentum_rows(log), wrong),
        MotionSample(*(log.channels[each] for each in ("q_ref", "v_ref", "a_ref"))),
    )
