"""A result folder is there whole or not at all, and says what was found and how."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from export.material import full_layout, nominal_estimate, random_estimate, write_result
from steelyard.errors import InputError
from steelyard.export import draw_models
from steelyard.formats import write_folder
from steelyard.formats.read_back import ReadBackError
from steelyard.formats.xml_text import ModelText
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.model import Model, write_model
from steelyard.problem import Estimate
from steelyard.recording import Step
from steelyard.robot import JointKind, load_robot
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("panda")
LAYOUT = full_layout(ROBOT).fixing({"panda_link1.m": 3.0})
STRUCTURE = structural_identifiability(ROBOT, LAYOUT)
PHI = nominal_estimate(np.random.default_rng(0), ROBOT, LAYOUT)
CODE = {"feedforward.c", "feedforward.h", "feedforward.py"}
FILES = {"model.urdf", "model.xml", "parameters.json", "record.json", *CODE}


def _estimate() -> Estimate:
    base = STRUCTURE.base
    deviations = 0.01 * np.ones(base.count)
    deviations[5] = np.inf
    return Estimate(
        "ols",
        LAYOUT,
        base,
        base.matrix @ PHI,
        np.zeros(7),
        100,
        np.inf,
        covariance=np.diag(deviations**2),
        parameters=PHI,
        recordings=("a" * 64,),
    )


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_it_holds_every_file_and_nothing_else_appears(tmp_path: Path) -> None:
    written = write_result(tmp_path / "deep" / "out", ROBOT, LAYOUT, PHI, report=lambda _: "<html/>")
    assert set(written.files) == {*FILES, "report.html"} == set(_contents(tmp_path / "deep" / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_its_models_are_read_as_the_estimated_robot(tmp_path: Path) -> None:
    write_result(tmp_path / "out", ROBOT, LAYOUT, PHI)
    for name in ("model.urdf", "model.xml"):
        again = layout_of(load_robot(tmp_path / "out" / name))
        n = 10 * len(ROBOT.links)
        assert np.allclose(again.nominal[:n], PHI[:n], rtol=1e-10, atol=1e-13)


def test_the_record_has_the_digest_of_every_other_file(tmp_path: Path) -> None:
    steps = [Step("read", {"file": "log.csv"}, "b" * 64), Step("filtered", {"cutoff": 10.0})]
    out = tmp_path / "out"
    write_result(out, ROBOT, LAYOUT, PHI, estimate=_estimate(), steps=steps, seed=7)
    record = json.loads((out / "record.json").read_text())
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in _contents(out).items()}
    del digests["record.json"]
    assert record["files"] == digests
    assert record["seed"] == 7
    assert [step["action"] for step in record["steps"]] == ["read", "filtered"]
    assert record["steps"][0] == {"action": "read", "detail": {"file": "log.csv"}, "digest": "b" * 64}
    assert record["robot"]["digest"] == ROBOT.digest
    assert record["versions"]["numpy"] == np.__version__
    assert record["estimate"]["recordings"] == ["a" * 64]


def test_the_same_result_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_result(tmp_path / name, ROBOT, LAYOUT, PHI, estimate=_estimate(), structure=STRUCTURE)
    assert _contents(tmp_path / "one") == _contents(tmp_path / "other")


def test_parameters_say_value_interval_unit_and_class(tmp_path: Path) -> None:
    estimate = _estimate()
    write_result(tmp_path / "out", ROBOT, LAYOUT, PHI, estimate=estimate, structure=STRUCTURE)
    document = json.loads((tmp_path / "out" / "parameters.json").read_text())
    entries = {entry["name"]: entry for entry in document["parameters"]}
    assert list(entries) == list(LAYOUT.names)
    K = STRUCTURE.base.matrix
    for k, parameter in enumerate(LAYOUT.parameters):
        entry = entries[parameter.name]
        assert (entry["value"], entry["unit"]) == (PHI[k], parameter.unit)
        assert entry["class"] == STRUCTURE.classes[k].value
        low, high = (float(end) for end in entry["interval95"])
        if parameter.fixed:
            assert low == high == PHI[k]
        elif entry["class"] == "alone":
            row = int(np.flatnonzero(K[:, k])[0])
            assert high - low == pytest.approx(2 * 1.96 * estimate.deviations[row], rel=1e-3)
        else:
            assert (low, high) == (-np.inf, np.inf)
    for row, base in zip(K, document["base"], strict=True):
        total = sum(factor * entries[name]["value"] for name, factor in base["combination"].items())
        assert total == pytest.approx(base["value"], rel=1e-12, abs=1e-12)
        assert len(base["combination"]) == np.count_nonzero(row)
    assert document["base"][5]["interval95"] == ["-inf", "inf"]


def test_given_intervals_are_the_ones_written(tmp_path: Path) -> None:
    ends = np.column_stack((PHI - 1.0, PHI + 2.0))
    ends[3] = -np.inf, np.inf
    write_model(tmp_path / "out", Model(ROBOT, LAYOUT, PHI, ends))
    document = json.loads((tmp_path / "out" / "parameters.json").read_text())
    found = [[float(end) for end in entry["interval95"]] for entry in document["parameters"]]
    assert np.array_equal(found, ends)


def test_drawn_models_are_written_beside(tmp_path: Path) -> None:
    base = STRUCTURE.base
    C = 1e-8 * np.eye(base.count)
    draws = draw_models(ROBOT, full_layout(ROBOT), PHI, C, base, 3, np.random.default_rng(0))
    write_result(tmp_path / "out", ROBOT, LAYOUT, PHI, draws=draws.parameters)
    found = [layout_of(load_robot(path)) for path in sorted((tmp_path / "out" / "models").glob("*.urdf"))]
    assert len(found) == 3 == len(list((tmp_path / "out" / "models").glob("*.xml")))
    n = 10 * len(ROBOT.links)
    for layout, phi in zip(found, draws.parameters, strict=True):
        assert np.allclose(layout.nominal[:n], phi[:n], rtol=1e-10, atol=1e-13)


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(InputError, match="not empty"):
            write_result(tmp_path, ROBOT, LAYOUT, PHI, force=force)
    assert _contents(tmp_path) == {"mine.txt": b"mine"}


def test_an_earlier_result_is_replaced_only_by_force(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write_result(out, ROBOT, LAYOUT, PHI, report=lambda _: "<html/>")
    with pytest.raises(InputError, match="not empty"):
        write_result(out, ROBOT, LAYOUT, PHI)
    write_result(out, ROBOT, LAYOUT, PHI, force=True)
    assert set(_contents(out)) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_model_that_reads_back_wrong_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_result(out, ROBOT, LAYOUT, PHI)
    before = _contents(tmp_path)

    def lying(robot: object, servos: object) -> ModelText:
        return ModelText(b"<mujoco/>")

    monkeypatch.setattr("steelyard.formats.model_files.mjcf_text", lying)
    for folder in (out, tmp_path / "new" / "folder"):
        with pytest.raises(ReadBackError, match="MJCF"):
            write_result(folder, ROBOT, LAYOUT, PHI, force=True)
    assert _contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_disk_that_fails_half_way_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_result(out, ROBOT, LAYOUT, PHI)
    before = _contents(tmp_path)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name.endswith(".tmp") and (self / "second").exists():
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    # As on a disk that cannot exchange two folders.
    monkeypatch.setattr("steelyard.formats.folder.exchanged", lambda one, other: False)
    for folder in (out, tmp_path / "new"):
        with pytest.raises(InputError, match="No space left"):
            write_folder(folder, {"first": b"1", "second": b"2"}, force=True)
    assert _contents(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere two renames do it, with a moment between them")
def test_an_earlier_result_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_result(out, ROBOT, LAYOUT, PHI)

    def between(self: Path, target: Path) -> Path:
        raise AssertionError("a kill here would find no result")

    monkeypatch.setattr(Path, "rename", between)
    write_folder(out, {"first": b"1", "second": b"2"}, force=True)
    assert sorted(path.name for path in out.iterdir()) == ["first", "second"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside", ""])
def test_no_file_leaves_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="inside the folder"):
        write_folder(tmp_path / "out", {name: b""})
    assert not list(tmp_path.iterdir())


def test_a_file_or_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(InputError, match="is no folder"):
            write_folder(tmp_path / name, {}, force=True)


def test_a_format_without_a_word_for_a_joint_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    screw = replace(robot.joints[1], kind=JointKind.HELICAL, pitch=0.1)
    robot = replace(robot, joints=(robot.joints[0], screw))
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    written = write_result(tmp_path / "out", robot, layout, phi)
    assert set(written.files) == {"parameters.json", "record.json", *CODE}
    assert {finding.code for finding in written.findings} == {"no-urdf", "no-mjcf"}
