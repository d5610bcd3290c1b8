"""What campaigns leave in folders, read without the code under test, and what happened in one."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from pathlib import Path

from steelyard.campaigns import CampaignEvent, Happening


def bits(folder: Path) -> dict[str, str]:
    """The digest of every stored result's file, by its path."""
    files = sorted((folder / "store").rglob("*.npz"))
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


class Diary:
    """All events of a campaign."""

    def __init__(self) -> None:
        self.events: list[CampaignEvent] = []

    def __call__(self, event: CampaignEvent) -> None:
        self.events.append(event)

    def tasks(self, what: Happening) -> set[str]:
        """The tasks that something happened to."""
        return {event.task for event in self.events if event.what is what}

    def counts(self) -> Counter[str]:
        """How often each thing happened."""
        return Counter(event.what.value for event in self.events)

    def words(self, what: Happening) -> str:
        """What was said about it."""
        return "\n".join(event.word for event in self.events if event.what is what)


def alive(process: int) -> bool:
    """Whether a process runs; one that ended and was not yet asked for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone_within(processes: set[int], seconds: float) -> bool:
    """Whether all processes end in time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if not any(alive(process) for process in processes):
            return True
        os.sched_yield()
        time.sleep(0.02)
    return False
