"""`steelyard payload`: the command a user runs, from logs on disk to an asset."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

from payload.loaded_arm import body, motion_of, run
from steelyard.cli.app import app, main
from steelyard.recording import write
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
LOAD = body(3, 1.5)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with and without a load, and one of another motion."""
    folder = tmp_path_factory.mktemp("logs")
    motion, rng = motion_of(PANDA), np.random.default_rng(0)
    write(run(PANDA, motion, LOAD, noise=0.02, rng=rng, driven=True), folder / "loaded.csv")
    write(run(PANDA, motion, noise=0.02, rng=rng, driven=True), folder / "empty.csv")
    write(run(PANDA, motion_of(PANDA, 1), noise=0.02, rng=rng, driven=True), folder / "other.csv")
    return folder


def asked(*words: str | Path) -> tuple[int, dict]:
    done = CliRunner().invoke(app, ["payload", "panda", *map(str, words), "--json"])
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> str:
    monkeypatch.setattr("sys.argv", ["steelyard", "payload", "panda", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    return capsys.readouterr().err


def test_an_empty_run_of_the_same_motion_is_all_that_is_needed(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "object"
    code, found = asked("--loaded", logs / "loaded.csv", "--empty", logs / "empty.csv", "--out", out)
    assert code == 0
    assert found["way"] == "residual torques"
    assert found["mass"] == pytest.approx(LOAD.mass, rel=5e-3)
    assert np.abs(np.array(found["com"]) - LOAD.com).max() < 2e-3
    low, high = found["interval95"]["mass"]
    assert low < found["mass"] < high
    assert found["frame"] == PANDA.tool_frame.name
    for name in ("object.urdf", "object.xml", "object.sdf", "parameters.json", "record.json", "report.html"):
        assert (out / name).is_file()
    model = mujoco.MjModel.from_xml_path(str(out / "object.xml"))
    assert model.body_mass.sum() == pytest.approx(found["mass"])


def test_a_run_of_another_motion_leads_to_the_full_arm_and_nothing_at_all_to_the_description(
    logs: Path, tmp_path: Path
) -> None:
    loaded = ("--loaded", logs / "loaded.csv")
    _, arm = asked(*loaded, "--empty", logs / "other.csv", "--out", tmp_path / "arm")
    assert arm["way"] == "full arm, twice"
    assert arm["mass"] == pytest.approx(LOAD.mass, rel=0.05)
    _, model = asked(*loaded, "--out", tmp_path / "model")
    assert model["way"] == "known robot"
    assert model["mass"] == pytest.approx(LOAD.mass, rel=5e-3)
    assert any(finding["code"] == "trusted-description" for finding in model["findings"])


def test_a_grasp_states_the_answer_in_its_own_frame(logs: Path, tmp_path: Path) -> None:
    _, found = asked("--loaded", logs / "loaded.csv", "--grasp", "0,0,0.1", "--out", tmp_path / "object")
    assert np.abs(np.array(found["com"]) - LOAD.com + [0.0, 0.0, 0.1]).max() < 2e-3
    assert "grasp" in found["frame"]


def test_bounds_are_given_with_everything_they_assume(logs: Path, tmp_path: Path) -> None:
    _, found = asked(
        "--loaded", logs / "loaded.csv", "--torque-error", "0.01,0.2", "--model-error", "0.001",
        "--acceleration", "20", "--heaviest", "5", "--extent", "0.3", "--out", tmp_path / "object",
    )  # fmt: skip
    low, high = found["bounds"]["m"]
    assert low <= LOAD.mass <= high
    assert len(found["bounds_assume"]) > 5
    check = next(check for check in found["checks"] if check["name"] == "guaranteed bounds")
    assert all(sentence in check["message"] for sentence in found["bounds_assume"])


def test_errors_that_contradict_the_data_fail_and_name_the_place(logs: Path, tmp_path: Path) -> None:
    code, found = asked(
        "--loaded", logs / "loaded.csv", "--torque-error", "0,0.001", "--model-error", "0",
        "--velocity-error", "0", "--acceleration", "0.001", "--heaviest", "0.5", "--out", tmp_path / "object",
    )  # fmt: skip
    assert code == 1
    assert found["bounds"] is None
    check = next(check for check in found["checks"] if check["name"] == "guaranteed bounds")
    assert check["status"] == "fail"
    assert "panda_joint" in check["message"]


def test_a_record_makes_the_same_files_again(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "object"
    asked("--loaded", logs / "loaded.csv", "--out", out)
    done = CliRunner().invoke(app, ["replay", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["files"].values()) == {"same"}


def test_what_cannot_be_used_is_refused_and_nothing_written(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, out = ("--loaded", logs / "loaded.csv"), ("--out", tmp_path / "object")
    for words, part in (
        (("--way", "residual"), "--empty"),
        (("--way", "guess"), "residual"),
        (("--grasp", "0,0"), "three or six"),
        (("--mesh", tmp_path / "none.stl"), "no such file"),
        (("--torque-error", "0.1"), "0.025,0.3"),
    ):
        message = refused(capsys, monkeypatch, *loaded, *out, *words)
        assert part in message, message
    assert not (tmp_path / "object").exists()
