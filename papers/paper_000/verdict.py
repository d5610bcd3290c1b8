"""When a task has succeeded: nothing touched, no torque limit broken, and the dumbbell where it belongs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paper_000.dumbbells import Dumbbell
from paper_000.poses import pose_error
from paper_000.scenes import Experiment
from paper_000.trial import Trial
from steelyard.arrays import Array
from steelyard.limits import Clearance

PLACED = 0.005
"""How far from its place a dumbbell may be when it is let go, m."""
TILTED = float(np.radians(2.0))
"""How much it may be turned, rad."""
EVERY = 8
"""A path is looked at for contacts in every eighth cycle, at 500 Hz: no link moves 5 mm meanwhile."""


@dataclass(frozen=True)
class Verdict:
    """What became of one dumbbell.

    Attributes:
        wrong: what went wrong first; empty for a success.
        error: largest error of a joint on the way, rad.
        distance: from the dumbbell's place in the end, m.
        turn: from how it should lie, rad.
        gap: smallest distance of anything that must not touch, m; negative where it did.
        load: largest command over its limit, dimensionless.
    """

    wrong: str
    error: float
    distance: float
    turn: float
    gap: float
    load: float

    @property
    def success(self) -> bool:
        """Whether nothing went wrong."""
        return not self.wrong


def unsafe(clearance: Clearance, q: Array, load: float, lost: bool = False) -> tuple[str, float]:
    """What was unsafe along a path.

    Args:
        clearance: what must stay apart.
        q: true positions of every cycle, shape (N, nv), rad.
        load: largest command over its limit, dimensionless.
        lost: whether the arm left its reference for good.

    Returns:
        The reason, empty for none; and the smallest distance, m.
    """
    distances = clearance.distances(q[::EVERY])
    gap, pair = float(distances.min()), clearance.names[int(distances.min(axis=0).argmin())]
    if gap < 0.0:
        return f"contact: {pair}", gap
    if load > 1.0:
        return f"torque: {load:.2f} of the limit", gap
    return ("lost its reference" if lost else ""), gap


def judged(experiment: Experiment, dumbbell: Dumbbell, clearance: Clearance, trial: Trial) -> Verdict:
    """The verdict on a run that carried a dumbbell.

    In experiment (c) the path counts alone, as in the paper.

    Args:
        experiment: where.
        dumbbell: which.
        clearance: what must stay apart.
        trial: the run, to its very end.

    Returns:
        The verdict.
    """
    load = float(trial.load.max())
    wrong, gap = unsafe(clearance, trial.q, load, trial.lost)
    miss = pose_error(trial.q[-1], experiment.target(dumbbell))
    distance, turn = float(np.linalg.norm(miss[:3])), float(np.linalg.norm(miss[3:]))
    if not wrong and experiment.stacked and (distance > PLACED or turn > TILTED):
        wrong = f"misplaced by {1e3 * distance:.1f} mm and {np.degrees(turn):.1f}°"
    return Verdict(wrong, float(np.abs(trial.errors).max()), distance, turn, gap, load)
