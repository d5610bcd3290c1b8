"""A folder of files that appears whole or not at all."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from steelyard.document import read_json
from steelyard.errors import InputError
from steelyard.files import FilePath, require_possible, require_writable, unwritable, write_bytes
from steelyard.interruptions import interrupted_afterwards
from steelyard.model import KIND


def require_free(folder: FilePath, *, force: bool = False) -> None:
    """Refuse a folder that holds something, or that could not be written in the end.

    Args:
        folder: where a result is to go; it need not exist.
        force: whether an earlier result may be replaced. A folder that is no result is never replaced: what
            it holds cannot be known to be disposable.

    Raises:
        InputError: it is a file, holds something that may not be replaced, or cannot be made where it is to
            stand.
    """
    folder = Path(folder)
    require_possible(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError("is no folder.", place=str(folder), remedy="Give the path of a folder.")
    if folder.is_mount():
        raise InputError(
            "is where a disk is mounted; a finished folder cannot be moved there.",
            place=str(folder),
            remedy="Choose a folder inside it.",
        )
    # It is finished beside its place and then moved, so the folder above is the one that is written to.
    require_writable(folder.absolute().parent)
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise InputError(
            "is not empty.", place=str(folder), remedy="Choose another, or replace it with --force."
        )
    if not _is_result(folder):
        raise InputError(
            "is not empty and holds no earlier result, so it is not replaced.",
            place=str(folder),
            remedy="Choose another folder, or empty it yourself.",
        )


def write_folder(folder: FilePath, files: Mapping[str, bytes], *, force: bool = False) -> None:
    """Write files into a new folder: first beside its place, then moved into it in one step.

    Args:
        folder: the folder; missing parents are made.
        files: content by name; a name may have folders of its own, separated by `/`.
        force: whether an earlier result may be replaced, see `require_free`.

    Raises:
        InputError: the folder is not free, a name leads outside it, or it cannot be written to.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    for name in files:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise InputError(f"'{name}' does not stay inside the folder.", place=str(folder))
    ground = next(parent for parent in folder.absolute().parents if parent.is_dir())
    fresh, old = (ground / f".{secrets.token_hex(8)}.tmp" for _ in range(2))
    place = folder
    # Interruptions wait: the old folder or the new one must stand there in the end, and nothing beside it.
    with interrupted_afterwards():
        try:
            fresh.mkdir()
            for name, content in files.items():
                place = folder / name
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                write_bytes(fresh / name, content)
            place = folder
            folder.parent.mkdir(parents=True, exist_ok=True)
            _move(fresh, folder, old)
        except InputError as error:
            raise InputError(error.message, place=str(place), remedy=error.remedy) from error
        except OSError as error:
            raise unwritable(place, error) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _move(fresh: Path, folder: Path, old: Path) -> None:
    """Put the new folder in its place; whatever stood there comes back when that fails."""
    if not folder.is_dir():
        fresh.rename(folder)
        return
    if exchanged(fresh, folder):
        shutil.rmtree(fresh, ignore_errors=True)
        return
    folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, so that a kill finds either where it was or where it should be.

    Args:
        one: a folder.
        other: another one on the same disk.

    Returns:
        Whether it was done; not every system and not every disk can.
    """
    # Python has no name for it; the C library of Linux has had one since 2018.
    exchange = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if exchange is None:
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(exchange(here, os.fsencode(one), here, os.fsencode(other), swap) == 0)


def _is_result(folder: Path) -> bool:
    try:
        record = read_json(folder / "record.json")
    except InputError:
        return False
    return isinstance(record, dict) and record.get("kind") == KIND
