"""The difference equation of a joint: found again, judged by SciPy's filters, and what play does to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import freqz, lfilter

from steelyard.arrays import Array
from steelyard.control import JointModel
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import JointTrace, fit_arx, fit_first_order
from steelyard.estimation.first_order import first_order_response
from steelyard.simulation.joint_experiments import open_loop, prbs, square_wave
from steelyard.zoo import zoo_robot

CYCLE = 1e-3
POLES = np.poly([0.95, 0.6 + 0.5j, 0.6 - 0.5j, -0.3]).real
ZEROS = np.array([0.4, -0.1, 0.2, 0.05])


def trace_of(torque: Array, velocity: Array) -> JointTrace:
    return JointTrace("wrist", CYCLE, torque, np.concatenate([[0.3], 0.3 + CYCLE * np.cumsum(velocity)]))


def test_a_difference_equation_is_found_again_with_its_delay() -> None:
    torque = prbs(1.0, 0.003, 9, 1000.0)
    velocity = lfilter(np.concatenate([np.zeros(3), ZEROS]), POLES, torque) + 0.7
    velocity[:40] = lfilter(np.concatenate([np.zeros(3), ZEROS]), POLES, torque[:40]) + 0.7
    found = fit_arx([trace_of(torque, velocity)], averaged=1)
    assert found.delay == 3
    assert found.denominator == pytest.approx(POLES, abs=1e-6)
    assert found.numerator == pytest.approx(ZEROS, abs=1e-6)
    w = 2.0 * math.pi * np.array([1.0, 20.0, 90.0, 300.0])
    _, judged = freqz(np.concatenate([np.zeros(3), ZEROS]), POLES, worN=w * CYCLE)
    # The velocity of a cycle is known one cycle after its command.
    assert found.sampled_response(w) == pytest.approx(judged * np.exp(-1j * w * CYCLE), rel=1e-5)


@pytest.mark.parametrize("averaged", [1, 5])
def test_it_agrees_with_the_first_order_model_where_that_is_the_truth(averaged: int) -> None:
    model = JointModel(25.0, 0.15, 0.0015)
    torque = prbs(0.1, 0.02, 8, 1000.0)
    trace = trace_of(torque, model.gain * first_order_response(model.held_response(CYCLE), torque))
    w = 2.0 * math.pi * np.array([0.5, 2.0, 8.0, 20.0])
    found = fit_arx([trace], averaged=averaged)
    tolerance = 1e-5 if averaged == 1 else 0.05
    assert found.sampled_response(w) == pytest.approx(model.sampled_response(w, CYCLE), rel=tolerance)


def test_play_shows_at_high_frequencies_and_only_in_the_difference_equation() -> None:
    robot = zoo_robot("crane_x7")
    posture = np.zeros(7)
    posture[3] = -0.5 * math.pi
    name = robot.joint_names[4]

    def difference(backlash: float) -> tuple[float, float]:
        rng = np.random.default_rng(4)
        torques = (square_wave(0.3, 0.4, 3, 1000.0), prbs(0.3, 0.02, 6, 1000.0, np.random.default_rng(1)))
        logs = [
            open_loop(robot, name, torque, posture=posture, rng=rng, backlash=backlash, travel=0.8)
            for torque in torques
        ]
        made = [JointTrace.of(log) for log in logs]
        model, arx = fit_first_order(made).model, fit_arx(made)

        def apart(low: float, high: float) -> float:
            w = 2.0 * math.pi * np.geomspace(low, high, 30)
            ratio = arx.sampled_response(w) / model.sampled_response(w, CYCLE)
            return float(np.sqrt(np.mean(np.abs(np.log(np.abs(ratio))) ** 2)))

        return apart(5.0, 20.0), apart(40.0, 95.0)

    (tight_low, tight_high), (loose_low, loose_high) = difference(0.0), difference(0.01)
    assert tight_high < 0.5
    assert loose_high > 2.0 * tight_high
    assert loose_high > 2.0 * loose_low
    assert loose_low < tight_low + 0.2


def test_what_cannot_be_told_is_refused() -> None:
    still = trace_of(np.zeros(400), np.random.default_rng(0).standard_normal(400))
    with pytest.raises(NoSolutionError, match="not moved enough"):
        fit_arx([still])
    with pytest.raises(InputError, match="too short"):
        fit_arx([trace_of(np.ones(30), np.ones(30))])
    with pytest.raises(InputError, match="order"):
        fit_arx([still], order=0)
