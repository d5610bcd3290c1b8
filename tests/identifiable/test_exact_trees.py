"""Exact identifiability of random trees of quarter turns, judged by the columns of their regressors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_states
from steelyard.drive import StribeckShape
from steelyard.dynamics import torque_regressor
from steelyard.identifiable import structural_identifiability
from steelyard.identifiable.exact.identifiability import exact_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.robot.joint import Mimic

KINDS = ("revolute", "revolute", "continuous", "prismatic", "helical", "spherical")
DRIVE = ("rotor", "offset", "viscous", "coulomb", "stribeck", "asymmetric")
OBLIQUE = np.array([0.6, 0.0, -0.8])


def quarter_turn_tree(rng: np.random.Generator, bodies: int) -> Robot:
    """A tree of mixed joints; many offsets vanish, so that axes meet, and some axes are oblique."""
    joints = []
    for i in range(bodies):
        kind = JointKind(rng.choice(KINDS))
        axis = OBLIQUE if rng.random() < 0.2 else rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)] + 0.0
        placement = Pose.from_rpy(rng.integers(0, 4, 3) * np.pi / 2, rng.choice([0, 0, 0.25, -0.4, 0.135], 3))
        pitch = 0.05 if kind is JointKind.HELICAL else 0.0
        parent = i - 1 if rng.random() < 0.6 else int(rng.integers(-1, i))
        joints.append(Joint(f"joint{i}", kind, parent, placement, axis, pitch=pitch))
    links = tuple(Link(f"link{i}") for i in range(bodies))
    gravity = (np.array([0.0, 0.0, -9.81]), np.zeros(3), np.array([3.0, 0.0, -9.0]))[rng.integers(3)]
    return Robot("tree", Link("base"), tuple(joints), links, gravity)


def tied(rng: np.random.Generator, robot: Robot) -> Robot:
    """The same tree, where some joints have companions on the same link that follow them."""
    joints, links = list(robot.joints), list(robot.links)
    for leader in (joint for joint in robot.joints if joint.kind.nv == 1):
        if rng.random() < 0.5:
            kind = JointKind(rng.choice(["continuous", "prismatic"]))
            placement = Pose.from_rpy(rng.integers(0, 4, 3) * np.pi / 2, rng.choice([0, 0.1], 3))
            offset = 0.2 if kind is JointKind.PRISMATIC else float(rng.integers(0, 4)) * np.pi / 2
            mimic = Mimic(leader.name, float(rng.choice([-1.0, 2.5, -6.0])), offset)
            name, axis = f"follower_{leader.name}", np.eye(3)[rng.integers(3)]
            joints.append(Joint(name, kind, leader.parent, placement, axis, mimic=mimic))
            links.append(Link(f"on_{name}"))
    return replace(robot, joints=tuple(joints), links=tuple(links))


def stribeck_shapes(rng: np.random.Generator, robot: Robot) -> dict[str, StribeckShape]:
    """Shapes of which some of a block fade at the same speed of the block, others not."""
    shapes = {}
    for joint in robot.joints:
        k = 1.0 if joint.mimic is None else abs(joint.mimic.multiplier)
        shapes[joint.name] = StribeckShape(k * float(rng.choice([0.5, 2.0])), 1.0)
    return {joint.name: shapes[joint.name] for joint in robot.joints if joint.kind.nv == 1}


def stacked_regressor(robot: Robot, layout: Layout, rng: np.random.Generator, static: bool) -> np.ndarray:
    count = 4 + 3 * layout.size // robot.nv
    q, v, a = random_states(rng, robot, count)
    motion = (0.0 * v, 0.0 * a) if static else (v, a)
    return torque_regressor(robot, layout, q, *motion).reshape(-1, layout.size)


def assert_explained(W: np.ndarray, K: np.ndarray, pivots: np.ndarray) -> None:
    """W = W₁ K, and the columns W₁ are independent."""
    W1 = W[:, pivots]
    np.testing.assert_allclose(W1 @ K, W, atol=1e-11 * max(1.0, np.abs(W).max()))
    if pivots.size:
        assert np.linalg.svd(W1 / np.linalg.norm(W1, axis=0), compute_uv=False)[-1] > 1e-7


@pytest.mark.parametrize("seed", range(50))
def test_base_parameters_explain_every_torque_of_a_tree_and_none_can_be_spared(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = quarter_turn_tree(rng, int(rng.integers(1, 7)))
    robot = robot.floating() if seed % 5 == 0 else robot
    robot = tied(rng, robot) if seed % 2 else robot
    static = seed % 7 == 0
    layout = layout_of(robot, DRIVE, stribeck=stribeck_shapes(rng, robot))
    answer = exact_identifiability(robot, layout, static=static)
    assert_explained(stacked_regressor(robot, layout, rng, static), answer.matrix, answer.pivots)


@pytest.mark.parametrize("seed", range(100, 115))
def test_the_zero_of_an_angle_may_lie_anywhere_about_its_axis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = quarter_turn_tree(rng, 5)
    joints = list(robot.joints)
    for i, joint in enumerate(joints):
        if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS) and np.count_nonzero(joint.axis) == 1:
            half = rng.uniform(-1.5, 1.5)
            turn = Pose.from_quaternion([*(np.sin(half) * joint.axis), np.cos(half)])
            joints[i] = replace(joint, placement=joint.placement @ turn)
    turned = replace(robot, joints=tuple(joints))
    layout = layout_of(turned, ("rotor", "offset"))
    answer = exact_identifiability(turned, layout)
    assert_explained(stacked_regressor(turned, layout, rng, static=False), answer.matrix, answer.pivots)


@pytest.mark.parametrize("seed", range(50, 80))
def test_floating_point_arithmetic_gives_the_same_answer_on_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = quarter_turn_tree(rng, int(rng.integers(1, 9)))
    layout = layout_of(robot, ("rotor", "offset", "viscous"))
    exact = exact_identifiability(robot, layout, static=seed % 7 == 0)
    floating = structural_identifiability(robot, layout, static=seed % 7 == 0)
    assert exact.classes == floating.classes
    assert [vars(body) for body in exact.bodies] == [vars(body) for body in floating.bodies]


@pytest.mark.parametrize("seed", range(80, 90))
def test_the_count_is_the_rank_of_the_regressor_of_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = quarter_turn_tree(rng, 5)
    judge = PinocchioRobot.of(robot)
    W = np.vstack([judge.regressor(*state) for state in zip(*random_states(rng, robot, 80), strict=True)])
    size = np.linalg.norm(W, axis=0)
    W = W[:, size > 1e-11 * size.max()]
    singular = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    assert exact_identifiability(robot, layout_of(robot)).count == int((singular > 1e-8 * singular[0]).sum())
