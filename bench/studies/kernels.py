"""Kernels against Pinocchio, MuJoCo and the textbook on thousands of random trees."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.mujoco_robot import MujocoRobot
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot, random_states
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.layout import layout_of

TREES = 2000
STATES = 5
TOLERANCE = 1e-10


def run() -> Study:
    """Compare on random states of random trees; the worst relative difference of each pair counts."""
    rng = np.random.default_rng(20260101)
    pairs = ("Y, Pinocchio", "τ, Yφ", "τ, Pinocchio", "τ, textbook", "τ, MuJoCo", "H, Pinocchio")
    worst = dict.fromkeys(pairs, 0.0)
    bodies = 0
    for _ in range(TREES):
        robot = random_robot(rng, shapes=("solid",))
        bodies += len(robot.links)
        layout = layout_of(robot)
        phi = link_parameters(robot)
        q, v, a = random_states(rng, robot, STATES)
        pinocchio, mujoco = PinocchioRobot.of(robot, phi), MujocoRobot(robot, phi)
        Y = torque_regressor(robot, layout, q, v, a)
        tau = inverse_dynamics(robot, layout, phi.ravel(), q, v, a)
        H = mass_matrix(robot, layout, phi.ravel(), q)
        for n, state in enumerate(zip(q, v, a, strict=True)):
            _widen(worst, "Y, Pinocchio", Y[n], pinocchio.regressor(*state))
            _widen(worst, "τ, Yφ", tau[n], Y[n] @ phi.ravel())
            _widen(worst, "τ, Pinocchio", tau[n], pinocchio.torques(*state))
            _widen(worst, "τ, textbook", tau[n], newton_euler(robot, phi, *state))
            _widen(worst, "τ, MuJoCo", tau[n], mujoco.torques(*state))
            _widen(worst, "H, Pinocchio", H[n], pinocchio.mass_matrix(q[n]))
    return Study(
        "Kernels on random trees",
        f"{TREES} random trees ({bodies} bodies; revolute, continuous and prismatic joints, branching, fixed "
        f"links merged), {STATES} random states each; largest difference relative to the largest entry.",
        tuple(Bound(name, value, TOLERANCE) for name, value in worst.items()),
    )


def _widen(worst: dict[str, float], name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    worst[name] = max(worst[name], float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
