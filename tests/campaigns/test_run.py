"""Running: the stored is not computed again, the changed is, failures are kept, lost workers survived."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

from campaigns.folders import Diary, bits
from campaigns.sample_tasks import HERE, lattice
from oracles.thread_counts import thread_count
from steelyard.campaigns import Happening, TaskGraph, TaskStatus, executor, run_campaign
from steelyard.campaigns.task import Task
from steelyard.errors import InputError, NoSolutionError


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {f.name: (f.stat().st_ino, f.stat().st_mtime_ns) for f in (folder / "store").rglob("*.npz")}


def test_results_are_those_of_the_functions_called_one_by_one(tmp_path: Path) -> None:
    outcome = run_campaign(lattice(4), tmp_path, workers=2)
    draws = [np.random.default_rng(k).normal(size=(40, 40)) for k in range(4)]
    whole = sum((0.5 + k) * draws[k] @ draws[(k + 1) % 4] for k in range(4))
    np.testing.assert_allclose(outcome.result("sum")["sum"], whole, rtol=1e-12, atol=1e-12)
    assert outcome.result("sum")["order"] == [f"product-{k}" for k in range(4)]
    assert outcome.counts == {TaskStatus.DONE: 9, TaskStatus.FAILED: 0, TaskStatus.SKIPPED: 0}


def test_neither_the_number_of_workers_nor_the_order_of_tasks_changes_a_bit(tmp_path: Path) -> None:
    run_campaign(lattice(), tmp_path / "one", workers=1)
    backwards = TaskGraph(reversed(list(lattice().tasks.values())))
    run_campaign(backwards, tmp_path / "three", workers=3)
    assert bits(tmp_path / "one") == bits(tmp_path / "three")
    assert len(bits(tmp_path / "one")) == 13


def test_a_second_start_computes_and_writes_nothing(tmp_path: Path) -> None:
    first = run_campaign(lattice(), tmp_path, workers=2)
    before, diary = stamps(tmp_path), Diary()
    second = run_campaign(lattice(), tmp_path, workers=2, tell=diary)
    assert diary.counts() == {"from store": 13}
    assert stamps(tmp_path) == before
    # How long each took, and where, is remembered too.
    for name, end in first.ends.items():
        assert (second.ends[name].seconds, second.ends[name].host) == (end.seconds, end.host)


def test_one_changed_parameter_computes_exactly_the_descendants(tmp_path: Path) -> None:
    run_campaign(lattice(), tmp_path, workers=2)
    diary = Diary()
    tasks = lattice().tasks.values()
    changed = TaskGraph(replace(t, parameters={"seed": 77}) if t.name == "draw-2" else t for t in tasks)
    run_campaign(changed, tmp_path, workers=2, tell=diary)
    assert diary.tasks(Happening.STARTED) == {"draw-2", "product-1", "product-2", "sum"}
    diary = Diary()
    run_campaign(lattice(), tmp_path, workers=2, tell=diary)
    assert not diary.tasks(Happening.STARTED), "the old results are still there"


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"", lambda b: b[:200] + b"?" + b[201:]])
def test_a_damaged_file_is_computed_again_with_a_word(tmp_path: Path, damage: Any) -> None:
    outcome = run_campaign(lattice(), tmp_path, workers=2)
    whole = bits(tmp_path)
    key = outcome.ends["product-3"].key
    file = tmp_path / "store" / key[:2] / f"{key}.npz"
    file.write_bytes(damage(file.read_bytes()))
    diary = Diary()
    run_campaign(lattice(), tmp_path, workers=2, tell=diary)
    assert diary.tasks(Happening.STARTED) == {"product-3"}
    assert "damaged or half-written. It is computed again." in diary.words(Happening.NOTE)
    assert bits(tmp_path) == whole


def failing() -> TaskGraph:
    tasks = list(lattice(3).tasks.values())
    bad = Task("draw-1", f"{HERE}:no_solution", {"word": "no motion"}, kind="draw")
    return TaskGraph(bad if t.name == "draw-1" else t for t in tasks)


def test_a_failed_task_is_kept_with_its_story_and_takes_only_its_dependants_along(tmp_path: Path) -> None:
    diary = Diary()
    outcome = run_campaign(failing(), tmp_path, workers=2, tell=diary)
    assert outcome.counts == {TaskStatus.DONE: 4, TaskStatus.FAILED: 1, TaskStatus.SKIPPED: 2}
    assert outcome.ends["product-0"].reason == "skipped: because draw-1 failed"
    assert outcome.ends["draw-1"].reason == "NoSolutionError: sample: no motion"
    assert outcome.ends["draw-1"].attempts == 1
    story = (tmp_path / "failures" / "draw-1.txt").read_text()
    for part in ("no motion", "Traceback", "sample_tasks.py", "margin = -1.5", "looked everywhere"):
        assert part in story
    assert [f.name for f in (tmp_path / "failures").iterdir()] == ["draw-1.txt"]
    with pytest.raises(NoSolutionError, match=r"product-0.*skipped: because draw-1 failed"):
        outcome.result("product-0")


def test_a_skipped_task_names_the_one_that_failed_however_far_back(tmp_path: Path) -> None:
    chain = [Task("first", f"{HERE}:no_solution", {"word": "no"})]
    for k in range(3):
        chain.append(Task(f"link-{k}", f"{HERE}:add", inputs={"parts": (chain[-1].name,)}))
    ends = run_campaign(TaskGraph(chain), tmp_path, workers=1).ends
    assert {ends[f"link-{k}"].reason for k in range(3)} == {"skipped: because first failed"}


def test_an_aggregation_takes_what_succeeded_and_is_told_what_did_not(tmp_path: Path) -> None:
    outcome = run_campaign(failing(), tmp_path, workers=2)
    result = outcome.result("sum")
    assert result["failed"] == {f"product-{k}": "skipped: because draw-1 failed" for k in (0, 1)}
    np.testing.assert_array_equal(result["sum"], outcome.result("product-2")["matrix"])


def test_a_lasting_failure_is_not_tried_again_unless_asked(tmp_path: Path) -> None:
    run_campaign(failing(), tmp_path, workers=2)
    diary = Diary()
    outcome = run_campaign(failing(), tmp_path, workers=2, tell=diary)
    assert not diary.tasks(Happening.STARTED)
    assert outcome.ends["draw-1"].reason == "NoSolutionError: sample: no motion"
    assert "looked everywhere" in (tmp_path / "failures" / "draw-1.txt").read_text()
    diary = Diary()
    run_campaign(failing(), tmp_path, workers=2, retry_failed=True, tell=diary)
    assert diary.tasks(Happening.STARTED) == {"draw-1"}


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("defect", "ZeroDivisionError: division by zero"),
        ("not_a_result", "result.object: holds a object"),
        ("leave", "SystemExit: 7"),
        ("trivial", "TypeError"),
    ],
)
def test_a_defect_fails_its_task_alone_and_is_tried_again(tmp_path: Path, function: str, reason: str) -> None:
    graph = TaskGraph([Task("bad", f"{HERE}:{function}"), Task("good", f"{HERE}:trivial", {"number": 1})])
    outcome = run_campaign(graph, tmp_path, workers=2)
    assert reason in outcome.ends["bad"].reason
    assert outcome.ends["bad"].attempts == 1
    assert outcome.ends["good"].status is TaskStatus.DONE
    diary = Diary()
    run_campaign(graph, tmp_path, workers=2, tell=diary)
    assert diary.tasks(Happening.STARTED) == {"bad"}


def test_a_worker_of_another_version_is_named_and_blames_no_input(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(executor, "__version__", "0.0.1")
    outcome = run_campaign(lattice(1), tmp_path, workers=1)
    assert "runs steelyard 0.0.1, the campaign" in outcome.ends["draw-0"].reason
    monkeypatch.undo()
    assert run_campaign(lattice(1), tmp_path, workers=1).counts[TaskStatus.DONE] == 3


def test_an_aggregation_of_a_repaired_defect_is_computed_again(tmp_path: Path, monkeypatch: Any) -> None:
    from campaigns import sample_tasks

    healthy = sample_tasks.multiply
    monkeypatch.setattr(sample_tasks, "multiply", lambda **_: 1 / 0)
    broken = run_campaign(lattice(2), tmp_path, workers=1)
    assert len(broken.result("sum")["failed"]) == 2
    monkeypatch.setattr(sample_tasks, "multiply", healthy)
    assert run_campaign(lattice(2), tmp_path, workers=1).result("sum")["failed"] == {}
    assert not list((tmp_path / "failures").iterdir())
    run_campaign(lattice(2), tmp_path / "fresh", workers=1)
    assert bits(tmp_path / "fresh").items() <= bits(tmp_path).items()


def test_a_killed_worker_costs_one_retry_and_no_bit(tmp_path: Path) -> None:
    def graph(marker: Path) -> TaskGraph:
        tasks = dict(lattice().tasks)
        tasks["draw-1"] = Task("draw-1", f"{HERE}:die_once", {"marker": str(marker), "seed": 1}, kind="draw")
        return TaskGraph(tasks.values())

    marker = tmp_path / "marker"
    marker.touch()
    run_campaign(graph(marker), tmp_path / "calm", workers=2)
    marker.unlink()
    diary = Diary()
    outcome = run_campaign(graph(marker), tmp_path / "rough", workers=2, tell=diary)
    assert bits(tmp_path / "rough") == bits(tmp_path / "calm")
    assert diary.tasks(Happening.LOST_WORKER) == diary.tasks(Happening.RETRIED) == {"draw-1"}
    assert "SIGKILL" in diary.words(Happening.LOST_WORKER)
    assert outcome.ends["draw-1"].attempts == 2
    assert all(end.attempts == 1 for name, end in outcome.ends.items() if name != "draw-1")


def test_a_task_that_kills_every_worker_is_given_up_and_harms_nobody_else(tmp_path: Path) -> None:
    killer = Task("killer", f"{HERE}:always_die", {"last_words": "out of breath"})
    diary = Diary()
    outcome = run_campaign(TaskGraph([killer, *lattice(4).tasks.values()]), tmp_path, workers=2, tell=diary)
    assert outcome.counts == {TaskStatus.DONE: 9, TaskStatus.FAILED: 1, TaskStatus.SKIPPED: 0}
    assert outcome.ends["killer"].attempts == 4
    assert "killed by SIGKILL" in outcome.ends["killer"].reason
    assert all(end.attempts == 1 for name, end in outcome.ends.items() if name != "killer")
    assert "out of breath" in (tmp_path / "failures" / "killer.txt").read_text()
    assert not (tmp_path / "logs").exists()


def test_a_worker_without_memory_is_a_lost_worker(tmp_path: Path) -> None:
    outcome = run_campaign(TaskGraph([Task("hungry", f"{HERE}:no_memory")]), tmp_path, workers=1)
    assert outcome.ends["hungry"].attempts == 4


def test_a_worker_uses_one_thread(tmp_path: Path) -> None:
    with threadpool_limits(2), thread_count(2):
        result = run_campaign(TaskGraph([Task("a", f"{HERE}:threads")]), tmp_path, workers=1).result("a")
    assert set(result["blas"]) == {1}
    assert result["kernels"] == 1


def test_the_record_tells_every_task(tmp_path: Path) -> None:
    run_campaign(failing(), tmp_path, workers=2, name="trial")
    record = json.loads((tmp_path / "campaign.json").read_text())
    assert (record["name"], record["status"]) == ("trial", "ended")
    assert record["counts"] == {"done": 4, "failed": 1, "skipped": 2}
    assert {"steelyard", "python", "numpy"} <= set(record["versions"])
    table = pq.read_table(tmp_path / "runs.parquet")
    assert table.schema.field("seconds").metadata == {b"unit": b"s"}
    rows = {row["task"]: row for row in table.to_pylist()}
    assert list(rows) == [task["task"] for task in record["tasks"]] == list(failing().tasks)
    for task in record["tasks"]:
        assert rows[task["task"]]["status"] == task["status"]
        assert (task["seconds"] is None) == (task["status"] == "skipped")
    assert json.loads(rows["draw-0"]["parameters"]) == {"seed": 0, "pause": 0.0}
    assert json.loads(rows["product-0"]["inputs"]) == ["draw-0", "draw-1"]


def test_nothing_on_disk_is_a_pickle(tmp_path: Path) -> None:
    run_campaign(failing(), tmp_path, workers=2)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} == {".json", ".jsonl", ".npz", ".parquet", ".txt"}
    for file in files:
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as archive:
                assert all(archive[name] is not None for name in archive.files)


def test_a_folder_that_cannot_be_used_and_impossible_worker_counts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        run_campaign(lattice(2), tmp_path / "file")
    with pytest.raises(InputError, match="at least 1"):
        run_campaign(lattice(2), tmp_path, workers=0)
    with pytest.raises(InputError, match="cannot be used together"):
        run_campaign(lattice(2), tmp_path, workers=2, cluster="tcp://127.0.0.1:1")
