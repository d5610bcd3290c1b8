"""The KUKA LBR Med 7 R800."""

from __future__ import annotations

import math

from steelyard.drive import Drive
from steelyard.robot import FixedLink, Geometry, Limits, Link, Robot, Sphere
from steelyard.zoo.chain import Inertial, Stage, Triple, ZooEntry, bar, chain, placed, tabulated

# Joint in the frame of the link before [m], all frames parallel at zero; axis.
_JOINTS: tuple[tuple[Triple, Triple], ...] = (
    ((0.0, 0.0, 0.1475), (0.0, 0.0, 1.0)),
    ((0.0, -0.0105, 0.1925), (0.0, 1.0, 0.0)),
    ((0.0, 0.0105, 0.2075), (0.0, 0.0, 1.0)),
    ((0.0, 0.0105, 0.1925), (0.0, -1.0, 0.0)),
    ((0.0, -0.0105, 0.2075), (0.0, 0.0, 1.0)),
    ((0.0, -0.0707, 0.1925), (0.0, 1.0, 0.0)),
    ((0.0, 0.0707, 0.091), (0.0, 0.0, 1.0)),
)
_FLANGE = (0.0, 0.0, 0.035)

# range to both sides [degrees], speed [degrees/s], acceleration [rad/s²], torque [N·m]
_LIMITS = (
    (170, 98, 10.0, 176.0),
    (120, 98, 10.0, 176.0),
    (170, 100, 10.0, 110.0),
    (120, 130, 12.0, 110.0),
    (170, 140, 15.0, 110.0),
    (120, 180, 15.0, 40.0),
    (175, 180, 15.0, 40.0),
)

_LINKS: tuple[Inertial, ...] = (
    (3.271499, (0.0, -0.034819, 0.123299), (0.020611, 0.0, 0.0, 0.019667, 0.00366, 0.00729)),
    (3.886413, (0.0, 0.039793, 0.086944), (0.030552, 0.0, 0.0, 0.028995, 0.005676, 0.009317)),
    (3.271499, (0.0, 0.034819, 0.123299), (0.020611, 0.0, 0.0, 0.019667, -0.00366, 0.00729)),
    (3.886411, (0.0, -0.039793, 0.086944), (0.030547, 0.0, 0.0, 0.028993, -0.005676, 0.009313)),
    (1.474048, (0.0, -0.029824, 0.076267), (0.008179, 0.0, 0.0, 0.006879, 0.002704, 0.003709)),
    (2.316911, (-1e-6, 0.07102, 0.004953), (0.006813, 0.0, 0.0, 0.006559, 0.0003, 0.004462)),
    (0.250108, (3e-6, -2e-6, 0.013782), (0.000165, 0.0, 0.0, 0.000165, 0.0, 0.000288)),
)
_BASE: Inertial = (
    7.143112, (-0.001896, 0.0, 0.076263), (0.038694, 0.0, -0.000686, 0.039461, 0.0, 0.054387)
)  # fmt: skip

# viscous [N·m·s/rad], Coulomb [N·m], offset [N·m], rotor inertia at the output [kg·m²]
_DRIVES = (
    (1.0, 0.5, 0.0, 0.2),
    (1.0, 0.5, 0.0, 0.2),
    (0.8, 0.4, 0.0, 0.15),
    (0.8, 0.4, 0.0, 0.15),
    (0.6, 0.3, 0.0, 0.1),
    (0.4, 0.2, 0.0, 0.05),
    (0.4, 0.2, 0.0, 0.05),
)

_SHAPES = (
    bar(0.08, (0.0, 0.003, 0.0445), (0.0, -0.042, 0.1935)),
    bar(0.091, (0.0, 0.0355, 0.014), (0.0, 0.0105, 0.159)),
    bar(0.085, (0.0, 0.014, 0.0275), (0.0, 0.032, 0.1825)),
    bar(0.091, (0.0, -0.0355, 0.014), (0.0, -0.0105, 0.158)),
    bar(0.077, (0.0, -0.007, 0.0235), (0.0, -0.026, 0.1855)),
    bar(0.079, (0.0, 0.0707, -0.018), (0.0, 0.0617, 0.039)),
    Geometry(Sphere(0.053), placed((0.0, 0.0, 0.003))),
)
_BASE_SHAPE = bar(0.143, (0.0, 0.0, 0.041), (0.0, 0.0, 0.058))


def _lbr_med7() -> Robot:
    flange = FixedLink("lbr_link_ee", placed(_FLANGE))
    rows = zip(_JOINTS, _LINKS, _LIMITS, _DRIVES, _SHAPES, strict=True)
    stages = []
    for i, ((place, axis), inertial, (reach, speed, *most), drive, shape) in enumerate(rows, start=1):
        angle = math.radians(reach)
        stages.append(
            Stage(
                f"lbr_A{i}",
                f"lbr_link_{i}",
                placed(place),
                tabulated(*inertial),
                Limits(-angle, angle, math.radians(speed), *most),
                Drive(*drive),
                axis=axis,
                fixed=(flange,) if i == 7 else (),
                collision=(shape,),
            )
        )
    base = Link("lbr_link_0", tabulated(*_BASE), (), (_BASE_SHAPE,))
    return Robot("lbr_med7", base, *chain(stages), source="zoo")


_PUBLIC = "lbr_description of lbr_fri_ros2_stack (Apache-2.0), med7"
LBR_MED7 = ZooEntry(
    "lbr_med7",
    "KUKA LBR Med 7 R800, 7 joints",
    {
        "kinematics": _PUBLIC,
        "inertia": _PUBLIC,
        "limits": f"position and speed: {_PUBLIC}; torque: data sheet of the LBR iiwa 7 R800, its industrial "
        "twin, as quoted, not looked up; acceleration assumed",
        "drive": "assumed; the public description carries placeholders",
        "collision geometry": "capsules and a sphere fitted around the meshes of the public description",
    },
    _lbr_med7,
)
