"""What is assumed of the links, each in a stated frame, and the fewer parameters that are left."""

from steelyard.reduction.projection import Projection, project
from steelyard.reduction.reduction import Reduction, symmetric_links
from steelyard.reduction.rule import (
    SYMMETRIC,
    Condition,
    LinkRule,
    axisymmetric,
    centred,
    fixed,
    known_link,
    point_mass,
    tied,
)

__all__ = [
    "SYMMETRIC",
    "Condition",
    "LinkRule",
    "Projection",
    "Reduction",
    "axisymmetric",
    "centred",
    "fixed",
    "known_link",
    "point_mass",
    "project",
    "symmetric_links",
    "tied",
]
