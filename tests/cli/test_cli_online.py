"""`steelyard online`: what it says, what it leaves, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.running import run
from steelyard.errors import InputError
from steelyard.formats.urdf import new_urdf
from steelyard.safe_learning import OnlineRun, Replanner
from steelyard.safe_learning.planning.search import PlannedMove, Planner
from steelyard.workflows import safe_learning
from steelyard.workflows.safe_learning import LearningTask
from steelyard.zoo import zoo_robot

ARM = "kinova_gen3_2f85"
LOAD = {"mass": 1.5, "com": [0.0, 0.01, 0.02], "inertia": [0.003, 0.0, 0.004, 0.0, 0.0, 0.004]}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("load") / "load.json"
    file.write_text(json.dumps(LOAD))
    return file


@pytest.fixture(scope="module")
def made(load: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("online") / "learned"
    # Time enough for a first plan on any machine.
    words = ("--plans", "2", "--budget", "2", "--seed", "4", "--tool", "none", "--out", out, "--json")
    done = run("online", ARM, "--payload", load, *words)
    assert done.code == 0, done.err
    return out, done.document


def test_the_answer_has_what_is_promised_of_it(made: tuple[Path, dict[str, Any]]) -> None:
    _, answer = made
    assert answer["verdict"] == "pass"
    assert answer["certified"] is True
    assert answer["violations"] == []
    assert answer["plans"] == 2
    assert answer["plans_checked"] == 2
    assert 0.0 < answer["seconds"]["slowest_check"] <= answer["seconds"]["run"]
    assert answer["contains_truth"] is True
    assert answer["bounds"]["m"]["lower"] <= LOAD["mass"] <= answer["bounds"]["m"]["upper"]
    assert answer["bounds"]["m"]["upper"] - answer["bounds"]["m"]["lower"] < 2.0
    assert [segment["kind"] for segment in answer["segments"]][-1] == "brake"
    seconds = sum(segment["seconds"] for segment in answer["segments"])
    assert seconds == pytest.approx(answer["seconds"]["robot"], abs=2e-3)
    assert answer["frame"] == "gen3_grasp"


def test_what_it_leaves_repeats_itself_and_is_a_page(made: tuple[Path, dict[str, Any]]) -> None:
    out, answer = made
    assert {path.name for path in out.iterdir()} == {"run.json", "cycles.npz", "report.html"}
    assert set(answer["files"].values()) == {str(path) for path in out.iterdir()}
    again = run("replay", out, "--json")
    assert again.code == 0
    assert again.document["verdict"] == "pass"
    page = (out / "report.html").read_text()
    assert "learned its payload" in page
    assert "proofs of 2 of 2 plans were verified again" in page


def test_a_plan_with_a_forged_proof_is_not_driven_and_people_are_told(
    load: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Planner.best

    def forged(self: Planner, *words: Any, **options: Any) -> PlannedMove:
        found = honest(self, *words, **options)
        certificate = replace(found.certificate, half_widths=0.5 * found.certificate.half_widths)
        return replace(found, certificate=certificate)

    monkeypatch.setattr(Planner, "best", forged)
    done = run("online", ARM, "--payload", load, "--plans", "1", "--budget", "2")
    assert done.code == 3
    assert "the robot did not move. The check of a plan's proof by other means refuses it" in done.complaint


def test_a_load_outside_what_was_stated_is_announced(load: Path) -> None:
    done = run("online", ARM, "--payload", load, "--heaviest", "0.3", "--budget", "2", "--json")
    assert done.code == 1
    assert done.document["outcome"] == "broken assumption"
    assert done.document["events"]


def test_an_arm_whose_gears_are_too_light_is_refused_by_the_inertia_it_would_need(load: Path) -> None:
    done = run("online", "panda", "--payload", load, "--rotor", "0.1")
    assert done.code == 3
    assert "rotor inertia of at least" in done.err
    assert "panda_joint1" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--law", "fuzzy"), "--law"),
        (("--start", "1,2"), "--start"),
        (("--goal", "a,b,c,d,e,f,g"), "--goal"),
        (("--torque-error", "0.1"), "--torque-error"),
        (("--rotor", "-1"), "--rotor"),
        (("--prior", "missing.json"), "missing.json"),
    ],
)
def test_bad_options_are_refused_by_name(load: Path, words: tuple[str, ...], said: str) -> None:
    done = run("online", ARM, "--payload", load, *words)
    assert done.code == 2
    assert said in done.err


def test_a_folder_with_something_in_it_is_kept(load: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = run("online", ARM, "--payload", load, "--out", tmp_path)
    assert done.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_prior_that_is_not_one_is_refused(load: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.json"
    prior.write_text('{"lower": [1, 2]}')
    done = run("online", ARM, "--payload", load, "--prior", prior)
    assert done.code == 2
    assert "ten" in done.err or "shape" in done.err


def test_a_run_whose_log_was_changed_fails_its_replay(
    made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    done = OnlineRun.read(made[0])
    q = done.cycles.q.copy()
    q[700, 0] += 1e-9
    replace(done, cycles=replace(done.cycles, q=q)).write(tmp_path / "changed")
    again = run("replay", tmp_path / "changed", "--json")
    assert again.code == 1
    assert "cycle 700" in again.document["sentence"]


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("light") / "load.json"
    file.write_text(json.dumps({"mass": 0.1, "com": [0, 0, 0.02], "inertia": [1e-4, 0, 1e-4, 0, 0, 1e-4]}))
    return file


def test_a_description_of_ones_own_runs_and_what_is_assumed_or_not_covered_is_said(
    light: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arm.urdf").write_bytes(new_urdf(zoo_robot("so101")))
    words = ("--plans", "1", "--budget", "4", "--seed", "4", "--json")
    done = run("online", tmp_path / "arm.urdf", "--payload", light, *words, "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert done.document["contains_truth"] is True
    said = " ".join(done.document["assumed"])
    assert "at most 10 rad/s²" in said
    assert "--acceleration" in said
    assert "--rotor" in said
    assert "--rotor" in done.complaint
    # The load has no shape, so not all that could hit is part of the proofs.
    assert (done.document["verdict"], done.document["certified"]) == ("warn", False)
    assert any("the load has no shape here" in sentence for sentence in done.document["uncovered"])
    assert "not all that could hit is part of the proofs" in (tmp_path / "run" / "report.html").read_text()
    missing = run("online", tmp_path / "arm.urdf", "--payload", light, "--tool", tmp_path / "none.stl")
    assert missing.code == 2
    assert "--tool" in missing.complaint
    wrong = run("online", tmp_path / "arm.urdf", "--payload", light, "--acceleration", "-1")
    assert wrong.code == 2
    assert "--acceleration: expected a positive number" in wrong.complaint
    # What is assumed is said before anything moves.
    monkeypatch.setattr(Replanner, "warm_up", _stop)
    stated = run("online", tmp_path / "arm.urdf", "--payload", light, *words, "--acceleration", "8")
    assert "stopped here" in stated.complaint
    assert "--rotor" in stated.complaint
    assert "--acceleration" not in stated.complaint


def _stop(*_: object) -> None:
    raise InputError("stopped here.", place="test")


def test_what_the_proofs_do_not_cover_is_named_and_the_verdict_is_no_pass(
    light: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = new_urdf(zoo_robot("lbr_med7")).decode()
    first = text.index("<collision")
    end = text.index("</collision>", first)
    geometry = text.index("<geometry>", first, end)
    mesh = '<geometry><mesh filename="missing.stl"/></geometry>'
    (tmp_path / "arm.urdf").write_text(
        text[:geometry] + mesh + text[text.index("</geometry>", geometry) + len("</geometry>") :]
    )
    known: list[tuple[str, ...]] = []

    def look(mind: Replanner, *_: object) -> None:
        raise InputError("stopped here.", place="test")

    monkeypatch.setattr(Replanner, "warm_up", look)
    made = safe_learning.learning_task

    def task(robot: Any, **options: Any) -> LearningTask:
        found = made(robot, **options)
        known.append(found.uncovered)
        return found

    monkeypatch.setattr(safe_learning, "learning_task", task)
    words = ("online", tmp_path / "arm.urdf", "--payload", light)
    run(*words)
    run(*words, "--tool", "none", "--gravity", "0,0,9.81")
    run(*words, "--tool", "none", "--gravity", "0,0,9.81", "--floor", "-2")
    unread, hanging, stated = known
    assert any("its mesh is not counted" in sentence for sentence in unread)
    assert any("--tool" in sentence for sentence in unread)
    assert any("--floor" in sentence for sentence in hanging)
    assert not any("--tool" in sentence or "--floor" in sentence for sentence in stated)
