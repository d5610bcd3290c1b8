"""Logs that are in memory already: a recording, columns by name, or a data frame of pandas or Polars.

Neither of the two is imported: a data frame is whatever has `columns`, and gives each of them by its name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import RecordingError
from steelyard.files import FilePath
from steelyard.recording.channels import column_name
from steelyard.recording.joint_arrays import columns_of
from steelyard.recording.recording import Recording
from steelyard.recording.table import Column, Table


@runtime_checkable
class DataFrame(Protocol):
    """A data frame, as pandas and Polars have them."""

    @property
    def columns(self) -> Any:
        """The names of its columns, in order."""

    def __getitem__(self, name: Any, /) -> Any:
        """A column by its name."""


Log = FilePath | Recording | Mapping[str, ArrayLike] | DataFrame
"""A log: its path, a recording, columns by name, or a data frame; a matrix `q` is columns `q_1`, `q_2`, …."""


def log_name(log: Log) -> str:
    """What to call a log in messages and records: its path, or what it is, with the digest of its content.

    Returns:
        Text, in angle brackets for a log that is in memory.
    """
    if isinstance(log, str | PathLike):
        return os.fspath(log)
    if isinstance(log, Recording):
        return f"<Recording, sha256 {log.digest[:12]}>"
    sha = hashlib.sha256()
    table = table_of(log)
    for column in table.columns:
        sha.update(f"{column.name}:{column.remark};".encode())
        sha.update(np.ascontiguousarray(column.values).tobytes())
    return f"<table of {len(table.columns)} columns, sha256 {sha.hexdigest()[:12]}>"


def table_of(log: Recording | Mapping[str, ArrayLike] | DataFrame) -> Table:
    """The columns of a log that is in memory, as a reader of files finds them.

    Returns:
        Its columns with their defects.

    Raises:
        RecordingError: it is none.
    """
    if isinstance(log, Recording):
        return Table(tuple(_recorded(log)))
    if not isinstance(log, Mapping | DataFrame):
        raise RecordingError(
            f"expected a path, a recording, columns by name or a data frame, got {type(log).__name__}.",
            place="log",
        )
    names = list(log) if isinstance(log, Mapping) else list(log.columns)
    return Table(tuple(column for name in names for column in columns_of(str(name), _numbers(log[name]))))


def _recorded(log: Recording) -> Iterable[Column]:
    yield Column.of("time", log.time)
    for channel, values in log.channels.items():
        for joint, column in zip(log.joints, values.T, strict=True):
            yield Column.of(column_name(channel, joint), column)
    for name, column in log.extra.items():
        yield Column.of(name, column)


def _numbers(column: Any) -> NDArray[Any]:
    """A column as an array; numbers that may be missing, as pandas and Polars have them, as NaN."""
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype.kind == "O":
        try:
            return np.array([np.nan if x is None else x for x in array.ravel()], dtype=float)
        except (TypeError, ValueError):
            return array
    return array
