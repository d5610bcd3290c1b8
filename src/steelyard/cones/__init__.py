"""Convex programs in the few shapes the house needs: the one door to Clarabel and HiGHS.

`ConeProgram` states a constrained least-squares or linear objective under cone constraints and `solve`
answers it; `LinearProgram` states a polytope, over which `minimise_linear` and `LinearSeries` solve
linear objectives. `safe_conic_bound` and `safe_linear_bound` turn approximate multipliers into
guaranteed bounds.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.cones.dual_bounds import safe_conic_bound
    from steelyard.cones.linear import LinearSeries, LinearSolution, minimise_linear
    from steelyard.cones.program import (
        AtMost,
        ConeProgram,
        Constraint,
        InfeasibleError,
        LinearProgram,
        Semidefinite,
    )
    from steelyard.cones.solve import solve

__all__ = [
    "AtMost",
    "ConeProgram",
    "Constraint",
    "InfeasibleError",
    "LinearProgram",
    "LinearSeries",
    "LinearSolution",
    "Semidefinite",
    "minimise_linear",
    "safe_conic_bound",
    "solve",
]

open_door(__name__)
