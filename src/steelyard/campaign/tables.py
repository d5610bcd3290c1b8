"""Tables as Parquet files, with units on their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from steelyard.errors import InputError
from steelyard.files import FilePath, write_bytes


def write_table(
    path: FilePath, columns: Mapping[str, Sequence[Any]], units: Mapping[str, str] | None = None
) -> None:
    """Write a table, whole or not at all.

    Args:
        path: the file; an existing one is replaced.
        columns: numbers or text by name, all of one length; None where there is nothing.
        units: of columns that have one, kept as their metadata `unit`.

    Raises:
        InputError: the columns differ in length or mix types, or the file cannot be written.
    """
    try:
        table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    except pa.ArrowException as error:
        raise InputError(f"is not a table: {error}.", place=str(path)) from error
    for number, field in enumerate(table.schema):
        if unit := (units or {}).get(field.name):
            field = field.with_metadata({"unit": unit})
            table = table.set_column(number, field, table.column(number))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    write_bytes(path, sink.getvalue().to_pybytes())
