"""Instruments from a simulated closed loop: they follow the plant, and noise in the motion does not bend."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.control import PD, LoopSettings
from steelyard.estimation import fit_loop_instrumental
from steelyard.estimation.instrumental import loop_instruments
from steelyard.estimation.linear import fit_weighted
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb"])


@pytest.fixture(scope="module")
def run() -> tuple[Recording, LoopSettings, FourierMotion]:
    """A MuJoCo plant under a PD law soft enough to leave the reference."""
    motion = random_fourier(ROBOT, np.random.default_rng(4))
    controller = PD(ROBOT, kp=60.0, kd=8.0)
    log = simulate_motion(ROBOT, motion, controller=controller, sensor="ideal", torque_limits=False)
    return log.rows(slice(None, None, 5)), LoopSettings(controller), motion


def test_with_the_true_model_the_instruments_are_the_plants_own_motion(
    run: tuple[Recording, LoopSettings, FourierMotion],
) -> None:
    log, settings, motion = run
    problem = problem_of(ROBOT, LAYOUT, [log])
    q, v, _ = loop_instruments(problem, LAYOUT.complete_nominal(), settings, motion, [log.time])
    reference = motion.sample(log.time).q
    assert np.abs(reference - log.q).max() > 0.05, "the law is soft, or this shows nothing"
    np.testing.assert_allclose(q, log.q, atol=2e-3)
    np.testing.assert_allclose(v, log.channels["v"], atol=2e-2)


def test_noise_in_the_motion_bends_least_squares_and_not_the_instruments(
    run: tuple[Recording, LoopSettings, FourierMotion],
) -> None:
    log, settings, motion = run
    rng = np.random.default_rng(0)
    noisy = log.with_channels(
        q=log.q + 1e-3 * rng.standard_normal(log.q.shape),
        v=log.channels["v"] + 0.02 * rng.standard_normal(log.q.shape),
        a=log.channels["a"] + 1.0 * rng.standard_normal(log.q.shape),
    )
    problem = problem_of(ROBOT, LAYOUT, [noisy])
    truth = problem.base.matrix @ LAYOUT.complete_nominal()
    plain, straight = fit_weighted(problem), fit_loop_instrumental(problem, settings, motion)
    inertia = problem.base.names.index("link2.Iyy")
    assert plain.values[inertia] < 0.7 * truth[inertia]
    np.testing.assert_allclose(straight.values[inertia], truth[inertia], rtol=0.05)
    assert (np.abs(straight.values - truth) / straight.deviations).max() < 4.0
