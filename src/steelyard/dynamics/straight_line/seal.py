"""A seal on a folder of machine code: a file that is not what was written is removed, not executed.

Numba loads its files without checking them. The seal lists the SHA-256 of each; it guards against files that
were cut short, damaged or exchanged. It cannot guard against someone who may write to the folder and reseals
it, so folders that others may write to are not used at all.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from steelyard.files import write_text

_SEAL = "seal.sha256"
_MACHINE_CODE = "__pycache__"


def is_private(folder: Path) -> bool:
    """Whether nobody but the user may write to a folder.

    Args:
        folder: an existing folder.

    Returns:
        True if it is the user's own and not writable for others, or where the system has no such notion.
    """
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def seal(folder: Path) -> None:
    """Write down what the machine code in a folder is.

    Args:
        folder: the folder of a module.
    """
    lines = [f"{_hash(file)}  {file.name}\n" for file in _files(folder)]
    write_text(folder / _SEAL, "".join(lines))


def remove_unsealed(folder: Path) -> None:
    """Remove machine code that the seal does not know; it will be compiled again.

    Args:
        folder: the folder of a module.
    """
    try:
        listed = set((folder / _SEAL).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        listed = set()
    broken = [file for file in _files(folder) if f"{_hash(file)}  {file.name}" not in listed]
    if broken:
        # An index may point to a removed file; without any of them Numba starts afresh.
        for file in _files(folder):
            file.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    inside = folder / _MACHINE_CODE
    return (
        sorted(file for file in inside.iterdir() if file.suffix in (".nbi", ".nbc"))
        if inside.is_dir()
        else []
    )


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
