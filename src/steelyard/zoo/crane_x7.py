"""The RT Corporation CRANE-X7, the low-cost arm of Oaki et al. (2026), alone and with its hand axis."""

from __future__ import annotations

from steelyard.drive import Drive
from steelyard.inertia import sphere
from steelyard.robot import FixedLink, Geometry, Limits, Link, Robot, Sphere
from steelyard.zoo.chain import Stage, Triple, ZooEntry, bar, chain, placed, solid

_UP: Triple = (0.0, 0.0, 1.0)
_ACROSS: Triple = (0.0, -1.0, 0.0)

# joint; height over the frame before [m] (all frames parallel at zero); axis
_JOINTS = (
    ("crane_x7_shoulder_fixed_part_pan_joint", 0.041, _UP),
    ("crane_x7_shoulder_revolute_part_tilt_joint", 0.064, _ACROSS),
    ("crane_x7_upper_arm_revolute_part_twist_joint", 0.065, _UP),
    ("crane_x7_upper_arm_revolute_part_rotate_joint", 0.185, _ACROSS),
    ("crane_x7_lower_arm_fixed_part_joint", 0.121, _UP),
    ("crane_x7_lower_arm_revolute_part_joint", 0.129, _ACROSS),
    ("crane_x7_wrist_joint", 0.019, _UP),
)
_HAND = 0.1  # from the last joint to between the finger tips, m

# The hand axis: what it drives is a ball on the axis, so that it feels its own rotor and friction alone.
_FINGERS, _FINGERS_MASS, _FINGERS_RADIUS = 0.05, 0.01, 0.015  # height over the last joint [m], [kg], [m]
_HAND_LIMITS = Limits(-0.8, 0.8, 4.81710873, 30.0, 4.0)
_HAND_DRIVE = Drive(0.0313, 0.05, 0.0, 0.00499)

# lower [rad], upper [rad], torque [N·m]
_LIMITS = (
    (-2.97132, 2.97132, 10.0),
    (-1.570795, 1.570795, 10.0),
    (-1.570795, 1.570795, 4.0),
    (-2.80718, 0.04141, 4.0),
    (-2.77343, 2.77343, 4.0),
    (-1.570795, 1.570795, 4.0),
    (-2.96365, 2.97132, 4.0),
)
_SPEED, _ACCELERATION = 4.81710873, 30.0

# link; mass [kg]; radius [m] and the two ends [m] of a capsule along z
_LINKS = (
    ("crane_x7_shoulder_revolute_part_link", 0.25, 0.035, 0.0, 0.064),
    ("crane_x7_upper_arm_fixed_part_link", 0.098, 0.035, 0.0, 0.065),
    ("crane_x7_upper_arm_revolute_part_link", 0.25, 0.03, 0.0, 0.185),
    ("crane_x7_lower_arm_fixed_part_link", 0.192, 0.03, 0.0, 0.121),
    ("crane_x7_lower_arm_revolute_part_link", 0.25, 0.03, 0.0, 0.129),
    ("crane_x7_wrist_link", 0.16, 0.025, -0.01, 0.01),
    ("crane_x7_gripper_base_link", 0.18, 0.025, -0.01, 0.03),
)

# viscous [N·m·s/rad], Coulomb [N·m], offset [N·m], rotor inertia at the output [kg·m²]
_DRIVES = (
    (0.0736, 0.1, 0.0, 0.007),
    (0.317, 0.2, 0.0, 0.02),
    (0.0707, 0.1, 0.0, 0.00713),
    (0.247, 0.1, 0.0, 0.0127),
    (0.0287, 0.05, 0.0, 0.00414),
    (0.0459, 0.05, 0.0, 0.00373),
    (0.0331, 0.05, 0.0, 0.00448),
)


def _crane_x7() -> Robot:
    return Robot("crane_x7", Link("base_link"), *chain(_arm()), source="zoo")


def _crane_x7_hand() -> Robot:
    ball = Geometry(Sphere(_FINGERS_RADIUS), placed((0.0, 0.0, 0.0)))
    hand = Stage(
        "crane_x7_hand_joint",
        "crane_x7_finger_link",
        placed((0.0, 0.0, _FINGERS)),
        sphere(_FINGERS_RADIUS, mass=_FINGERS_MASS),
        _HAND_LIMITS,
        _HAND_DRIVE,
        axis=_ACROSS,
        collision=(ball,),
    )
    return Robot("crane_x7_hand", Link("base_link"), *chain([*_arm(), hand]), source="zoo")


def _arm() -> list[Stage]:
    tool = FixedLink("crane_x7_hand", placed((0.0, 0.0, _HAND)))
    stages = []
    rows = zip(_JOINTS, _LINKS, _LIMITS, _DRIVES, strict=True)
    for (joint, height, axis), (link, mass, radius, low, high), (lower, upper, torque), drive in rows:
        shape = bar(radius, (0.0, 0.0, low), (0.0, 0.0, high))
        stages.append(
            Stage(
                joint,
                link,
                placed((0.0, 0.0, height)),
                solid(mass, shape),
                Limits(lower, upper, _SPEED, _ACCELERATION, torque),
                Drive(*drive),
                axis=axis,
                fixed=(tool,) if joint == "crane_x7_wrist_joint" else (),
                collision=(shape,),
            )
        )
    return stages


_PAPER = "Oaki et al. (2026), Appendix A"
_SOURCES = {
    "kinematics": "dimensions of the arm, as in RT Corporation's crane_x7_description (no file copied)",
    "inertia": "assumed: uniform capsules, their masses chosen so that the gravity moments about "
    f"shoulder, elbow and wrist are those of {_PAPER} (MYR2, MYR4, MYR6)",
    "limits": "position, speed and torque: as in crane_x7_description; acceleration assumed",
    "viscous friction": f"{_PAPER}, FV1 to FV7",
    "rotor inertia": f"{_PAPER}, IA3 to IA7; those of joints 1 and 2 assumed",
    "Coulomb friction and offset": "assumed; the paper fits viscous friction only",
    "place of the tool": "assumed, between the finger tips",
    "collision geometry": "the same capsules",
}
CRANE_X7 = ZooEntry(
    "crane_x7",
    "RT Corporation CRANE-X7, 7 joints, hand lumped with the last link",
    _SOURCES,
    _crane_x7,
)
CRANE_X7_HAND = ZooEntry(
    "crane_x7_hand",
    "RT Corporation CRANE-X7, 7 joints and the hand axis of Oaki et al. (2026)",
    _SOURCES
    | {
        "hand axis": f"viscous friction and rotor inertia: {_PAPER}, FV8 and IA8; place, limits, Coulomb "
        "friction and the small ball that it turns are assumed",
    },
    _crane_x7_hand,
)
