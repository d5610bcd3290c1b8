r"""Guaranteed bounds on a payload: the interval hull of all payloads that explain the data.

Every payload θ for which some robot $|\delta| \le d$ and some errors $|e| \le b$ give
$y = A\theta + B\delta + e$ is possible, and no other. Over this polytope each of the ten numbers has a least
and a largest value, two linear programs whose dual bounds are safe against rounding (`cones`). The same with
the pseudo-inertia positive semidefinite leaves out what no body can be (`guaranteed_lmi`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.cones import InfeasibleError
from steelyard.errors import SolverError
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows
from steelyard.uncertainty.contradiction import contradiction_of
from steelyard.uncertainty.guaranteed_lmi import possible_ends
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.payload_polytope import PayloadPolytope
from steelyard.uncertainty.theorem13_both import Theorem13

GIVEN = "Every equation is within its stated error, every robot parameter within its stated spread."
CAN_EXIST = "The payload is a body that can exist: its mass density is nowhere negative."


@dataclass(frozen=True, eq=False)
class GuaranteedBounds:
    """Intervals that hold the payload if the assumptions hold.

    Attributes:
        lower: guaranteed lower ends of the ten numbers in the payload's frame, shape (10,), SI.
        upper: guaranteed upper ends, shape (10,), SI.
        lower_reached: smallest values that were found to be possible, up to the solver's tolerance, shape
            (10,), SI.
        upper_reached: largest ones, shape (10,), SI.
        prior: what the payload could be before.
        rows: number of equations.
        possible: whether only bodies that can exist were looked at.
        assumptions: what the guarantee rests on, in words.
        untested: those of them that the data cannot show wrong, or only where they are far off.
        needed: smallest share of the equations' errors with which some payload explains the data, up to the
            solver's tolerance, dimensionless; near one, an assumption may be broken. None where not asked.
        theorem13: what paper 000's theorem says of the same equations; None where it was not asked.
    """

    lower: Array
    upper: Array
    lower_reached: Array
    upper_reached: Array
    prior: PayloadBox
    rows: int
    possible: bool
    assumptions: tuple[str, ...]
    untested: tuple[str, ...] = ()
    needed: float | None = None
    theorem13: Theorem13 | None = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "lower_reached", "upper_reached"):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), (TEN,))))

    @property
    def middle(self) -> Array:
        """Middle of the intervals, shape (10,), SI; it need not be a payload that explains the data."""
        return np.asarray(0.5 * self.lower + 0.5 * self.upper)

    @property
    def half_width(self) -> Array:
        """Half their width, shape (10,), SI."""
        return np.asarray(0.5 * (self.upper - self.lower))

    @property
    def prior_decides(self) -> BoolArray:
        """Which numbers have an end that is the prior's own, shape (10,), dimensionless."""
        return np.asarray((self.lower <= self.prior.lower) | (self.upper >= self.prior.upper))

    def against(self, prior: PayloadBox) -> GuaranteedBounds:
        """The same bounds, judged against what was known before any data.

        Args:
            prior: a box that holds the one these bounds were made with.

        Returns:
            Bounds whose `prior_decides` refers to it.
        """
        return replace(self, prior=prior)

    def contains(self, ten: ArrayLike) -> bool:
        """Whether ten numbers are inside.

        Args:
            ten: numbers of a payload in the same frame, shape (10,), SI.

        Returns:
            Whether all are within their intervals.
        """
        theta = checked("ten", ten, (TEN,))
        return bool(((self.lower <= theta) & (theta <= self.upper)).all())


def guaranteed_bounds(rows: BoundedRows, prior: PayloadBox, *, possible: bool = False) -> GuaranteedBounds:
    """The smallest box around all payloads that explain the data.

    Args:
        rows: equations with bounded errors.
        prior: what the payload can be; where rows were made with a prior, this one may be smaller, not
            larger.
        possible: whether to leave out payloads whose pseudo-inertia is not positive semidefinite; tightens
            the inertias most, and takes several times as long.

    Returns:
        The bounds, with all that they assume.

    Raises:
        ContradictionError: no payload explains the data: an assumption is wrong. Stop, and believe none of
            the bounds; the error says which equations contradict each other, and by how much.
        SolverError: a solver gave up without showing a contradiction.
    """
    polytope = PayloadPolytope.of(rows, prior)
    try:
        ends = tuple(tuple(polytope.minimise(number, sign) for number in range(TEN)) for sign in (1.0, -1.0))
        found = np.array([[(end.bound, end.value) for end in side] for side in ends])
        if possible:
            found = possible_ends(polytope, prior, ends)
    except (InfeasibleError, SolverError) as error:
        raise contradiction_of(rows, prior, possible=possible) from error
    size = polytope.columns[:TEN]
    (lower, least), (minus_upper, minus_most) = np.moveaxis(found, 2, 1) * size
    return GuaranteedBounds(
        np.maximum(lower, prior.lower),
        np.minimum(-minus_upper, prior.upper),
        least,
        -minus_most,
        prior,
        rows.count,
        possible,
        tuple(dict.fromkeys((GIVEN, *rows.assumptions, prior.meaning, *((CAN_EXIST,) if possible else ())))),
        tuple(dict.fromkeys((*rows.untested, prior.meaning))),
    )
