"""The asset of `steelyard payload` beside the true object: dropped, pushed and swung."""

from __future__ import annotations

from pathlib import Path

from steelyard.inertia import Body
from steelyard.report import TrialOutcome
from steelyard.simulate import Swing, compared_motion, run_trial, standard_trials, swing_period

SECONDS = 2.0
"""How long the two are watched, s."""


def beside_the_truth(asset: Path, truth: Body) -> tuple[TrialOutcome, ...]:
    """Do to both what a simulator would.

    Args:
        asset: the MJCF file.
        truth: the true inertia in the asset's frame.

    Returns:
        How far they came apart in each trial.
    """
    outcomes = []
    for name, trial in standard_trials(asset).items():
        mine = run_trial(asset, trial, seconds=SECONDS)
        its = run_trial(asset, trial, seconds=SECONDS, body=truth)
        apart = compared_motion(mine, its)
        periods = (swing_period(mine), swing_period(its)) if isinstance(trial, Swing) else None
        outcomes.append(
            TrialOutcome(
                name, "the true object", SECONDS, apart.largest_position, apart.largest_angle, periods
            )
        )
    return tuple(outcomes)
