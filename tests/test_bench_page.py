"""The page of `make bench`: no row hides another, and a promise that was not measured is named first."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import run as bench
from promises import PROMISED
from timing import Row


def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[Row], *words: str) -> str:
    """The page after a run of one case that gives these rows."""
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(bench, "CASES", {"one": lambda: iter(rows)})
    bench.main(list(words))
    return (tmp_path / "page.md").read_text()


def test_rows_of_one_name_beside_two_peers_both_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row("same work", 1.0, peer, 20.0, least_ratio=10.0) for peer in ("A", "B")]
    for words in ((), ("one",), ("one",)):
        page = measured(tmp_path, monkeypatch, rows, *words)
        assert [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| same work")] == [
            "A",
            "B",
        ]


def test_two_rows_that_would_hide_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="two rows of 'same work' beside 'A'"):
        bench.by_key([Row("same work", 1.0, "A", 2.0), Row("same work", 3.0, "A", 4.0)])


def test_the_page_opens_with_the_promises_that_hold_are_missed_or_were_not_measured() -> None:
    rows = [Row(name, 1.0, peer, 20.0 if peer else None, most_seconds=2.0) for name, peer in PROMISED]
    assert bench.promises(rows) == f"**{len(rows)} of {len(rows)} promises hold.**"
    slow = [replace(rows[0], ours=3.0), *rows[2:]]
    words = bench.promises(slow)
    assert words.startswith(f"**{len(rows) - 2} of {len(rows)} promises hold.**")
    assert f"Missed: {rows[0].name} ({rows[0].peer})." in words
    assert f"Not measured: {rows[1].name}" in words
    assert words.splitlines()[0] in bench._page(slow).splitlines()[2]


def test_the_kept_page_opens_with_what_the_kept_rows_say() -> None:
    newest = max(bench.RESULTS.glob("bench-*.json"))
    rows = list(bench._kept(newest).values())
    assert bench.PAGE.read_text().splitlines()[2] == bench.promises(rows)
    assert len(set(PROMISED)) == len(PROMISED)
