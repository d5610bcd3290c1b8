"""A small SCARA arm with the joints of Wensing et al. (2024), Table 4: R, R, P (prismatic), R."""

from __future__ import annotations

import numpy as np

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import Box, FixedLink, Geometry, JointKind, Limits, Link, Robot
from steelyard.zoo.chain import Stage, ZooEntry, bar, chain, modified_dh, placed, solid

# All four axes are vertical; a [m] is the horizontal distance to the axis before.
_A = (0.0, 0.1, 0.2, 0.0)

_LIMITS = (
    Limits(-2.6, 2.6, velocity=6.0, acceleration=40.0, effort=40.0),
    Limits(-2.6, 2.6, velocity=6.0, acceleration=40.0, effort=20.0),
    Limits(-0.12, 0.0, velocity=1.0, acceleration=15.0, effort=100.0),
    Limits(-6.28, 6.28, velocity=15.0, acceleration=100.0, effort=5.0),
)
_DRIVES = (
    Drive(0.3, 0.5, 0.0, 0.02),
    Drive(0.2, 0.3, 0.0, 0.01),
    Drive(20.0, 5.0, 0.0, 1.0),
    Drive(0.01, 0.03, 0.0, 0.0005),
)
_QUILL = 0.15  # from the last joint's frame down to the tool, m


def _plate(length: float) -> Geometry:
    """A flat arm along x, from its joint to the next."""
    return Geometry(Box(length + 0.08, 0.08, 0.05), Pose(np.eye(3), np.array([length / 2, 0.0, 0.0])))


def _scara() -> Robot:
    shapes = (
        _plate(0.1),
        _plate(0.2),
        bar(0.015, (0.0, 0.0, -0.1), (0.0, 0.0, 0.1)),
        bar(0.02, (0.0, 0.0, -0.13), (0.0, 0.0, -0.1)),
    )
    masses = (2.0, 2.5, 0.6, 0.3)
    kinds = (JointKind.REVOLUTE, JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.REVOLUTE)
    tool = FixedLink("tool", placed((0.0, 0.0, -_QUILL), (1, 0, 0, 0)))
    rows = zip(_A, shapes, masses, kinds, _LIMITS, _DRIVES, strict=True)
    stages = [
        Stage(
            f"joint{i}",
            f"link{i}",
            modified_dh(0, a, 0.0),
            solid(mass, shape),
            limits,
            drive,
            kind=kind,
            fixed=(tool,) if i == 4 else (),
            collision=(shape,),
        )
        for i, (a, shape, mass, kind, limits, drive) in enumerate(rows, start=1)
    ]
    return Robot("scara", Link("base"), *chain(stages), source="zoo")


_ASSUMED = "assumed; the paper states none"
SCARA = ZooEntry(
    "scara",
    "SCARA arm, joints RRPR, all axes vertical",
    {
        "kinematics": "Wensing et al. (2024), section 9.2; lengths of the authors' "
        "public model (spatial_v2_extended)",
        "inertia": "assumed: uniform boxes and capsules of plausible size",
        "limits": _ASSUMED,
        "drive": _ASSUMED,
        "collision geometry": "the same boxes and capsules",
    },
    _scara,
)
