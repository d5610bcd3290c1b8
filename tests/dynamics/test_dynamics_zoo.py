"""Y φ = τ on every robot of the zoo, judged by Pinocchio, MuJoCo and the textbook."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.mujoco_robot import MujocoRobot
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.zoo import ZOO, zoo_robot

SAMPLES = 20
each_robot = pytest.mark.parametrize("name", list(ZOO))


@each_robot
def test_nominal_torques_are_those_of_all_judges(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    phi, bodies = layout.complete_nominal(), link_parameters(robot)
    q, v, a = random_states(np.random.default_rng(0), robot, SAMPLES)
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    pinocchio = PinocchioRobot.of(robot, bodies)
    for n in range(SAMPLES):
        state = (q[n], v[n], a[n])
        assert_agree(Y[n], pinocchio.regressor(*state))
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, pinocchio.torques(*state))
            assert_agree(judged, newton_euler(robot, bodies, *state))


@each_robot
def test_torques_of_solid_links_are_mujocos(name: str) -> None:
    """MuJoCo refuses rods, so every link is given a random solid body."""
    rng = np.random.default_rng(1)
    robot = zoo_robot(name)
    layout = layout_of(robot)
    bodies = np.array([random_body(rng).parameters for _ in robot.links])
    q, v, a = random_states(rng, robot, SAMPLES)
    tau = inverse_dynamics(robot, layout, bodies.ravel(), q, v, a)
    judge = MujocoRobot(robot, bodies)
    for n in range(SAMPLES):
        assert_agree(tau[n], judge.torques(q[n], v[n], a[n]))


@each_robot
def test_torques_of_any_parameters_are_linear(name: str) -> None:
    rng = np.random.default_rng(2)
    robot = zoo_robot(name)
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    phi = rng.standard_normal(layout.size)
    links, drives = phi[: 10 * robot.nv].reshape(-1, 10), phi[10 * robot.nv :].reshape(-1, 4)
    q, v, a = random_states(rng, robot, SAMPLES)
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    pinocchio = PinocchioRobot.of(robot, links)
    for n in range(SAMPLES):
        drive = np.sum(drives * np.stack([v[n], np.sign(v[n]), np.ones(robot.nv), a[n]], axis=1), axis=1)
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, pinocchio.torques(q[n], v[n], a[n]) + drive)
            assert_agree(judged, newton_euler(robot, links, q[n], v[n], a[n]) + drive)


@each_robot
def test_its_mass_matrix_is_pinocchios_and_positive(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    q, _, _ = random_states(np.random.default_rng(3), robot, SAMPLES)
    H = mass_matrix(robot, layout, layout.complete_nominal(), q)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    for n in range(SAMPLES):
        assert_agree(H[n], judge.mass_matrix(q[n]))
        assert np.linalg.eigvalsh(H[n])[0] > 0
