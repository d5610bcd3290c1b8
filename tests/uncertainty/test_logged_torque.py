"""What a logged torque can be off by: signals whose integrals are known, logged late, early and wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.dynamics import forward_dynamics
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.loaded_arm import TimeWindows
from steelyard.uncertainty.momentum_windows import (
    delay_columns,
    impulses,
    torque_errors,
    torque_jumps,
)

from .payload_logs import loaded, run_of

JOINTS, ABSOLUTE, DELAY = 3, 0.05, 3e-3
FINE = 16
"""Instants of the true signals between two samples."""


def bounds(rate: Array | None, delay: float) -> ErrorBounds:
    return ErrorBounds(
        tuple(f"joint {k}" for k in range(JOINTS)),
        np.zeros(JOINTS),
        np.full(JOINTS, ABSOLUTE),
        *np.zeros((3, JOINTS)),
        parameters=np.zeros(1),
        torque_rate=rate,
        delay=delay,
    )


def left_over(
    time: Array, true: Array, log: Array, jumps: Array, errors: ErrorBounds, *, margin: float = DELAY
) -> tuple[Array, Array]:
    """What the rule leaves of the true impulse of each window, and the bound.

    The true torque holds on each of the `FINE` parts of an interval; the log has one value for each sample.
    """
    windows = TimeWindows.regular(time, 0.1, margin=margin)
    parts = true[:-1].reshape(len(time) - 1, FINE, JOINTS).mean(axis=1)
    impulse = windows.held(log) if errors.torque_rate is None else windows.trapezoid(log)
    off = windows.total(parts * windows.intervals) - impulse
    return np.abs(off), torque_errors(windows, log, jumps, errors)


def shifted(signal: Array, parts: Array) -> Array:
    """A fine signal moved later by a number of parts for each joint; beyond its ends it stays."""
    at = np.arange(len(signal))[:, None] - parts
    return np.take_along_axis(signal, np.clip(at, 0, len(signal) - 1), axis=0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pattern", ["random", "late", "early"])
def test_a_held_torque_logged_late_or_early_stays_within_the_bound(pattern: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    time = 1e-3 * np.arange(421)
    kicks = rng.normal(scale=5.0, size=(421, JOINTS))
    # The torque of a bang at one end of each window: the worst for a delay.
    kicks += 20.0 * np.sign(np.sin(np.pi * time / 0.1))[:, None]
    most = round(DELAY / 1e-3)
    samples = {"random": rng.integers(-most, most + 1, JOINTS), "late": most, "early": -most}[pattern]
    true = np.repeat(shifted(kicks, -np.broadcast_to(samples, JOINTS)), FINE, axis=0)[: 420 * FINE + 1]
    log = kicks + ABSOLUTE * rng.choice([-1.0, 1.0], JOINTS)
    nothing = np.zeros((420, JOINTS))
    off, bound = left_over(time, true, log, nothing, bounds(None, DELAY))
    assert (off <= bound * (1.0 + 1e-12)).all()
    if pattern != "random":
        off, bound = left_over(time, true, log, nothing, bounds(None, 0.0))
        assert (off > bound).any()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pattern", ["random", "late", "early"])
def test_a_torque_of_bounded_rate_logged_late_or_early_stays_within_the_bound(
    pattern: str, seed: int
) -> None:
    """Zigzags as steep as allowed, with jumps of friction that the delay moves out of their interval."""
    rng = np.random.default_rng([7, seed])
    time, coulomb, rate = 1e-3 * np.arange(421), np.array([0.0, 2.0, 4.0]), np.full(JOINTS, 300.0)
    fine = 1e-3 / FINE
    slopes = np.repeat(rng.choice([-1.0, 1.0], (30, JOINTS)), 15 * FINE, axis=0)[: 420 * FINE]
    smooth = np.vstack([np.zeros(JOINTS), np.cumsum(rate * slopes * fine, axis=0)])
    turns = rng.integers(0, 420 * FINE, (12, JOINTS))
    sign = np.ones((420 * FINE + 1, JOINTS))
    for k in range(JOINTS):
        for turn in turns[:, k]:
            sign[turn:, k] *= -1.0
    true = smooth + coulomb * sign
    most = round(DELAY / fine)
    parts = {"random": rng.integers(-most, most + 1, JOINTS), "late": most, "early": -most}[pattern]
    late = shifted(true, np.broadcast_to(parts, JOINTS))
    log = late[::FINE] + ABSOLUTE * rng.choice([-1.0, 1.0], (421, JOINTS))
    signs = np.ones((420, JOINTS))
    for k in range(JOINTS):
        signs[np.minimum(turns[:, k] // FINE, 419), k] = 0.0
    verdicts = {}
    for delay in (DELAY, 0.0):
        errors = bounds(rate, delay)
        jumps = torque_jumps(TimeWindows.regular(time, 0.1, margin=DELAY), signs, coulomb, errors)
        off, bound = left_over(time, true, log, jumps, errors)
        # The true signal is summed in steps of `fine`, each off by half its own rise.
        verdicts[delay] = (off <= bound + 0.1 * 0.5 * 300.0 * fine + 4.0 * fine).all()
    assert verdicts[DELAY]
    if pattern != "random":
        assert not verdicts[0.0]


@pytest.mark.parametrize("seed", range(6))
def test_a_torque_between_its_samples_is_within_the_bound_whatever_its_steady_delay(seed: int) -> None:
    """Between two samples anything between their values, then late or early by one time for each joint."""
    rng = np.random.default_rng([8, seed])
    time = np.cumsum(rng.uniform(0.5e-3, 1.5e-3, 421))
    kicks = np.cumsum(rng.normal(scale=2.0, size=(421, JOINTS)), axis=0)
    share = rng.choice([0.0, 1.0, 0.5], (420, 1, JOINTS)) * np.ones((1, FINE, 1))
    share = np.where(rng.integers(2, size=(420, 1, JOINTS)), share, rng.uniform(size=(420, FINE, JOINTS)))
    between = (kicks[:-1, None] * (1.0 - share) + kicks[1:, None] * share).reshape(-1, JOINTS)
    late = DELAY * rng.choice([-1.0, 1.0, 0.4], JOINTS)
    log = kicks + ABSOLUTE * rng.choice([-1.0, 1.0], (421, JOINTS))
    if seed == 0:  # as high as it can be everywhere
        between = np.repeat(np.maximum(kicks[1:], kicks[:-1]), FINE, axis=0)
        late, log = np.zeros(JOINTS), kicks - ABSOLUTE
    errors = replace(bounds(None, DELAY), torque_holds=False, delay_steady=True)
    windows = TimeWindows.regular(time, 0.1, margin=DELAY)
    # The impulse of the true torque is that of the logged one over windows that are later by the delay.
    width = np.repeat(np.diff(time) / FINE, FINE)[:, None]
    ends = np.append(0.0, np.cumsum(width)) + time[0]
    total = np.vstack([np.zeros(JOINTS), np.cumsum(between * width, axis=0)])
    at = time[windows.edges]
    true = np.column_stack([np.diff(np.interp(at + late[k], ends, total[:, k])) for k in range(JOINTS)])
    nothing = np.zeros((420, JOINTS))
    bound = torque_errors(windows, log, nothing, errors)
    off = impulses(windows, log, errors) - true - late * delay_columns(windows, log, nothing, errors)
    assert (np.abs(off) <= bound * (1.0 + 1e-9)).all()
    if seed == 0:
        assert (np.abs(off) > 0.7 * bound).all()
    assert (bound < torque_errors(windows, log, nothing, replace(errors, delay_steady=False))).mean() > 0.7


def test_the_bound_of_a_jump_is_reached_right_after_a_sample() -> None:
    time, coulomb = 1e-3 * np.arange(101), np.full(JOINTS, 50.0)
    true = np.where(np.arange(100 * FINE + 1)[:, None] < 40 * FINE + 1, -1.0, 1.0) * coulomb
    signs = np.where(np.arange(100)[:, None] == 40, 0.0, np.ones(JOINTS))
    errors = bounds(np.zeros(JOINTS), 0.0)
    jumps = torque_jumps(TimeWindows.regular(time, 0.1), signs, coulomb, errors)
    off, bound = left_over(time, true, true[::FINE], jumps, errors, margin=0.0)
    assert (off <= bound).all()
    assert (off > 0.75 * bound).all()


def test_the_bound_of_a_delay_is_reached_by_a_torque_that_differs_between_both_ends() -> None:
    time, nothing = 1e-3 * np.arange(107), np.zeros((106, JOINTS))
    log = np.where(time[:, None] < 0.05, -10.0, 10.0) * np.ones(JOINTS)
    true = np.repeat(shifted(log, np.full(JOINTS, -3)), FINE, axis=0)[: 106 * FINE + 1]
    off, bound = left_over(time, true, log, nothing, bounds(None, DELAY))
    without = left_over(time, true, log, nothing, bounds(None, 0.0))[1]
    np.testing.assert_allclose(off, DELAY * 20.0)
    np.testing.assert_allclose(bound - without, DELAY * (20.0 + 2.0 * ABSOLUTE))


def test_a_steady_torque_costs_nothing_but_its_error() -> None:
    time, nothing = 1e-3 * np.arange(107), np.zeros((106, JOINTS))
    log, true = np.full((107, JOINTS), 30.0), np.full((106 * FINE + 1, JOINTS), 30.0)
    bound, without = (left_over(time, true, log, nothing, bounds(None, d))[1] for d in (DELAY, 0.0))
    np.testing.assert_allclose(bound - without, DELAY * 2.0 * ABSOLUTE)


def test_a_delay_moves_the_jump_of_friction_to_intervals_around() -> None:
    time, signs = 1e-3 * np.arange(21), np.ones((20, JOINTS))
    signs[10, 1] = 0.0
    windows = TimeWindows(time, np.array([0, 20]))
    coulomb = np.full(JOINTS, 0.5)
    jumps = torque_jumps(windows, signs, coulomb, bounds(np.zeros(JOINTS), 2.5e-3))
    assert np.flatnonzero(jumps[:, 1]).tolist() == [0, 1, 2, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19]
    assert np.flatnonzero(jumps[:, 0]).tolist() == [0, 1, 2, 17, 18, 19]
    assert set(jumps.ravel()) == {0.0, 1.0}
    exact = torque_jumps(windows, signs, coulomb, bounds(np.zeros(JOINTS), 0.0))
    assert np.argwhere(exact).tolist() == [[10, 1]]
    assert not torque_jumps(windows, signs, coulomb, bounds(None, 2.5e-3)).any()


@pytest.mark.parametrize("late", [2, -2])
def test_rows_hold_the_truth_of_a_plant_whose_torque_is_logged_late_or_early(late: int) -> None:
    """The arm set free under kicks that hold for a millisecond; its log has the kicks of two samples off."""
    run = run_of("kinova_gen3_2f85", 14, model=0.0, drive=("viscous", "rotor"))
    robot, layout, rng, h = run.robot, run.layout, np.random.default_rng(0), 1e-3
    phi = loaded(layout, layout.complete_nominal(), run.held, run.ten)

    def rate(x: Array, tau: Array) -> Array:
        return np.concatenate([x[7:], forward_dynamics(robot, layout, phi, x[:7], x[7:], tau)[0]])

    kicks = rng.uniform(-3.0, 3.0, (209, 7)) + 8.0 * np.sign(np.sin(np.pi * np.arange(209) / 100.0))[:, None]
    states, fastest = [np.concatenate([run.log.q[0], np.zeros(7)])], np.zeros(7)
    for tau in kicks[2:206]:
        x = states[-1]
        k1 = rate(x, tau)
        k2 = rate(x + 0.5 * h * k1, tau)
        k3 = rate(x + 0.5 * h * k2, tau)
        k4 = rate(x + h * k3, tau)
        states.append(x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
        fastest = np.maximum(fastest, np.abs([k1[7:], k4[7:]]).max(axis=0))
    at = np.array(states)
    tau = kicks[2 - late : 2 - late + len(at)]
    log = Recording(robot.joint_names, h * np.arange(len(at)), at[:, :7], v=at[:, 7:], tau=tau)
    errors = ErrorBounds.stated(
        robot,
        layout,
        layout.complete_nominal(),
        torque=(0.0, 1e-6),
        model=0.0,
        velocity=0.0,
        acceleration=1.05 * fastest,
        delay=2e-3,
    )
    for delay, kept in ((2e-3, True), (0.0, False)):
        rows = replace(run, errors=replace(errors, delay=delay)).rows(log)
        assert len(rows.target) == 2 * 7
        assert bool((np.abs(rows.target - rows.load @ run.ten) <= rows.error).all()) is kept


def test_a_delay_is_said_in_words_and_none_below_zero_is_taken() -> None:
    assert any("up to 0.003 s before or after its sample" in line for line in bounds(None, DELAY).assumptions)
    assert any("of the instant of its sample" in line for line in bounds(None, 0.0).assumptions)
    for wrong in (-1e-3, np.inf, np.nan):
        with pytest.raises(InputError, match="finite and not negative"):
            bounds(None, wrong)
