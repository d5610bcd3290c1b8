"""The wrench at the base: rate of the total momentum less the weight, by Pinocchio and the textbook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler, world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import torque_regressor
from steelyard.dynamics.regressor import base_wrench_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = [term.name for term in DRIVE_TERMS]


def _momentum_balance(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Force f = Ṗ - M g and moment n = L̇ + c × f; L is Pinocchio's angular momentum about the centre c."""
    bodies = link_parameters(robot)
    judge = PinocchioRobot.of(robot, bodies)
    state = (judge.q(q), judge.v(v), judge.v(a))
    rate = pin.computeCentroidalMomentumTimeVariation(judge.model, judge.data, *state)
    force = rate.linear - bodies[:, 0].sum() * robot.gravity
    centre = pin.centerOfMass(judge.model, judge.data, judge.q(q))
    return np.concatenate([force, rate.angular + np.cross(centre, force)])


@pytest.mark.parametrize("seed", range(30))
def test_a_fixed_base_supplies_the_rate_of_momentum_less_the_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID)
    layout = layout_of(robot)
    q, v, a = random_states(rng, robot, 2)
    wrench = base_wrench_regressor(robot, layout, q, v, a) @ layout.complete_nominal()
    for n in range(2):
        assert_agree(wrench[n], _momentum_balance(robot, q[n], v[n], a[n]))


@pytest.mark.parametrize("name", list(ZOO))
def test_the_base_of_a_zoo_robot_supplies_the_rate_of_momentum_less_the_weight(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    (q,), (v,), (a,) = random_states(np.random.default_rng(0), robot, 1)
    wrench = base_wrench_regressor(robot, layout, q, v, a)[0] @ layout.complete_nominal()
    assert_agree(wrench, _momentum_balance(robot, q, v, a))


@pytest.mark.parametrize("seed", range(10))
def test_a_fixed_base_is_a_floating_one_held_still(seed: int) -> None:
    """The same robot on a floating joint at rest; the columns of the base link are the plate's own load."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4)
    q, v, a = random_states(rng, robot, 3)
    held = np.tile([0.0, 0, 0, 0, 0, 0, 1], (3, 1))
    still = np.zeros((3, 6))
    B = base_wrench_regressor(robot, layout_of(robot), q, v, a)
    free = robot.floating()
    state = (np.hstack([held, q]), np.hstack([still, v]), np.hstack([still, a]))
    assert_agree(B, torque_regressor(free, layout_of(free), *state)[:, :6, 10:])
    for n in range(3):
        for column, unit in enumerate(np.eye(40)):
            bodies = np.vstack([np.zeros(10), unit.reshape(4, 10)])
            expected = newton_euler(free, bodies, *(x[n] for x in state))[:6]
            assert_agree(B[n, :, column], expected, scale=1.0)


@pytest.mark.parametrize("seed", range(20))
def test_a_floating_base_has_the_first_six_rows_of_the_torque_regressor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng).floating()
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 2)
    B = base_wrench_regressor(robot, layout, q, v, a)
    assert_agree(B, torque_regressor(robot, layout, q, v, a)[:, :6])
    phi = rng.standard_normal(layout.size)
    links = phi[: 10 * len(robot.links)].reshape(-1, 10)
    for n in range(2):
        assert_agree(B[n] @ phi, newton_euler(robot, links, q[n], v[n], a[n])[:6])


def test_a_floating_joint_carries_only_what_hangs_on_it() -> None:
    rng = np.random.default_rng(1)
    robot = random_robot(rng, bodies=5).floating()
    joints = (*robot.joints[:3], replace(robot.joints[3], parent=-1), *robot.joints[4:])
    robot = replace(robot, joints=joints)
    layout = layout_of(robot)
    q, v, a = random_states(rng, robot, 2)
    B = base_wrench_regressor(robot, layout, q, v, a)
    assert not B[:, :, 30:40].any()
    assert_agree(B, torque_regressor(robot, layout, q, v, a)[:, :6])


def test_where_the_floating_joint_is_placed_does_not_matter() -> None:
    """The wrench is told in the floating link's own frame; only gravity's direction there counts."""
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=3).floating()
    moved = replace(robot.joints[0], placement=Pose(np.eye(3), np.array([1.0, -2.0, 3.0])))
    other = replace(robot, joints=(moved, *robot.joints[1:]))
    state = random_states(rng, robot, 2)
    layout = layout_of(robot)
    assert_agree(base_wrench_regressor(other, layout, *state), base_wrench_regressor(robot, layout, *state))


def test_at_rest_the_base_carries_the_weight_where_its_centre_is() -> None:
    rng = np.random.default_rng(3)
    robot = random_robot(rng, shapes=SOLID, bodies=5)
    layout = layout_of(robot)
    (q,), _, _ = random_states(rng, robot, 1)
    still, phi = np.zeros(5), layout.complete_nominal()
    wrench = base_wrench_regressor(robot, layout, q, still, still)[0] @ phi
    expected = np.zeros(6)
    for (R, p), (m, *h) in zip(world_poses(robot, q), phi.reshape(-1, 10)[:, :4], strict=True):
        expected[:3] -= m * robot.gravity
        expected[3:] -= np.cross(m * p + R @ h, robot.gravity)
    assert_agree(wrench, expected)


def test_drives_do_not_load_the_base() -> None:
    rng = np.random.default_rng(4)
    for robot in (random_robot(rng, bodies=4), random_robot(rng, bodies=4).floating()):
        layout = layout_of(robot, TERMS)
        B = base_wrench_regressor(robot, layout, *random_states(rng, robot, 2))
        assert not B[:, :, 10 * len(robot.links) :].any()


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    rng = np.random.default_rng(5)
    robot = random_robot(rng, bodies=4)
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 129)
    B = base_wrench_regressor(robot, layout, q, v, a)
    part = base_wrench_regressor(robot, layout, q[:count], v[:count], a[:count])
    np.testing.assert_array_equal(part, B[:count])
    np.testing.assert_array_equal(base_wrench_regressor(robot, layout, q[5], v[5], a[5])[0], B[5])


def test_bad_arguments_are_refused_by_name() -> None:
    robot = random_robot(np.random.default_rng(6), bodies=3)
    layout, good = layout_of(robot), np.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"^a: expected shape \(N, 3\), got \(2, 4\)"):
        base_wrench_regressor(robot, layout, good, good, np.zeros((2, 4)))
    with pytest.raises(ShapeError, match=r"^q: must be finite"):
        base_wrench_regressor(robot, layout, np.full((2, 3), np.nan), good, good)
    with pytest.raises(InputError, match=r"numbers of samples differ: {'q': 2, 'v': 2, 'a': 1}"):
        base_wrench_regressor(robot, layout, good, good, good[:1])
    foreign = layout_of(random_robot(np.random.default_rng(7), bodies=2))
    with pytest.raises(InputError, match=r"^layout: .*Make it with layout_of"):
        base_wrench_regressor(robot, foreign, good, good, good)
