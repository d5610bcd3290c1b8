"""A LeRobot dataset: what its `meta` says, and which log names which of its episodes.

Of v2.0 and v2.1 every episode is a Parquet file, listed in `meta/episodes.jsonl`; of v3.0 a file holds many,
and `meta/episodes/chunk-…/file-….parquet` says which. Nothing of it is believed without looking: paths are
filled in by a pattern of our own and stay inside the folder, and numbers of episodes are those of the lists.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from steelyard.document import kind_of, parse_json
from steelyard.errors import RecordingError
from steelyard.files import read_bytes
from steelyard.recording.lerobot import hub
from steelyard.recording.lerobot.parquet import whole_numbers

INFO = "meta/info.json"
VERSIONS = ("v2.0", "v2.1", "v3.0")
"""Versions of the format that are read."""
MOST_EPISODES = 10_000
"""Episodes of a dataset, as many as a folder of inputs may have files."""
_MOST_INFO = 4 << 20
_MOST_LIST = 32 << 20
_FASTEST = 100_000.0
_FARTHEST = 1 << 31
_LONGEST = 1000
_LIST = "meta/episodes.jsonl"
_LISTS = "meta/episodes"
_DATA = {
    "v2": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    "v3": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
}
_CHUNKS = 1000
"""Episodes of a chunk where a dataset of v2 does not say it."""
_FIELD = re.compile(r"\{(?P<name>[a-z_]{1,40})(?::0?(?P<width>[1-9][0-9]?)d)?\}")
_CHOICE = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?")
_REDO = "Export or copy the dataset again."


class Feature(NamedTuple):
    """What a dataset says of a column.

    Attributes:
        width: how many numbers a row of it holds.
        names: what they are called; None where it does not say.
    """

    width: int
    names: tuple[str, ...] | None


class EpisodePlace(NamedTuple):
    """Where an episode lies.

    Attributes:
        file: the Parquet file.
        length: how many rows it is said to have; None where nothing is said.
    """

    file: Path
    length: int | None


@dataclass(frozen=True)
class Dataset:
    """A dataset by its `meta/info.json`.

    Attributes:
        folder: where it lies.
        version: of its format, one of `VERSIONS`.
        rate: its frames per second, Hz.
        robot: its kind of robot, empty where it does not say.
        features: columns of numbers, by name.
        data_path: the pattern of its files.
        chunk: episodes of a chunk, of v2.
        total: how many episodes it says to have; None where it does not.
        content: the bytes of `meta/info.json`.
    """

    folder: Path
    version: str
    rate: float
    robot: str
    features: Mapping[str, Feature]
    data_path: str
    chunk: int
    total: int | None
    content: bytes

    @classmethod
    def of(cls, folder: Path) -> Dataset:
        """Read what a dataset says of itself.

        Args:
            folder: where it lies.

        Raises:
            RecordingError: it is of another version, or its `meta/info.json` is damaged.
        """
        path = folder / INFO
        content = read_bytes(path, most=_MOST_INFO)
        info = parse_json(content, place=str(path))
        if not isinstance(info, dict):
            raise RecordingError(f"holds {kind_of(info)}, expected a table.", place=str(path), remedy=_REDO)
        version = info.get("codebase_version")
        if version not in VERSIONS:
            raise RecordingError(
                f"is of version {str(version)[:40]!r} of the format.",
                place=str(path),
                remedy=f"Read are {', '.join(VERSIONS)}; LeRobot converts datasets of others.",
                evidence={"version": version, "choices": VERSIONS},
            )
        rate = info.get("fps")
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 < rate <= _FASTEST:
            raise RecordingError(
                f"'fps' must be a positive number of frames per second, got {str(rate)[:40]}.",
                place=str(path),
                remedy="State the rate that it was recorded with.",
            )
        template = info.get("data_path", _DATA[version[:2]])
        return cls(
            folder,
            version,
            float(rate),
            str(info.get("robot_type") or "")[:80],
            dict(_features(info.get("features"), str(path))),
            template if isinstance(template, str) else "",
            _whole(info.get("chunks_size", _CHUNKS), "chunks_size", str(path), least=1),
            None
            if info.get("total_episodes") is None
            else _whole(info["total_episodes"], "total_episodes", str(path)),
            content,
        )

    def episodes(self) -> tuple[int, ...]:
        """The numbers of its episodes.

        Raises:
            RecordingError: the list of them is missing, damaged, too long or not as long as it should be.
        """
        found = tuple(row["episode_index"] for row in self._rows())
        if len(set(found)) != len(found):
            raise RecordingError("lists an episode twice.", place=self._listed_in, remedy=_REDO)
        if self.total is not None and self.total != len(found):
            raise RecordingError(
                f"says {self.total} episodes, and {len(found)} are listed.",
                place=str(self.folder / INFO),
                remedy=_REDO,
                evidence={"stated": self.total, "listed": len(found)},
            )
        if not found:
            raise RecordingError("holds no episode.", place=str(self.folder))
        return tuple(sorted(found))

    def place(self, episode: int) -> EpisodePlace:
        """Where an episode lies.

        Args:
            episode: its number.

        Raises:
            RecordingError: there is none of that number, or the pattern of paths leads out of the folder.
        """
        if self.version.startswith("v3"):
            row = next((row for row in self._rows() if row["episode_index"] == episode), None)
            if row is None:
                raise self._unknown(episode)
            values = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
            return EpisodePlace(self._path(values), row.get("length"))
        values = {
            "episode_index": episode,
            "episode_chunk": episode // self.chunk,
            "total_episodes": self.total or 0,
        }
        path = self._path(values)
        if not path.is_file():
            if episode in self.episodes():
                raise RecordingError("no such file.", place=str(path), remedy=_REDO)
            raise self._unknown(episode)
        return EpisodePlace(path, None)

    def files(self) -> Iterator[Path]:
        """The files that its episodes are read from, once each."""
        yield self.folder / INFO
        yield from sorted({self.place(episode).file for episode in self.episodes()})

    def _unknown(self, episode: int) -> RecordingError:
        there = self.episodes()
        return RecordingError(
            f"there is no episode {episode}.",
            place=str(self.folder),
            remedy=f"It has {len(there)}, from {there[0]} to {there[-1]}.",
            evidence={"episode": episode, "episodes": len(there)},
        )

    @property
    def _listed_in(self) -> str:
        return str(self.folder / (_LISTS if self.version.startswith("v3") else _LIST))

    def _path(self, values: Mapping[str, int]) -> Path:
        """The pattern of paths filled in; only whole numbers go in, and it stays inside the folder."""

        def filled(match: re.Match[str]) -> str:
            if match["name"] not in values:
                raise self._unsafe(f"has no number '{match['name']}'")
            return f"{values[match['name']]:0{match['width'] or 1}d}"

        if not 0 < len(self.data_path) <= _LONGEST:
            raise self._unsafe("is no text of a path")
        text = _FIELD.sub(filled, self.data_path)
        path = PurePosixPath(text)
        if set(text) & set("{}\\:") or not text.isprintable():
            raise self._unsafe("holds more than names and numbers such as {episode_index:06d}")
        if path.is_absolute() or ".." in path.parts or path.suffix != ".parquet":
            raise self._unsafe("leads out of the dataset, or to no Parquet file")
        return self.folder.joinpath(*path.parts)

    def _unsafe(self, why: str) -> RecordingError:
        return RecordingError(
            f"'data_path' {why}: {self.data_path[:80]!r}.",
            place=str(self.folder / INFO),
            remedy=f"LeRobot writes {_DATA[self.version[:2]]}.",
        )

    def _rows(self) -> list[dict[str, Any]]:
        """What the lists of episodes say, a table for each."""
        rows = list(self._of_tables() if self.version.startswith("v3") else self._of_lines())
        if len(rows) > MOST_EPISODES:
            raise RecordingError(
                f"lists {len(rows)} episodes; at most {MOST_EPISODES} are read.",
                place=self._listed_in,
                remedy="Split the dataset.",
            )
        return rows

    def _of_lines(self) -> Iterator[dict[str, Any]]:
        place = self._listed_in
        lines = [line for line in read_bytes(place, most=_MOST_LIST).split(b"\n") if line.strip()]
        for number, line in enumerate(lines[: MOST_EPISODES + 1], start=1):
            row = parse_json(line, place=f"{place}:{number}")
            if not isinstance(row, dict):
                raise RecordingError(
                    f"holds {kind_of(row)}, expected a table.", place=f"{place}:{number}", remedy=_REDO
                )
            index = _whole(row.get("episode_index"), "episode_index", f"{place}:{number}")
            yield {"episode_index": index}

    def _of_tables(self) -> Iterator[dict[str, Any]]:
        names = ["episode_index", "data/chunk_index", "data/file_index", "length"]
        paths = sorted((self.folder / _LISTS).glob("chunk-*/file-*.parquet"))
        if not paths:
            raise RecordingError("no such folder, or nothing in it.", place=self._listed_in, remedy=_REDO)
        for path in paths:
            with_length = whole_numbers(read_bytes(path, most=_MOST_LIST), names, str(path))
            for values in zip(*with_length, strict=True):
                yield {
                    name: _whole(value, name, str(path)) for name, value in zip(names, values, strict=True)
                }


def _whole(value: object, name: str, place: str, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _FARTHEST:
        raise RecordingError(
            f"'{name}' must be a whole number from {least}, got {str(value)[:40]}.", place=place, remedy=_REDO
        )
    return value


def _features(features: object, place: str) -> Iterator[tuple[str, Feature]]:
    if not isinstance(features, dict):
        raise RecordingError(
            f"'features' is {kind_of(features)}, expected a table.", place=place, remedy=_REDO
        )
    for name, feature in features.items():
        if not isinstance(feature, dict) or not str(feature.get("dtype")).startswith(
            ("float", "int", "uint")
        ):
            continue
        shape = feature.get("shape")
        if not isinstance(shape, list) or len(shape) != 1:
            continue
        where = f"{place}: feature '{name[:60]}'"
        count = _whole(shape[0], "shape", where, least=1)
        names = _names(feature.get("names"), where)
        if names is not None and len(names) != count:
            raise RecordingError(f"has {len(names)} names for {count} numbers.", place=where, remedy=_REDO)
        yield name, Feature(count, names)


def _names(names: object, place: str) -> tuple[str, ...] | None:
    """The names of a feature's numbers: a list, a list by some word, or places by name."""
    if isinstance(names, dict) and len(names) == 1 and isinstance(next(iter(names.values())), list):
        names = next(iter(names.values()))
    if isinstance(names, dict) and all(type(n) is int for n in names.values()):
        names = sorted(names, key=names.__getitem__)
    if names is None or names == []:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise RecordingError("its names are no list of texts.", place=place, remedy=_REDO)
    if len(set(names)) != len(names):
        raise RecordingError("has a name twice.", place=place, remedy="Rename one of them.")
    return tuple(names)


# Which log names which episodes


class ChosenEpisodes(NamedTuple):
    """The episodes that a log names.

    Attributes:
        folder: the dataset.
        numbers: the episodes; None for all.
    """

    folder: Path
    numbers: tuple[int, ...] | None


def chosen(log: str | PathLike[str]) -> ChosenEpisodes | None:
    """Which episodes of which dataset a log names, as in `DATASET`, `DATASET#3` or `DATASET#0-4,7`.

    Args:
        log: a path, or `lerobot:ORG/NAME` for a dataset of the Hub.

    Returns:
        The episodes; None where it names no dataset.

    Raises:
        RecordingError: what follows the `#` is no choice of episodes, or the Hub does not have it.
    """
    text = os.fspath(log)
    if text.startswith(hub.PREFIX):
        name, mark, choice = text.partition("#")
        return ChosenEpisodes(hub.fetched(name), episode_numbers(choice, text) if mark else None)
    if _is_dataset(text):
        return ChosenEpisodes(Path(text), None)
    folder, mark, choice = text.rpartition("#")
    if mark and folder and _is_dataset(folder):
        return ChosenEpisodes(Path(folder), episode_numbers(choice, text))
    return None


def episode_logs(episodes: ChosenEpisodes) -> list[str]:
    """The name of each episode as a log of its own: `DATASET#3`.

    Args:
        episodes: those of a dataset.

    Raises:
        RecordingError: the dataset is damaged, or has none of such a number.
    """
    dataset = Dataset.of(episodes.folder)
    there = dataset.episodes()
    numbers = there if episodes.numbers is None else episodes.numbers
    if missing := sorted(set(numbers) - set(there)):
        dataset.place(missing[0])
        raise RecordingError(
            f"there is no episode {missing[0]}.",
            place=str(episodes.folder),
            remedy=f"It has {len(there)}, from {there[0]} to {there[-1]}.",
        )
    return [f"{episodes.folder}#{number}" for number in numbers]


def _is_dataset(text: str) -> bool:
    # `Path.is_file` raises for names that no file can have.
    return os.path.isfile(os.path.join(text, INFO))  # noqa: PTH113, PTH118


def episode_numbers(choice: str, log: str) -> tuple[int, ...]:
    """The numbers that a choice of episodes names, as `3` or `0-4,7`.

    Args:
        choice: the text.
        log: what to call the log in messages.

    Raises:
        RecordingError: it is no choice.
    """
    numbers: list[int] = []
    for part in choice.split(","):
        if _CHOICE.fullmatch(part) is None:
            raise RecordingError(
                f"'{part[:40]}' chooses no episode.",
                place=log[:300],
                remedy="Write DATASET#3, or several as DATASET#0-4,7.",
            )
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if not 0 <= end - start < MOST_EPISODES:
            raise RecordingError(
                f"the range {part} runs backwards, or over more than {MOST_EPISODES} episodes.",
                place=log[:300],
                remedy="Write the first and the last, as in DATASET#0-4.",
            )
        numbers += [number for number in range(start, end + 1) if number not in numbers]
    return tuple(numbers)
