"""Gain, time constant and dead time of a joint: judged by SciPy's integrators, and on coarse encoders."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import lsim

from steelyard.arrays import Array
from steelyard.control import JointModel
from steelyard.errors import InputError, NoSolutionError, RecordingError, UnknownNameError
from steelyard.estimation import JointTrace, excited_joint, fit_first_order
from steelyard.estimation.first_order import first_order_response
from steelyard.recording import Recording
from steelyard.simulation.joint_experiments import open_loop, prbs, square_wave
from steelyard.zoo import zoo_robot

PAPER = JointModel(25.0, 0.15, 0.0015)  # joint 7 of Oaki et al. (2026)
CYCLE, STEP = 1e-3, 2.0 * math.pi / 4096
TORQUES = (
    square_wave(0.1, 0.4, 3, 1000.0),
    prbs(0.1, 0.01, 7, 1000.0, np.random.default_rng(3)),
)


def positions(model: JointModel, torque: Array, offset: float = 0.0) -> Array:
    """Encoder positions of a lag in steps of 20 µs, each with the torque that acts then."""
    fine = 50
    t = np.arange(len(torque) * fine + 1) * CYCLE / fine
    sent = np.floor((t - model.dead_time) / CYCLE + 1e-9).astype(int)
    u = np.where(sent >= 0, torque[np.clip(sent, 0, len(torque) - 1)], 0.0) - offset
    system = ([model.gain], [model.time_constant, 1.0, 0.0])
    _, q, _ = lsim(system, u, t, interp=False)
    return np.asarray(q[::fine])


@cache
def papers_positions(k: int, offset: float) -> Array:
    return positions(PAPER, TORQUES[k], offset)


def traces(*, step: float = 0.0, start: float = 0.1, offset: float = 0.0) -> list[JointTrace]:
    made = []
    for k, torque in enumerate(TORQUES):
        q = start + papers_positions(k, offset)
        made.append(JointTrace("wrist", CYCLE, torque, step * np.rint(q / step) if step else q))
    return made


@pytest.mark.parametrize("dead_time", [0.0, 0.00036, 0.001, 0.0015, 0.0072])
def test_the_closed_form_agrees_with_an_integrator(dead_time: float) -> None:
    model = JointModel(25.0, 0.03, dead_time)
    torque = np.random.default_rng(0).choice([-1.0, 1.0], 60)

    def slope(t: float, x: Array) -> list[float]:
        k = math.floor((t - dead_time) / CYCLE)
        u = torque[k] if 0 <= k < len(torque) else 0.0
        return [x[1], (model.gain * u - x[1]) / model.time_constant]

    # Restarted wherever the torque changes, so that the integrator sees smooth pieces only.
    changes = np.unique(np.concatenate([np.arange(61) * CYCLE, dead_time + np.arange(60) * CYCLE]))
    state, q = np.zeros(2), {0.0: 0.0}
    for a, b in pairwise(changes):
        if b > 60.5 * CYCLE:
            break
        middle = 0.5 * (a + b)
        found = solve_ivp(lambda t, x, m=middle: slope(m, x), (a, b), state, rtol=1e-11, atol=1e-13)
        state = found.y[:, -1]
        q[round(b / CYCLE, 6)] = float(state[0])
    measured = np.diff([q[float(k)] for k in range(61)]) / CYCLE
    said = model.gain * first_order_response(model.held_response(CYCLE), torque)
    assert said == pytest.approx(measured, rel=1e-7, abs=1e-8)


def test_the_sampled_response_is_the_transform_of_the_pulse_response() -> None:
    model = JointModel(25.0, 0.02, 0.0023)
    pulse = np.zeros(2048)
    pulse[0] = 1.0
    differences = np.diff(positions(model, pulse)) / CYCLE
    w = 2.0 * math.pi * np.array([0.5, 3.0, 40.0, 170.0, 420.0])
    # A difference is known at the end of its cycle, one after the command.
    z = np.exp(-1j * np.outer(w, np.arange(1, 2049)) * CYCLE)
    assert model.sampled_response(w, CYCLE) == pytest.approx(z @ differences, rel=1e-4)
    slow = np.array([0.1, 1.0])
    assert model.sampled_response(slow, CYCLE) == pytest.approx(model.frequency_response(slow), rel=2e-3)


@pytest.mark.parametrize("terms", [(), ("coulomb", "stiffness")])
def test_exact_positions_give_the_model_back(terms: tuple[str, ...]) -> None:
    fit = fit_first_order(traces(offset=0.01), terms=terms)
    assert fit.model.gain == pytest.approx(25.0, rel=1e-4)
    assert fit.model.time_constant == pytest.approx(0.15, rel=1e-4)
    assert fit.model.dead_time == pytest.approx(0.0015, abs=1e-6)
    assert fit.unexplained < 1e-4


def test_the_papers_joint_comes_out_of_a_12_bit_encoder() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([PAPER.gain, PAPER.time_constant, PAPER.dead_time])
    inside = []
    for _ in range(12):
        fit = fit_first_order(traces(step=STEP, start=rng.uniform(0.0, 1.0), offset=0.003), terms=())
        found = np.array([fit.model.gain, fit.model.time_constant, fit.model.dead_time])
        assert found[:2] == pytest.approx(truth[:2], rel=0.01)
        assert found[2] == pytest.approx(truth[2], abs=0.2e-3)
        assert (fit.half_widths < [0.5, 0.004, 0.25e-3]).all()
        inside.append(np.abs(found - truth) <= fit.half_widths)
        assert abs(fit.model.inertia - 0.006) <= 2.0 * fit.inertia_half_width
        assert abs(fit.model.viscous - 0.04) <= 2.0 * fit.viscous_half_width
    assert np.mean(inside) >= 0.9


def with_dry_friction(torque: Array, friction: float, stiffness: float = 0.0) -> JointTrace:
    """A joint that sticks and slips, by small explicit steps."""
    M, D, fine = PAPER.inertia, PAPER.viscous, 40
    q, v, h = 0.0, 0.0, CYCLE / fine
    kept = [q]
    for k in range(len(torque) * fine):
        sent = math.floor(k / fine - PAPER.dead_time / CYCLE + 1e-9)
        push = (torque[sent] if sent >= 0 else 0.0) - D * v - stiffness * q
        free = v + h * push / M
        v = math.copysign(max(abs(free) - h * friction / M, 0.0), free)
        q += h * v
        if (k + 1) % fine == 0:
            kept.append(q)
    return JointTrace("wrist", CYCLE, torque, np.array(kept))


def test_dry_friction_lowers_the_gain_unless_it_is_fitted() -> None:
    # Half a period is seven time constants: the speed is steady for the most part.
    torque = square_wave(0.1, 2.0, 1, 1000.0)
    trace = with_dry_friction(torque, 0.02)
    plain, full = fit_first_order([trace], terms=()), fit_first_order([trace], terms=("coulomb",))
    assert plain.model.gain == pytest.approx(25.0 * (1.0 - 0.02 / 0.1), rel=0.08)
    assert plain.model.inertia == pytest.approx(0.006, rel=0.08)
    assert full.model.gain == pytest.approx(25.0, rel=0.02)
    assert full.coulomb == pytest.approx(0.02, rel=0.05)
    assert full.model.dead_time == pytest.approx(0.0015, abs=2e-4)


def test_gravity_that_pulls_back_is_told_from_friction() -> None:
    made = [with_dry_friction(torque, 0.01, stiffness=0.08) for torque in TORQUES]
    fit = fit_first_order(made)
    assert fit.stiffness == pytest.approx(0.08, rel=0.05)
    assert fit.model.gain == pytest.approx(25.0, rel=0.03)
    assert fit_first_order(made, terms=("coulomb",)).unexplained > 2.0 * fit.unexplained


def test_a_simulated_wrist_shows_its_description() -> None:
    robot = zoo_robot("crane_x7")
    posture, rng = np.zeros(7), np.random.default_rng(2)
    posture[3] = -0.5 * math.pi
    name = robot.joint_names[6]
    torques = (square_wave(0.35, 0.4, 4, 1000.0), prbs(0.35, 0.02, 6, 1000.0, rng))
    logs = [open_loop(robot, name, torque, posture=posture, rng=rng, travel=0.6) for torque in torques]
    fit = fit_first_order([JointTrace.of(log) for log in logs])
    drive = robot.joints[6].drive
    # The drives believe in their gain to 2 %, and 0.01 to 0.032 N·m of friction are hidden.
    assert fit.model.inertia == pytest.approx(0.00453, rel=0.05)
    assert fit.model.viscous == pytest.approx(drive.viscous, rel=0.15)
    assert drive.coulomb < fit.coulomb < drive.coulomb + 0.035
    assert abs(fit.model.dead_time - 0.0015) < max(1.5 * fit.half_widths[2], 0.15e-3)


def test_an_experiment_is_of_the_joint_whose_commands_were_logged() -> None:
    time = np.arange(50) / 1000.0
    bare = Recording(("a", "b"), time, q=np.zeros((50, 2)))
    with pytest.raises(RecordingError, match="commands of 0 joints"):
        excited_joint(bare)
    log = replace(bare, extra={"command_b": np.arange(50.0)})
    assert excited_joint(log) == "b"
    trace = JointTrace.of(log)
    assert (trace.n, trace.interval) == (49, 0.001)
    with pytest.raises(RecordingError, match="commands of 2 joints"):
        excited_joint(replace(log, extra={**log.extra, "command_a": np.zeros(50)}))


def test_what_cannot_be_fitted_is_refused_with_its_reason() -> None:
    good = traces()
    with pytest.raises(UnknownNameError, match="coulomb, stiffness"):
        fit_first_order(good, terms=("stribeck",))
    with pytest.raises(NoSolutionError, match="does not move"):
        fit_first_order([JointTrace("wrist", CYCLE, good[0].command, np.zeros(good[0].n + 1))])
    with pytest.raises(NoSolutionError, match="does not follow its torque"):
        fit_first_order(
            [JointTrace("wrist", CYCLE, -trace.command, trace.position) for trace in good], terms=()
        )
    with pytest.raises(InputError, match="different joints"):
        fit_first_order([good[0], JointTrace("elbow", CYCLE, good[1].command, good[1].position)])
    with pytest.raises(InputError, match="cycles of"):
        fit_first_order([good[0], JointTrace("wrist", 2e-3, good[1].command, good[1].position)])
    with pytest.raises(InputError, match="too few"):
        fit_first_order([JointTrace("wrist", CYCLE, np.ones(10), np.arange(11.0))])
    with pytest.raises(InputError, match="none is given"):
        fit_first_order([])
