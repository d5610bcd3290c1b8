"""Who runs tasks: processes of this machine or workers of a cluster, behind one face."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from steelyard.campaign.failure import Failure
from steelyard.campaign.worker import Call


class Report(NamedTuple):
    """What became of a task that was started; its result is in the store.

    Attributes:
        task: its name.
        seconds: it took, s; NaN when unknown.
        host: where it ran.
        failure: why there is no result; None when there is one.
        lost: how its worker was lost, when it was, and with it the task; empty otherwise.
    """

    task: str
    seconds: float
    host: str
    failure: Failure | None = None
    lost: str = ""


class Crew(Protocol):
    """Workers. They keep the results in the campaign's store before they report."""

    def free(self) -> int:
        """How many tasks may be started now."""
        ...

    def start(self, call: Call) -> None:
        """Start a task."""
        ...

    def wait(self, seconds: float) -> list[Report]:
        """Wait for reports, at most so long."""
        ...

    def close(self) -> None:
        """Dismiss everybody at once; what is not finished is abandoned."""
        ...
