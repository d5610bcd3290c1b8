"""Logs whose numbers cannot be, and containers that unpack to more than a machine holds."""

from __future__ import annotations

import io
import sqlite3
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from hostile.attempts import ANY, Attempt, Content, attempts, lazily
from hostile.documents import ESCAPE
from hostile.good import csv, log

IDENTIFY = ("identify", "two_link")
BOMB = 2**30
"""Unpacked size of a bomb, bytes."""


def _identify(name: str) -> tuple[str, ...]:
    return (*IDENTIFY, name, "--out", "out")


def damaged_log(rng: np.random.Generator) -> tuple[str, str]:
    """What was done to a log, and the log: a column or some cells far off or standing still, or few rows."""
    names, values = log()
    column = int(rng.integers(len(names)))
    rows = slice(None) if rng.random() < 0.5 else rng.integers(0, len(values), 5)
    match rng.integers(5):
        case 0:
            power = int(rng.integers(-300, 300))
            values[rows, column] *= 10.0**power
            done = f"times 1e{power}"
        case 1:
            power = int(rng.integers(0, 40))
            values[rows, column] += 10.0**power
            done = f"plus 1e{power}"
        case 2:
            values[rows, column] = float(rng.choice([0.0, 1.0, -1e9, 1e-200, 1e29, 3.0]))
            done = "set"
        case 3:
            count = int(rng.integers(2, 60))
            values = values[:count]
            done = f"{count} rows"
        case _:
            values = values[np.sort(rng.choice(len(values), 150, replace=False))]
            done = "150 rows of 400"
    return f"{names[column]} {'' if isinstance(rows, slice) else 'at five rows '}{done}", csv(names, values)


def csv_value_traps(*, seed: int, rounds: int) -> list[Attempt]:
    """Logs that are well formed, with values that no robot gives."""
    names, values = log()
    rng = np.random.default_rng(seed)
    fuzzed = dict(damaged_log(rng) for _ in range(rounds))

    def changed(rows: object, column: int, value: object) -> str:
        other = values.copy()
        other[rows, column] = value
        return csv(names, other)

    gap = values[:, 0].copy()
    gap[200:] += 1e9
    contents: dict[str, Content] = {
        "two_rows": csv(names, values[:2]),
        "three_rows": csv(names, values[:3]),
        "time_gap": changed(slice(None), 0, gap),
        "time_tiny": changed(slice(None), 0, 1e-300 * np.arange(len(values))),
        "time_subnormal": changed(slice(None), 0, 5e-324 * np.arange(len(values))),
        "time_huge": changed(slice(None), 0, 1e300 * np.arange(len(values))),
        "huge_torque": changed(slice(None), 5, 1e308),
        "huge_position": changed(slice(None), 1, 1e300 * values[:, 1]),
        "huge_velocity": changed(slice(None), 3, 1e200 * values[:, 3]),
        "tiny_torque": changed(slice(None), 6, 1e-191 * values[:, 6]),
        "small_torque": changed(slice(None), 6, 1e-95 * values[:, 6]),
        "far_torque": changed(slice(None), 5, 1e9 + values[:, 5]),
        "name_esc": csv(["time", f"q_{ESCAPE}joint1", *names[2:]], values),
        "name_long": csv(["time", f"q_{'x' * 5000}", *names[2:]], values),
    }
    # One row that cannot be used is left out and said; what is left decides.
    row = attempts(
        "csv", _identify("log.csv"), "log.csv", {"infinite torque": changed(7, 5, np.inf)}, codes=ANY
    )
    row += attempts("csv", _identify("log.csv"), "log.csv", fuzzed, codes=ANY)
    return row + attempts("csv", _identify("log.csv"), "log.csv", contents, named=("log.csv",))


def _zip(members: dict[str, tuple[bytes, int]]) -> bytes:
    """A zip file of raw deflate streams with stated sizes, true or not."""
    body, directory = io.BytesIO(), io.BytesIO()
    for name, (packed, size) in members.items():
        at = body.tell()
        head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, 0, len(packed), size, len(name), 0)
        body.write(b"PK\3\4" + head + name.encode() + packed)
        entry = struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 8, 0, 0x21, 0, len(packed), size, len(name),
                            0, 0, 0, 0, 0, at)  # fmt: skip
        directory.write(b"PK\1\2" + entry + name.encode())
    listed = directory.getvalue()
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(listed), body.tell(), 0)
    return body.getvalue() + listed + b"PK\5\6" + end


def _zeros(head: bytes, size: int) -> bytes:
    """A raw deflate stream of a head and zeros: one block of them, repeated, costs nothing to make."""
    block = 2**20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    middle = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return first + middle * (size // block) + packer.flush(zlib.Z_FINISH)


def _header(shape: tuple[int, ...], kind: str) -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": kind, "fortran_order": False, "shape": shape})
    return head.getvalue()


def _bomb(shape: tuple[int, ...], kind: str, size: int) -> tuple[bytes, int]:
    head = _header(shape, kind)
    return _zeros(head, size), len(head) + size


def npz_traps() -> list[Attempt]:
    """Archives that unpack to gigabytes, or state a shape that nothing holds."""
    names, values = log()
    good = dict(zip(names, values.T, strict=True))

    def saved(**arrays: np.ndarray) -> bytes:
        sink = io.BytesIO()
        np.savez(sink, **{**good, **arrays})  # type: ignore[arg-type]
        return sink.getvalue()

    def member(name: str, content: bytes) -> bytes:
        sink = io.BytesIO(saved())
        with zipfile.ZipFile(sink, "a") as archive:
            archive.writestr(name, content)
        return sink.getvalue()

    def bomb() -> tuple[bytes, int]:
        return _bomb((BOMB,), "|u1", BOMB)

    def crowd() -> bytes:
        nothing = (_zeros(_header((0,), "|u1"), 0), 128)
        return _zip({f"x{k}.npy": nothing for k in range(60_000)})

    contents: dict[str, Content] = {
        "zero_dim": member("x.npy", _header((0, 10**12), "<f8")),
        "negative_dim": member("x.npy", _header((-1, 3), "<f8")),
        "wide": member("x.npy", _header((1, 2_000_000), "|u1") + bytes(2_000_000)),
        "huge_dtype": member("x.npy", _header((1,), "|S2000000000")),
        "bomb1G": lazily(lambda: _zip({"time.npy": bomb()})),
        "bomb3G_members": lazily(lambda: _zip(dict.fromkeys(("x0.npy", "x1.npy", "x2.npy"), bomb()))),
        "lying_size": lazily(lambda: _zip({"time.npy": (bomb()[0], 100)})),
        "many_members": lazily(crowd),
        "name_esc": saved(**{f"q_{ESCAPE}": np.zeros(3)}),
    }
    harmless = {"name_esc", "wide"}
    found = attempts("npz", _identify("log.npz"), "log.npz", contents, named=("log.npz",))
    return [x if x.name not in harmless else Attempt(x.kind, x.name, x.words, x.files, frozenset({0, 1, 2}))
            for x in found]  # fmt: skip


def parquet_traps() -> list[Attempt]:
    """Rows that repeat, a hundred million times, in a few kilobytes."""

    def repeated(count: int, groups: int) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        column = pa.array(np.zeros(count))
        table = pa.table(dict.fromkeys(log(2)[0], column))
        with pq.ParquetWriter(sink, table.schema, compression="zstd") as writer:
            for _ in range(groups):
                writer.write_table(table, row_group_size=count)
        return bytes(sink.getvalue())

    contents: dict[str, Content] = {
        "rows": lazily(lambda: repeated(2_000_000, 8)),
        "text": "PAR1 and no more PAR1",
    }
    return attempts("parquet", _identify("log.parquet"), "log.parquet", contents, named=("log.parquet",))


def _mcap(chunks: list[tuple[int, str, bytes]]) -> bytes:
    def record(opcode: int, content: bytes) -> bytes:
        return struct.pack("<BQ", opcode, len(content)) + content

    def text(word: str) -> bytes:
        return struct.pack("<I", len(word)) + word.encode()

    magic = b"\x89MCAP0\r\n"
    body = record(1, text("ros2") + text(""))
    for size, compression, packed in chunks:
        head = struct.pack("<QQQI", 0, 0, size, 0) + text(compression) + struct.pack("<Q", len(packed))
        body += record(6, head + packed)
    return magic + body + record(15, bytes(4)) + record(2, bytes(20)) + magic


def _zstd(block: bytes, size: int) -> bytes:
    import zstandard

    packer = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    return b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()


def mcap_traps() -> list[Attempt]:
    """Chunks that unpack to gigabytes of nothing."""
    empty = struct.pack("<BQ", 0x80, 0)  # a record of a private kind that holds nothing
    block, blocks = empty * 2**17, 100

    def zeros() -> bytes:
        return _zstd(bytes(2**20), BOMB)

    contents: dict[str, Content] = {
        "chunk_bomb": lazily(lambda: _mcap([(BOMB, "zstd", zeros())])),
        "chunk_nothing": lazily(
            lambda: _mcap([(blocks * len(block), "zstd", _zstd(block, blocks * len(block)))])
        ),
        "chunk_lies": lazily(lambda: _mcap([(2**62, "zstd", _zstd(bytes(2**20), 2**20))])),
        "records of nothing": lazily(lambda: b"\x89MCAP0\r\n" + empty * 2**23),
    }
    # Each chunk may be unpacked by itself, not all of them: the first holds what is read and left behind.
    little = (len(empty), "zstd", _zstd(empty, len(empty)))
    several = {"chunk_bomb3": lazily(lambda: _mcap([little, *[(BOMB, "zstd", zeros())] * 2]))}
    return [
        *attempts("mcap", _identify("log.mcap"), "log.mcap", contents, named=("log.mcap",)),
        *attempts("mcap", _identify("log.mcap"), "log.mcap", several, named=("log.mcap", "unpack to")),
    ]


def db3_traps() -> list[Attempt]:
    """SQLite files that compute what they hold."""
    topics = (
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)",
        "INSERT INTO topics VALUES(1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr')",
    )
    key = "id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER"
    rows = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {}) "
    insert = rows + "INSERT INTO messages(id, topic_id, timestamp) SELECT k, 1, k FROM n"
    endless = (
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k AS id, 1 AS topic_id, "
    )
    scripts = {
        "gen_zeroblob": (
            f"CREATE TABLE messages({key}, data BLOB GENERATED ALWAYS AS (zeroblob(100000000)) VIRTUAL)",
            insert.format(200),
        ),
        "gen_topic": (
            f"CREATE TABLE messages({key}, data BLOB)",
            "DROP TABLE topics",
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, type TEXT, serialization_format TEXT)",
            "INSERT INTO topics(id, type) VALUES(1, 'sensor_msgs/msg/JointState')",
            # Last, or writing the row would compute it.
            "ALTER TABLE topics ADD COLUMN name TEXT GENERATED ALWAYS AS (hex(zeroblob(300000000))) VIRTUAL",
        ),
        "view_endless": (f"CREATE VIEW messages AS {endless} k AS timestamp, x'00' AS data FROM n",),
        "view_topics": (
            f"CREATE TABLE messages({key}, data BLOB)",
            "ALTER TABLE topics RENAME TO kept",
            "CREATE VIEW topics AS SELECT * FROM kept",
        ),
    }

    def written(statements: tuple[str, ...]) -> Content:
        def write(path: Path) -> None:
            with sqlite3.connect(path) as connection:
                for statement in (*topics, *statements):
                    connection.execute(statement)
            connection.close()

        return write

    contents = {name: written(script) for name, script in scripts.items()}
    return attempts("db3", _identify("log.db3"), "log.db3", contents, named=("log.db3",))


def bag_folder_traps() -> list[Attempt]:
    """Metadata on which a regular expression never ends, or that leads elsewhere."""
    contents: dict[str, Content] = {
        "meta_redos": "- " + " " * 60_000 + "x\n" + "- " + ".db3" * 30_000 + "x",
        "meta_blanks": "\n" * 300_000 + "-",
        "meta_elsewhere": "relative_file_paths:\n  - ../../../../etc/passwd.db3\n",
        "meta_esc": "relative_file_paths:\n  - \x1b[2J.db3\n",
    }
    return attempts("bagdir", _identify("bag"), "bag/metadata.yaml", contents, named=("bag",))
