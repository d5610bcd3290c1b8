"""A convex program in the one form the house needs: a sum of squares and a line, under cone constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones.constraints import AtMost, Constraint, Equal, Exponential, SecondOrder, Semidefinite
from steelyard.errors import InputError, ShapeError


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

        Returns:
            The program.
        """
        R = checked("matrix", matrix, ("k", "n"))
        return cls(R, checked("target", target, (R.shape[0],)), np.zeros(R.shape[1]), tuple(constraints))

    @classmethod
    def minimise_linear(cls, linear: ArrayLike, constraints: Iterable[Constraint] = ()) -> ConeProgram:
        r"""Minimise $c^T x$.

        Args:
            linear: c, shape (n,), any unit.
            constraints: what x must satisfy.

        Returns:
            The program.
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
