"""How a campaign ended, task by task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from steelyard.campaign.failure import Failure
from steelyard.campaign.store import Store
from steelyard.errors import NoSolutionError, UnknownNameError


class Status(StrEnum):
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
    status: Status
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
class Outcome:
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
    def counts(self) -> dict[Status, int]:
        """How many tasks ended in each way."""
        found = Counter(end.status for end in self.ends.values())
        return {status: found[status] for status in Status}

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
        result = Store(self.folder / "store").result(end.key) if end.status is Status.DONE else None
        if result is None:
            raise NoSolutionError(f"has no result: {end.reason or 'it was removed'}.", place=f"task '{task}'")
        return result
