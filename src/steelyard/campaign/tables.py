"""Tables with units on their columns: Parquet where Arrow is installed, else CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from steelyard.errors import InputError, MissingExtraError
from steelyard.files import FilePath, write_bytes


def table_path(folder: FilePath, name: str) -> Path:
    """Where a table stands: a Parquet file where the extra `parquet` is installed, else a CSV file.

    Args:
        folder: the folder it is in.
        name: of the table.

    Returns:
        The path.
    """
    return Path(folder) / f"{name}.{'csv' if _arrow() is None else 'parquet'}"


def write_table(
    path: FilePath, columns: Mapping[str, Sequence[Any]], units: Mapping[str, str] | None = None
) -> None:
    """Write a table, whole or not at all, in the format that its suffix says.

    In Parquet a unit is the metadata `unit` of its column, in CSV it stands behind the name in brackets.

    Args:
        path: the file, see `table_path`; an existing one is replaced.
        columns: numbers or text by name, all of one length; None where there is nothing.
        units: of columns that have one.

    Raises:
        InputError: the columns differ in length or mix types, or the file cannot be written.
        MissingExtraError: the file is Parquet and Arrow is not installed.
    """
    path, arrow = Path(path), _arrow()
    if path.suffix == ".parquet" and arrow is None:
        raise MissingExtraError("a Parquet file", "pyarrow", "parquet")
    lists = {name: list(values) for name, values in columns.items()}
    try:
        if path.suffix == ".parquet" and arrow is not None:
            content = _parquet(*arrow, lists, units or {})
        else:
            content = _csv(lists, units or {})
    except ValueError as error:
        raise InputError(f"is not a table: {error}.", place=str(path)) from error
    write_bytes(path, content)


def _parquet(pa: Any, pq: Any, columns: Mapping[str, list[Any]], units: Mapping[str, str]) -> bytes:
    try:
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
    for number, field in enumerate(table.schema):
        if unit := units.get(field.name):
            field = field.with_metadata({"unit": unit})
            table = table.set_column(number, field, table.column(number))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _csv(columns: Mapping[str, list[Any]], units: Mapping[str, str]) -> bytes:
    for name, values in columns.items():
        kinds = {str if isinstance(value, str) else float for value in values if value is not None}
        if len(kinds) > 1:
            raise ValueError(f"column '{name}' mixes numbers and text")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"{name} [{units[name]}]" if name in units else name for name in columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _arrow() -> tuple[ModuleType, ModuleType] | None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow, pyarrow.parquet
