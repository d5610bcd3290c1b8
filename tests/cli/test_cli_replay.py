"""`steelyard replay`: a record gives the same bits again, and what stands in the way is named."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard.motion import random_fourier
from steelyard.recording import write
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two logs and a result of the first, identified with paths relative to it."""
    folder = tmp_path_factory.mktemp("made")
    robot = zoo_robot("two_link")
    for name, seed in (("train", 1), ("other", 2)):
        motion = random_fourier(robot, np.random.default_rng(seed))
        log = simulate_motion(robot, motion, sensor="industrial", rng=np.random.default_rng(seed))
        write(log, folder / f"{name}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ("--holdout", "other.parquet", "--cutoff", "20", "--method", "wls", "--out", "result")
        done = run("identify", "two_link", "train.parquet", *words, "--json")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def there(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_record_gives_the_same_bits_again_and_leaves_nothing_behind(there: Path) -> None:
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    done = run("replay", "result", "--json")
    assert done.code == 0, done.out
    found = done.document
    assert found["verdict"] == "pass"
    assert set(found["files"]) == {path.name for path in (there / "result").iterdir()}
    assert set(found["files"].values()) == {"same"}
    assert found["versions"] == {}
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before


def test_nothing_in_a_result_says_when_or_where_it_was_made(there: Path) -> None:
    for name, content in _contents(there / "result").items():
        assert str(there).encode() not in content, name


def test_files_that_differ_and_versions_that_explain_it_are_named(there: Path, tmp_path: Path) -> None:
    record = json.loads((there / "result" / "record.json").read_text())
    record["files"]["model.urdf"] = hashlib.sha256(b"another").hexdigest()
    record["files"]["gone.txt"] = "0" * 64
    record["versions"]["numpy"] = "0.1"
    (tmp_path / "record.json").write_text(json.dumps(record))
    done = run("replay", tmp_path / "record.json", "--out", tmp_path / "again")
    assert done.code == 1
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert {"differs model.urdf", "missing gone.txt", "same model.xml"} <= set(lines)
    assert f"numpy was 0.1 and is {np.__version__}" in lines
    assert _contents(tmp_path / "again") == _contents(there / "result")


def test_a_changed_or_missing_input_is_named_before_anything_is_done(there: Path, tmp_path: Path) -> None:
    kept = (there / "train.parquet").read_bytes()
    try:
        (there / "train.parquet").write_bytes(kept + b"x")
        changed = run("replay", "result", "--out", tmp_path / "again")
        (there / "train.parquet").unlink()
        missing = run("replay", "result", "--out", tmp_path / "again")
    finally:
        (there / "train.parquet").write_bytes(kept)
    assert changed.code == missing.code == 2
    assert "train.parquet: was changed since" in changed.complaint
    assert "train.parquet: there is no such file" in missing.complaint
    assert not (tmp_path / "again").exists()


def test_a_record_without_a_request_or_of_another_kind_is_refused(there: Path, tmp_path: Path) -> None:
    record = json.loads((there / "result" / "record.json").read_text())
    path = tmp_path / "record.json"
    for change, message in (
        ({"request": None}, "does not say what was asked for"),
        ({"request": {"command": "campaign"}}, "no request of `steelyard identify`"),
        ({"request": {"command": "payload"}}, "request: lacks the fields"),
        ({"kind": "diary"}, "is not the record of a result"),
    ):
        path.write_text(json.dumps({**record, **change}))
        done = run("replay", path)
        assert done.code == 2
        assert message in done.complaint


def test_a_result_validated_by_its_held_out_log_has_the_error_it_was_judged_by(there: Path) -> None:
    judged = json.loads(
        run(
            "identify",
            "two_link",
            "train.parquet",
            "--holdout",
            "other.parquet",
            "--cutoff",
            "20",
            "--method",
            "wls",
            "--out",
            "judged",
            "--json",
        ).out
    )
    found = run("validate", "judged", "other.parquet", "--cutoff", "20", "--json").document
    assert found["overall"] == pytest.approx(judged["holdout"]["overall"], rel=1e-6)
    assert found["joints"] == pytest.approx(judged["holdout"]["joints"], rel=1e-6)
    seen = run("validate", "judged", "train.parquet", "--cutoff", "20", "--json").document
    assert "identified from train.parquet, so this is no held-out test" in seen["checks"][0]["message"]


def test_the_page_says_who_read_each_model_back_as_the_record_does(there: Path) -> None:
    judges = json.loads((there / "result" / "record.json").read_text())["read_back"]
    assert judges["model.xml"] == ["MuJoCo"]
    page = (there / "result" / "report.html").read_text()
    for file, by in judges.items():
        assert f"<dt>{file}</dt><dd>{' and '.join(by)}</dd>" in page
