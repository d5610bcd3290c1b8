"""The mechanisms of Wensing et al. (2024), section 9 and Fig. 4, built from modified Denavit-Hartenberg rows.

The paper prints no lengths: those of PUMA, SCARA and Cheetah leg are of the authors' public models
(spatial_v2_extended), and its tables hold for any lengths that are not zero. RX90 is SYMORO's default arm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.identifiable import RestrictedIdentifiability, restricted, structural_identifiability
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot, Rotor

DOWN, ALONG_X, NONE = (0.0, 0.0, -9.81), (9.81, 0.0, 0.0), (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mechanism:
    """Rows (alpha in quarter turns, a, d) of Craig's convention, the kinds of the joints, and gravity.

    Attributes:
        rows: one per joint; lengths in m.
        gravity: acceleration of free fall, m/s².
        ratio: turns of each rotor per turn of its joint.
        kinds: R or P for each joint.
    """

    rows: tuple[tuple[int, float, float], ...]
    gravity: tuple[float, float, float] = DOWN
    ratio: float = 5.0
    kinds: str = ""

    def robot(self, *, rotors: bool = False, floating: bool = False) -> Robot:
        """The robot, with a rotor spinning about z of each joint's frame if wanted."""
        joints, links = [], []
        for i, (quarter_turns, a, d) in enumerate(self.rows):
            kind = JointKind.PRISMATIC if self.kinds[i : i + 1] == "P" else JointKind.REVOLUTE
            joints.append(Joint(f"joint{i + 1}", kind, i - 1, craig(quarter_turns, a, d), np.eye(3)[2]))
            links.append(Link(f"link{i + 1}"))
        robot = Robot("paper 002", Link("base"), tuple(joints), tuple(links), np.array(self.gravity))
        if floating:
            robot = robot.floating()
        names = [joint.name for joint in joints]
        return robot.with_rotors({name: Rotor(self.ratio) for name in names}) if rotors else robot


def geared_joints(robot: Robot) -> list[str]:
    """Names of the joints that have a rotor."""
    return [joint.name for joint in robot.joints if Rotor.name_at(joint.name) in robot.joint_names]


def with_spin(robot: Robot) -> RestrictedIdentifiability:
    """What can be known of the links, and of each rotor of its inertia about its axis alone."""
    return restricted(
        structural_identifiability(robot, layout_of(robot).fixing(Rotor.spin_only(geared_joints(robot))))
    )


def craig(quarter_turns: int, a: float, d: float) -> Pose:
    """Rx(alpha) Tx(a) Tz(d) with exact quarter turns."""
    c, s = round(np.cos(quarter_turns * np.pi / 2)), round(np.sin(quarter_turns * np.pi / 2))
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return Pose(R, np.array([a, 0.0, 0.0]) + R @ np.array([0.0, 0.0, d]))


PUMA = Mechanism(
    ((0, 0, 0), (-1, 0, 0), (0, 0.2, 0.4), (-1, 0.153, 0.839), (1, 0, 0), (-1, 0, 0)),
)
RX90 = Mechanism(((0, 0, 0), (1, 0, 0), (0, 0.45, 0), (-1, 0, 0.45), (1, 0, 0), (-1, 0, 0)))
SCARA = Mechanism(((0, 0, 0), (0, 0.1, 0), (0, 0.2, 0), (0, 0, 0)), kinds="RRPR")
CHEETAH_LEG = Mechanism(((0, 0, 0), (1, 0, 0.044), (0, 0.342, 0)), ALONG_X, ratio=10.0)
FIG_4A = Mechanism(((0, 0, 0), (0, 0.3, 0)))
FIG_4B = Mechanism(((0, 0, 0), (1, 0.3, 0)))
