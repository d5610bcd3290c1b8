"""How late torques are: by the dead times of joints; and what the loop commanded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.control import FeedforwardPD, JointModel
from steelyard.errors import InputError, RecordingError
from steelyard.estimation import FirstOrderFit
from steelyard.estimation.closed_loop import common_dead_time
from steelyard.estimation.closed_loop.delay import replayed_commands
from steelyard.motion import random_fourier
from steelyard.recording import Recording
from steelyard.simulation import sensor_preset, simulate_motion
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
LAW = FeedforwardPD(ROBOT, np.array([1.0, 0.3]), 0.1, 225.0, 30.0, cycle=1e-3)
LIMITS = np.array([joint.limits.effort for joint in ROBOT.joints])


def run(delay: float, jitter: float = 0.0) -> Recording:
    preset = replace(sensor_preset("low-cost"), name="late", delay=delay, jitter=jitter)
    motion = random_fourier(ROBOT, np.random.default_rng(0))
    return simulate_motion(
        ROBOT, motion, controller=LAW, sensor=preset, rng=np.random.default_rng(1), duration=1.0
    )


def fit(seconds: float, deviation: float) -> FirstOrderFit:
    covariance = np.diag([1.0, 1.0, deviation**2])
    model = JointModel(1.0, 1.0, seconds)
    return FirstOrderFit("j", model, covariance, None, 0.0, None, 0.0, 1e-3, (), 0.0, 0.0)


def test_without_delay_the_meter_shows_the_commands_that_are_replayed() -> None:
    log = run(0.0)
    commands = replayed_commands(LAW, log, LIMITS)
    changes = np.sqrt(np.mean(np.diff(commands, axis=0) ** 2, axis=0))
    assert (np.sqrt(np.mean((log.tau - commands) ** 2, axis=0)) < 0.25 * changes).all()


def test_what_the_controller_did_not_see_cannot_be_replayed() -> None:
    log = run(0.0015)
    with pytest.raises(RecordingError, match="has no q_ref"):
        replayed_commands(LAW, log.with_channels(q_ref=None))
    with pytest.raises(InputError, match="joint1"):
        replayed_commands(LAW, replace(log, joints=("a", "b")))


def test_joints_that_agree_sharpen_each_other_and_joints_that_do_not_are_told() -> None:
    agreeing = common_dead_time([fit(1.4e-3, 2e-4), fit(1.6e-3, 2e-4)])
    assert agreeing.seconds == pytest.approx(1.5e-3)
    assert agreeing.deviation == pytest.approx(2e-4 / np.sqrt(2.0))
    sure = common_dead_time([fit(1.5e-3, 1e-5), fit(3.0e-3, 1e-2)])
    assert sure.seconds == pytest.approx(1.5e-3, abs=1e-6)
    torn = common_dead_time([fit(1.0e-3, 1e-5), fit(3.0e-3, 1e-5)])
    assert torn.deviation > 0.5e-3
    with pytest.raises(InputError, match="no joint model"):
        common_dead_time([])
