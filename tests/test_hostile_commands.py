"""Commands with hostile arguments and files: each ends in time, in bounds, and with one clear sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
KINDS = {
    "bagdir", "campaign", "columns", "controller", "csv", "db3", "force", "limits", "mcap", "mesh-excite",
    "mesh-tool", "model", "motion", "npz", "option", "parquet", "payload", "prior", "record", "scene", "urdf",
    "urdf-excite",
}  # fmt: skip


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """How every command ended, run in one process of bounded memory."""
    folder = tmp_path_factory.mktemp("commands")
    results = tmp_path_factory.mktemp("results") / "ends.json"
    subprocess.run(
        [sys.executable, "-m", "hostile.watch_commands", str(folder), str(results), "4", "1"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
            "OPENBLAS_NUM_THREADS": "1",
        },
        check=True,
        timeout=600,
    )
    found: list[dict[str, Any]] = json.loads(results.read_text())
    return found


def _with(ends: list[dict[str, Any]], *faults: str) -> list[tuple[str, str, list[str]]]:
    return [
        (f"{end['kind']}/{end['name']}"[:80], end["stderr"][-300:], end["left_behind"])
        for end in ends
        if set(faults) & set(end["faults"])
    ]


def test_every_kind_of_input_is_tried(ends: list[dict[str, Any]]) -> None:
    counts = Counter(end["kind"] for end in ends)
    assert set(counts) == KINDS
    assert len(ends) > 300


def test_no_command_ends_with_a_traceback(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "traceback") == []


def test_no_command_takes_more_than_ten_seconds_or_two_gibibytes(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "hang", "slow", "memory") == []


def test_what_cannot_be_used_is_refused_with_exit_code_two(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "exit code") == []


def test_a_refusal_is_one_sentence_that_names_the_place(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "no clear sentence", "unnamed") == []


def test_no_control_character_reaches_the_terminal(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "escape") == []


def test_a_refused_command_leaves_nothing_behind(ends: list[dict[str, Any]]) -> None:
    assert _with(ends, "left behind") == []
