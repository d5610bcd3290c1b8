"""Mechanisms of thin rods: planar pendulum arms, and two joints with parallel or perpendicular axes."""

from __future__ import annotations

import math

import numpy as np

from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Capsule, FixedLink, Geometry, Joint, JointKind, Limits, Link, Robot
from steelyard.zoo.chain import Stage, ZooEntry, bar, chain, modified_dh, placed, solid

# Planar pendulum arms of thin rods, the two smallest test benches of Lambert (2023; section 5.1).

_Y = np.array([0.0, 1.0, 0.0])
_RADIUS = 0.02
_LIMITS = Limits(-math.pi, math.pi, velocity=6.0, acceleration=30.0, effort=40.0)
_DRIVE = Drive(viscous=0.1, coulomb=0.2)


def _rod(mass: float, length: float) -> Body:
    """A rod hanging along -z from its frame: slender about x and y as in the paper, 2 cm thick about z."""
    about_centre = mass * length**2 / 12
    spin = mass * _RADIUS**2 / 2
    return Body(mass, np.array([0.0, 0.0, -length / 2]), np.diag([about_centre, about_centre, spin]))


def _hanging(length: float) -> Pose:
    return Pose(np.eye(3), np.array([0.0, 0.0, -length]))


def _link(name: str, mass: float, length: float, fixed: tuple[FixedLink, ...] = ()) -> Link:
    shape = Geometry(Capsule(_RADIUS, length), Pose(np.eye(3), np.array([0.0, 0.0, -length / 2])))
    return Link(name, _rod(mass, length), fixed, (shape,))


def _one_link() -> Robot:
    tool = FixedLink("tool", _hanging(1.0))
    joint = Joint("joint1", JointKind.REVOLUTE, -1, Pose.identity(), _Y, _LIMITS, _DRIVE)
    return Robot("one_link", Link("base"), (joint,), (_link("link1", 0.6, 1.0, (tool,)),), source="zoo")


def _two_link() -> Robot:
    tool = FixedLink("tool", _hanging(1.5))
    joints = (
        Joint("joint1", JointKind.REVOLUTE, -1, Pose.identity(), _Y, _LIMITS, _DRIVE),
        Joint("joint2", JointKind.REVOLUTE, 0, _hanging(1.0), _Y, _LIMITS, _DRIVE),
    )
    links = (_link("link1", 0.6, 1.0), _link("link2", 0.8, 1.5, (tool,)))
    return Robot("two_link", Link("base"), joints, links, source="zoo")


_PAPER = "Lambert (2023), section 5.1.1"
_ASSUMED = "assumed; the paper states none"
_PENDULUM_SOURCES = {
    "kinematics": f"{_PAPER}: joints about y, rods hanging along -z",
    "inertia about the joint axis": f"{_PAPER}, (5.3) and (5.5)",
    "inertia about a rod's own axis": "assumed: a rod of 2 cm radius",
    "limits": _ASSUMED,
    "drive": _ASSUMED,
}

ONE_LINK = ZooEntry("one_link", "one rod on a horizontal joint", _PENDULUM_SOURCES, _one_link)
TWO_LINK = ZooEntry("two_link", "two rods on parallel horizontal joints", _PENDULUM_SOURCES, _two_link)


# Two rods on two revolute joints, axes parallel or perpendicular: the mechanisms of Wensing et al. (2024),
# Fig. 4.

_LENGTH = 0.5
_MECHANISM_RADIUS = 0.03
_MASS = 1.5


def _rr(name: str, quarter_turns: int) -> Robot:
    """Both rods lie along their link's x; the second axis is turned about it."""
    rod = bar(_MECHANISM_RADIUS, (0.0, 0.0, 0.0), (_LENGTH, 0.0, 0.0))
    body = solid(_MASS, rod)
    tool = FixedLink("tool", placed((_LENGTH, 0.0, 0.0)))
    second = modified_dh(quarter_turns, _LENGTH, 0.0)
    stages = [
        Stage("joint1", "link1", modified_dh(0, 0.0, 0.0), body, _LIMITS, _DRIVE, collision=(rod,)),
        Stage("joint2", "link2", second, body, _LIMITS, _DRIVE, fixed=(tool,), collision=(rod,)),
    ]
    return Robot(name, Link("base"), *chain(stages), source="zoo")


_MECHANISM_SOURCES = {
    "kinematics": "Wensing et al. (2024), Fig. 4; the length of 0.5 m is assumed",
    "inertia": "assumed: uniform capsules of 1.5 kg and 3 cm radius",
    "limits": _ASSUMED,
    "drive": _ASSUMED,
    "collision geometry": "the same capsules",
}

RR_PARALLEL = ZooEntry(
    "rr_parallel", "two rods on parallel vertical joints", _MECHANISM_SOURCES, lambda: _rr("rr_parallel", 0)
)
RR_PERPENDICULAR = ZooEntry(
    "rr_perpendicular",
    "two rods, the second joint across the vertical first",
    _MECHANISM_SOURCES,
    lambda: _rr("rr_perpendicular", 1),
)
