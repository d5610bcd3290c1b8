"""Files that appear whole or not at all, and those that are read: regular ones, of bounded size."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from steelyard.errors import InputError

T = TypeVar("T")
_BLOCK = 1 << 20
_LONGEST = 300
_MADE_UP = ("/proc/", "/sys/", "/dev/")
"""Where files are no files: reading them may never end."""

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


def require_possible(path: FilePath) -> None:
    """Refuse a path that no file can have: too long, or with a character of no name.

    Args:
        path: where something is to be written; it need not exist.

    Raises:
        InputError: it cannot be a path.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be written to: {why}.", place=_shortened(path), remedy="Choose another name."
        ) from error


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


def read_bytes(path: FilePath, *, most: int) -> bytes:
    """Read a regular file of bounded size.

    Args:
        path: the file; a device, a pipe or what the system makes up under `/proc` is none.
        most: largest size, bytes.

    Returns:
        Its content.

    Raises:
        InputError: there is no such file, it is no regular one, too large, or cannot be read.
    """
    with _opened(path) as stream:
        content = _guarded(path, lambda: stream.read(most + 1))
    if len(content) > most:
        raise InputError(
            f"is larger than {most / 2**20:g} MiB.", place=_shortened(path), remedy="Give a smaller file."
        )
    return content


def file_digest(path: FilePath, *, most: int) -> str:
    """The SHA-256 of a regular file of bounded size.

    Args:
        path: the file.
        most: largest size, bytes.

    Returns:
        64 hexadecimal digits.

    Raises:
        InputError: there is no such file, it is no regular one, too large, or cannot be read.
    """
    whole, left = hashlib.sha256(), most
    with _opened(path) as stream:
        while block := _guarded(path, lambda: stream.read(_BLOCK)):
            whole.update(block)
            left -= len(block)
            if left < 0:
                raise InputError(f"is larger than {most / 2**20:g} MiB.", place=_shortened(path))
    return whole.hexdigest()


def is_regular(path: FilePath) -> bool:
    """Whether a path names a regular file that the system does not make up while it is read.

    Args:
        path: any path, also one that no file can have.

    Returns:
        Whether it is one.
    """
    try:
        found = Path(path).stat()
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and not real.startswith(_MADE_UP)


def _opened(path: FilePath) -> BinaryIO:
    if not is_regular(path):
        try:
            Path(path).stat()
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        what = "is a directory." if Path(path).is_dir() else "is not a regular file."
        raise InputError(what, place=_shortened(path), remedy="Give the path of a file.")
    return _guarded(path, lambda: Path(path).open("rb"))


def _guarded(path: FilePath, act: Callable[[], T]) -> T:
    try:
        return act()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: FilePath, error: Exception) -> InputError:
    why = getattr(error, "strerror", None) or str(error)
    return InputError(f"cannot be read: {why}.", place=_shortened(path), remedy="Check the path.")


def _shortened(path: FilePath) -> str:
    """A path as a message can hold it."""
    text = str(path)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
