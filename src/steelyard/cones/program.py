"""Convex programs as they are stated: constraints, conic and linear programs, and what has no optimum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError, NoSolutionError, ShapeError

# Constraints on a vector x, each a frozen statement that an affine image of x lies in a cone.
#
# Every constraint can be read as $b - A x \in K$. Its *multiplier* z lies in the dual cone $K^*$, has the
# natural shape of the constraint (a matrix for `Semidefinite`), and enters the Lagrangian as
# $-\langle z, b - A x\rangle$.


@dataclass(frozen=True, eq=False)
class _Rows:
    """An affine map $b - A x$ given by its rows."""

    matrix: Array
    vector: Array

    def __post_init__(self) -> None:
        name = type(self).__name__
        A = checked(f"{name}.matrix", self.matrix, ("m", "n"))
        b = checked(f"{name}.vector", self.vector, (A.shape[0],))
        object.__setattr__(self, "matrix", read_only(A))
        object.__setattr__(self, "vector", read_only(b))

    @property
    def variables(self) -> int:
        """How many variables the constraint speaks of."""
        return int(self.matrix.shape[1])

    def slack(self, x: ArrayLike) -> Array:
        """The image $b - A x$, which the constraint wants inside its cone.

        Args:
            x: the point, shape (n,), the program's units.

        Returns:
            The slack, shape (m,), units of the vector.
        """
        slack: Array = self.vector - self.matrix @ checked("x", x, (self.variables,))
        return slack

    def flat(self) -> tuple[Array, Array]:
        """The map as plain rows (A, b), the slack flattened, shapes (m, n) and (m,), units of the rows."""
        return self.matrix, self.vector

    def extended(self, extra: int) -> Self:
        """The same constraint with `extra` variables appended, on which it does not depend."""
        return replace(self, matrix=np.pad(self.matrix, ((0, 0), (0, extra))))


class Equal(_Rows):
    r"""$A x = b$. Its multiplier is free, shape (m,).

    Attributes:
        matrix: A, shape (m, n), any unit.
        vector: b, shape (m,), any unit.
    """


class AtMost(_Rows):
    r"""$A x \le b$, row by row. Its multiplier is nonnegative, shape (m,).

    Attributes:
        matrix: A, shape (m, n), any unit.
        vector: b, shape (m,), any unit.
    """


class SecondOrder(_Rows):
    r"""$(t, u) = b - A x$ with $\|u\|_2 \le t$. Its multiplier lies in the same cone, shape (1 + m,).

    Attributes:
        matrix: A, the row of t first, shape (1 + m, n), any unit.
        vector: b, shape (1 + m,), any unit.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matrix.shape[0] == 0:
            raise ShapeError(
                "needs at least one row, the bound on the norm.",
                place="SecondOrder.matrix",
                evidence={"shape": self.matrix.shape},
            )


@dataclass(frozen=True, eq=False)
class Semidefinite:
    r"""$F(x) = F_0 + \sum_k x_k F_k \succeq 0$. Its multiplier Z is one too: $Z \succeq 0$, shape (d, d).

    Attributes:
        constant: F_0, symmetric, shape (d, d), any unit.
        coefficients: F_k stacked, each symmetric, shape (n, d, d), any unit.
    """

    constant: Array
    coefficients: Array

    def __post_init__(self) -> None:
        F0 = checked("Semidefinite.constant", self.constant, ("d", "d"))
        d = F0.shape[0]
        F = checked("Semidefinite.coefficients", self.coefficients, ("n", d, d))
        if d == 0:
            raise ShapeError("the matrix must be at least 1 x 1.", place="Semidefinite.constant")
        object.__setattr__(self, "constant", read_only(_symmetric("Semidefinite.constant", F0)))
        object.__setattr__(self, "coefficients", read_only(_symmetric("Semidefinite.coefficients", F)))

    @property
    def variables(self) -> int:
        """How many variables the constraint speaks of."""
        return int(self.coefficients.shape[0])

    def slack(self, x: ArrayLike) -> Array:
        """The matrix F(x), which the constraint wants positive semidefinite.

        Args:
            x: the point, shape (n,), the program's units.

        Returns:
            F(x), shape (d, d), units of the constant.
        """
        slack: Array = self.constant + np.tensordot(checked("x", x, (self.variables,)), self.coefficients, 1)
        return slack

    def flat(self) -> tuple[Array, Array]:
        """The map as plain rows (A, b), all d² entries, shapes (d², n) and (d²,), units of the constant."""
        return -self.coefficients.reshape(self.variables, -1).T, self.constant.ravel()

    def extended(self, extra: int) -> Semidefinite:
        """The same constraint with `extra` variables appended, on which it does not depend."""
        return Semidefinite(self.constant, np.pad(self.coefficients, ((0, extra), (0, 0), (0, 0))))


@dataclass(frozen=True, eq=False)
class Exponential:
    r"""$(u, v, w) = b_i - A_i x$ with $v\,e^{u/v} \le w$, $v > 0$ (closure), for each of k triples.

    Its multiplier has shape (k, 3) and each triple (p, q, r) satisfies $-p\,e^{q/p - 1} \le r$, $p < 0$
    (closure).

    Attributes:
        matrix: A_i stacked, shape (k, 3, n), any unit.
        vector: b_i stacked, shape (k, 3), any unit.
    """

    matrix: Array
    vector: Array

    def __post_init__(self) -> None:
        A = checked("Exponential.matrix", self.matrix, ("k", 3, "n"))
        b = checked("Exponential.vector", self.vector, (A.shape[0], 3))
        object.__setattr__(self, "matrix", read_only(A))
        object.__setattr__(self, "vector", read_only(b))

    @property
    def variables(self) -> int:
        """How many variables the constraint speaks of."""
        return int(self.matrix.shape[2])

    def slack(self, x: ArrayLike) -> Array:
        """The triples (u, v, w), which the constraint wants in the exponential cone.

        Args:
            x: the point, shape (n,), the program's units.

        Returns:
            The triples, shape (k, 3), units of the vector.
        """
        slack: Array = self.vector - self.matrix @ checked("x", x, (self.variables,))
        return slack

    def flat(self) -> tuple[Array, Array]:
        """The map as plain rows (A, b), triple after triple, shapes (3k, n) and (3k,), units of the rows."""
        return self.matrix.reshape(-1, self.variables), self.vector.ravel()

    def extended(self, extra: int) -> Exponential:
        """The same constraint with `extra` variables appended, on which it does not depend."""
        return Exponential(np.pad(self.matrix, ((0, 0), (0, 0), (0, extra))), self.vector)


Constraint = Equal | AtMost | SecondOrder | Semidefinite | Exponential


def _symmetric(name: str, matrices: Array) -> Array:
    transposed = np.swapaxes(matrices, -1, -2)
    off = np.abs(matrices - transposed)
    scale = np.abs(matrices).max(initial=0.0)
    if off.max(initial=0.0) > 1e-12 * scale:
        index = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
        raise ShapeError(
            f"must be symmetric, but entry {list(index)} differs from its mirror by {off[index]:.3g}.",
            place=name,
            remedy="Pass (M + Mᵀ) / 2 if that is what is meant.",
            evidence={"index": index, "difference": float(off[index])},
        )
    mean: Array = 0.5 * (matrices + transposed)
    return mean


# A convex program in the one form the house needs: a sum of squares and a line, under cone constraints.


@dataclass(frozen=True, eq=False)
class ConeProgram:
    r"""Minimise $\tfrac12\|R x - r\|^2 + c^T x$ over x subject to constraints.

    The quadratic part is stated by its factor, not by $P = R^T R$: it is convex by construction, keeps the
    digits that forming P would lose, and gives dual bounds without any eigenvalue of P. `least_squares` and
    `minimise_linear` build the two common cases; R and r may have any number of rows.

    Attributes:
        matrix: R, shape (k, n), any unit; k = 0 for a linear objective.
        target: r, shape (k,), units of R x.
        linear: c, shape (n,), squared units of the target per unit of x.
        constraints: what x must satisfy.
    """

    matrix: Array
    target: Array
    linear: Array
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        R = checked("ConeProgram.matrix", self.matrix, ("k", "n"))
        r = checked("ConeProgram.target", self.target, (R.shape[0],))
        c = checked("ConeProgram.linear", self.linear, (R.shape[1],))
        if c.size == 0:
            raise ShapeError("a program needs at least one variable.", place="ConeProgram.linear")
        constraints = tuple(self.constraints)
        for index, constraint in enumerate(constraints):
            place = f"ConeProgram.constraints[{index}]"
            if not isinstance(constraint, Equal | AtMost | SecondOrder | Semidefinite | Exponential):
                raise InputError(
                    f"is a {type(constraint).__name__}, not a constraint.",
                    place=place,
                    remedy="Valid: Equal, AtMost, SecondOrder, Semidefinite, Exponential.",
                )
            if constraint.variables != c.size:
                raise ShapeError(
                    f"{type(constraint).__name__} speaks of {constraint.variables} variables, "
                    f"the program has {c.size}.",
                    place=place,
                    evidence={"constraint": constraint.variables, "program": c.size},
                )
        object.__setattr__(self, "matrix", read_only(R))
        object.__setattr__(self, "target", read_only(r))
        object.__setattr__(self, "linear", read_only(c))
        object.__setattr__(self, "constraints", constraints)

    @classmethod
    def least_squares(
        cls, matrix: ArrayLike, target: ArrayLike, constraints: Iterable[Constraint] = ()
    ) -> ConeProgram:
        r"""Minimise $\tfrac12\|R x - r\|^2$.

        Args:
            matrix: R, shape (k, n), any unit.
            target: r, shape (k,), units of R x.
            constraints: what x must satisfy.
        """
        R = checked("matrix", matrix, ("k", "n"))
        return cls(R, checked("target", target, (R.shape[0],)), np.zeros(R.shape[1]), tuple(constraints))

    @classmethod
    def minimise_linear(cls, linear: ArrayLike, constraints: Iterable[Constraint] = ()) -> ConeProgram:
        r"""Minimise $c^T x$.

        Args:
            linear: c, shape (n,), any unit.
            constraints: what x must satisfy.
        """
        c = checked("linear", linear, ("n",))
        return cls(np.zeros((0, c.size)), np.zeros(0), c, tuple(constraints))

    @property
    def variables(self) -> int:
        """The number n of variables."""
        return int(self.linear.size)

    def value(self, x: ArrayLike) -> float:
        """The objective.

        Args:
            x: the point, shape (n,), the program's units.

        Returns:
            The objective at x, feasible or not.
        """
        x = checked("x", x, (self.variables,))
        v = self.matrix @ x - self.target
        return float(0.5 * v @ v + self.linear @ x)


# A polytope given by intervals: rows of a matrix and a box of variables.


@dataclass(frozen=True, eq=False)
class LinearProgram:
    r"""The feasible set $\underline b \le A x \le \overline b$, $l \le x \le u$ of linear programs.

    The objective is given when it is minimised, since one set often serves many objectives. Bounds may be
    infinite. Scale rows and variables to sizes near one: the solver's tolerances are absolute.

    Attributes:
        matrix: A, shape (m, n), any unit.
        row_lower: lower row bounds, shape (m,), units of A x.
        row_upper: upper row bounds, shape (m,), units of A x.
        lower: l, shape (n,), any unit.
        upper: u, shape (n,), any unit.
    """

    matrix: Array
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        A = checked("LinearProgram.matrix", self.matrix, ("m", "n"))
        if A.shape[1] == 0:
            raise ShapeError("a program needs at least one variable.", place="LinearProgram.matrix")
        rows = checked_interval(
            "LinearProgram.row_lower", self.row_lower, "LinearProgram.row_upper", self.row_upper, A.shape[0]
        )
        box = checked_interval(
            "LinearProgram.lower", self.lower, "LinearProgram.upper", self.upper, A.shape[1]
        )
        object.__setattr__(self, "matrix", read_only(A))
        object.__setattr__(self, "row_lower", read_only(rows[0]))
        object.__setattr__(self, "row_upper", read_only(rows[1]))
        object.__setattr__(self, "lower", read_only(box[0]))
        object.__setattr__(self, "upper", read_only(box[1]))

    @property
    def rows(self) -> int:
        """The number m of rows."""
        return int(self.matrix.shape[0])

    @property
    def variables(self) -> int:
        """The number n of variables."""
        return int(self.matrix.shape[1])


def checked_interval(
    lower_name: str, lower: ArrayLike, upper_name: str, upper: ArrayLike, size: int
) -> tuple[Array, Array]:
    """Check the two ends of intervals, which may be infinite but not empty.

    Args:
        lower_name: what to call the lower ends in a message.
        lower: lower ends, shape (n,), any unit.
        upper_name: what to call the upper ends in a message.
        upper: upper ends, shape (n,), same unit.
        size: n.

    Returns:
        Both ends, shape (n,) each, same unit.

    Raises:
        InputError: an end is not a number, or a lower end lies above its upper end.
    """
    low = checked(lower_name, lower, (size,), finite=False)
    high = checked(upper_name, upper, (size,), finite=False)
    wrong = ~(low <= high) | (low == np.inf) | (high == -np.inf)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InputError(
            f"the interval [{low[index]:g}, {high[index]:g}] at index {index} is empty.",
            place=f"{lower_name}, {upper_name}",
            remedy="Lower ends must not exceed upper ends, and neither may be NaN.",
            evidence={"index": index, "lower": float(low[index]), "upper": float(high[index])},
        )
    return low, high


# The two ways a well-stated program can have no optimum; both carry the certificate that shows it.


class InfeasibleError(NoSolutionError):
    """No point satisfies the constraints; the evidence holds the combination of constraints that shows it."""


class UnboundedError(NoSolutionError):
    """The objective falls for ever inside the constraints; the evidence holds the direction (`ray`)."""


# Log-determinants of affine matrices, stated by semidefinite and exponential cones.


@dataclass(frozen=True, eq=False)
class LogDet:
    r"""The concave function $\omega \log\det F(x)$, with $F(x) \succ 0$ implied.

    Attributes:
        weight: ω, not negative; zero states the constraint alone.
        matrix: F(x), as the constraint $F(x) \succeq 0$.
    """

    weight: float
    matrix: Semidefinite

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0.0):
            raise InputError(f"must be finite and not negative, got {self.weight}.", place="LogDet.weight")


def minus_log_dets(program: ConeProgram, terms: Sequence[LogDet]) -> ConeProgram:
    r"""Subtract $\sum_i \omega_i \log\det F_i(x)$ from the objective of a program.

    For each term, with Z lower triangular,

    $$t \le \log\det F \iff
      \begin{bmatrix} F & Z \\ Z^T & \mathrm{diag}(Z) \end{bmatrix} \succeq 0,\quad
      e^{\tau_j} \le Z_{jj},\quad t \le \textstyle\sum_j \tau_j .$$

    The variables of the result are x (n), then one $t_i$ per term, then each term's Z (column by column)
    and τ. So `x[:n]` of the solution answers the question, and a further constraint may speak of $t_i$,
    variable n + i.

    Args:
        program: the program in x, n variables.
        terms: the log-determinants, each a function of the same n variables.

    Returns:
        The lifted program.

    Raises:
        ShapeError: a term has another number of variables than the program.
    """
    n = program.variables
    for index, term in enumerate(terms):
        if term.matrix.variables != n:
            raise ShapeError(
                f"speaks of {term.matrix.variables} variables, the program has {n}.",
                place=f"terms[{index}]",
                evidence={"term": term.matrix.variables, "program": n},
            )
    orders = [term.matrix.constant.shape[0] for term in terms]
    starts = n + len(terms) + np.concatenate([[0], np.cumsum([d * (d + 3) // 2 for d in orders])])
    total = int(starts[-1])
    constraints: list[Constraint] = [old.extended(total - n) for old in program.constraints]
    for index, (term, d) in enumerate(zip(terms, orders, strict=True)):
        places = np.arange(starts[index], starts[index + 1])
        Z, tau = places[:-d], places[-d:]
        constraints += [
            _schur(term.matrix, Z, total),
            _logarithms(Z, tau, total),
            _sum(n + index, tau, total),
        ]
    c = np.zeros(total)
    c[:n] = program.linear
    c[n : n + len(terms)] = [-term.weight for term in terms]
    R = np.pad(program.matrix, ((0, 0), (0, total - n)))
    return ConeProgram(R, program.target, c, tuple(constraints))


def _lower_by_columns(order: int) -> tuple[IntArray, IntArray]:
    columns, rows = np.triu_indices(order)
    return rows, columns


def _schur(matrix: Semidefinite, Z: IntArray, total: int) -> Semidefinite:
    d, n = matrix.constant.shape[0], matrix.variables
    F0 = np.zeros((2 * d, 2 * d))
    F0[:d, :d] = matrix.constant
    F = np.zeros((total, 2 * d, 2 * d))
    F[:n, :d, :d] = matrix.coefficients
    rows, columns = _lower_by_columns(d)
    F[Z, rows, d + columns] = F[Z, d + columns, rows] = 1.0
    on_diagonal = rows == columns
    F[Z[on_diagonal], d + rows[on_diagonal], d + rows[on_diagonal]] = 1.0
    return Semidefinite(F0, F)


def _logarithms(Z: IntArray, tau: IntArray, total: int) -> Exponential:
    """The triples (τ_j, 1, Z_jj)."""
    d = tau.size
    rows, columns = _lower_by_columns(d)
    A: Array = np.zeros((d, 3, total))
    A[np.arange(d), 0, tau] = -1.0
    A[np.arange(d), 2, Z[rows == columns]] = -1.0
    return Exponential(A, np.tile([0.0, 1.0, 0.0], (d, 1)))


def _sum(t: int, tau: IntArray, total: int) -> AtMost:
    A = np.zeros((1, total))
    A[0, t] = 1.0
    A[0, tau] = -1.0
    return AtMost(A, np.zeros(1))
