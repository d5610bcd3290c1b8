r"""`Problem`, the question, and `Estimate`, the answer: what every estimator takes and returns.

`problem_of` poses the question: a robot, a layout of parameters and recordings become torque equations,
$\tau = W\varphi + e$, kept as one triangle for each degree of freedom.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.problem.estimate import Estimate
    from steelyard.problem.problem import (
        Evidence,
        Problem,
        evidence_of,
        problem_of,
        structure_of,
        without_load,
    )

__all__ = ["Estimate", "Evidence", "Problem", "evidence_of", "problem_of", "structure_of", "without_load"]

open_door(__name__)
