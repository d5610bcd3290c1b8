"""Adaptive laws: what they learn, judged by the payload that is really there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from steelyard.control import ComputedTorque, control_command, read_controller
from steelyard.control.adaptive_payload import AdaptivePayload
from steelyard.control.computed_torque import AdaptiveRobust
from steelyard.control.controller import described_model
from steelyard.dynamics import forward_dynamics, mass_matrix
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("kinova_gen3")
LAYOUT, PHI = described_model(ROBOT)
LAST = LAYOUT.of_link(ROBOT.link_names[-1])
LOAD = Body(1.5, np.array([0.03, -0.02, -0.1]), np.diag([0.006, 0.005, 0.004]))
LOADED = PHI.copy()
LOADED[LAST] += LOAD.parameters
GAMMA = np.array([20.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])


def adaptive(**options: object) -> AdaptivePayload:
    return AdaptivePayload.nominal(ROBOT, 8.0, 10.0, GAMMA, cycle=1e-3, **options)  # type: ignore[arg-type]


def swings(seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several frequencies in every joint: persistently exciting."""
    t = np.arange(0.0, seconds, 1e-3)[:, None]
    rng = np.random.default_rng(1)
    q, v, a = np.zeros((3, len(t), ROBOT.nv))
    for w in (1.3, 2.9, 4.7):
        A, phase = 0.5 / w * rng.uniform(0.6, 1.4, ROBOT.nv), rng.uniform(0, 6, ROBOT.nv)
        q += A * np.sin(w * t + phase)
        v += A * w * np.cos(w * t + phase)
        a -= A * w * w * np.sin(w * t + phase)
    return q + rng.uniform(-0.5, 0.5, ROBOT.nv), v, a


def test_the_first_torque_is_the_reference_motion_plus_feedback() -> None:
    law, rng = adaptive(), np.random.default_rng(2)
    judge = PinocchioRobot.of(ROBOT, PHI[: 10 * ROBOT.nv].reshape(-1, 10))
    viscous, coulomb, offset, rotor = PHI[10 * ROBOT.nv :].reshape(-1, 4).T
    for _ in range(5):
        q, v, q_ref, v_ref, a_ref = rng.uniform(-1, 1, (5, ROBOT.nv))
        v_a, a_a = v_ref + 8.0 * (q_ref - q), a_ref + 8.0 * (v_ref - v)
        C = pin.computeCoriolisMatrix(judge.model, judge.data, judge.q(q), v)
        g = pin.computeGeneralizedGravity(judge.model, judge.data, judge.q(q))
        expected = judge.mass_matrix(q) @ a_a + C @ v_a + g + rotor * a_a
        expected += viscous * v_a + coulomb * np.sign(v_a) + offset + 10.0 * (v_a - v)
        assert_agree(law.torque(q, v, q_ref, v_ref, a_ref), expected)


def test_with_excitation_the_estimate_goes_to_the_payload_and_the_error_to_zero() -> None:
    law = adaptive()
    q_ref, v_ref, a_ref = swings(12.0)
    run = rollout(ROBOT, LAYOUT, LOADED, q_ref, v_ref, a_ref, ClosedLoop(law, 1e-3), code="generic")
    memory = np.array(law.memory)
    for row in zip(run.q, run.v, q_ref, v_ref, a_ref, strict=True):
        control_command(law, memory, *row)
    assert memory[0] == pytest.approx(LOAD.mass, rel=0.02)
    moments = LOAD.parameters[1:4]
    assert np.linalg.norm(memory[1:4] - moments) < 0.1 * np.linalg.norm(moments)
    error = np.abs(q_ref - run.q).max(axis=1)
    assert error[-2000:].max() < 0.1 * error[:1000].max()
    blind = replace(law, adaptation=np.zeros(10))
    same = rollout(ROBOT, LAYOUT, LOADED, q_ref, v_ref, a_ref, ClosedLoop(blind, 1e-3), code="generic")
    assert np.abs(q_ref - same.q)[-2000:].max() > 10 * error[-2000:].max()


def test_energy_of_both_errors_never_grows() -> None:
    law, h = replace(adaptive(), cycle=1e-4), 1e-4
    q_ref, v_ref, a_ref = swings(1.0)
    q, v, memory, seen = q_ref[0].copy(), v_ref[0] + 0.05, np.array(law.memory), []
    for n in range(300):  # one held reference row is a motion of its own: extrapolate it exactly
        t = n * h
        at = q_ref[0] + v_ref[0] * t + a_ref[0] * t * t / 2
        rate = v_ref[0] + a_ref[0] * t
        r = rate + 8.0 * (at - q) - v
        H = mass_matrix(ROBOT, LAYOUT, LOADED, q)[0]
        lack = LOAD.parameters - memory
        seen.append(0.5 * r @ H @ r + 0.5 * (lack / GAMMA) @ lack)
        tau = control_command(law, memory, q, v, at, rate, a_ref[0])
        v = v + h * forward_dynamics(ROBOT, LAYOUT, LOADED, q, v, tau)[0]
        q = q + h * v
    assert (np.diff(seen) <= 1e-5 * seen[0]).all()
    assert seen[-1] < seen[0]


def test_the_estimate_stays_in_its_box() -> None:
    lower, upper = np.full(10, -0.01), np.full(10, 0.02)
    law = adaptive(lower=lower, upper=upper)
    memory, rng = np.array(law.memory), np.random.default_rng(3)
    touched = np.zeros(10, dtype=bool)
    for _ in range(300):
        control_command(law, memory, *rng.uniform(-1, 1, (5, ROBOT.nv)))
        assert ((memory >= lower) & (memory <= upper)).all()
        touched |= (memory == lower) | (memory == upper)
    assert touched[:4].all()


def robust(layer: float = 1e-3, adaptation: float = 2000.0) -> AdaptiveRobust:
    return AdaptiveRobust.nominal(ROBOT, 100.0, 20.0, adaptation, layer, cycle=1e-3)


def test_the_adapted_robust_term_is_an_acceleration_along_the_error() -> None:
    law, rng = robust(layer=1e-3), np.random.default_rng(4)
    base = ComputedTorque.nominal(ROBOT, 100.0, 20.0)
    for size in (0.0, 3.0):
        q, v, q_ref, v_ref, a_ref = rng.uniform(-1, 1, (5, ROBOT.nv))
        z = (
            np.linalg.solve(  # Lyapunov's equation of one joint, its last column
                np.array([[0.0, -200.0, 0.0], [1.0, -20.0, -100.0], [0.0, 2.0, -40.0]]), [-1.0, 0.0, -1.0]
            )[1:]
            @ np.stack([q_ref - q, v_ref - v])
        )
        memory = np.array([size])
        tau = control_command(law, memory, q, v, q_ref, v_ref, a_ref)
        more = a_ref + size * z / np.linalg.norm(z)
        assert_agree(tau, base.torque(q, v, q_ref, v_ref, more))
        assert memory[0] == pytest.approx(size + 1e-3 * 2000.0 * np.linalg.norm(z))


def test_the_adapted_robust_term_takes_down_the_error_that_a_payload_leaves() -> None:
    q_ref, v_ref, a_ref = swings(4.0)
    errors = [
        np.abs(
            q_ref
            - rollout(ROBOT, LAYOUT, LOADED, q_ref, v_ref, a_ref, ClosedLoop(law, 1e-3), code="generic").q
        )[-1000:].max()
        for law in (robust(), robust(adaptation=0.0))
    ]
    assert errors[0] < 0.3 * errors[1]


def test_files_become_the_adaptive_laws(tmp_path: Path) -> None:
    path = tmp_path / "law.toml"
    box = "lower = [0, -1, -1, -1, 0, -1, 0, -1, -1, 0]\nupper = [4, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    path.write_text(f'law = "adaptive"\nkr = 8\nkd = 10\nadaptation = {GAMMA.tolist()}\ncycle = 0.001\n{box}')
    lower, upper = np.array([0, -1, -1, -1, 0, -1, 0, -1, -1, 0]), np.array([4] + [1] * 9)
    assert read_controller(path, ROBOT).settings == adaptive(lower=lower, upper=upper).settings
    path.write_text(
        'law = "adaptive-robust"\nkp = 100\nkd = 20\nadaptation = 2000\nlayer = 0.001\ncycle = 0.001\n'
    )
    assert read_controller(path, ROBOT).settings == robust().settings


def test_a_box_without_the_start_and_gains_without_sense_are_refused() -> None:
    with pytest.raises(InputError, match="lower, upper: the box must hold no payload"):
        adaptive(lower=np.full(10, 0.1))
    with pytest.raises(InputError, match="kp: must be positive at every joint"):
        AdaptiveRobust.nominal(ROBOT, 0.0, 20.0, 1.0, 1e-3, cycle=1e-3)
