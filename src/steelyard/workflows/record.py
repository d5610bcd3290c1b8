"""Requests that a record can hold, so that a result can be made again."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

from steelyard.archive import from_document
from steelyard.document import kind_of, read_json
from steelyard.errors import InputError
from steelyard.files import file_digest, is_regular

LARGEST = 2 << 30
"""Largest input that is read for its digest, bytes."""
MOST_FILES = 10_000
"""Most files of a folder that is an input."""


class RecordedRequest(ABC):
    """The arguments and options of a command; its subclasses are frozen dataclasses of plain values."""

    command: ClassVar[str]
    """The command that was given."""

    @property
    @abstractmethod
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files it reads."""
        return tuple(name for name in self.named if name is not None and _exists(name))

    def document(self) -> dict[str, Any]:
        """The request with the digests of what it reads, for the record."""
        digests = {name: digest_of(Path(name)) for name in self.inputs}
        return {"command": self.command, **asdict(self), "inputs": digests}  # type: ignore[call-overload]

    @classmethod
    def of(cls, document: Mapping[str, Any], place: str) -> Self:
        """The request that a record holds; the types of the fields are the schema it is read by.

        Args:
            document: as `document` makes it.
            place: what to call it in messages.

        Returns:
            The request.

        Raises:
            InputError: it is another command's, or a later version's, or a field is of another type.
        """
        if document.get("command") != cls.command:
            raise InputError(
                f"holds no request of `steelyard {cls.command}` that this version knows.", place=place
            )
        given = {name: item for name, item in document.items() if name not in ("command", "inputs")}
        try:
            return from_document(cls, given, place=place)
        except InputError as error:
            remedy = f"This version's `steelyard {cls.command}` did not write it; identify anew."
            raise InputError(error.message, place=error.place, remedy=remedy) from error

    def require_unchanged(self, inputs: object, record: Path, place: str) -> None:
        """Refuse inputs that are gone, or are no longer what a record says.

        Args:
            inputs: digests by name, as the record has them.
            record: the record.
            place: what to call them in messages.

        Raises:
            InputError: one is missing, changed, or not among what the request reads.
        """
        if not isinstance(inputs, dict) or not all(isinstance(x, str) for x in inputs.values()):
            what = kind_of(inputs) if not isinstance(inputs, dict) else "another table"
            raise InputError(f"expected a table of digests by input, got {what}.", place=place)
        for name, digest in inputs.items():
            if name not in self.named:
                raise InputError(
                    f"'{name[:80]}' is no input that the request names.",
                    place=place,
                    remedy="The record was changed by hand; identify anew.",
                )
            if not _exists(name):
                raise InputError(
                    "there is no such file.",
                    place=f"input {name[:300]}",
                    remedy="Run replay from the folder the result was identified in.",
                )
            if digest_of(Path(name)) != digest:
                raise InputError(
                    f"was changed since {record} was written, so the same result cannot be expected.",
                    place=f"input {name}",
                    remedy="Restore it, or identify anew.",
                )


def require_seed(seed: int) -> None:
    """Refuse a seed that no generator of random numbers takes.

    Raises:
        InputError: it is negative or has more than 128 bits.
    """
    if not 0 <= seed < 1 << 128:
        raise InputError(f"must be 0 to {float((1 << 128) - 1):.3g}.", place="--seed")


def _exists(name: str) -> bool:
    """Whether there is something of a name, which may be one that no file can have."""
    try:
        return os.path.exists(name)  # noqa: PTH110  # `Path.exists` raises for a name too long
    except ValueError:
        return False


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files.

    Raises:
        InputError: it is neither, or larger than `LARGEST`, or holds more than `MOST_FILES`.
    """
    whole = hashlib.sha256()
    if not path.is_dir():
        whole.update(bytes.fromhex(file_digest(path, most=LARGEST)))
        return whole.hexdigest()
    files: list[Path] = []
    for file in path.rglob("*"):
        files.append(file)
        if len(files) > MOST_FILES:
            raise InputError(
                f"is a folder of more than {MOST_FILES} files, which no log or result is.", place=str(path)
            )
    left = LARGEST
    for file in sorted(file for file in files if is_regular(file)):
        whole.update(file.relative_to(path).as_posix().encode())
        whole.update(bytes.fromhex(file_digest(file, most=left)))
        left -= file.stat().st_size
    return whole.hexdigest()


def read_back(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Which programs read each model of a written result back and agree, as its record says."""
    record = read_json(files["record.json"])
    judges: dict[str, list[str]] = record.get("read_back", {})
    return judges
