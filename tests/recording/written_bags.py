"""Bags written by hand from the published formats (CDR, rosbag2's tables, MCAP), to judge the readers."""

import sqlite3
import struct
import zlib

import pyarrow as pa

JOINT_STATE = "sensor_msgs/msg/JointState"


def cdr(stamp_ns, names, q=(), v=(), tau=(), order="<", frame="base"):
    """A JointState as CDR writes it: every number aligned to its own size, counted from behind the header."""
    out = bytearray()

    def align(size):
        out.extend(b"\0" * (-len(out) % size))

    def u32(value):
        align(4)
        out.extend(struct.pack(f"{order}I", value))

    def text(value):
        raw = value.encode() + b"\0"
        u32(len(raw))
        out.extend(raw)

    out.extend(struct.pack(f"{order}iI", stamp_ns // 10**9, stamp_ns % 10**9))
    text(frame)
    u32(len(names))
    for name in names:
        text(name)
    for values in (q, v, tau):
        u32(len(values))
        if len(values):
            align(8)
            out.extend(struct.pack(f"{order}{len(values)}d", *values))
    return (b"\0\1\0\0" if order == "<" else b"\0\0\0\0") + bytes(out)


def db3(path, messages, topics=(("/joint_states", JOINT_STATE),), encoding="cdr"):
    """Messages are (topic's number from 1, time of reception in ns, bytes)."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
            "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
            "timestamp INTEGER NOT NULL, data BLOB NOT NULL)"
        )
        connection.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
        for number, (name, kind) in enumerate(topics, 1):
            connection.execute("INSERT INTO topics VALUES (?, ?, ?, ?, '')", (number, name, kind, encoding))
        connection.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", messages)
    connection.close()
    return path


def _record(opcode, content):
    return struct.pack("<BQ", opcode, len(content)) + content


def _text(value):
    return struct.pack("<I", len(value.encode())) + value.encode()


def mcap(
    path,
    messages,
    topics=(("/joint_states", JOINT_STATE),),
    compression=None,
    per_chunk=16,
    crc=True,
    definitions=(),
):
    """The same in MCAP; `compression` is None for no chunks, or "", "zstd" or "lz4"."""
    head = b""
    for number, (name, kind) in enumerate(topics, 1):
        definition = definitions[number - 1] if definitions else ""
        head += _record(3, struct.pack("<H", number) + _text(kind) + _text("ros2msg") + _text(definition))
        head += _record(
            4, struct.pack("<HH", number, number) + _text(name) + _text("cdr") + struct.pack("<I", 0)
        )
    records = [
        _record(5, struct.pack("<HIQQ", number, k, time, time) + data)
        for k, (number, time, data) in enumerate(messages)
    ]
    body = b"\x89MCAP0\r\n" + _record(1, _text("ros2") + _text("test")) + head
    if compression is None:
        body += b"".join(records)
    else:
        for first in range(0, len(records), per_chunk):
            plain = b"".join(records[first : first + per_chunk])
            packed = pa.compress(plain, codec=compression, asbytes=True) if compression else plain
            checksum = zlib.crc32(plain) if crc else 0
            start = struct.pack("<QQQI", 0, 0, len(plain), checksum) + _text(compression)
            body += _record(6, start + struct.pack("<Q", len(packed)) + packed)
    body += _record(15, struct.pack("<I", 0)) + _record(2, struct.pack("<QQI", 0, 0, 0)) + b"\x89MCAP0\r\n"
    path.write_bytes(body)
    return path
