"""Killed at any moment, a campaign resumes and ends with the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from campaigns.folders import Diary, bits, gone_within
from campaigns.sample_tasks import lattice
from steelyard.campaigns import Happening, run_campaign

TESTS = Path(__file__).resolve().parents[1]
SCRIPT = """
import sys
from pathlib import Path
from campaigns.sample_tasks import lattice
from steelyard.campaigns import run_campaign
try:
    run_campaign(lattice(8, pause=float(sys.argv[2])), Path(sys.argv[1]), workers=2)
except KeyboardInterrupt:
    sys.exit(130)
"""
PAUSE = 0.1


def begun(folder: Path, pause: float = PAUSE) -> subprocess.Popen[bytes]:
    """A campaign in a process of its own."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(pause)], env=environment)


def started(folder: Path) -> subprocess.Popen[bytes]:
    """A campaign in a process of its own, once it has stored another result."""
    before = stored(folder)
    process = begun(folder)
    limit = time.monotonic() + 60
    while process.poll() is None and stored(folder) == before and time.monotonic() < limit:
        time.sleep(0.005)
    return process


def stored(folder: Path) -> int:
    return len(list((folder / "store").rglob("*.npz")))


def workers(folder: Path) -> set[int]:
    return {int(file.stem.removeprefix("worker-")) for file in (folder / "logs").glob("worker-*.log")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run_campaign(lattice(8, pause=PAUSE), folder, workers=2)
    return bits(folder)


def test_killed_again_and_again_it_ends_with_the_same_bits(
    tmp_path: Path, undisturbed: dict[str, str]
) -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        process = started(tmp_path)
        time.sleep(rng.uniform(0.0, 0.2))
        processes = workers(tmp_path)
        process.kill()
        process.wait()
        assert gone_within(processes, 5.0), "workers outlive the campaign"
        assert bits(tmp_path).items() <= undisturbed.items()
    found = len(bits(tmp_path))
    assert found > 0
    # What a campaign leaves that is killed while it writes its record, whether one of the three was or not.
    (tmp_path / ".0123456789abcdef.tmp").write_bytes(b"half")
    diary = Diary()
    run_campaign(lattice(8, pause=PAUSE), tmp_path, workers=2, tell=diary)
    assert bits(tmp_path) == undisturbed
    assert len(diary.tasks(Happening.FROM_STORE)) == found
    assert len(diary.tasks(Happening.STARTED)) == len(undisturbed) - found
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_worker_killed_from_outside_costs_no_bit(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path)
    victim = min(workers(tmp_path))
    os.kill(victim, signal.SIGKILL)
    assert process.wait(60) == 0
    assert bits(tmp_path) == undisturbed
    tasks = json.loads((tmp_path / "campaign.json").read_text())["tasks"]
    assert {task["status"] for task in tasks} == {"done"}


def test_workers_leave_a_long_task_when_the_campaign_is_killed(tmp_path: Path) -> None:
    process = begun(tmp_path, pause=60.0)
    limit = time.monotonic() + 60
    while len(workers(tmp_path)) < 2 and time.monotonic() < limit:
        time.sleep(0.02)
    processes = workers(tmp_path)
    time.sleep(0.2)
    process.kill()
    process.wait()
    assert len(processes) == 2
    assert gone_within(processes, 5.0)


def test_workers_leave_interruptions_to_the_campaign(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path)
    for worker in workers(tmp_path):
        os.kill(worker, signal.SIGINT)
    assert process.wait(60) == 0
    tasks = json.loads((tmp_path / "campaign.json").read_text())["tasks"]
    assert {task["attempts"] for task in tasks} == {1}
    assert bits(tmp_path) == undisturbed


def test_interrupted_it_leaves_at_once_and_keeps_what_is_stored(
    tmp_path: Path, undisturbed: dict[str, str]
) -> None:
    process = started(tmp_path)
    processes = workers(tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert gone_within(processes, 5.0)
    record = json.loads((tmp_path / "campaign.json").read_text())
    assert record["status"] == "interrupted"
    # A result may be stored whose worker had no time to report it.
    assert record["counts"].get("done", 0) <= len(bits(tmp_path)) < len(undisturbed)
    assert not (tmp_path / "campaign.lock").exists()
    run_campaign(lattice(8, pause=PAUSE), tmp_path, workers=2)
    assert bits(tmp_path) == undisturbed
