"""Hostile files: a corpus some times larger than the tests', and how each of its files ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tables import Bound, Study

TESTS = Path(__file__).resolve().parents[2] / "tests"
SEED, ROUNDS = 5, 25


def run() -> Study:
    """Every file is refused with one line, or read; nothing hangs, trespasses or is half written."""
    outcomes = [item for item in _outcomes() if item["made_by"] != "seed"]
    looked_at = [item for item in outcomes if item["command"] != "repair"]
    ends = Counter(f"{item['kind']} {_end(item)}" for item in looked_at)
    refused = [item for item in outcomes if item["code"] == 2]
    return Study(
        "Hostile files",
        f"{len(looked_at)} truncated, malformed and hostile files, grown with seed {SEED}; how they end: "
        f"{', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}.",
        (
            Bound(
                "files refused or reported", sum(_end(item) != "harmless" for item in looked_at), 300, False
            ),
            Bound("tracebacks and hangs", sum(item["code"] not in (0, 1, 2) for item in outcomes), 0),
            Bound(
                "refusals that are not one line", sum(item["stderr"].count("\n") != 1 for item in refused), 0
            ),
            Bound(
                "files or addresses asked for outside", sum(bool(item["trespasses"]) for item in outcomes), 0
            ),
            Bound("refusals that left a file behind", sum(bool(item["left_behind"]) for item in refused), 0),
            Bound("longest time for one file, s", max(item["seconds"] for item in outcomes), 20.0),
        ),
    )


def _end(item: dict[str, Any]) -> str:
    if item["code"] == 2:
        return "refused"
    return "reported" if item["stdout"] and json.loads(item["stdout"])["problems"] else "harmless"


def _outcomes() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        corpus, results = Path(folder) / "corpus", Path(folder) / "outcomes.json"
        corpus.mkdir()
        command = [sys.executable, "-m", "hostile.watch", str(corpus), str(results), str(SEED), str(ROUNDS)]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(TESTS)}, check=True)
        return list(json.loads(results.read_text()))
