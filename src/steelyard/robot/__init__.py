"""The robot: tree, joints, limits, geometry, nominal inertias and drives; loaded from its description."""

from steelyard.robot.assembly import assemble
from steelyard.robot.compound import chained, planar
from steelyard.robot.geometry import Box, Capsule, Cylinder, Geometry, MeshFile, Shape, Sphere
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic
from steelyard.robot.link import FixedLink, Link
from steelyard.robot.load import load_robot
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.mjcf import load_mjcf, parse_mjcf
from steelyard.robot.model import STANDARD_GRAVITY, Frame, Robot
from steelyard.robot.payload import read_payload
from steelyard.robot.raw import RawJoint, RawLink
from steelyard.robot.repair import REMEDIES, Change, Repair, repair_file, repair_urdf
from steelyard.robot.rotors import Rotor, rotor_name, spin_only, with_rotors
from steelyard.robot.stated_limits import StatedLimits, with_limits
from steelyard.robot.urdf import load_urdf, parse_urdf
from steelyard.robot.xacro import load_xacro

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
    "assemble",
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
