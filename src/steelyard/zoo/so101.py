"""The SO-101, the printed arm of The Robot Studio, with its gripper's jaw as the last joint."""

from __future__ import annotations

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import Box, FixedLink, Geometry, Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, ZooEntry, chain, placed, tabulated

# joint; link; joint in the frame of the link before [m]; lower and upper limit [rad]
_JOINTS: tuple[tuple[str, str, Pose, float, float], ...] = (
    ("shoulder_pan", "shoulder", placed((0.0388353, 0.0, 0.0624), (0, 1, 0, 0)), -1.91986, 1.91986),
    ("shoulder_lift", "upper_arm", placed((-0.0303992, -0.0182778, -0.0542), (-1, -1, -1, 1)),
     -1.7453293, 1.7453293),
    ("elbow_flex", "lower_arm", placed((-0.11257, -0.028, 0.0), (0, 0, 1, 1)), -1.69, 1.69),
    ("wrist_flex", "wrist", placed((-0.1349, 0.0052, 0.0), (0, 0, -1, 1)), -1.658063, 1.658063),
    ("wrist_roll", "gripper", placed((0.0, -0.0611, 0.0181), (-0.0172091, 0.706897, 0.706897, 0.0172091)),
     -2.7438473, 2.7438473),
    ("gripper", "moving_jaw", placed((0.0202, 0.0188, -0.0234), (1, 0, 0, 1)), -0.174533, 1.7453292),
)  # fmt: skip
_TOOL = placed((0.012, -0.000218, -0.098127), (0, 1, 0, 1))

_LINKS: tuple[Inertial, ...] = (
    (0.100006, (-0.0307604, -1.7e-5, -0.0252713),
     (8.3759e-5, 7.55525e-8, -1.16342e-6, 8.10403e-5, 1.54663e-7, 2.39783e-5)),
    (0.103, (-0.089847, -0.008382, 0.018409),
     (4.08002e-5, -1.97819e-5, -4.03016e-8, 1.47318e-4, 8.97326e-9, 1.42487e-4)),
    (0.104, (-0.09807, 0.0032438, 0.018283),
     (2.87438e-5, 7.41152e-6, 1.26409e-6, 1.59844e-4, -4.90188e-8, 1.4529e-4)),
    (0.079, (-0.000103312, -0.0386143, 0.0281156),
     (3.68263e-5, 1.7893e-8, -5.28128e-8, 2.5391e-5, 3.6412e-6, 2.1e-5)),
    (0.087, (0.000214, 0.000245, -0.025187),
     (2.75087e-5, -3.35241e-7, -5.7352e-6, 4.33657e-5, -5.17847e-8, 3.45059e-5)),
    (0.012, (-0.001575, -0.0300244, 0.0192755),
     (6.61427e-6, -3.19807e-7, -5.90717e-9, 1.89032e-6, -1.09945e-7, 5.28738e-6)),
)  # fmt: skip
_BASE: Inertial = (
    0.147, (0.0137179, -5.19711e-5, 0.0334843),
    (1.14686e-4, -4.59787e-7, 4.97151e-6, 1.36117e-4, 9.75275e-8, 1.30364e-4),
)  # fmt: skip

_DRIVE = Drive(viscous=0.6, coulomb=0.052, offset=0.0, rotor=0.028)
_SPEED, _ACCELERATION, _TORQUE = 4.7, 30.0, 2.94

_SHAPES = (
    Geometry(Box(0.06, 0.05, 0.08), placed((-0.028, 0.0, -0.025))),
    Geometry(Box(0.14, 0.06, 0.06), placed((-0.065, -0.01, 0.019))),
    Geometry(Box(0.16, 0.03, 0.06), placed((-0.07, 0.003, 0.018))),
    Geometry(Box(0.06, 0.06, 0.05), placed((0.0, -0.035, 0.024))),
    Geometry(Box(0.06, 0.03, 0.1), placed((-0.005, 0.0, -0.05))),
    Geometry(Box(0.02, 0.08, 0.03), placed((-0.003, -0.038, 0.019))),
)


def _so101() -> Robot:
    tool = FixedLink("gripper_frame", _TOOL)
    stages = []
    rows = zip(_JOINTS, _LINKS, _SHAPES, strict=True)
    for (joint, link, place, lower, upper), inertial, shape in rows:
        stages.append(
            Stage(
                joint,
                link,
                place,
                tabulated(*inertial),
                Limits(lower, upper, _SPEED, _ACCELERATION, _TORQUE),
                _DRIVE,
                fixed=(tool,) if link == "gripper" else (),
                collision=(shape,),
            )
        )
    return Robot("so101", Link("base", tabulated(*_BASE)), *chain(stages), source="zoo")


_PUBLIC = "MuJoCo Menagerie, robotstudio_so101 (Apache-2.0)"
SO101 = ZooEntry(
    "so101",
    "SO-101 printed arm, 5 joints and a jaw",
    {
        "kinematics": _PUBLIC,
        "inertia": _PUBLIC,
        "limits": f"position and torque: {_PUBLIC}; speed and acceleration assumed",
        "drive": f"{_PUBLIC}: damping, friction loss and armature of the STS3215 servo; offset assumed zero",
        "collision geometry": "assumed boxes around the parts",
    },
    _so101,
)
