"""Columns of the Parquet files of a dataset: whole numbers, and rows that hold a list of numbers each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import Array
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import RecordingError, leading_to
from steelyard.recording.formats import arrow, reading_parquet

if TYPE_CHECKING:
    import pyarrow as pa

_COPIES = 3
"""How often the numbers are held at a time, until they are a recording."""


def whole_numbers(data: bytes, names: Sequence[str], place: str) -> list[list[int]]:
    """Columns of whole numbers of a Parquet file.

    Args:
        data: the bytes of the file.
        names: the columns.
        place: what to call the file in messages.

    Returns:
        The numbers of each column.

    Raises:
        RecordingError: the file is damaged, or a column is missing or of another kind.
        MissingExtraError: Arrow is not installed.
    """
    with leading_to(place), reading_parquet(place):
        pa, _ = arrow()
        table = _few_columns(data, names)
        for name in names:
            kind = table.column(name).type
            if not pa.types.is_integer(kind) or table.column(name).null_count:
                raise RecordingError(
                    f"column '{name}' is of type {kind}, or lacks numbers; expected whole ones.",
                    place=place,
                    remedy="Export or copy the dataset again.",
                )
        return [table.column(name).to_pylist() for name in names]


def rows_of_episode(
    data: bytes, vectors: dict[str, int], scalars: Sequence[str], episode: int
) -> dict[str, Array]:
    """The rows of one episode of a Parquet file that holds one or several.

    Args:
        data: the bytes of the file.
        vectors: how many numbers a row has in columns of vectors, by name; those that are not there are left
            out.
        scalars: columns of numbers, of which the first and last must be there; the last says the episode.
        episode: its number.

    Returns:
        The columns by name, not finite where a number is missing, each shape (N, n), SI.

    Raises:
        RecordingError: the file is damaged, holds no such episode, or a row has another length.
        MissingExtraError: Arrow is not installed.
    """
    with reading_parquet(""):
        mark = scalars[-1]
        table = _few_columns(data, [*scalars, *vectors], needed=(scalars[0], mark), holds=(mark, episode))
        number = _vectors(mark, table.column(mark), 1)[:, 0]
        rows = np.flatnonzero(number == episode)
        if not len(rows):
            raise RecordingError(f"holds no row of episode {episode}.", remedy="Export or copy it again.")
        if rows[-1] - rows[0] + 1 != len(rows):
            raise RecordingError(
                f"rows of other episodes stand between those of episode {episode}.",
                remedy="Export or copy it again.",
            )
        part = table.slice(int(rows[0]), len(rows))
        widths = dict.fromkeys(scalars, 1) | vectors
        return {name: _vectors(name, part.column(name), widths[name]) for name in part.schema.names}


def _few_columns(
    data: bytes, names: Sequence[str], needed: Sequence[str] = (), holds: tuple[str, int] | None = None
) -> Any:
    """Some columns of a Parquet file, of the groups of rows that may hold a number in a column."""
    pa, pq = arrow()
    file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
    there = file.schema_arrow.names
    wanted = [name for name in names if name in there]
    if missing := [name for name in (needed or names) if name not in there]:
        raise RecordingError(
            f"has no column '{missing[0]}'; there are {', '.join(map(repr, there[:20])) or 'none'}.",
            remedy="Export or copy the dataset again.",
        )
    groups = [k for k in range(file.num_row_groups) if _may_hold(file.metadata.row_group(k), holds)]
    # The lists of a column may repeat: they take no room in the file, and all of it in memory.
    numbers = 0
    for k in groups:
        group = file.metadata.row_group(k)
        chunks = [group.column(i) for i in range(group.num_columns)]
        numbers += sum(
            max(chunk.num_values, group.num_rows)
            for chunk in chunks
            if any(
                chunk.path_in_schema == name or chunk.path_in_schema.startswith(f"{name}.") for name in wanted
            )
        )
    require_memory(
        _COPIES * NUMBER * numbers,
        f"{numbers} numbers",
        place="",
        remedy="Split the dataset into shorter files.",
    )
    table = file.read_row_groups(groups, columns=wanted, use_threads=False).select(wanted)
    table.validate(full=True)
    return table


def _may_hold(group: Any, holds: tuple[str, int] | None) -> bool:
    """Whether a group of rows may hold a number, by the least and largest that it states."""
    if holds is None:
        return True
    name, number = holds
    for k in range(group.num_columns):
        chunk = group.column(k)
        if chunk.path_in_schema == name and chunk.statistics is not None and chunk.statistics.has_min_max:
            least, most = chunk.statistics.min, chunk.statistics.max
            return not (isinstance(least, int) and isinstance(most, int)) or least <= number <= most
    return True


def _vectors(name: str, cells: pa.ChunkedArray, width: int) -> Array:
    """The numbers of a column of numbers or lists, NaN where one is missing, shape (N, width), SI."""
    pa, _ = arrow()
    kind = cells.type
    parts = []
    row = 0
    for chunk in cells.chunks:
        if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            lengths = np.array(chunk.value_lengths().to_numpy(zero_copy_only=False), dtype=float)
            wrong = np.flatnonzero(lengths != width)
            if chunk.null_count or wrong.size:
                at = row + int(wrong[0] if wrong.size else np.flatnonzero(chunk.is_null())[0])
                found = (
                    "nothing" if not np.isfinite(lengths[at - row]) else f"{lengths[at - row]:.0f} numbers"
                )
                raise RecordingError(
                    f"holds {found} in row {at}, and meta/info.json says {width}.",
                    place=f"column '{name}'",
                    remedy="Repair or remove this row.",
                    evidence={"row": at, "expected": width},
                )
            inner = chunk.flatten()
        elif width == 1:
            inner = chunk
        else:
            raise RecordingError(
                f"is of type {kind}; expected lists of {width} numbers.",
                place=f"column '{name}'",
                remedy="Export or copy the dataset again.",
            )
        if not (pa.types.is_floating(inner.type) or pa.types.is_integer(inner.type)):
            raise RecordingError(
                f"is of type {kind}; expected numbers.",
                place=f"column '{name}'",
                remedy="Export or copy the dataset again.",
            )
        parts.append(inner.to_numpy(zero_copy_only=False).astype(np.float64).reshape(-1, width))
        row += len(chunk)
    return np.concatenate(parts) if parts else np.empty((0, width))
