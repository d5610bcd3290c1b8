"""rosbag2's SQLite container, a `.db3` file: plain tables of topics and messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing

from steelyard.budget import require_memory
from steelyard.errors import InputError, RecordingError
from steelyard.recording.bags.bag import Bag, Message, Topic

_DAMAGE = (sqlite3.Error, UnicodeError, MemoryError, OverflowError, ValueError)
MOST_STEPS, STEPS = 2_000_000_000, 1_000_000
"""Instructions of SQLite's machine that reading a bag may take, and after how many they are counted."""
_COMPUTED = (2, 3)
"""How `table_xinfo` marks generated columns, virtual and stored."""
_OVERHEAD = 200
"""Memory of a message beside its bytes, bytes."""
_DEFINITIONS = "message_definitions"
_MAGIC = b"SQLite format 3\0"


def decode_sqlite(data: bytes) -> Bag:
    """Read a bag out of the bytes of a `.db3` file; nothing else is opened and nothing is written.

    Args:
        data: the bytes of the file.

    Returns:
        The bag; where the file is damaged further on, the messages before that place.

    Raises:
        RecordingError: the file is not SQLite, or not a bag.
    """
    if not data.startswith(_MAGIC):
        raise RecordingError("is not an SQLite file, which a .db3 bag is.", remedy="Copy the bag again.")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(_closed(data))
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            # Nothing in a file is longer than the file; what would be is computed while it is read.
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(len(data), 10_000))
            budget = iter(range(MOST_STEPS // STEPS))
            connection.set_progress_handler(lambda: next(budget, None) is None, STEPS)
            return _bag(connection)
    except InputError:
        raise
    except _DAMAGE as error:
        raise RecordingError(f"is a damaged SQLite file: {error}.", remedy="Copy the bag again.") from error


def _closed(data: bytes) -> bytes:
    """The same file marked as not in write-ahead mode, which a file in memory cannot have."""
    return data[:18] + b"\1\1" + data[20:] if data[18:20] == b"\2\2" else data


def _bag(connection: sqlite3.Connection) -> Bag:
    # Only true tables: a view may be a program that never ends.
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    tables = {name for (name,) in connection.execute(query)}
    if not {"topics", "messages"} <= tables:
        raise RecordingError(
            f"is an SQLite file without the tables 'topics' and 'messages' of a bag; it has "
            f"{', '.join(sorted(str(name)[:60] for name in tables)[:12]) or 'none'}."
        )
    for table in ("topics", "messages"):
        _require_stored(connection, table)
    definitions = _definitions(connection) if _DEFINITIONS in tables else {}
    topics = {
        key: Topic(str(name), str(kind), str(encoding), definitions.get(str(kind), ""))
        for key, name, kind, encoding in connection.execute(
            "SELECT id, name, type, serialization_format FROM topics"
        )
    }
    messages, damage = _messages(connection, topics)
    return Bag.of(topics.values(), messages, damage)


def _require_stored(connection: sqlite3.Connection, table: str) -> None:
    """Refuse a table with columns that are computed: a few bytes of a file can be gigabytes of an answer."""
    for row in connection.execute(f"PRAGMA table_xinfo = {table}"):
        if row[6] in _COMPUTED:
            raise RecordingError(
                f"column '{str(row[1])[:60]}' of table '{table}' is computed and not stored, unlike a bag's.",
                remedy="Record the bag again, or convert it with ros2 bag convert.",
            )


def _definitions(connection: sqlite3.Connection) -> dict[str, str]:
    """What bags since ROS 2 Iron say about their types, where they say so as `.msg` files do."""
    _require_stored(connection, _DEFINITIONS)
    query = f"SELECT topic_type, encoded_message_definition FROM {_DEFINITIONS} WHERE encoding = 'ros2msg'"
    return {str(kind): str(text) for kind, text in connection.execute(query)}


def _messages(
    connection: sqlite3.Connection, topics: Mapping[object, Topic]
) -> tuple[list[Message], list[str]]:
    messages: list[Message] = []
    foreign = held = 0
    try:
        for key, received, data in connection.execute(
            "SELECT topic_id, timestamp, data FROM messages NOT INDEXED ORDER BY id"
        ):
            if key in topics and isinstance(received, int) and isinstance(data, bytes):
                held += len(data) + _OVERHEAD
                require_memory(held, "its messages", place="", remedy="Split the bag into shorter ones.")
                messages.append(Message(topics[key].name, received, data))
            else:
                foreign += 1
    except InputError:
        raise
    except _DAMAGE as error:
        if not messages:
            raise
        return messages, [f"the SQLite file is damaged after {len(messages)} messages: {error}"]
    damage = [f"{foreign} messages are of no topic, or have no time or no bytes"] if foreign else []
    return messages, damage
