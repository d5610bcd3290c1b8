"""Arms driven by servos: closed forms, MuJoCo, and derivatives by differences of whole runs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oracles.servo_plant import mujoco_log
from steelyard.drive import SERVO_TERMS, Servo, StribeckShape, servo_numbers, servos_of
from steelyard.errors import InputError, NoSolutionError
from steelyard.layout import layout_of
from steelyard.rollout import (
    ServoArm,
    ServoCommand,
    divides,
    servo_columns,
    servo_rollout,
    servo_sensitivities,
)
from steelyard.zoo import zoo_robot

TERMS = [term.name for term in SERVO_TERMS]
G = 9.81


@cache
def arm(name: str) -> ServoArm:
    return ServoArm(zoo_robot(name))


def weightless() -> np.ndarray:
    """The rod of `one_link` with its mass in the axis: inertia about y, no gravity."""
    phi = layout_of(zoo_robot("one_link")).complete_nominal()
    phi[1:4] = 0.0
    return phi


def held(position: float, joints: int = 1) -> ServoCommand:
    return ServoCommand(np.zeros(1), np.full((1, joints), position))


def wave(time: np.ndarray, joints: int, seed: int = 0, hold: str = "zero-order") -> ServoCommand:
    rng = np.random.default_rng(seed)
    parts = ((0.25, 0.15), (0.2, 0.4), (0.1, 0.9))
    u = sum(a * np.sin(2 * np.pi * f * time[:, None] + rng.uniform(0, 6, joints)) for a, f in parts)
    return ServoCommand(time, u + 0.3 * (time[:, None] % 2.0 > 1.0), hold)


def test_a_joint_without_gravity_answers_a_step_as_an_oscillator_does() -> None:
    phi = weightless()
    inertia = phi[6] + 0.02
    servo = Servo(stiffness=30.0, damping=0.4, armature=0.02, viscous=0.3)
    time = np.linspace(0.0, 1.0, 101)
    run = servo_rollout(arm("one_link"), [servo], held(0.5), time, [0.0], [0.0], parameters=phi)
    omega, sigma = math.sqrt(30.0 / inertia), 0.35 / inertia
    fast = math.sqrt(omega**2 - sigma**2)
    answer = 1.0 - np.exp(-sigma * time) * (np.cos(fast * time) + sigma / fast * np.sin(fast * time))
    np.testing.assert_allclose(run.q[:, 0], 0.5 * answer, atol=1e-4)


def test_a_joint_whose_friction_holds_its_weight_stays_where_it_is() -> None:
    # The rod asks for m g l / 2 sin q; the spring gives a part of it, friction up to 0.2 the rest.
    weight, q = 0.6 * G * 0.5, 0.4
    lead = weight * math.sin(q) / 8.0
    for off, moves in ((0.19, False), (-0.19, False), (0.21, True), (-0.21, True)):
        servo = Servo(stiffness=8.0, damping=0.5, armature=0.01, coulomb=0.2)
        run = servo_rollout(
            arm("one_link"), [servo], held(q + lead + off / 8.0), np.linspace(0, 2.0, 21), [q], [0.0]
        )
        assert bool((run.q != q).any()) == moves
        if not moves:
            assert (run.v == 0.0).all()


def test_a_moving_joint_comes_to_rest_and_then_truly_sticks() -> None:
    servo = Servo(stiffness=5.0, armature=0.02, coulomb=0.3)
    run = servo_rollout(
        arm("one_link"), [servo], held(0.0), np.linspace(0, 12.0, 81), [0.7], [1.0], parameters=weightless()
    )
    assert (run.v[-20:] == 0.0).all()
    assert (run.q[-20:] == run.q[-1]).all()
    assert abs(5.0 * run.q[-1, 0]) <= 0.3


def test_a_saturated_motor_runs_at_the_speed_where_friction_takes_all_its_torque() -> None:
    motor = Servo.of_motor(1.2, 2.7, 6.0, 30.0, armature=0.02, viscous=0.05, coulomb=0.04)
    run = servo_rollout(
        arm("one_link"), [motor], held(1e3), np.linspace(0, 8, 81), [0.0], [0.0], parameters=weightless()
    )
    speed = (1.2 / 2.7 * 6.0 - 0.04) / (0.05 + 1.2**2 / 2.7)
    np.testing.assert_allclose(run.v[-5:, 0], speed, rtol=1e-8)


def test_a_joint_that_turns_round_in_friction_does_so_where_energy_says() -> None:
    # Thrown against a constant torque T it goes v² J / 2 (T + F) far, and comes back slower.
    phi, torque, friction = weightless(), 1.0, 0.4
    inertia = phi[6] + 0.05
    servo = Servo(stiffness=1e3, armature=0.05, coulomb=friction, limit=torque)
    time = np.linspace(0.0, 1.2, 1201)
    run = servo_rollout(arm("one_link"), [servo], held(-50.0), time, [0.0], [2.0], parameters=phi)
    assert run.q.max() == pytest.approx(inertia * 4.0 / 2.0 / (torque + friction), rel=1e-6)
    back = run.v[np.argmax(run.q) :, 0][np.argmin(np.abs(run.q[np.argmax(run.q) :, 0]))]
    assert back == pytest.approx(-2.0 * math.sqrt((torque - friction) / (torque + friction)), rel=5e-3)


def test_an_arm_moves_as_mujoco_moves_it() -> None:
    robot, n = zoo_robot("so101"), 6
    time = np.arange(0.0, 4.0, 0.02)
    command = wave(time, n)
    servos = [Servo(8.0, 0.2, 0.028, 0.6, 0.05 + 0.02 * k, 2.0, 0.03) for k in range(n)]
    start = command.position[0]
    q, _ = mujoco_log(robot, servos, time, command.position, start, step=1e-4)
    run = servo_rollout(arm("so101"), servos, command, time, start, np.zeros(n))
    # MuJoCo's own answer still moves by 6e-5 when its step is halved; an encoder's last bit is 1.5e-3.
    assert np.abs(run.q - q).max() < 2e-4
    damped = replace(arm("so101"), implicitness=1.0)
    first_order = servo_rollout(damped, servos, command, time, start, np.zeros(n))
    assert np.abs(first_order.q - q).max() > 5 * np.abs(run.q - q).max()


def test_two_joints_stick_and_slip_together_as_an_exhaustive_search_of_pieces_says() -> None:
    # At rest, v_end solves a piecewise linear equation; all nine sets of pieces are tried here.
    robot = zoo_robot("two_link")
    rng = np.random.default_rng(3)
    h, theta = 0.002, 0.5
    from steelyard.dynamics import inverse_dynamics, mass_matrix

    layout = layout_of(robot)
    phi = layout.complete_nominal()
    kinds = set()
    for _ in range(60):
        q = rng.uniform(-1, 1, 2)
        F, kp = rng.uniform(0.1, 3.0, 2), rng.uniform(1, 20, 2)
        u = q + rng.uniform(-1, 1, 2)
        servos = [Servo(float(kp[k]), 0.3, 0.05, 0.2, float(F[k])) for k in range(2)]
        command = ServoCommand(np.zeros(1), u[None])
        run = servo_rollout(arm("two_link"), servos, command, [0.0, h], q, np.zeros(2))
        M = mass_matrix(robot, layout, phi, q)[0] + 0.05 * np.eye(2)
        b = inverse_dynamics(robot, layout, phi, q, np.zeros(2), np.zeros(2))[0]
        A = M + np.diag(h * theta * (0.5 + theta * h * kp))
        right = h * (kp * (u - q) - b)
        found = []
        for way in np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1]), axis=-1).reshape(-1, 2):
            free = way != 0
            v = np.zeros(2)
            v[free] = np.linalg.solve(A[np.ix_(free, free)], (right - h * F * way)[free])
            left = right - A @ v
            if (v[free] * way[free] > 0).all() and (np.abs(left[~free]) <= h * F[~free]).all():
                found.append(v)
                kinds.add(tuple(way.tolist()))
        (only,) = found
        np.testing.assert_allclose(run.v[1], only, rtol=1e-9, atol=1e-15)
    assert len(kinds) >= 7


@pytest.mark.parametrize("hold", ["zero-order", "linear"])
@pytest.mark.parametrize("common", [True, False])
def test_derivatives_are_those_of_the_simulation(hold: str, common: bool) -> None:
    name, n = "two_link", 2
    time = np.linspace(0.0, 1.5, 51)
    command = wave(time, n, 4, hold)
    shape = StribeckShape(0.5, 1.3)
    servos = [
        Servo(60.0, 2.0, 0.3, 3.0, 1.5, 9.0, 0.0307, 0.01, 0.0, 0.4, shape),
        Servo(40.0, 1.0, 0.1, 1.0, 0.8, 6.0, 0.0307 if common else 0.0413, -0.02, 0.0, 0.2, shape),
    ]
    q, v = command.position[0] + 0.05, np.array([0.3, -0.2])
    asked, target, count = [], {}, 0
    for joint in range(n):
        for term in TERMS:
            key = term if term == "delay" and common else (joint, term)
            if key not in target:
                target[key], count = count, count + 1
            asked.append((joint, term, target[key]))
    phi = layout_of(zoo_robot(name)).complete_nominal()
    B = np.zeros((len(phi), 3))
    B[0, 0], B[13, 1], B[16, 2] = 1.0, 1.0, 1.0
    columns = servo_columns(arm(name), asked, B)
    made = servo_sensitivities(arm(name), servos, command, time, q, v, columns)
    numbers = np.array(servo_numbers(servos))
    assert divides(numbers[:, TERMS.index("delay")], columns) == common

    def run(x: np.ndarray) -> np.ndarray:
        changed = numbers.copy()
        for joint, term, column in asked:
            changed[joint, TERMS.index(term)] += x[column]
        at = columns.first_start
        return servo_rollout(
            arm(name),
            servos_of(changed),
            command,
            time,
            q + x[at : at + n],
            v + x[at + n :],
            parameters=phi + B @ x[columns.first_link : at],
        ).q

    turned = np.sum(np.diff(np.sign(made.run.v), axis=0) != 0.0)
    assert turned >= 4
    for column in range(columns.total):
        steps = []
        for h in (1e-6, 2e-6):
            x = np.zeros(columns.total)
            x[column] = h
            steps.append((run(x) - run(-x)) / (2 * h))
        slope = (4.0 * steps[0] - steps[1]) / 3.0
        size = max(np.abs(slope).max(), 1e-3)
        np.testing.assert_allclose(made.dq[:, :, column], slope, atol=1e-6 * size)


def test_a_step_and_its_half_agree_to_second_order_where_nothing_sticks() -> None:
    time = np.linspace(0.0, 1.0, 26)
    command = wave(time, 2, 1, "linear")
    servos = [Servo(60.0, 2.0, 0.3, 3.0), Servo(40.0, 1.0, 0.1, 1.0)]
    q = [
        servo_rollout(
            replace(arm("two_link"), longest_step=h), servos, command, time, [0.2, 0.1], [0.0, 0.0]
        ).q
        for h in (0.004, 0.002, 0.00005)
    ]
    coarse, fine = np.abs(q[0] - q[2]).max(), np.abs(q[1] - q[2]).max()
    assert fine < 2e-4
    assert coarse > 1.8 * fine


def test_the_same_inputs_give_the_same_bits() -> None:
    time = np.linspace(0.0, 1.0, 26)
    command = wave(time, 2)
    servos = [Servo(60.0, 2.0, 0.3, 3.0, 0.5), Servo(40.0, 1.0, 0.1, 1.0, 0.5)]
    runs = [servo_rollout(arm("two_link"), servos, command, time, [0.2, 0.1], [0.0, 0.0]).q for _ in range(2)]
    assert (runs[0] == runs[1]).all()


def test_what_does_not_fit_is_refused_by_name() -> None:
    time, servo = np.linspace(0.0, 1.0, 5), Servo(10.0)
    with pytest.raises(InputError, match="servos"):
        servo_rollout(arm("two_link"), [servo], held(0.0, 2), time, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(InputError, match="command"):
        servo_rollout(arm("two_link"), [servo, servo], held(0.0), time, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(InputError, match="later"):
        servo_rollout(arm("one_link"), [servo], held(0.0), time[::-1], [0.0], [0.0])
    with pytest.raises(InputError, match="increase"):
        ServoCommand(np.zeros(2), np.zeros((2, 1)))
    with pytest.raises(InputError, match="hold"):
        ServoCommand(np.zeros(1), np.zeros((1, 1)), "cubic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="stiffness"):
        Servo(-1.0)
    with pytest.raises(InputError, match="shape"):
        Servo(1.0, stribeck=0.1)
    with pytest.raises(NoSolutionError, match="diverged"):
        servo_rollout(arm("one_link"), [servo], held(1e308), time, [0.0], [1e200])
