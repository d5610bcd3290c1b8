"""Frames and Jacobians, judged by Pinocchio and the textbook."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import world_poses
from oracles.pinocchio_robot import PinocchioRobot, pinocchio_model, se3
from oracles.random_robots import random_robot, random_states
from steelyard.dynamics.kinematics import forward_kinematics, frame_jacobian
from steelyard.errors import InputError, ShapeError, UnknownNameError
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot


def _judge(robot: Robot) -> PinocchioRobot:
    """Pinocchio's model with every link of the description as a frame."""
    model = pinocchio_model(robot)
    for frame in robot.frames:
        joint = 0 if frame.link < 0 else model.getJointId(robot.joint_names[frame.link])
        model.addFrame(pin.Frame(frame.name, joint, 0, se3(frame.placement), pin.FrameType.BODY))
    return PinocchioRobot(robot, model)


def _jacobian(judge: PinocchioRobot, name: str, q: np.ndarray) -> np.ndarray:
    frame = judge.model.getFrameId(name, pin.FrameType.BODY)
    reference = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    J = pin.computeFrameJacobian(judge.model, judge.data, judge.q(q), frame, reference)
    return J.reshape(6, -1)[:, judge._v]


def _assert_frames_are_pinocchios(rng: np.random.Generator, robot: Robot) -> None:
    q, _, _ = random_states(rng, robot, 2)
    judge = _judge(robot)
    names = [frame.name for frame in robot.frames]
    X = forward_kinematics(robot, q, names)
    for f, name in enumerate(names):
        J = frame_jacobian(robot, q, name)
        for n in range(2):
            assert_agree(X[n, f], judge.frame(name, q[n]))
            assert_agree(J[n], _jacobian(judge, name, q[n]), scale=1.0)


@pytest.mark.parametrize("seed", range(30))
def test_frames_and_jacobians_are_pinocchios_on_any_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    _assert_frames_are_pinocchios(rng, robot.floating() if seed % 3 == 0 else robot)


@pytest.mark.parametrize("name", list(ZOO))
def test_frames_and_jacobians_are_pinocchios_on_the_zoo(name: str) -> None:
    rng = np.random.default_rng(0)
    _assert_frames_are_pinocchios(rng, zoo_robot(name))
    _assert_frames_are_pinocchios(rng, zoo_robot(name).floating())


def test_without_names_all_moving_links_are_placed() -> None:
    rng = np.random.default_rng(1)
    robot = random_robot(rng, bodies=6)
    q, _, _ = random_states(rng, robot, 3)
    X = forward_kinematics(robot, q)
    np.testing.assert_array_equal(X, forward_kinematics(robot, q, robot.link_names))
    for n in range(3):
        for i, (R, p) in enumerate(world_poses(robot, q[n])):
            assert_agree(X[n, i, :3, :3], R)
            assert_agree(X[n, i, :3, 3], p, scale=1.0)
            np.testing.assert_array_equal(X[n, i, 3], [0, 0, 0, 1])


def test_frames_come_in_the_order_asked_for() -> None:
    robot = zoo_robot("panda")
    q = np.linspace(-1, 1, 14).reshape(2, 7)
    names = [robot.tool_frame.name, robot.base.name, robot.link_names[2], robot.tool_frame.name]
    X = forward_kinematics(robot, q, names)
    assert X.shape == (2, 4, 4, 4)
    np.testing.assert_array_equal(X[:, 0], X[:, 3])
    np.testing.assert_array_equal(X[:, 1], np.broadcast_to(np.eye(4), (2, 4, 4)))
    np.testing.assert_array_equal(X[:, 2], forward_kinematics(robot, q)[:, 2])
    assert forward_kinematics(robot, q, []).shape == (2, 0, 4, 4)
    np.testing.assert_array_equal(frame_jacobian(robot, q, robot.base.name), np.zeros((2, 6, 7)))


def test_unknown_frames_are_refused_with_the_nearest_name() -> None:
    robot = zoo_robot("panda")
    wrong = robot.link_names[3] + "x"
    for call in (
        lambda: forward_kinematics(robot, np.zeros(7), [wrong]),
        lambda: frame_jacobian(robot, np.zeros(7), wrong),
    ):
        with pytest.raises(UnknownNameError, match=f"Did you mean '{robot.link_names[3]}'"):
            call()
    with pytest.raises(InputError, match=r"^frames: expected a list of names"):
        forward_kinematics(robot, np.zeros(7), robot.link_names[3])
    with pytest.raises(ShapeError, match=r"^q: expected shape \(N, 7\), got \(2, 6\)"):
        frame_jacobian(robot, np.zeros((2, 6)), robot.link_names[3])


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 129])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=5).floating()
    q, _, _ = random_states(rng, robot, 129)
    name = robot.frames[-1].name

    def everything(end: int) -> list[np.ndarray]:
        return [
            forward_kinematics(robot, q[:end]),
            frame_jacobian(robot, q[:end], name),
        ]

    for part, whole in zip(everything(count), everything(129), strict=True):
        np.testing.assert_array_equal(part, whole[:count])
