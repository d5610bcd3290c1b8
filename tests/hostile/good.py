"""Good documents for the two-link arm of the zoo, from which hostile ones are made."""

from __future__ import annotations

import numpy as np

MOTION = {
    "family": "fourier",
    "joints": ["joint1", "joint2"],
    "period": 2.0,
    "offset": [0.1, -0.2],
    "sine": [[0.5, 0.3], [-0.7, 0.6]],
    "cosine": [[0.2, -0.6], [0.4, 0.3]],
}
PAYLOAD = {"mass": 0.4, "com": [0.0, 0.01, 0.05], "inertia": [1e-3, 0.0, 1e-3, 0.0, 0.0, 1e-3]}
PRIOR = {"lower": [0.0] * 10, "upper": [0.5] * 10}
SCENE = {"obstacle": [{"name": "post", "shape": "sphere", "radius": 0.1, "position": [3.0, 0.0, 0.0]}]}
LIMITS = {"acceleration": 10.0, "joint": {"joint1": {"velocity": 2.0}}}
COLUMNS = {"when": "time"}
CONTROLLER = 'law = "pd"\nkp = 100.0\nkd = 10.0\n'
CAMPAIGN = """[campaign]
kind = "monte-carlo"
name = "small"
seed = 3

[robot]
name = "two_link"

[study]
sensors = ["ideal"]
noise = [1.0]
motions = [1]
methods = ["ols"]
duration = 1.0
trials = 1
"""


def log(n: int = 400, dt: float = 0.01) -> tuple[list[str], np.ndarray]:
    """Names and values of a small log of the two-link arm, shape (n, 7), SI."""
    t = dt * np.arange(n)
    q = np.column_stack((0.6 * np.sin(2.0 * t), 0.5 * np.cos(3.1 * t)))
    v = np.column_stack((1.2 * np.cos(2.0 * t), -1.55 * np.sin(3.1 * t)))
    tau = np.column_stack((9.0 * np.sin(q[:, 0]) + v[:, 0], 3.0 * np.sin(q.sum(axis=1)) + v[:, 1]))
    names = ["time", *(f"{x}_joint{k}" for x in ("q", "v", "tau") for k in (1, 2))]
    return names, np.column_stack((t, q, v, tau))


def csv(names: list[str], values: np.ndarray) -> str:
    """The same as text."""
    rows = [",".join(names), *(",".join(repr(float(x)) for x in row) for row in values)]
    return "\n".join(rows) + "\n"
