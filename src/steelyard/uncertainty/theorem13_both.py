"""Both forms of paper 000's Theorem 13 on one set of equations, to stand beside the guaranteed bounds."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.uncertainty.bounded_rows import BoundedRows
from steelyard.uncertainty.theorem13 import LinearBounds, linear_bounds
from steelyard.uncertainty.theorem13_log_cholesky import LogCholeskyBounds, Minimiser, log_cholesky_bounds


@dataclass(frozen=True, eq=False)
class Theorem13:
    """What the theorem answers.

    Attributes:
        linear: its linear form, a guarantee; the interval hull of the same equations is nowhere wider.
        log_cholesky: as it is published; a guarantee only where its minimiser exists everywhere.
    """

    linear: LinearBounds
    log_cholesky: LogCholeskyBounds

    @property
    def sentence(self) -> str:
        """Whether the published form has the minimiser that it asks for."""
        found = self.log_cholesky
        if found.minimiser is Minimiser.EVERYWHERE:
            return f"Its log-Cholesky form has its minimiser {found.minimiser.value}: it is the linear form."
        if found.minimiser is Minimiser.HERE:
            return f"Its log-Cholesky form has its minimiser {found.minimiser.value}: no guarantee."
        return f"Its log-Cholesky form has no minimiser, so no guarantee: {found.reason}"


def theorem13_of(rows: BoundedRows) -> Theorem13:
    """Ask both forms of the theorem, with every equation weighted alike as the paper does.

    Args:
        rows: the equations.

    Returns:
        Their answers.
    """
    return Theorem13(linear_bounds(rows), log_cholesky_bounds(rows))
