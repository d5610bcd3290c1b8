"""Hand guiding, judged on an arm that Pinocchio simulates and pushes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot, se3
from oracles.plain_plant import PlainPlant
from oracles.random_robots import link_parameters, random_pose, random_robot
from steelyard.control import Admittance, control_command
from steelyard.control.admittance import damped_square, momentum_and_rate, tool_jacobian
from steelyard.control.controller import described_model
from steelyard.dynamics.batch import numbers
from steelyard.dynamics.forward_dynamics import solve_factored
from steelyard.dynamics.motion_pass import place_bodies
from steelyard.dynamics.tree import tree_of
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

# A planar arm turns about y and can be led in its plane; a seven-joint arm can be led everywhere.
START = {"two_link": np.array([0.4, 0.9]), "panda": np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.8, 0.7])}
GUIDED = {"two_link": ("x", "z"), "panda": ("x", "y", "z", "rx", "ry", "rz")}
PUSH = {
    "two_link": np.array([6.0, 0.0, -4.0, 0.0, 0.0, 0.0]),
    "panda": np.array([6.0, -4.0, 3.0, 0.0, 0.0, -0.3]),
}
MASS, DAMPING = np.array([2.0, 2.0, 2.0, 0.1, 0.1, 0.1]), np.array([100.0, 100.0, 100.0, 5.0, 5.0, 5.0])


def guided(name: str, drive: tuple[str, ...] = (), **options: float) -> Admittance:
    robot = zoo_robot(name)
    layout = layout_of(robot, drive)
    return Admittance(
        robot,
        layout,
        layout.complete_nominal(),
        kp=2500.0,
        kd=100.0,
        observer=50.0,
        mass=MASS,
        damping=DAMPING,
        tool=robot.tool_frame,
        components=GUIDED[name],
        **{"cycle": 1e-3, "inverse_damping": 1e-4, **options},
    )


class Run(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    external: np.ndarray
    twist: np.ndarray


def run(
    law: Admittance,
    start: np.ndarray,
    wrench: Callable[[float], np.ndarray],
    seconds: float,
    velocity: float = 0.0,
) -> tuple[Run, PinocchioRobot]:
    """The law on Pinocchio's arm, with the model's friction and rotors and a wrench in the tool's axes."""
    robot, h, steps = law.robot, law.cycle, 4
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    Fv, Fc, _, Ia = law.numbers.drive.T[:4]
    judge.model.armature = Ia.copy()
    tool, force = se3(law.tool.placement), [pin.Force.Zero() for _ in range(judge.model.njoints)]
    q, v, still = start, np.full(robot.nv, velocity), np.zeros(robot.nv)
    memory, rows = np.array(law.memory), []
    for n in range(round(seconds / h)):
        tau = control_command(law, memory, q, v, still, still, still)
        rows.append((q, v, law.external_torque(memory), law.twist(memory)))
        force[law.tool.link + 1] = tool.act(pin.Force(wrench(n * h)))
        for _ in range(steps):  # the midpoint rule

            def a(q: np.ndarray, v: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
                friction = Fv * v + Fc * np.sign(v)
                return np.array(pin.aba(judge.model, judge.data, q, v, tau - friction, force))

            d = h / steps
            middle = v + 0.5 * d * a(q, v)
            q, v = q + d * middle, v + d * a(q + 0.5 * d * v, middle)
    return Run(*(np.array(column) for column in zip(*rows, strict=True))), judge


def tool_twist(law: Admittance, judge: PinocchioRobot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    J = pin.computeFrameJacobian(*with_tool(law, judge, q), pin.LOCAL)
    return np.array(J @ v)


def with_tool(law: Admittance, judge: PinocchioRobot, q: np.ndarray) -> tuple[object, ...]:
    model = judge.model.copy()
    place = se3(law.tool.placement)
    tool = model.addFrame(pin.Frame("guided", law.tool.link + 1, place, pin.FrameType.OP_FRAME))
    return model, model.createData(), q, tool


def chosen(law: Admittance) -> np.ndarray:
    return np.array([name in law.components for name in ("x", "y", "z", "rx", "ry", "rz")])


def no_push(_: float) -> np.ndarray:
    return np.zeros(6)


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_with_an_exact_model_and_no_contact_nothing_drifts(name: str) -> None:
    log, _ = run(guided(name), START[name], no_push, 0.5)
    assert np.abs(log.external).max() < 1e-11
    assert not log.twist.any()
    assert np.abs(log.q - START[name]).max() < 1e-12


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_a_steady_push_moves_the_tool_along_it_at_the_predicted_velocity(name: str) -> None:
    law, push = guided(name), PUSH[name]
    log, judge = run(law, START[name], lambda _: push, 0.6)
    expected = np.sign(push) * np.maximum(np.abs(push) - law.threshold, 0.0) / DAMPING
    np.testing.assert_allclose(log.twist[-1], expected, atol=0.01 * np.abs(expected).max())
    moves = tool_twist(law, judge, log.q[-1], log.v[-1])[chosen(law)]
    np.testing.assert_allclose(moves, expected[chosen(law)], atol=0.02 * np.abs(expected).max())
    travelled = log.q[-1] - START[name]
    assert np.abs(travelled).max() > 0.01
    # What the joints feel of the push is what the observer finds.
    J = pin.computeFrameJacobian(*with_tool(law, judge, log.q[-1]), pin.LOCAL)
    assert_agree(log.external[-1], J.T @ push, relative=5e-3)


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_the_virtual_mass_answers_a_push_as_a_first_order_lag_and_stops_after_it(name: str) -> None:
    law, push = guided(name), PUSH[name]
    log, _ = run(law, START[name], lambda t: push if t < 0.4 else 0.0 * push, 0.9)
    assert np.abs(log.external[-1]).max() < 1e-6
    assert np.abs(log.twist[-1]).max() < 1e-6
    assert np.abs(log.v[-1]).max() < 1e-2
    # r = τ (1 - e^(-K t)) passes the threshold of x at t_0; from there M ẋ + D x = f (1 - e^(-K t)) - f_th.
    f, f_th, M, D, K, h = push[0], law.threshold[0], MASS[0], DAMPING[0], 50.0, 1e-3
    x, expected = 0.0, []
    for n in range(400):
        expected.append(x)
        for k in range(20):
            t = (n + k / 20) * h
            x += h / 20 * (max(f * (1.0 - np.exp(-K * t)) - f_th, 0.0) - D * x) / M
    np.testing.assert_allclose(log.twist[:400, 0], expected, atol=0.03 * max(expected))


def test_a_push_within_the_dead_zone_moves_nothing() -> None:
    law, push = guided("panda"), np.array([1.9, -1.9, 1.9, 0.09, -0.09, 0.09])
    log, _ = run(law, START["panda"], lambda _: push, 0.3)
    assert not log.twist.any()
    assert np.abs(log.external[-1]).max() > 0.5


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_in_a_moving_arm_the_observers_error_is_of_second_order_in_the_cycle(name: str) -> None:
    worst = [
        np.abs(run(guided(name, cycle=h), START[name], no_push, 0.1, velocity=1.0)[0].external).max()
        for h in (1e-3, 5e-4)
    ]
    assert worst[0] < 0.01
    assert worst[0] / worst[1] == pytest.approx(4.0, rel=0.2)


def test_friction_and_rotors_in_the_model_are_not_taken_for_a_hand() -> None:
    law, push = guided("panda", ("viscous", "coulomb", "rotor")), 5.0 * PUSH["panda"]
    log, _ = run(law, START["panda"], lambda _: push, 0.5)
    expected = np.sign(push) * np.maximum(np.abs(push) - law.threshold, 0.0) / DAMPING
    np.testing.assert_allclose(log.twist[-1], expected, atol=0.05 * np.abs(expected).max())


def test_an_arm_held_by_friction_stays_where_it_is() -> None:
    robot = zoo_robot("two_link")
    law = Admittance.nominal(robot, 400.0, 40.0, 50.0, MASS, DAMPING, components=("x", "z"), cycle=1e-3)
    motion = random_fourier(robot, np.random.default_rng(1)).sample(1e-3 * np.arange(500))
    plant, memory = PlainPlant(robot), np.array(law.memory)
    plant.place(motion.q[0])
    for q_ref, v_ref, a_ref in zip(motion.q, motion.v, motion.a, strict=True):
        plant.advance(control_command(law, memory, plant.q, plant.v, q_ref, v_ref, a_ref), 1e-3)
        assert np.abs(plant.q - motion.q[0]).max() < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_momentum_and_its_known_rate_are_those_of_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot("panda") if seed == 0 else random_robot(rng)
    layout, phi = described_model(robot)
    q, v = rng.uniform(-2, 2, (2, robot.nv))
    nb = nv = robot.nv
    momentum, rate = np.empty(nv), np.empty(nv)
    R, p, g = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    V, F, G = np.empty((3, nb, 6))
    given = numbers(robot, layout, phi)
    momentum_and_rate(tree_of(robot), given, q, v, R, p, V, g, F, G, momentum, rate)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    Fv, _, Fo, Ia = given.drive.T[:4]
    assert_agree(momentum, judge.mass_matrix(q) @ v + Ia * v)
    C = pin.computeCoriolisMatrix(judge.model, judge.data, judge.q(q), judge.v(v))
    weight = pin.computeGeneralizedGravity(judge.model, judge.data, judge.q(q))
    assert_agree(judge.v(rate + Fv * v + Fo), C.T @ judge.v(v) - weight)


def jacobian(robot: Robot, link: int, pose: np.ndarray, rows: np.ndarray, q: np.ndarray) -> np.ndarray:
    tree, nb = tree_of(robot), len(robot.links)
    R, p, J = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((6, robot.nv))
    place_bodies(tree, q, R, p)
    tool_jacobian(tree, link, pose, rows, R, p, J)
    return J


@pytest.mark.parametrize("seed", range(12))
def test_the_tool_jacobian_is_pinocchios_in_the_tools_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    link, pose, q = int(rng.integers(len(robot.links))), random_pose(rng), rng.uniform(-2, 2, robot.nv)
    flat = np.concatenate((pose.rotation.ravel(), pose.translation))
    judge = PinocchioRobot.of(robot)
    carrier = judge.model.getJointId(robot.joint_names[link])
    tool = judge.model.addFrame(pin.Frame("guided", carrier, se3(pose), pin.FrameType.OP_FRAME))
    data = judge.model.createData()
    expected = pin.computeFrameJacobian(judge.model, data, judge.q(q), tool, pin.LOCAL)
    v = rng.uniform(-1, 1, robot.nv)
    assert_agree(jacobian(robot, link, flat, np.ones(6), q) @ v, expected @ judge.v(v), scale=1.0)
    rows = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    assert_agree(jacobian(robot, link, flat, rows, q) @ v, rows * (expected @ judge.v(v)), scale=1.0)


@pytest.mark.parametrize("damping", [1e-3, 0.1, 3.0])
def test_the_damped_inverse_solves_its_normal_equations_also_where_the_arm_is_singular(
    damping: float,
) -> None:
    rng = np.random.default_rng(0)
    for rank in (6, 3, 0):
        J = rng.standard_normal((6, rank)) @ rng.standard_normal((rank, 7))
        twist, L = rng.standard_normal(6), np.zeros((6, 6))
        damped_square(J, damping, L)
        x = twist.copy()
        solve_factored(L, x)
        np.testing.assert_allclose((J @ J.T + damping**2 * np.eye(6)) @ x, twist, atol=1e-7)
        assert np.linalg.norm(J.T @ x) <= np.linalg.norm(twist) / (2 * damping) * (1 + 1e-9)


def test_tools_and_numbers_that_make_no_sense_are_refused() -> None:
    robot = zoo_robot("two_link")

    def law(**changes: object) -> Admittance:
        given = {"mass": MASS, "damping": DAMPING, "cycle": 1e-3, **changes}
        return Admittance.nominal(robot, 1.0, 1.0, 1.0, **given)  # type: ignore[arg-type]

    assert law().tool is robot.tool_frame
    with pytest.raises(InputError, match="mass: must be positive, got 0 for 'ry'"):
        law(mass=[1, 1, 1, 1, 0, 1])
    with pytest.raises(InputError, match="damping: expected shape"):
        law(damping=1.0)
    with pytest.raises(InputError, match="threshold: must not be negative, got -1 for 'x'"):
        law(threshold=[-1, 1, 1, 1, 1, 1])
    with pytest.raises(InputError, match="inverse_damping: must be positive"):
        law(inverse_damping=0.0)
    with pytest.raises(InputError, match="tool: 'base' is not on a moving link"):
        law(tool="base")
    with pytest.raises(UnknownNameError, match="unknown link 'hand'"):
        law(tool="hand")
    with pytest.raises(UnknownNameError, match=r"components: unknown component 'rw'\. Valid: x, y, z, rx"):
        law(components=["x", "rw"])
    with pytest.raises(InputError, match="components: names no direction"):
        law(components=[])
