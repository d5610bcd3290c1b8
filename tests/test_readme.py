"""The README's code runs, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.S))
def test_the_code_of_the_readme_runs(code: str) -> None:
    assert "assert" in code
    exec(compile(code, "README.md", "exec"), {})


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"\bmake (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.M) or target in ("demo", "test"), target
    commands = set(re.findall(r"`steelyard (\w+)", README))
    assert commands == set(COMMANDS)


def test_the_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
