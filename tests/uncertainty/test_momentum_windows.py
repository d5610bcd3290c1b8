from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.drive import StribeckShape
from steelyard.dynamics import forward_dynamics, inverse_dynamics, mass_matrix, momentum_rate_regressor
from steelyard.errors import InputError, RecordingError
from steelyard.inertia import Body, change_of_frame
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.recording import Recording
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.loaded_arm import ArmNorms, LoadedArm, TimeNodes, TimeWindows
from steelyard.uncertainty.momentum_windows import (
    bounded_rows,
    certain_signs,
    end_errors,
    motion_errors,
    slope_errors,
)
from steelyard.uncertainty.payload_polytope import PayloadBox
from steelyard.zoo import zoo_robot

from .payload_logs import DRIVE, EXTENT, HEAVIEST, Run, loaded, run_of, with_errors

ARMS = ("kinova_gen3", "panda", "scara")


def residual(run: Run, log: Recording | None = None) -> tuple[Array, Array]:
    """What the truth leaves of each row, and the error it may leave."""
    rows = run.rows(log)
    delta = run.truth - run.layout.complete_nominal()
    return rows.target - rows.load @ run.ten - rows.robot @ delta, rows.error


@pytest.mark.parametrize("pattern", ["uniform", "bias", "adversarial"])
@pytest.mark.parametrize("name", ARMS)
def test_the_truth_satisfies_every_row(name: str, pattern: str) -> None:
    run = run_of(name, 1)
    left, error = residual(run, with_errors(run, pattern, np.random.default_rng(2)))
    assert (np.abs(left) <= error).all()


@pytest.mark.parametrize("name", ARMS)
def test_errors_twice_their_bound_break_rows(name: str) -> None:
    run = run_of(name, 1, velocity=0.0, position=0.0)
    left, error = residual(run, with_errors(run, "bias", np.random.default_rng(2), torque_times=2.0))
    assert (np.abs(left) > error).any()


@pytest.mark.parametrize("name", ARMS)
def test_perfect_sensors_leave_only_what_the_rule_misses(name: str) -> None:
    run = run_of(name, 3, torque=(0.0, 1e-9), velocity=0.0, position=0.0, model=0.0, drive=("rotor",))
    left, error = residual(run)
    assert (np.abs(left) <= error).all()
    # At 1 kHz the rule costs less than the hundredths of N·m·s that sensors do.
    assert error.mean() < 0.01


def test_velocity_errors_reach_the_momentum_through_the_rotor() -> None:
    run = run_of("kinova_gen3", 4, velocity=1e-2, model=0.0)
    left, error = residual(run, with_errors(run, "uniform", np.random.default_rng(0)))
    assert (np.abs(left) <= error).all()
    # A rotor that is ten times larger adds its momentum error at both ends of every window, and nothing else.
    phi = run.layout.complete_nominal()
    heavy, rotors = phi.copy(), [run.layout.index(f"{joint}.rotor") for joint in run.robot.joint_names]
    heavy[rotors] *= 10.0
    one, ten = (
        bounded_rows(run.robot, run.layout, x, run.log, run.held, run.errors, run.prior).error
        for x in (phi, heavy)
    )
    more = (ten - one).reshape(-1, run.robot.nv)
    assert np.abs(more - 2.0 * 1e-2 * 9.0 * phi[rotors]).max() < 1e-9


def test_a_torque_that_holds_between_samples_needs_no_rate() -> None:
    """Kicks of random torque, each held for a millisecond, on the arm set free; integrated by Runge-Kutta."""
    run = run_of("kinova_gen3", 14, model=0.0, drive=("viscous", "rotor"))
    robot, layout, rng, h = run.robot, run.layout, np.random.default_rng(0), 1e-3
    phi = loaded(layout, layout.complete_nominal(), run.held, run.ten)

    def rate(x: Array, tau: Array) -> Array:
        return np.concatenate([x[7:], forward_dynamics(robot, layout, phi, x[:7], x[7:], tau)[0]])

    states, torques, fastest = [np.concatenate([run.log.q[0], np.zeros(7)])], [], np.zeros(7)
    for _ in range(200):
        x, tau = states[-1], rng.uniform(-10.0, 10.0, 7)
        for _ in range(2):
            k1 = rate(x, tau)
            k2 = rate(x + 0.25 * h * k1, tau)
            k3 = rate(x + 0.25 * h * k2, tau)
            k4 = rate(x + 0.5 * h * k3, tau)
            x = x + h / 12.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            fastest = np.maximum(fastest, np.abs([k1[7:], k4[7:]]).max(axis=0))
        states.append(x)
        torques.append(tau)
    at = np.array(states)
    time, tau = h * np.arange(201), np.array([*torques, torques[-1]])
    log = Recording(robot.joint_names, time, at[:, :7], v=at[:, 7:], tau=tau)
    errors = ErrorBounds.stated(
        robot,
        layout,
        layout.complete_nominal(),
        torque=(0.0, 1e-6),
        model=0.0,
        velocity=0.0,
        acceleration=1.05 * fastest,
    )
    held = replace(run, errors=errors)
    left, error = residual(held, log)
    assert (np.abs(left) <= error).all()
    # Read as samples of a continuous torque, the same log leaves far more.
    rows = replace(held, errors=replace(errors, torque_rate=np.zeros(7))).rows(log)
    assert np.abs(left).max() < 0.1 * np.abs(rows.target - rows.load @ run.ten).max()


def test_the_payload_of_the_rows_is_the_body_bolted_to_the_tool() -> None:
    run = run_of("panda", 5, model=0.0)
    carrying = run.robot.with_body("payload", Body.from_parameters(run.ten))
    layout = layout_of(carrying, DRIVE)
    tau = inverse_dynamics(
        carrying,
        layout,
        layout.complete_nominal(),
        run.log.q,
        run.log.channels["v"],
        np.gradient(run.log.channels["v"], run.log.time, axis=0),
    )
    left, error = residual(run, run.log.with_channels(tau=tau))
    assert (np.abs(left) <= error).all()
    assert (np.abs(run.rows().target) > error).any()


def small_arm(name: str, rng: np.random.Generator) -> tuple[LoadedArm, ArmNorms, Array]:
    """An arm with a payload, its norms, and a draw of the parameters of both from their boxes."""
    robot = zoo_robot(name)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    prior = PayloadBox.in_ball(HEAVIEST, EXTENT)
    tool = robot.tool_frame
    link = robot.link_names[tool.link]
    arm = LoadedArm(
        robot,
        layout,
        phi,
        0.05 * np.abs(phi),
        layout.of_link(link),
        change_of_frame(tool.placement),
        prior,
    )
    travel = np.full(robot.nv, 3.0)
    links = 1.05 * np.abs(phi).reshape(-1, 10)
    norms = ArmNorms.of(robot, links, prior.largest, link, tool.placement, travel)
    drawn = phi + rng.choice([-0.05, 0.05], phi.shape) * np.abs(phi)
    ten = random_body(rng, mass=(1.0, HEAVIEST), size=0.1).parameters
    drawn[arm.carrier] += arm.to_link @ ten
    return arm, norms, drawn


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("name", ARMS)
def test_norms_bound_the_mass_matrix_and_its_derivatives(name: str, number: int) -> None:
    """Of an arm that weighs nothing and a payload that is one of the ten numbers alone."""
    rng = np.random.default_rng(6)
    robot = zoo_robot(name)
    layout, tool, nv, step = layout_of(robot), robot.tool_frame, robot.nv, 1e-3
    link, phi, ten = robot.link_names[tool.link], np.zeros(layout.size), np.eye(10)[number]
    phi[layout.of_link(link)] = change_of_frame(tool.placement) @ ten
    norms = ArmNorms.of(robot, np.zeros((nv, 10)), ten, link, tool.placement, np.full(nv, 3.1))
    bound = np.array([[norms.rows(a, b) for b in np.eye(nv)] for a in np.eye(nv)])
    q = rng.uniform(-3.0, 3.0, (40, nv))

    def H(*moved: Array) -> Array:
        return mass_matrix(robot, layout, phi, q + np.sum([step * x for x in moved], axis=0))

    assert (np.abs(H(np.zeros(nv))) <= bound.max(axis=2) + 1e-12).all()
    assert (np.abs(H(np.zeros(nv))) <= np.stack([norms.momentum(y) for y in np.eye(nv)]) + 1e-12).all()
    for k, e in enumerate(np.eye(nv)):
        assert (np.abs(H(e) - H(-e)) / (2.0 * step) <= 2.0 * bound[:, :, k] + 1e-5).all()
        f = np.eye(nv)[rng.integers(nv)]
        mixed = H(e, f) - H(e, -f) - H(-e, f) + H(-e, -f)
        assert (np.abs(mixed) / (4.0 * step**2) <= 4.0 * bound[:, :, k] + 1e-4).all()


@pytest.mark.parametrize("name", ARMS)
def test_norms_bound_the_weight_and_its_derivative(name: str) -> None:
    rng = np.random.default_rng(7)
    arm, norms, phi = small_arm(name, rng)
    nv, step = arm.robot.nv, 1e-5
    for q in rng.uniform(-3.0, 3.0, (5, nv)):

        def g(q: Array) -> Array:
            return inverse_dynamics(arm.robot, arm.links, phi, q, np.zeros(nv), np.zeros(nv))[0]

        assert (np.abs(g(q)) <= norms.weight + 1e-12).all()
        for e in step * np.eye(nv):
            assert (np.abs(g(q + e) - g(q - e)) / (2.0 * step) <= norms.weight + 1e-6).all()


@pytest.mark.parametrize("name", ARMS)
def test_slopes_are_those_of_the_kinetic_energy(name: str) -> None:
    r"""$\partial_{v_j}\partial_{q_k}\tfrac12 v^T H v = \sum_a \partial_k H_{ja} v_a$, by differences of H."""
    rng = np.random.default_rng(8)
    arm, _, phi = small_arm(name, rng)
    nv, step = arm.robot.nv, 1e-5
    q, v = rng.uniform(-3.0, 3.0, (5, nv)), rng.normal(size=(5, nv))
    bounds = arm.velocity_slopes(q, v)
    for sample in range(5):
        D = np.stack(
            [
                (mass_matrix(arm.robot, arm.links, phi, q[sample] + e)[0] @ v[sample]
                 - mass_matrix(arm.robot, arm.links, phi, q[sample] - e)[0] @ v[sample]) / (2.0 * step)
                for e in step * np.eye(nv)
            ],
            axis=1,
        )  # fmt: skip
        assert (np.abs(D) <= bounds[sample] + 1e-8).all()
    certain = LoadedArm(
        arm.robot, arm.links, phi, 0.0 * phi, arm.carrier, arm.to_link, PayloadBox.between(*np.zeros((2, 10)))
    )
    assert np.abs(np.abs(D) - certain.velocity_slopes(q, v)[-1]).max() < 1e-7


@pytest.mark.parametrize("spacing", [1e-4, 2e-3])
@pytest.mark.parametrize("name", ["kinova_gen3", "panda"])
def test_the_bound_is_reached_by_a_velocity_that_strays_between_samples(name: str, spacing: float) -> None:
    """The velocity climbs at α after each sample and comes back before the next: the log does not show it."""
    rng = np.random.default_rng(9)
    arm, norms, phi = small_arm(name, rng)
    nothing = PayloadBox.between(*np.zeros((2, 10)))
    arm = LoadedArm(arm.robot, arm.links, phi, 0.0 * phi, arm.carrier, arm.to_link, nothing)
    nv, h, fine, row = arm.robot.nv, 1e-4, 40, 1
    alpha, q0, v0 = rng.uniform(1.0, 5.0, nv), rng.uniform(-1.0, 1.0, nv), rng.uniform(0.5, 1.0, nv)
    errors = ErrorBounds(arm.robot.joint_names, *np.zeros((4, nv)), alpha, np.zeros(1), None)
    windows = TimeWindows.regular(h * np.arange(201), 0.01)

    def rate(q: Array, v: Array) -> Array:
        return np.asarray(momentum_rate_regressor(arm.robot, arm.links, q, v) @ phi)

    towards = np.sign([float((rate(q0, v0 + e) - rate(q0, v0 - e))[0, row]) for e in np.eye(nv)])
    t = np.arange(200 * fine + 1) * h / fine
    tent = np.abs((t / h + 0.5) % 1.0 - 0.5) * h
    v_dense = v0 + towards * alpha * tent[:, None]
    increments = 0.5 * (v_dense[1:] + v_dense[:-1]) * (h / fine)
    q_dense = q0 + np.vstack([np.zeros(nv), np.cumsum(increments, axis=0)])
    K = rate(q_dense, v_dense)
    exact = 0.5 * h / fine * (K[1:] + K[:-1]).reshape(2, -1, nv).sum(axis=1)
    q, v = q_dense[::fine], v_dense[::fine]
    missed = np.abs(exact - windows.trapezoid(rate(q, v)))
    nodes = TimeNodes.spaced(windows.time, spacing)
    slopes = arm.velocity_slopes(q[nodes.samples], v[nodes.samples])
    bound = motion_errors(windows, nodes, slopes, v, errors, norms)
    assert (missed <= bound).all()
    assert (missed[:, row] > 0.5 * bound[:, row]).all()


@pytest.mark.parametrize("cause", ["motion", "wild motion", "velocity errors", "position errors"])
@pytest.mark.parametrize("name", ARMS)
def test_between_nodes_slopes_stay_below_what_their_ends_allow(name: str, cause: str) -> None:
    """Straight lines between nodes are not enough where the arm moves on or measurements are off."""
    rng = np.random.default_rng(11)
    arm, norms, phi = small_arm(name, rng)
    nothing = PayloadBox.between(*np.zeros((2, 10)))
    arm = LoadedArm(arm.robot, arm.links, phi, 0.0 * phi, arm.carrier, arm.to_link, nothing)
    nv, h, fine = arm.robot.nv, 2e-3, 10
    t = np.arange(100 * fine + 1)[:, None] * h / fine
    start, v0, omega = rng.uniform(-1.0, 1.0, nv), rng.uniform(1.0, 4.0, nv), rng.uniform(10.0, 20.0, nv)
    nothing_off, rest = np.zeros(nv), np.zeros_like(t)
    q, v, a, dq, dv = {
        "motion": (start + v0 * t, v0 + rest, nothing_off, nothing_off, nothing_off),
        "wild motion": (np.sin(omega * t), omega * np.cos(omega * t), omega**2, nothing_off, nothing_off),
        "velocity errors": (start + rest, nothing_off + rest, nothing_off, nothing_off, np.full(nv, 0.1)),
        # At rest, but for the log: its velocities are steady, only its positions are off.
        "position errors": (start + rest, nothing_off + rest, nothing_off, np.full(nv, 1e-3), v0),
    }[cause]
    errors = ErrorBounds(arm.robot.joint_names, *np.zeros((2, nv)), dv, dq, a, np.zeros(1))
    off = 1.0 if cause == "position errors" else rng.uniform(-1.0, 1.0, (101, nv))
    q_log, v_log = q[::fine] + dq * rng.uniform(-1.0, 1.0, (101, nv)), v[::fine] + dv * off
    nodes = TimeNodes.spaced(t[::fine, 0], 10 * h * (1.0 + 1e-9))
    strayed = rng.uniform(0.0, 1.0, (100, nv))
    speed = np.lib.stride_tricks.sliding_window_view(np.abs(v).sum(axis=1), fine + 1)[::fine]
    slopes = arm.velocity_slopes(q_log[nodes.samples], v_log[nodes.samples])
    bound = slope_errors(nodes, slopes, v_log, strayed, speed.max(axis=1, keepdims=True), errors, norms)
    line = np.stack([np.interp(t[:, 0], t[::fine, 0], x) for x in v_log.T], axis=1)
    true = np.einsum("tj,tjk->tk", np.repeat(strayed, fine, axis=0), arm.velocity_slopes(q, line)[:-1])
    most = true.reshape(100, fine, nv).max(axis=1)
    assert (most <= bound).all()
    at_samples = nodes.interpolated(slopes)
    alone = np.einsum("tj,tjk->tk", strayed, np.maximum(at_samples[1:], at_samples[:-1]))
    assert (most > alone * (1.0 + 1e-6)).any()


@pytest.mark.parametrize("name", ARMS)
def test_the_bound_is_reached_by_positions_and_velocities_that_are_off_together(name: str) -> None:
    rng = np.random.default_rng(10)
    arm, norms, phi = small_arm(name, rng)
    nothing = PayloadBox.between(*np.zeros((2, 10)))
    arm = LoadedArm(arm.robot, arm.links, phi, 0.0 * phi, arm.carrier, arm.to_link, nothing)
    nv, row, step = arm.robot.nv, 1, 1e-6
    dq, dv = np.full(nv, 1e-6), np.full(nv, 1e-6)
    errors = ErrorBounds(arm.robot.joint_names, *np.zeros((2, nv)), dv, dq, np.zeros(nv), np.zeros(1))
    q, v = rng.uniform(-2.0, 2.0, (2, nv)), rng.normal(size=(2, nv))

    def momentum(q: Array, v: Array) -> Array:
        return np.asarray(mass_matrix(arm.robot, arm.links, phi, q)[0] @ v)

    change = np.zeros(nv)
    for sign, q_end, v_end in zip((-1.0, 1.0), q, v, strict=True):
        slopes = [(momentum(q_end + e, v_end) - momentum(q_end - e, v_end))[row] for e in step * np.eye(nv)]
        inertia = mass_matrix(arm.robot, arm.links, phi, q_end)[0, row]
        off = momentum(q_end + dq * np.sign(slopes), v_end + dv * np.sign(inertia)) - momentum(q_end, v_end)
        change += sign * off if sign * off[row] > 0.0 else -sign * off
    bound = end_errors(arm.inertia(q), arm.position_slopes(q, v), v, errors, norms)[0]
    assert (np.abs(change) <= bound).all()
    assert np.abs(change[row]) > 0.9 * bound[row]


def test_a_sign_is_certain_only_where_no_allowed_velocity_changes_it() -> None:
    robot = zoo_robot("one_link")
    errors = ErrorBounds(
        robot.joint_names,
        *np.zeros((2, 1)),
        velocity=np.array([0.1]),
        position=np.zeros(1),
        acceleration=np.array([2.0]),
        parameters=np.zeros(1),
    )
    windows = TimeWindows.regular(np.array([0.0, 0.1, 0.2, 0.3, 0.4]), 0.1)
    v = np.array([[0.3], [0.25], [0.1], [-0.3], [-0.3]])
    # 0.275 - 0.1 - 0.1 > 0; an end of 0.1 may be zero; a change of sign; -0.3 + 0.1 + 0.1 < 0.
    assert certain_signs(windows, v, errors).ravel().tolist() == [1.0, 0.0, 0.0, -1.0]


def test_windows_follow_each_other_also_where_samples_are_uneven() -> None:
    time = np.cumsum(np.random.default_rng(0).uniform(0.5e-3, 1.5e-3, 1000))
    windows = TimeWindows.regular(time, 0.1)
    assert windows.count == int((time[-1] - time[0]) / 0.1)
    assert np.abs(windows.lengths - 0.1).max() < 2e-3
    f = np.sin(windows.time)[:, None]
    exact = -np.diff(np.cos(windows.time[windows.edges]))
    assert np.abs(windows.trapezoid(f).ravel() - exact).max() < 1e-6


def test_samples_outside_the_windows_belong_to_none() -> None:
    time = 1e-3 * np.arange(1001)
    windows = TimeWindows.regular(time, 0.1, margin=0.03)
    assert (time[windows.edges[0]], time[windows.edges[-1]]) == pytest.approx((0.03, 0.93))
    inside = windows.trapezoid(np.sin(time)[:, None]).sum()
    assert inside == pytest.approx(np.cos(0.03) - np.cos(0.93), rel=1e-6)
    assert windows.held(np.ones((1001, 1))).ravel() == pytest.approx(np.full(9, 0.1))
    with pytest.raises(InputError, match=r"0\.4 s between margins of 0\.3 s"):
        TimeWindows.regular(time, 0.5, margin=0.3)


def test_nodes_are_few_samples_with_the_first_and_the_last() -> None:
    time = np.cumsum(np.random.default_rng(0).uniform(0.5e-3, 1.5e-3, 1000))
    nodes = TimeNodes.spaced(time, 5e-3)
    assert (nodes.samples[0], nodes.samples[-1]) == (0, 999)
    assert len(nodes.samples) < 220
    assert nodes.lengths.max() < 7e-3
    np.testing.assert_allclose(nodes.interpolated(3.0 * time[nodes.samples] - 1.0), 3.0 * time - 1.0)
    steps = np.arange(999.0)
    assert nodes.largest(steps).tolist() == [float(last - 1) for last in nodes.samples[1:]]
    assert len(TimeNodes.spaced(time, 1e-5).samples) == 1000


def test_what_cannot_be_bounded_is_refused() -> None:
    run = run_of("panda", 0, duration=0.5)
    robot, phi = run.robot, run.layout.complete_nominal()

    def rows(layout: object = run.layout, log: Recording = run.log, **more: float) -> object:
        return bounded_rows(robot, layout, phi, log, run.held, run.errors, run.prior, **more)  # type: ignore[arg-type]

    shapes = {joint: StribeckShape(0.1, 2.0) for joint in robot.joint_names}
    with pytest.raises(InputError, match="stribeck, whose integral"):
        rows(layout_of(robot, (*DRIVE, "stribeck"), stribeck=shapes))
    with pytest.raises(RecordingError, match="has no v"):
        rows(log=run.log.with_channels(v=None))
    with pytest.raises(InputError, match="but the robot has"):
        rows(log=run.log.renamed([f"j{k}" for k in range(7)]))
    with pytest.raises(InputError, match="must hold the largest interval"):
        rows(window=1e-4)
    with pytest.raises(InputError, match="fit into its"):
        rows(window=0.6)


def test_a_bound_without_an_absolute_torque_error_is_refused() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    with pytest.raises(InputError, match="vanishes at zero torque"):
        ErrorBounds.stated(robot, layout, phi, torque=(0.02, 0.0), model=0.05, velocity=0.0)
    with pytest.raises(InputError, match="must be below one"):
        ErrorBounds.stated(robot, layout, phi, torque=(1.0, 0.1), model=0.05, velocity=0.0)
    with pytest.raises(InputError, match="must not be negative"):
        ErrorBounds.stated(robot, layout, phi, torque=(0.0, 0.1), model=0.05, velocity=-1.0)


def test_the_relative_torque_error_is_of_the_true_torque() -> None:
    robot = zoo_robot("one_link")
    layout = layout_of(robot)
    errors = ErrorBounds.stated(
        robot, layout, layout.complete_nominal(), torque=(0.2, 0.1), model=0.0, velocity=0.0, acceleration=1.0
    )
    for true in np.linspace(-5.0, 5.0, 101):
        for sign in (-1.0, 1.0):
            measured = true + sign * (0.2 * abs(true) + 0.1)
            assert abs(measured - true) <= errors.torque_error([[measured]])[0, 0] * (1.0 + 1e-12)
    # At a measured torque below the true one the bound is reached.
    assert errors.torque_error([[5.0 - 1.1]])[0, 0] == pytest.approx(1.1)
