"""Messages in CDR, ROS 2's encoding: walked by their definition once per layout, then taken out in bulk."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.recording.bags.definition import PRIMITIVES, TEXT, Definition, Field

Path = tuple[str, ...]
"""Names of the fields that lead to a value, from the outermost."""
_MOST_LAYOUTS, _MOST_LEVELS = 64, 16
_PADDING = 8
"""Fewer bytes than this may follow a message: middleware fills it up to a multiple of four or eight."""


class MessageError(Exception):
    """A message is not what its type says."""


@dataclass(frozen=True)
class MessageLayout:
    """Where each part of a message stands; messages of a topic mostly share one.

    Attributes:
        length: bytes of the message.
        order: byte order, `<` or `>`.
        texts: the texts of each field wanted that holds some.
        places: for each field wanted that holds numbers: first byte, number of values, and their kind.
        fixed: all bytes that say where others stand, and texts: where they start, and what they are.
        rest: bytes behind the last field.
    """

    length: int
    order: str
    texts: Mapping[Path, tuple[str, ...]]
    places: Mapping[Path, tuple[int, int, str]]
    fixed: tuple[tuple[int, bytes], ...]
    rest: int

    @classmethod
    def of(cls, message: bytes, definition: Definition, wanted: frozenset[Path]) -> MessageLayout:
        """Read the layout of one message.

        Args:
            message: its bytes, with CDR's header of four bytes.
            definition: of its type.
            wanted: the fields to note.

        Raises:
            MessageError: it is not of that type.
        """
        if len(message) < 4 or message[0] != 0 or message[1] not in (0, 1):
            raise MessageError(f"of {len(message)} bytes does not start as CDR does")
        walk = _Walk(message, definition, wanted)
        try:
            walk.message(definition.type, ())
        except (struct.error, UnicodeError) as error:
            raise MessageError(f"of {len(message)} bytes is cut off or of another type: {error}") from error
        fixed = [(0, message[:4]), *((start, message[start:end]) for start, end in walk.fixed)]
        rest = len(message) - walk.at
        return cls(len(message), walk.order, walk.texts, walk.places, tuple(fixed), rest)

    def fits(self, message: bytes) -> bool:
        """Return whether a message has this layout.

        Args:
            message: its bytes.

        Returns:
            Whether it has.
        """
        return len(message) == self.length and all(
            message[start : start + len(part)] == part for start, part in self.fixed
        )

    @property
    def whole(self) -> bool:
        """Whether the fields end where the message does."""
        return self.rest < _PADDING


class _Walk:
    """A message on which we stand at some byte."""

    def __init__(self, message: bytes, definition: Definition, wanted: frozenset[Path]) -> None:
        self._message, self._definition, self._wanted = message, definition, wanted
        self.order = "<" if message[1] else ">"
        self.at = 4
        self.texts: dict[Path, tuple[str, ...]] = {}
        self.places: dict[Path, tuple[int, int, str]] = {}
        self.fixed: list[tuple[int, int]] = []

    def message(self, kind: str, path: Path) -> None:
        fields = self._definition.fields.get(kind)
        if fields is None or len(path) > _MOST_LEVELS:
            raise MessageError(f"holds a {kind[:60]}, which its definition does not explain")
        # A message without fields takes one byte, as no structure of C is empty.
        for field in fields or (Field("", "uint8", None),):
            self._field(field, (*path, field.name))

    def _field(self, field: Field, path: Path) -> None:
        count = 1 if field.length is None else (field.length or self._count())
        if field.type in PRIMITIVES:
            self._numbers(PRIMITIVES[field.type], count, path)
        elif field.type == TEXT:
            texts = tuple(self._text() for _ in range(count))
            if path in self._wanted:
                self.texts[path] = texts
        else:
            for _ in range(count):
                self.message(field.type, path)

    def _numbers(self, kind: str, count: int, path: Path) -> None:
        size = int(kind[1:])
        # Alignment counts from behind the header; an empty array is not aligned.
        start = self.at + (-(self.at - 4) % size if count else 0)
        if start + size * count > len(self._message):
            raise MessageError(f"of {len(self._message)} bytes is cut off inside its {path[-1]} values")
        if path in self._wanted:
            self.places[path] = (start, count, kind)
        self.at = start + size * count

    def _count(self) -> int:
        start = self.at
        self.at += -self.at % 4
        (count,) = struct.unpack_from(f"{self.order}I", self._message, self.at)
        self.at += 4
        self._hold(start)
        return int(count)

    def _text(self) -> str:
        length = self._count()
        start, self.at = self.at, self.at + length
        if self.at > len(self._message):
            raise MessageError(f"of {len(self._message)} bytes is cut off inside a text")
        self._hold(start)
        return self._message[start : self.at].rstrip(b"\0").decode()

    def _hold(self, start: int) -> None:
        """Note that the bytes from `start` to here say where others stand."""
        if self.fixed and self.fixed[-1][1] == start:
            start, _ = self.fixed.pop()
        self.fixed.append((start, self.at))


@dataclass(frozen=True)
class Group:
    """The messages that share a layout.

    Attributes:
        index: place of each message on its topic, shape (n,), dimensionless.
        texts: the texts of each field that holds some.
        values: the numbers of each field, shape (n, number of values), SI.
    """

    index: NDArray[np.int64]
    texts: Mapping[Path, tuple[str, ...]]
    values: Mapping[Path, Array]


def grouped(
    messages: Sequence[bytes], definition: Definition, wanted: frozenset[Path], *, whole: bool
) -> tuple[list[Group], dict[int, str]]:
    """Decode the messages of a topic.

    Args:
        messages: their bytes, in the topic's order.
        definition: of their type.
        wanted: the fields to take out.
        whole: whether the fields must end where the message does.

    Returns:
        The messages by layout, and for each message that is not of the type its index and what is wrong.
    """
    members: list[tuple[MessageLayout, list[int]]] = []
    broken: dict[int, str] = {}
    for index, message in enumerate(messages):
        known = next((listed for layout, listed in members if layout.fits(message)), None)
        if known is not None:
            known.append(index)
            continue
        try:
            layout = MessageLayout.of(message, definition, wanted)
        except MessageError as error:
            broken[index] = str(error)
            continue
        if whole and not layout.whole:
            broken[index] = f"is {layout.rest} bytes longer than its type"
        elif len(members) >= _MOST_LAYOUTS:
            broken[index] = f"has names or sizes unlike the first {_MOST_LAYOUTS} kinds of message"
        else:
            members.append((layout, [index]))
    return [_group(layout, index, messages) for layout, index in members], broken


def _group(layout: MessageLayout, index: Sequence[int], messages: Sequence[bytes]) -> Group:
    content = np.frombuffer(b"".join(messages[i] for i in index), np.uint8).reshape(len(index), layout.length)

    def taken(start: int, count: int, kind: str) -> Array:
        if not count:
            return np.empty((len(index), 0))
        width = np.dtype(kind).itemsize * count
        numbers = np.ascontiguousarray(content[:, start : start + width]).view(f"{layout.order}{kind}")
        return numbers.astype(np.float64)

    values = {path: taken(*place) for path, place in layout.places.items()}
    return Group(np.array(index), layout.texts, values)
