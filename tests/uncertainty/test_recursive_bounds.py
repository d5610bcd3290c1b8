"""Updated bounds: true at every step, never wider than before, the batch hull while no row is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.cones import InfeasibleError
from steelyard.errors import InputError
from steelyard.uncertainty.guaranteed import ContradictionError, RecursiveBounds, guaranteed_bounds
from steelyard.uncertainty.payload_polytope import PayloadBox, PayloadPolytope
from uncertainty.payload_equations import LOWER, PRIOR, UPPER, Case, case, hull


def updates(
    posed: Case, rows_each: int, room: int = 400, prior: PayloadBox = PRIOR
) -> Iterator[RecursiveBounds]:
    """The bounds after each piece of the rows."""
    bounds = RecursiveBounds.starting(prior, posed.rows.spread, room=room)
    for first in range(0, posed.rows.count, rows_each):
        last = min(first + rows_each, posed.rows.count)
        bounds = bounds.absorb(posed.rows.chosen(range(first, last)))
        yield bounds


@pytest.fixture(scope="module")
def batch() -> tuple[Case, Array, Array]:
    """A run and the hull of all its rows."""
    posed = case(1, instants=30)
    return posed, *hull(posed.rows)


def test_with_room_for_all_rows_the_bounds_are_the_hull_of_all(batch: tuple[Case, Array, Array]) -> None:
    posed, lower, upper = batch
    last = RecursiveBounds.starting(PRIOR, posed.rows.spread, room=400).absorb(posed.rows.chosen(range(160)))
    for k in range(160, posed.rows.count):
        last = last.absorb(posed.rows.chosen([k]))
    assert last.let_go == 0
    np.testing.assert_allclose(last.lower, lower, atol=1e-6)
    np.testing.assert_allclose(last.upper, upper, atol=1e-6)


def test_rows_let_go_make_bounds_wider_but_by_less_than_a_tenth(batch: tuple[Case, Array, Array]) -> None:
    posed, lower, upper = batch
    *_, last = updates(posed, 35, room=80)
    assert last.let_go > 0
    assert (last.lower <= lower + 1e-9).all()
    assert (last.upper >= upper - 1e-9).all()
    assert (last.upper - last.lower <= 1.1 * (upper - lower)).all()


@pytest.mark.parametrize("pattern", ["uniform", "corners", "constant"])
def test_the_truth_stays_inside_while_bounds_only_shrink_and_memory_stays_small(pattern: str) -> None:
    posed = case(4, instants=20, pattern=pattern)
    before = LOWER, UPPER
    for now in updates(posed, 14, room=60):
        assert (now.lower <= posed.truth).all()
        assert (posed.truth <= now.upper).all()
        assert (now.lower >= before[0]).all()
        assert (now.upper <= before[1]).all()
        assert now.remembered.count <= 60
        before = now.lower, now.upper
    assert now.seen == posed.rows.count
    assert now.let_go > 0


def test_every_end_is_reached_by_a_payload_and_a_robot_that_the_rows_admit() -> None:
    posed = case(3, instants=10)
    rows = posed.rows
    *_, last = updates(posed, 7)
    np.testing.assert_allclose(np.diag(last.vertices[:10, :10]), last.lower, atol=1e-6)
    np.testing.assert_allclose(np.diag(last.vertices[10:, :10]), last.upper, atol=1e-6)
    theta, delta = np.split(last.vertices, [10], axis=1)
    assert (np.abs(delta) <= rows.spread * (1.0 + 1e-6) + 1e-12).all()
    residual = rows.target - theta @ rows.load.T - delta @ rows.robot.T
    assert (np.abs(residual) <= rows.error * (1.0 + 1e-6)).all()


def test_rows_that_no_point_of_the_box_breaks_are_not_kept() -> None:
    posed = case(2, instants=5, absolute=1e4)
    (now,) = updates(posed, posed.rows.count)
    assert now.remembered.count == now.let_go == 0
    assert now.seen == posed.rows.count
    np.testing.assert_array_equal(now.lower, LOWER)
    np.testing.assert_array_equal(now.upper, UPPER)


def test_the_same_rows_again_change_nothing() -> None:
    posed = case(5, instants=10)
    (once,) = updates(posed, posed.rows.count)
    again = once.absorb(posed.rows)
    np.testing.assert_allclose(again.lower, once.lower, atol=1e-9)
    np.testing.assert_allclose(again.upper, once.upper, atol=1e-9)


@pytest.mark.parametrize("room", [400, 1])
def test_rows_that_contradict_what_was_seen_before_are_an_alarm(room: int) -> None:
    posed = case(6, instants=20)
    *_, last = updates(posed, 35, room=room)
    rows = posed.rows
    apart = replace(rows, target=rows.target + 0.3 * rows.load @ UPPER)
    with pytest.raises(ContradictionError, match="no payload explains") as caught:
        last.absorb(apart)
    assert caught.value.growth > 1.0


@pytest.mark.parametrize("what", ["no point", "ends that cross"])
def test_a_solver_that_finds_the_set_empty_is_believed_only_where_a_contradiction_is_shown(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    posed = case(6, instants=20)
    (start,) = updates(posed, posed.rows.count)
    apart = replace(posed.rows, target=posed.rows.target + 0.3 * posed.rows.load @ UPPER)

    def empty(self: PayloadPolytope, number: int, sign: float) -> object:
        if what == "no point":
            raise InfeasibleError("no point")
        return SimpleNamespace(bound=1e9, x=0.0 * self.columns, row_duals=np.zeros(self.count))

    monkeypatch.setattr(PayloadPolytope, "minimise", empty)
    same = RecursiveBounds.starting(PRIOR, posed.rows.spread, room=400).absorb(posed.rows)
    np.testing.assert_array_equal(same.lower, LOWER)
    with pytest.raises(ContradictionError, match="no payload explains"):
        start.absorb(apart)


def test_a_set_too_thin_to_be_told_from_an_empty_one_is_no_alarm() -> None:
    posed = case(4, instants=20, pattern="corners", worst=1.0)
    *_, last = updates(posed, 35)
    assert (last.lower <= posed.truth + 1e-9).all()
    assert (posed.truth <= last.upper + 1e-9).all()


def test_what_the_prior_says_of_several_numbers_together_counts() -> None:
    posed = case(7, instants=6, absolute=1.0)
    ball = PayloadBox.in_ball(5.0, 0.3)
    loose = PayloadBox.between(ball.lower, ball.upper)
    ends = [list(updates(posed, 21, prior=prior))[-1] for prior in (ball, loose)]
    batch = guaranteed_bounds(posed.rows, ball)
    np.testing.assert_allclose(ends[0].lower, batch.lower, atol=1e-7)
    np.testing.assert_allclose(ends[0].upper, batch.upper, atol=1e-7)
    assert (ends[0].upper - ends[0].lower < (ends[1].upper - ends[1].lower) * 0.99).any()
    assert ends[0].assumptions == batch.assumptions


def test_no_rows_leave_the_prior_box() -> None:
    rows = case(0, instants=5).rows
    start = RecursiveBounds.starting(PRIOR, rows.spread)
    same = start.absorb(rows.chosen([]))
    np.testing.assert_array_equal(same.lower, LOWER)
    np.testing.assert_array_equal(same.upper, UPPER)


def test_what_it_cannot_start_from_is_refused() -> None:
    with pytest.raises(InputError, match="room"):
        RecursiveBounds.starting(PRIOR, [], room=0)
    rows = case(0, instants=5).rows
    with pytest.raises(InputError, match="disagree about how far"):
        RecursiveBounds.starting(PRIOR, 2.0 * rows.spread).absorb(rows)
