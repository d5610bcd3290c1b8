"""Planar pendulum arms of thin rods, the two smallest test benches of paper 001 (section 5.1)."""

from __future__ import annotations

import math

import numpy as np

from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Capsule, FixedLink, Geometry, Joint, JointKind, Limits, Link, Robot
from steelyard.zoo.entry import ZooEntry

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


_PAPER = "Lambert (paper 001), section 5.1.1"
_ASSUMED = "assumed; the paper states none"
_SOURCES = {
    "kinematics": f"{_PAPER}: joints about y, rods hanging along -z",
    "inertia about the joint axis": f"{_PAPER}, (5.3) and (5.5)",
    "inertia about a rod's own axis": "assumed: a rod of 2 cm radius",
    "limits": _ASSUMED,
    "drive": _ASSUMED,
}

ONE_LINK = ZooEntry("one_link", "one rod on a horizontal joint", _SOURCES, _one_link)
TWO_LINK = ZooEntry("two_link", "two rods on parallel horizontal joints", _SOURCES, _two_link)
