"""A run on disk: what was decided and said as JSON, what was read and sent as arrays; nothing is lost."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path

import numpy as np

from steelyard.archive import read_document, write_document
from steelyard.errors import InputError, leading_to
from steelyard.files import FilePath, read_bytes, write_bytes
from steelyard.npz import arrays_of
from steelyard.online.online_run import Cycles, OnlineRun, RunRecord

RECORD, CYCLES = "run.json", "cycles.npz"
"""Names of the two files in a run's folder."""
LARGEST_LOG = 1 << 29
"""Largest log of a run, bytes."""


def write_run(run: OnlineRun, folder: FilePath) -> tuple[Path, Path]:
    """Write a run; its folder exists or is made.

    Args:
        run: the run.
        folder: where.

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
    write_bytes(at / CYCLES, arrays.getvalue())
    write_document(run.record, at / RECORD, indent=None)
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
