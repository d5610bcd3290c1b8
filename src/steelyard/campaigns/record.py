"""How a campaign ended, task by task, and what it leaves beside its results for people and other programs."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.campaigns.store import Store
from steelyard.campaigns.task import Failure, Task, TaskGraph
from steelyard.document import parse_json
from steelyard.errors import InputError, MissingExtraError, NoSolutionError, UnknownNameError
from steelyard.files import FilePath, unwritable, write_bytes, write_text

# Outcome of every task


class TaskStatus(StrEnum):
    """How a task ended."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class End:
    """How a task ended.

    Attributes:
        task: its name.
        status: how.
        key: of its result.
        seconds: it took when it was computed, s; NaN when unknown.
        host: where it was computed; empty when unknown.
        attempts: how often it was started now; 0 when it was in the store.
        failure: why there is no result; None when there is one.
    """

    task: str
    status: TaskStatus
    key: str
    seconds: float = float("nan")
    host: str = ""
    attempts: int = 0
    failure: Failure | None = None

    @property
    def reason(self) -> str:
        """Why there is no result, in one line; empty when there is one."""
        return "" if self.failure is None else self.failure.reason


@dataclass(frozen=True)
class CampaignOutcome:
    """How a campaign ended.

    Attributes:
        folder: of the campaign.
        ends: of every task, by name, in the graph's order.
        seconds: the campaign took this time, s.
    """

    folder: Path
    ends: Mapping[str, End]
    seconds: float

    @property
    def counts(self) -> dict[TaskStatus, int]:
        """How many tasks ended in each way."""
        found = Counter(end.status for end in self.ends.values())
        return {status: found[status] for status in TaskStatus}

    def result(self, task: str) -> dict[str, Any]:
        """The result of a task.

        Args:
            task: its name.

        Returns:
            What it returned; arrays are read-only.

        Raises:
            UnknownNameError: there is no such task.
            NoSolutionError: it failed or was skipped; the message says why.
        """
        if task not in self.ends:
            raise UnknownNameError("task", task, self.ends)
        end = self.ends[task]
        result = Store(self.folder / "store").result(end.key) if end.status is TaskStatus.DONE else None
        if result is None:
            raise NoSolutionError(f"has no result: {end.reason or 'it was removed'}.", place=f"task '{task}'")
        return result


# Tables with units on their columns: Parquet where Arrow is installed, else CSV.


def table_path(folder: FilePath, name: str) -> Path:
    """Where a table stands: a Parquet file where the extra `parquet` is installed, else a CSV file.

    Args:
        folder: the folder it is in.
        name: of the table.
    """
    return Path(folder) / f"{name}.{'csv' if _arrow() is None else 'parquet'}"


def write_table(
    path: FilePath, columns: Mapping[str, Sequence[Any]], units: Mapping[str, str] | None = None
) -> None:
    """Write a table, whole or not at all, in the format that its suffix says.

    In Parquet a unit is the metadata `unit` of its column, in CSV it stands behind the name in brackets.

    Args:
        path: the file, see `table_path`; an existing one is replaced.
        columns: numbers or text by name, all of one length; None where there is nothing.
        units: of columns that have one.

    Raises:
        InputError: the columns differ in length or mix types, or the file cannot be written.
        MissingExtraError: the file is Parquet and Arrow is not installed.
    """
    path, arrow = Path(path), _arrow()
    if path.suffix == ".parquet" and arrow is None:
        raise MissingExtraError("a Parquet file", "pyarrow", "parquet")
    lists = {name: list(values) for name, values in columns.items()}
    try:
        if path.suffix == ".parquet" and arrow is not None:
            content = _parquet(*arrow, lists, units or {})
        else:
            content = _csv(lists, units or {})
    except ValueError as error:
        raise InputError(f"is not a table: {error}.", place=str(path)) from error
    write_bytes(path, content)


def _parquet(pa: Any, pq: Any, columns: Mapping[str, list[Any]], units: Mapping[str, str]) -> bytes:
    try:
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
    for number, field in enumerate(table.schema):
        if unit := units.get(field.name):
            field = field.with_metadata({"unit": unit})
            table = table.set_column(number, field, table.column(number))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _csv(columns: Mapping[str, list[Any]], units: Mapping[str, str]) -> bytes:
    for name, values in columns.items():
        kinds = {str if isinstance(value, str) else float for value in values if value is not None}
        if len(kinds) > 1:
            raise ValueError(f"column '{name}' mixes numbers and text")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"{name} [{units[name]}]" if name in units else name for name in columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _arrow() -> tuple[ModuleType, ModuleType] | None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow, pyarrow.parquet


# The files that a campaign leaves beside its results
#
# `campaign.json` holds the state of every task, `runs.parquet` (`runs.csv` without Arrow) one row per task,
# `failures/<task>.txt` the reason, traceback and log of each that failed, and `journal.jsonl` a line per
# computed task: how long a result took to compute is no part of the result, whose bits must not depend on it.

EVERY = 5.0
"""Seconds between two writings of `campaign.json` while the campaign runs."""

JOURNAL = "journal.jsonl"
"""Name of the file with a line per computed result."""


class Record:
    """The files of a campaign that runs.

    Attributes:
        ends: of the tasks that have ended, by name.
    """

    def __init__(self, folder: Path, graph: TaskGraph, name: str) -> None:
        """Begin the files; failures of an earlier start are forgotten.

        Args:
            folder: of the campaign.
            graph: its tasks.
            name: of the campaign.
        """
        self.ends: dict[str, End] = {}
        self._folder, self._graph, self._name = folder, graph, name
        self._began, self._started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        self._saved = -math.inf
        for file in (folder / "failures").glob("*.txt"):
            file.unlink()
        self._computed = _read_journal(folder / JOURNAL)
        with _noted(folder / JOURNAL):
            # Without a buffer: what a full disk does not take must not be tried again at the end.
            self._journal = (folder / JOURNAL).open("ab", buffering=0)
            # A line that was cut short by a kill must not swallow the next one.
            if self._journal.tell():
                self._journal.write(b"\n")

    @property
    def seconds(self) -> float:
        """Since the beginning, s."""
        return time.monotonic() - self._began

    def computed(self, key: str) -> tuple[float, str]:
        """How long a stored result took, s, and where; NaN and empty when that is not known."""
        seconds, host = self._computed.get(key, (math.nan, ""))
        return seconds, host

    def end(self, end: End) -> None:
        """Note how a task ended.

        Args:
            end: of the task.
        """
        self.ends[end.task] = end
        if end.attempts and math.isfinite(end.seconds):
            line = {"task": end.task, "key": end.key, "seconds": end.seconds, "host": end.host}
            with _noted(self._folder / JOURNAL):
                self._journal.write(json.dumps(line).encode() + b"\n")
        if end.status is TaskStatus.FAILED:
            folder = self._folder / "failures"
            with _noted(folder):
                folder.mkdir(exist_ok=True)
            write_text(folder / f"{end.task}.txt", _story(self._graph.tasks[end.task], end))

    def save_when_due(self, running: set[str]) -> None:
        """Write `campaign.json` when the last one is old.

        Args:
            running: names of tasks at work.
        """
        if time.monotonic() - self._saved > EVERY:
            self.save("running", running)

    def save(self, status: str, running: set[str] | None = None) -> None:
        """Write `campaign.json`.

        Args:
            status: of the whole: running, interrupted or ended.
            running: names of tasks at work.
        """
        tasks = [self._state(task, running or set()) for task in self._graph.tasks.values()]
        document = {
            "schema": 1,
            "name": self._name,
            "status": status,
            "started": self._started,
            "seconds": self.seconds,
            "versions": {
                "steelyard": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
            },
            "counts": dict(Counter(task["status"] for task in tasks)),
            "tasks": tasks,
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
        write_text(self._folder / "campaign.json", text + "\n")
        self._saved = time.monotonic()

    def close(self, status: str) -> None:
        """Write everything for the last time.

        Args:
            status: of the whole: interrupted or ended.
        """
        self._journal.close()
        self.save(status)
        states = [self._state(task, set()) for task in self._graph.tasks.values()]
        tasks = self._graph.tasks.values()
        columns: dict[str, list[Any]] = {name: [state[name] for state in states] for name in states[0]}
        columns["function"] = [task.function for task in tasks]
        columns["parameters"] = [json.dumps(dict(task.parameters), sort_keys=True) for task in tasks]
        columns["inputs"] = [json.dumps(task.needs) for task in tasks]
        write_table(table_path(self._folder, "runs"), columns, {"seconds": "s"})

    def _state(self, task: Task, running: set[str]) -> dict[str, Any]:
        end = self.ends.get(task.name)
        waiting = "running" if task.name in running else "waiting"
        return {
            "task": task.name,
            "kind": task.kind,
            "status": waiting if end is None else end.status.value,
            "key": "" if end is None else end.key,
            "seconds": None if end is None or math.isnan(end.seconds) else end.seconds,
            "host": "" if end is None else end.host,
            "attempts": 0 if end is None else end.attempts,
            "reason": "" if end is None else end.reason,
        }


@contextmanager
def _noted(path: Path) -> Iterator[None]:
    """Say which file it is that cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def _read_journal(path: Path) -> dict[str, tuple[float, str]]:
    computed = {}
    with suppress(FileNotFoundError):
        for line in path.read_bytes().splitlines():
            # A line that was cut short by a kill only loses a time.
            with suppress(ValueError, KeyError, TypeError):
                entry = parse_json(line, place=str(path))
                computed[entry["key"]] = (float(entry["seconds"]), str(entry["host"]))
    return computed


def _story(task: Task, end: End) -> str:
    lines = [
        f"task       {task.name} ({task.kind})",
        f"reason     {end.reason}",
        f"function   {task.function}, version {task.version}",
        f"parameters {json.dumps(dict(task.parameters), sort_keys=True)}",
        f"inputs     {', '.join(task.needs) or 'none'}",
        f"key        {end.key}",
        f"attempts   {end.attempts}, the last took {end.seconds:.3f} s on {end.host or 'a lost worker'}",
        f"steelyard  {__version__}, Python {platform.python_version()}, NumPy {np.__version__}",
    ]
    detail = "" if end.failure is None else end.failure.detail
    return "\n".join(lines) + f"\n\n{detail}\n"
