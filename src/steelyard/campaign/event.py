"""What happens in a campaign, told as it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Happening(StrEnum):
    """What can happen."""

    STARTED = "started"
    DONE = "done"
    FROM_STORE = "from store"
    FAILED = "failed"
    SKIPPED = "skipped"
    RETRIED = "retried"
    LOST_WORKER = "lost worker"
    NOTE = "note"


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        what: it was.
        task: whom it concerns; empty for the whole campaign.
        kind: of the task.
        word: the reason, in one line; empty when there is nothing to say.
        seconds: the task took, s; NaN when unknown.
    """

    what: Happening
    task: str = ""
    kind: str = ""
    word: str = ""
    seconds: float = float("nan")


Tell = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Tell nobody."""
