"""Files that appear whole or not at all, alone or together, and those that are read: regular and bounded."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, TypeVar

from steelyard.errors import InputError
from steelyard.interruptions import interrupted_afterwards

T = TypeVar("T")
_BLOCK = 1 << 20
_LONGEST = 300
_MADE_UP = ("/proc/", "/sys/", "/dev/")
"""Where files are no files: reading them may never end."""

FilePath = str | os.PathLike[str]
"""What names a file or a folder: text, a `pathlib.Path`, or anything else that `open` takes."""

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where a disk is full, or a share of it, or the largest size of a file is reached."""


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
    # An interruption that fell into the cleaning up would leave what was begun.
    with interrupted_afterwards():
        try:
            with beside.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
        except OSError as error:
            raise unwritable(path, error) from error
        finally:
            beside.unlink(missing_ok=True)


def write_files(contents: Iterable[tuple[FilePath, bytes]]) -> None:
    """Write files wherever they are: all beside their places first, then moved into them in their order.

    Args:
        contents: paths, each with what to write; the folders exist, and files that exist are replaced.

    Raises:
        InputError: one of them cannot be written; then none was, unless the disk failed between two moves.
    """
    whole = {Path(path): content for path, content in contents}
    for path in whole:
        if path.is_dir():
            raise InputError("is a directory.", place=str(path), remedy="Give the path of a file.")
    beside = {path: path.with_name(f".{secrets.token_hex(8)}.tmp") for path in whole}
    path = Path()
    with interrupted_afterwards():
        try:
            for path, content in whole.items():
                write_bytes(beside[path], content)
            for path in whole:
                beside[path].replace(path)
        except InputError as error:
            raise InputError(error.message, place=str(path), remedy=error.remedy) from error
        except OSError as error:
            raise unwritable(path, error) from error
        finally:
            for temporary in beside.values():
                temporary.unlink(missing_ok=True)


def unwritable(path: FilePath, error: OSError) -> InputError:
    """What is said of a file or a folder that the system does not let us write.

    Args:
        path: what was to be written.
        error: what the system says.

    Returns:
        The error to raise.
    """
    remedy = "Check that its folder exists and can be written to."
    if error.errno in NO_SPACE:
        remedy = "Make room on its disk, or choose another one."
    return InputError(f"cannot be written: {error.strerror or error}.", place=str(path), remedy=remedy)


def write_together(
    folder: FilePath, writers: Mapping[str, Callable[[FilePath], object]], *, gone: Iterable[str] = ()
) -> None:
    """Write files of one folder that belong together: whatever is there belongs to the first, at any instant.

    All are written beside the folder's files before any of those is touched. Then the earlier ones are
    removed but for the first, the first is replaced, and the others follow in their order.

    Args:
        folder: where; it exists.
        writers: names of the files, each with what writes it to a path it is given.
        gone: names of files of earlier results that have no successor.

    Raises:
        InputError: one of them cannot be written.
    """
    folder = Path(folder)
    beside = folder / f".{secrets.token_hex(8)}.tmp"
    first, *others = writers
    name = first
    with interrupted_afterwards():
        try:
            beside.mkdir()
            for name, writer in writers.items():
                writer(beside / name)
            for name in (*others, *gone):
                (folder / name).unlink(missing_ok=True)
            for name in writers:
                (beside / name).replace(folder / name)
        except InputError as error:
            # The reader knows nothing of the folder beside.
            raise InputError(error.message, place=str(folder / name), remedy=error.remedy) from error
        except OSError as error:
            raise unwritable(folder / name, error) from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)


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
    with interrupted_afterwards():
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
