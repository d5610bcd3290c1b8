"""The smallest box around a polytope, with ends that are guaranteed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.cones.failures import UnboundedError
from steelyard.cones.linear import LinearSeries
from steelyard.cones.polytope import LinearProgram
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class Box:
    """Intervals that hold chosen variables of a polytope.

    Attributes:
        variables: which variables, shape (k,), dimensionless.
        lower: guaranteed lower ends, minus infinity where there is none, shape (k,), the program's units.
        upper: guaranteed upper ends, infinity where there is none, shape (k,), the program's units.
        lower_reached: smallest values found, up to the solver's tolerance, shape (k,), the program's units.
        upper_reached: largest values found, up to the solver's tolerance, shape (k,), the program's units.
        iterations: simplex iterations of all solves together.
    """

    variables: IntArray
    lower: Array
    upper: Array
    lower_reached: Array
    upper_reached: Array
    iterations: int


def bounding_box(program: LinearProgram, variables: Sequence[int] | IntArray | None = None) -> Box:
    """The interval hull of a polytope: two warm-started linear programs for each variable.

    Each guaranteed end is the safe dual bound of its program, or the variable's own bound where that is
    tighter. A direction in which the polytope is endless gives an infinite end.

    Args:
        program: the polytope.
        variables: which variables to enclose, shape (k,), dimensionless; all of them when None.

    Returns:
        The box.

    Raises:
        InfeasibleError: the polytope is empty.
        InputError: an index is out of range.
    """
    n = program.variables
    chosen = np.arange(n) if variables is None else np.asarray(variables, dtype=np.int64)
    if chosen.ndim != 1 or ((chosen < 0) | (chosen >= n)).any():
        raise InputError(
            f"must be a list of indices from 0 to {n - 1}, got {variables}.",
            place="variables",
        )
    series = LinearSeries(program)
    reached, guaranteed, iterations = np.empty((2, chosen.size)), np.empty((2, chosen.size)), 0
    # All minima first, then all maxima: neighbouring objectives then share more of their basis.
    for side, sign in enumerate((1.0, -1.0)):
        for place, j in enumerate(chosen):
            c = np.zeros(n)
            c[j] = sign
            try:
                solution = series.minimise(c)
            except UnboundedError:
                reached[side, place] = guaranteed[side, place] = -sign * np.inf
                continue
            reached[side, place] = sign * solution.value
            guaranteed[side, place] = sign * solution.bound
            iterations += solution.iterations
    return Box(
        variables=read_only(chosen),
        lower=read_only(np.maximum(guaranteed[0], program.lower[chosen])),
        upper=read_only(np.minimum(guaranteed[1], program.upper[chosen])),
        lower_reached=read_only(reached[0]),
        upper_reached=read_only(reached[1]),
        iterations=iterations,
    )
