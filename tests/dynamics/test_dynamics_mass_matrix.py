"""The mass matrix: the derivative of the torques in the acceleration, symmetric, positive, Pinocchio's."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.dynamics import inverse_dynamics, mass_matrix
from steelyard.layout import layout_of


@pytest.mark.parametrize("seed", range(40))
def test_the_mass_matrix_is_pinocchios_symmetric_and_positive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID)
    layout = layout_of(robot)
    q, _, _ = random_states(rng, robot, 2)
    H = mass_matrix(robot, layout, layout.complete_nominal(), q)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    for n in range(2):
        assert_agree(H[n], judge.mass_matrix(q[n]))
        np.testing.assert_array_equal(H[n], H[n].T)
        assert np.linalg.eigvalsh(H[n])[0] > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_mass_matrix_is_the_slope_of_the_torques_in_the_acceleration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = layout_of(robot, ["viscous", "coulomb", "offset", "rotor"])
    phi = rng.standard_normal(layout.size)
    (q,), (v,), _ = random_states(rng, robot, 1)
    H = mass_matrix(robot, layout, phi, q)[0]
    # The torques are affine in a: differences of unit accelerations are exact up to round-off.
    many = (robot.nv, 1)
    slope = (
        inverse_dynamics(robot, layout, phi, np.tile(q, many), np.tile(v, many), np.eye(robot.nv))
        - inverse_dynamics(robot, layout, phi, q, v, np.zeros(robot.nv))
    ).T
    assert_agree(H, slope, scale=float(np.abs(phi).max()))


@pytest.mark.parametrize("seed", range(10))
def test_columns_of_the_mass_matrix_are_the_textbooks_torques_without_gravity(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng).with_gravity(np.zeros(3))
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    q = rng.uniform(-3, 3, robot.nv)
    H = mass_matrix(robot, layout, phi, q)[0]
    for k, unit in enumerate(np.eye(robot.nv)):
        expected = newton_euler(robot, phi.reshape(-1, 10), q, np.zeros(robot.nv), unit)
        assert_agree(H[:, k], expected, scale=1.0)


def test_rotor_inertias_stand_on_the_diagonal_and_nowhere_else() -> None:
    rng = np.random.default_rng(0)
    robot = random_robot(rng, bodies=6)
    bare, driven = layout_of(robot), layout_of(robot, ["rotor", "offset"])
    phi = bare.complete_nominal()
    rotors = rng.uniform(0.1, 2, 6)
    full = np.concatenate([phi, np.stack([rng.standard_normal(6), rotors], axis=1).ravel()])
    q = rng.uniform(-3, 3, (4, 6))
    added = mass_matrix(robot, driven, full, q) - mass_matrix(robot, bare, phi, q)
    np.testing.assert_allclose(added, np.broadcast_to(np.diag(rotors), (4, 6, 6)), atol=1e-12)


def test_branches_do_not_couple() -> None:
    robot = random_robot(np.random.default_rng(3), bodies=7)
    layout = layout_of(robot)
    H = mass_matrix(robot, layout, layout.complete_nominal(), np.ones(7))[0]
    above = [set() for _ in range(7)]
    for i, joint in enumerate(robot.joints):
        above[i] = {i} | (above[joint.parent] if joint.parent >= 0 else set())
    apart = [(i, k) for i in range(7) for k in range(7) if i not in above[k] and k not in above[i]]
    assert apart, "the tree does not branch; choose another seed"
    assert all(H[i, k] == 0.0 for i, k in apart)
