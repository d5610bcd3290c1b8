"""Recordings as npz: plain arrays under the names of their channels, never a pickle."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InputError, RecordingError
from steelyard.npz import arrays_of
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.recording import Recording
from steelyard.recording.stamp import KEY, stamped
from steelyard.recording.table import Column, Table


def encode(recording: Recording) -> bytes:
    """Return a recording as an npz file with `joints`, `time`, the channels, and `extra` with `extra_names`.

    Args:
        recording: what to write.

    Returns:
        The bytes of the file.
    """
    # The stamp comes first: a damaged directory loses the entries that follow, and the stamp then tells.
    arrays: dict[str, NDArray[Any]] = {KEY: np.array(stamped(recording))}
    arrays |= {"joints": np.array(recording.joints), "time": recording.time, **recording.channels}
    if recording.extra:
        arrays["extra_names"] = np.array(list(recording.extra))
        arrays["extra"] = np.column_stack(list(recording.extra.values()))
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    return sink.getvalue()


def decode(data: bytes) -> Table:
    """Split an npz file into columns; of other tools' files, a matrix `x` gives columns `x_1`, `x_2`, ….

    Args:
        data: the bytes of the file.

    Returns:
        The columns, and the stamp of a file of our own.

    Raises:
        RecordingError: the file is damaged, not npz, or holds pickled objects.
    """
    try:
        arrays = arrays_of(data)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if KEY not in arrays:
        return Table(tuple(column for name, array in arrays.items() for column in columns_of(name, array)))
    return Table(tuple(_own(arrays)), stamp={KEY: str(arrays[KEY])})


def columns_of(name: str, array: NDArray[Any]) -> Iterator[Column]:
    """Columns of an array: of a matrix `x` the columns `x_1`, `x_2`, ….

    Args:
        name: its name.
        array: its values, shape (N,) or (N, n), SI.

    Yields:
        The columns; one without numbers where the array holds none.
    """
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        yield Column.without_numbers(name, f"is an array of type {array.dtype} and shape {array.shape}")
    elif array.ndim == 1:
        yield Column.of(name, array.astype(np.float64))
    else:
        for index, column in enumerate(array.T, start=1):
            yield Column.of(f"{name}_{index}", column.astype(np.float64))


def _own(arrays: dict[str, NDArray[Any]]) -> Iterator[Column]:
    joints = [str(name) for name in np.atleast_1d(arrays.get("joints", np.array([], dtype=str)))]
    labels = {"time": ["time"]} | {name: [column_name(name, joint) for joint in joints] for name in CHANNELS}
    if "extra" in arrays:
        names = arrays.get("extra_names", np.array([], dtype=str))
        labels["extra"] = [str(name) for name in np.atleast_1d(names)]
    for name, array in arrays.items():
        if name in (KEY, "joints", "extra_names"):
            continue
        if name not in labels:
            yield from columns_of(name, array)
            continue
        columns = labels[name]
        matrix = array[:, None] if name == "time" and array.ndim == 1 else array
        if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or matrix.shape[1] != len(columns):
            raise RecordingError(
                f"array '{name}' has type {array.dtype} and shape {array.shape}; "
                f"expected numbers of shape (N, {len(columns)}).",
                evidence={"array": name, "shape": array.shape},
            )
        for label, column in zip(columns, matrix.T, strict=True):
            yield Column.of(label, column.astype(np.float64))
