"""How informative data is, in one number, with its gradient."""

from steelyard.identifiability.criteria.criterion import Criterion, score, smooth_condition
from steelyard.identifiability.criteria.information import Information

__all__ = [
    "Criterion",
    "Information",
    "score",
    "smooth_condition",
]
