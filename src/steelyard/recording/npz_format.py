"""Recordings as npz: plain arrays under the names of their channels, never a pickle."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError, RecordingError
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.recording import Recording
from steelyard.recording.stamp import KEY, stamped
from steelyard.recording.table import Column, Table

MOST_ARRAYS = 10_000
MOST_COLUMNS = 10_000
"""Columns of one array; a robot has fewer."""
_COPIES = 3
"""How often the content is held at a time, as bytes and as numbers, until it is a recording."""
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    ValueError,
    TypeError,
    LookupError,
    SyntaxError,
    EOFError,
    OSError,
    RuntimeError,
    MemoryError,
    OverflowError,
)


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
        arrays = dict(_arrays(data))
    except InputError:
        raise
    except _DAMAGE as error:
        raise RecordingError(
            f"is damaged or not an npz file: {error}", remedy="Export or copy it again."
        ) from error
    if KEY not in arrays:
        return Table(tuple(column for name, array in arrays.items() for column in _foreign(name, array)))
    return Table(tuple(_own(arrays)), stamp={KEY: str(arrays[KEY])})


def _arrays(data: bytes) -> Iterator[tuple[str, NDArray[Any]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_ARRAYS:
            raise RecordingError(
                f"holds {len(members)} arrays; at most {MOST_ARRAYS} are read.", remedy="Save fewer arrays."
            )
        needed = 0
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name == member.filename:
                raise RecordingError(f"holds '{name[:60]}', which is not an array.")
            with archive.open(member) as stream:
                head = _head(name[:80], stream, member.file_size)
                needed += _COPIES * (head.bytes + NUMBER * head.count)
                require_memory(
                    needed,
                    f"array '{name[:80]}' and those before it",
                    place="",
                    remedy="Split the log into shorter ones.",
                )
                yield name, _array(head, stream)


class _Head(NamedTuple):
    """What the header of an array states."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    count: int
    bytes: int


def _head(name: str, stream: IO[bytes], size: int) -> _Head:
    """Read a header; the shape it states must be that of what follows, of which `size` counts both."""
    version = npy.read_magic(stream)
    header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = header(stream)
    if dtype.hasobject:
        raise RecordingError(
            f"array '{name}' holds pickled objects, which are never loaded.",
            remedy="Save plain numeric arrays with numpy.savez.",
        )
    count = math.prod(shape)
    if any(n < 0 for n in shape) or count * dtype.itemsize > size:
        raise RecordingError(
            f"array '{name}' states the shape {shape} of {dtype}, more than the file holds.",
            remedy="Export or copy it again.",
        )
    if max(shape[1:], default=0) > MOST_COLUMNS:
        raise RecordingError(f"array '{name}' has {shape[1]} columns; at most {MOST_COLUMNS} are read.")
    return _Head(shape, by_columns, dtype, count, count * dtype.itemsize)


def _array(head: _Head, stream: IO[bytes]) -> NDArray[Any]:
    if not head.count:
        return np.empty(head.shape, head.dtype)
    content = stream.read()
    return np.frombuffer(content, head.dtype).reshape(head.shape, order="F" if head.by_columns else "C")


def _foreign(name: str, array: NDArray[Any]) -> Iterator[Column]:
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
            yield from _foreign(name, array)
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
