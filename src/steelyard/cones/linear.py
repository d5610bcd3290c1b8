"""The door to HiGHS: many objectives over one polytope, each solve starting where the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones.dual_bounds import safe_linear_bound
from steelyard.cones.program import InfeasibleError, LinearProgram, UnboundedError
from steelyard.errors import InputError, SolverError

_DUAL_SIMPLEX = 1


@dataclass(frozen=True, eq=False)
class LinearSolution:
    r"""An optimal vertex of a linear program with its multipliers.

    With objective c, the multipliers satisfy $c = A^T y + d$; y_i is positive on an active lower row bound
    and negative on an upper one, and likewise d_j for the variables' bounds.

    Attributes:
        x: the vertex, shape (n,), the program's units.
        value: the objective at x, exact to the solver's tolerance.
        bound: a number the exact optimum does not fall below (`safe_linear_bound`).
        row_duals: y, shape (m,), unit of the objective per unit of a row.
        reduced_costs: d, shape (n,), unit of the objective per unit of a variable.
        iterations: simplex iterations of this solve.
    """

    x: Array
    value: float
    bound: float
    row_duals: Array
    reduced_costs: Array
    iterations: int


_DECIDED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnbounded,
)


class LinearSeries:
    """Minimises one objective after another over one polytope.

    The model stays loaded and each solve starts from the basis where the last one ended. The optimal value
    does not depend on what was solved before; where several vertices are optimal, the vertex returned may.
    """

    def __init__(self, program: LinearProgram) -> None:
        """Load the polytope into the solver.

        Args:
            program: the polytope.
        """
        self.program = program
        self._highs = _loaded(program)

    def minimise(self, objective: ArrayLike) -> LinearSolution:
        r"""Minimise $c^T x$.

        Args:
            objective: c, shape (n,), any unit.

        Raises:
            InfeasibleError: the polytope is empty. The evidence holds `ray`, row multipliers that show it,
                and `margin`, their `safe_linear_bound` for a zero objective: a positive margin is a proof.
            UnboundedError: the objective has no lower bound; the evidence holds `ray`, a direction along
                which the polytope is endless and the objective falls by one.
            SolverError: HiGHS gave up.
        """
        n = self.program.variables
        c = checked("objective", objective, (n,))
        highs = self._highs
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), c)
        status = self._run()
        if status not in _DECIDED:
            # The basis of the solve before may lead the simplex method astray; from scratch it decides.
            highs.clearSolver()
            status = self._run()
        if status != highspy.HighsModelStatus.kOptimal:
            raise self._failure(status, c)
        answer = highs.getSolution()
        x, y = np.array(answer.col_value), np.array(answer.row_dual)
        return LinearSolution(
            x=read_only(x),
            value=float(c @ x),
            bound=safe_linear_bound(self.program, c, y),
            row_duals=read_only(y),
            reduced_costs=read_only(np.array(answer.col_dual)),
            iterations=int(highs.getInfo().simplex_iteration_count),
        )

    def _run(self) -> Any:
        self._highs.run()
        return self._highs.getModelStatus()

    def _failure(self, status: Any, c: Array) -> Exception:
        if status == highspy.HighsModelStatus.kUnbounded:
            ray = _falling_ray(self.program, c)
            return UnboundedError(
                "the objective falls without end inside the polytope.",
                remedy="Bound the variables along the ray.",
                evidence={"ray": read_only(ray)},
            )
        if status == highspy.HighsModelStatus.kInfeasible:
            ray = self._contradiction()
            margin = safe_linear_bound(self.program, np.zeros(c.size), ray)
            proof = "proven in exact arithmetic" if margin > 0.0 else "within the solver's tolerance"
            return InfeasibleError(
                f"the polytope is empty ({proof}).",
                remedy="The nonzero multipliers of the ray show which rows contradict each other.",
                evidence={"ray": read_only(ray), "margin": margin},
            )
        name = self._highs.modelStatusToString(status)
        return SolverError(
            f"HiGHS stopped with status '{name}'.",
            remedy="Scale rows and variables to sizes near one.",
            evidence={"status": name},
        )

    def _contradiction(self) -> Array:
        """Row multipliers that show the polytope empty: HiGHS's dual ray, or a single impossible row."""
        _, found, ray = self._highs.getDualRay()
        rows = np.atleast_2d(np.array(ray)) if found else np.eye(self.program.rows)
        zero = np.zeros(self.program.variables)
        return max((*rows, *-rows), key=lambda y: safe_linear_bound(self.program, zero, y))


def minimise_linear(program: LinearProgram, objective: ArrayLike) -> LinearSolution:
    r"""Minimise $c^T x$ over a polytope, once; `LinearSeries` serves many objectives.

    Args:
        program: the polytope.
        objective: c, shape (n,), any unit.

    Raises:
        InfeasibleError: the polytope is empty.
        UnboundedError: the objective has no lower bound.
        SolverError: HiGHS gave up.
    """
    return LinearSeries(program).minimise(objective)


def _falling_ray(program: LinearProgram, c: Array) -> Array:
    """The direction of the recession cone, within the unit box, along which the objective falls fastest."""
    low = np.where(np.isinf(program.lower), -1.0, 0.0)
    high = np.where(np.isinf(program.upper), 1.0, 0.0)
    row_low = np.where(np.isinf(program.row_lower), -np.inf, 0.0)
    row_high = np.where(np.isinf(program.row_upper), np.inf, 0.0)
    steepest = minimise_linear(LinearProgram(program.matrix, row_low, row_high, low, high), c)
    if steepest.value >= 0.0:
        raise SolverError(
            "HiGHS calls the program unbounded, but its recession cone holds no direction of descent.",
            remedy="Scale rows and variables to sizes near one.",
            evidence={"status": "Unbounded"},
        )
    return steepest.x / -steepest.value


def _loaded(program: LinearProgram) -> Any:
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("solver", "simplex"),
        # The last basis is feasible for a new objective, which invites the primal method; yet for the hull of
        # a regression's parameters the dual one, priced by steepest edge, took 40 % fewer iterations.
        ("simplex_strategy", _DUAL_SIMPLEX),
        ("parallel", "off"),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
        ("small_matrix_value", 1e-12),
    ):
        highs.setOptionValue(option, value)
    A = scipy.sparse.csc_matrix(program.matrix)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_ = np.zeros(program.variables)
    lp.col_lower_, lp.col_upper_ = program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    if highs.passModel(lp) == highspy.HighsStatus.kError:
        raise InputError(
            f"HiGHS refuses the program; the largest matrix entry is {np.abs(A.data).max(initial=0.0):g}.",
            place="LinearProgram",
            remedy="Scale rows and variables to sizes near one.",
        )
    return highs
