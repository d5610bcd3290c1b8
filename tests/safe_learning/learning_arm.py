"""The Gen3 of Zhang et al. (2025) with an unknown end-effector, and one run that several tests read."""

from __future__ import annotations

from functools import cache

import numpy as np

from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.payloads import Mount
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.safe_learning import (
    LawChoice,
    LoadModel,
    MuJoCoDriver,
    OnlineRun,
    Replanner,
    SafeLearningConfig,
    SensorErrors,
    SyncWorker,
    run_online,
)
from steelyard.uncertainty import ErrorBounds, PayloadBox
from steelyard.zoo import zoo_robot

HOME = np.array([0.0, 0.26, np.pi, -2.2, 0.0, 0.96, np.pi / 2])
LOWEST = np.array([1.2, -0.4, -0.4, -1.0, *[-0.2] * 6])
HIGHEST = np.array([5.2, 0.4, 0.4, -0.1, *[0.2] * 6])
"""Table I of Zhang et al. (2025), in the frame of the last link."""
CYCLE = 1e-3
RELATIVE, ABSOLUTE, VELOCITY = 0.025, 0.1, 5e-4


@cache
def arm() -> Robot:
    return zoo_robot("kinova_gen3_2f85")


@cache
def setting(form: str = "clamped") -> SafeLearningConfig:
    robot = arm()
    layout = layout_of(robot, ("viscous", "coulomb", "rotor"))
    held = Mount(robot.link_names[-1], Pose.identity(), "the last link")
    known = LoadModel.stated(robot, layout, held, model_error=0.05, whole_link=True)
    errors = ErrorBounds.stated(
        robot, layout, known.parameters, torque=(RELATIVE, ABSOLUTE), model=0.05, velocity=VELOCITY
    )
    prior = PayloadBox.between(LOWEST, HIGHEST)
    return SafeLearningConfig.of(known, prior, errors, law=LawChoice(form), cycle=CYCLE)


@cache
def loaded(mass: float = 2.0) -> tuple[Robot, np.ndarray]:
    """The robot with a dumbbell between its fingers, and the ten numbers of its whole last link."""
    size = np.array([0.004, 0.0, 0.006, 0.0, 0.0, 0.006]) * mass  # about its own centre
    body = Body.from_parameters(np.array([mass, 0.0, 0.0, 0.0, *size]))
    robot = arm().with_body("payload", body)
    return robot, layout_of(robot).complete_nominal()[-10:]


def link(seed: int = 0, mass: float = 2.0) -> MuJoCoDriver:
    errors = SensorErrors(RELATIVE, ABSOLUTE, VELOCITY, 0.0, "edge")
    return MuJoCoDriver(loaded(mass)[0], HOME, cycle=CYCLE, errors=errors, rng=np.random.default_rng(seed))


@cache
def replanner() -> Replanner:
    return Replanner.exciting(setting(), budget=None, evaluations=60)


@cache
def run() -> tuple[OnlineRun, MuJoCoDriver]:
    robot = link()
    worker = SyncWorker(replanner())
    return run_online(setting(), robot, worker, HOME, guard=worker, most_plans=2), robot
