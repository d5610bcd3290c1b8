"""The attacks of `bench/attack.py`: their driver, and some seeds of each."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import attack as driver
from attacks import full_disk, kills, live_server
from attacks.attack import Outcome
from attacks.crew import CRASH, DONE, HANG, attempt

QUICK = {"simulate", "validate"}
"""Commands that take less than a second, in one process."""

SAMPLE = """
import os, time
from pathlib import Path

from attacks.attack import Attack
from tables import Bound, Study

def case(seed):
    with Path(__file__).with_name("tried").open("a") as stream:
        stream.write(f"{seed}\\n")
    if seed == 1:
        raise ValueError("the case itself fails")
    if seed == 2:
        os.abort()
    if seed == 4:
        time.sleep(60.0)
    return {"square": seed**2}

def judge(outcomes):
    return Study("Squares", "", (Bound("largest", max(item["square"] for item in outcomes), 30),))

ATTACK = Attack("sample", "squares", 6, case, judge, limit=1.0)
"""


@pytest.fixture(autouse=True)
def _requests_to_end() -> Iterator[None]:
    """The driver answers SIGTERM in its own way; processes that later tests fork must end by it."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sample_attack.py").write_text(SAMPLE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(driver, "ATTACKS", {"sample": "sample_attack"})
    monkeypatch.setattr(driver, "KEPT", tmp_path / "kept")
    return tmp_path


def test_the_driver_goes_on_where_it_was_and_counts_hangs_and_crashes(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    written: dict[str, Any] = {}
    monkeypatch.setattr(driver, "write_study", lambda name, study: written.setdefault(name, study))
    # Three of six are a quick look: a bound is broken by the crashes, and nothing is kept as a result.
    assert driver.main(["sample", "--cases", "3", "--workers", "1"]) == 1
    assert written == {}
    # What a kill cuts off in the middle of a line is tried again, and outcomes of other code do not count.
    log = sample / "kept" / "sample.jsonl"
    with log.open("a") as stream:
        stream.write('{"code": "other", "seed": 5, "ended": "done", "seconds": 0, "square": 99}\n{"code": "')
    assert driver.main(["sample", "--workers", "2"]) == 1
    assert sorted((sample / "tried").read_text().split()) == ["0", "1", "2", "3", "4", "5"]
    study = written["attack_sample"]
    figures = {figure.what: figure.value for figure in study.figures}
    assert figures == {"cases tried": 6, "largest": 25, "cases that hang": 1, "cases that crash": 2}
    known = driver.Log(log, study.extra["code"]).outcomes
    assert [known[seed]["ended"] for seed in range(6)] == [DONE, CRASH, CRASH, DONE, HANG, DONE]
    assert "the case itself fails" in known[1]["reason"]
    assert "SIGABRT" in known[2]["reason"]
    # All is known: nothing is tried again, until a fresh start is asked for.
    assert driver.main(["sample"]) == 1
    assert len((sample / "tried").read_text().split()) == 6
    assert driver.main(["sample", "--cases", "1", "--fresh"]) == 0
    assert len((sample / "tried").read_text().split()) == 7


def outcomes(name: str, seeds: list[int], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """What becomes of some seeds of an attack, in a process of its own."""
    # One folder for all: what they have in common is made once.
    monkeypatch.setenv("TMPDIR", str(folder))
    module = driver.ATTACKS[name]
    return list(attempt(import_module(module).ATTACK, module, seeds, workers=1))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("material")


def test_stopped_commands_leave_whole_files_and_can_be_run_again(
    material: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = {seed: kills.drawn(seed) for seed in range(300)}
    quick = [seed for seed, kill in draws.items() if kill.command.name in QUICK and not kill.by_clock]
    found = outcomes("kills", quick[:4], material, monkeypatch)
    assert {item["command"] for item in found} == QUICK
    assert [item.get("violations", item.get("reason")) for item in found] == [[]] * 4
    assert sum(item["stopped"] for item in found) >= 2


def test_full_disks_are_told_of_and_leave_nothing_half_written(
    material: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = {seed: full_disk.drawn(seed) for seed in range(300)}
    quick = [seed for seed, disk in draws.items() if disk.command.name in QUICK and disk.largest < 2000]
    found = outcomes("full_disk", quick[:4], material, monkeypatch)
    assert [item.get("violations", item.get("reason")) for item in found] == [[]] * 4
    assert all(item["full"] and item["code"] == 2 for item in found)


def test_hostile_clients_neither_stop_nor_slow_a_run() -> None:
    found = live_server.case(4)
    assert found["flooded"]
    assert found["violations"] == []
