"""A motion of a Med7 with a tool among obstacles, its limits, its certificate and what a page says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from report.motion_surroundings import AROUND, START, TOOL
from steelyard.enclosure import Tracking
from steelyard.limits import (
    Assumptions,
    Certificate,
    MotionLimits,
    ProvenMargin,
    Scene,
    clearance_of,
)
from steelyard.motion import FourierMotion, random_fourier
from steelyard.pose import Pose
from steelyard.report.motion import Measure, SearchRecord, motion_content_of
from steelyard.report.motion.content import MotionContent
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return zoo_robot("lbr_med7")


@pytest.fixture(scope="module")
def motion(robot: Robot) -> FourierMotion:
    return random_fourier(robot, np.random.default_rng(4), start=START, fraction=0.3, period=6.0)


@pytest.fixture(scope="module")
def limits(robot: Robot) -> MotionLimits:
    rock = replace(AROUND.obstacles[2], pose=Pose.from_rpy([0, 0, 0], [-0.6, 0.5, 0.1]))
    around = Scene((*AROUND.obstacles[:2], rock))
    return MotionLimits(robot, clearance_of(robot, around, tool=[TOOL]), distance=0.01)


@pytest.fixture(scope="module")
def certificate(robot: Robot, motion: FourierMotion, limits: MotionLimits) -> Certificate:
    assert limits.clearance is not None
    margins = [ProvenMargin("clearance", name, 0.02, "m", 1.0, 1.5) for name in limits.clearance.names]
    margins.append(ProvenMargin("velocity", robot.joint_names[2], 0.125, "rad/s", 2.0, 2.5))
    rests_on = Assumptions(Tracking.perfect(7), np.empty(0), np.empty(0), (), 0.01, (), ())
    return Certificate(robot.digest, motion.digest, 6.0, tuple(margins), 64, rests_on)


@pytest.fixture(scope="module")
def content(
    robot: Robot, motion: FourierMotion, limits: MotionLimits, certificate: Certificate
) -> MotionContent:
    search = SearchRecord(
        "cond",
        np.array([0.5, 1.0, 2.0, 4.0]),
        np.array([np.nan, 90.0, 60.0, 42.5]),
        (Measure("condition number", 42.5, 512.0),),
        columns=("lbr_link_7.m", "lbr_A7.viscous"),
    )
    return motion_content_of(
        robot, motion, limits=limits, proof=certificate, search=search, made="2026-11-16"
    )
