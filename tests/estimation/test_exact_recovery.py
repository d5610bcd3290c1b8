"""Without noise nothing is left: least squares finds the simulated robot to round-off."""

from __future__ import annotations

import numpy as np

from steelyard.audit import torque_error
from steelyard.drive import DRIVE_TERMS
from steelyard.estimation.linear import fit_least_squares
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


def test_an_ideal_log_gives_the_panda_back_to_round_off() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    train, held_out = (
        simulate_motion(robot, random_fourier(robot, np.random.default_rng(k)), rate=200.0) for k in range(2)
    )
    estimate = fit_least_squares(problem_of(robot, layout, [train]))
    assert len(estimate.values) == 69
    error = torque_error(held_out.channels["tau"], estimate.torque(robot, held_out))
    assert max(error.joints) < 1e-9
    truth = estimate.base.matrix @ layout.complete_nominal()
    np.testing.assert_allclose(estimate.values, truth, rtol=1e-8, atol=1e-9)
