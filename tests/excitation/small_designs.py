"""Small design problems that the tests of this folder share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from steelyard.excitation import DesignProblem, fourier_family, home, robot_columns, spline_family
from steelyard.limits import Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry, Robot
from steelyard.zoo import zoo_robot

TABLE = Scene((Obstacle("table", Box(2.0, 2.0, 0.1), Pose(np.eye(3), np.array([0.0, 0.0, -0.06]))),))
TOOL = (Geometry(Capsule(0.03, 0.2), Pose.from_rpy((0.0, 0.5, 0.0), (0.03, 0.0, 0.15))),)


def problem_of(robot: Robot, **changes: object) -> DesignProblem:
    layout, base = robot_columns(robot)
    problem = DesignProblem(robot, fourier_family(robot), layout, base, start=home(robot))
    return replace(problem, **changes)  # type: ignore[arg-type]


@cache
def two_link() -> DesignProblem:
    """Two joints, four harmonics, no clearance: a search takes a tenth of a second."""
    robot = zoo_robot("two_link")
    return problem_of(robot, family=fourier_family(robot, harmonics=4, period=4.0))


@cache
def two_link_spline() -> DesignProblem:
    robot = zoo_robot("two_link")
    return problem_of(robot, family=spline_family(robot, pieces=6, duration=4.0))


@cache
def med7() -> DesignProblem:
    """The arm of Tian et al. (2024) with a rod as its tool, above a table."""
    robot = zoo_robot("lbr_med7")
    return problem_of(robot, clearance=clearance_of(robot, TABLE, tool=TOOL))
