"""A bag as a folder: its files, and what `metadata.yaml` says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.errors import RecordingError
from steelyard.recording.bags import CONTAINERS, mcap
from steelyard.recording.bags.bag import Bag


def _sqlite(content: bytes) -> Bag:
    # SQLite is loaded where there is a bag to read.
    from steelyard.recording.bags import sqlite_bag

    return sqlite_bag.decode_sqlite(content)


DECODERS = dict(zip(CONTAINERS, (_sqlite, mcap.decode_mcap), strict=True))
METADATA = "metadata.yaml"
_MOST_METADATA = 1 << 22
_LONGEST = 4096
"""Letters of a path."""
_ENDINGS = tuple(f"{kind}{packed}" for kind in DECODERS for packed in ("", ".zstd"))


def bag_of(files: Mapping[Path, bytes]) -> Bag:
    """Return the bag that is in one file, or split over several.

    Args:
        files: the content of each file.

    Returns:
        The bag; messages that SQLite still keeps beside a `.db3` file, after a crash, count as damage.

    Raises:
        RecordingError: a file is not a bag.
    """
    parts = []
    for path, content in files.items():
        bag = DECODERS[path.suffix.lower()](content)
        log = path.with_name(f"{path.name}-wal")
        if log.is_file() and log.stat().st_size:
            sentence = (
                f"messages in '{log.name}' are not in the bag; open it once with sqlite3 to take them in"
            )
            bag = replace(bag, damage=(*bag.damage, sentence))
        parts.append(bag)
    return Bag.joined(parts)


def bag_files(folder: Path) -> list[Path]:
    """Return the files of a bag that is a folder, in the order of their names.

    Returns:
        The files; empty when the folder is not a bag.

    Raises:
        RecordingError: a file that the metadata lists is missing or compressed, or none lists several.
    """
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in DECODERS)
    listed = _listed(folder / METADATA)
    packed = [name for name in listed if name.endswith(".zstd")] or sorted(
        path.name for path in folder.glob("*.zstd")
    )
    if packed and not found:
        raise RecordingError(
            f"the bag's file '{packed[0]}' is compressed.",
            place=str(folder),
            remedy="Unpack it with zstd -d, or convert the bag with ros2 bag convert.",
        )
    missing = sorted(set(listed) - {path.name for path in found})
    if missing:
        raise RecordingError(
            f"{METADATA} lists '{missing[0]}', which is not there ({len(missing)} of {len(listed)} missing).",
            place=str(folder),
            remedy="Copy the whole folder, or give the path of one of its files.",
        )
    if listed:
        return [path for path in found if path.name in listed]
    if len(found) > 1:
        raise RecordingError(
            f"holds several bags and no {METADATA}: {', '.join(path.name for path in found[:6])}.",
            place=str(folder),
            remedy="Give the path of the file to read.",
        )
    return found


def _listed(metadata: Path) -> list[str]:
    if not metadata.is_file():
        return []
    try:
        with metadata.open("rb") as file:
            text = file.read(_MOST_METADATA).decode("utf-8", "replace")
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}.", place=str(metadata)) from error
    return list(dict.fromkeys(name for line in text.splitlines() if (name := _listed_in(line))))


def _listed_in(line: str) -> str:
    """The file of a list entry of `relative_file_paths`; nothing else of the metadata is needed."""
    dash, _, entry = line.strip().partition(" ")
    name = entry.strip().strip("\"'")
    return Path(name).name if dash == "-" and name.endswith(_ENDINGS) and len(name) <= _LONGEST else ""
