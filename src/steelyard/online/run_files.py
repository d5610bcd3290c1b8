"""A run on disk: what was decided and said as JSON, what was read and sent as arrays; nothing is lost."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from steelyard.archive import from_document, to_document
from steelyard.errors import InputError
from steelyard.files import write_bytes, write_text
from steelyard.online.online_run import Cycles, OnlineRun, RunRecord

RECORD, CYCLES = "run.json", "cycles.npz"
"""Names of the two files in a run's folder."""


def write_run(run: OnlineRun, folder: Path | str) -> tuple[Path, Path]:
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
    text = json.dumps(to_document(run.record), ensure_ascii=False, allow_nan=False)
    write_text(at / RECORD, text + "\n")
    return at / RECORD, at / CYCLES


def read_run(folder: Path | str) -> OnlineRun:
    """Read a run.

    Args:
        folder: where its two files are.

    Returns:
        The run, equal in every bit that counts to the one written.

    Raises:
        InputError: a file is missing, damaged, or not of a run.
    """
    at = Path(folder)
    try:
        document = json.loads((at / RECORD).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", place=str(at / RECORD)) from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError("is not a JSON file.", place=str(at / RECORD)) from error
    record = from_document(RunRecord, document, place=str(at / RECORD))
    try:
        with np.load(at / CYCLES, allow_pickle=False) as file:
            found = {field.name: file[field.name] for field in fields(Cycles)}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InputError(f"is not the log of a run: {error}", place=str(at / CYCLES)) from error
    return OnlineRun(record, Cycles(**found))
