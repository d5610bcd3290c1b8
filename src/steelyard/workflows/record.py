"""Requests that a record can hold, so that a result can be made again.

A request is a frozen dataclass of plain values, made from the arguments of a workflow. What was given as an
object, such as a robot, stands in it by a name in angle brackets; the object itself is kept beside it.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np

from steelyard.archive import digest, from_document
from steelyard.document import kind_of, read_json
from steelyard.errors import InputError
from steelyard.files import file_digest, is_regular
from steelyard.recording import DataFrame, Recording, log_files, log_name
from steelyard.workflows.options import text_of, texts_of

R = TypeVar("R", bound="RecordedRequest")

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
        return tuple(name for name in self.named if name is not None and _is_input(name))

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
        for name in self.named:
            if name is not None and is_object(name):
                raise InputError(
                    f"{name[:80]} was given as an object, which a record only names.",
                    place=place,
                    remedy="A result is made again from files alone; identify anew, with paths.",
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
            if not _is_input(name):
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


@dataclass(frozen=True)
class GivenObjects:
    """What a workflow was given as objects, by the names that its request has for them.

    Attributes:
        by_name: the objects.
    """

    by_name: dict[str, Any] = field(default_factory=dict)

    def named(self, given: Any) -> str:
        """The name of what is given: a path itself; of an object, which is kept, its kind and its digest.

        Args:
            given: a path, or an object such as a robot: `<Robot panda, sha256 0123456789ab>`.

        Returns:
            Text for a request.
        """
        if isinstance(given, str | PathLike):
            return os.fspath(given)
        if isinstance(given, Recording | Mapping | DataFrame):
            name = log_name(given)
        else:
            called = getattr(given, "name", None)
            sha256 = getattr(given, "digest", None) or digest(given)
            name = f"<{type(given).__name__}{f' {called}' if called else ''}, sha256 {sha256[:12]}>"
        self.by_name[name] = given
        return name

    def of(self, name: Any) -> Any:
        """What a name of a request stands for.

        Args:
            name: a path, or the name of an object.

        Returns:
            The object, or the path as it is.
        """
        return self.by_name.get(name, name)


def is_object(name: str) -> bool:
    """Whether a name in a request is that of an object, not of a file.

    Args:
        name: text of a request.

    Returns:
        Whether it is.
    """
    return name.startswith("<") and name.endswith(">")


def request_of(cls: type[R], given: Mapping[str, Any], objects: GivenObjects) -> R:
    """The request of a workflow's arguments: every value as the text or number that a record holds.

    A field takes the argument of its name, or of its name without the plural's s: records say `known_loads`
    of what is given as `known_load`.

    Args:
        cls: the request; its fields are parameters of the workflow.
        given: the arguments by name; what is no field is passed over.
        objects: takes those that are no text, number, list of numbers or dictionary.

    Raises:
        InputError: a list or a dictionary holds what is no number.
    """
    kinds = get_type_hints(cls)
    values: dict[str, Any] = {}
    for item in fields(cls):  # type: ignore[arg-type]
        name = item.name if item.name in given else item.name.removesuffix("s")
        if name in given:
            place = f"--{name.replace('_', '-')}"
            values[item.name] = _recorded(given[name], kinds[item.name], objects, place)
    return cls(**values)


def _recorded(value: Any, kind: Any, objects: GivenObjects, place: str) -> Any:
    """A value as a field of a request holds it: texts, a text, or a number, by the type of the field."""
    if kind == tuple[str, ...]:
        if value is None:
            return ()
        if isinstance(value, Mapping):
            return texts_of(value, place)
        several = isinstance(value, Sequence) and not isinstance(value, str)
        return tuple(_text(one, objects, place) for one in (value if several else (value,)))
    if value is None or isinstance(value, bool):
        return value
    if kind not in (str, str | None):
        return value.item() if isinstance(value, np.generic) else value
    return _text(value, objects, place)


def _text(value: Any, objects: GivenObjects, place: str) -> str | None:
    """A path, numbers, names or pairs of names as text; the name of an object."""
    if isinstance(value, str | PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping) and value and all(isinstance(x, str) for x in value.values()):
        return _pairs(value, place)
    if isinstance(value, Sequence) and value and all(isinstance(x, str) for x in value):
        return ",".join(value)
    if isinstance(value, int | float | np.generic | np.ndarray | Sequence | Mapping):
        return text_of(value, place)
    return objects.named(value)


def _pairs(value: Mapping[str, str], place: str) -> str:
    if unsayable := [x for x in (*value, *value.values()) if "," in x or "=" in x]:
        raise InputError(
            f"'{unsayable[0]}' has a comma or an equals sign.",
            place=place,
            remedy="Write such names into a JSON or TOML file, and give its path.",
        )
    return ",".join(f"{name}={meaning}" for name, meaning in value.items())


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


def _is_input(name: str) -> bool:
    """Whether a name is of a file, a folder, or of episodes of a dataset."""
    return _exists(name) or bool(log_files(name))


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files; of a dataset without its videos.

    Raises:
        InputError: it is neither, or larger than `LARGEST`, or holds more than `MOST_FILES`.
    """
    whole = hashlib.sha256()
    if of_dataset := log_files(path):
        left = LARGEST
        for file in of_dataset:
            whole.update(file.relative_to(of_dataset[0].parents[1]).as_posix().encode())
            whole.update(bytes.fromhex(file_digest(file, most=left)))
            left -= file.stat().st_size
        return whole.hexdigest()
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
