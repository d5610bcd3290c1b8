"""Log-determinants of affine matrices, stated by semidefinite and exponential cones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.cones.constraints import AtMost, Constraint, Exponential, Semidefinite
from steelyard.cones.program import ConeProgram
from steelyard.errors import InputError, ShapeError


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
