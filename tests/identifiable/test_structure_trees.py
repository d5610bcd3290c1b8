"""Structural identifiability of random trees, judged by Pinocchio's regressors on random states."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.mixed_trees import mixed_tree
from oracles.numerical_identifiability import assert_numbers_agree
from oracles.random_robots import random_robot_on
from steelyard.robot import JointKind

DRIVES = {
    "rigid": [],
    "armature": ["rotor"],
    "offset": ["offset"],
    "drives": ["viscous", "coulomb", "offset", "rotor"],
    "friction": ["viscous", "coulomb", "asymmetric"],
}


# Joints of every kind, quarter turns and generic poses, with and without gravity, joints tied to siblings.
@pytest.mark.parametrize("seed", range(60))
def test_numbers_agree_on_trees_of_mixed_joints(seed: int) -> None:
    robot = mixed_tree(np.random.default_rng(seed))
    drive = list(DRIVES.values())[seed % len(DRIVES)]
    assert_numbers_agree(robot, drive, seed, static=seed % 7 == 6)


@pytest.mark.parametrize("base", ["fixed", "floating", "floating in mid-tree", "screws and balls"])
@pytest.mark.parametrize("drive", ["rigid", "drives"])
def test_numbers_agree_on_every_kind_of_base(base: str, drive: str) -> None:
    for seed in range(3):
        robot = random_robot_on(base, np.random.default_rng(seed))
        assert_numbers_agree(robot, DRIVES[drive], seed)


def test_the_trees_hold_what_they_are_meant_to_hold() -> None:
    trees = [mixed_tree(np.random.default_rng(seed)) for seed in range(60)]
    joints = [joint for robot in trees for joint in robot.joints]
    kinds = {joint.kind for joint in joints}
    assert kinds >= {
        JointKind.REVOLUTE,
        JointKind.PRISMATIC,
        JointKind.HELICAL,
        JointKind.SPHERICAL,
        JointKind.FLOATING,
    }
    tied = [joint.mimic for joint in joints if joint.mimic is not None]
    assert len(tied) > 15
    assert any(tie.multiplier < 0 for tie in tied)
    assert any(tie.offset != 0 for tie in tied)
    assert sum(not robot.gravity.any() for robot in trees) > 10
