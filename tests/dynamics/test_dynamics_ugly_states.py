"""The ugly region: rest, massless links, axes along gravity, huge angles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot, random_states
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot

Z = np.array([0.0, 0.0, 1.0])


def _one_joint(kind: JointKind, axis: np.ndarray = Z, body: Body | None = None) -> Robot:
    link = Link("link", body or random_body(np.random.default_rng(0)))
    return Robot("one", Link("base"), (Joint("joint", kind, -1, Pose.identity(), axis),), (link,))


@pytest.mark.parametrize("seed", range(10))
def test_at_rest_only_gravity_remains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = layout_of(robot)
    zero = np.zeros(robot.nv)
    for q in (zero, rng.uniform(-3, 3, robot.nv)):
        tau = inverse_dynamics(robot, layout, layout.complete_nominal(), q, zero, zero)[0]
        assert_agree(tau, newton_euler(robot, link_parameters(robot), q, zero, zero))
        weightless = robot.with_gravity(zero[:1].repeat(3))
        np.testing.assert_array_equal(torque_regressor(weightless, layout, q, zero, zero), 0.0)


def test_an_axis_along_gravity_feels_no_weight() -> None:
    robot = _one_joint(JointKind.REVOLUTE)
    layout = layout_of(robot)
    Y = torque_regressor(robot, layout, [[0.0], [0.7]], [[0.0], [2.0]], [[0.0], [3.0]])
    np.testing.assert_array_equal(Y[0], 0.0)
    expected = np.zeros(10)
    expected[layout.index("link.Izz")] = 3.0
    np.testing.assert_array_equal(Y[1, 0], expected)


def test_a_slide_along_gravity_lifts_the_weight() -> None:
    robot = _one_joint(JointKind.PRISMATIC)
    layout = layout_of(robot)
    mass = layout.nominal[0]
    assert inverse_dynamics(robot, layout, layout.nominal, [0.3], [1.0], [2.0])[0, 0] == pytest.approx(
        mass * (9.81 + 2.0), rel=1e-15
    )


def test_a_pendulum_obeys_the_pendulum_equation() -> None:
    m, length = 2.0, 0.5
    bob = Body(m, np.array([length, 0.0, 0.0]), np.zeros((3, 3)))
    robot = _one_joint(JointKind.CONTINUOUS, np.array([0.0, -1.0, 0.0]), bob)  # positive q lifts x towards z
    layout = layout_of(robot)
    q, v, a = 0.4, 1.3, -0.8
    tau = inverse_dynamics(robot, layout, layout.nominal, [q], [v], [a])[0, 0]
    assert tau == pytest.approx(m * length**2 * a + m * 9.81 * length * np.cos(q), rel=1e-14)


@pytest.mark.parametrize("kind", [JointKind.REVOLUTE, JointKind.CONTINUOUS])
def test_a_million_radians_are_reduced_as_exactly_as_cos_and_sin_do(kind: JointKind) -> None:
    """Tolerance 1e-10 relative as everywhere: the argument is reduced exactly, not by subtracting turns."""
    robot = random_robot(np.random.default_rng(5), bodies=4)
    robot = replace(robot, joints=tuple(replace(joint, kind=kind) for joint in robot.joints))
    q = np.array([1e6, -1e6, 1234567.8, 3e5])
    v, a = np.ones(4), -np.ones(4)
    Y = torque_regressor(robot, layout_of(robot), q, v, a)[0]
    assert_agree(Y, PinocchioRobot.of(robot).regressor(q, v, a))
    # Whole turns change the angle only by the rounding of q itself, which is 1e-10 rad at a million.
    turned = torque_regressor(robot, layout_of(robot), np.remainder(q, 2 * np.pi), v, a)[0]
    assert_agree(Y, turned, relative=1e-8)


def test_massless_links_pass_the_torque_on() -> None:
    rng = np.random.default_rng(7)
    robot = random_robot(rng, bodies=6)
    layout = layout_of(robot)
    bodies = link_parameters(robot).copy()
    bodies[[0, 2, 5]] = 0.0
    q, v, a = random_states(rng, robot, 3)
    tau = inverse_dynamics(robot, layout, bodies.ravel(), q, v, a)
    for n in range(3):
        assert_agree(tau[n], newton_euler(robot, bodies, q[n], v[n], a[n]))
    nothing = np.zeros(layout.size)
    np.testing.assert_array_equal(inverse_dynamics(robot, layout, nothing, q, v, a), 0.0)
    np.testing.assert_array_equal(mass_matrix(robot, layout, nothing, q), 0.0)
