"""The Unimation PUMA 560 in the joint frames of Craig's textbook and of Wensing et al. (2024)."""

from __future__ import annotations

import math

from steelyard.drive import Drive
from steelyard.robot import Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, ZooEntry, bar, chain, modified_dh, tabulated

# Modified (Craig) Denavit-Hartenberg rows: quarter turns about x, a [m], d [m].
_DH = (
    (0, 0.0, 0.0),
    (-1, 0.0, 0.0),
    (0, 0.4318, 0.1501),
    (-1, 0.0203, 0.4331),
    (1, 0.0, 0.0),
    (-1, 0.0, 0.0),
)

# The published frame 2 lies 0.2435 m further along its axis, and frames 3 to 6 are turned by half a turn
# about theirs: centres of mass are moved accordingly, the diagonal tensors stay what they are.
_LINKS: tuple[Inertial, ...] = (
    (13.0, (0.0, 0.0, 0.0), (0.35, 0.0, 0.0, 0.35, 0.0, 0.35)),
    (17.4, (0.068, 0.006, 0.2435 - 0.016), (0.13, 0.0, 0.0, 0.524, 0.0, 0.539)),
    (4.8, (0.0, 0.070, 0.014), (0.066, 0.0, 0.0, 0.0125, 0.0, 0.066)),
    (0.82, (0.0, 0.0, -0.019), (1.8e-3, 0.0, 0.0, 1.8e-3, 0.0, 1.3e-3)),
    (0.34, (0.0, 0.0, 0.0), (3e-4, 0.0, 0.0, 3e-4, 0.0, 4e-4)),
    (0.09, (0.0, 0.0, 0.032), (1.5e-4, 0.0, 0.0, 1.5e-4, 0.0, 4e-5)),
)

# lower, upper [degrees]; velocity [rad/s]; acceleration [rad/s²]; torque [N·m]
_LIMITS = (
    (-160, 160, 1.4, 10.0, 97.6),
    (-225, 45, 1.2, 10.0, 186.4),
    (-225, 45, 2.1, 15.0, 89.4),
    (-140, 140, 4.0, 30.0, 24.2),
    (-100, 100, 4.0, 30.0, 20.1),
    (-266, 266, 4.0, 30.0, 21.3),
)

# motor inertia [kg·m²], gear ratio, viscous friction and Coulomb friction at the joint
_MOTORS = (
    (291e-6, 62.6111, 5.8, 6.3),
    (409e-6, 107.815, 9.5, 5.5),
    (299e-6, 53.7063, 4.0, 2.6),
    (35e-6, 76.0364, 0.41, 1.3),
    (35e-6, 71.923, 0.43, 1.0),
    (35e-6, 76.686, 0.22, 1.2),
)

_SHAPES = (
    (bar(0.09, (0.0, -0.05, 0.0), (0.0, 0.05, 0.0)),),
    (bar(0.10, (-0.1, 0.0, 0.23), (0.4318, 0.0, 0.23)),),
    (bar(0.07, (0.0, 0.0, 0.0), (0.0203, 0.35, 0.0)),),
    (bar(0.045, (0.0, 0.0, -0.06), (0.0, 0.0, -0.01)),),
    (bar(0.04, (0.0, 0.0, -0.03), (0.0, 0.0, 0.03)),),
    (bar(0.03, (0.0, 0.0, 0.01), (0.0, 0.0, 0.0558)),),
)


def _puma560() -> Robot:
    stages = []
    rows = zip(_DH, _LINKS, _LIMITS, _MOTORS, _SHAPES, strict=True)
    for i, (row, inertial, (lower, upper, *most), drive, shapes) in enumerate(rows, start=1):
        motor, ratio, viscous, coulomb = drive
        stages.append(
            Stage(
                f"joint{i}",
                f"link{i}",
                modified_dh(*row),
                tabulated(*inertial),
                Limits(math.radians(lower), math.radians(upper), *most),
                Drive(viscous, coulomb, 0.0, motor * ratio**2),
                collision=shapes,
            )
        )
    return Robot("puma560", Link("base"), *chain(stages), source="zoo")


_ARMSTRONG = "Armstrong, Khatib, Burdick, ICRA 1986"
PUMA560 = ZooEntry(
    "puma560",
    "Unimation PUMA 560, 6 joints",
    {
        "kinematics": f"lengths: {_ARMSTRONG}; frames: Wensing et al. (2024), section 9.1",
        "inertia": f"{_ARMSTRONG}, as in the Robotics Toolbox (mdl_puma560akb)",
        "inertia of link 1 except Izz": "assumed; Armstrong measured none, and no joint torque shows it",
        "limits": "spans of joint motion as commonly published, the wrist's centred by assumption; torque: "
        f"{_ARMSTRONG}; speed and acceleration assumed",
        "rotor inertia": f"{_ARMSTRONG}: motor inertia times the squared gear ratio",
        "friction": "viscous: Corke and Armstrong-Hélouvry, ICRA 1994, as in the Robotics Toolbox "
        f"(mdl_puma560); Coulomb: break-away torques of {_ARMSTRONG}; offset assumed zero",
        "collision geometry": "assumed capsules",
    },
    _puma560,
)
