"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.files import FilePath, require_writable, write_bytes, write_files, write_text, write_together


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_text(path, "ü")
    write_bytes(path, b"second")
    assert path.read_bytes() == b"second"
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(InputError, match=r"nowhere/a\.json: cannot be written"):
        write_text(tmp_path / "nowhere" / "a.json", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder: is a directory"):
        write_text(tmp_path / "folder", "x")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "folder"]


def test_where_nothing_can_be_written_is_found_beforehand(tmp_path: Path) -> None:
    require_writable(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir()), "nothing is made, nothing is left"
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file is no folder"):
        require_writable(tmp_path / "file" / "below")
    # Nobody, root included, makes files in /proc.
    with pytest.raises(InputError, match="/proc: cannot be written to"):
        require_writable(Path("/proc/steelyard/below"))


def test_a_full_disk_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("precious")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"a: cannot be written: No space left on device\. Make room"):
        write_text(tmp_path / "a", "new")
    files: dict[str, Callable[[FilePath], object]] = {
        "a": lambda path: Path(path).write_text("new"),
        "b": lambda path: write_text(path, "new"),
    }
    with pytest.raises(InputError, match=rf"^{tmp_path}/b: cannot be written: No space"):
        write_together(tmp_path, files, gone=["a"])
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "precious"


def test_of_files_that_belong_together_none_ever_stands_beside_another_first_one(tmp_path: Path) -> None:
    names = ("motion", "samples", "certificate")
    states: set[tuple[tuple[str, str], ...]] = set()

    def look(event: str, args: tuple[object, ...]) -> None:
        if watching and event in ("open", "os.rename", "os.remove", "os.rmdir"):
            watching.clear()
            states.add(tuple((n, (tmp_path / n).read_text()) for n in names if (tmp_path / n).exists()))
            watching.append(True)

    watching: list[bool] = []
    sys.addaudithook(look)
    for text in ("old", "new"):
        watching[:] = [True]
        write_together(tmp_path, {n: lambda path, text=text: Path(path).write_text(text) for n in names})
        watching.clear()
    (tmp_path / "samples").unlink()
    write_together(tmp_path, {"motion": lambda path: Path(path).write_text("newest")}, gone=["samples"])
    assert len(states) > 6
    for state in states:
        assert len({text for _, text in state}) <= 1, "parts of two results"
        assert not state or state[0][0] == "motion"
    assert (tmp_path / "motion").read_text() == "newest"


def test_an_interruption_waits_until_a_file_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a", "whole")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("wrong", ["folder", "missing/b.txt"])
def test_of_several_files_all_are_written_or_none(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"directory|cannot be written"):
        write_files([(tmp_path / "a.txt", b"new"), (tmp_path / wrong, b"new")])
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["a.txt", "folder"]
    write_files([(str(tmp_path / "a.txt"), b"new"), (tmp_path / "folder" / "b.txt", b"b")])
    assert (tmp_path / "a.txt").read_bytes() + (tmp_path / "folder" / "b.txt").read_bytes() == b"newb"
