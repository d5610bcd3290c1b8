"""Compiled functions are cached, and forgotten when any source they may call has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.compiled import _sources_stamp


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "one.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("y = 1\n")
    return tmp_path


def _stamp(room: Path) -> bytes:
    _sources_stamp.cache_clear()
    return _sources_stamp(room)


def test_the_stamp_of_unchanged_sources_stays(room: Path) -> None:
    before = _stamp(room)
    os.utime(room / "one.py", (0, 0))
    (room / "notes.txt").write_text("not a source")
    assert _stamp(room) == before


@pytest.mark.parametrize("change", ["edit", "add", "remove", "rename"])
def test_any_change_of_a_source_changes_the_stamp(room: Path, change: str) -> None:
    before = _stamp(room)
    match change:
        case "edit":
            (room / "other.py").write_text("y = 2\n")
        case "add":
            (room / "third.py").write_text("")
        case "remove":
            (room / "other.py").unlink()
        case "rename":
            (room / "other.py").rename(room / "another.py")
    assert _stamp(room) != before


def test_moving_text_from_one_source_to_the_next_changes_the_stamp(room: Path) -> None:
    (room / "a.py").write_text("b.py")
    (room / "b.py").write_text("")
    before = _stamp(room)
    (room / "a.py").write_text("")
    (room / "b.py").write_text("b.py")
    assert _stamp(room) != before


PROGRAM = "import outer; print(outer.twice(3.0))"
INNER = "from steelyard.compiled import kernel\n\n@kernel\ndef once(x):\n    return {factor} * x\n"
OUTER = (
    "from steelyard.compiled import kernel\nfrom inner import once\n\n"
    "@kernel\ndef twice(x):\n    return once(once(x))\n"
)


def test_a_cached_function_sees_a_change_in_a_file_it_calls(tmp_path: Path) -> None:
    """Numba alone would answer 12 again: it looks only at the file of the function it is asked for."""
    (tmp_path / "outer.py").write_text(OUTER)
    cache = tmp_path / "cache"
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    answers = []
    for factor in ("2.0", "2.0", "5.0"):
        (tmp_path / "inner.py").write_text(INNER.format(factor=factor))
        answers.append(
            subprocess.run(
                [sys.executable, "-B", "-c", PROGRAM],
                env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
        )
    assert answers == ["12.0", "12.0", "75.0"]
    assert any(cache.rglob("*.nbc")), "nothing was cached, so this shows nothing"
