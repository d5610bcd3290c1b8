"""Recordings as Parquet, with units on the columns and the history in the file's metadata.

Arrow, which reads and writes it, comes with the extra `parquet`.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import Array
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError, MissingExtraError, RecordingError
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.recording import Recording
from steelyard.recording.stamp import KEY, stamped
from steelyard.recording.table import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

_COPIES = 3
"""How often the numbers are held at a time, until they are a recording."""
_DAMAGE = (OSError, ValueError, TypeError, KeyError, MemoryError, OverflowError)


def arrow() -> tuple[ModuleType, ModuleType]:
    """Arrow and its Parquet.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("a Parquet file", "pyarrow", "parquet") from error
    return pyarrow, pyarrow.parquet


def encode(recording: Recording) -> bytes:
    """Return a recording as a Parquet file.

    Args:
        recording: what to write.

    Returns:
        The bytes of the file.

    Raises:
        MissingExtraError: Arrow is not installed.
    """
    pa, pq = arrow()
    fields = [_field("time", "s")]
    arrays = [recording.time]
    for channel, values in recording.channels.items():
        fields += [_field(column_name(channel, joint), CHANNELS[channel].unit) for joint in recording.joints]
        arrays += list(values.T)
    fields += [_field(name, "SI") for name in recording.extra]
    arrays += list(recording.extra.values())
    schema = pa.schema(fields, metadata={KEY: stamped(recording)})
    sink = pa.BufferOutputStream()
    table = pa.table([pa.array(array) for array in arrays], schema=schema)
    # Measured doubles hardly repeat, so a dictionary only costs; checksums reveal damaged pages.
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode(data: bytes) -> Table:
    """Split a Parquet file into columns.

    Args:
        data: the bytes of the file.

    Returns:
        The columns with their defects, and the stamp of a file of our own.

    Raises:
        RecordingError: the file is damaged or not Parquet.
        MissingExtraError: Arrow is not installed.
    """
    pa, pq = arrow()
    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        # Rows that repeat take no room in the file, and all of it in memory.
        rows, names = file.metadata.num_rows, file.metadata.num_columns
        require_memory(
            _COPIES * NUMBER * rows * names,
            f"{rows} rows of {names} columns",
            place="",
            remedy="Split the log into shorter ones.",
        )
        table = file.read(use_threads=False)
        table.validate(full=True)
        columns = tuple(
            _column(name, cells) for name, cells in zip(table.schema.names, table.columns, strict=True)
        )
        metadata = table.schema.metadata or {}
        stamp = {key.decode(): value.decode() for key, value in metadata.items() if key == KEY.encode()}
    except InputError:
        raise
    except (pa.ArrowException, *_DAMAGE) as error:
        raise RecordingError(
            f"is damaged or not a Parquet file: {error}", remedy="Export or copy it again."
        ) from error
    return Table(columns, stamp=stamp)


def _field(name: str, unit: str) -> pa.Field:
    pa, _ = arrow()
    return pa.field(name, pa.float64(), nullable=False, metadata={"unit": unit})


def _column(name: str, cells: pa.ChunkedArray) -> Column:
    pa, _ = arrow()
    kind = cells.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return Column.without_numbers(name, f"is of type {kind}")
    if pa.types.is_boolean(kind):
        cells = cells.cast(pa.int8())
    values: Array = cells.to_numpy(zero_copy_only=False).astype(np.float64)
    return Column.of(name, values, lambda i: "" if cells[i].as_py() is None else str(cells[i].as_py()))
