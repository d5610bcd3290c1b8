"""The Kinova Gen3 with 7 joints, without gripper and vision module."""

from __future__ import annotations

import math

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import FixedLink, JointKind, Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, bar, chain, placed, tabulated
from steelyard.zoo.entry import ZooEntry

_HALF, _QUARTER, _BACK = (1, 0, 0, 0), (1, 0, 0, 1), (-1, 0, 0, 1)  # turns about x

# link; joint in the frame of the link before [m]
_JOINTS: tuple[tuple[str, Pose], ...] = (
    ("shoulder_link", placed((0.0, 0.0, 0.15643), _HALF)),
    ("half_arm_1_link", placed((0.0, 0.005375, -0.12838), _QUARTER)),
    ("half_arm_2_link", placed((0.0, -0.21038, -0.006375), _BACK)),
    ("forearm_link", placed((0.0, 0.006375, -0.21038), _QUARTER)),
    ("spherical_wrist_1_link", placed((0.0, -0.20843, -0.006375), _BACK)),
    ("spherical_wrist_2_link", placed((0.0, 0.00017505, -0.10593), _QUARTER)),
    ("bracelet_link", placed((0.0, -0.10593, -0.00017505), _BACK)),
)
_TOOL = placed((0.0, 0.0, -0.061525), _HALF)

# range to both sides [rad], speed [rad/s], acceleration [rad/s²], torque [N·m]
_LIMITS = (
    (math.inf, 1.3963, 5.2, 39.0),
    (2.41, 1.3963, 5.2, 39.0),
    (math.inf, 1.3963, 5.2, 39.0),
    (2.66, 1.3963, 5.2, 39.0),
    (math.inf, 1.2218, 10.0, 9.0),
    (2.23, 1.2218, 10.0, 9.0),
    (math.inf, 1.2218, 10.0, 9.0),
)

_LINKS: tuple[Inertial, ...] = (
    (1.3773, (-2.3e-5, -0.010364, -0.07336), (0.00457, 1e-6, 2e-6, 0.004831, 0.000448, 0.001409)),
    (1.1636, (-4.4e-5, -0.09958, -0.013278), (0.011088, 5e-6, 0.0, 0.001072, -0.000691, 0.011255)),
    (1.1636, (-4.4e-5, -0.006641, -0.117892), (0.010932, 0.0, -7e-6, 0.011127, 0.000606, 0.001043)),
    (0.9302, (-1.8e-5, -0.075478, -0.015006), (0.008147, -1e-6, 0.0, 0.000631, -0.0005, 0.008316)),
    (0.6781, (1e-6, -0.009432, -0.063883), (0.001596, 0.0, 0.0, 0.001607, 0.000256, 0.000399)),
    (0.6781, (1e-6, -0.045483, -0.00965), (0.001641, 0.0, 0.0, 0.00041, -0.000278, 0.001641)),
    (0.364, (-9.3e-5, 0.000132, -0.022905), (0.000214, 0.0, 1e-6, 0.000223, -2e-6, 0.00024)),
)
_BASE: Inertial = (
    1.697, (-0.000648, -0.000166, 0.084487), (0.004622, 9e-6, 6e-5, 0.004495, 9e-6, 0.002079)
)  # fmt: skip

# viscous [N·m·s/rad], Coulomb [N·m], offset [N·m], rotor inertia at the output [kg·m²]
_LARGE = (1.0, 0.8, 0.0, 0.1)
_SMALL = (0.5, 0.4, 0.0, 0.04)
_DRIVES = (_LARGE, _LARGE, _LARGE, _LARGE, _SMALL, _SMALL, _SMALL)

_SHAPES = (
    bar(0.05, (0.0, 0.0, 0.0), (0.0, -0.005, -0.128)),
    bar(0.05, (0.0, 0.0, -0.006), (0.0, -0.21, -0.006)),
    bar(0.05, (0.0, 0.0, 0.0), (0.0, 0.0, -0.21)),
    bar(0.05, (0.0, 0.0, -0.006), (0.0, -0.208, -0.006)),
    bar(0.04, (0.0, 0.0, 0.0), (0.0, 0.0, -0.106)),
    bar(0.04, (0.0, 0.0, 0.0), (0.0, -0.106, 0.0)),
    bar(0.04, (0.0, 0.0, 0.0), (0.0, 0.0, -0.03)),
)


def _kinova_gen3() -> Robot:
    tool = FixedLink("gen3_end_effector_link", _TOOL)
    rows = zip(_JOINTS, _LINKS, _LIMITS, _DRIVES, _SHAPES, strict=True)
    stages = [
        Stage(
            f"gen3_joint_{i}",
            f"gen3_{link}",
            place,
            tabulated(*inertial),
            Limits(-reach, reach, *most),
            Drive(*drive),
            kind=JointKind.CONTINUOUS if math.isinf(reach) else JointKind.REVOLUTE,
            fixed=(tool,) if i == 7 else (),
            collision=(shape,),
        )
        for i, ((link, place), inertial, (reach, *most), drive, shape) in enumerate(rows, start=1)
    ]
    return Robot("kinova_gen3", Link("gen3_base_link", tabulated(*_BASE)), *chain(stages), source="zoo")


_PUBLIC = "kortex_description of ros2_kortex (BSD-3, Kinova)"
KINOVA_GEN3 = ZooEntry(
    "kinova_gen3",
    "Kinova Gen3, 7 joints of which 4 turn without end, no gripper",
    {
        "kinematics": f"{_PUBLIC}; its rounded right angles made exact",
        "inertia": f"{_PUBLIC}, bracelet without vision module",
        "limits": f"position, speed and torque: {_PUBLIC}; acceleration assumed",
        "drive": "assumed; the public description states none",
        "collision geometry": "assumed capsules along the links",
    },
    _kinova_gen3,
)
