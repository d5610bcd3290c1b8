"""What a campaign leaves beside its results, for people and for other programs.

`campaign.json` holds the state of every task, `runs.parquet` (`runs.csv` without Arrow) one row per task,
`failures/<task>.txt` the reason, traceback and log of each that failed, and `journal.jsonl` a line per
computed task: how long a result took to compute is no part of the result, whose bits must not depend on it.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.campaign.graph import Graph
from steelyard.campaign.outcome import End, Status
from steelyard.campaign.tables import table_path, write_table
from steelyard.campaign.task import Task
from steelyard.document import parse_json
from steelyard.files import unwritable, write_text

EVERY = 5.0
"""Seconds between two writings of `campaign.json` while the campaign runs."""

JOURNAL = "journal.jsonl"
"""Name of the file with a line per computed result."""


class Record:
    """The files of a campaign that runs.

    Attributes:
        ends: of the tasks that have ended, by name.
    """

    def __init__(self, folder: Path, graph: Graph, name: str) -> None:
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
        if end.status is Status.FAILED:
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
