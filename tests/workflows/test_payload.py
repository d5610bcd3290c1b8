"""`steelyard.payloads` from Python: the same as the command, from paths or objects; writes only when told."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import Run, run
from oracles.controller_files import READERS, agrees, statements
from payloads.loaded_arm import body, motion_of
from payloads.loaded_arm import run as driven
from steelyard.archive import to_document
from steelyard.audit import Status
from steelyard.errors import InputError
from steelyard.pose import Pose
from steelyard.recording import read, write
from steelyard.workflows.payload import payload
from steelyard.workflows.weighed_payload import PayloadRequest
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
LOAD = body(3, 1.5)
PLURAL = {name: f"{name}s" for name in ("argument", "known_load", "other_torque_constant")}
WORDS = ("--loaded", "loaded.csv", "--empty", "empty.csv", "--grasp", "0,0,0.1", "--truth", "load.json")
OPTIONS: dict[str, Any] = {"grasp": [0.0, 0.0, 0.1], "truth": Path("load.json"), "loaded": "loaded.csv"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """Runs with and without a load, and what the command says of them."""
    folder = tmp_path_factory.mktemp("runs")
    motion, rng = motion_of(PANDA), np.random.default_rng(0)
    write(driven(PANDA, motion, LOAD, noise=0.02, rng=rng, driven=True), folder / "loaded.csv")
    write(driven(PANDA, motion, noise=0.02, rng=rng, driven=True), folder / "empty.csv")
    six = LOAD.inertia[np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])].tolist()
    (folder / "load.json").write_text(json.dumps({"mass": 1.5, "com": LOAD.com.tolist(), "inertia": six}))
    done = run("payload", "panda", *WORDS, "--out", "by_command", "--json", cwd=folder)
    assert done.code == 0, done.err
    return folder, done


@pytest.fixture
def there(made: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made[0])
    return made[0]


def _content(document: dict[str, Any]) -> dict[str, Any]:
    written = ("seconds", "files", "read_back")
    return {key: value for key, value in to_document(document).items() if key not in written}


def test_a_request_holds_what_the_function_takes() -> None:
    fields = {field.name for field in dataclasses.fields(PayloadRequest)} - {"jerk"}
    taken = {PLURAL.get(name, name) for name in inspect.signature(payload).parameters}
    assert fields == taken - {"out", "force", "progress"}


def test_paths_give_what_the_command_gives_and_the_asset_is_written_where_it_is_told(
    made: tuple[Path, Run], there: Path, tmp_path: Path
) -> None:
    heard: list[str] = []
    before = sorted(there.iterdir())
    done = payload("panda", **OPTIONS, empty=["empty.csv"], progress=lambda step: heard.append(step.message))
    assert sorted(there.iterdir()) == before
    assert done.files == done.document["read_back"] == {}
    assert _content(done.document) == _content(made[1].document)
    assert [line[:2] for line in heard if line[0] != " "] == ["1 ", "2 ", "3 "]
    files = done.save(tmp_path / "asset")
    assert set(files) == set(made[1].document["files"])
    for name, path in files.items():
        if name not in ("record.json", "report.html"):
            assert Path(path).read_bytes() == (there / "by_command" / name).read_bytes(), name
    with pytest.raises(InputError):
        done.save(tmp_path / "asset")
    assert run("replay", tmp_path / "asset").code == 0


def test_objects_give_the_same_but_cannot_be_made_again_from_the_record(
    made: tuple[Path, Run], there: Path, tmp_path: Path
) -> None:
    done = payload(
        PANDA,
        loaded=read("loaded.csv"),
        empty=read("empty.csv"),
        grasp=OPTIONS["grasp"],
        truth=LOAD,
        out=tmp_path / "asset",
    )
    assert _content(done.document) == _content(made[1].document)
    assert done.request.loaded[0].startswith("<Recording, sha256 ")
    again = run("replay", tmp_path / "asset")
    assert again.code == 2
    assert "was given as an object" in again.complaint


def test_what_was_weighed_speaks_for_itself(there: Path) -> None:
    done = payload("panda", loaded="loaded.csv", torque_error=(0.01, 0.2), model_error=0.001, acceleration=20)
    assert done.mass == pytest.approx(LOAD.mass, rel=5e-3)
    assert np.abs(done.com - LOAD.com).max() < 2e-3
    assert done.inertia.shape == (3, 3)
    low, high = done.interval95["mass"]
    assert low < done.mass < high
    assert done.bounds is not None
    assert done.bounds.lower[0] <= LOAD.mass <= done.bounds.upper[0]
    assert done.decided_by["mass"] == "data"
    assert done.verdict.status in (Status.PASS, Status.WARN)
    assert repr(done).startswith(f"<Payload of panda: {done.mass:.4g} kg, ")
    assert "\n" not in repr(done)
    text = str(done).splitlines()
    assert text[0].startswith(f"{done.verdict.status.value}: {done.mass:.4g} kg")
    assert len(text) == 2 + len(done.table) + len(done.verdict.checks) + len(done.findings)
    assert "<table>" in done._repr_html_()


def test_a_recording_of_other_joints_is_refused_by_its_name(there: Path) -> None:
    renamed = read("loaded.csv").renamed([f"other{k}" for k in range(7)])
    with pytest.raises(InputError, match=r"<Recording, sha256 .*no column for q of joint 'panda_joint1'"):
        payload("panda", loaded=renamed)


def test_a_model_is_read_once(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.workflows import weighing

    asked: list[str] = []
    given = weighing.given_model
    monkeypatch.setattr(weighing, "given_model", lambda text, *rest: asked.append(text) or given(text, *rest))
    payload("panda", loaded="loaded.csv", model="panda", torque_error="0.05,0.5")
    assert asked == ["panda"]


def test_controllers_are_told_in_files_and_from_python_alike(there: Path, tmp_path: Path) -> None:
    asked = {"loaded": "loaded.csv", "empty": "empty.csv", "grasp": [0.0, 0.0, 0.1]}
    done = payload("panda", **asked, controller=["ur", "abb"], out=tmp_path / "asset")
    told = {name for name in done.files if "/" in name}
    assert told == {
        "controllers/ur/payload.script",
        "controllers/ur/set_payload.yaml",
        "controllers/abb/HeldLoad.mod",
    }
    for name, text in done.for_controller("ur,abb").items():
        assert (tmp_path / "asset" / "controllers" / name).read_text() == text
    mass, com, inertia = READERS["abb/HeldLoad.mod"](
        statements("HeldLoad.mod", done.for_controller("abb")["abb/HeldLoad.mod"])
    )
    held = done.body.moved(Pose(np.eye(3), [0.0, 0.0, 0.1]))  # the grasp is 0.1 m out of the flange
    assert agrees((mass, com, inertia), (held.mass, held.com, held.inertia))
    assert np.abs(com - LOAD.com).max() < 2e-3
    assert done.controller_load(flange_frame="panda_link7").frame == "panda_link7"
    assert [f.code for f in done.findings if f.place == "panda_link8"] == ["flange-frame"]
    sheet = (tmp_path / "asset" / "safety.html").read_text()
    assert sheet == done.safety_sheet()
    assert "Nothing is guaranteed" in sheet
    assert run("replay", tmp_path / "asset").code == 0


def test_guaranteed_bounds_come_with_a_safety_sheet_and_nothing_else_does(made: Any, there: Path) -> None:
    assert "safety.html" not in made[1].document["files"]
    done = payload("panda", loaded="loaded.csv", torque_error=(0.01, 0.2), model_error=0.001, acceleration=20)
    assert done.bounds is not None
    load = done.controller_load()
    assert load.bounds is not None
    assert load.bounds.mass.tolist() == [done.bounds.lower[0], done.bounds.upper[0]]
    sheet = done.safety_sheet()
    assert "No empty run is given" in sheet
    assert f"{len(done.bounds.assumptions)} assumptions of safety.html" in " ".join(
        done.for_controller("kuka")["kuka/load_data.txt"].split()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"controller": "ur,yaskawa"}, r"--controller: unknown controller 'yaskawa'.*franka"),
        ({"controller": ""}, r"--controller: unknown controller ''"),
        ({"controller": "ur", "flange_frame": "flange"}, r"--flange-frame: unknown link 'flange'"),
        ({"controller": "ur", "flange_frame": "panda_link6"}, r"--flange-frame: between 'panda_link6'"),
        ({"flange_frame": "panda_link8"}, r"--flange-frame: is for the files of controllers"),
    ],
)
def test_what_no_controller_can_be_told_is_refused_and_nothing_is_written(
    there: Path, tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        payload("panda", loaded="loaded.csv", out=tmp_path / "asset", **options)
    assert not list(tmp_path.iterdir())


def test_a_load_that_slips_is_told_with_its_time_and_what_to_do(tmp_path: Path) -> None:
    motion, moved = motion_of(PANDA), LOAD.moved(Pose(np.eye(3), np.array([0.0, 0.015, 0.0])))
    stays, slipped = (
        driven(PANDA, motion, each, noise=0.02, rng=np.random.default_rng(1), driven=True)
        for each in (LOAD, moved)
    )
    tau = np.where((stays.time >= 5.0)[:, None], slipped.channels["tau"], stays.channels["tau"])
    found = payload("panda", loaded=stays.revised("slipped", {}, tau=tau))
    assert found.slip is not None
    assert found.document["slip"]["noticed"]
    assert found.document["slip"]["time"] == pytest.approx(5.0, abs=0.3)
    assert found.document["slip"]["distance"] == pytest.approx(0.015, abs=0.003)
    (finding,) = [each for each in found.findings if each.code == "grasp-slips"]
    assert "ends before" in finding.message
    assert found.verdict.check("grasp").status is Status.WARN
    held = payload("panda", loaded=stays)
    assert "grasp-slips" not in {each.code for each in held.findings}
    assert held.verdict.check("grasp").status is Status.PASS
