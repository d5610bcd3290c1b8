"""The Universal Robots UR10e."""

from __future__ import annotations

import math

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import FixedLink, Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, Triple, ZooEntry, bar, chain, placed, tabulated

_QUARTER_ABOUT_Y = (0, 1, 0, 1)
_Y: Triple = (0.0, 1.0, 0.0)
_Z: Triple = (0.0, 0.0, 1.0)

# joint, link, joint in the frame of the link before [m], axis
_JOINTS: tuple[tuple[str, str, Pose, Triple], ...] = (
    ("shoulder_pan_joint", "shoulder_link", placed((0.0, 0.0, 0.181)), _Z),
    ("shoulder_lift_joint", "upper_arm_link", placed((0.0, 0.176, 0.0), _QUARTER_ABOUT_Y), _Y),
    ("elbow_joint", "forearm_link", placed((0.0, -0.137, 0.613)), _Y),
    ("wrist_1_joint", "wrist_1_link", placed((0.0, 0.0, 0.571), _QUARTER_ABOUT_Y), _Y),
    ("wrist_2_joint", "wrist_2_link", placed((0.0, 0.135, 0.0)), _Z),
    ("wrist_3_joint", "wrist_3_link", placed((0.0, 0.0, 0.12)), _Y),
)
_TOOL = placed((0.0, 0.117, 0.0), (-1, 0, 0, 1))

# range to both sides [rad], speed [degrees/s], acceleration [rad/s²], torque [N·m]
_LIMITS = (
    (2 * math.pi, 120, 8.0, 330.0),
    (2 * math.pi, 120, 8.0, 330.0),
    (math.pi, 180, 10.0, 150.0),
    (2 * math.pi, 180, 15.0, 54.0),
    (2 * math.pi, 180, 15.0, 54.0),
    (2 * math.pi, 180, 15.0, 54.0),
)

_LINKS: tuple[Inertial, ...] = (
    (7.778, (0.0, 0.0, 0.0), (0.0314743125769, 0.0, 0.0, 0.0314743125769, 0.0, 0.021875625)),
    (12.93, (0.0, 0.0, 0.3065), (0.42307374077, 0.0, 0.0, 0.42307374077, 0.0, 0.036365625)),
    (3.87, (0.0, 0.0, 0.2855), (0.110590365764, 0.0, 0.0, 0.110590365764, 0.0, 0.010884375)),
    (1.96, (0.0, 0.135, 0.0), (0.0051082479567, 0.0, 0.0, 0.0051082479567, 0.0, 0.0055125)),
    (1.96, (0.0, 0.0, 0.12), (0.0051082479567, 0.0, 0.0, 0.0051082479567, 0.0, 0.0055125)),
    (0.202, (0.0, 0.092, 0.0), (0.000144345775595, 0.0, 0.0, 0.000204525, 0.0, 0.000144345775595)),
)
_BASE: Inertial = (4.0, (0.0, 0.0, 0.0), (0.0061063308908, 0.0, 0.0, 0.0061063308908, 0.0, 0.01125))

# viscous [N·m·s/rad], Coulomb [N·m], offset [N·m], rotor inertia at the output [kg·m²]
_DRIVES = (
    (10.0, 8.0, 0.0, 0.1),
    (10.0, 8.0, 0.0, 0.1),
    (5.0, 5.0, 0.0, 0.1),
    (2.0, 1.5, 0.0, 0.1),
    (2.0, 1.5, 0.0, 0.1),
    (2.0, 1.5, 0.0, 0.1),
)

_SHAPES = (
    (bar(0.078, (0.0, 0.0, -0.13), (0.0, 0.0, 0.03)),),
    (
        bar(0.078, (0.0, -0.13, 0.0), (0.0, 0.03, 0.0)),
        bar(0.06, (0.0, 0.0, 0.0), (0.0, 0.0, 0.6)),
    ),
    (
        bar(0.058, (0.0, 0.015, 0.0), (0.0, 0.145, 0.0)),
        bar(0.043, (0.0, 0.0, 0.01), (0.0, 0.0, 0.57)),
    ),
    (bar(0.05, (0.0, -0.01, 0.0), (0.0, 0.13, 0.0)),),
    (
        bar(0.046, (0.0, 0.0, -0.015), (0.0, 0.0, 0.115)),
        bar(0.046, (0.0, -0.015, 0.12), (0.0, 0.071, 0.12)),
    ),
    (bar(0.046, (0.0, 0.077, 0.0), (0.0, 0.1, 0.0)),),
)


def _ur10e() -> Robot:
    tool = FixedLink("tool0", _TOOL)
    stages = []
    rows = zip(_JOINTS, _LINKS, _LIMITS, _DRIVES, _SHAPES, strict=True)
    for (joint, link, place, axis), inertial, (reach, speed, *most), drive, shapes in rows:
        stages.append(
            Stage(
                joint,
                link,
                place,
                tabulated(*inertial),
                Limits(-reach, reach, math.radians(speed), *most),
                Drive(*drive),
                axis=axis,
                fixed=(tool,) if link == "wrist_3_link" else (),
                collision=shapes,
            )
        )
    return Robot("ur10e", Link("base_link", tabulated(*_BASE)), *chain(stages), source="zoo")


_PUBLIC = "ur_e_description (BSD)"
UR10E = ZooEntry(
    "ur10e",
    "Universal Robots UR10e, 6 joints",
    {
        "kinematics": f"{_PUBLIC}: lengths rounded to a millimetre",
        "inertia": f"{_PUBLIC}: cylinders of the published masses",
        "limits": f"position and torque: {_PUBLIC}; speed: UR10e data sheet, as quoted, not looked up; "
        "acceleration assumed",
        "viscous friction and rotor inertia": "MuJoCo Menagerie, universal_robots_ur10e",
        "Coulomb friction and offset": "assumed",
        "collision geometry": "MuJoCo Menagerie, universal_robots_ur10e: its capsules, rounded",
    },
    _ur10e,
)
