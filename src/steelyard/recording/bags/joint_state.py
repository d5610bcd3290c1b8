"""`sensor_msgs/JointState` in CDR, ROS 2's encoding: found once per layout, then taken out in bulk."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array

CHANNELS = ("q", "v", "tau")
_MOST_LAYOUTS = 64
_WORDS = ("position", "velocity", "effort")


class MessageError(Exception):
    """A message is not a joint state."""


@dataclass(frozen=True)
class MessageLayout:
    """Where each part of a message stands; messages of a topic mostly share one.

    Attributes:
        length: bytes of the message.
        order: byte order, `<` or `>`.
        joints: names of its joints in their order.
        places: for q, v and tau the first byte and the number of values.
        fixed: all bytes that are neither time nor value: where they start, and what they are.
    """

    length: int
    order: str
    joints: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    fixed: tuple[tuple[int, bytes], ...]

    @classmethod
    def of(cls, message: bytes) -> MessageLayout:
        """Read the layout of one message.

        Args:
            message: its bytes, with CDR's header of four bytes.

        Raises:
            MessageError: it is not a joint state.
        """
        if len(message) < 12 or message[0] != 0 or message[1] not in (0, 1):
            raise MessageError(f"of {len(message)} bytes does not start as CDR does")
        order = "<" if message[1] else ">"
        try:
            return cls._walked(message, order)
        except (struct.error, UnicodeError) as error:
            raise MessageError(f"of {len(message)} bytes is cut off or not a joint state: {error}") from error

    @classmethod
    def _walked(cls, message: bytes, order: str) -> MessageLayout:
        at = 12
        _, at = _text(message, order, at)
        count, at = _count(message, order, at)
        names = []
        for _ in range(count):
            name, at = _text(message, order, at)
            names.append(name)
        places = []
        fixed = [(0, message[:4])]
        last = 12
        for word in _WORDS:
            count, at = _count(message, order, at)
            # Alignment counts from behind the header; an empty array is not aligned.
            start = at + (-(at - 4) % 8 if count else 0)
            if start + 8 * count > len(message):
                raise MessageError(f"of {len(message)} bytes is cut off inside its {word} values")
            places.append((start, count))
            fixed.append((last, message[last:start]))
            last = at = start + 8 * count
        return cls(len(message), order, tuple(names), tuple(places), tuple(fixed))

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


@dataclass(frozen=True)
class Group:
    """The messages that share a layout.

    Attributes:
        joints: names of the joints, in the order of the columns.
        index: place of each message on its topic, shape (n,), dimensionless.
        stamp: its own time, shape (n,), ns.
        values: q, v and tau, each shape (n, number of values), SI; a channel without values is empty.
    """

    joints: tuple[str, ...]
    index: NDArray[np.int64]
    stamp: NDArray[np.int64]
    values: dict[str, Array]


def grouped(messages: Sequence[bytes]) -> tuple[list[Group], dict[int, str]]:
    """Decode the messages of a topic.

    Args:
        messages: their bytes, in the topic's order.

    Returns:
        The messages by layout, and for each message that is no joint state its index and what is wrong.
    """
    members: dict[MessageLayout, list[int]] = {}
    broken: dict[int, str] = {}
    for index, message in enumerate(messages):
        layout = next((known for known in members if known.fits(message)), None)
        if layout is None:
            try:
                layout = MessageLayout.of(message)
            except MessageError as error:
                broken[index] = str(error)
                continue
            if len(members) >= _MOST_LAYOUTS:
                broken[index] = f"has names or sizes unlike the first {_MOST_LAYOUTS} kinds of message"
                continue
        members.setdefault(layout, []).append(index)
    return [_group(layout, index, messages) for layout, index in members.items()], broken


def _group(layout: MessageLayout, index: Sequence[int], messages: Sequence[bytes]) -> Group:
    content = np.frombuffer(b"".join(messages[i] for i in index), np.uint8).reshape(len(index), layout.length)

    def taken(start: int, count: int, kind: str) -> NDArray[np.generic]:
        width = np.dtype(kind).itemsize * count
        return np.ascontiguousarray(content[:, start : start + width]).view(f"{layout.order}{kind}")

    seconds = taken(4, 1, "i4")[:, 0].astype(np.int64)
    nanoseconds = taken(8, 1, "u4")[:, 0].astype(np.int64)
    values: dict[str, Array] = {
        channel: taken(start, count, "f8").astype(np.float64) if count else np.empty((len(index), 0))
        for channel, (start, count) in zip(CHANNELS, layout.places, strict=True)
    }
    return Group(layout.joints, np.array(index), seconds * 1_000_000_000 + nanoseconds, values)


def _count(message: bytes, order: str, at: int) -> tuple[int, int]:
    at += -at % 4
    (count,) = struct.unpack_from(f"{order}I", message, at)
    return int(count), at + 4


def _text(message: bytes, order: str, at: int) -> tuple[str, int]:
    length, at = _count(message, order, at)
    end = at + length
    if end > len(message):
        raise MessageError(f"of {len(message)} bytes is cut off inside a text")
    return message[at:end].rstrip(b"\0").decode(), end
