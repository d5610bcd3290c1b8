r"""When no payload explains the data: which equations contradict each other, and by how much.

The smallest s for which some payload of the prior satisfies $|y - A\theta - B\delta| \le s\,b$ is a linear
program. Beyond one the stated errors are too small, and its multipliers are the proof: weights of the rows,
which add up to one when each counts by its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.cones import (
    AtMost,
    ConeProgram,
    InfeasibleError,
    LinearProgram,
    Semidefinite,
    minimise,
    safe_conic_bound,
    solve,
)
from steelyard.errors import NoSolutionError, SolverError
from steelyard.uncertainty.bounded_rows import BoundedRows, Place
from steelyard.uncertainty.guaranteed_lmi import pseudo_inertia_condition
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.payload_polytope import PayloadPolytope

MOST_GROWTH = 1e4
"""Factor of the errors beyond which it is not asked for."""
NAMED = 3
"""Rows that the message names."""
LEAST_SHARE = 1e-6
"""Of a row that counts as part of a contradiction."""


class ContradictionError(NoSolutionError):
    """No payload explains the data: an assumption is wrong, and no bound derived from it holds.

    Attributes:
        growth: how many times larger the errors of the equations would have to be, at least, dimensionless;
            infinite where no growth helps.
        rows: the equations that contradict each other, strongest first, shape (k,), dimensionless.
        shares: what each has in the contradiction, adding up to one, shape (k,), dimensionless.
        places: where each comes from.
    """

    def __init__(self, growth: float, rows: IntArray, shares: Array, places: tuple[Place, ...]) -> None:
        """State the contradiction.

        Args:
            growth: factor by which the errors would have to grow, dimensionless.
            rows: indices of the equations, strongest first, shape (k,), dimensionless.
            shares: of each in the contradiction, shape (k,), dimensionless.
            places: where each comes from.
        """
        self.growth = growth
        self.rows, self.shares, self.places = read_only(rows), read_only(shares), places
        listed = "; ".join(
            f"{place} ({100.0 * share:.0f} %)" for place, share in zip(places[:NAMED], shares, strict=False)
        )
        more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
        which = f"These equations contradict each other: {listed}{more}." if places else ""
        factor = f"{growth:.3g}" if np.isfinite(growth) else f"more than {MOST_GROWTH:g}"
        super().__init__(
            "no payload explains the data: its errors would have to be at least "
            f"{factor} times as large as stated. {which}",
            remedy="An assumption is wrong: stop. Check the sensors, the stated errors and the model, and "
            "whether something touched the arm.",
            evidence={"growth": growth, "rows": self.rows, "shares": self.shares},
        )


@dataclass(frozen=True, eq=False)
class ErrorGrowth:
    """How far the stated errors are from what the data needs.

    Attributes:
        factor: smallest factor of the errors with which some payload explains the data, up to the solver's
            tolerance, dimensionless; below one, that share of the stated errors would have been enough.
        proven: a factor below which none does, in exact arithmetic, dimensionless.
        shares: what each row has in it, shape (m,), dimensionless.
    """

    factor: float
    proven: float
    shares: Array


def error_growth(rows: BoundedRows, prior: PayloadBox, *, possible: bool = False) -> ErrorGrowth:
    """The smallest factor of the rows' errors with which some payload explains the data.

    Args:
        rows: equations with bounded errors; the spread of the robot's parameters stays as it is.
        prior: what the payload can be.
        possible: whether the payload must be a body that can exist.

    Returns:
        The factor and the rows that decide it.

    Raises:
        InfeasibleError: not even `MOST_GROWTH` is enough; the evidence holds the multipliers.
    """
    polytope = PayloadPolytope.of(rows, prior, every=True)
    program = _growing(polytope)
    condition = pseudo_inertia_condition(polytope, prior).extended(1) if possible else None
    factor, proven, weights = _least(program) if condition is None else _least_possible(program, condition)
    return ErrorGrowth(factor, proven, read_only(_shares(polytope, weights)))


def contradiction_of(
    rows: BoundedRows, prior: PayloadBox, *, possible: bool = False
) -> ContradictionError | SolverError:
    """The contradiction in equations that no payload satisfies.

    Args:
        rows: equations with bounded errors.
        prior: what the payload can be.
        possible: whether the payload must be a body that can exist.

    Returns:
        The error to raise: the contradiction with its proof, or that there is none after all.
    """
    try:
        growth = error_growth(rows, prior, possible=possible)
        least, shares = growth.proven, growth.shares
    except InfeasibleError as error:
        ray = error.evidence.get("ray")
        weights = np.abs(ray) if isinstance(ray, np.ndarray) else np.zeros(2 * rows.count)
        least, shares = np.inf, _shares(PayloadPolytope.of(rows, prior, every=True), weights)
    if least <= 1.0:
        return SolverError(
            "no payload was found, yet no contradiction could be shown: at least "
            f"{least:.6g} of the stated errors are needed.",
            remedy="State larger errors (--torque-error, --velocity-error, --model-error).",
            evidence={"growth": least},
        )
    order = np.argsort(-shares, kind="stable")[: int((shares > LEAST_SHARE).sum())]
    return ContradictionError(least, order, shares[order], tuple(rows.places[int(k)] for k in order))


def _growing(polytope: PayloadPolytope) -> LinearProgram:
    """The polytope in one more variable s, the factor of the errors: first lower sides, then upper ones."""
    at, m = polytope.program, polytope.count
    A, G, b, y = at.matrix[:m], at.matrix[m:], polytope.errors[:, None], polytope.targets
    none = np.full(m, np.inf)
    return LinearProgram(
        np.block([[A, b], [A, -b], [G, np.zeros((len(G), 1))]]),
        np.concatenate([y, -none, at.row_lower[m:]]),
        np.concatenate([none, y, at.row_upper[m:]]),
        np.append(at.lower, 0.0),
        np.append(at.upper, MOST_GROWTH),
    )


def _least(program: LinearProgram) -> tuple[float, float, Array]:
    """The factor, a proven bound on it, and the weight of each row."""
    found = minimise(program, np.eye(program.variables)[-1])
    return found.value, found.bound, np.abs(found.row_duals)


def _least_possible(program: LinearProgram, condition: Semidefinite) -> tuple[float, float, Array]:
    above, below = np.isfinite(program.row_upper), np.isfinite(program.row_lower)
    A, unit = program.matrix, np.eye(program.variables)
    cone = ConeProgram.minimise_linear(
        unit[-1],
        (
            AtMost(A[above], program.row_upper[above]),
            AtMost(-A[below], -program.row_lower[below]),
            AtMost(np.vstack([unit, -unit]), np.concatenate([program.upper, -program.lower])),
            condition,
        ),
    )
    found = solve(cone, accept_reduced=True)
    weights = np.zeros(program.rows)
    weights[above] += found.multipliers[0]
    weights[below] += found.multipliers[1]
    bound = safe_conic_bound(cone, found.x, found.multipliers, program.lower, program.upper)
    return found.value, bound, weights


def _shares(polytope: PayloadPolytope, weights: Array) -> Array:
    """Weights of both sides of each row, counted by its error, adding up to one, shape (m,)."""
    m = polytope.count
    both = weights[:m] + weights[m : 2 * m]
    counted = both * polytope.errors
    counted = counted if counted.any() else both
    return np.asarray(counted / max(float(counted.sum()), np.finfo(float).tiny))
