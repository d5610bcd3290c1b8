r"""Guaranteed bounds that shrink as equations arrive, at a cost that does not grow with their number.

What is known is the polytope of all $(\theta, \delta)$ that the equations admit. Three observations keep it
small and the work short:

- a row that no point of the present box can break says nothing, now or later, for boxes only shrink;
- an end of the box stays where it is as long as the vertex that reached it breaks no new row;
- leaving a row out makes the polytope larger, so bounds stay true whichever rows are let go.

When more rows are left than there is room for, those stay that hold an end of the box up (their multipliers
are not zero), then those nearest to the vertices. The box itself is never forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.cones import InfeasibleError
from steelyard.errors import InputError, SolverError
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows
from steelyard.uncertainty.contradiction import ContradictionError, contradiction_of
from steelyard.uncertainty.guaranteed import GIVEN
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.payload_polytope import PayloadPolytope

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
