"""Kinetic and potential energy regressors, judged by Pinocchio, and by the power that goes in and out."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics.energy import kinetic_energy_regressor, potential_energy_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = [term.name for term in DRIVE_TERMS]


def _assert_pinocchios(robot: Robot, seed: int) -> None:
    layout = layout_of(robot)
    q, v, _ = random_states(np.random.default_rng(seed), robot, 2)
    kinetic = kinetic_energy_regressor(robot, layout, q, v)
    potential = potential_energy_regressor(robot, layout, q)
    bodies = link_parameters(robot)
    judge = PinocchioRobot.of(robot, bodies)
    model, data = judge.model, judge.data
    ours = [model.getJointId(name) - 1 for name in robot.joint_names]
    for n in range(2):
        q_p, v_p = judge.q(q[n]), judge.v(v[n])
        T = pin.computeKineticEnergyRegressor(model, data, q_p, v_p).reshape(-1, 10)[ours].ravel()
        U = pin.computePotentialEnergyRegressor(model, data, q_p).reshape(-1, 10)[ours].ravel()
        assert_agree(kinetic[n], T)
        assert_agree(potential[n], U)
        assert_agree(kinetic[n] @ bodies.ravel(), pin.computeKineticEnergy(model, data, q_p, v_p))
        # The links' energies may cancel; the scale is that of their weight an arm's length away.
        weight = 9.81 * float(bodies[:, 0].sum())
        expected = pin.computePotentialEnergy(model, data, q_p)
        assert_agree(potential[n] @ bodies.ravel(), expected, scale=weight)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(20))
def test_energies_of_a_tree_are_pinocchios(seed: int, floating: bool) -> None:
    robot = random_robot(np.random.default_rng(seed), shapes=SOLID)
    _assert_pinocchios(robot.floating() if floating else robot, seed)


@pytest.mark.parametrize("name", list(ZOO))
def test_energies_of_a_zoo_robot_are_pinocchios(name: str) -> None:
    _assert_pinocchios(zoo_robot(name), 0)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_energy_changes_by_the_power_of_torques_less_friction(seed: int, floating: bool) -> None:
    """d/dt (T + U) = v·(τ - friction), by central differences of fourth order along a motion."""
    rng = np.random.default_rng(seed)
    robot = zoo_robot("panda").floating() if floating else zoo_robot("panda")
    layout, free = layout_of(robot, TERMS), 6 if floating else 0
    phi = layout.complete_nominal()
    links = 10 * len(robot.links)
    phi[links:] = rng.uniform(0.1, 2.0, 28)
    judge = PinocchioRobot.of(robot, phi[:links].reshape(-1, 10))
    (q,), (v,), (a,) = random_states(rng, robot, 1)

    def energy(t: float) -> float:
        q_t, v_t = pin.integrate(judge.model, q, v * t + a * t**2 / 2), v + a * t
        T = kinetic_energy_regressor(robot, layout, q_t, v_t)[0]
        return float((T + potential_energy_regressor(robot, layout, q_t)[0]) @ phi)

    h = 1e-3
    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    viscous, coulomb, offset, rotor = np.vstack([np.zeros((free, 4)), phi[links:].reshape(7, 4)]).T
    friction = viscous * v + coulomb * np.sign(v) + offset
    tau = judge.torques(q, v, a) + rotor * a + friction
    assert rate == pytest.approx(v @ (tau - friction), rel=1e-7, abs=1e-7)


def test_a_mass_at_the_base_frame_has_no_potential_energy() -> None:
    """The reference stated: energy is counted from the origin of the base frame, whatever gravity is."""
    rng = np.random.default_rng(1)
    robot = random_robot(rng, bodies=5)
    (q,), _, _ = random_states(rng, robot, 1)
    U = potential_energy_regressor(robot, layout_of(robot), q)[0].reshape(5, 10)
    for (R, p), row in zip(world_poses(robot, q), U, strict=True):
        at_base = np.concatenate([[1.0], R.T @ -p, np.zeros(6)])  # a unit mass where the base frame is
        assert abs(row @ at_base) < 1e-13
        np.testing.assert_array_equal(row[4:], 0.0)


def test_only_rotors_have_energy_among_the_drives() -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    q, v, _ = random_states(rng, robot, 3)
    T = kinetic_energy_regressor(robot, layout, q, v)[:, 50:].reshape(3, 4, 4)
    np.testing.assert_array_equal(T[:, :, :3], 0.0)
    np.testing.assert_allclose(T[:, :, 3], v[:, 6:] ** 2 / 2, rtol=1e-15)
    np.testing.assert_array_equal(potential_energy_regressor(robot, layout, q)[:, 50:], 0.0)


def test_at_rest_there_is_no_kinetic_energy() -> None:
    robot = random_robot(np.random.default_rng(3), bodies=4)
    np.testing.assert_array_equal(
        kinetic_energy_regressor(robot, layout_of(robot), np.ones(4), np.zeros(4)), 0.0
    )


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    rng = np.random.default_rng(4)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    q, v, _ = random_states(rng, robot, 129)
    T, U = kinetic_energy_regressor(robot, layout, q, v), potential_energy_regressor(robot, layout, q)
    np.testing.assert_array_equal(kinetic_energy_regressor(robot, layout, q[:count], v[:count]), T[:count])
    np.testing.assert_array_equal(potential_energy_regressor(robot, layout, q[:count]), U[:count])
    np.testing.assert_array_equal(potential_energy_regressor(robot, layout, q[5])[0], U[5])


def test_bad_arguments_are_refused_by_name() -> None:
    robot = random_robot(np.random.default_rng(5), bodies=3)
    layout, good = layout_of(robot), np.zeros((2, 3))
    foreign = layout_of(random_robot(np.random.default_rng(6), bodies=2))
    with pytest.raises(ShapeError, match=r"^v: expected shape \(N, 3\), got \(2, 4\)"):
        kinetic_energy_regressor(robot, layout, good, np.zeros((2, 4)))
    with pytest.raises(InputError, match=r"numbers of samples differ: {'q': 2, 'v': 1}"):
        kinetic_energy_regressor(robot, layout, good, good[:1])
    with pytest.raises(ShapeError, match=r"^q: must be finite"):
        potential_energy_regressor(robot, layout, np.full((2, 3), np.inf))
    for call in (
        lambda: kinetic_energy_regressor(robot, foreign, good, good),
        lambda: potential_energy_regressor(robot, foreign, good),
    ):
        with pytest.raises(InputError, match=r"^layout: .*Make it with layout_of"):
            call()
