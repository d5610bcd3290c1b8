"""Requests that a record can hold, so that a result can be made again."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from steelyard.errors import InputError


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
        return tuple(name for name in self.named if name is not None and Path(name).exists())

    def document(self) -> dict[str, Any]:
        """The request with the digests of what it reads, for the record."""
        digests = {name: digest_of(Path(name)) for name in self.inputs}
        return {"command": self.command, **asdict(self), "inputs": digests}  # type: ignore[call-overload]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The request that a record holds.

        Args:
            document: as `document` makes it.

        Returns:
            The request.

        Raises:
            InputError: it is another command's, or a later version's.
        """
        needed = {field.name: field.default is MISSING for field in fields(cls)}  # type: ignore[arg-type]
        known, given = set(needed), set(document) - {"command", "inputs"}
        missing = any(name not in given for name, must in needed.items() if must)
        if document.get("command") != cls.command or given - known or missing:
            raise InputError(
                f"holds no request of `steelyard {cls.command}` that this version knows.", place="record"
            )
        values = {name: document[name] for name in given}
        return cls(**{name: tuple(x) if isinstance(x, list) else x for name, x in values.items()})


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            if path.is_dir():
                whole.update(file.relative_to(path).as_posix().encode())
            whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()
