r"""Constraints on a vector x, each a frozen statement that an affine image of x lies in a cone.

Every constraint can be read as $b - A x \in K$. Its *multiplier* z lies in the dual cone $K^*$, has the
natural shape of the constraint (a matrix for `Semidefinite`), and enters the Lagrangian as
$-\langle z, b - A x\rangle$.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import ShapeError


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
