"""`steelyard sensitivity`: tables that agree with each other, all of them or none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import from_document
from steelyard.payloads import SensitivityTable

SMALL = ("--motions", "sinusoid", "--trials", "2", "--count", "2", "--filters", "none,clean")
FILES = {"errors.csv", "running_mass.csv", "motions.csv", "sensitivity.json", "report.html", "record.json"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    out = tmp_path_factory.mktemp("sensitivity") / "study"
    words = ("--noise", "q=0.01,v=0.02;tau=0.1", "--seed", "5", "--json")
    done = run("sensitivity", "panda", "--out", out, *SMALL, *words)
    assert done.code == 0, done.err
    return out, done.document


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_answer_says_what_was_studied(made: tuple[Path, dict[str, object]]) -> None:
    out, document = made
    assert document["trials"] == 2
    assert document["payload"] == pytest.approx(
        {"m": 0.37, "Ixx": 3.17e-4, "Iyy": 4.2e-4, "Izz": 5.33e-4}
        | dict.fromkeys(("mx", "my", "mz", "Ixy", "Ixz", "Iyz"), 0.0)
    )
    assert len(document["errors"]) == 4
    assert document["errors"][0]["noise"] == {"q": 0.01, "v": 0.02, "tau": 0.0}
    assert document["motions"]["sinusoid"]["count"] == 2
    assert set(document["files"]) == FILES == {path.name for path in out.iterdir()}


def test_every_file_tells_the_same(made: tuple[Path, dict[str, object]]) -> None:
    out, document = made
    table = from_document(SensitivityTable, json.loads((out / "sensitivity.json").read_text()))
    errors = rows(out / "errors.csv")
    assert len(errors) == 4 * 10
    for row, wanted in zip(errors[:10], table.cells[0].rms, strict=True):
        assert float(row["rms_error"]) == wanted
        assert (row["motion"], row["filter"], row["noise_v"]) == ("sinusoid", "none", "0.02")
    assert (errors[-1]["filter"], errors[-1]["noise_q"], errors[-1]["noise_tau"]) == ("clean", "0.0", "0.1")
    squared = document["errors"][0]["mean_squared_error"]
    assert squared["m"] == pytest.approx(float(errors[0]["rms_error"]) ** 2)
    masses = rows(out / "running_mass.csv")
    assert {row["noise_tau"] for row in masses} == {"0.1"}
    assert float(masses[-1]["mass"]) == table.running[0].mass[-1, -1]
    conditions = [float(row["condition"]) for row in rows(out / "motions.csv")]
    assert np.mean(conditions) == pytest.approx(document["motions"]["sinusoid"]["cond"]["mean"])


def test_the_same_seed_gives_the_same_files(made: tuple[Path, dict[str, object]], tmp_path: Path) -> None:
    out, _ = made
    words = (*SMALL, "--noise", "q=0.01,v=0.02;tau=0.1")
    assert run("sensitivity", "panda", "--out", tmp_path / "a", *words, "--seed", "5").code == 0
    for name in FILES - {"record.json"}:
        assert (tmp_path / "a" / name).read_bytes() == (out / name).read_bytes()
    refused = run("sensitivity", "panda", "--out", tmp_path / "a", *words, "--seed", "6")
    assert refused.code == 2
    assert "not empty" in refused.complaint
    assert run("sensitivity", "panda", "--out", tmp_path / "a", *words, "--seed", "6", "--force").code == 0
    assert (tmp_path / "a" / "errors.csv").read_bytes() != (out / "errors.csv").read_bytes()


def test_a_payload_file_is_what_is_weighed(tmp_path: Path) -> None:
    file = tmp_path / "payload.json"
    file.write_text('{"mass": 2.0, "com": [0.0, 0.0, 0.1], "inertia": [0.01, 0, 0.01, 0, 0, 0.01]}')
    words = (*SMALL, "--noise", "tau=0.001", "--payload", file, "--json")
    done = run("sensitivity", "panda", "--out", tmp_path / "study", *words)
    assert done.code == 0, done.err
    assert done.document["payload"]["mz"] == pytest.approx(0.2)
    assert done.document["running_mass"][0]["last"] == pytest.approx([2.0, 2.0], abs=1e-3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--noise", "q=0.1,w=2"), "Write q=0.01,v=0.01;tau=0.1."),
        (("--noise", "q=a"), "--noise"),
        (("--noise", "tau=-1"), "noise of torque"),
        (("--noise", ";"), "noises"),
        (("--filters", "none,kalman"), "none, clean, butterworth, prepared, weighted, momentum"),
        (("--motions", "waltz"), "sinusoid, pick-and-place, excitation"),
        (("--motions", ","), "motions"),
        (("--rate", "0"), "rate"),
        (("--payload", "missing.json"), "missing.json"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = run("sensitivity", "panda", "--out", tmp_path / "study", *SMALL, *words)
    assert done.code == 2
    assert said in done.complaint
    assert not (tmp_path / "study").exists()


def test_a_motion_that_an_arm_cannot_do_is_left_out_where_nobody_asked_for_it(tmp_path: Path) -> None:
    few = ("--trials", "1", "--count", "1", "--filters", "none", "--noise", "q=1e-5", "--json")
    done = run("sensitivity", "two_link", "--out", tmp_path / "study", *few)
    assert done.code == 0, done.err
    assert list(done.document["motions"]) == ["sinusoid"]
    assert "does not reach" in done.document["left_out"]["pick-and-place"]


def test_an_arm_that_cannot_pick_and_place_is_told_how_to_go_on(tmp_path: Path) -> None:
    words = ("--motions", "sinusoid,pick-and-place")
    done = run("sensitivity", "two_link", "--out", tmp_path / "study", *words)
    assert done.code == 3
    assert "--motions" in done.complaint
    assert not (tmp_path / "study").exists()


def test_people_get_a_table(tmp_path: Path) -> None:
    done = run("sensitivity", "panda", "--out", tmp_path / "study", *SMALL, "--noise", "tau=0.01")
    assert done.code == 0
    for word in ("tau=0.01", "clean", "condition number", "written to"):
        assert word in " ".join(done.out.split())
