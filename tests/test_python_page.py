"""The page on Python runs from top to bottom, and shows every public function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steelyard as sy

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"block {number} of docs/python.md", "exec"), names)
    assert {"ur10e", "load", "study", "from_files"} <= {path.name for path in tmp_path.iterdir()}


def test_every_public_function_is_called_on_it() -> None:
    functions = {name for name in sy.__all__ if name[0].islower()}
    called = set(re.findall(r"\bsy\.(\w+)\(", "\n".join(BLOCKS)))
    assert functions <= called


def test_every_public_name_is_listed() -> None:
    listed = set(re.findall(r"`(\w+)`", PAGE[PAGE.index("## Names") :]))
    assert set(sy.__all__) - {"__version__"} <= listed
