r"""The payloads that bounded equations and a prior admit, as a polytope in scaled variables.

Variables are $x = (\theta, \delta)$ in sizes near one and rows have errors near one, both by powers of two,
so that nothing is rounded; the sides $y \pm b$ are rounded outwards. Left out are rows that no point of the
box can break, and parameters of the robot that are exact or in no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked, keep_checked
from steelyard.cones import LinearProgram, LinearSeries, LinearSolution
from steelyard.errors import InputError, SolverError

# Powers of two as units: scaling by them rounds nothing.


def power_of_two(sizes: Array) -> Array:
    """The powers of two nearest to some sizes, one for a size of zero.

    Args:
        sizes: not negative, any shape and unit.

    Returns:
        Powers of two, same shape and unit.
    """
    exponents = np.rint(np.log2(np.where(sizes > 0.0, sizes, 1.0)))
    return np.asarray(np.exp2(np.clip(exponents, -300.0, 300.0)))


# What a payload can be before it is weighed: intervals of its ten numbers, and what binds them together.
#
# A body of density $\rho \ge 0$ inside the ball of radius $\ell$ about c satisfies
#
# $$\int \rho(x)\,(\ell^2 - |x - c|^2)\,dx
#   = (\ell^2 - |c|^2)\,m + 2\,c^T h - \tfrac12 \operatorname{tr} I \ge 0,$$
#
# and each of its first moments is the mass times a place inside: both are linear in the ten numbers.

_OUTWARD = 1.0 + 1e-12  # more than rounding can take from a product of three numbers
_PRODUCTS = ((5, 0, 1), (7, 0, 2), (8, 1, 2))
_MOMENTS = ((4, 1, 2), (6, 0, 2), (9, 0, 1))


@dataclass(frozen=True, eq=False)
class PayloadBox:
    r"""The payloads with $l \le \theta \le u$ and $G\,\theta \le g$.

    Attributes:
        lower: l, of the ten numbers in the payload's frame, finite, shape (10,), SI.
        upper: u, shape (10,), SI.
        conditions: G, shape (k, 10), SI.
        limits: g, shape (k,), SI.
        meaning: what is assumed of the payload, in words.
    """

    lower: Array
    upper: Array
    conditions: Array
    limits: Array
    meaning: str

    def __post_init__(self) -> None:
        k = len(checked("limits", self.limits, ("k",)))
        if k == 0:  # no rows have no width in a file
            object.__setattr__(self, "conditions", np.zeros((0, 10)))
        keep_checked(self, (10,), "lower", "upper")
        keep_checked(self, (k, 10), "conditions")
        keep_checked(self, (k,), "limits")
        if (self.lower > self.upper).any():
            raise InputError("lies above the upper end.", place="lower")

    @classmethod
    def between(cls, lower: ArrayLike, upper: ArrayLike) -> PayloadBox:
        """Intervals of the ten numbers and nothing else.

        Args:
            lower: lower ends, shape (10,), SI.
            upper: upper ends, shape (10,), SI.

        Raises:
            InputError: a lower end lies above its upper one.
        """
        low, high = checked("lower", lower, (10,)), checked("upper", upper, (10,))
        words = "The payload's ten numbers lie within the stated intervals."
        return cls(low, high, np.zeros((0, 10)), np.zeros(0), words)

    @classmethod
    def in_ball(cls, heaviest: float, extent: float, centre: ArrayLike = (0.0, 0.0, 0.0)) -> PayloadBox:
        r"""Every body up to a mass, all of it inside a ball.

        The intervals are those of the moments over the ball, $I_{xx} \le m\,(\ell + \sqrt{c_y^2 + c_z^2})^2$
        and $-\tfrac14(|c_x - c_y| + \sqrt2\,\ell)^2 \le xy \le \tfrac14(|c_x + c_y| + \sqrt2\,\ell)^2$.

        Args:
            heaviest: largest mass, kg.
            extent: radius of the ball, m.
            centre: c, of the ball in the payload's frame, shape (3,), m.

        Returns:
            The box, with the linear conditions of this file.

        Raises:
            InputError: the mass or the radius is not positive and finite.
        """
        for name, value in (("heaviest", heaviest), ("extent", extent)):
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        c, e = checked("centre", centre, (3,)), float(extent)
        low, high = np.zeros(10), np.zeros(10)
        high[0] = 1.0
        low[1:4], high[1:4] = np.minimum(c - e, 0.0), np.maximum(c + e, 0.0)
        for k, i, j in _MOMENTS:
            high[k] = (e + np.hypot(c[i], c[j])) ** 2
        for k, i, j in _PRODUCTS:
            low[k] = -0.25 * (abs(c[i] + c[j]) + np.sqrt(2.0) * e) ** 2
            high[k] = 0.25 * (abs(c[i] - c[j]) + np.sqrt(2.0) * e) ** 2
        G = np.zeros((7, 10))
        G[0, 0], G[0, 1:4], G[0, [4, 6, 9]] = c @ c / _OUTWARD - e**2 * _OUTWARD, -2.0 * c, 0.5
        for axis in range(3):
            G[1 + axis, [0, 1 + axis]] = c[axis] - e * _OUTWARD, -1.0
            G[4 + axis, [0, 1 + axis]] = -c[axis] - e * _OUTWARD, 1.0
        place = np.array2string(c, precision=4, separator=", ")
        words = (
            f"The payload weighs at most {heaviest:g} kg and lies within {e:g} m of {place} m of its frame."
        )
        mass = heaviest * _OUTWARD
        return cls(mass * low, mass * high, G, np.zeros(7), words)

    def narrowed(self, lower: ArrayLike, upper: ArrayLike) -> PayloadBox:
        """The same payloads within smaller intervals, as bounds from earlier data give them.

        Args:
            lower: lower ends, shape (10,), SI.
            upper: upper ends, shape (10,), SI.

        Returns:
            The box; it assumes nothing more than this one and what the bounds assume.

        Raises:
            InputError: the intervals do not meet.
        """
        low, high = checked("lower", lower, (10,)), checked("upper", upper, (10,))
        return replace(self, lower=np.maximum(low, self.lower), upper=np.minimum(high, self.upper))

    @property
    def centre(self) -> Array:
        """Middle of the intervals, shape (10,), SI."""
        return np.asarray(0.5 * self.lower + 0.5 * self.upper)

    @property
    def spread(self) -> Array:
        """Half their width, shape (10,), SI."""
        return np.asarray(0.5 * (self.upper - self.lower))

    @property
    def largest(self) -> Array:
        """Largest size of each number, shape (10,), SI."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))


# Equations for what an arm holds, with errors that are bounded rather than random.
#
# $$|\,y - A\,\theta - B\,\delta\,| \le b, \qquad |\delta| \le d,$$
#
# row by row: $\theta$ the ten numbers of the payload, $\delta$ how far the robot's own parameters are from
# the values that y was made with. Nothing is said about how errors are distributed, only how large they can
# be.

TEN = 10
"""Numbers of a payload."""


@dataclass(frozen=True)
class Place:
    """Where an equation comes from, so that a contradiction can be shown to a person.

    Attributes:
        joint: whose torque.
        begin: when the measurement begins, s.
        end: when it ends, s; equal to `begin` for a single sample.
        run: of which run, where that is not clear.
    """

    joint: str
    begin: float
    end: float
    run: str = ""

    def __str__(self) -> str:
        return f"{self.joint}, {self.begin:.3f} to {self.end:.3f} s{self.run and ' of '}{self.run}"


@dataclass(frozen=True, eq=False)
class BoundedRows:
    r"""The equations $|y - A\theta - B\delta| \le b$ with $|\delta| \le d$.

    Attributes:
        load: A, of the payload's ten parameters in its own frame, shape (m, 10), SI.
        robot: B, of the robot's parameters and of each joint's delay where that is unknown, shape (m, p), SI.
        target: y, what is measured less what the robot at its stated parameters explains, shape (m,), SI.
        error: b, largest error of each row, shape (m,), SI.
        spread: d, largest error of each of these, shape (p,), SI.
        places: where each row comes from.
        assumptions: what the bounds rest on, in words; whoever reports a guarantee lists them.
        untested: those of them that the data cannot show wrong, or only where they are far off.
    """

    load: Array
    robot: Array
    target: Array
    error: Array
    spread: Array
    places: tuple[Place, ...]
    assumptions: tuple[str, ...] = ()
    untested: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        m = len(checked("target", self.target, ("m",)))
        p = len(checked("spread", self.spread, ("p",)))
        keep_checked(self, (m, TEN), "load")
        keep_checked(self, (m, p), "robot")
        keep_checked(self, (m,), "target", "error")
        keep_checked(self, (p,), "spread")
        for name in ("error", "spread"):
            if (getattr(self, name) < 0.0).any():
                raise InputError("must not be negative.", place=name)
        if len(self.places) != m:
            raise InputError(f"{len(self.places)} for {m} rows.", place="places")

    @property
    def count(self) -> int:
        """Number of rows m."""
        return len(self.target)

    def chosen(self, rows: Sequence[int] | np.ndarray) -> BoundedRows:
        """Some of the rows.

        Args:
            rows: which, shape (k,), dimensionless.

        Returns:
            Rows with the same robot.
        """
        index = np.asarray(rows, dtype=np.int64)
        return replace(
            self,
            load=self.load[index],
            robot=self.robot[index],
            target=self.target[index],
            error=self.error[index],
            places=tuple(self.places[int(k)] for k in index),
        )

    @staticmethod
    def joined(parts: Sequence[BoundedRows]) -> BoundedRows:
        """The rows of several runs of one robot.

        Args:
            parts: with the same robot parameters and spread.

        Returns:
            All rows, in order.

        Raises:
            InputError: there is none, or they disagree about the robot.
        """
        if not parts:
            raise InputError("at least one is needed.", place="parts")
        if any(not np.array_equal(part.spread, parts[0].spread) for part in parts):
            raise InputError("disagree about how far the robot's parameters may be off.", place="parts")
        return BoundedRows(
            np.concatenate([part.load for part in parts]),
            np.concatenate([part.robot for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate([part.error for part in parts]),
            parts[0].spread,
            tuple(place for part in parts for place in part.places),
            tuple(dict.fromkeys(words for part in parts for words in part.assumptions)),
            tuple(dict.fromkeys(words for part in parts for words in part.untested)),
        )


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
