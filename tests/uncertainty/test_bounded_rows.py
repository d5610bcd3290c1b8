from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError, ShapeError
from steelyard.uncertainty.payload_polytope import BoundedRows, Place


def some_rows(seed: int, m: int = 5, p: int = 3, assumptions: tuple[str, ...] = ("a",)) -> BoundedRows:
    rng = np.random.default_rng(seed)
    places = tuple(Place(f"joint {k}", 0.1 * k, 0.1 * k + 0.1) for k in range(m))
    return BoundedRows(
        rng.normal(size=(m, 10)),
        rng.normal(size=(m, p)),
        rng.normal(size=m),
        rng.uniform(size=m),
        np.ones(p),
        places,
        assumptions,
    )


def test_joining_keeps_rows_places_and_every_assumption_once() -> None:
    one, two = some_rows(0, assumptions=("a", "b")), some_rows(1, assumptions=("b", "c"))
    both = BoundedRows.joined([one, two])
    assert both.count == 10
    assert np.array_equal(both.load, np.vstack([one.load, two.load]))
    assert both.places == one.places + two.places
    assert both.assumptions == ("a", "b", "c")


def test_choosing_rows_keeps_what_they_assume() -> None:
    rows = some_rows(0)
    chosen = rows.chosen([3, 1])
    assert np.array_equal(chosen.target, rows.target[[3, 1]])
    assert chosen.places == (rows.places[3], rows.places[1])
    assert chosen.assumptions == rows.assumptions
    assert np.array_equal(chosen.spread, rows.spread)


def test_rows_of_different_robots_are_not_joined() -> None:
    with pytest.raises(InputError, match="disagree about how far"):
        BoundedRows.joined([some_rows(0), some_rows(0, p=4)])
    with pytest.raises(InputError, match="at least one"):
        BoundedRows.joined([])


def test_negative_errors_and_missing_places_are_refused() -> None:
    rows = some_rows(0)
    with pytest.raises(InputError, match="error: must not be negative"):
        BoundedRows(rows.load, rows.robot, rows.target, -rows.error, rows.spread, rows.places)
    with pytest.raises(InputError, match="4 for 5 rows"):
        BoundedRows(rows.load, rows.robot, rows.target, rows.error, rows.spread, rows.places[1:])
    with pytest.raises(ShapeError, match="load"):
        BoundedRows(rows.load[:, :9], rows.robot, rows.target, rows.error, rows.spread, rows.places)
