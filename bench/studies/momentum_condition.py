"""Appendix D and Table IV of Zhang et al. (2025): does cond of momentum windows follow that of torques?

About two minutes on one idle core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.motion import FourierMotion
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from identifiable.window_conditions import (
    TABLE_IV,
    correlations,
    payload_rows,
    slow_motion,
    wild_motion,
)

ROBOT = "kinova_gen3"
MOTIONS = 150
WINDOWS = tuple(TABLE_IV)
FAMILIES: dict[str, Callable[[Robot, np.random.Generator], FourierMotion]] = {
    "within limits": slow_motion,
    "without limits": wild_motion,
}
RULES = ("Euler", "trapezoid")

_DESCRIPTION = f"""{MOTIONS} random Fourier motions of 10 s on {ROBOT}, sampled at 1 ms: the condition number
of the payload's ten columns in the torque regressor (30), that of the momentum windows (23) of h samples,
and Pearson's correlation of the two over the motions. The paper states neither amplitudes nor frequencies.
Motions within the robot's limits (five harmonics, up to 0.5 Hz) keep the two together up to h = 200. With 15
harmonics of up to 1 rad each and no limits, chosen to come near the paper, the correlation falls as printed
up to h = 50, and less behind. The paper blames accumulated integration errors; with the trapezoid rule, of
second order, the figures are the same: a window is a moving average of the torque rows, and a long one wipes
out what changes faster than itself."""


def run() -> Study:
    """Compare the condition numbers of both families of motions."""
    robot = zoo_robot(ROBOT)
    found = {name: _family(robot, drawn) for name, drawn in FAMILIES.items()}
    calm, wild = (found[name] for name in FAMILIES)
    printed = np.array(list(TABLE_IV.values()))
    short = np.array(WINDOWS) <= 50
    apart = max(float(np.abs(each["Euler"] - each["trapezoid"]).max()) for each in found.values())
    return Study(
        "Condition numbers of torque and momentum regressors",
        _DESCRIPTION,
        (
            Bound("within limits: least correlation up to h = 100", _least(calm, 100), 0.999, atmost=False),
            Bound("within limits: least correlation at any h", _least(calm, 500), 0.95, atmost=False),
            Bound(
                "without limits: largest difference from Table IV up to h = 50",
                float(np.abs(wild["Euler"] - printed)[short].max()),
                0.03,
            ),
            Bound("without limits: correlation at h = 100", _least(wild, 100), 0.95),
            Bound("Euler against trapezoid: largest difference of a correlation", apart, 0.01),
        ),
        {
            "windows h": list(WINDOWS),
            "Table IV": printed.tolist(),
            **{name: _told(each) for name, each in found.items()},
        },
    )


def _family(robot: Robot, drawn: Callable[[Robot, np.random.Generator], FourierMotion]) -> dict[str, Any]:
    torque = np.empty(MOTIONS)
    windows = {rule: np.empty((MOTIONS, len(WINDOWS))) for rule in RULES}
    for k in range(MOTIONS):
        rows = payload_rows(robot, drawn(robot, np.random.default_rng([20260120, k])))
        torque[k] = rows.in_torques()
        for rule in RULES:
            windows[rule][k] = [rows.in_windows(h, rule) for h in WINDOWS]
    return {
        "condition": torque,
        "ratio": windows["Euler"] / torque[:, None],
        **{rule: correlations(torque, windows[rule]) for rule in RULES},
    }


def _least(family: dict[str, Any], longest: int) -> float:
    return float(family["Euler"][np.array(WINDOWS) <= longest].min())


def _told(family: dict[str, Any]) -> dict[str, Any]:
    return {
        "correlation, Euler": family["Euler"].round(4).tolist(),
        "correlation, trapezoid": family["trapezoid"].round(4).tolist(),
        "cond of torque rows: least, median, largest": [
            float(x) for x in np.percentile(family["condition"], (0, 50, 100)).round(1)
        ],
        "cond of windows over cond of torque rows, median": np.median(family["ratio"], axis=0)
        .round(3)
        .tolist(),
    }
