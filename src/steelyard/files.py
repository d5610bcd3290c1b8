"""Files that appear whole or not at all, and the reading of JSON."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from steelyard.errors import InputError

FilePath = str | os.PathLike[str]
"""What names a file or a folder: text, a `pathlib.Path`, or anything else that `open` takes."""


def write_bytes(path: FilePath, content: bytes) -> None:
    """Write a file: first beside its place, then moved into it in one step.

    Args:
        path: the file; an existing one is replaced.
        content: what to write.

    Raises:
        InputError: it is a folder, or its folder does not exist or cannot be written to.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError("is a directory.", place=str(path), remedy="Give the path of a file.")
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}.",
            place=str(path),
            remedy="Check that its folder exists and can be written to.",
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def require_writable(folder: FilePath) -> None:
    """Find out whether a folder can be written to, or made where it is missing, before work is spent on it.

    A file is made and removed in the folder, or in the nearest one above it that exists: rights alone do not
    tell of full or read-only disks.

    Args:
        folder: where something is to be written; it need not exist, and is not made.

    Raises:
        InputError: it is a file or lies below one, or nothing can be written there.
    """
    folder = Path(folder)
    ground = folder.absolute()
    while not os.path.lexists(ground):
        ground = ground.parent
    if not ground.is_dir():
        raise InputError(
            f"cannot be written to: {ground} is no folder.",
            place=str(folder),
            remedy="Give the path of a folder.",
        )
    probe = ground / f".{secrets.token_hex(8)}.tmp"
    try:
        probe.touch(exist_ok=False)
    except OSError as error:
        raise InputError(
            f"cannot be written to: {error.strerror or error}.",
            place=str(folder if ground == folder.absolute() else ground),
            remedy="Choose another folder, or make this one writable.",
        ) from error
    finally:
        probe.unlink(missing_ok=True)


def write_text(path: FilePath, text: str) -> None:
    """Write a UTF-8 text file whole or not at all.

    Args:
        path: the file; an existing one is replaced.
        text: what to write.

    Raises:
        InputError: it is a folder, or its folder does not exist or cannot be written to.
    """
    write_bytes(path, text.encode())


def read_json(path: FilePath) -> Any:
    """Read a JSON file.

    Args:
        path: the file.

    Returns:
        What it holds.

    Raises:
        InputError: it cannot be read, or is no JSON.
    """
    place = str(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", place=place) from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError("is not a JSON file.", place=place) from error
