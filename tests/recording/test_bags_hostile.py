"""Whatever is done to a bag, the reader answers with numbers or with an error of the house."""

import sqlite3
import struct

import numpy as np
import pytest

from recording.written_bags import cdr, db3, mcap
from steelyard.errors import SteelyardError
from steelyard.recording import Recording, inspect_recording, read, same_motion, write

NAMES = ["a", "b"]


def rows(n=30):
    rng = np.random.default_rng(2)
    return [(1, 1000 * k, cdr(1000 * k + 1, NAMES, *rng.normal(size=(3, 2)))) for k in range(n)]


def sample(n=40):
    t = np.arange(n) / 100
    q = np.column_stack([np.sin(3 * t), np.cos(2 * t)])
    return Recording(("a", "b"), t, q, tau=9 * q)


WRITERS = {
    "log.db3": lambda path: db3(path, rows()),
    "log.mcap": lambda path: mcap(path, rows()),
    "zstd.mcap": lambda path: mcap(path, rows(), compression="zstd", crc=False),
    "chunk.mcap": lambda path: mcap(path, rows(), compression="", crc=False),
    # Other formats, read leniently.
    "log.csv": lambda path: write(sample(), path) or path,
    "log.npz": lambda path: write(sample(), path) or path,
    "log.parquet": lambda path: write(sample(), path) or path,
}


def damaged(data, rng):
    kind = rng.integers(4)
    place = int(rng.integers(len(data)))
    if kind == 0:
        return data[:place]
    if kind == 1:
        changed = bytearray(data)
        for index in rng.integers(len(data), size=int(rng.integers(1, 12))):
            changed[index] = int(rng.choice([0, 1, 127, 255, rng.integers(256)]))
        return bytes(changed)
    if kind == 2:
        return data[:place] + rng.bytes(int(rng.integers(1, 40))) + data[place:]
    width = int(rng.choice([4, 8]))
    return data[:place] + b"\xff" * width + data[place + width :]


@pytest.mark.parametrize("name", WRITERS)
def test_only_errors_of_the_house_escape(tmp_path, name):
    path = WRITERS[name](tmp_path / name)
    data = path.read_bytes()
    refused = 0
    for seed in range(250):
        path.write_bytes(damaged(data, np.random.default_rng(seed)) or b" ")
        for lenient in (False, True):
            try:
                reading = read(path, lenient=lenient)
                inspect_recording(reading.recording if lenient else reading)
            except SteelyardError:
                refused += 1
    assert refused > 50


def test_every_truncation_of_an_mcap_is_refused(tmp_path):
    path = mcap(tmp_path / "log.mcap", rows(3))
    data = path.read_bytes()
    end = data.rindex(b"\x0f\x04\0\0\0\0\0\0\0")  # the record that ends the data
    for length in range(1, end):
        path.write_bytes(data[:length])
        with pytest.raises(SteelyardError):
            read(path)


def test_a_view_in_place_of_a_table_is_never_run(tmp_path):
    path = tmp_path / "log.db3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE topics(id INTEGER, name TEXT, type TEXT, serialization_format TEXT)")
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, "
        connection.execute(
            f"CREATE VIEW messages AS {endless} x AS topic_id, x AS timestamp, x AS data FROM c"
        )
    connection.close()
    with pytest.raises(SteelyardError, match="without the tables"):
        read(path)


def test_chunks_inside_chunks_are_refused(tmp_path):
    path = mcap(tmp_path / "log.mcap", rows(2), compression="")
    data = path.read_bytes()
    end = data.rindex(b"\x0f\x04\0\0\0\0\0\0\0")
    start = next(
        i for i in range(end) if data[i] == 6 and i + 9 + int.from_bytes(data[i + 1 : i + 9], "little") == end
    )
    inner = data[start:end]
    for _ in range(3000):
        content = struct.pack("<QQQIIQ", 0, 0, len(inner), 0, 0, len(inner)) + inner
        inner = struct.pack("<BQ", 6, len(content)) + content
    path.write_bytes(data[:start] + inner + data[end:])
    with pytest.raises(SteelyardError, match="holds a record of kind 6"):
        read(path)


def test_numbers_at_the_edge_of_what_doubles_hold_are_inspected_without_a_crash():
    rng = np.random.default_rng(6)
    for seed in range(120):
        n = int(rng.integers(2, 60))
        scale = 10.0 ** rng.choice([-320, -300, -9, 0, 9, 150, 300, 307])
        pace = 10.0 ** rng.choice([-300, -9, 0, 9, 300, 306])
        q, v, tau = rng.normal(size=(3, n, 2)) * rng.choice([0.0, 1.0, scale], size=(3, 1, 1))
        time = np.unique(pace * np.cumsum(rng.uniform(0.1, 1, n)))
        if len(time) < n:
            continue
        recording = Recording(("a", "b"), time, q, v, tau=tau)
        other = Recording(("a", "b"), time, q[::-1], v, tau=tau)
        assert isinstance(inspect_recording(recording), tuple), seed
        same_motion(recording, other)
