"""The robot: tree, joints, limits, geometry, nominal inertias and drives; loaded from its description.

`model` is `Robot`; `joint` and `link` are its parts; `descriptions` reads URDF, xacro and MJCF, and
`assembly` makes one tree of what a file states. `stated_limits` and `payload` are files beside a description,
`plausibility` compares a link's inertia with its shapes.
"""

from steelyard.robot.descriptions.by_name import PREFIX, named_description
from steelyard.robot.descriptions.load import load_robot
from steelyard.robot.descriptions.meshes import MeshFolder, mesh_source
from steelyard.robot.descriptions.packages import find_package
from steelyard.robot.descriptions.repair import REMEDIES, Repair, repair_file
from steelyard.robot.descriptions.source_edits import Change
from steelyard.robot.descriptions.urdf import URDF_KINDS, origin_element, parse_urdf, urdf_text
from steelyard.robot.joint import Joint, JointKind, Limits
from steelyard.robot.link import (
    Box,
    Capsule,
    Cylinder,
    FixedLink,
    Geometry,
    Link,
    MeshFile,
    MeshSource,
    Shape,
    Sphere,
)
from steelyard.robot.model import STANDARD_GRAVITY, Frame, Robot, Rotor, rotor_name, spin_only, with_rotors
from steelyard.robot.payload import read_payload
from steelyard.robot.stated_limits import StatedLimits, with_limits

__all__ = [
    "PREFIX",
    "REMEDIES",
    "STANDARD_GRAVITY",
    "URDF_KINDS",
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
    "MeshSource",
    "Repair",
    "Robot",
    "Rotor",
    "Shape",
    "Sphere",
    "StatedLimits",
    "find_package",
    "load_robot",
    "mesh_source",
    "named_description",
    "origin_element",
    "parse_urdf",
    "read_payload",
    "repair_file",
    "rotor_name",
    "spin_only",
    "urdf_text",
    "with_limits",
    "with_rotors",
]
