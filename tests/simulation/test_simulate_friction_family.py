"""The plant with Stribeck, asymmetric and load-dependent friction: its formulas, its energy, its log."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot, random_states
from steelyard.control import ComputedTorque
from steelyard.drive import Drive, StribeckShape
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import DescriptionError
from steelyard.inertia import Body
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.simulation import Plant, simulate_motion
from steelyard.simulation.friction import slow_down_loaded, write_load_friction
from steelyard.zoo import zoo_robot

INERTIA = 0.02
SHAPE = StribeckShape(0.3, 2.0)


def spinner(drive: Drive) -> Robot:
    """A balanced wheel without gravity."""
    joint = Joint("wheel", JointKind.CONTINUOUS, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]), drive=drive)
    body = Body(1.0, np.zeros(3), INERTIA * np.eye(3))
    return Robot("spinner", Link("base"), (joint,), (Link("disc", body),), gravity=np.zeros(3))


def driven(robot: Robot, drive: Drive) -> Robot:
    return replace(robot, joints=tuple(replace(joint, drive=drive) for joint in robot.joints))


@pytest.mark.parametrize("seed", range(12))
def test_the_acceleration_explains_the_torque_with_every_term(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 7)))
    Fv, Fc, Fo, Ia, Fs, Fl = rng.uniform(0.05, 0.5, 6)
    Fa = rng.uniform(-Fv, Fv)
    Fl = min(2 * Fl, 0.95)
    robot = driven(robot, Drive(Fv, Fc, Fo, Ia, Fs, Fa, Fl, SHAPE))
    bodies = link_parameters(robot)
    bodies[:, 0] = np.maximum(bodies[:, 0], 1e-300)
    plant, judge = Plant(robot), PinocchioRobot.of(robot, bodies)
    for q, v, _ in zip(*random_states(rng, robot, 5), strict=True):
        plant.place(q, v)
        tau = rng.uniform(-20, 20, robot.nv)
        a = plant.acceleration(tau)
        rigid = judge.torques(q, v, a)
        fade = np.exp(-((np.abs(v) / SHAPE.velocity) ** SHAPE.exponent))
        friction = Fv * v + Fa * np.abs(v) + Fo + (Fc + Fs * fade + Fl * np.abs(rigid)) * np.sign(v)
        scale = float(max(np.abs(rigid).max(), np.abs(tau).max()))
        assert_agree(rigid + Ia * a + friction, tau, relative=1e-9, scale=scale)


@pytest.mark.parametrize("seed", range(200))
def test_a_loaded_step_solves_its_inclusion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nv, h = int(rng.integers(1, 8)), 10.0 ** rng.uniform(-5, -3)
    L = rng.standard_normal((nv, nv)) * 10.0 ** rng.uniform(-1, 1, nv)[:, None]
    rotor = rng.uniform(0, 1, nv) * (rng.random(nv) < 0.5)
    H = L @ L.T + 1e-3 * np.eye(nv)
    M = H + np.diag(rotor)
    v = rng.standard_normal(nv) * (rng.random(nv) < 0.6)
    bias, push = 10 * rng.standard_normal((2, nv))
    viscous, dry = rng.uniform(0, 2, (2, nv)) * (rng.random((2, nv)) < 0.7)
    load = rng.uniform(0, 0.8, nv) * (rng.random(nv) < 0.7)
    f = push - bias
    end, friction = np.empty((2, nv))
    assert slow_down_loaded(M, v, f, viscous, dry, h, bias, rotor, load, end, friction)
    scale = np.abs(f).max() + np.abs(M @ v).max() / h
    np.testing.assert_allclose(M @ (end - v) / h, f + friction, rtol=0, atol=1e-9 * scale)
    level = dry + load * np.abs(H @ (end - v) / h + bias)
    rest = friction + viscous * end
    slides = end != 0.0
    np.testing.assert_allclose(rest[slides], -(level * np.sign(end))[slides], rtol=0, atol=1e-8 * scale)
    assert (np.abs(rest[~slides]) <= level[~slides] + 1e-8 * scale).all()


@pytest.mark.parametrize("seed", range(200))
def test_the_friction_of_a_load_solves_its_equation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nv = int(rng.integers(1, 9))
    L = rng.standard_normal((nv, nv)) * 10.0 ** rng.uniform(-1, 1, nv)[:, None]
    rotor = rng.uniform(0, 3, nv) * (rng.random(nv) < 0.5)
    H = L @ L.T + 1e-3 * np.eye(nv)
    bias, f, v = 10 * rng.standard_normal((3, nv))
    v[rng.random(nv) < 0.2] = 0.0
    load = rng.uniform(0, 0.99, nv)
    friction = np.empty(nv)
    assert write_load_friction(H + np.diag(rotor), bias, rotor, load, v, f, friction)
    a = np.linalg.solve(H + np.diag(rotor), f - friction - bias)
    np.testing.assert_allclose(friction, load * np.abs(H @ a + bias) * np.sign(v), rtol=1e-7, atol=1e-7)


def test_a_joint_at_rest_breaks_away_at_static_and_not_at_coulomb_friction() -> None:
    robot = spinner(Drive(coulomb=0.1, stribeck=0.05, stribeck_shape=SHAPE))
    for torque, moves in ((0.11, False), (0.149, False), (0.151, True), (-0.149, False), (-0.151, True)):
        plant = Plant(robot)
        plant.place([0.0], [0.0])
        plant.advance([torque], 0.02)
        assert bool(plant.v[0] != 0.0) is moves


@pytest.mark.parametrize("speed", [0.6, 1.0, -0.8])
def test_under_a_constant_torque_a_wheel_settles_where_friction_equals_it(speed: float) -> None:
    Fv, Fc, Fs, Fa = 0.2, 0.1, 0.08, 0.05
    plant = Plant(spinner(Drive(Fv, Fc, None, None, Fs, Fa, None, SHAPE)))
    fade = math.exp(-((abs(speed) / 0.3) ** 2))
    torque = Fv * speed + Fa * abs(speed) + math.copysign(Fc + Fs * fade, speed)
    plant.place([0.0], [1.2 * speed])
    plant.advance([torque], 3.0)
    assert plant.v[0] == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_wheel_coasts_with_the_slope_of_its_direction(direction: float) -> None:
    plant = Plant(spinner(Drive(viscous=0.1, asymmetric=0.06)))
    plant.place([0.0], [3.0 * direction])
    for _ in range(4000):
        plant.advance([0.0], 5e-5)
    rate = (0.1 + 0.06 * direction) / INERTIA
    assert plant.v[0] == pytest.approx(3.0 * direction * math.exp(-rate * 0.2), rel=2e-3)


def test_a_gear_holds_as_much_of_a_weight_as_its_load_gives_it_friction() -> None:
    body = Body(1.0, np.array([0.3, 0.0, 0.0]), 0.01 * np.eye(3))
    weight = 1.0 * 9.81 * 0.3

    def speed(drive: Drive, torque: float) -> float:
        joint = Joint(
            "hinge",
            JointKind.REVOLUTE,
            -1,
            Pose.from_rpy([np.pi / 2, 0, 0]),
            np.array([0.0, 0.0, 1.0]),
            drive=drive,
        )
        plant = Plant(Robot("lever", Link("base"), (joint,), (Link("arm", body),)))
        plant.place([0.0], [0.0])
        plant.advance([torque], 0.01)
        return float(plant.v[0])

    grip = Drive(load=0.4)
    assert speed(Drive(), 0.7 * weight) < 0  # it falls
    assert speed(grip, 0.7 * weight) == 0.0  # friction holds what is missing: 0.3 < 0.4
    assert speed(grip, 1.3 * weight) == 0.0
    assert speed(grip, 0.55 * weight) < 0
    assert speed(grip, 1.45 * weight) > 0


@pytest.mark.parametrize("drive", [
    Drive(stribeck=0.3, coulomb=0.2, stribeck_shape=SHAPE),
    Drive(viscous=0.4, asymmetric=-0.4),
    Drive(load=0.3, rotor=0.5),
    Drive(0.1, 0.1, None, 0.05, 0.2, 0.1, 0.2, StribeckShape(0.05, 0.7)),
])  # fmt: skip
def test_a_free_arm_only_loses_energy(drive: Drive) -> None:
    robot = driven(zoo_robot("two_link"), drive)
    plant, judge = Plant(robot), PinocchioRobot.of(robot, link_parameters(robot))
    Ia = (drive.rotor or 0.0) * np.eye(2)
    plant.place([0.9, -0.7], [1.0, -2.0])

    def energy() -> float:
        kinetic = 0.5 * plant.v @ (judge.mass_matrix(plant.q) + Ia) @ plant.v
        return float(kinetic) + judge.potential_energy(plant.q)

    energies = [energy()]
    for _ in range(600):
        plant.advance(np.zeros(2), 2e-3)
        energies.append(energy())
    # A step's friction is right to first order, so what it takes may be missed by a little within one.
    assert (np.diff(energies) < 1e-5).all()
    assert energies[-1] < energies[0] - 0.1


def test_a_gear_between_nothing_and_a_free_arm_carries_no_load_and_takes_no_energy() -> None:
    plants = [Plant(driven(zoo_robot("two_link"), drive)) for drive in (Drive(), Drive(load=0.3))]
    for plant in plants:
        plant.place([0.9, -0.7], [1.0, -2.0])
        plant.advance(np.zeros(2), 0.5)
    np.testing.assert_allclose(plants[1].q, plants[0].q, rtol=0, atol=1e-9)


def test_an_ideal_log_is_explained_row_by_row_by_the_description() -> None:
    robot = zoo_robot("two_link")
    robot = driven(robot, Drive(0.2, 0.3, 0.05, 0.02, 0.2, 0.1, 0.15, SHAPE))
    log = simulate_motion(robot, random_fourier(robot, np.random.default_rng(1)), duration=0.3)
    law = ComputedTorque.nominal(robot, 1.0, 1.0)
    assert_agree(inverse_dynamics(robot, law.layout, law.parameters, log.q, log.v, log.a), log.tau)


@pytest.mark.parametrize("sensor", ["ideal", "industrial", "low-cost"])
def test_terms_of_size_zero_change_no_bit_of_a_log(sensor: str) -> None:
    robot = zoo_robot("panda")
    nothing = {"stribeck": 0.0, "asymmetric": 0.0, "load": 0.0}
    rich = [replace(joint, drive=replace(joint.drive, **nothing)) for joint in robot.joints]
    motion = random_fourier(robot, np.random.default_rng(2))
    one, other = (
        simulate_motion(r, motion, sensor=sensor, rng=np.random.default_rng(5), duration=0.05)
        for r in (robot, replace(robot, joints=tuple(rich)))
    )
    for name in ("q", "v", "tau"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_screw_is_refused_rather_than_turned_into_a_hinge() -> None:
    robot = spinner(Drive())
    screw = replace(robot.joints[0], kind=JointKind.HELICAL, pitch=0.01)
    with pytest.raises(DescriptionError, match="joint 'wheel': it is helical"):
        Plant(replace(robot, joints=(screw,)))
