"""A Gen3 with the Kinova manual's warning torques, heavy rotors and a payload box, and plans from one pose.

Rotor inertias and the box are those of the order Zhang et al. (2025) use; the torque limits are in the
manual's safety table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.control import Tube
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.layout import Layout, layout_of
from steelyard.limits import MotionLimits, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import SplineMotion
from steelyard.motion.spline import bezier
from steelyard.pose import Pose
from steelyard.robot import Box, Robot
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.zoo import zoo_robot

HOME = np.array([0.0, 0.26, np.pi, -2.2, 0.0, 0.96, np.pi / 2])
WARNING = (56.7, 56.7, 56.7, 56.7, 29.4, 29.4, 29.4)
TUBE = Tube.of_radius(0.016, 7.6, 5.0)
LAW = RobustLaw("clamped", rest_velocity=0.02)
DURATION = 3.0


def with_effort(robot: Robot, effort: object) -> Robot:
    most = np.broadcast_to(np.asarray(effort, dtype=float), (robot.nv,))
    joints = [
        replace(joint, limits=replace(joint.limits, effort=float(x)))
        for joint, x in zip(robot.joints, most, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


def gen3(effort: object = WARNING) -> Robot:
    return with_effort(zoo_robot("kinova_gen3"), effort)


def model(
    robot: Robot, drive: tuple[str, ...] = ("viscous", "coulomb", "rotor")
) -> tuple[Layout, np.ndarray, np.ndarray]:
    """Layout, nominal parameters and half widths."""
    layout = layout_of(robot, drive)
    phi = layout.complete_nominal()
    phi[layout.drive_columns[:, 3]] = 8.0
    rho = 0.05 * np.abs(phi)
    rho[60:70] = (0.4, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05)
    return layout, phi, rho


def ring_of_boxes(count: int = 6) -> Scene:
    angles = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    return Scene(
        tuple(
            Obstacle(
                f"post {k}", Box(0.1, 0.1, 0.3), Pose(np.eye(3), (0.75 * np.cos(x), 0.75 * np.sin(x), 0.15))
            )
            for k, x in enumerate(angles)
        )
    )


def limits_of(robot: Robot, scene: Scene | None = None) -> MotionLimits:
    """Limits with the model; without a scene nothing is kept apart."""
    layout, phi, _ = model(robot)
    return MotionLimits(robot, None if scene is None else clearance_of(robot, scene), layout, phi)


def swing(robot: Robot, by: object, duration: float = DURATION) -> SplineMotion:
    """From rest to rest, as smooth as a quintic can be."""
    end = HOME + np.broadcast_to(np.asarray(by, dtype=float), HOME.shape)
    return bezier(robot.joint_names, duration, np.stack((HOME, HOME, HOME, end, end, end), axis=1))


@dataclass(frozen=True, eq=False)
class Draws:
    """States of a tube at random instants, and what the law computes there, written out plainly."""

    q: np.ndarray
    v: np.ndarray
    r: np.ndarray
    nominal: np.ndarray
    disturbance: np.ndarray
    rows: np.ndarray


def draw(
    rng: np.random.Generator,
    robot: Robot,
    plan: SplineMotion,
    span: tuple[float, float],
    count: int,
    *,
    tube: Tube = TUBE,
    law: RobustLaw = LAW,
    drive: tuple[str, ...] = ("viscous", "coulomb", "rotor"),
) -> Draws:
    """Draw states on the edge of both balls of the tube, one in four inside."""
    layout, phi, rho = model(robot, drive)
    t = rng.uniform(*span, count)
    d = plan.sample(t)

    def ball(radius: float) -> np.ndarray:
        x = rng.normal(size=(count, robot.nv))
        inside = np.where(rng.random((count, 1)) < 0.25, rng.random((count, 1)), 1.0)
        return radius * inside * x / np.linalg.norm(x, axis=1, keepdims=True)

    e, r = ball(tube.radius / tube.kr), ball(tube.radius)
    q, v_a, a_a = d.q - e, d.v + tube.kr * e, d.a + tube.kr * (r - tube.kr * e)
    Y = passivity_regressor(robot, layout_of(robot), q, v_a - r, v_a, a_a)
    links = Y.shape[2]
    columns = layout.drive_columns.T
    F, rho_F = (np.where(columns >= 0, x[columns], 0.0) for x in (phi, rho))
    s = np.clip(v_a / law.rest_velocity, -1.0, 1.0)
    nominal = Y @ phi[:links] + F[0] * v_a + F[1] * s + F[2] + F[3] * a_a
    w = np.abs(Y) @ rho[:links] + rho_F[0] * np.abs(v_a) + rho_F[1] * np.abs(s) + rho_F[2]
    w += rho_F[3] * np.abs(a_a) + (F[1] + rho_F[1]) * (1.0 - np.abs(s))
    return Draws(q, v_a - r, r, nominal, w, Y)
