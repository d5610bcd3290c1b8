"""`Problem`, the question, and `Estimate`, the answer: what every estimator takes and returns."""

from steelyard.problem.estimate import Estimate
from steelyard.problem.problem import (
    Evidence,
    Problem,
    evidence_of,
    problem_of,
    problem_of_blocks,
    structure_of,
    without_load,
)

__all__ = [
    "Estimate",
    "Evidence",
    "Problem",
    "evidence_of",
    "problem_of",
    "problem_of_blocks",
    "structure_of",
    "without_load",
]
