"""A polytope given by intervals: rows of a matrix and a box of variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, ShapeError


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
