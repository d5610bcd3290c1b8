"""Two rods on two revolute joints, axes parallel or perpendicular: the mechanisms of paper 002, Fig. 4."""

from __future__ import annotations

import math

from steelyard.drive import Drive
from steelyard.robot import FixedLink, Limits, Link, Robot
from steelyard.zoo.chain import Stage, bar, chain, modified_dh, placed, solid
from steelyard.zoo.entry import ZooEntry

_LENGTH = 0.5
_RADIUS = 0.03
_MASS = 1.5
_LIMITS = Limits(-math.pi, math.pi, velocity=6.0, acceleration=30.0, effort=40.0)
_DRIVE = Drive(viscous=0.1, coulomb=0.2)


def _rr(name: str, quarter_turns: int) -> Robot:
    """Both rods lie along their link's x; the second axis is turned about it."""
    rod = bar(_RADIUS, (0.0, 0.0, 0.0), (_LENGTH, 0.0, 0.0))
    body = solid(_MASS, rod)
    tool = FixedLink("tool", placed((_LENGTH, 0.0, 0.0)))
    second = modified_dh(quarter_turns, _LENGTH, 0.0)
    stages = [
        Stage("joint1", "link1", modified_dh(0, 0.0, 0.0), body, _LIMITS, _DRIVE, collision=(rod,)),
        Stage("joint2", "link2", second, body, _LIMITS, _DRIVE, fixed=(tool,), collision=(rod,)),
    ]
    return Robot(name, Link("base"), *chain(stages), source="zoo")


_ASSUMED = "assumed; the paper states none"
_SOURCES = {
    "kinematics": "Wensing, Niemeyer, Slotine (paper 002), Fig. 4; the length of 0.5 m is assumed",
    "inertia": "assumed: uniform capsules of 1.5 kg and 3 cm radius",
    "limits": _ASSUMED,
    "drive": _ASSUMED,
    "collision geometry": "the same capsules",
}

RR_PARALLEL = ZooEntry(
    "rr_parallel", "two rods on parallel vertical joints", _SOURCES, lambda: _rr("rr_parallel", 0)
)
RR_PERPENDICULAR = ZooEntry(
    "rr_perpendicular",
    "two rods, the second joint across the vertical first",
    _SOURCES,
    lambda: _rr("rr_perpendicular", 1),
)
