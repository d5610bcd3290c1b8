"""The robot: tree, joints, limits, geometry, nominal inertias and drives; loaded from its description.

`model` is `Robot`; `joint` and `link` are its parts; `descriptions` reads URDF, xacro and MJCF, and
`assembly` makes one tree of what a file states. `stated_limits` and `payload` are files beside a description,
`plausibility` compares a link's inertia with its shapes.
"""

from steelyard.robot.assembly import RawJoint, RawLink, assemble_robot, chained, planar
from steelyard.robot.descriptions.load import load_robot
from steelyard.robot.descriptions.meshes import MeshFolder
from steelyard.robot.descriptions.mjcf import load_mjcf, parse_mjcf
from steelyard.robot.descriptions.repair import REMEDIES, Repair, repair_file, repair_urdf
from steelyard.robot.descriptions.source_edits import Change
from steelyard.robot.descriptions.urdf import load_urdf, parse_urdf
from steelyard.robot.descriptions.xacro import load_xacro
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic
from steelyard.robot.link import Box, Capsule, Cylinder, FixedLink, Geometry, Link, MeshFile, Shape, Sphere
from steelyard.robot.model import STANDARD_GRAVITY, Frame, Robot, Rotor, rotor_name, spin_only, with_rotors
from steelyard.robot.payload import read_payload
from steelyard.robot.stated_limits import StatedLimits, with_limits

__all__ = [
    "REMEDIES",
    "STANDARD_GRAVITY",
    "Box",
    "Capsule",
    "Change",
    "Cylinder",
    "FixedLink",
    "Frame",
    "Geometry",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "MeshFile",
    "MeshFolder",
    "Mimic",
    "RawJoint",
    "RawLink",
    "Repair",
    "Robot",
    "Rotor",
    "Shape",
    "Sphere",
    "StatedLimits",
    "assemble_robot",
    "chained",
    "load_mjcf",
    "load_robot",
    "load_urdf",
    "load_xacro",
    "parse_mjcf",
    "parse_urdf",
    "planar",
    "read_payload",
    "repair_file",
    "repair_urdf",
    "rotor_name",
    "spin_only",
    "with_limits",
    "with_rotors",
]
