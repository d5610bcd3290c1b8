"""Definitions of ROS 2 messages, the text of `.msg` files: which fields a type has, in which order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

PRIMITIVES = {
    **dict.fromkeys(("bool", "byte", "char", "uint8"), "u1"),
    **{name: name[0] + str(int(name.strip("uint")) // 8) for name in ("uint16", "uint32", "uint64")},
    **{name: "i" + str(int(name.strip("int")) // 8) for name in ("int8", "int16", "int32", "int64")},
    "float32": "f4",
    "float64": "f8",
}
"""NumPy's kind of each number, by its word in a definition."""
TEXT = "string"
_MOST_LETTERS, _MOST_FIELDS, _LONGEST_LENGTH = 1 << 20, 5000, 12
_FIELD = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z0-9_/]*)(?:<=[0-9]+)?(?P<array>\[[^\]]*\])?\s+(?P<name>[a-z]\w*)"
)
_CONSTANT = re.compile(r"[A-Za-z0-9_/]+(?:<=[0-9]+)?\s+[A-Z][A-Z0-9_]*\s*=")
_BANNER = re.compile(r"={10,}")


class DefinitionError(Exception):
    """A definition cannot be used."""


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        name: its name.
        type: a word of `PRIMITIVES`, `string`, or the name of another message, `package/Type`.
        length: how many of them it holds; None for one, 0 for as many as the message says.
    """

    name: str
    type: str
    length: int | None


@dataclass(frozen=True)
class Definition:
    """A type of message with the types that it is made of.

    Attributes:
        type: its name, `package/Type`.
        fields: the fields of each type, by its name.
    """

    type: str
    fields: Mapping[str, tuple[Field, ...]]

    @classmethod
    def read(cls, type_name: str, text: str) -> Definition:
        """Read a definition as bags carry it: the type's own text, then `MSG: package/Type` and each other's.

        Args:
            type_name: name of the type, `package/Type` or `package/msg/Type`.
            text: the definition; a part starts with a line of equals signs and the line `MSG: …`.

        Raises:
            DefinitionError: it cannot be read.
        """
        if len(text) > _MOST_LETTERS:
            raise DefinitionError(f"of {len(text)} letters is too long")
        own = short_type(type_name)
        fields: dict[str, list[Field]] = {own: []}
        part, count = own, 0
        for line in text.splitlines():
            bare = line.partition("#")[0].strip()
            if not bare or _BANNER.fullmatch(bare):
                continue
            if bare.startswith("MSG:"):
                part = short_type(bare[4:].strip())
                fields[part] = []
            elif not _CONSTANT.match(bare):
                count += 1
                if count > _MOST_FIELDS:
                    raise DefinitionError(f"holds more than {_MOST_FIELDS} fields")
                fields[part].append(_field(bare, part))
        return cls(own, {name: tuple(listed) for name, listed in fields.items()})

    def has(self, path: tuple[str, ...]) -> bool:
        """Return whether a message has a field.

        Args:
            path: names of the fields that lead to it, from the outermost.

        Returns:
            Whether it has.
        """
        place: str | None = self.type
        for name in path:
            known = {field.name: field.type for field in self.fields.get(place or "", ())}
            place = known.get(name)
            if place is None:
                return False
        return True


def short_type(name: str) -> str:
    """Return a type's name without the word that says that it is a message.

    Args:
        name: such as `sensor_msgs/msg/JointState`.

    Returns:
        Such as `sensor_msgs/JointState`.
    """
    return name.replace("/msg/", "/")


def _field(line: str, part: str) -> Field:
    match = _FIELD.match(line)
    if match is None:
        raise DefinitionError(f"has a line that is no field: '{line[:60]}'")
    kind = match["type"]
    if kind == "wstring":
        raise DefinitionError("holds wide text, which is not read")
    if kind not in PRIMITIVES and kind != TEXT:
        package = part.rpartition("/")[0]
        # A header needs no package, by a custom older than ROS 2.
        kind = (
            "std_msgs/Header"
            if kind == "Header"
            else short_type(kind if "/" in kind else f"{package}/{kind}")
        )
    return Field(match["name"], kind, _length(match["array"]))


def _length(array: str | None) -> int | None:
    if array is None:
        return None
    if not array[1:-1].isdecimal():
        return 0
    if len(array) > _LONGEST_LENGTH:
        raise DefinitionError(f"holds an array of {array[1:20]} values")
    return int(array[1:-1])
