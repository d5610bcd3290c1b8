"""Random trees for questions of structure: every kind of joint, bodies that move together, geared rotors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles.random_robots import random_pose, random_robot
from steelyard.drive import Drive
from steelyard.robot import Joint, JointKind, Limits, Robot, Rotor
from steelyard.robot.joint import Mimic

KINDS = (
    *(JointKind.REVOLUTE,) * 5,
    *(JointKind.PRISMATIC,) * 3,
    *(JointKind.HELICAL,) * 2,
    JointKind.SPHERICAL,
    JointKind.FLOATING,
)
RATIOS = (1.0, -1.0, -2.0, 0.5, 6.0, 50.0)


def mixed_tree(rng: np.random.Generator, *, bodies: int = 0) -> Robot:
    """A tree of 1 to 7 bodies; often quarter turns, zero offsets and coordinate axes, often none of them.

    A third of the trees have no gravity, and in half of them some joint mimics one on the same link.
    """
    robot = random_robot(rng, bodies=bodies or int(rng.integers(1, 8)), fixed=False)
    joints = [_any_kind(rng, joint) for joint in robot.joints]
    if rng.random() < 0.5:
        joints = _tie_siblings(rng, joints)
    choice = rng.integers(3)
    gravity = (np.zeros(3), robot.gravity, 9.81 * np.eye(3)[rng.integers(3)])[choice]
    return replace(robot, joints=tuple(joints), gravity=gravity)


def _any_kind(rng: np.random.Generator, joint: Joint) -> Joint:
    kind = KINDS[rng.integers(len(KINDS))]
    pitch = float(rng.uniform(-0.3, 0.3)) if kind is JointKind.HELICAL else 0.0
    return replace(joint, kind=kind, pitch=pitch, limits=Limits(), drive=Drive())


def _tie_siblings(rng: np.random.Generator, joints: list[Joint]) -> list[Joint]:
    """Add a joint, at a place of its own, that mimics one with a single degree of freedom."""
    leaders = [joint for joint in joints if joint.kind.nv == 1]
    for k, leader in enumerate(leaders[: rng.integers(3)]):
        spare = next((i for i in range(len(joints) - 1, 0, -1) if _may_follow(joints, i, leader)), None)
        if spare is None:
            continue
        ratio = float(RATIOS[rng.integers(len(RATIOS))])
        kind = JointKind.PRISMATIC if rng.random() < 0.3 else JointKind.REVOLUTE
        joints[spare] = Joint(
            f"tied{k}",
            kind,
            leader.parent,
            random_pose(rng),
            leader.axis if rng.random() < 0.5 else np.eye(3)[rng.integers(3)],
            mimic=Mimic(leader.name, ratio, float(rng.uniform(-1, 1))),
        )
    return joints


def _may_follow(joints: list[Joint], i: int, leader: Joint) -> bool:
    """Whether joint i is free to become a follower: no leader itself, and after the body it would hang on."""
    names = {joint.mimic.joint for joint in joints if joint.mimic}
    free = joints[i].mimic is None and joints[i].name not in names
    return free and joints[i].name != leader.name and leader.parent < i


def rotor_tree(rng: np.random.Generator) -> Robot:
    """A tree of 1 to 5 bodies with rotors at some joints: any axis, any place, any ratio."""
    robot = random_robot(rng, bodies=int(rng.integers(1, 6)), fixed=False)
    robot = robot.floating() if rng.random() < 0.3 else robot
    robot = robot.with_gravity(np.zeros(3)) if rng.random() < 0.3 else robot
    rotors = {}
    for joint in robot.joints:
        if joint.nv == 1 and rng.random() < 0.7:
            axes = (None, np.eye(3)[rng.integers(3)], rng.normal(size=3))
            places = (None, rng.uniform(-0.3, 0.3, 3))
            ratio = float(RATIOS[rng.integers(len(RATIOS))])
            rotors[joint.name] = Rotor(ratio, axes[rng.integers(3)], places[rng.integers(2)])
    return robot.with_rotors(rotors)
