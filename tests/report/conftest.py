"""One small run of the line for all tests of the page: a simulated arm, identified and judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from report.chromium import NAMES, PROGRAM, Browser
from steelyard.audit import Check, Status, Verdict
from steelyard.estimation.linear import fit_least_squares
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, problem_of
from steelyard.recording import Recording
from steelyard.report import ReportContent, identification_content_of
from steelyard.robot import Robot
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def robot() -> Robot:
    return zoo_robot("panda")


@pytest.fixture(scope="session")
def recordings(robot: Robot) -> dict[str, Recording]:
    rng = np.random.default_rng(3)
    return {
        name: simulate_motion(robot, random_fourier(robot, rng), sensor="ideal")
        for name in ("train", "holdout")
    }


@pytest.fixture(scope="session")
def estimate(robot: Robot, recordings: dict[str, Recording]) -> Estimate:
    layout = layout_of(robot, ["viscous", "coulomb"])
    return fit_least_squares(problem_of(robot, layout, [recordings["train"]]))


@pytest.fixture(scope="session")
def content(robot: Robot, estimate: Estimate, recordings: dict[str, Recording]) -> ReportContent:
    verdict = Verdict(
        (
            Check("held-out torque", Status.PASS, "0.1 % of the torque is unexplained."),
            Check("links can exist", Status.WARN, "one lies on the border."),
            Check("mass matrix", Status.NOT_RUN, "no full set of links."),
        )
    )
    return identification_content_of(
        robot,
        estimate,
        verdict,
        recordings,
        held_out=["holdout"],
        findings=[Finding(Severity.WARNING, "jitter", "time jitters", "log.csv:7")],
        untested=["No payload was carried."],
        made="2026-11-16",
    )
