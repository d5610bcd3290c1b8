"""Models for questions about every pose, and their smallest eigenvalues by Pinocchio."""

from __future__ import annotations

from functools import cache

import numpy as np

from oracles.pinocchio_robot import PinocchioRobot
from steelyard.consistency.all_poses.proof import AllPoseProof
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.link_frames import modified_dh_frames
from steelyard.reduction import SYMMETRIC, Reduction, fixed
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "rotor"]


@cache
def paper_004() -> tuple[AllPoseProof, np.ndarray]:
    """CRANE-X7 with its hand axis and the 39 parameters of Oaki et al. (2026), at their nominal values."""
    robot = zoo_robot("crane_x7_hand")
    layout, frames = layout_of(robot, DRIVE), modified_dh_frames(robot)
    nothing = fixed(dict.fromkeys(PARAMETER_NAMES, 0.0))
    *arm, hand = layout.links
    model = minimal_model(
        robot, layout, Reduction(layout, frames, dict.fromkeys(arm, SYMMETRIC) | {hand: nothing})
    )
    assert model.size == 39
    return AllPoseProof.prepare(model), model.of_standard(layout.complete_nominal())


def full_model(robot: Robot) -> tuple[AllPoseProof, np.ndarray]:
    """A robot of whose links nothing is assumed, at its nominal values."""
    model = minimal_model(robot, layout_of(robot, DRIVE))
    return AllPoseProof.prepare(model), model.of_standard(model.layout.complete_nominal())


def eigenvalues(model: MinimalModel, phi: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Smallest eigenvalues by Pinocchio's torques at unit accelerations, which are linear in phi."""
    judge, n = PinocchioRobot.of(model.robot.with_gravity(np.zeros(3))), model.robot.nv
    rotors = np.diag([phi[model.layout.index(f"{joint.name}.rotor")] for joint in model.robot.joints])
    links, zero = phi[: 10 * n], np.zeros(n)
    return np.array(
        [
            np.linalg.eigvalsh(
                np.column_stack([judge.regressor(q, zero, unit) @ links for unit in np.eye(n)]) + rotors
            )[0]
            for q in poses
        ]
    )
