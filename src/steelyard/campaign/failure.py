"""Why a task gave no result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """Why a task gave no result; what a task that accepts failed inputs is handed in place of one.

    Attributes:
        task: its name.
        reason: in one line, the same on every machine.
        lasting: whether the inputs are to blame, so that trying again would fail again; otherwise the next
            start tries again.
        detail: traceback, evidence and log, for people; empty when handed to a task.
    """

    task: str
    reason: str
    lasting: bool = True
    detail: str = ""

    @property
    def key(self) -> str:
        """What stands in the keys of dependants for the key of the missing result."""
        return f"failed:{self.task}:{self.reason}"
