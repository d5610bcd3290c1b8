"""The Gen3 with its gripper: what every method is told of it, and the arms that are drawn within that."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Capsule, Geometry, Link, Robot
from steelyard.zoo import zoo_robot

ROBOT = "kinova_gen3_2f85"
GRASP = "gen3_grasp"
"""The frame between the fingers; its z points away from the arm."""
DRIVE = ("viscous", "coulomb", "offset", "rotor")
SPREAD = 0.05
"""How far each number of the arm but those of the end effector may be off, as a part of it (VI-D1)."""

# Table I, in the frame of the last link: m, mx, my, mz, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
END_EFFECTOR = np.array([3.2, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
END_EFFECTOR_LOWER = np.array([1.2, -0.4, -0.4, -1.0, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2])
END_EFFECTOR_UPPER = np.array([5.2, 0.4, 0.4, -0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2])

# The gripper closed around a handle, from the flange on, m: its body and linkage, and its fingers.
_CLOSED = ((0.05, 0.03, 0.075), (0.025, 0.08, 0.115))
_TRIES = 1000


@cache
def arm() -> Robot:
    """The arm as it is described, with the gripper's shape as it is while it holds a handle.

    The zoo's single capsule is for fingers however far open; it would reach below a dumbbell that is held.
    """
    robot = zoo_robot(ROBOT)
    last = robot.links[-1]
    flange = robot.frame("gen3_end_effector_link").placement
    shapes = [
        Geometry(
            Capsule(radius, high - low), flange @ Pose(np.eye(3), np.array([0.0, 0.0, 0.5 * (low + high)]))
        )
        for radius, low, high in _CLOSED
    ]
    closed = replace(last, collision=(last.collision[0], *shapes))
    return replace(robot, links=(*robot.links[:-1], closed), tool=GRASP)


@cache
def layout() -> Layout:
    """The order of the arm's numbers."""
    return layout_of(arm(), DRIVE)


def nominal() -> Array:
    """The arm's numbers with an empty gripper, shape (p,), SI."""
    return layout().complete_nominal()


def end_effector() -> slice:
    """Where the ten numbers of the last link, with all it carries, stand among them."""
    return layout().of_link(arm().link_names[-1])


def drawn_arm(rng: np.random.Generator) -> Robot:
    """A true arm: every number of links and drives drawn evenly within its spread.

    Of a link those ten numbers are taken that a body can have. The last link and the gripper are as stated:
    with what they hold they are the unknown.

    Args:
        rng: source of the numbers.

    Returns:
        The arm, without payload.
    """
    robot = arm()
    links = [_drawn_link(link, rng) for link in robot.links[:-1]]
    joints = []
    for joint in robot.joints:
        d = joint.drive
        share = 1.0 + SPREAD * rng.uniform(-1.0, 1.0, 3)
        terms = [(x or 0.0) * float(s) for x, s in zip((d.viscous, d.coulomb, d.rotor), share, strict=True)]
        joints.append(replace(joint, drive=Drive(terms[0], terms[1], d.offset, terms[2])))
    return replace(robot, joints=tuple(joints), links=(*links, robot.links[-1]))


def _drawn_link(link: Link, rng: np.random.Generator) -> Link:
    assert link.own is not None  # every link of the zoo states one
    phi = link.own.parameters
    for _ in range(_TRIES):
        body = Body.from_parameters(phi * (1.0 + SPREAD * rng.uniform(-1.0, 1.0, 10)))
        if body.consistency:
            return replace(link, own=body)
    # A common factor keeps any body possible.
    return replace(link, own=Body.from_parameters(phi * (1.0 + SPREAD * rng.uniform(-1.0, 1.0))))
