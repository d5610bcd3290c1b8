"""W_m φ = H v and d/dt (W_m φ) = W_c φ + τ, on fixed and floating trees, by Pinocchio and the textbook."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, random_robot, random_robot_on, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics.momentum import momentum_rate_regressor, momentum_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = [term.name for term in DRIVE_TERMS]
Z = np.array([0.0, 0.0, 1.0])
each_base = pytest.mark.parametrize("base", ["fixed", "floating", "floating in mid-tree", "screws and balls"])


def _drives(robot: Robot, phi: np.ndarray) -> np.ndarray:
    """Viscous, Coulomb, offset and rotor by degree of freedom, zero where a joint floats, (nv, 4)."""
    rows, given = [], iter(phi[10 * len(robot.links) :].reshape(-1, 4))
    for joint in robot.joints:
        rows += [next(given)] if joint.kind.nv == 1 else [np.zeros(4)] * joint.nv
    return np.array(rows)


def _judge(robot: Robot, phi: np.ndarray) -> PinocchioRobot:
    """Pinocchio's model with the rotors as armature."""
    judge = PinocchioRobot.of(robot, phi[: 10 * len(robot.links)].reshape(-1, 10))
    judge.model.armature = judge.v(_drives(robot, phi)[:, 3])
    return judge


def _draw(rng: np.random.Generator, robot: Robot) -> np.ndarray:
    """The bodies of the description with any friction, offset and rotor."""
    phi = layout_of(robot, TERMS).complete_nominal()
    phi[10 * len(robot.links) :] = rng.uniform(0.1, 2.0, phi.size - 10 * len(robot.links))
    return phi


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_momentum_is_mass_matrix_times_velocity(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout, phi = layout_of(robot, TERMS), _draw(rng, robot)
    q, v, _ = random_states(rng, robot, 2)
    W = momentum_regressor(robot, layout, q, v)
    judge = _judge(robot, phi)
    for n in range(2):
        assert_agree(W[n] @ phi, judge.mass_matrix(q[n]) @ v[n])


@pytest.mark.parametrize("name", list(ZOO))
def test_momentum_of_a_zoo_robot_is_mass_matrix_times_velocity(name: str) -> None:
    rng = np.random.default_rng(0)
    for robot in (zoo_robot(name), zoo_robot(name).floating()):
        layout = layout_of(robot, TERMS)
        phi = np.abs(rng.standard_normal(layout.size))
        q, v, _ = random_states(rng, robot, 3)
        W = momentum_regressor(robot, layout, q, v)
        judge = _judge(robot, phi)
        for n in range(3):
            assert_agree(W[n] @ phi, judge.mass_matrix(q[n]) @ v[n])


@pytest.mark.parametrize("seed", range(5))
def test_each_column_is_the_momentum_of_one_unit_parameter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=3).floating()
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    W = momentum_regressor(robot, layout, q, v)[0]
    weightless, still = robot.with_gravity(np.zeros(3)), np.zeros(robot.nv)
    for column, unit in enumerate(np.eye(layout.size)):
        expected = newton_euler(weightless, unit.reshape(-1, 10), q, still, v)
        assert_agree(W[:, column], expected, scale=1.0)


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_rate_of_momentum_is_what_the_regressor_says_plus_the_torques(seed: int, base: str) -> None:
    """d/dt (H v) by central differences of fourth order along a motion with constant acceleration."""
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout, phi = layout_of(robot, TERMS), _draw(rng, robot)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    judge = _judge(robot, phi)
    model, data = judge.model, judge.data
    q_p, v_p, a_p = judge.q(q), judge.v(v), judge.v(a)

    def momentum(t: float) -> np.ndarray:
        H = pin.crba(model, data, pin.integrate(model, q_p, v_p * t + a_p * t**2 / 2))
        return (np.triu(H) + np.triu(H, 1).T) @ (v_p + a_p * t)

    h = 1e-3
    rate = (8 * (momentum(h) - momentum(-h)) - momentum(2 * h) + momentum(-2 * h)) / (12 * h)
    viscous, coulomb, offset, _ = _drives(robot, phi).T
    # Pinocchio's torques hold the rotors, as armature, but no friction.
    tau = pin.rnea(model, data, q_p, v_p, a_p) + judge.v(viscous * v + coulomb * np.sign(v) + offset)
    W_c = momentum_rate_regressor(robot, layout, q, v)[0]
    assert_agree(judge.v(W_c @ phi) + tau, rate, relative=1e-7, scale=float(np.abs(tau).max()))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_momentum_gained_along_a_simulated_motion_is_the_integral_of_its_rate(floating: bool) -> None:
    """Zhang et al. (2025), eq. (13): Pinocchio's forward dynamics moves it, W_c φ + τ is integrated."""
    rng = np.random.default_rng(3)
    robot = zoo_robot("panda").floating() if floating else zoo_robot("panda")
    layout, phi = layout_of(robot, TERMS), _draw(rng, robot)
    judge = _judge(robot, phi)
    model, data = judge.model, judge.data
    viscous, coulomb, offset, _ = _drives(robot, phi).T
    (q,), (v,), _ = random_states(rng, robot, 1)
    v[-7:] += 5.0 * np.sign(v[-7:])  # no joint stops on the way: Coulomb friction stays smooth
    gain, steps, h = np.zeros(robot.nv), 60, 1e-3

    def torque(t: float) -> np.ndarray:
        return 20.0 * np.sin(np.arange(robot.nv) + 40.0 * t)

    def rates(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        friction = viscous * v + coulomb * np.sign(v) + offset
        W_c = momentum_rate_regressor(robot, layout, q, v)[0]
        return pin.aba(model, data, q, v, torque(t) - friction), W_c @ phi + torque(t)

    before = momentum_regressor(robot, layout, q, v)[0] @ phi
    for step in range(steps):
        t = h * step
        a_1, r_1 = rates(t, q, v)
        a_2, r_2 = rates(t + h / 2, pin.integrate(model, q, h / 2 * v), v + h / 2 * a_1)
        a_3, r_3 = rates(t + h / 2, pin.integrate(model, q, h / 2 * (v + h / 2 * a_1)), v + h / 2 * a_2)
        a_4, r_4 = rates(t + h, pin.integrate(model, q, h * (v + h / 2 * a_2)), v + h * a_3)
        q = pin.integrate(model, q, h * (v + h / 6 * (a_1 + a_2 + a_3)))
        v = v + h / 6 * (a_1 + 2 * a_2 + 2 * a_3 + a_4)
        gain += h / 6 * (r_1 + 2 * r_2 + 2 * r_3 + r_4)
    after = momentum_regressor(robot, layout, q, v)[0] @ phi
    assert np.abs(after - before).max() > 0.1
    assert_agree(gain, after - before, relative=1e-5)


def test_a_rotor_stores_momentum_and_friction_takes_it() -> None:
    rng = np.random.default_rng(4)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    q, v, _ = random_states(rng, robot, 1)
    v[0, 7] = 0.0
    W_m, W_c = (f(robot, layout, q, v)[0] for f in (momentum_regressor, momentum_rate_regressor))
    assert not W_m[:6, 50:].any()
    assert not W_c[:6, 50:].any()
    for k, joint in enumerate(layout.joints, start=6):
        speed = v[0, k]
        columns = layout.of_joint(joint)
        np.testing.assert_array_equal(W_m[k, columns], [0, 0, 0, speed])
        np.testing.assert_array_equal(W_c[k, columns], [-speed, -np.sign(speed), -1, 0])
        assert not np.delete(W_m[:, columns], k, axis=0).any()
        assert not np.delete(W_c[:, columns], k, axis=0).any()


def test_at_rest_there_is_no_momentum_and_only_the_weight_changes_it() -> None:
    rng = np.random.default_rng(5)
    robot = random_robot(rng, bodies=6)
    layout, still = layout_of(robot), np.zeros(6)
    phi = rng.standard_normal(layout.size)
    q = rng.uniform(-3, 3, 6)
    np.testing.assert_array_equal(momentum_regressor(robot, layout, q, still), 0.0)
    weight = newton_euler(robot, phi.reshape(-1, 10), q, still, still)
    assert_agree(momentum_rate_regressor(robot, layout, q, still)[0] @ phi, -weight)


def test_a_free_body_in_space_keeps_its_momentum_in_the_world() -> None:
    """Seen from its own turning frame a constant momentum (f, n) changes by -(ω × f, ω × n + u × f)."""
    rng = np.random.default_rng(6)
    robot = random_robot(rng, bodies=1).floating().with_gravity(np.zeros(3))
    robot = Robot("free body", robot.base, robot.joints[:1], robot.links[:1], robot.gravity)
    layout = layout_of(robot)
    phi = rng.standard_normal(10)
    (q,), (v,), _ = random_states(rng, robot, 1)
    f, n = np.split(momentum_regressor(robot, layout, q, v)[0] @ phi, 2)
    u, w = np.split(v, 2)
    expected = -np.concatenate([np.cross(w, f), np.cross(w, n) + np.cross(u, f)])
    assert_agree(momentum_rate_regressor(robot, layout, q, v)[0] @ phi, expected)


@pytest.mark.parametrize("regressor", [momentum_regressor, momentum_rate_regressor])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_a_sample_does_not_depend_on_its_batch(regressor: Callable[..., np.ndarray], count: int) -> None:
    rng = np.random.default_rng(7)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    q, v, _ = random_states(rng, robot, 129)
    whole = regressor(robot, layout, q, v)
    np.testing.assert_array_equal(regressor(robot, layout, q[:count], v[:count]), whole[:count])
    np.testing.assert_array_equal(regressor(robot, layout, q[5], v[5])[0], whole[5])


@pytest.mark.parametrize("regressor", [momentum_regressor, momentum_rate_regressor])
def test_bad_arguments_are_refused_by_name(regressor: Callable[..., np.ndarray]) -> None:
    robot = random_robot(np.random.default_rng(8), bodies=3)
    layout, good = layout_of(robot), np.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"^q: expected shape \(N, 3\), got \(2, 4\)"):
        regressor(robot, layout, np.zeros((2, 4)), good)
    with pytest.raises(ShapeError, match=r"^v: must be finite"):
        regressor(robot, layout, good, np.full((2, 3), np.nan))
    with pytest.raises(InputError, match=r"numbers of samples differ: {'q': 2, 'v': 1}"):
        regressor(robot, layout, good, good[:1])
    with pytest.raises(InputError, match=r"^layout: .*Make it with layout_of"):
        regressor(robot, layout_of(random_robot(np.random.default_rng(9), bodies=2)), good, good)
