"""Results under the digest of what they depend on: `store/ab/abcdef….npz`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.campaign.failure import Failure
from steelyard.campaign.result import decode, encode, is_whole
from steelyard.errors import InputError
from steelyard.files import write_bytes

_KEY = re.compile(r"[0-9a-f]{64}")


class DamagedError(InputError):
    """A stored file is not what was written."""


class Store:
    """A folder of results. A file appears whole or not at all, so several processes may write at once.

    Attributes:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Where the result of a key is, or would be.

        Args:
            key: 64 hexadecimal digits.

        Returns:
            The file.

        Raises:
            InputError: it is no key.
        """
        if not _KEY.fullmatch(key):
            raise InputError(f"'{key[:80]}' is not a key.", place="store")
        return self.folder / key[:2] / f"{key}.npz"

    def read(self, key: str) -> bytes | None:
        """The bytes of a result.

        Args:
            key: of the result.

        Returns:
            The bytes, or None when there is no such result.

        Raises:
            DamagedError: the file does not fit its seal.
        """
        return _read(self.path(key))

    def result(self, key: str) -> dict[str, Any] | None:
        """A result.

        Args:
            key: of the result.

        Returns:
            What the task returned, or None when there is no such result.

        Raises:
            DamagedError: the file does not fit its seal.
        """
        content = self.read(key)
        return None if content is None else decode(content)

    def write(self, key: str, content: bytes) -> None:
        """Keep a result.

        Args:
            key: of the result.
            content: what `encode` gave.

        Raises:
            InputError: the folder cannot be written to.
        """
        _write(self.path(key), content)

    def failure(self, key: str) -> Failure | None:
        """The lasting failure of a task.

        Args:
            key: of the result it failed to give.

        Returns:
            The failure, or None when there is none.

        Raises:
            DamagedError: the file does not fit its seal.
        """
        content = _read(self._failed(key))
        return None if content is None else Failure(**decode(content))

    def write_failure(self, key: str, failure: Failure) -> None:
        """Keep a lasting failure.

        Args:
            key: of the result it failed to give.
            failure: why.
        """
        document: Mapping[str, Any] = vars(failure)
        _write(self._failed(key), encode(document))

    def clean(self) -> None:
        """Remove what writers left half-written when they were killed; none may be at work."""
        for file in self.folder.glob("*/.*.tmp"):
            file.unlink(missing_ok=True)

    def _failed(self, key: str) -> Path:
        return self.path(key).with_suffix(".failed.npz")


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError(f"cannot be read: {error.strerror}.", place=str(path)) from error
    if not is_whole(content):
        raise DamagedError("is damaged or half-written.", place=str(path))
    return content


def _write(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
