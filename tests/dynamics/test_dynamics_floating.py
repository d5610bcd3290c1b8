"""Robots whose base floats, judged by Pinocchio's free flyer, the textbook and the laws of a free body."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.errors import DescriptionError, InputError
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot


def _free_body() -> Robot:
    body = random_body(np.random.default_rng(0))
    joint = Joint("free", JointKind.FLOATING, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]))
    return Robot("free body", Link("world"), (joint,), (Link("body", body),))


@pytest.mark.parametrize("seed", range(30))
def test_torques_and_regressor_are_those_of_the_judges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng).floating()
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    q, v, a = random_states(rng, robot, 2)
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    judge = PinocchioRobot.of(robot, phi.reshape(-1, 10))
    for n in range(2):
        state = (q[n], v[n], a[n])
        assert_agree(Y[n], judge.regressor(*state))
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, judge.torques(*state))
            assert_agree(judged, newton_euler(robot, phi.reshape(-1, 10), *state))


@pytest.mark.parametrize("seed", range(20))
def test_its_mass_matrix_is_pinocchios_and_positive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID).floating()
    layout = layout_of(robot)
    q, _, _ = random_states(rng, robot, 1)
    H = mass_matrix(robot, layout, layout.complete_nominal(), q)[0]
    assert_agree(H, PinocchioRobot.of(robot, link_parameters(robot)).mass_matrix(q[0]))
    np.testing.assert_array_equal(H, H.T)
    assert np.linalg.eigvalsh(H)[0] > 0


@pytest.mark.parametrize("seed", range(10))
def test_a_joint_that_floats_in_mid_tree_obeys_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5)
    free = Joint("free", JointKind.FLOATING, 1, robot.joints[2].placement, np.array([0.0, 0.0, 1.0]))
    joints = (*robot.joints[:2], free, *robot.joints[3:])
    robot = Robot("tree", robot.base, joints, robot.links, robot.gravity)
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    q, v, a = random_states(rng, robot, 2)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    Y = torque_regressor(robot, layout, q, v, a)
    for n in range(2):
        expected = newton_euler(robot, phi.reshape(-1, 10), q[n], v[n], a[n])
        assert_agree(tau[n], expected)
        assert_agree(Y[n] @ phi, expected)


def test_free_fall_needs_no_force() -> None:
    robot = _free_body()
    layout = layout_of(robot)
    down = np.array([0, 0, -9.81, 0, 0, 0])
    tau = inverse_dynamics(robot, layout, layout.nominal, [1, 2, 3, 0, 0, 0, 1], np.zeros(6), down)
    np.testing.assert_array_equal(tau, 0.0)


def test_standing_still_needs_the_weight_whatever_the_attitude() -> None:
    robot = _free_body()
    layout = layout_of(robot)
    q, _, _ = random_states(np.random.default_rng(1), robot, 5)
    tau = inverse_dynamics(robot, layout, layout.nominal, q, np.zeros((5, 6)), np.zeros((5, 6)))
    np.testing.assert_allclose(np.linalg.norm(tau[:, :3], axis=1), 9.81 * layout.nominal[0], rtol=1e-13)


def test_the_length_of_the_quaternion_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=3).floating()
    layout = layout_of(robot)
    q, v, a = random_states(rng, robot, 4)
    longer = q.copy()
    longer[:, 3:7] *= np.array([[2.0], [-1.0], [1e-3], [1e5]])
    assert_agree(torque_regressor(robot, layout, longer, v, a), torque_regressor(robot, layout, q, v, a))


def test_a_quaternion_without_direction_is_refused() -> None:
    robot = _free_body()
    with pytest.raises(InputError, match=r"^q: .*quaternion"):
        torque_regressor(robot, layout_of(robot), np.zeros(7), np.zeros(6), np.zeros(6))


def test_floating_adds_six_degrees_of_freedom_and_weighs_the_base() -> None:
    robot = random_robot(np.random.default_rng(3), bodies=4)
    free = robot.floating()
    assert (free.nq, free.nv) == (robot.nv + 7, robot.nv + 6)
    assert free.mass == pytest.approx(robot.mass, rel=1e-15)
    assert free.link_names == (robot.base.name, *robot.link_names)
    assert link_parameters(free).shape == (5, 10)
    with pytest.raises(DescriptionError, match="floats already"):
        free.floating()


def test_a_floating_joint_has_no_drive() -> None:
    rng = np.random.default_rng(4)
    robot = random_robot(rng, bodies=3).floating()
    layout = layout_of(robot, ["viscous", "coulomb", "offset", "rotor"])
    assert layout.joints == robot.joint_names[1:]
    assert layout.size == 10 * 4 + 4 * 3
    Y = torque_regressor(robot, layout, *random_states(rng, robot, 2))
    assert not Y[:, :6, 40:].any()
    for j, joint in enumerate(layout.joints):
        assert Y[:, 6 + j, layout.of_joint(joint)].all()
    rotor = np.eye(layout.size)[layout.index(f"{layout.joints[1]}.rotor")]
    H = mass_matrix(robot, layout, rotor, random_states(rng, robot, 1)[0])
    np.testing.assert_array_equal(H[0], np.diag(np.eye(9)[7]))
