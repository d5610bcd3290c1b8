"""A delay between torque and motion is found by the model, in milliseconds, and only where there is one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from steelyard.dynamics import inverse_dynamics
from steelyard.estimation import diagnose
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem, problem_of
from steelyard.recording import Recording
from steelyard.zoo import zoo_robot

TERMS = ("viscous", "coulomb", "offset", "rotor")


def late_problem(delay: float, level: float, *, name: str = "ur10e", rate: float = 200.0) -> Problem:
    """Torques of the motion as it was a delay earlier, computed there and not interpolated."""
    robot = zoo_robot(name)
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    motion = random_fourier(robot, np.random.default_rng(4), period=10.0)
    time = np.arange(0.1, 9.9, 1.0 / rate)
    now, then = motion.sample(time), motion.sample(time - delay)
    tau = inverse_dynamics(robot, layout, phi, then.q, then.v, then.a)
    tau += level * tau.std(axis=0) * np.random.default_rng(5).normal(size=tau.shape)
    log = Recording(robot.joint_names, time, now.q, v=now.v, a=now.a, tau=tau)
    return problem_of(robot, layout, [log])


@pytest.mark.parametrize(("level", "rate"), [(0.0, 50.0), (0.003, 200.0), (0.03, 50.0), (0.3, 200.0)])
def test_torques_on_time_raise_no_alarm(level: float, rate: float) -> None:
    assert diagnose(late_problem(0.0, level, rate=rate)).findings == ()


@pytest.mark.parametrize(
    ("delay", "level", "rate"),
    [
        (-0.03, 0.003, 50.0),
        (0.004, 0.0, 200.0),
        (0.004, 0.003, 50.0),
        (0.011, 0.003, 200.0),
        (0.025, 0.0, 50.0),
        (0.045, 0.003, 50.0),
    ],
)
def test_the_delay_is_found_between_samples_too(delay: float, level: float, rate: float) -> None:
    (found,) = diagnose(late_problem(delay, level, rate=rate)).findings
    assert found.code == "torque-delay"
    told = re.search(r"come ([\d.]+) ms too (late|early)", found.message)
    assert told is not None
    signed = float(told[1]) * (1.0 if told[2] == "late" else -1.0)
    assert signed == pytest.approx(1e3 * delay, abs=0.6)


def test_a_delay_beyond_what_is_looked_for_is_said_to_be_more() -> None:
    (found,) = diagnose(late_problem(0.07, 0.003)).findings
    assert "50 ms or more too late" in found.message


def test_motions_too_short_to_tell_say_nothing() -> None:
    problem = late_problem(0.02, 0.0)
    robot, at = problem.robot, problem.samples
    short = Recording(robot.joint_names, at.time[:12], at.q[:12], v=at.v[:12], a=at.a[:12], tau=at.tau[:12])
    assert diagnose(problem_of(robot, problem.layout, [short])).findings == ()
