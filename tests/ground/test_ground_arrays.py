"""Arrays at the doors: what passes unchanged, what is converted, what is refused with which words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from steelyard.arrays import (
    Array,
    checked,
    keep_checked,
    keep_read_only,
    keep_views,
    read_only,
    read_only_view,
)
from steelyard.errors import ShapeError


def test_an_array_that_fits_is_passed_through_without_a_copy() -> None:
    array = np.ones((3, 2))
    assert np.shares_memory(checked("x", array, (3, 2)), array)


@pytest.mark.parametrize(
    "value", [[[1, 2]], ((1, 2),), np.array([[1, 2]], dtype=np.int8), np.float32([[1, 2]])]
)
def test_other_numbers_become_contiguous_floats(value: object) -> None:
    array = checked("x", value, ("N", 2))
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert array.tolist() == [[1.0, 2.0]]


def test_a_scalar_stays_a_scalar() -> None:
    assert checked("x", 3, ()).shape == ()
    with pytest.raises(ShapeError, match=r"^x: expected shape \(\), got \(1,\)"):
        checked("x", [3], ())


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ((4, 3), ("N", 3)),
        ((3, 3), ("N", "N")),
        ((3,), ("...", 3)),
        ((5, 4, 3), ("...", 3)),
        ((5, 2, 2), ("...", "n", "n")),
        ((0, 3), ("N", 3)),
    ],
)
def test_letters_and_dots_stand_for_sizes(actual: tuple[int, ...], expected: tuple[int | str, ...]) -> None:
    assert checked("x", np.zeros(actual), expected).shape == actual


@pytest.mark.parametrize(
    ("actual", "expected", "shown"),
    [
        ((4, 2), ("N", 3), r"\(N, 3\)"),
        ((2, 3), ("N", "N"), r"\(N, N\)"),
        ((3,), ("N", 3), r"\(N, 3\)"),
        ((1, 2, 3), ("N", 3), r"\(N, 3\)"),
        ((4,), ("...", 3), r"\(\.\.\., 3\)"),
        ((), ("...", 3), r"\(\.\.\., 3\)"),
        ((4,), (3,), r"\(3,\)"),
    ],
)
def test_a_wrong_shape_is_refused_with_both_shapes(
    actual: tuple[int, ...], expected: tuple[int | str, ...], shown: str
) -> None:
    with pytest.raises(ShapeError, match=f"^torque: expected shape {shown}, got ") as caught:
        checked("torque", np.zeros(actual), expected)
    assert caught.value.evidence == {"expected": expected, "shape": actual}


@pytest.mark.parametrize(
    "bad",
    [["a"], [1j], [None], np.array(["2020-01-01"], dtype="datetime64[D]"), [object()]],
    ids=["text", "complex", "none", "date", "object"],
)
def test_what_is_not_a_real_number_is_refused(bad: object) -> None:
    with pytest.raises(ShapeError, match=r"^x: must hold real numbers, got values of type"):
        checked("x", bad, (1,))


def test_rows_of_unequal_length_are_refused_by_name() -> None:
    with pytest.raises(ShapeError, match=r"^x: "):
        checked("x", [[1.0], [1.0, 2.0]], ("N", 2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_place(bad: float) -> None:
    array = np.zeros((2, 3))
    array[1, 2] = array[1, 0] = bad
    message = rf"^x: must be finite, but 2 of 6 values are not; the first is {bad} at index \[1, 0\]"
    with pytest.raises(ShapeError, match=message) as caught:
        checked("x", array, (2, 3))
    assert caught.value.evidence == {"index": (1, 0), "count": 2}
    assert checked("x", array, (2, 3), finite=False) is not None


def test_a_read_only_copy_is_private_and_cannot_be_written() -> None:
    array = np.asfortranarray(np.ones((3, 2)))
    copy = read_only(array)
    array[0, 0] = 5.0
    assert copy[0, 0] == 1.0
    assert copy.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        copy[0, 0] = 2.0


def test_a_read_only_view_shares_memory_and_leaves_the_original_writable() -> None:
    array = np.ones((3, 2))
    view = read_only_view(array)
    assert np.shares_memory(view, array)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 2.0
    array[0, 0] = 2.0
    assert view[0, 0] == 2.0
    strided = read_only_view(array[:, ::2])
    assert strided.flags.c_contiguous
    assert not strided.flags.writeable


@dataclass(frozen=True)
class Kept:
    q: Array
    v: Array | None = None


def test_a_frozen_object_keeps_private_read_only_copies_of_the_named_fields_alone() -> None:
    q, v = np.ones(3), np.ones(3)
    kept = Kept(q, v)
    keep_read_only(kept, "q")
    assert not np.shares_memory(kept.q, q)
    assert not kept.q.flags.writeable
    assert kept.v is v


def test_a_frozen_object_keeps_views_that_share_memory_and_cannot_be_written() -> None:
    q, v = np.ones(3), np.ones(3)
    kept = Kept(q, v)
    keep_views(kept, "q", "v")
    for view, array in ((kept.q, q), (kept.v, v)):
        assert np.shares_memory(view, array)
        assert not view.flags.writeable


def test_a_checked_field_is_a_private_float_copy_and_a_wrong_one_is_named() -> None:
    q = np.ones(3)
    kept = Kept(q, [1, 2, 3])
    keep_checked(kept, (3,), "q", "v")
    assert not np.shares_memory(kept.q, q)
    assert kept.v.dtype == np.float64
    assert not kept.q.flags.writeable
    assert not kept.v.flags.writeable
    with pytest.raises(ShapeError, match=r"^v: expected shape"):
        keep_checked(Kept(q, np.ones(2)), (3,), "q", "v")
    with pytest.raises(ShapeError, match=r"^q: must be finite"):
        keep_checked(Kept(np.full(3, np.nan)), (3,), "q")
    keep_checked(Kept(np.full(3, np.nan)), (3,), "q", finite=False)


def test_only_an_optional_field_may_be_none() -> None:
    kept = Kept(np.ones(3))
    keep_checked(kept, (3,), "v", optional=True)
    assert kept.v is None
    with pytest.raises(ShapeError, match=r"^v: "):
        keep_checked(kept, (3,), "v")
