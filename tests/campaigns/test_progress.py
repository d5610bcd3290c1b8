"""The progress of a campaign: counted by stage on a terminal, only trouble in a pipe."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from campaigns.sample_tasks import lattice
from cli.running import run
from steelyard.campaigns import (
    CampaignEvent,
    CampaignOutcome,
    CampaignPlan,
    Happening,
    TaskGraph,
    TaskStatus,
)
from steelyard.campaigns.executor import Tell
from steelyard.campaigns.record import End
from steelyard.cli.stage_table import Tally
from steelyard.workflows import campaign_result

EVENTS = (
    CampaignEvent(Happening.STARTED, "draw-0", "draw"),
    CampaignEvent(Happening.STARTED, "draw-1", "draw"),
    CampaignEvent(Happening.LOST_WORKER, "draw-1", "draw", "killed by SIGKILL"),
    CampaignEvent(Happening.RETRIED, "draw-1", "draw", "attempt 2"),
    CampaignEvent(Happening.DONE, "draw-0", "draw", seconds=2.0),
    CampaignEvent(Happening.FROM_STORE, "draw-2", "draw"),
    CampaignEvent(Happening.FAILED, "product-0", "product", "NoSolutionError: [no] motion"),
    CampaignEvent(Happening.SKIPPED, "product-1", "product", "skipped: because x failed"),
    CampaignEvent(Happening.STARTED, "draw-1", "draw"),
    CampaignEvent(Happening.NOTE, word="A lock was stale."),
)


class Running:
    """A campaign of a few tasks in which all that happens is what is listed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.spec = folder / "lattice.toml"
        self.spec.write_text('[campaign]\nkind = "lattice"\n')
        self.out = folder / "out"
        graph = lattice(3)
        monkeypatch.setattr(campaign_result, "plan", lambda spec: CampaignPlan(graph, "product-0"))
        monkeypatch.setattr(campaign_result, "run_campaign", self._run)

    def _run(self, graph: TaskGraph, folder: Path, *, tell: Tell, **_: object) -> CampaignOutcome:
        for event in EVENTS:
            tell(event)
        failed = End("product-0", TaskStatus.FAILED, "")
        return CampaignOutcome(folder, {"product-0": failed}, 0.0)


def shown(monkeypatch: pytest.MonkeyPatch, folder: Path, *, terminal: bool) -> str:
    stream = io.StringIO()
    console: Any = Console(file=stream, force_terminal=terminal, width=120)
    for module in ("campaign", "stage_table", "output"):
        monkeypatch.setattr(f"steelyard.cli.{module}.stderr", console)
    running = Running(monkeypatch, folder)
    assert run("campaign", running.spec, "--out", running.out).code == 1
    return stream.getvalue()


def test_a_pipe_gets_trouble_and_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = [line.strip() for line in shown(monkeypatch, tmp_path, terminal=False).splitlines()]
    assert lines == [
        "lattice: 7 tasks",
        "draw-1: lost worker: killed by SIGKILL",
        "draw-1: retried: attempt 2",
        "product-0: failed: NoSolutionError: [no] motion",
        "A lock was stale.",
    ]


def test_a_terminal_gets_one_bar_and_a_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = shown(monkeypatch, tmp_path, terminal=True)
    assert "from store" in text
    assert "4/7" in text
    assert "NoSolutionError: [no] motion" in text
    assert "of 7 tasks" not in text, "the table has a bar of its own"


def test_the_table_counts_each_task_once() -> None:
    tally = Tally(lattice(3))
    for event in EVENTS:
        tally.count(event)
    stream = io.StringIO()
    Console(file=stream, width=120).print(tally.table())
    rows = {line.split()[0]: line.split()[1:] for line in stream.getvalue().splitlines()}
    assert rows["draw"] == ["3", "1", "1", "1", "0", "0", "2"]
    assert rows["product"] == ["3", "0", "0", "0", "1", "1"]
