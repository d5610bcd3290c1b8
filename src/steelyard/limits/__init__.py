"""What is safe: every limit and clearance as signed margins with gradients, and proven at every instant."""

from steelyard.limits.bearable import bearable
from steelyard.limits.bounds import bounds_of
from steelyard.limits.certificate import (
    Assumptions,
    Certificate,
    NotCertifiedError,
    ProvenMargin,
    read_certificate,
    write_certificate,
)
from steelyard.limits.certify import certify
from steelyard.limits.clearance import Clearance, clearance_of
from steelyard.limits.floor import FLOOR, Floor, floor_of, stands_upright
from steelyard.limits.margins import Margins, MotionLimits
from steelyard.limits.pairs import Pair
from steelyard.limits.parts import TOOL, Part
from steelyard.limits.poses import rest_pose
from steelyard.limits.scene import Obstacle, Scene
from steelyard.limits.scene_files import read_scene
from steelyard.limits.shapes import Hull, Solid, Zonotope
from steelyard.limits.signed_distance import Separation, separation
from steelyard.limits.violations import violations

__all__ = [
    "FLOOR",
    "TOOL",
    "Assumptions",
    "Certificate",
    "Clearance",
    "Floor",
    "Hull",
    "Margins",
    "MotionLimits",
    "NotCertifiedError",
    "Obstacle",
    "Pair",
    "Part",
    "ProvenMargin",
    "Scene",
    "Separation",
    "Solid",
    "Zonotope",
    "bearable",
    "bounds_of",
    "certify",
    "clearance_of",
    "floor_of",
    "read_certificate",
    "read_scene",
    "rest_pose",
    "separation",
    "stands_upright",
    "violations",
    "write_certificate",
]
