"""Rotors as bodies geared to their joints, judged by the mechanics of a disc and by Newton-Euler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.newton_euler import newton_euler
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics, mass_matrix
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import JointKind, Robot, Rotor
from steelyard.zoo import zoo_robot

SPIN, ACROSS = 4e-5, 3e-5


def disc(mass: float = 0.2) -> Body:
    """Balanced about its z."""
    return Body(mass, np.zeros(3), np.diag([ACROSS, ACROSS, SPIN]))


def arm(seed: int) -> Robot:
    return random_robot(np.random.default_rng(seed), bodies=3, shapes=SOLID, fixed=False)


def mass_matrix_of(robot: Robot, q: np.ndarray) -> np.ndarray:
    layout = layout_of(robot)
    return mass_matrix(robot, layout, layout.complete_nominal(), q)


@pytest.mark.parametrize("ratio", [1.0, -2.0, 60.0])
@pytest.mark.parametrize("seed", range(4))
def test_kinetic_energy_is_that_of_the_links_and_of_discs_that_ride_and_spin(seed: int, ratio: float) -> None:
    # T of a disc: its mass at the carrier's speed, the carrier's turning, and the spin n q' about its axis.
    rng = np.random.default_rng(seed)
    robot = arm(seed)
    axis, place = rng.normal(size=3), rng.uniform(-0.2, 0.2, 3)
    rotor = Rotor(ratio, axis, place, disc())
    geared = robot.with_rotors({"joint2": rotor})
    q, v, _ = random_states(rng, robot, 1)
    carrier = robot.joints[2].parent
    frame = robot.joints[2].placement
    z = axis / np.linalg.norm(axis)
    Rz, centre = frame.rotation @ z, frame.apply(place)
    twist = carrier_twist(robot, carrier, q[0], v[0])
    linear = twist[:3] + np.cross(twist[3:], centre)
    omega = twist[3:] + ratio * v[0, 2] * Rz
    along = omega @ Rz
    energy = 0.5 * (0.2 * linear @ linear + ACROSS * (omega @ omega - along**2) + SPIN * along**2)
    more = mass_matrix_of(geared, q)[0] - mass_matrix_of(robot, q)[0]
    assert 0.5 * v[0] @ more @ v[0] == pytest.approx(energy, rel=1e-9)


def carrier_twist(robot: Robot, carrier: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Linear and angular velocity of a link in its own frame, by walking out from the base."""
    path = []
    while carrier >= 0:
        path.append(carrier)
        carrier = robot.joints[carrier].parent
    linear, angular = np.zeros(3), np.zeros(3)
    for i in reversed(path):
        joint = robot.joints[i]
        X = joint.placement
        slides = joint.kind is JointKind.PRISMATIC
        if slides:
            X = X @ Pose(np.eye(3), q[i] * joint.axis)
        else:
            X = X @ Pose(turn(joint.axis, q[i]), np.zeros(3))
        linear = X.rotation.T @ (linear + np.cross(angular, X.translation))
        angular = X.rotation.T @ angular
        linear, angular = (
            (linear + v[i] * joint.axis, angular) if slides else (linear, angular + v[i] * joint.axis)
        )
    return np.concatenate([linear, angular])


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    half = np.sin(angle / 2) * axis
    return Pose.from_quaternion([*half, np.cos(angle / 2)]).rotation


@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_newton_and_euler_with_the_rotor_spun_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = arm(seed)
    body = random_body(rng, shape="solid")
    geared = robot.with_rotors({"joint1": Rotor(-3.0, rng.normal(size=3), rng.normal(size=3), body)})
    q, v, a = random_states(rng, robot, 1)
    q4, v4, a4 = (np.append(x[0], -3.0 * x[0, 1]) for x in (q, v, a))
    forces = newton_euler(geared.untied, link_parameters(geared), q4, v4, a4)
    expected = forces[:3] + np.array([0.0, -3.0 * forces[3], 0.0])
    layout = layout_of(geared)
    tau = inverse_dynamics(geared, layout, layout.complete_nominal(), q, v, a)
    np.testing.assert_allclose(tau[0], expected, rtol=1e-9, atol=1e-9)


def test_a_rotor_on_a_fixed_base_is_an_armature() -> None:
    robot = zoo_robot("one_link")
    (joint,) = robot.joints
    geared = robot.with_rotors({joint.name: Rotor(80.0, body=disc())})
    q = np.array([[0.4]])
    more = mass_matrix_of(geared, q) - mass_matrix_of(robot, q)
    assert more.item() == pytest.approx(80.0**2 * SPIN, rel=1e-12)


def test_the_robot_gains_links_but_no_coordinates() -> None:
    robot = zoo_robot("panda")
    names = robot.joint_names[2:5]
    geared = robot.with_rotors({name: Rotor(100.0) for name in names})
    assert (geared.nv, geared.nq) == (robot.nv, robot.nq)
    assert geared.link_names == (*robot.link_names, *(Rotor.name_at(name) for name in names))
    assert geared.joints[: len(robot.joints)][0] is robot.joints[0]


def test_rotors_replace_the_armatures_of_their_joints_alone() -> None:
    robot = zoo_robot("puma560")
    geared = robot.with_rotors({"joint2": Rotor(107.815)})
    assert geared.joints[1].drive.rotor is None
    assert geared.joints[1].drive.viscous == robot.joints[1].drive.viscous
    assert geared.joints[0].drive.rotor == robot.joints[0].drive.rotor


def test_what_only_spins_keeps_one_free_number() -> None:
    robot = zoo_robot("two_link").with_rotors({"joint1": Rotor(5.0)})
    layout = layout_of(robot).fixing(Rotor.spin_only(["joint1"]))
    free = [name for name, open_ in zip(layout.names, layout.free, strict=True) if open_]
    assert [name for name in free if "rotor" in name] == ["joint1/rotor.Izz"]
    assert len(free) == 21


def test_rotors_that_cannot_be_are_refused() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(UnknownNameError, match="joint2"):
        robot.with_rotors({"joint_2": Rotor(5.0)})
    with pytest.raises(InputError, match="one degree of freedom"):
        robot.floating().with_rotors({"floating_base": Rotor(5.0)})
    geared = robot.with_rotors({"joint1": Rotor(5.0)})
    with pytest.raises(InputError, match="one degree of freedom"):
        geared.with_rotors({"joint1/rotor": Rotor(5.0)})
    for ratio in (0.0, np.nan, np.inf):
        with pytest.raises(InputError, match="ratio"):
            Rotor(ratio)
    with pytest.raises(InputError, match="no direction"):
        Rotor(5.0, axis=np.zeros(3))
    with pytest.raises(InputError, match="place of a rotor"):
        Rotor(5.0, place=np.zeros(2))


def test_a_drive_without_armature_stays_as_it_is() -> None:
    robot = zoo_robot("two_link")
    bare = replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))
    assert bare.with_rotors({"joint1": Rotor(5.0)}).joints[0].drive == Drive()
