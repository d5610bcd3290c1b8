"""Pick-and-place moves with the hand kept level, and a dense judge of what motions show of a payload."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pinocchio as pin

from oracles.pinocchio_robot import PinocchioRobot, se3
from steelyard.motion import Motion, MotionSample, SplineMotion, pick_and_place
from steelyard.robot import Robot

DRIVE = {
    "offset": lambda at: np.ones_like(at.v),
    "viscous": lambda at: at.v,
    "coulomb": lambda at: np.sign(at.v),
}
"""Columns of unknown drive terms, (N, nv)."""


def level_move(robot: Robot) -> SplineMotion:
    """A sweep with a reach, the tool's axis vertical throughout, in 2.4 s.

    The pitch of the hand is a sum of three angles; a spline is linear in its waypoints, so a sum that is kept
    at the waypoints is kept between them.
    """
    shoulder, elbow = {
        "panda": (np.array([-0.7, -0.5, -0.6]), np.array([-2.2, -2.0, -2.3])),
        "kinova_gen3": (np.array([0.3, 0.45, 0.35]), np.array([1.6, 1.5, 1.7])),
    }[robot.name]
    wrist = shoulder - elbow if robot.name == "panda" else np.pi - shoulder - elbow
    poses = np.zeros((3, 7))
    poses[:, 0], poses[:, 6] = (-0.5, 0.1, 0.5), (0.3, 0.5, -0.3)
    poses[:, 1], poses[:, 3], poses[:, 5] = shoulder, elbow, wrist
    return pick_and_place(robot.joint_names, poses, (0.0, 1.2, 2.4), robot=robot.digest)


def sampled(motion: Motion, rate: float) -> MotionSample:
    """At every sampling time from 0 on; the durations of these tests are whole sampling times."""
    return motion.sample(np.arange(round(motion.duration * rate) + 1) / rate)


def tool_to_link(robot: Robot) -> np.ndarray:
    """From ten numbers in the tool frame to those in its link's, learnt from bodies that Pinocchio moves."""
    pin.seed(1)
    bodies = [pin.Inertia.Random() for _ in range(10)]
    in_tool = np.array([body.toDynamicParameters() for body in bodies]).T
    X = se3(robot.tool_frame.placement)
    return np.array([X.act(body).toDynamicParameters() for body in bodies]).T @ np.linalg.inv(in_tool)


def dense_rows(
    robot: Robot,
    at: MotionSample,
    noise: np.ndarray,
    unknown: Collection[str] = ("offset",),
    joints: Collection[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """All torque equations over their noise by Pinocchio: columns of the ten numbers, and of drive terms.

    The drive terms are those of some joints only, where these are given.
    """
    judge, nv = PinocchioRobot.of(robot), robot.nv
    link = robot.tool_frame.link
    ten = slice(10 * link, 10 * link + 10)
    Y = np.array([judge.regressor(q, v, a)[:, ten] for q, v, a in zip(at.q, at.v, at.a, strict=True)])
    W = (Y / noise[:, None]).reshape(-1, 10) @ tool_to_link(robot)
    columns = [
        DRIVE[term](at)[:, k] / noise[k] * np.eye(nv)[:, [k]] for term in unknown for k in joints or range(nv)
    ]
    N = np.array([column.T.ravel() for column in columns]).reshape(-1, len(W)).T
    return W, N


def dense_deviations(W: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Standard deviations of the first columns' parameters, the others' being estimated as well."""
    both = np.hstack((W, N))
    lengths = np.linalg.norm(both, axis=0)
    R = np.linalg.qr(both / lengths, mode="r")
    return (np.linalg.norm(np.linalg.inv(R), axis=1) / lengths)[: W.shape[1]]
