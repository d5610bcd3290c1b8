"""Arrays out of npz files, whose headers are held against the file before anything is unpacked.

A zip file of a kilobyte can unpack to gigabytes, and a header can state any shape. Nothing is ever unpickled.
"""

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
from steelyard.errors import InputError

MOST_ARRAYS = 10_000
MOST_COLUMNS = 10_000
"""Columns of one array; a robot has fewer."""
_COPIES = 3
"""How often the content is held at a time, as bytes and as numbers, until it is what was asked for."""
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


def arrays_of(data: bytes) -> dict[str, NDArray[Any]]:
    """Read all arrays of an npz file.

    Args:
        data: the bytes of the file.

    Returns:
        The arrays by name, of any shape and unit.

    Raises:
        InputError: the file is damaged, not npz, holds pickled objects, or unpacks to more than the budget.
    """
    try:
        return dict(_arrays(data))
    except InputError:
        raise
    except _DAMAGE as error:
        raise InputError(
            f"is damaged or not an npz file: {str(error).rstrip('.')}.", remedy="Export or copy it again."
        ) from error


def _arrays(data: bytes) -> Iterator[tuple[str, NDArray[Any]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_ARRAYS:
            raise InputError(
                f"holds {len(members)} arrays; at most {MOST_ARRAYS} are read.", remedy="Save fewer arrays."
            )
        needed = 0
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name == member.filename:
                raise InputError(f"holds '{name[:60]}', which is not an array.")
            with archive.open(member) as stream:
                head = _head(name[:80], stream, member.file_size)
                needed += _COPIES * (head.size + NUMBER * head.entries)
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
    entries: int
    size: int


def _head(name: str, stream: IO[bytes], size: int) -> _Head:
    """Read a header; the shape it states must be that of what follows, of which `size` counts both."""
    version = npy.read_magic(stream)
    header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = header(stream)
    if dtype.hasobject:
        raise InputError(
            f"array '{name}' holds pickled objects, which are never loaded.",
            remedy="Save plain numeric arrays with numpy.savez.",
        )
    count = math.prod(shape)
    if any(n < 0 for n in shape) or count * dtype.itemsize > size:
        raise InputError(
            f"array '{name}' states the shape {shape} of {dtype}, more than the file holds.",
            remedy="Export or copy it again.",
        )
    if max(shape[1:], default=0) > MOST_COLUMNS:
        raise InputError(f"array '{name}' has {shape[1]} columns; at most {MOST_COLUMNS} are read.")
    return _Head(shape, by_columns, dtype, count, count * dtype.itemsize)


def _array(head: _Head, stream: IO[bytes]) -> NDArray[Any]:
    if not head.entries:
        return np.empty(head.shape, head.dtype)
    content = stream.read()
    return np.frombuffer(content, head.dtype).reshape(head.shape, order="F" if head.by_columns else "C")
