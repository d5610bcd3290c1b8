"""Results under the digest of what they depend on, each sealed with the digest of its bytes."""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.campaigns.task import Failure
from steelyard.document import parse_json
from steelyard.errors import InputError
from steelyard.files import write_bytes

# Results as files: a plain `.npz` with a JSON document, sealed with the digest of its bytes.
#
# Arrays are members of the archive; everything else is the member `document.json`, where an array is replaced
# by the name of its member. The seal is the comment of the archive, which other readers ignore; a file that
# was cut, altered or only half written does not fit it. The same result gives the same bytes on every
# machine, and nothing is executed on reading, unlike a pickle.

DOCUMENT = "document.json"
_ARRAY, _FLOAT = "$array", "$float"
_SEAL = 64
_UNSAFE = re.compile(r"[^\w.-]")


def encode_result(result: Mapping[str, Any]) -> bytes:
    """Turn a result into the bytes of a file.

    Args:
        result: text keys; values are None, booleans, numbers, text, arrays of numbers or text, and lists and
            mappings of such. Tuples are read back as lists, NumPy scalars as plain numbers.

    Returns:
        The bytes.

    Raises:
        InputError: a value is of another kind; the message says where.
    """
    if not isinstance(result, Mapping):
        raise InputError(f"must be a mapping, got {type(result).__name__}.", place="result")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    document = _plain(result, "", arrays)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.comment = b"0" * _SEAL
        # A ZipInfo of its own carries no time of day, so that equal results are equal files.
        archive.writestr(zipfile.ZipInfo(DOCUMENT), json.dumps(document, separators=(",", ":")))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    content = stream.getvalue()[:-_SEAL]
    return content + hashlib.sha256(content).hexdigest().encode()


def is_whole(content: bytes) -> bool:
    """Whether the bytes are those that were written.

    Args:
        content: of a file.

    Returns:
        Whether the seal fits.
    """
    body = memoryview(content)[:-_SEAL]
    return hashlib.sha256(body).hexdigest().encode() == content[-_SEAL:]


def decode_result(content: bytes) -> dict[str, Any]:
    """Read a result back, exact to the last bit.

    Args:
        content: what `encode_result` gave.

    Returns:
        The result; its arrays are read-only.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = parse_json(archive.read(DOCUMENT), place=DOCUMENT)
        result: dict[str, Any] = _rebuilt(document, archive)
    return result


def _plain(value: Any, place: str, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return _plain(value.item(), place, arrays)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_FLOAT: str(value)}
    if isinstance(value, np.ndarray):
        return {_ARRAY: _kept(value, place, arrays)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key in (_ARRAY, _FLOAT):
                raise InputError(f"{key!r} cannot be a key.", place=f"result{place}")
        return {key: _plain(item, f"{place}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}.{number}", arrays) for number, item in enumerate(value)]
    raise InputError(
        f"holds a {type(value).__name__}.", place=f"result{place}", remedy="Return JSON or arrays."
    )


def _kept(array: np.ndarray[Any, Any], place: str, arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    if array.dtype.kind not in "biufcU":
        raise InputError(
            f"is an array of type {array.dtype}, not of numbers or text.", place=f"result{place}"
        )
    name = stem = _UNSAFE.sub("_", place.lstrip("."))
    while name in arrays:
        name = f"{stem}_{len(arrays)}"
    # One layout and byte order, whatever operation made the array: a transposed one is Fortran-ordered.
    arrays[name] = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return name


def _rebuilt(document: Any, archive: zipfile.ZipFile) -> Any:
    if isinstance(document, list):
        return [_rebuilt(item, archive) for item in document]
    if not isinstance(document, dict):
        return document
    if _FLOAT in document:
        return float(document[_FLOAT])
    if _ARRAY in document:
        member = io.BytesIO(archive.read(f"{document[_ARRAY]}.npy"))
        array = np.lib.format.read_array(member, allow_pickle=False)
        array.flags.writeable = False
        return array
    return {key: _rebuilt(item, archive) for key, item in document.items()}


# The folder: `store/ab/abcdef….npz`

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
        return None if content is None else decode_result(content)

    def write(self, key: str, content: bytes) -> None:
        """Keep a result.

        Args:
            key: of the result.
            content: what `encode_result` gave.

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
        return None if content is None else Failure(**decode_result(content))

    def write_failure(self, key: str, failure: Failure) -> None:
        """Keep a lasting failure.

        Args:
            key: of the result it failed to give.
            failure: why.
        """
        document: Mapping[str, Any] = vars(failure)
        _write(self._failed(key), encode_result(document))

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
