"""The MCAP container (https://mcap.dev/spec): records of schemas, channels and messages, some in chunks."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import lz4.frame
import zstandard

from steelyard.budget import require_memory
from steelyard.errors import RecordingError
from steelyard.recording.bags.bag import Bag, Message, Topic

MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
_DEFINITIONS = "ros2msg"
_MOST_CHUNK = 1 << 30
MOST_RECORDS, MOST_OTHERS = 5_000_000, 1_000_000
"""Most records of a file, more than an hour of joint states at 1 kHz; and of those that are no messages, of
which an empty one takes nine bytes, and time."""
_COPIES = 2
"""How often a message is held: in its chunk, and by itself."""


class _DamageError(Exception):
    """The container cannot be read beyond some place."""


def decode_mcap(data: bytes) -> Bag:
    """Read a bag out of the bytes of an `.mcap` file, from front to back; its index is not needed.

    Args:
        data: the bytes of the file.

    Returns:
        The bag; where the file is damaged or cut off, the messages before that place.

    Raises:
        RecordingError: the file is not MCAP.
    """
    if not data.startswith(MAGIC):
        raise RecordingError("is not an MCAP file: it does not start with MCAP's magic bytes.")
    content = _Content()
    damage = []
    try:
        content.take(memoryview(data)[len(MAGIC) :], len(MAGIC))
        if not content.ended:
            raise _DamageError(f"the file is cut off: it ends at byte {len(data)} without MCAP's footer")
    except _DamageError as error:
        damage.append(str(error))
    return Bag.of(content.topics.values(), content.messages, damage)


class _Content:
    """What has been read so far."""

    def __init__(self) -> None:
        self.topics: dict[int, Topic] = {}
        self.messages: list[Message] = []
        self.ended = False
        self._schemas: dict[int, tuple[str, str]] = {0: ("", "")}
        self._unpacked = 0
        self._records = self._others = 0

    def take(self, records: memoryview, start: int, *, inside: bool = False) -> None:
        """Read records, of the file or inside a chunk, the first of which stands at byte `start`."""
        for opcode, at, content in _records(records, start):
            self._records += 1
            self._others += opcode != _MESSAGE
            if self._records > MOST_RECORDS or self._others > MOST_OTHERS:
                raise RecordingError(
                    f"holds more than {MOST_RECORDS} records, or {MOST_OTHERS} that are no messages.",
                    remedy="Split the bag into shorter ones.",
                )
            try:
                if opcode == 0:
                    raise _DamageError(f"the record at byte {at} is of kind 0, which MCAP does not have")
                if opcode in (_DATA_END, _FOOTER, _CHUNK) and inside:
                    raise _DamageError(f"the chunk at byte {start} holds a record of kind {opcode}")
                if opcode in (_DATA_END, _FOOTER):
                    self.ended = True
                    return
                if opcode == _CHUNK:
                    self.take(self._unpack(content), at, inside=True)
                else:
                    self._note(opcode, content)
            except (struct.error, UnicodeError) as error:
                raise _DamageError(f"the record at byte {at} cannot be read: {error}") from error

    def _note(self, opcode: int, content: memoryview) -> None:
        if opcode == _MESSAGE:
            channel, _, received, _ = struct.unpack_from("<HIQQ", content)
            topic = self.topics.get(channel)
            if topic is None:
                raise _DamageError(
                    f"message {len(self.messages)} is of channel {channel}, which is not there"
                )
            if topic.readable:
                self.messages.append(Message(topic.name, received, bytes(content[22:])))
        elif opcode == _SCHEMA:
            (key,) = struct.unpack_from("<H", content)
            name, end = _text(content, 2)
            self._schemas[key] = name, _definition(content, end)
        elif opcode == _CHANNEL:
            key, schema = struct.unpack_from("<HH", content)
            name, end = _text(content, 4)
            encoding, _ = _text(content, end)
            kind, definition = self._schemas.get(schema, ("", ""))
            self.topics[key] = Topic(name, kind, encoding, definition)

    def _unpack(self, content: memoryview) -> memoryview:
        _, _, size, crc = struct.unpack_from("<QQQI", content)
        compression, end = _text(content, 28)
        (length,) = struct.unpack_from("<Q", content, end)
        packed = content[end + 8 : end + 8 + length]
        self._unpacked += size
        if len(packed) != length or size > _MOST_CHUNK:
            raise _DamageError(f"a chunk states {length} packed and {size} unpacked bytes, which cannot be")
        require_memory(
            _COPIES * self._unpacked,
            f"its chunks unpack to {self._unpacked} bytes, which",
            place="",
            remedy="Split the bag into shorter ones.",
        )
        unpacked = packed if not compression else _decompressed(packed, compression, size)
        if len(unpacked) != size:
            raise _DamageError(f"a chunk unpacks to {len(unpacked)} bytes instead of {size}")
        if crc and zlib.crc32(unpacked) != crc:
            raise _DamageError("a chunk does not match its checksum")
        return unpacked


def _records(data: memoryview, start: int) -> Iterator[tuple[int, int, memoryview]]:
    """Each record's opcode, its place in the file, and its content."""
    at = 0
    while at < len(data):
        if at + 9 > len(data):
            raise _DamageError(f"the file is cut off inside the record at byte {start + at}")
        opcode, length = struct.unpack_from("<BQ", data, at)
        if length > len(data) - at - 9:
            raise _DamageError(f"the file is cut off inside the record at byte {start + at}")
        yield opcode, start + at, data[at + 9 : at + 9 + length]
        at += 9 + length


def _zstd(packed: memoryview, size: int) -> bytes:
    """At most `size` bytes, whatever the frame's header promises."""
    unpacked: bytes = zstandard.ZstdDecompressor().stream_reader(packed).read(size)
    return unpacked


def _lz4(packed: memoryview, size: int) -> bytes:
    unpacked: bytes = lz4.frame.LZ4FrameDecompressor().decompress(packed, max_length=size)
    return unpacked


_CODECS = {"zstd": _zstd, "lz4": _lz4}


def _decompressed(packed: memoryview, compression: str, size: int) -> memoryview:
    if compression not in _CODECS:
        raise _DamageError(f"a chunk is compressed with '{compression[:20]}'; known are {', '.join(_CODECS)}")
    try:
        return memoryview(_CODECS[compression](packed, size))
    except (zstandard.ZstdError, RuntimeError, OSError, ValueError, MemoryError) as error:
        raise _DamageError(f"a chunk cannot be decompressed: {error}") from error


def _definition(content: memoryview, at: int) -> str:
    """What a schema says about its messages, where it says so as `.msg` files do."""
    encoding, end = _text(content, at)
    return _text(content, end)[0] if encoding == _DEFINITIONS else ""


def _text(content: memoryview, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", content, at)
    end = at + 4 + length
    if end > len(content):
        raise _DamageError("a text is longer than its record")
    return str(content[at + 4 : end], "utf-8"), end
