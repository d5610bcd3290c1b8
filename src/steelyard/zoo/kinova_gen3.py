"""The Kinova Gen3, 7 joints, without vision module: bare, and with the gripper of Zhang et al. (2025)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import FixedLink, Geometry, JointKind, Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, ZooEntry, bar, chain, placed, tabulated

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
_FLANGE = placed((0.0, 0.0, -0.061525), _HALF)

_Row = tuple[float, float, float, float]

# range to both sides [rad], speed [rad/s], acceleration [rad/s²], torque [N·m]
_LIMITS: tuple[_Row, ...] = (
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
_LARGE: _Row = (1.0, 0.8, 0.0, 0.1)
_SMALL: _Row = (0.5, 0.4, 0.0, 0.04)
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

# The gripper in the frame of the flange, whose z points away from the arm.
_GRIPPER: Inertial = (0.92086, (0.0, 0.0, 0.04742), (0.001246, 0.0, 0.0, 0.002038, 0.0, 0.001153))
_GRIPPER_RADIUS, _GRIPPER_FROM, _GRIPPER_TO = 0.076, 0.05, 0.11  # m
_GRASP = 0.12  # from the flange to between the fingers, m

# As the user guide states them, in degrees; see `_LIMITS`.
_GUIDE = (
    (math.inf, 100.0, 297.94, 56.7),
    (128.9, 100.0, 297.94, 56.7),
    (math.inf, 100.0, 297.94, 56.7),
    (147.8, 100.0, 297.94, 56.7),
    (math.inf, 180.0, 572.95, 29.4),
    (120.3, 180.0, 572.95, 29.4),
    (math.inf, 180.0, 572.95, 29.4),
)
_GEARS = (8.03, 11.99620246, 9.00254279, 11.58064393, 8.46650409, 8.85370694, 8.85873037)  # kg·m²


def _arm(
    name: str,
    limits: Sequence[_Row],
    drives: Sequence[_Row],
    held: Sequence[FixedLink] = (),
    around: Sequence[Geometry] = (),
) -> Robot:
    """The arm with what its flange holds, and the shapes around that in the last link's frame."""
    fixed = (FixedLink("gen3_end_effector_link", _FLANGE), *held)
    rows = zip(_JOINTS, _LINKS, limits, drives, _SHAPES, strict=True)
    stages = [
        Stage(
            f"gen3_joint_{i}",
            f"gen3_{link}",
            place,
            tabulated(*inertial),
            Limits(-reach, reach, *most),
            Drive(*drive),
            kind=JointKind.CONTINUOUS if math.isinf(reach) else JointKind.REVOLUTE,
            fixed=fixed if i == 7 else (),
            collision=(shape, *around) if i == 7 else (shape,),
        )
        for i, ((link, place), inertial, (reach, *most), drive, shape) in enumerate(rows, start=1)
    ]
    return Robot(name, Link("gen3_base_link", tabulated(*_BASE)), *chain(stages), source="zoo")


def _kinova_gen3() -> Robot:
    return _arm("kinova_gen3", _LIMITS, _DRIVES)


def _kinova_gen3_2f85() -> Robot:
    turn = math.radians(1.0)
    limits = [
        (reach * turn, speed * turn, acceleration * turn, torque)
        for reach, speed, acceleration, torque in _GUIDE
    ]
    drives = [(*drive[:3], gear) for drive, gear in zip(_DRIVES, _GEARS, strict=True)]
    held = (
        FixedLink("gen3_robotiq_85", _FLANGE, tabulated(*_GRIPPER)),
        FixedLink("gen3_grasp", _FLANGE @ placed((0.0, 0.0, _GRASP))),
    )
    ends = _FLANGE.apply([[0.0, 0.0, _GRIPPER_FROM], [0.0, 0.0, _GRIPPER_TO]])
    return _arm("kinova_gen3_2f85", limits, drives, held, (bar(_GRIPPER_RADIUS, *ends),))


_PUBLIC = "kortex_description of ros2_kortex (BSD-3, Kinova)"
_SOURCES = {
    "kinematics": f"{_PUBLIC}; its rounded right angles made exact",
    "inertia": f"{_PUBLIC}, bracelet without vision module",
    "limits": f"position, speed and torque: {_PUBLIC}; acceleration assumed",
    "drive": "assumed; the public description states none",
    "collision geometry": "assumed capsules along the links",
}
KINOVA_GEN3 = ZooEntry(
    "kinova_gen3",
    "Kinova Gen3, 7 joints of which 4 turn without end, no gripper",
    _SOURCES,
    _kinova_gen3,
)
KINOVA_GEN3_2F85 = ZooEntry(
    "kinova_gen3_2f85",
    "Kinova Gen3 with a Robotiq 2F-85 gripper, the arm of Zhang et al. (2025), with its gear inertias",
    _SOURCES
    | {
        "gripper": f"sum of the parts in {_PUBLIC}, fingers open and held still, rounded; with the bracelet "
        "1.28 kg as in Zhang et al. (2025), section VI-A",
        "limits": "torque: warning limits in Kinova's user guide; positions, speeds and accelerations: user "
        "guide as quoted in RAPTOR's public constants (roahmlab)",
        "drive": "gear inertias: ARMOUR's public code (roahmlab), identified on hardware; friction assumed",
        "place of the tool": "tool frame of kortex_description, between the fingers",
        "collision geometry": "assumed capsules along the links, and one around the gripper however far open",
    },
    _kinova_gen3_2f85,
)
