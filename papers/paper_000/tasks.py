"""The motions of the tasks: two seconds with little jerk, proven for the weight of the heaviest dumbbell.

Zhang et al. (2025), section VI-D3: one motion serves every method.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from paper_000.arm import DRIVE, GRASP, arm
from paper_000.dumbbells import DUMBBELLS, Dumbbell
from paper_000.scenes import EXPERIMENTS, Experiment
from paper_000.task_motion import TaskMotion, task_motion
from steelyard.layout import layout_of
from steelyard.limits import Clearance, MotionLimits, clearance_of
from steelyard.robot import Robot

MODEL = DUMBBELLS[-1]
"""The dumbbell whose weight the motions are made for."""


def holding(robot: Robot, dumbbell: Dumbbell) -> Robot:
    """An arm that holds a dumbbell in the middle of its handle.

    Args:
        robot: an arm with an empty gripper.
        dumbbell: what it holds.

    Returns:
        The arm with the dumbbell's weight and shapes.
    """
    return robot.with_body("dumbbell", dumbbell.body, frame=GRASP, collision=dumbbell.shapes)


def clearance(experiment: Experiment, dumbbell: Dumbbell, robot: Robot) -> Clearance:
    """What must stay apart while a dumbbell is carried.

    Args:
        experiment: where.
        dumbbell: which.
        robot: an arm that holds it.

    Returns:
        The clearance.
    """
    around = experiment.scene(dumbbell)
    return clearance_of(robot, around, rest=experiment.start, distance=experiment.distance)


@cache
def task(name: str, dumbbell: Dumbbell) -> TaskMotion:
    """The motion that carries a dumbbell, with its certificate.

    The shapes are those of the dumbbell itself, the torques those of the heaviest.

    Args:
        name: of the experiment.
        dumbbell: which.

    Returns:
        The motion from the lifted pose to the place.
    """
    experiment = EXPERIMENTS[name]
    robot = holding(arm(), dumbbell)
    heaviest = holding(arm(), MODEL)
    layout = layout_of(robot, DRIVE)
    phi = layout_of(heaviest, DRIVE).complete_nominal()
    limits = MotionLimits(
        robot, clearance(experiment, dumbbell, robot), layout, phi, distance=experiment.distance
    )
    rng = np.random.default_rng([20261116, ord(name), dumbbell.pounds])
    return task_motion(limits, experiment.start, experiment.end(dumbbell), rng)
