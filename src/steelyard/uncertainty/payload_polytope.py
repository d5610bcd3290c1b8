r"""The payloads that bounded equations and a prior admit, as a polytope in scaled variables.

Variables are $x = (\theta, \delta)$ in sizes near one and rows have errors near one, both by powers of two,
so that nothing is rounded; the sides $y \pm b$ are rounded outwards. Left out are rows that no point of the
box can break, and parameters of the robot that are exact or in no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.cones import LinearProgram, LinearSeries, LinearSolution
from steelyard.errors import SolverError
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.powers_of_two import power_of_two

_SURELY = 1.0 - 1e-9  # of an error; beyond, rounding might decide whether a row can be broken


@dataclass(frozen=True, eq=False)
class PayloadPolytope:
    r"""The set $|y - A\theta - B\delta| \le b$, $|\delta| \le d$, θ in the prior.

    Attributes:
        program: the set in scaled variables, rows of equations first, then the prior's conditions.
        columns: size of each variable, the ten numbers first, shape (n,), SI.
        errors: scaled error b of each row, shape (m,), dimensionless.
        targets: scaled y of each row, shape (m,), dimensionless.
        rows: which of the given rows these are, shape (m,), dimensionless.
    """

    program: LinearProgram
    columns: Array
    errors: Array
    targets: Array
    rows: IntArray

    @classmethod
    def of(cls, rows: BoundedRows, prior: PayloadBox, *, every: bool = False) -> PayloadPolytope:
        """The polytope of some equations.

        Args:
            rows: the equations.
            prior: what the payload can be.
            every: whether to keep rows that no point of the box can break.

        Returns:
            The polytope.
        """
        used = np.flatnonzero((rows.spread > 0.0) & rows.robot.any(axis=0))
        B, d = rows.robot[:, used], rows.spread[used]
        farthest = np.abs(rows.target - rows.load @ prior.centre)
        farthest += np.abs(rows.load) @ prior.spread + np.abs(B) @ d
        telling = np.flatnonzero((farthest > _SURELY * rows.error) | every)
        low, high = np.concatenate([prior.lower, -d]), np.concatenate([prior.upper, d])
        columns = power_of_two(np.maximum(np.abs(low), np.abs(high)))
        y, b = rows.target[telling], rows.error[telling]
        A = np.hstack([rows.load[telling], B[telling]]) * columns
        scale = 1.0 / power_of_two(np.where(b > 0.0, b, np.abs(A).max(axis=1, initial=0.0)))
        G = np.hstack([prior.conditions, np.zeros((len(prior.limits), len(used)))]) * columns
        size = 1.0 / power_of_two(np.abs(G).max(axis=1, initial=0.0))
        program = LinearProgram(
            np.vstack([A * scale[:, None], G * size[:, None]]),
            np.concatenate([np.nextafter(y - b, -np.inf) * scale, np.full(len(G), -np.inf)]),
            np.concatenate([np.nextafter(y + b, np.inf) * scale, prior.limits * size]),
            low / columns,
            high / columns,
        )
        return cls(program, columns, b * scale, y * scale, telling)

    @property
    def count(self) -> int:
        """Rows of equations m."""
        return len(self.errors)

    @cached_property
    def _series(self) -> LinearSeries:
        return LinearSeries(self.program)

    @cached_property
    def finite_sides(self) -> BoolArray:
        """Which of the upper, then of the lower sides of all rows are finite, shape (2 rows,)."""
        return np.asarray(np.isfinite(np.concatenate([self.program.row_upper, self.program.row_lower])))

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """The rows as A x <= b, first upper sides, then lower ones, shapes (k, n) and (k,), dimensionless."""
        A, kept = self.program.matrix, self.finite_sides
        b = np.concatenate([self.program.row_upper, -self.program.row_lower])
        return np.vstack([A, -A])[kept], b[kept]

    def minimise(self, number: int, sign: float) -> LinearSolution:
        """The least of one of the ten numbers, or of its negative, in scaled variables.

        Args:
            number: which of the ten.
            sign: 1 for the number, -1 for its negative.

        Returns:
            The solution.

        Raises:
            InfeasibleError: the set is empty.
            SolverError: the solver gave up twice.
        """
        objective = self.objective(number, sign)
        try:
            return self._series.minimise(objective)
        except SolverError:
            # At a set that is empty or nearly so HiGHS may stop undecided; it goes on from where it stopped.
            return self._series.minimise(objective)

    def objective(self, number: int, sign: float) -> Array:
        """One number, or its negative, as an objective.

        Args:
            number: which of the ten.
            sign: 1 or -1.

        Returns:
            The vector, shape (n,), dimensionless.
        """
        c = np.zeros(len(self.columns))
        c[number] = sign
        return c

    def within(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The box of all variables when the ten numbers are known to lie in a smaller one.

        Args:
            lower: of the ten numbers, shape (10,), SI.
            upper: of the ten numbers, shape (10,), SI.

        Returns:
            Lower and upper ends, shape (n,) each, in scaled variables, dimensionless.
        """
        low, high = self.program.lower.copy(), self.program.upper.copy()
        low[:TEN], high[:TEN] = lower / self.columns[:TEN], upper / self.columns[:TEN]
        return low, high
