r"""Lower bounds on an optimum that hold in exact arithmetic, from multipliers that are only approximate.

Weak duality makes *any* multipliers inside the dual cones give a lower bound on the optimum, as long as the
leftover gradient d is paid for. An exact dual solution has d = 0; an approximate one has a small d, whose
least product with x over a box that holds x costs little. Every step is rounded downwards (`rounding`), so
the result needs no trust in the solver: a bad multiplier gives a weak bound, never a wrong one. The linear
case is due to Neumaier and Shcherbina (Safe bounds in linear and mixed-integer linear programming, 2004), the
conic one to Jansson, Chaykin and Keil (Rigorous error bounds for the optimal value in semidefinite
programming, 2007).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.cones.dual_cones import repaired
from steelyard.cones.polytope import LinearProgram, checked_interval
from steelyard.cones.program import ConeProgram
from steelyard.cones.rounding import above, below, least_over_box, product, total_below
from steelyard.errors import ShapeError


def safe_linear_bound(program: LinearProgram, objective: ArrayLike, row_duals: ArrayLike) -> float:
    r"""A lower bound on $\min c^T x$ over $\underline b \le A x \le \overline b$, $l \le x \le u$.

    For any y, with $d = c - A^T y$ and for every feasible x,

    $$c^T x = y^T A x + d^T x \ge \sum_i \min(y_i \underline b_i, y_i \overline b_i)
      + \sum_j \min(d_j l_j, d_j u_j).$$

    An entry of y that leans on an infinite row bound is replaced by zero. A variable with an infinite bound
    and a d that is not provably of the right sign makes the bound minus infinity: give the variables a box.

    Args:
        program: the polytope.
        objective: c, shape (n,), any unit.
        row_duals: y, any vector, best the solver's row duals, shape (m,), unit of the objective per unit of
            a row.

    Returns:
        The bound; positive for c = 0 it proves that the polytope is empty.
    """
    c = checked("objective", objective, (program.variables,))
    y = checked("row_duals", row_duals, (program.rows,))
    side = np.where(y > 0.0, program.row_lower, program.row_upper)
    y = np.where(np.isfinite(side), y, 0.0)
    paid = below(y * np.where(y == 0.0, 0.0, side))
    d, radius = product(np.column_stack([-program.matrix.T, c]), np.append(y, 1.0))
    return total_below(paid[y != 0.0], least_over_box(d, radius, program.lower, program.upper))


def safe_conic_bound(
    program: ConeProgram,
    point: ArrayLike,
    multipliers: Sequence[ArrayLike],
    lower: ArrayLike,
    upper: ArrayLike,
) -> float:
    r"""A lower bound on the optimum of a cone program among the points of a box.

    Take any point $x_0$ with $w = R x_0 - r$, and any multipliers; move each into its dual cone (a matrix
    by a shift of its eigenvalues). For every feasible x, $\langle z_k, b_k - A_k x\rangle \ge 0$ and
    $\tfrac12\|v\|^2 \ge w^T v - \tfrac12\|w\|^2$ with $v = R x - r$, so that

    $$\tfrac12\|R x - r\|^2 + c^T x \ge -\tfrac12\|w\|^2 - w^T r - \sum_k \langle z_k, b_k\rangle + d^T x,
      \qquad d = c + R^T w + \sum_k A_k^T z_k,$$

    and the last term is at least $\sum_j \min(d_j l_j, d_j u_j)$.

    Args:
        program: the cone program.
        point: x_0, best the solver's solution, shape (n,), the program's units.
        multipliers: one for each constraint, in its natural shape, best the solver's.
        lower: l, lower ends of a box that holds every x of interest, shape (n,), the program's units.
        upper: u, upper ends, shape (n,), the program's units.

    Returns:
        The bound; minus infinity when a variable without bounds has a leftover gradient.

    Raises:
        ShapeError: a multiplier has not the shape of its constraint.
    """
    x0 = checked("point", point, (program.variables,))
    box = checked_interval("lower", lower, "upper", upper, program.variables)
    if len(multipliers) != len(program.constraints):
        raise ShapeError(
            f"got {len(multipliers)} for {len(program.constraints)} constraints.",
            place="multipliers",
            evidence={"multipliers": len(multipliers), "constraints": len(program.constraints)},
        )
    w: Array = program.matrix @ x0 - program.target
    gradients, targets, factors = [program.matrix], [program.target], [w]
    for index, (constraint, multiplier) in enumerate(zip(program.constraints, multipliers, strict=True)):
        A, b = constraint.flat()
        shape = constraint.slack(x0).shape
        z = repaired(constraint, checked(f"multipliers[{index}]", multiplier, shape))
        gradients.append(A)
        targets.append(b)
        factors.append(z.ravel())
    y, h = np.concatenate(factors), np.concatenate(targets)
    d, radius = product(np.column_stack([*(A.T for A in gradients), program.linear]), np.append(y, 1.0))
    used = (y != 0.0) & (h != 0.0)
    return total_below(
        below(-0.5 * above(w * w)),
        below(-y[used] * h[used]),
        least_over_box(d, radius, *box),
    )
