"""What is safe: every limit and clearance as signed margins with gradients, and proven at every instant.

`margins` is the definition, `certify` the search for a proof over all time and `certificate` what it proves;
`stretch_margins` bounds margins over stretches of time. `clearance` measures distances between `parts` made
of `shapes`, by `distance`, meshes cut by `decomposition`; `scene` is what stands around the robot.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.limits.certificate import (
        Assumptions,
        Certificate,
        NotCertifiedError,
        ProvenMargin,
    )
    from steelyard.limits.certify import certify
    from steelyard.limits.clearance import Clearance, clearance_of
    from steelyard.limits.decomposition import convex_pieces
    from steelyard.limits.distance import separation
    from steelyard.limits.margins import MotionLimits, bearable, bounds_of, violations
    from steelyard.limits.parts import TOOL, Part
    from steelyard.limits.scene import FLOOR, Floor, Scene, stands_upright
    from steelyard.limits.shapes import Hull, Solid, Zonotope, core_of

__all__ = [
    "FLOOR",
    "TOOL",
    "Assumptions",
    "Certificate",
    "Clearance",
    "Floor",
    "Hull",
    "MotionLimits",
    "NotCertifiedError",
    "Part",
    "ProvenMargin",
    "Scene",
    "Solid",
    "Zonotope",
    "bearable",
    "bounds_of",
    "certify",
    "clearance_of",
    "convex_pieces",
    "core_of",
    "separation",
    "stands_upright",
    "violations",
]

open_door(__name__)
