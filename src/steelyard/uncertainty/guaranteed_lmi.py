r"""Guaranteed bounds over bodies that can exist: $J(\theta) \succeq 0$ beside the linear equations.

A cone program with all rows is slow, and few of them matter for one end of one number. Each program starts
with the rows that hold the linear one up, and takes in what its solution breaks. Leaving rows out makes the
set larger, so the safe dual bound of every such program is a guaranteed end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.cones import (
    AtMost,
    ConeProgram,
    LinearSolution,
    Semidefinite,
    safe_conic_bound,
    solve,
)
from steelyard.errors import SolverError
from steelyard.inertia import pseudo_inertia
from steelyard.uncertainty.bounded_rows import TEN
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.payload_polytope import PayloadPolytope
from steelyard.uncertainty.powers_of_two import power_of_two

ROUNDS = 20
"""Most cone programs for one end."""
ADDED = 25
"""Broken rows that the next program takes in, the worst first."""
TOLERANCE = 1e-7
"""Of the cone programs, and of a row that counts as broken, in parts of its error."""


def possible_ends(
    polytope: PayloadPolytope, prior: PayloadBox, ends: Sequence[Sequence[LinearSolution]]
) -> Array:
    """Tighten the ends of the ten intervals.

    Args:
        polytope: the set without the condition.
        prior: what the payload can be.
        ends: solutions of the linear programs, the ten lower ends, then those of the negatives.

    Returns:
        Guaranteed and reached least value of each number, then of its negative, in scaled variables, shape
        (2, 10, 2), dimensionless.

    Raises:
        InfeasibleError: no body that can exist explains the data.
    """
    size = polytope.columns[:TEN]
    hull = np.array([[end.bound for end in side] for side in ends])
    box = polytope.within(np.maximum(hull[0] * size, prior.lower), np.minimum(-hull[1] * size, prior.upper))
    condition = pseudo_inertia_condition(polytope, prior)
    found = np.empty((2, TEN, 2))
    for side, sign in enumerate((1.0, -1.0)):
        for number, end in enumerate(ends[side]):
            found[side, number] = end.bound, end.value
            if np.linalg.eigvalsh(condition.slack(end.x))[0] >= 0.0:
                continue
            objective = polytope.objective(number, sign)
            found[side, number] = _end(polytope, condition, box, objective, end)
    return found


def pseudo_inertia_condition(polytope: PayloadPolytope, prior: PayloadBox) -> Semidefinite:
    r"""$J(\theta) \succeq 0$ in scaled variables, lengths measured in the size of the payload.

    Args:
        polytope: whose variables.
        prior: how large the payload can be.

    Returns:
        The condition; its matrix has entries near one, and powers of two keep it exact.
    """
    mass, second = prior.largest[0], prior.largest[[4, 6, 9]].max()
    length = np.sqrt(second / mass) if mass > 0.0 and second > 0.0 else 1.0
    unit = 1.0 / power_of_two(np.array([length, length, length, 1.0]))
    J = pseudo_inertia(np.diag(polytope.columns[:TEN])) * unit[:, None] * unit
    coefficients = np.zeros((len(polytope.columns), 4, 4))
    coefficients[:TEN] = J / power_of_two(np.array([mass]))
    return Semidefinite(np.zeros((4, 4)), coefficients)


def _end(
    polytope: PayloadPolytope,
    condition: Semidefinite,
    box: tuple[Array, Array],
    objective: Array,
    linear: LinearSolution,
) -> tuple[float, float]:
    """Guaranteed and reached least value of an objective."""
    A, b = polytope.sides
    y = linear.row_duals
    taken = np.concatenate([y < 0.0, y > 0.0])[polytope.finite_sides]
    unit = np.eye(polytope.program.variables)
    edges = AtMost(np.vstack([unit, -unit]), np.concatenate([box[1], -box[0]]))
    bound, value = linear.bound, linear.value
    for _ in range(ROUNDS):
        program = ConeProgram.minimise_linear(objective, (condition, edges, AtMost(A[taken], b[taken])))
        try:
            solution = solve(program, tolerance=TOLERANCE, accept_reduced=True)
        except SolverError:
            break  # what was proven so far holds
        bound = max(bound, safe_conic_bound(program, solution.x, solution.multipliers, *box))
        value = solution.value
        excess = np.where(taken, 0.0, A @ solution.x - b)
        worst = np.argsort(-excess)[:ADDED]
        worst = worst[excess[worst] > TOLERANCE]
        if not worst.size:
            break
        taken[worst] = True
    return bound, value
