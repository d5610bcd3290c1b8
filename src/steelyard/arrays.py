"""Arrays at the doors: shapes and finiteness checked with good messages, contents made read-only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import ShapeError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
ComplexArray = NDArray[np.complex128]
Size = int | str


def checked(name: str, value: ArrayLike, shape: Sequence[Size], *, finite: bool = True) -> Array:
    """Return `value` as a C-contiguous float64 array after checking its shape and contents.

    A letter in `shape` stands for any size, and for the same size wherever it is repeated;
    a leading `"..."` stands for any number of leading axes.

    Args:
        name: what to call the array in the message.
        value: array-like of numbers, any shape and unit.
        shape: expected sizes, such as `("N", 7)` or `("...", 10)`.
        finite: whether NaN and infinity are refused.

    Returns:
        The array, same shape and unit; the input itself when it already fits, otherwise a converted copy.

    Raises:
        ShapeError: the shape differs, the values are not real numbers, or not finite.
    """
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise ShapeError("must be an array, but its rows have different lengths.", place=name) from error
    if raw.dtype.kind not in "biuf":
        raise ShapeError(
            f"must hold real numbers, got values of type {raw.dtype}.",
            place=name,
            evidence={"dtype": str(raw.dtype)},
        )
    array = np.ascontiguousarray(raw, dtype=np.float64).reshape(raw.shape)
    if not _fits(array.shape, shape):
        expected = "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ShapeError(
            f"expected shape {expected}, got {array.shape}.",
            place=name,
            evidence={"expected": tuple(shape), "shape": array.shape},
        )
    if finite and not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        count = int((~np.isfinite(array)).sum())
        raise ShapeError(
            f"must be finite, but {count} of {array.size} values are not; the first is {array[index]} "
            f"at index {list(index)}.",
            place=name,
            evidence={"index": index, "count": count},
        )
    return array


def _fits(actual: tuple[int, ...], expected: Sequence[Size]) -> bool:
    sizes = list(expected)
    if sizes and sizes[0] == "...":
        sizes = sizes[1:]
        if len(actual) < len(sizes):
            return False
        actual = actual[len(actual) - len(sizes) :]
    if len(actual) != len(sizes):
        return False
    letters: dict[str, int] = {}
    for got, want in zip(actual, sizes, strict=True):
        if isinstance(want, str):
            if letters.setdefault(want, got) != got:
                return False
        elif got != want:
            return False
    return True


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous, private and read-only copy, fit to be kept in a frozen object.

    Args:
        array: any array, any shape and unit.

    Returns:
        The copy, same shape and unit; writing into it raises `ValueError`.
    """
    copy = np.array(array, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous read-only view, copying only when the layout demands it.

    Compiled kernels see read-only and writable arrays as different types; taking every input through this
    function keeps one compiled version per kernel.

    Args:
        array: any array, any shape and unit.

    Returns:
        The view (or the contiguous copy), same shape and unit, not writable.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def keep_read_only(owner: object, *names: str) -> None:
    """Replace arrays of a frozen object by private read-only copies; for its `__post_init__` alone.

    Args:
        owner: the object.
        names: its fields.
    """
    for name in names:
        object.__setattr__(owner, name, read_only(getattr(owner, name)))


def keep_views(owner: object, *names: str) -> None:
    """Replace arrays of a frozen object by read-only views, without a copy; for its `__post_init__` alone.

    Args:
        owner: the object.
        names: its fields.
    """
    for name in names:
        object.__setattr__(owner, name, read_only_view(getattr(owner, name)))


def keep_checked(
    owner: object, shape: Sequence[Size], *names: str, finite: bool = True, optional: bool = False
) -> None:
    """Check arrays of a frozen object and keep private read-only copies; for its `__post_init__` alone.

    Args:
        owner: the object.
        shape: expected sizes of each, see `checked`.
        names: its fields, as messages name them too.
        finite: whether NaN and infinity are refused.
        optional: whether None is left as it is.

    Raises:
        ShapeError: a shape differs, values are not real numbers, or not finite.
    """
    for name in names:
        value = getattr(owner, name)
        if value is not None or not optional:
            object.__setattr__(owner, name, read_only(checked(name, value, shape, finite=finite)))
