r"""Guaranteed bounds on a payload: the interval hull of all payloads that explain the data.

Every payload θ for which some robot $|\delta| \le d$ and some errors $|e| \le b$ give
$y = A\theta + B\delta + e$ is possible, and no other. Over this polytope each of the ten numbers has a least
and a largest value, two linear programs whose dual bounds are safe against rounding (`cones`). The same with
the pseudo-inertia positive semidefinite leaves out what no body can be (`possible_ends`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked, keep_checked, read_only
from steelyard.cones import (
    AtMost,
    ConeProgram,
    InfeasibleError,
    LinearProgram,
    LinearSolution,
    Semidefinite,
    minimise_linear,
    safe_conic_bound,
    solve,
)
from steelyard.errors import InputError, NoSolutionError, SolverError
from steelyard.inertia import pseudo_inertia
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.error_bounds import ErrorBounds, require_one_motion
from steelyard.uncertainty.momentum_windows import WINDOW, Grip, bounded_rows
from steelyard.uncertainty.payload_polytope import (
    TEN,
    BoundedRows,
    PayloadBox,
    PayloadPolytope,
    Place,
    power_of_two,
)

# Guaranteed bounds over bodies that can exist: $J(\theta) \succeq 0$ beside the linear equations.
#
# A cone program with all rows is slow, and few of them matter for one end of one number. Each program starts
# with the rows that hold the linear one up, and takes in what its solution breaks. Leaving rows out makes the
# set larger, so the safe dual bound of every such program is a guaranteed end.

ROUNDS = 20
"""Most cone programs for one end."""
ADDED = 25
"""Broken rows that the next program takes in, the worst first."""
TOLERANCE = 1e-7
"""Of the cone programs, and of a row that counts as broken, in parts of its error."""


def possible_ends(
    polytope: PayloadPolytope, prior: PayloadBox, ends: Sequence[Sequence[LinearSolution]]
) -> Array:
    """Tighten the ends of the ten intervals.

    Args:
        polytope: the set without the condition.
        prior: what the payload can be.
        ends: solutions of the linear programs, the ten lower ends, then those of the negatives.

    Returns:
        Guaranteed and reached least value of each number, then of its negative, in scaled variables, shape
        (2, 10, 2), dimensionless.

    Raises:
        InfeasibleError: no body that can exist explains the data.
    """
    size = polytope.columns[:TEN]
    hull = np.array([[end.bound for end in side] for side in ends])
    box = polytope.within(np.maximum(hull[0] * size, prior.lower), np.minimum(-hull[1] * size, prior.upper))
    condition = pseudo_inertia_condition(polytope, prior)
    found = np.empty((2, TEN, 2))
    for side, sign in enumerate((1.0, -1.0)):
        for number, end in enumerate(ends[side]):
            found[side, number] = end.bound, end.value
            if np.linalg.eigvalsh(condition.slack(end.x))[0] >= 0.0:
                continue
            objective = polytope.objective(number, sign)
            found[side, number] = _end(polytope, condition, box, objective, end)
    return found


def pseudo_inertia_condition(polytope: PayloadPolytope, prior: PayloadBox) -> Semidefinite:
    r"""$J(\theta) \succeq 0$ in scaled variables, lengths measured in the size of the payload.

    Args:
        polytope: whose variables.
        prior: how large the payload can be.

    Returns:
        The condition; its matrix has entries near one, and powers of two keep it exact.
    """
    mass, second = prior.largest[0], prior.largest[[4, 6, 9]].max()
    length = np.sqrt(second / mass) if mass > 0.0 and second > 0.0 else 1.0
    unit = 1.0 / power_of_two(np.array([length, length, length, 1.0]))
    J = pseudo_inertia(np.diag(polytope.columns[:TEN])) * unit[:, None] * unit
    coefficients = np.zeros((len(polytope.columns), 4, 4))
    coefficients[:TEN] = J / power_of_two(np.array([mass]))
    return Semidefinite(np.zeros((4, 4)), coefficients)


def _end(
    polytope: PayloadPolytope,
    condition: Semidefinite,
    box: tuple[Array, Array],
    objective: Array,
    linear: LinearSolution,
) -> tuple[float, float]:
    """Guaranteed and reached least value of an objective."""
    A, b = polytope.sides
    y = linear.row_duals
    taken = np.concatenate([y < 0.0, y > 0.0])[polytope.finite_sides]
    unit = np.eye(polytope.program.variables)
    edges = AtMost(np.vstack([unit, -unit]), np.concatenate([box[1], -box[0]]))
    bound, value = linear.bound, linear.value
    for _ in range(ROUNDS):
        program = ConeProgram.minimise_linear(objective, (condition, edges, AtMost(A[taken], b[taken])))
        try:
            solution = solve(program, tolerance=TOLERANCE, accept_reduced=True)
        except SolverError:
            break  # what was proven so far holds
        bound = max(bound, safe_conic_bound(program, solution.x, solution.multipliers, *box))
        value = solution.value
        excess = np.where(taken, 0.0, A @ solution.x - b)
        worst = np.argsort(-excess)[:ADDED]
        worst = worst[excess[worst] > TOLERANCE]
        if not worst.size:
            break
        taken[worst] = True
    return bound, value


# When no payload explains the data: which equations contradict each other, and by how much.
#
# The smallest s for which some payload of the prior satisfies $|y - A\theta - B\delta| \le s\,b$ is a linear
# program. Beyond one the stated errors are too small, and its multipliers are the proof: weights of the rows,
# which add up to one when each counts by its error.

MOST_GROWTH = 1e4
"""Factor of the errors beyond which it is not asked for."""
NAMED = 3
"""Rows that the message names."""
LEAST_SHARE = 1e-6
"""Of a row that counts as part of a contradiction."""


class ContradictionError(NoSolutionError):
    """No payload explains the data: an assumption is wrong, and no bound derived from it holds.

    Attributes:
        growth: how many times larger the errors of the equations would have to be, at least, dimensionless;
            infinite where no growth helps.
        rows: the equations that contradict each other, strongest first, shape (k,), dimensionless.
        shares: what each has in the contradiction, adding up to one, shape (k,), dimensionless.
        places: where each comes from.
    """

    def __init__(self, growth: float, rows: IntArray, shares: Array, places: tuple[Place, ...]) -> None:
        """State the contradiction.

        Args:
            growth: factor by which the errors would have to grow, dimensionless.
            rows: indices of the equations, strongest first, shape (k,), dimensionless.
            shares: of each in the contradiction, shape (k,), dimensionless.
            places: where each comes from.
        """
        self.growth = growth
        self.rows, self.shares, self.places = read_only(rows), read_only(shares), places
        listed = "; ".join(
            f"{place} ({100.0 * share:.0f} %)" for place, share in zip(places[:NAMED], shares, strict=False)
        )
        more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
        which = f"These equations contradict each other: {listed}{more}." if places else ""
        factor = f"{growth:.3g}" if np.isfinite(growth) else f"more than {MOST_GROWTH:g}"
        super().__init__(
            "no payload explains the data: its errors would have to be at least "
            f"{factor} times as large as stated. {which}",
            remedy="An assumption is wrong: stop. Check the sensors, the stated errors and the model, and "
            "whether something touched the arm.",
            evidence={"growth": growth, "rows": self.rows, "shares": self.shares},
        )


@dataclass(frozen=True, eq=False)
class ErrorGrowth:
    """How far the stated errors are from what the data needs.

    Attributes:
        factor: smallest factor of the errors with which some payload explains the data, up to the solver's
            tolerance, dimensionless; below one, that share of the stated errors would have been enough.
        proven: a factor below which none does, in exact arithmetic, dimensionless.
        shares: what each row has in it, shape (m,), dimensionless.
    """

    factor: float
    proven: float
    shares: Array


def error_growth(rows: BoundedRows, prior: PayloadBox, *, possible: bool = False) -> ErrorGrowth:
    """The smallest factor of the rows' errors with which some payload explains the data.

    Args:
        rows: equations with bounded errors; the spread of the robot's parameters stays as it is.
        prior: what the payload can be.
        possible: whether the payload must be a body that can exist.

    Returns:
        The factor and the rows that decide it.

    Raises:
        InfeasibleError: not even `MOST_GROWTH` is enough; the evidence holds the multipliers.
    """
    polytope = PayloadPolytope.of(rows, prior, every=True)
    program = _growing(polytope)
    condition = pseudo_inertia_condition(polytope, prior).extended(1) if possible else None
    factor, proven, weights = _least(program) if condition is None else _least_possible(program, condition)
    return ErrorGrowth(factor, proven, read_only(_shares(polytope, weights)))


def contradiction_of(
    rows: BoundedRows, prior: PayloadBox, *, possible: bool = False
) -> ContradictionError | SolverError:
    """The contradiction in equations that no payload satisfies.

    Args:
        rows: equations with bounded errors.
        prior: what the payload can be.
        possible: whether the payload must be a body that can exist.

    Returns:
        The error to raise: the contradiction with its proof, or that there is none after all.
    """
    try:
        growth = error_growth(rows, prior, possible=possible)
        least, shares = growth.proven, growth.shares
    except InfeasibleError as error:
        ray = error.evidence.get("ray")
        weights = np.abs(ray) if isinstance(ray, np.ndarray) else np.zeros(2 * rows.count)
        least, shares = np.inf, _shares(PayloadPolytope.of(rows, prior, every=True), weights)
    if least <= 1.0:
        return SolverError(
            "no payload was found, yet no contradiction could be shown: at least "
            f"{least:.6g} of the stated errors are needed.",
            remedy="State larger errors (--torque-error, --velocity-error, --model-error).",
            evidence={"growth": least},
        )
    order = np.argsort(-shares, kind="stable")[: int((shares > LEAST_SHARE).sum())]
    return ContradictionError(least, order, shares[order], tuple(rows.places[int(k)] for k in order))


def _growing(polytope: PayloadPolytope) -> LinearProgram:
    """The polytope in one more variable s, the factor of the errors: first lower sides, then upper ones."""
    at, m = polytope.program, polytope.count
    A, G, b, y = at.matrix[:m], at.matrix[m:], polytope.errors[:, None], polytope.targets
    none = np.full(m, np.inf)
    return LinearProgram(
        np.block([[A, b], [A, -b], [G, np.zeros((len(G), 1))]]),
        np.concatenate([y, -none, at.row_lower[m:]]),
        np.concatenate([none, y, at.row_upper[m:]]),
        np.append(at.lower, 0.0),
        np.append(at.upper, MOST_GROWTH),
    )


def _least(program: LinearProgram) -> tuple[float, float, Array]:
    """The factor, a proven bound on it, and the weight of each row."""
    found = minimise_linear(program, np.eye(program.variables)[-1])
    return found.value, found.bound, np.abs(found.row_duals)


def _least_possible(program: LinearProgram, condition: Semidefinite) -> tuple[float, float, Array]:
    above, below = np.isfinite(program.row_upper), np.isfinite(program.row_lower)
    A, unit = program.matrix, np.eye(program.variables)
    cone = ConeProgram.minimise_linear(
        unit[-1],
        (
            AtMost(A[above], program.row_upper[above]),
            AtMost(-A[below], -program.row_lower[below]),
            AtMost(np.vstack([unit, -unit]), np.concatenate([program.upper, -program.lower])),
            condition,
        ),
    )
    found = solve(cone, accept_reduced=True)
    weights = np.zeros(program.rows)
    weights[above] += found.multipliers[0]
    weights[below] += found.multipliers[1]
    bound = safe_conic_bound(cone, found.x, found.multipliers, program.lower, program.upper)
    return found.value, bound, weights


def _shares(polytope: PayloadPolytope, weights: Array) -> Array:
    """Weights of both sides of each row, counted by its error, adding up to one, shape (m,)."""
    m = polytope.count
    both = weights[:m] + weights[m : 2 * m]
    counted = both * polytope.errors
    counted = counted if counted.any() else both
    return np.asarray(counted / max(float(counted.sum()), np.finfo(float).tiny))


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

    def __post_init__(self) -> None:
        keep_checked(self, (TEN,), "lower", "upper", "lower_reached", "upper_reached")

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

    @property
    def com_bounds(self) -> Array:
        """Bounds of the centre of mass, c = h / m over the box of first moments and mass.

        Returns:
            Lower and upper ends in rows, shape (2, 3), m; infinite where the mass may be zero.
        """
        masses = np.array([self.lower[0], self.upper[0]])
        if not masses[0] > 0.0:
            return np.array([[-np.inf] * 3, [np.inf] * 3])
        corners = np.array([h[1:4] / m for h in (self.lower, self.upper) for m in masses])
        # A division is rounded to nearest: one step outwards holds what it stands for.
        return np.array(
            [np.nextafter(corners.min(axis=0), -np.inf), np.nextafter(corners.max(axis=0), np.inf)]
        )


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


# Guaranteed bounds that shrink as equations arrive, at a cost that does not grow with their number.
#
# What is known is the polytope of all $(\theta, \delta)$ that the equations admit. Three observations keep it
# small and the work short:
#
# - a row that no point of the present box can break says nothing, now or later, for boxes only shrink;
# - an end of the box stays where it is as long as the vertex that reached it breaks no new row;
# - leaving a row out makes the polytope larger, so bounds stay true whichever rows are let go.
#
# When more rows are left than there is room for, those stay that hold an end of the box up (their multipliers
# are not zero), then those nearest to the vertices. The box itself is never forgotten.

ROOM = 200
"""Rows that are remembered: 100 kept each width of a seven-joint arm within 1.05 of the hull of 2100 rows."""
TOUCH = 1e-9
"""Share of its error by which a vertex may break a row and still count as allowed."""


@dataclass(frozen=True, eq=False)
class RecursiveBounds:
    """Intervals of a payload's ten numbers, given all equations so far.

    Attributes:
        prior: what the payload could be before the first equation.
        box: what it can be now.
        remembered: the rows that are still used.
        vertices: a point (θ, δ) at which each end was reached, first the ten lower ones, not a number where
            none was yet, shape (20, 10 + p), SI.
        pulls: how far each end would move if the error of a remembered row doubled, shape (20, k), SI.
        room: most rows that are remembered.
        seen: number of rows absorbed.
        let_go: how many of them were left out although they might have said something; while it is zero, the
            bounds are the exact interval hull of all rows.
    """

    prior: PayloadBox
    box: PayloadBox
    remembered: BoundedRows
    vertices: Array
    pulls: Array
    room: int
    seen: int = 0
    let_go: int = 0

    @classmethod
    def starting(cls, prior: PayloadBox, spread: ArrayLike, *, room: int = ROOM) -> RecursiveBounds:
        """What is known before the first equation.

        Args:
            prior: what the payload can be.
            spread: d, largest error of each of the robot's parameters, shape (p,), SI.
            room: most rows that are remembered.

        Returns:
            The prior.

        Raises:
            InputError: there is no room.
        """
        if room < 1:
            raise InputError(f"must be at least 1, got {room}.", place="room")
        d = checked("spread", spread, ("p",))
        none = BoundedRows(np.zeros((0, TEN)), np.zeros((0, d.size)), np.zeros(0), np.zeros(0), d, ())
        vertices = np.full((2 * TEN, TEN + d.size), np.nan)
        return cls(prior, prior, none, read_only(vertices), read_only(np.zeros((2 * TEN, 0))), room)

    @property
    def lower(self) -> Array:
        """Guaranteed lower ends, shape (10,), SI."""
        return self.box.lower

    @property
    def upper(self) -> Array:
        """Guaranteed upper ends, shape (10,), SI."""
        return self.box.upper

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee rests on, in words."""
        return tuple(dict.fromkeys((GIVEN, *self.remembered.assumptions, self.prior.meaning)))

    def absorb(self, rows: BoundedRows) -> RecursiveBounds:
        """The bounds after further equations.

        Args:
            rows: equations of the same robot; best some windows of all joints at a time.

        Returns:
            Bounds that are nowhere wider.

        Raises:
            ContradictionError: no payload explains all rows: an assumption is wrong. Stop, and believe none
                of the bounds.
            InputError: the rows are of another robot.
        """
        vertices, box = self.vertices.copy(), self.box
        pulls = np.hstack([self.pulls, np.zeros((2 * TEN, rows.count))])
        known, pulls = _telling(BoundedRows.joined([self.remembered, rows]), pulls, box)
        broken = ~(_slack(known, vertices).min(axis=1, initial=np.inf) >= -TOUCH)
        if broken.any():
            box = self._tightened(known, np.flatnonzero(broken), vertices, pulls)
            known, pulls = _telling(known, pulls, box)
        stay = self._worth_remembering(known, vertices, pulls, box)
        return replace(
            self,
            box=box,
            remembered=known.chosen(stay),
            vertices=read_only(vertices),
            pulls=read_only(pulls[:, stay]),
            seen=self.seen + rows.count,
            let_go=self.let_go + known.count - len(stay),
        )

    def _tightened(self, known: BoundedRows, ends: IntArray, vertices: Array, pulls: Array) -> PayloadBox:
        """The box with some of its ends computed anew; writes their vertices and pulls."""
        polytope = PayloadPolytope.of(known, self.box)
        # The polytope leaves out robot parameters that are exact or in no row; vertices have them at zero.
        used = np.flatnonzero((known.spread > 0.0) & known.robot.any(axis=0))
        columns = np.concatenate([np.arange(TEN), TEN + used])
        edges = np.array([self.lower, -self.upper])
        for k in ends:
            side, number = divmod(int(k), TEN)
            vertices[k], pulls[k] = np.nan, 0.0
            try:
                found = polytope.minimise(number, (1.0, -1.0)[side])
            except InfeasibleError:
                self._alarm(known)
                break
            except SolverError:
                continue
            size = polytope.columns[number]
            edges[side, number] = max(edges[side, number], found.bound * size)
            vertices[k] = 0.0
            vertices[k, columns] = found.x * polytope.columns
            duals = np.abs(found.row_duals[: polytope.count])
            pulls[k, polytope.rows] = duals * polytope.errors * size
        if (edges[0] > -edges[1]).any():
            self._alarm(known)
            return self.box
        return replace(self.box, lower=edges[0], upper=-edges[1])

    def _alarm(self, known: BoundedRows) -> None:
        """Raise the contradiction, first of the rows alone, then with the box that rows let go have left.

        A set so thin that emptiness cannot be proven is no contradiction: bounds stay as they are.
        """
        for box in (self.prior, self.box):
            error = contradiction_of(known, box)
            if isinstance(error, ContradictionError):
                raise error

    def _worth_remembering(
        self, rows: BoundedRows, vertices: Array, pulls: Array, box: PayloadBox
    ) -> IntArray:
        """Rows to keep, in their order: those that hold up an end, then those nearest to a vertex."""
        if rows.count <= self.room:
            return np.arange(rows.count)
        widths = np.where(box.spread > 0.0, box.spread, 1.0)
        pull = (pulls / np.tile(widths, 2)[:, None]).max(axis=0)
        reached = ~np.isnan(vertices).any(axis=1)
        slack = _slack(rows, vertices[reached]).min(axis=0, initial=np.inf)
        return np.sort(np.lexsort((-slack, pull))[-self.room :])


def _telling(rows: BoundedRows, pulls: Array, box: PayloadBox) -> tuple[BoundedRows, Array]:
    """The rows that some point of the box breaks, and their pulls."""
    farthest = np.abs(rows.target - rows.load @ box.centre)
    farthest += np.abs(rows.load) @ box.spread + np.abs(rows.robot) @ rows.spread
    telling = np.flatnonzero(farthest > rows.error)
    return rows.chosen(telling), pulls[:, telling]


def _slack(rows: BoundedRows, points: Array) -> Array:
    """Error left to each row at each point, in parts of its own, shape (points, rows)."""
    residual = rows.target - points[:, :TEN] @ rows.load.T - points[:, TEN:] @ rows.robot.T
    return np.asarray((rows.error - np.abs(residual)) / np.where(rows.error > 0.0, rows.error, 1.0))


# From recordings to guaranteed bounds: weigh, then weigh again with what is known of the payload.
#
# How far velocity errors and integration can move an equation depends on how heavy the payload may be. Bounds
# from a first pass say so better than the prior; nothing more is assumed.

NOTHING = PayloadBox(
    np.zeros(TEN), np.zeros(TEN), np.zeros((0, TEN)), np.zeros(0), "In the empty runs the arm holds nothing."
)


def guaranteed_payload(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    recordings: Sequence[Recording],
    held: Grip,
    errors: ErrorBounds,
    prior: PayloadBox,
    *,
    empty: Sequence[Recording] = (),
    window: float = WINDOW,
    possible: bool = True,
    passes: int = 2,
    needed: bool = False,
) -> GuaranteedBounds:
    """Guaranteed bounds on the payload of one or several recordings.

    Args:
        robot: the robot without the payload, an arm of turning and sliding joints.
        layout: the order of its parameters.
        parameters: phi of the robot without the payload, shape (p,), SI.
        recordings: positions, velocities and torques with the same payload, held in the same way.
        held: where the payload is held; its ten numbers are in the frame of this placement.
        errors: how far measurements and model can be off.
        prior: what the payload can be.
        empty: the same without payload. What they say of the robot's errors narrows the bounds, and where the
            robot alone contradicts them, an assumption is wrong that a payload could have hidden.
        window: length of a window, s.
        possible: whether to leave out payloads that cannot exist.
        passes: how often the equations are made; after the second little changes.
        needed: whether to ask too what share of the errors of the last pass's equations the data needs.

    Returns:
        The bounds of the last pass, with all that they assume.

    Raises:
        ContradictionError: no payload explains the data: an assumption is wrong.
        MotionContradictionError: no motion does.
        InputError: there is no pass or no recording, or the equations cannot be made, see `bounded_rows`.
    """
    if passes < 1:
        raise InputError(f"must be at least 1, got {passes}.", place="passes")
    for log in (*recordings, *empty):
        if "v" in log.channels:
            require_one_motion(log, errors)

    def rows_of(logs: Sequence[Recording], known: PayloadBox) -> list[BoundedRows]:
        return [
            bounded_rows(robot, layout, parameters, log, held, errors, known, window=window) for log in logs
        ]

    alone = [_without_load(rows) for rows in rows_of(empty, NOTHING)]
    known = prior
    for left in reversed(range(passes)):
        rows = BoundedRows.joined([*rows_of(recordings, known), *alone])
        bounds = guaranteed_bounds(rows, known, possible=possible and left == 0)
        known = prior.narrowed(bounds.lower, bounds.upper)
    bounds = bounds.against(prior)
    return replace(bounds, needed=error_growth(rows, known).factor) if needed else bounds


def _without_load(rows: BoundedRows) -> BoundedRows:
    """Equations of the robot alone."""
    places = tuple(replace(place, run="an empty run") for place in rows.places)
    return replace(rows, load=np.zeros_like(rows.load), places=places)
