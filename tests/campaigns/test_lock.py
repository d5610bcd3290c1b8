"""One campaign at a time in a folder; locks of the dead are taken over with a word."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from campaigns.sample_tasks import lattice
from steelyard.campaigns import run_campaign
from steelyard.campaigns.run import FILE, SILENCE, locked
from steelyard.errors import InputError


def leave(folder: Path, *, host: str, process: int, born: str = "", silent: float = 0.0) -> None:
    lock = folder / FILE
    lock.write_text(json.dumps({"host": host, "process": process, "born": born}))
    os.utime(lock, (time.time() - silent,) * 2)


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_second_campaign_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    with locked(tmp_path, print):
        with pytest.raises(InputError, match=f"in use by another campaign, process {os.getpid()}"):
            run_campaign(lattice(2), tmp_path, workers=1)
        assert not (tmp_path / "store").exists()
    run_campaign(lattice(2), tmp_path, workers=1)
    assert not (tmp_path / FILE).exists()


def test_the_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), locked(tmp_path, print):
        raise RuntimeError
    with locked(tmp_path, print):
        pass


def test_the_lock_of_a_dead_process_is_taken_with_a_word(tmp_path: Path) -> None:
    leave(tmp_path, host=socket.gethostname(), process=dead_process())
    words: list[str] = []
    with locked(tmp_path, words.append):
        assert json.loads((tmp_path / FILE).read_text())["process"] == os.getpid()
    assert len(words) == 1
    assert "ended without a word" in words[0]


def test_another_process_with_the_dead_ones_number_does_not_hold_its_lock(tmp_path: Path) -> None:
    leave(tmp_path, host=socket.gethostname(), process=os.getppid(), born="1")
    words: list[str] = []
    with locked(tmp_path, words.append):
        assert words


def test_a_lock_from_elsewhere_holds_while_it_is_touched_and_ends_by_silence(tmp_path: Path) -> None:
    leave(tmp_path, host="elsewhere", process=1, silent=SILENCE - 60)
    with pytest.raises(InputError, match=r"process 1 on elsewhere, seen 5\d\d s ago.*delete campaign.lock"):
        run_campaign(lattice(2), tmp_path)
    leave(tmp_path, host="elsewhere", process=1, silent=SILENCE + 60)
    words: list[str] = []
    with locked(tmp_path, words.append):
        assert "taken for dead" in words[0]


@pytest.mark.parametrize("text", ["{", "[]", '{"host": 1}', "null", "\0"])
def test_a_damaged_lock_is_replaced_with_a_word(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    words: list[str] = []
    with locked(tmp_path, words.append):
        assert "damaged" in words[0]
