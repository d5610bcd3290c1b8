"""Friction at the end of a step: the inclusion it solves, and what it does to a moving joint."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.simulation import Plant
from steelyard.simulation.friction import slow_down
from steelyard.zoo import zoo_robot


def spinner(drive: Drive, inertia: float = 0.02) -> Robot:
    """A balanced wheel without gravity: M = inertia."""
    joint = Joint("wheel", JointKind.CONTINUOUS, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]), drive=drive)
    body = Body(1.0, np.zeros(3), np.diag([inertia, inertia, inertia]))
    return Robot("spinner", Link("base"), (joint,), (Link("disc", body),), gravity=np.zeros(3))


@pytest.mark.parametrize("seed", range(300))
def test_the_end_velocity_solves_the_inclusion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nv, h = int(rng.integers(1, 10)), 10.0 ** rng.uniform(-5, -2)
    L = rng.standard_normal((nv, nv)) * 10.0 ** rng.uniform(-2, 1, nv)[:, None]
    M = L @ L.T + 1e-4 * np.eye(nv)
    v = rng.standard_normal(nv) * 10.0 ** rng.uniform(-6, 0) * (rng.random(nv) < 0.7)
    f = rng.standard_normal(nv) * 10.0 ** rng.uniform(-1, 2)
    viscous = rng.uniform(0, 20, nv) * (rng.random(nv) < 0.7)
    coulomb = rng.uniform(0, 20, nv) * (rng.random(nv) < 0.7)
    end, friction = np.empty((2, nv))
    assert slow_down(M, v, f, viscous, coulomb, h, end, friction)
    scale = np.abs(f).max() + coulomb.max() + np.abs(M @ v).max() / h
    np.testing.assert_allclose(M @ (end - v) / h, f + friction, rtol=0, atol=1e-9 * scale)
    dry = friction + viscous * end
    slides = end != 0.0
    np.testing.assert_allclose(dry[slides], -(coulomb * np.sign(end))[slides], rtol=0, atol=1e-9 * scale)
    assert (np.abs(dry[~slides]) <= coulomb[~slides] + 1e-9 * scale).all()


def test_viscous_friction_slows_a_wheel_along_the_exponential() -> None:
    plant, errors = Plant(spinner(Drive(viscous=0.1))), []
    for h in (4e-4, 2e-4, 1e-4):
        plant.place([0.0], [3.0])
        for _ in range(round(0.2 / h)):
            plant.advance([0.0], h)
        errors.append(abs(plant.v[0] - 3.0 * math.exp(-0.1 / 0.02 * 0.2)))
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 2.0, rtol=0.02)


def test_very_stiff_viscous_friction_is_stable() -> None:
    # λ = F_v / I = 35 000 /s, as at the wrist of a public arm: an explicit step of 1 ms would blow up.
    plant = Plant(spinner(Drive(viscous=10.0), inertia=10.0 / 35_000))
    plant.place([0.0], [3.0])
    speeds = []
    for _ in range(50):
        plant.advance([2.0], 1e-3)
        speeds.append(plant.v[0])
    assert (np.diff(speeds) <= 1e-12).all()
    assert speeds[-1] == pytest.approx(2.0 / 10.0, rel=1e-9)


def test_dry_friction_stops_a_wheel_when_it_must_and_never_turns_it_around() -> None:
    plant = Plant(spinner(Drive(coulomb=0.1)))
    plant.place([0.0], [1.0])
    speeds = []
    for _ in range(300):
        plant.advance([0.0], 1e-3)
        speeds.append(plant.v[0])
    stop = 1.0 * 0.02 / 0.1  # v I / F_c = 0.2 s
    assert min(speeds) == 0.0
    assert speeds.index(0.0) == pytest.approx(stop / 1e-3, abs=2)
    assert not any(speeds[speeds.index(0.0) :])
    assert plant.q[0] == pytest.approx(0.5 * 1.0 * stop, rel=1e-3)


def test_dry_friction_holds_a_joint_up_to_its_strength_and_no_further() -> None:
    robot = spinner(Drive(coulomb=0.1, offset=0.05))
    for torque, moves in ((0.149, False), (0.151, True), (-0.049, False), (-0.051, True)):
        plant = Plant(robot)
        plant.place([0.0], [0.0])
        plant.advance([torque], 0.01)
        assert bool(plant.v[0] != 0.0) is moves
        if moves:
            expected = (torque - 0.05 - math.copysign(0.1, torque - 0.05)) / 0.02 * 0.01
            assert plant.v[0] == pytest.approx(expected, rel=1e-9)


def test_a_held_joint_rests_exactly_while_the_others_swing() -> None:
    robot = zoo_robot("two_link")
    free, strong = Drive(), Drive(coulomb=100.0)
    joints = [replace(joint, drive=d) for joint, d in zip(robot.joints, (free, strong), strict=True)]
    plant = Plant(replace(robot, joints=tuple(joints)))
    plant.place([0.5, 0.7], [0.0, 0.0])
    for _ in range(500):
        plant.advance([0.0, 0.0], 1e-3)
        assert plant.v[1] == 0.0
    assert abs(plant.v[0]) > 0.1
    assert plant.q[1] == pytest.approx(0.7, abs=1e-6)


def test_the_offset_and_the_rotor_act_as_their_words_say() -> None:
    robot = spinner(Drive(offset=-0.3, rotor=0.08))
    plant = Plant(robot)
    plant.place([0.0], [0.0])
    assert plant.acceleration([0.2])[0] == pytest.approx((0.2 + 0.3) / (0.02 + 0.08), rel=1e-12)
    bare = Plant(replace(robot, joints=(replace(robot.joints[0], drive=Drive()),)))
    bare.place([0.0], [0.0])
    assert bare.acceleration([0.2])[0] == pytest.approx(0.2 / 0.02, rel=1e-12)
