"""Where a command writes to: found to be free and writable before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from steelyard.errors import InputError
from steelyard.files import require_possible, require_writable


def require_files(files: Iterable[Path], *, force: bool) -> None:
    """Refuse files that exist and may not be replaced, or that could not be written in the end.

    A command whose result is a folder asks `export.require_free` instead.

    Args:
        files: all that will be written.
        force: whether those that exist may be replaced.

    Raises:
        InputError: one is a folder, exists and is to be kept, or lies where nothing can be written.
    """
    for file in files:
        require_possible(file)
        if file.is_dir():
            raise InputError("is a folder.", place=str(file), remedy="Give the path of a file.")
        if file.exists() and not force:
            raise InputError(
                "exists already.", place=str(file), remedy="Choose another name, or replace it with --force."
            )
        require_writable(file.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, where there is none.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror or error}.", place=str(folder)) from error
