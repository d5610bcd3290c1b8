"""A run on disk: what was decided and said as JSON, what was read and sent as arrays; nothing is lost."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np

from steelyard.archive import read_document, write_document
from steelyard.errors import InputError, leading_to
from steelyard.files import FilePath, read_bytes, write_bytes, write_text, write_together
from steelyard.npz import arrays_of
from steelyard.online.online_run import Cycles, OnlineRun, RunRecord

RECORD, CYCLES = "run.json", "cycles.npz"
"""Names of the two files in a run's folder."""
LARGEST_LOG = 1 << 29
"""Largest log of a run, bytes."""


def write_run(run: OnlineRun, folder: FilePath, *, page: tuple[str, str] | None = None) -> tuple[Path, Path]:
    """Write a run; its folder exists or is made, and never holds parts of two runs.

    Args:
        run: the run.
        folder: where.
        page: name and text of a page that belongs to it.

    Returns:
        The files.

    Raises:
        InputError: the folder cannot be written to.
    """
    at = Path(folder)
    try:
        at.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}.", place=str(at)) from error
    arrays = io.BytesIO()
    np.savez_compressed(arrays, **{field.name: getattr(run.cycles, field.name) for field in fields(Cycles)})
    writers: dict[str, Callable[[FilePath], None]] = {
        RECORD: lambda path: write_document(run.record, path, indent=None),
        CYCLES: lambda path: write_bytes(path, arrays.getvalue()),
    }
    if page is not None:
        name, text = page
        writers[name] = lambda path: write_text(path, text)
    write_together(at, writers)
    return at / RECORD, at / CYCLES


def read_run(folder: FilePath) -> OnlineRun:
    """Read a run.

    Args:
        folder: where its two files are.

    Returns:
        The run, equal in every bit that counts to the one written.

    Raises:
        InputError: a file is missing, damaged, or not of a run.
    """
    at = Path(folder)
    record = read_document(RunRecord, at / RECORD)
    content = read_bytes(at / CYCLES, most=LARGEST_LOG)
    with leading_to(str(at / CYCLES)):
        arrays = arrays_of(content)
        names = [field.name for field in fields(Cycles)]
        if missing := [name for name in names if name not in arrays]:
            raise InputError(f"is not the log of a run: it lacks {', '.join(missing)}.")
        found = {name: arrays[name] for name in names}
    return OnlineRun(record, Cycles(**found))
