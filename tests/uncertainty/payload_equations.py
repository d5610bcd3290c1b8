"""Equations of a payload on an arm, with errors inside their bounds and the truth known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.optimize

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.inertia import change_of_frame
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.uncertainty.payload_polytope import BoundedRows, PayloadBox, Place
from steelyard.zoo import zoo_robot

UPPER = np.array([5.0, 1.0, 1.0, 1.0, *[0.3] * 6])
LOWER = np.where(np.arange(10) == 0, 0.0, -UPPER)
PRIOR = PayloadBox.between(LOWER, UPPER)
"""A box that holds every payload of these tests."""
WORST = 1.0 - 1e-6
"""Share of their bounds that the worst errors reach: beyond, rounding of the data would decide."""


@dataclass(frozen=True, eq=False)
class Case:
    """Rows and what they were made from."""

    rows: BoundedRows
    truth: Array
    delta: Array


@cache
def _arm(name: str) -> tuple[Robot, Layout, Array]:
    robot = zoo_robot(name)
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    return robot, layout, layout.complete_nominal()


@cache
def regressors(name: str, seed: int, instants: int) -> tuple[Array, Array, Array, tuple[Place, ...]]:
    """Load and robot columns and the robot's own torque along a random motion, by rows."""
    robot, layout, phi = _arm(name)
    motion = random_fourier(robot, np.random.default_rng(seed), period=7.5)
    time = np.linspace(0.0, motion.duration, instants, endpoint=False)
    s = motion.sample(time)
    Y = torque_regressor(robot, layout, s.q, s.v, s.a)
    tool = robot.tool_frame
    ten = layout.of_link(robot.link_names[tool.link])
    A = Y[:, :, ten] @ change_of_frame(tool.placement)
    places = tuple(Place(joint, float(t), float(t)) for t in time for joint in robot.joint_names)
    tau = inverse_dynamics(robot, layout, phi, s.q, s.v, s.a)
    return A.reshape(-1, 10), Y.reshape(-1, layout.size), tau.ravel(), places


def case(
    seed: int,
    *,
    name: str = "kinova_gen3",
    instants: int = 75,
    absolute: float = 0.2,
    relative: float = 0.01,
    model: float = 0.02,
    pattern: str = "uniform",
    worst: float = WORST,
) -> Case:
    """A random payload on one of three motions of an arm, with bounded errors of a chosen pattern."""
    rng = np.random.default_rng(seed)
    A, B, tau, places = regressors(name, seed % 3, instants)
    d = model * np.abs(_arm(name)[2])
    truth = random_body(rng, mass=(0.3, 4.0), size=0.1).parameters
    b = relative * np.abs(tau + A @ truth) + absolute
    draws = {
        "uniform": lambda size: rng.uniform(-1.0, 1.0, size),
        "corners": lambda size: rng.choice([-worst, worst], size),
        "constant": lambda size: np.full(size, rng.choice([-worst, worst])),
    }[pattern]
    delta = d * draws(d.size)
    y = A @ truth + B @ delta + b * draws(b.size)
    return Case(BoundedRows(A, B, y, b, d, places), truth, delta)


def hull(rows: BoundedRows, lower: Array = LOWER, upper: Array = UPPER) -> tuple[Array, Array]:
    """The exact interval hull as SciPy's linear programs give it."""
    M = np.hstack([rows.load, rows.robot]) / rows.error[:, None]
    y = rows.target / rows.error
    box = [*zip(lower, upper, strict=True), *((-d, d) for d in rows.spread)]
    ends = np.empty((2, 10))
    for k in range(10):
        for side, sign in enumerate((1.0, -1.0)):
            c = sign * np.eye(M.shape[1])[k]
            found = scipy.optimize.linprog(
                c, np.vstack([M, -M]), np.concatenate([y + 1.0, 1.0 - y]), bounds=box
            )
            assert found.status == 0, found.message
            ends[side, k] = sign * found.fun
    return ends[0], ends[1]
