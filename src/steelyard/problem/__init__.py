"""`Problem`, the question, and `Estimate`, the answer: what every estimator takes and returns."""

from steelyard.problem.estimate import Estimate
from steelyard.problem.evidence import Evidence, evidence_of
from steelyard.problem.load_friction import without_load
from steelyard.problem.problem import Problem, problem_of, problem_of_blocks
from steelyard.problem.structure import structure_of

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
