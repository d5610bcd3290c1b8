"""What is safe: position, velocity, acceleration, torque and clearance as signed margins with gradients."""

from steelyard.limits.bounds import Bounds, bounds_of
from steelyard.limits.clearance import Clearance, clearance_of
from steelyard.limits.margins import Margins, MotionLimits
from steelyard.limits.pairs import Pair
from steelyard.limits.parts import Part
from steelyard.limits.poses import rest_pose
from steelyard.limits.scene import Obstacle, Scene
from steelyard.limits.scene_files import read_scene, write_scene
from steelyard.limits.shapes import Hull, Solid, Zonotope
from steelyard.limits.signed_distance import Separation, separation
from steelyard.limits.violations import violations

__all__ = [
    "Bounds",
    "Clearance",
    "Hull",
    "Margins",
    "MotionLimits",
    "Obstacle",
    "Pair",
    "Part",
    "Scene",
    "Separation",
    "Solid",
    "Zonotope",
    "bounds_of",
    "clearance_of",
    "read_scene",
    "rest_pose",
    "separation",
    "violations",
    "write_scene",
]
