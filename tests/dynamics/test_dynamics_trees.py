"""Y φ = τ on random trees, judged by Pinocchio, MuJoCo and the textbook."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.mujoco_robot import MujocoRobot
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import ANY, SOLID, link_parameters, random_robot, random_states
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.layout import layout_of

SEEDS = range(100)
SAMPLES = 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_regressor_is_pinocchios_on_any_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=ANY)
    q, v, a = random_states(rng, robot, SAMPLES)
    Y = torque_regressor(robot, layout_of(robot), q, v, a)
    judge = PinocchioRobot.of(robot)
    for n in range(SAMPLES):
        assert_agree(Y[n], judge.regressor(q[n], v[n], a[n]))


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_of_possible_bodies_are_those_of_all_three_judges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID)
    q, v, a = random_states(rng, robot, SAMPLES)
    bodies, layout = link_parameters(robot), layout_of(robot)
    phi = layout.complete_nominal()
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    pinocchio, mujoco = PinocchioRobot.of(robot, bodies), MujocoRobot(robot, bodies)
    for n in range(SAMPLES):
        state = (q[n], v[n], a[n])
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, pinocchio.torques(*state))
            assert_agree(judged, mujoco.torques(*state))
            assert_agree(judged, newton_euler(robot, bodies, *state))


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_of_impossible_bodies_are_linear_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, fixed=False)
    q, v, a = random_states(rng, robot, SAMPLES)
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    pinocchio = PinocchioRobot.of(robot, phi.reshape(-1, 10))
    for n in range(SAMPLES):
        state = (q[n], v[n], a[n])
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, pinocchio.torques(*state))
            assert_agree(judged, newton_euler(robot, phi.reshape(-1, 10), *state))


@pytest.mark.parametrize("seed", range(10))
def test_each_column_is_the_torque_of_one_unit_parameter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=3)
    layout = layout_of(robot)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    Y = torque_regressor(robot, layout, q, v, a)[0]
    for column in range(layout.size):
        unit = np.zeros(layout.size)
        unit[column] = 1.0
        expected = newton_euler(robot, unit.reshape(-1, 10), q, v, a)
        assert_agree(Y[:, column], expected, scale=1.0)
        assert_agree(inverse_dynamics(robot, layout, unit, q, v, a)[0], expected, scale=1.0)


@pytest.mark.parametrize("seed", range(10))
def test_a_joint_feels_only_the_links_beyond_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=8)
    Y = torque_regressor(robot, layout_of(robot), *random_states(rng, robot, 1))[0].reshape(8, 8, 10)
    for link in range(8):
        carriers, joint = set(), link
        while joint >= 0:
            carriers.add(joint)
            joint = robot.joints[joint].parent
        for k in range(8):
            assert Y[k, link].any() == (k in carriers)


@pytest.mark.parametrize("seed", range(5))
def test_power_of_the_torques_is_the_rate_of_the_energy(seed: int) -> None:
    """Along q(t) = q + v t + a t²/2, d/dt (kinetic + potential energy) = v·τ, by central differences."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    (q,), (v,), (a,) = random_states(rng, robot, 1)

    def energy(t: float) -> float:
        q_t, v_t, still = q + v * t + a * t**2 / 2, v + a * t, np.zeros(robot.nv)
        free = robot.with_gravity(np.zeros(3))
        momentum = newton_euler(free, phi.reshape(-1, 10), q_t, still, v_t)
        model = PinocchioRobot.of(robot, phi.reshape(-1, 10))
        return float(v_t @ momentum / 2 + model.potential_energy(q_t))

    rate = (energy(1e-4) - energy(-1e-4)) / 2e-4
    power = v @ inverse_dynamics(robot, layout, phi, q, v, a)[0]
    assert power == pytest.approx(rate, rel=1e-5, abs=1e-5)
