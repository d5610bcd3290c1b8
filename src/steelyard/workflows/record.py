"""Requests that a record can hold, so that a result can be made again.

A request is a frozen dataclass of plain values, made from the arguments of a workflow. What was given as an
object, such as a robot, stands in it by a name in angle brackets; the object itself is kept beside it.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np

from steelyard.archive import digest, from_document
from steelyard.document import kind_of, read_json
from steelyard.errors import InputError
from steelyard.files import file_digest, is_regular
from steelyard.workflows.options import text_of, texts_of

LARGEST = 2 << 30
"""Largest input that is read for its digest, bytes."""
MOST_FILES = 10_000
"""Most files of a folder that is an input."""


class GivenObjects:
    """Objects that were given where the command line takes paths, by the names that a record has of them."""

    def __init__(self) -> None:
        self._by_name: dict[str, Any] = {}

    def name(self, given: Any, place: str) -> str:
        """Keep an object and name it, as in `<Robot panda, sha256 0123456789ab>`.

        Args:
            given: the object, which has a digest or is data.
            place: what to call it in messages.

        Returns:
            The name, in angle brackets.

        Raises:
            InputError: nothing says what it holds.
        """
        called = getattr(given, "name", None)
        try:
            sha256 = getattr(given, "digest", None) or digest(given)
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot be a {type(given).__name__}.", place=place) from error
        name = f"<{type(given).__name__}{f' {called}' if called else ''}, sha256 {sha256[:12]}>"
        self._by_name[name] = given
        return name

    def __getitem__(self, name: str | None) -> Any:
        """The object of a name; the name itself where it is a path."""
        return self._by_name.get(name, name) if name is not None else None


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
    def given(cls, arguments: Mapping[str, Any]) -> tuple[Self, GivenObjects]:
        """The request that the arguments of a workflow are, and the objects among them.

        Every field takes the argument of its name, or of its name without the plural's s where a record says
        `known_loads` of what is given as `known_load`. Paths, numbers, lists and dictionaries become the text
        that the command line takes.

        Args:
            arguments: by name; those that no field has are left out.

        Returns:
            The request and the objects.

        Raises:
            InputError: a number is none, or an object is no data.
        """
        objects, hints, values = GivenObjects(), get_type_hints(cls), {}
        for field in fields(cls):  # type: ignore[arg-type]
            name = field.name if field.name in arguments else field.name.removesuffix("s")
            if name in arguments:
                place = f"--{name.replace('_', '-')}"
                values[field.name] = _plain(arguments[name], hints[field.name], objects, place)
        return cls(**values), objects

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
        for name in self.named:
            if name is not None and name.startswith("<") and name.endswith(">"):
                raise InputError(
                    "was given as an object in Python, which a record does not hold.",
                    place=f"input {name}",
                    remedy="Make the result again where the object is, or from files.",
                )
        if not isinstance(inputs, dict) or not all(isinstance(x, str) for x in inputs.values()):
            what = kind_of(inputs) if not isinstance(inputs, dict) else "another table"
            raise InputError(f"expected a table of digests by input, got {what}.", place=place)
        for name, sha256 in inputs.items():
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
            if digest_of(Path(name)) != sha256:
                raise InputError(
                    f"was changed since {record} was written, so the same result cannot be expected.",
                    place=f"input {name}",
                    remedy="Restore it, or identify anew.",
                )


def _plain(given: Any, hint: Any, objects: GivenObjects, place: str) -> Any:
    """An argument as a record holds it: text, texts, or a number, by the type of the field."""
    kinds = set(get_args(hint)) if get_origin(hint) is not tuple else {tuple}
    kinds = kinds or {hint}
    if tuple in kinds:
        if given is None:
            return ()
        if isinstance(given, Mapping):
            return texts_of(given, place)
        several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
        return tuple(_text(item, objects, place) for item in (given if several else (given,)))
    if given is None:
        return None
    if str in kinds:
        return _text(given, objects, place)
    if bool in kinds:
        return bool(given)
    number = int if int in kinds else float
    if isinstance(given, bool | str) or not isinstance(given, int | float | np.integer | np.floating):
        raise InputError(f"expected a number, got {given!r}.", place=place)
    if number(given) != given and given == given:
        raise InputError(f"expected a whole number, got {given!r}.", place=place)
    return number(given)


def _text(given: Any, objects: GivenObjects, place: str) -> str | None:
    """A path, numbers or a table of names as text; the name of anything else."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, PathLike):
        return os.fspath(given)
    if isinstance(given, Mapping) and any(isinstance(value, str) for value in given.values()):
        words = [word for pair in given.items() for word in pair]
        # Text between commas cannot hold these: such a table is kept as it is.
        plain = all(word == word.strip() and word and not set(",=") & set(word) for word in words)
        return ",".join(texts_of(given, place)) if plain else objects.name(given, place)
    if isinstance(given, Sequence) and given and all(isinstance(word, str) for word in given):
        return ",".join(given)
    if isinstance(given, Mapping | Sequence | np.ndarray | np.generic | int | float):
        return text_of(given, place)
    return objects.name(given, place)


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
