"""`Problem`, the question, and `Estimate`, the answer: what every estimator takes and returns."""

from steelyard.problem.estimate import Estimate
from steelyard.problem.evidence import Evidence, evidence_of
from steelyard.problem.load_friction import without_load
from steelyard.problem.problem import Problem, problem_of, problem_of_blocks

__all__ = [
    "Estimate",
    "Evidence",
    "Problem",
    "evidence_of",
    "problem_of",
    "problem_of_blocks",
    "without_load",
]
