"""What is assumed of the links, each in a stated frame, and the fewer parameters that are left."""

from steelyard.reduction.projection import project
from steelyard.reduction.reduction import Reduction, symmetric_links
from steelyard.reduction.rule import SYMMETRIC, Condition, LinkRule, fixed

__all__ = ["SYMMETRIC", "Condition", "LinkRule", "Reduction", "fixed", "project", "symmetric_links"]
