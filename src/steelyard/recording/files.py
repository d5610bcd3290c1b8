"""Recordings and files: one reader and one writer, which choose the format by the suffix."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import InputError, RecordingError
from steelyard.files import write_bytes
from steelyard.recording import csv_format, npz_format, parquet_format
from steelyard.recording.assembly import assemble
from steelyard.recording.recording import Recording
from steelyard.recording.stamp import KEY, parsed
from steelyard.recording.step import Step
from steelyard.recording.table import Table


class _Format(NamedTuple):
    encode: Callable[[Recording], bytes]
    decode: Callable[[bytes], Table]


_FORMATS = {
    ".csv": _Format(csv_format.encode, csv_format.decode),
    ".parquet": _Format(parquet_format.encode, parquet_format.decode),
    ".npz": _Format(npz_format.encode, npz_format.decode),
}
SUFFIXES = tuple(_FORMATS)


def read(
    path: str | os.PathLike[str],
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Recording:
    """Read a log.

    Columns are `time` (s) and, per joint, `q_`, `v_`, `a_`, `tau_`, `current_`, `qref_`, `vref_`, `aref_`
    followed by the joint's name or its number from 1; common spellings of other tools are recognised. Values
    are taken to be in SI units. Other numeric columns become extra ones; what cannot is listed in the history
    as ignored, with the reason. Without `joints`, joints known by number are named `"1"`, `"2"`, ….

    Args:
        path: a `.csv`, `.parquet` or `.npz` file.
        joints: the joints of the recording in their order; numbers in column names index it, and joints of
            the file that are not in it are ignored.
        columns: our name for a column, by its name in the file, as in `{"Shoulder angle": "q_1"}`.

    Returns:
        The recording; the last step of its history says which file it came from and what each column became.

    Raises:
        RecordingError: the file is missing, damaged, or does not hold a valid recording.
    """
    source = Path(path)
    data = _bytes(source)
    try:
        table = _format(source).decode(data)
        recording, found = assemble(table, joints=joints, columns=columns)
        history = _history(table, recording if joints is None and not columns else None)
    except RecordingError as error:
        where = f"{source}: {error.place}" if error.place else str(source)
        raise RecordingError(
            error.message, place=where, remedy=error.remedy, evidence=error.evidence
        ) from error
    detail = {"file": source.name, "format": source.suffix.lower()[1:], **found}
    step = Step("read", detail, hashlib.sha256(data).hexdigest())
    return replace(recording, provenance=(*history, step))


def write(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording; the file appears whole or not at all.

    Every format carries the content exactly. Parquet and npz carry the history too, CSV does not.

    Args:
        recording: what to write.
        path: a `.csv`, `.parquet` or `.npz` file; an existing one is replaced.

    Raises:
        RecordingError: the suffix is not supported, or the file cannot be written.
    """
    target = Path(path)
    data = _format(target).encode(recording)
    try:
        write_bytes(target, data)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error


def _bytes(source: Path) -> bytes:
    if source.is_dir():
        raise RecordingError("is a directory.", place=str(source), remedy="Give the path of a file.")
    _format(source)
    if not source.exists():
        raise RecordingError("no such file.", place=str(source))
    if not source.is_file():
        raise RecordingError("is not a regular file.", place=str(source))
    try:
        data = source.read_bytes()
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}.", place=str(source)) from error
    if not data:
        raise RecordingError("is empty.", place=str(source))
    return data


def _format(path: Path) -> _Format:
    try:
        return _FORMATS[path.suffix.lower()]
    except KeyError:
        raise RecordingError(
            f"unknown kind of log '{path.suffix}'.",
            place=str(path),
            remedy=f"Supported are {', '.join(SUFFIXES)}; convert the log to one of these.",
            evidence={"suffix": path.suffix, "choices": SUFFIXES},
        ) from None


def _history(table: Table, recording: Recording | None) -> tuple[Step, ...]:
    """The history a file of our own carries, once its content is seen to be the one it was written with."""
    if KEY not in table.stamp:
        return ()
    stamp = parsed(str(table.stamp[KEY]))
    digest = (recording or assemble(table)[0]).digest
    if stamp.digest != digest:
        raise RecordingError(
            f"the content does not match the digest {stamp.digest[:12]} it was written with: the file is "
            "damaged, or was changed and its history is no longer true.",
            remedy=f"Restore the file, or remove its entry '{KEY}'.",
            evidence={"digest": digest, "written": stamp.digest},
        )
    return stamp.provenance
