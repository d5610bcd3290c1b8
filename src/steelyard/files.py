"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from steelyard.errors import InputError


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file: first beside its place, then moved into it in one step.

    Args:
        path: the file; an existing one is replaced.
        content: what to write.

    Raises:
        InputError: it is a folder, or its folder does not exist or cannot be written to.
    """
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


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file whole or not at all.

    Args:
        path: the file; an existing one is replaced.
        text: what to write.

    Raises:
        InputError: it is a folder, or its folder does not exist or cannot be written to.
    """
    write_bytes(path, text.encode())
