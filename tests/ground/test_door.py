"""Front doors: every name is offered, its file is loaded when asked for, and no file takes a name's place."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from source_trees import SOURCE, tree

DOORS = sorted(
    ".".join(["steelyard", *file.parent.relative_to(SOURCE).parts])
    for file in SOURCE.rglob("__init__.py")
    if "open_door(__name__)" in file.read_text(encoding="utf-8")
)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `house` with a room of two files, one of which cannot be loaded."""
    room = tmp_path / "house"
    room.mkdir()
    (room / "__init__.py").write_text(
        textwrap.dedent(
            """
            from typing import TYPE_CHECKING

            from steelyard.door import open_door

            if TYPE_CHECKING:
                from house.broken import crash
                from house.weigh import (
                    Load as Load,
                    weigh,
                )

            __all__ = ["Load", "crash", "weigh"]

            open_door(__name__)
            """
        )
    )
    (room / "weigh.py").write_text("class Load: ...\ndef weigh(): return 3.0\n")
    (room / "broken.py").write_text("raise ValueError('not to be loaded')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [x for x in sys.modules if x.split(".")[0] == "house"]:
        monkeypatch.delitem(sys.modules, name)
    return room


def test_a_file_is_loaded_when_one_of_its_names_is_asked_for(house: Path) -> None:
    door = importlib.import_module("house")
    assert "house.weigh" not in sys.modules
    assert {"Load", "crash", "weigh"} <= set(dir(door))
    assert door.Load is sys.modules["house.weigh"].Load
    assert "house.broken" not in sys.modules
    with pytest.raises(ValueError, match="not to be loaded"):
        _ = door.crash
    with pytest.raises(AttributeError, match="'house' has no attribute 'weight'"):
        _ = door.weight


def test_a_name_is_not_hidden_by_the_file_of_that_name(house: Path) -> None:
    file = importlib.import_module("house.weigh")
    door = sys.modules["house"]
    assert isinstance(file, ModuleType)
    assert door.weigh() == 3.0
    # What a test puts in its place stays there.
    door.weigh = lambda: 4.0  # type: ignore[attr-defined]
    assert door.weigh() == 4.0


def test_the_house_has_doors() -> None:
    assert len(DOORS) > 30


@pytest.mark.parametrize("door", DOORS)
def test_a_door_offers_what_it_lists_and_nothing_that_its_files_lack(door: str) -> None:
    room = importlib.import_module(door)
    file = SOURCE.joinpath(*door.split(".")[1:]) / "__init__.py"
    listed = next(
        set(ast.literal_eval(node.value))
        for node in tree(file).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert listed - {"__version__"} == set(room._homes)
    for name in listed:
        assert not isinstance(getattr(room, name), ModuleType), name


def test_a_room_that_is_entered_loads_what_is_asked_of_it() -> None:
    code = (
        "import sys\n"
        "from steelyard.pose import Pose\n"
        "from steelyard.robot import Robot\n"
        "print([x in sys.modules for x in ('steelyard.robot.model', 'steelyard.robot.descriptions.repair')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, False]"
