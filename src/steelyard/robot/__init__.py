"""The robot: tree, joints, limits, geometry, nominal inertias and drives; loaded from its description."""

from steelyard.robot.assembly import RawJoint, RawLink, assemble
from steelyard.robot.geometry import Box, Capsule, Cylinder, Geometry, MeshFile, Shape, Sphere
from steelyard.robot.joint import Joint, JointKind, Limits
from steelyard.robot.link import FixedLink, Link
from steelyard.robot.load import load_robot
from steelyard.robot.locking import LockedJoint
from steelyard.robot.model import STANDARD_GRAVITY, Frame, Robot
from steelyard.robot.payload import read_payload
from steelyard.robot.urdf import load_urdf, parse_urdf

__all__ = [
    "STANDARD_GRAVITY",
    "Box",
    "Capsule",
    "Cylinder",
    "FixedLink",
    "Frame",
    "Geometry",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "LockedJoint",
    "MeshFile",
    "RawJoint",
    "RawLink",
    "Robot",
    "Shape",
    "Sphere",
    "assemble",
    "load_robot",
    "load_urdf",
    "parse_urdf",
    "read_payload",
]
