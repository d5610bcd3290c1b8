"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.files import require_writable, write_bytes, write_text


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
