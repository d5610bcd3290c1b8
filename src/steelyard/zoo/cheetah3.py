"""The MIT Cheetah 3: a leg in the frames of Wensing et al. (2024), Fig. 9, and the whole quadruped."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.inertia import Body, box, from_order
from steelyard.pose import Pose
from steelyard.robot import STANDARD_GRAVITY, Box, FixedLink, Geometry, Joint, Limits, Link, Robot
from steelyard.zoo.chain import Stage, ZooEntry, bar, chain, modified_dh, placed

_HIP_OFFSET, _THIGH, _SHANK = 0.045, 0.342, 0.345
_TORSO = (0.6, 0.256, 0.2)
_TORSO_MASS = 26.6

# Of a left leg, about the joint's frame: m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy. The ab/ad frame is
# x forward, y left, z up; the hip and knee frames are turned by half a turn about z, so x points back.
_LEFT = {
    "abad": (1.645278752937798, 0.0, 0.1050694793045323, -7.248117018543008e-3, 6.871761154771191e-3,
             2.715028710162546e-4, 6.820782113449669e-3, 4.545198314447007e-4, 0.0, 0.0),
    "hip": (1.071200401412615, -7.564034441661159e-4, -3.180527291037499e-2, -0.104749680865413,
            2.020976253260794e-2, 1.856851411013688e-2, 3.115448656660994e-3, 1.294666102054298e-4,
            1.217274116646696e-3, -4.116533457993085e-4),
    "knee": (0.9019384095786234, 2.215928611851693e-2, 3.623331361414656e-3, -4.411934868569409e-2,
             2.269554734974269e-2, 2.714252268535285e-2, 5.566745484613744e-3, -3.238036214456428e-4,
             -2.194717054345885e-3, 1.274627163554897e-3),
    "abad_rotor": (0.4999939189070923, 0.0, 1.976769699734076e-3, -3.681440077402916e-4,
                   9.908339941420835e-4, 4.95591716719788e-4, 4.956200895280653e-4, 3.533262919985919e-8,
                   0.0, 0.0),
    "hip_rotor": (0.5405045213157799, -3.16454755729341e-3, -6.776800604201722e-3, 7.158586831736347e-4,
                  4.35234156815685e-4, 1.015373256571613e-3, 9.126776037286181e-4, -3.097121515937353e-5,
                  -2.154046949222089e-4, 1.306997274233568e-4),
    "knee_rotor": (0.5398676189202086, -2.571556872957194e-4, -7.550002224983261e-3, 1.125959428120149e-3,
                   7.035267590972641e-4, 8.693209041255046e-4, 4.122075637011218e-4, -3.986925582339967e-5,
                   -2.295396403157565e-4, 2.324567952553503e-5),
}  # fmt: skip

# The leg's frames: z1 forward and x1 down, so that it hangs along x at zero; z2 and z3 to the right.
_FROM_ABAD = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
_FROM_HIP = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

_MOTOR_TORQUE = 27.2
_RATIOS = {"abad": 23 / 3, "hip": 23 / 3, "knee": 8.846}
_ROTOR_AXIS = {"abad": 0, "hip": 1, "knee": 1}  # of the frames the numbers above are in
_RANGE = {"abad": 0.8, "hip": 2.0, "knee": 2.6}


def _body(part: str, *, right: bool) -> Body:
    """A part in the leg's frames; a right leg is the mirror image of a left one."""
    left = Body.from_parameters(from_order(_LEFT[part], "spatial_v2"))
    S = np.diag([1.0, -1.0 if right else 1.0, 1.0])
    R = _FROM_ABAD if part.startswith("abad") else _FROM_HIP
    T: Array = R @ S
    return Body(left.mass, T @ left.com, T @ left.inertia @ T.T)


def _limits(joint: str) -> Limits:
    reach = _RANGE[joint]
    return Limits(-reach, reach, velocity=21.0, acceleration=200.0, effort=_MOTOR_TORQUE * _RATIOS[joint])


def _drive(joint: str) -> Drive:
    spin = _LEFT[f"{joint}_rotor"][4 + _ROTOR_AXIS[joint]]
    return Drive(viscous=0.1, coulomb=1.0, offset=0.0, rotor=_RATIOS[joint] ** 2 * spin)


def _leg(prefix: str, shoulder: Pose, *, right: bool) -> list[Stage]:
    """Three stages from the torso; each rotor rides on the link before its joint."""
    offset = _HIP_OFFSET if right else -_HIP_OFFSET
    hip, knee = modified_dh(1, 0.0, offset), modified_dh(0, _THIGH, 0.0)
    hip_rotor = FixedLink(f"{prefix}hip_rotor", hip, _body("hip_rotor", right=right))
    knee_rotor = FixedLink(f"{prefix}knee_rotor", Pose.identity(), _body("knee_rotor", right=right))
    foot = FixedLink(f"{prefix}foot", placed((_SHANK, 0.0, 0.0)))
    parts = (
        ("abad", "shoulder", shoulder, hip_rotor, bar(0.06, (0.0, 0.0, -0.04), (0.0, 0.0, 0.04))),
        ("hip", "thigh", hip, knee_rotor, bar(0.04, (0.0, 0.0, 0.0), (_THIGH, 0.0, 0.0))),
        ("knee", "shank", knee, foot, bar(0.025, (0.0, 0.0, 0.0), (_SHANK, 0.0, 0.0))),
    )
    return [
        Stage(
            f"{prefix}{joint}",
            f"{prefix}{link}",
            placement,
            _body(joint, right=right),
            _limits(joint),
            _drive(joint),
            fixed=(bolted,),
            collision=(shape,),
        )
        for joint, link, placement, bolted, shape in parts
    ]


def _cheetah3_leg() -> Robot:
    gravity = np.array([-STANDARD_GRAVITY[2], 0.0, 0.0])
    stages = _leg("", modified_dh(0, 0.0, 0.0), right=True)
    return Robot("cheetah3_leg", Link("bench"), *chain(stages), gravity, source="zoo")


def _cheetah3() -> Robot:
    length, width, _ = _TORSO
    joints: tuple[Joint, ...] = ()
    links: tuple[Link, ...] = ()
    rotors = []
    for leg, forward, right in (("fr", 1, True), ("fl", 1, False), ("rr", -1, True), ("rl", -1, False)):
        corner = np.array([forward * length / 2, (-width if right else width) / 2, 0.0])
        shoulder = Pose(_FROM_ABAD.T, corner)
        rotors.append(FixedLink(f"{leg}_abad_rotor", shoulder, _body("abad_rotor", right=right)))
        more = chain(_leg(f"{leg}_", shoulder, right=right), first=len(joints))
        joints, links = joints + more[0], links + more[1]
    shape = Geometry(Box(*_TORSO), Pose.identity())
    torso = Link("torso", box(_TORSO, mass=_TORSO_MASS), tuple(rotors), (shape,))
    return Robot("cheetah3", torso, joints, links, source="zoo")


_SOFTWARE = "MIT Biomimetic Robotics Lab, Cheetah-Software (MIT licence), Dynamics/Cheetah3.h"
_SOURCES = {
    "kinematics": f"{_SOFTWARE}; frames of the leg: Wensing et al. (2024), Fig. 9 (gravity along x0)",
    "inertia": f"{_SOFTWARE}: identified by Wensing, Kim, Slotine, RA-L 2018; rotors ride on the link before",
    "limits": f"torque: {_SOFTWARE} (motor torque times gear ratio); speed: Bledt et al., IROS 2018, as "
    "quoted, not looked up; position and acceleration assumed",
    "drive": f"{_SOFTWARE}: damping, dry friction, and rotor inertia times the squared gear ratio",
    "collision geometry": "assumed capsules; the torso is the box of the software",
}

CHEETAH3_LEG = ZooEntry(
    "cheetah3_leg", "right leg of the MIT Cheetah 3 on a bench, 3 joints", _SOURCES, _cheetah3_leg
)
CHEETAH3 = ZooEntry(
    "cheetah3",
    "MIT Cheetah 3, 12 joints, held at its torso; --floating lets it go",
    {**_SOURCES, "place of the ab/ad rotors": "assumed at the joints; they count as part of the torso"},
    _cheetah3,
)
