"""The excitation of `grav-pid-excit`: a Fourier series that keeps limits of the joints, and no others."""

from __future__ import annotations

import numpy as np

from paper_000.arm import arm
from paper_000.dumbbells import Dumbbell
from paper_000.knowledge import Phase
from paper_000.known_before import TORQUE_ERROR, identified, momentum_rows, prior
from paper_000.methods import CYCLE, METHODS
from paper_000.scenes import Experiment
from paper_000.tasks import clearance
from paper_000.trial import VELOCITY_ERROR, run
from paper_000.verdict import unsafe
from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty import ContradictionError, guaranteed_bounds

PERIOD, DRAWS = 10.0, 40
"""Of the series, s; series that are drawn, of which the best conditioned is driven."""


def fourier_phase(
    experiment: Experiment, dumbbell: Dumbbell, robot: Robot, rng: np.random.Generator
) -> Phase:
    """Follow a series under PID with the weight of an empty gripper, and bound what the log says.

    Args:
        experiment: where.
        dumbbell: what is held.
        robot: the true arm that holds it.
        rng: source of the series and of all errors.

    Returns:
        The phase.
    """
    motion = _best_conditioned(experiment.start, rng)
    reference = motion.sample(np.arange(round(motion.duration / CYCLE) + 1) * CYCLE)
    trial = run(robot, METHODS["grav-pid"].controller(), reference, rng)
    around = clearance(experiment, dumbbell, robot)
    wrong, _ = unsafe(around, trial.q, float(trial.load.max()), trial.lost)
    relative, absolute = TORQUE_ERROR
    tau, shape = trial.torques, trial.q.shape
    log = Recording(
        robot.joint_names,
        CYCLE * np.arange(shape[0], dtype=float),
        q=trial.q,
        v=trial.v + VELOCITY_ERROR * rng.uniform(-1.0, 1.0, shape),
        tau=tau + (relative * np.abs(tau) + absolute) * rng.uniform(-1.0, 1.0, shape),
    )
    rows, boxes = momentum_rows(log, trial.v), [(0.0, prior())]
    try:
        bounds = guaranteed_bounds(rows, prior())
    except ContradictionError as error:
        wrong = wrong or str(error)
    else:
        boxes.append((motion.duration, prior().narrowed(bounds.lower, bounds.upper)))
    return Phase(identified(boxes, rows, wrong), reference)


def _best_conditioned(start: Array, rng: np.random.Generator) -> FourierMotion:
    """Of some random series, that with the best-conditioned torque regressor of the last link."""
    robot = arm()
    links, times = layout_of(robot), np.linspace(0.0, PERIOD, 128)
    ten = links.of_link(robot.link_names[-1])
    drawn = [random_fourier(robot, rng, period=PERIOD, start=start) for _ in range(DRAWS)]
    samples = [motion.sample(times) for motion in drawn]
    conditions = [
        np.linalg.cond(torque_regressor(robot, links, at.q, at.v, at.a)[:, :, ten].reshape(-1, 10))
        for at in samples
    ]
    return drawn[int(np.argmin(conditions))]
