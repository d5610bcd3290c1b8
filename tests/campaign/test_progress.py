"""The progress of a campaign: counted by stage on a terminal, only trouble in a pipe."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from campaign.sample_tasks import lattice
from steelyard.campaign import Event, Happening
from steelyard.cli import campaign_progress, output

EVENTS = (
    Event(Happening.STARTED, "draw-0", "draw"),
    Event(Happening.STARTED, "draw-1", "draw"),
    Event(Happening.LOST_WORKER, "draw-1", "draw", "killed by SIGKILL"),
    Event(Happening.RETRIED, "draw-1", "draw", "attempt 2"),
    Event(Happening.DONE, "draw-0", "draw", seconds=2.0),
    Event(Happening.FROM_STORE, "draw-2", "draw"),
    Event(Happening.FAILED, "product-0", "product", "NoSolutionError: [no] motion"),
    Event(Happening.SKIPPED, "product-1", "product", "skipped: because x failed"),
    Event(Happening.STARTED, "draw-1", "draw"),
    Event(Happening.NOTE, word="A lock was stale."),
)


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    stream = io.StringIO()
    console: Any = Console(file=stream, force_terminal=terminal, width=120)
    monkeypatch.setattr(campaign_progress, "stderr", console)
    monkeypatch.setattr(output, "stderr", console)
    with campaign_progress.campaign_progress(lattice(3)) as tell:
        for event in EVENTS:
            tell(event)
    return stream.getvalue()


def test_a_pipe_gets_trouble_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.strip() for line in shown(monkeypatch, terminal=False).splitlines()]
    assert lines == [
        "draw-1: lost worker: killed by SIGKILL",
        "draw-1: retried: attempt 2",
        "product-0: failed: NoSolutionError: [no] motion",
        "A lock was stale.",
    ]


def test_a_terminal_gets_a_bar_and_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True)
    assert "from store" in text
    assert "4/7" in text
    assert "NoSolutionError: [no] motion" in text


def test_the_table_counts_each_task_once() -> None:
    tally = campaign_progress.Tally(lattice(3))
    for event in EVENTS:
        tally.count(event)
    stream = io.StringIO()
    Console(file=stream, width=120).print(tally.table())
    rows = {line.split()[0]: line.split()[1:] for line in stream.getvalue().splitlines()}
    assert rows["draw"] == ["3", "1", "1", "1", "0", "0", "2"]
    assert rows["product"] == ["3", "0", "0", "0", "1", "1"]
