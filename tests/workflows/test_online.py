"""`online` called from Python: the same answer as the command's, from objects or paths, nothing on disk."""

from __future__ import annotations

import inspect
import json
import textwrap
import urllib.error
import urllib.request
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.cli.online import exit_code
from steelyard.errors import InputError
from steelyard.progress import ProgressStep
from steelyard.robot import read_payload
from steelyard.safe_learning import BROKEN, OnlineRun, Replanner
from steelyard.uncertainty import PayloadBox
from steelyard.workflows.online import online
from steelyard.workflows.safe_learning import SafeLearning, learning_task
from steelyard.zoo import zoo_robot

LOAD = {"mass": 0.1, "com": [0, 0, 0.02], "inertia": [1e-4, 0, 1e-4, 0, 0, 1e-4]}
DOCS = Path(__file__).resolve().parents[2] / "docs"
WORDS = ("--plans", "1", "--seed", "4", "--tool", "none", "--rotor", "0.5", "--heaviest", "0.3")


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("load") / "load.json"
    file.write_text(json.dumps(LOAD))
    return file


@pytest.fixture(scope="module")
def counted() -> Any:
    """Searches that are limited by plans looked at, not by time: the same on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        honest = Replanner.exciting
        patch.setattr(
            Replanner, "exciting", lambda setting, budget=None: honest(setting, budget=None, evaluations=60)
        )
        yield


@pytest.fixture(scope="module")
def learned(
    load: Path, counted: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SafeLearning, list[ProgressStep]]:
    """A run from objects, in an empty folder."""
    said: list[ProgressStep] = []
    with pytest.MonkeyPatch.context() as patch:
        here = tmp_path_factory.mktemp("here")
        patch.chdir(here)
        found = online(
            zoo_robot("so101"),
            payload=read_payload(load),
            plans=1,
            seed=4,
            tool="none",
            rotor=0.5,
            heaviest=0.3,
            progress=said.append,
        )
        assert list(here.iterdir()) == [], "without a folder nothing is written"
    return found, said


def test_it_answers_as_the_command_does(
    learned: tuple[SafeLearning, list[ProgressStep]], load: Path, counted: None, tmp_path: Path
) -> None:
    found, said = learned
    done = run("online", "so101", "--payload", load, *WORDS, "--out", tmp_path / "out", "--json")
    assert done.code == (1 if found.verdict == "fail" else 0), done.err
    ours, theirs = json.loads(json.dumps(to_document(found.document))), done.document
    assert list(ours) == list(theirs)
    for document in (ours, theirs):
        del document["files"], document["seconds"]
    assert ours == theirs
    for step in said:
        assert " ".join(step.message.split()) in done.complaint


def test_a_run_with_shapes_of_the_robot_missing_is_not_called_safe_and_ends_with_3(
    learned: tuple[SafeLearning, list[ProgressStep]],
) -> None:
    found, _ = learned
    assert found.verdict == "pass"
    words = ("gripper: its mesh is not counted, so its clearance is not checked: there is no such file.",)
    task = replace(found.task, uncovered=words, shapeless=words)
    missing = replace(found, task=task)
    accepted = replace(found, task=replace(task, allow_no_clearance=True))
    assert [exit_code(x) for x in (found, missing, accepted)] == [0, 3, 0]
    for run_of in (missing, accepted):
        assert (run_of.verdict, run_of.certified) == ("warn", False)
        assert run_of.lines[0].startswith("Warning: nothing is known of the clearance of 1 shapes")
        assert "not all that could hit is part of the proofs" in run_of.page
    assert "accepted this (--allow-no-clearance)" in accepted.page
    assert (missing.document["accepted"], accepted.document["accepted"]) == ([], list(words))


def test_the_result_says_what_matters_and_can_be_saved_later(
    learned: tuple[SafeLearning, list[ProgressStep]], tmp_path: Path
) -> None:
    found, said = learned
    assert any("Preparing" in step.message for step in said)
    assert found.contains_truth
    assert found.certified
    assert found.violations == ()
    assert [segment["kind"] for segment in found.segments][-1] == "brake"
    assert found.bounds["m"]["lower"] <= LOAD["mass"] <= found.bounds["m"]["upper"]
    assert repr(found).startswith("<SafeLearning so101: pass, ")
    assert "\n" not in repr(found)
    assert str(found).startswith("so101: pass.\n")
    assert found.files == {}
    files = found.save(tmp_path / "out")
    assert {Path(file).name for file in files.values()} == {"run.json", "cycles.npz", "report.html"}
    assert run("replay", tmp_path / "out", "--json").document["verdict"] == "pass"
    with pytest.raises(InputError, match="is not empty"):
        found.save(tmp_path / "out")


def test_a_task_is_stated_by_the_options_of_the_command_with_their_defaults() -> None:
    stated = inspect.signature(learning_task).parameters
    offered = inspect.signature(online).parameters
    # What is asked of the run alone: the load that is really there, the search, the clock and the files.
    alone = {"payload", "out", "excite", "plans", "budget", "real_time", "live", "force", "progress"}
    assert offered.keys() - stated.keys() == alone
    assert stated.keys() <= offered.keys()
    task = learning_task("so101", rotor=0.5)
    for name, parameter in stated.items():
        if name not in ("robot", "torque_error"):
            assert parameter.default == offered[name].default, name
    assert task.setting.errors.torque_relative[0] == 0.025
    assert task.setting.errors.torque_absolute[0] == 0.1


def test_objects_are_taken_as_they_are() -> None:
    robot = zoo_robot("so101")
    box = PayloadBox.in_ball(0.2, 0.05)
    task = learning_task(robot, prior=box, start=np.zeros(robot.nv), rotor=[0.5] * robot.nv, tool="none")
    assert task.setting.prior is box
    assert task.start.tolist() == [0.0] * robot.nv
    assert task.uncovered == ()
    assert {joint.drive.rotor for joint in task.robot.joints} == {0.5}
    assert repr(task) == "<LearningTask so101, clamped law>"


def test_the_loop_around_a_robot_in_the_docs_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "safe-learning.md").read_text()
    (block,) = [part for part in text.split("\n\n") if "run = run_online(" in part]
    imports = next(part for part in text.split("\n\n") if "import learning_task" in part)
    names: dict[str, Any] = {}
    exec(textwrap.dedent(f"{imports}\n{block}"), names)
    found = names["run"]
    assert isinstance(found, OnlineRun)
    assert found.record.outcome != BROKEN
    assert found.record.moves
    # The simulated robot of the page holds nothing.
    assert (found.record.box.lower <= 0.0).all()
    assert (found.record.box.upper >= 0.0).all()


def test_a_run_is_shown_while_it_goes_on_and_no_longer(
    load: Path, counted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, str]] = []

    def open_page(url: str) -> None:
        opened.append((url, urllib.request.urlopen(url, timeout=5).read().decode()))

    monkeypatch.setattr(webbrowser, "open", open_page)
    said: list[ProgressStep] = []
    options: dict[str, Any] = {"plans": 1, "seed": 4, "tool": "none", "rotor": 0.5, "heaviest": 0.3}
    found = online("so101", payload=load, live=True, progress=said.append, **options)
    ((url, page),) = opened
    assert f"Live view: {url}" in [step.message for step in said]
    assert "so101 learns what it holds, live" in page
    assert found.verdict == "pass"
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=1)
