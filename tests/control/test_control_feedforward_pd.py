"""FF+PD of Oaki et al. (2026), judged by its printed equation and by SciPy's filters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import signal

from steelyard.control import FeedforwardPD, control_command
from steelyard.errors import InputError
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")


def filtered(law: FeedforwardPD, q: np.ndarray) -> np.ndarray:
    """v̂ of a law with unit inertia and K_V and no other gain, for a reference at rest."""
    memory, still = np.array(law.memory), np.zeros(law.robot.nv)
    return -np.array([control_command(law, memory, row, still, still, still, still) for row in q])


def differentiator(cycle: float, time_constant: float) -> FeedforwardPD:
    return FeedforwardPD(ROBOT, 1.0, 0.0, 0.0, 1.0, cycle=cycle, filter=time_constant)


@pytest.mark.parametrize("time_constant", [0.0, 0.0005, 0.002, 0.1])
def test_the_filter_is_the_backward_difference_of_the_pseudo_differentiator(time_constant: float) -> None:
    h = 1e-3
    q = np.random.default_rng(0).uniform(-1, 1, (200, ROBOT.nv)).cumsum(axis=0)
    if time_constant:
        b, a, _ = signal.cont2discrete(([1.0, 0.0], [time_constant, 1.0]), h, method="backward_diff")
        expected = signal.lfilter(b.ravel(), a, q - q[0], axis=0)
    else:
        expected = np.diff(q, axis=0, prepend=q[:1]) / h
    scale = np.abs(expected).max()
    np.testing.assert_allclose(filtered(differentiator(h, time_constant), q), expected, atol=1e-12 * scale)


def test_the_answer_to_a_ramp_is_that_of_the_continuous_filter_up_to_the_cycle() -> None:
    T_f, errors = 0.02, []
    for h in (4e-4, 2e-4, 1e-4):
        t = np.arange(round(0.1 / h)) * h
        ramp = np.stack((0.7 * t, -0.3 * t), axis=1)
        exact = np.outer(1.0 - np.exp(-t / T_f), (0.7, -0.3))
        errors.append(np.abs(filtered(differentiator(h, T_f), ramp) - exact).max())
    assert errors[0] < 0.7 * 4e-4 / T_f
    for coarse, fine in pairwise(errors):
        assert coarse / fine == pytest.approx(2.0, abs=0.1)  # first order in the cycle


def test_a_standing_arm_has_no_velocity_wherever_it_stands() -> None:
    assert not filtered(differentiator(1e-3, 0.002), np.full((20, 2), [1.3, -2.1])).any()


def test_a_constant_velocity_is_found_exactly() -> None:
    t = np.arange(200) * 1e-3
    last = filtered(differentiator(1e-3, 0.002), 1.0 + np.outer(t, (0.5, -2.0)))[-1]
    np.testing.assert_allclose(last, [0.5, -2.0], rtol=1e-11)


def test_the_torque_is_equation_2_of_the_paper_and_ignores_the_measured_velocity() -> None:
    robot, rng, h, T_f = zoo_robot("panda"), np.random.default_rng(1), 1e-3, 0.002
    M, D, KP, KV = (np.diag(x) for x in rng.uniform(0.5, 5.0, (4, robot.nv)))
    law = FeedforwardPD(robot, *(np.diag(x) for x in (M, D, KP, KV)), cycle=h)
    memory = np.array(law.memory)
    estimate, last = np.zeros(robot.nv), None
    for _ in range(30):
        q, v, q_ref, v_ref, a_ref = rng.uniform(-2, 2, (5, robot.nv))
        if last is not None:
            estimate = (T_f * estimate + q - last) / (T_f + h)
        last = q
        inside = KV @ (v_ref + KP @ np.linalg.inv(KV) @ (q_ref - q) - estimate) + a_ref
        expected = M @ inside + D @ v_ref
        tau = control_command(law, memory, q, v, q_ref, v_ref, a_ref)
        np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_a_cycle_is_needed_and_a_filter_may_not_be_negative() -> None:
    with pytest.raises(TypeError, match="cycle"):
        FeedforwardPD(ROBOT, 1.0, 1.0, 1.0, 1.0)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="cycle: must be positive, got 0 s"):
        FeedforwardPD(ROBOT, 1.0, 1.0, 1.0, 1.0, cycle=0.0)
    with pytest.raises(InputError, match="filter: must not be negative, got -1 s"):
        FeedforwardPD(ROBOT, 1.0, 1.0, 1.0, 1.0, cycle=1e-3, filter=-1.0)
    with pytest.raises(InputError, match="inertia: must not be negative"):
        FeedforwardPD(ROBOT, -1.0, 1.0, 1.0, 1.0, cycle=1e-3)
