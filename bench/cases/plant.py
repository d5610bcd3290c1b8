"""The simulated robot beside MuJoCo stepped from Python."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.simulation import Plant, simulate_motion
from steelyard.simulation.plant import LONGEST_STEP
from steelyard.zoo import zoo_robot
from timing import Row, best

SECONDS = 4.0
MOST = 0.03
"""Promised time of a simulated second, s."""


def rows() -> list[Row]:
    """Every comparison of this room."""
    runs = [("crane_x7", "low-cost"), ("panda", "industrial"), ("panda", "ideal")]
    return [_simulated_second(name, sensor) for name, sensor in runs]


def _simulated_second(name: str, sensor: str) -> Row:
    robot = zoo_robot(name)
    motion = random_fourier(robot, np.random.default_rng(1))

    def ours() -> None:
        simulate_motion(robot, motion, sensor=sensor, rng=np.random.default_rng(0), duration=SECONDS)

    mine, theirs = best(ours, _stepped(robot), repeats=5)
    return Row(
        f"a simulated second of {name}, {sensor}: controller, drives, friction, sensors, log",
        mine / SECONDS,
        "MuJoCo stepped from Python, 0.5 ms, its Runge-Kutta rule, no controller, friction or log",
        theirs / SECONDS,
        most_seconds=MOST,
    )


def _stepped(robot: Robot) -> Callable[[], None]:
    """The same seconds of the bare bodies, one call of `mj_step` for each step."""
    model = Plant(robot).model
    model.opt.timestep = LONGEST_STEP
    data = mujoco.MjData(model)

    def steps() -> None:
        mujoco.mj_resetData(model, data)
        for _ in range(round(SECONDS / LONGEST_STEP)):
            mujoco.mj_step(model, data)

    return steps
