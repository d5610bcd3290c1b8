"""The Franka Emika Panda without hand."""

from __future__ import annotations

import math

import numpy as np

from steelyard.drive import Drive
from steelyard.pose import Pose
from steelyard.robot import FixedLink, Limits, Link, Robot
from steelyard.zoo.chain import Inertial, Stage, ZooEntry, bar, chain, modified_dh, tabulated

# Modified (Craig) Denavit-Hartenberg rows: quarter turns about x, a [m], d [m]. The turns are integers, so
# the rotations are exact.
_DH = (
    (0, 0.0, 0.333),
    (-1, 0.0, 0.0),
    (1, 0.0, 0.316),
    (1, 0.0825, 0.0),
    (-1, -0.0825, 0.384),
    (1, 0.0, 0.0),
    (1, 0.088, 0.0),
)
_FLANGE = 0.107

# lower [rad], upper [rad], velocity [rad/s], acceleration [rad/s²], torque [N·m]
_LIMITS = (
    (-2.8973, 2.8973, 2.1750, 15.0, 87.0),
    (-1.7628, 1.7628, 2.1750, 7.5, 87.0),
    (-2.8973, 2.8973, 2.1750, 10.0, 87.0),
    (-3.0718, -0.0698, 2.1750, 12.5, 87.0),
    (-2.8973, 2.8973, 2.6100, 15.0, 12.0),
    (-0.0175, 3.7525, 2.6100, 20.0, 12.0),
    (-2.8973, 2.8973, 2.6100, 20.0, 12.0),
)

_LINKS: tuple[Inertial, ...] = (
    (4.970684, (3.875e-3, 2.081e-3, -0.04762),
     (0.70337, -1.39e-4, 6.772e-3, 0.70661, 1.9169e-2, 9.117e-3)),
    (0.646926, (-3.141e-3, -2.872e-2, 3.495e-3),
     (7.962e-3, -3.925e-3, 1.0254e-2, 2.811e-2, 7.04e-4, 2.5995e-2)),
    (3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2),
     (3.7242e-2, -4.761e-3, -1.1396e-2, 3.6155e-2, -1.2805e-2, 1.083e-2)),
    (3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2),
     (2.5853e-2, 7.796e-3, -1.332e-3, 1.9552e-2, 8.641e-3, 2.8323e-2)),
    (1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2),
     (3.5549e-2, -2.117e-3, -4.037e-3, 2.9474e-2, 2.29e-4, 8.627e-3)),
    (1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2),
     (1.964e-3, 1.09e-4, -1.158e-3, 4.354e-3, 3.41e-4, 5.433e-3)),
    (0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2),
     (1.2516e-2, -4.28e-4, -1.196e-3, 1.0027e-2, -7.41e-4, 4.815e-3)),
)  # fmt: skip
_BASE: Inertial = (0.629769, (-0.041018, -1.4e-4, 0.049974),
         (3.15e-3, 8.2904e-7, 1.5e-4, 3.88e-3, 8.2299e-6, 4.285e-3))  # fmt: skip

# viscous [N·m·s/rad], Coulomb [N·m], offset [N·m], rotor inertia at the output [kg·m²]
_DRIVES = (
    (1.0, 0.30, 0.10, 0.1),
    (1.0, 0.40, -0.20, 0.1),
    (1.0, 0.30, 0.10, 0.1),
    (1.0, 0.40, 0.20, 0.1),
    (1.0, 0.25, -0.05, 0.1),
    (1.0, 0.15, 0.05, 0.1),
    (1.0, 0.20, 0.02, 0.1),
)

# The flange's arm stands at 45 degrees to the link's x.
_ARM_END = (0.055 * math.sqrt(0.5), 0.065 * math.sqrt(0.5))
_SHAPES = (
    (bar(0.06, (0.0, 0.0, -0.333), (0.0, 0.0, -0.05)),),
    (bar(0.06, (0.0, 0.0, -0.06), (0.0, 0.0, 0.06)),),
    (bar(0.06, (0.0, 0.0, -0.22), (0.0, 0.0, -0.07)),),
    (bar(0.06, (0.0, 0.0, -0.06), (0.0, 0.0, 0.06)),),
    (
        bar(0.06, (0.0, 0.0, -0.31), (0.0, 0.0, -0.21)),
        bar(0.025, (0.0, 0.08, -0.2), (0.0, 0.08, -0.06)),
    ),
    (bar(0.05, (0.0, 0.0, -0.07), (0.0, 0.0, 0.01)),),
    (
        bar(0.04, (0.0, 0.0, -0.06), (0.0, 0.0, 0.08)),
        bar(0.03, (_ARM_END[0], _ARM_END[0], 0.082), (_ARM_END[1], _ARM_END[1], 0.082)),
    ),
)
_BASE_SHAPES = (bar(0.06, (-0.09, 0.0, 0.06), (-0.06, 0.0, 0.06)),)


def _panda() -> Robot:
    flange = FixedLink("panda_link8", Pose(np.eye(3), np.array([0.0, 0.0, _FLANGE])))
    rows = zip(_DH, _LIMITS, _LINKS, _DRIVES, _SHAPES, strict=True)
    stages = [
        Stage(
            f"panda_joint{i}",
            f"panda_link{i}",
            modified_dh(*row),
            tabulated(*inertial),
            Limits(*limits),
            Drive(*drive),
            fixed=(flange,) if i == 7 else (),
            collision=shapes,
        )
        for i, (row, limits, inertial, drive, shapes) in enumerate(rows, start=1)
    ]
    base = Link("panda_link0", tabulated(*_BASE), collision=_BASE_SHAPES)
    return Robot("panda", base, *chain(stages), source="zoo")


PANDA = ZooEntry(
    "panda",
    "Franka Emika Panda, 7 joints, no hand",
    {
        "kinematics": "Franka Control Interface documentation, Denavit-Hartenberg parameters (Craig)",
        "limits": "Franka Control Interface documentation, joint limits of the Panda (FER)",
        "inertia": "Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, RA-L 2019, as in franka_description",
        "viscous friction and rotor inertia": "MuJoCo Menagerie, franka_emika_panda: damping 1, armature 0.1",
        "Coulomb friction and offset": "assumed; of the order seen at the joints of this arm",
        "collision geometry": "franka_description: the capsules of the arm's own self-collision check, which "
        "do not reach every corner of the housings",
    },
    _panda,
)
