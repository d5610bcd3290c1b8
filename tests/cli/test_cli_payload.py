"""`steelyard payload`: the command a user runs, from logs on disk to an asset."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import SimpleMaterial
from typer.testing import CliRunner

from payloads.loaded_arm import body, motion_of, run
from steelyard.cli.app import app, main
from steelyard.recording import write
from steelyard.workflows.weighed_payload import PayloadRequest
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
LOAD = body(3, 1.5)
KNOWN = body(5, 2.0)


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
    page = (tmp_path / "object" / "report.html").read_text()
    for file, by in found["read_back"].items():
        assert f"<dt>{file}</dt><dd>{' and '.join(by) or 'nobody'}</dd>" in page


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
    page = unescape((tmp_path / "object" / "report.html").read_text())
    assert all(sentence in page for sentence in found["bounds_assume"])


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


CONSTANTS = np.array([10.0, 12.0, 9.0, 11.0, 5.0, 5.0, 4.0])


@pytest.fixture(scope="module")
def currents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Currents of runs with a load, without, and with a known load."""
    folder = tmp_path_factory.mktemp("currents")
    motion, rng = motion_of(PANDA, period=4.0), np.random.default_rng(0)
    for name, load in (("loaded", LOAD), ("empty", None), ("known", KNOWN)):
        log = run(PANDA, motion, load, noise=0.02, rng=rng, driven=True)
        write(log.with_channels(tau=None, a=None, current=log.tau / CONSTANTS), folder / f"{name}.csv")
    ten = [KNOWN.inertia[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    body_file = {"mass": KNOWN.mass, "com": KNOWN.com.tolist(), "inertia": ten}
    (folder / "known.json").write_text(json.dumps(body_file))
    return folder


def asked_of_currents(folder: Path, out: Path, *words: str | Path) -> dict:
    pair = ("--loaded", folder / "loaded.csv", "--empty", folder / "empty.csv")
    return asked(*pair, *words, "--out", out)[1]


def test_torque_constants_that_are_off_are_in_the_interval_and_a_known_mass_corrects_them(
    currents: Path, tmp_path: Path
) -> None:
    wrong = ("--torque-constant", ",".join(f"{k:.6f}" for k in 1.12 * CONSTANTS))
    plain = asked_of_currents(currents, tmp_path / "plain", *wrong)
    low, high = plain["interval95"]["mass"]
    assert low < LOAD.mass < high
    assert plain["mass"] > 1.08 * LOAD.mass
    assert plain["deviations"]["torque constants"]["mass"] > 5.0 * plain["deviations"]["noise"]["mass"]
    exact = asked_of_currents(currents, tmp_path / "exact", *wrong, "--torque-constant-error", "0")
    assert set(exact["deviations"]) == {"noise"}
    assert exact["interval95"]["mass"][0] > LOAD.mass
    known = ("--known-load", currents / "known.csv", "--known-mass", str(KNOWN.mass))
    found = asked_of_currents(currents, tmp_path / "known", *wrong, *known)
    low_, high_ = found["interval95"]["mass"]
    assert low_ < LOAD.mass < high_
    assert high_ - low_ < 0.8 * (high - low)
    assert abs(found["mass"] - LOAD.mass) < 0.5 * abs(plain["mass"] - LOAD.mass)
    assert any(finding["code"] == "calibrated-constants" for finding in found["findings"])


def test_a_load_of_which_all_is_known_needs_no_torque_constants(currents: Path, tmp_path: Path) -> None:
    known = ("--known-load", currents / "known.csv", "--known-body", currents / "known.json")
    found = asked_of_currents(currents, tmp_path / "object", *known)
    assert found["mass"] == pytest.approx(LOAD.mass, rel=0.01)
    low, high = found["interval95"]["mass"]
    assert low < LOAD.mass < high


def test_a_known_load_weighs_together_with_measured_torques(
    logs: Path, currents: Path, tmp_path: Path
) -> None:
    motion = motion_of(PANDA, 2)
    held = run(PANDA, motion, KNOWN, noise=0.02, rng=np.random.default_rng(4), driven=True)
    write(held, tmp_path / "known.csv")
    known = ("--known-load", tmp_path / "known.csv", "--known-body", currents / "known.json")
    pair = ("--loaded", logs / "loaded.csv", "--empty", logs / "empty.csv")
    _, found = asked(*pair, *known, "--out", tmp_path / "object")
    assert found["way"] == "several loads"
    assert found["mass"] == pytest.approx(LOAD.mass, rel=0.01)


def test_an_identified_model_brings_its_own_uncertainty(logs: Path, tmp_path: Path) -> None:
    words = ["identify", "panda", str(logs / "empty.csv"), "--method", "wls", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "model")])
    assert done.exit_code in (0, 1), done.output
    covariance = json.loads((tmp_path / "model" / "parameters.json").read_text())["base_covariance"]
    assert len(covariance) == len(covariance[0]) > 40
    model = ("--model", tmp_path / "model")
    _, found = asked("--loaded", logs / "loaded.csv", *model, "--out", tmp_path / "object")
    assert found["deviations"]["model"]["mass"] > 0.0
    low, high = found["interval95"]["mass"]
    assert low < LOAD.mass < high


def test_a_record_makes_the_same_files_again(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "object"
    asked("--loaded", logs / "loaded.csv", "--out", out)
    done = CliRunner().invoke(app, ["replay", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["files"].values()) == {"same"}


def test_a_scan_is_placed_by_the_centre_of_mass_and_replayed_with_its_picture(
    logs: Path, tmp_path: Path
) -> None:
    solid = trimesh.creation.box((0.1, 0.12, 0.14))
    solid.apply_translation([0.5, 0.5, 0.5])
    uv = np.random.default_rng(0).random((len(solid.vertices), 2))
    look = SimpleMaterial(image=Image.new("RGB", (4, 2), (9, 200, 30)))
    solid.visual = TextureVisuals(uv=uv, material=look)
    (tmp_path / "scan").mkdir()
    solid.export(tmp_path / "scan" / "it.obj")
    out = tmp_path / "object"
    scan = ("--mesh", tmp_path / "scan" / "it.obj", "--mesh-turn", "0,0,0")
    _, found = asked("--loaded", logs / "loaded.csv", *scan, "--out", out)
    (said,) = [x for x in found["findings"] if x["code"] == "mesh-placed"]
    half = [0.5e3 * (high - low) for low, high in (found["interval95"][f"com_{a}"] for a in "xyz")]
    assert all(f"{axis} {value:.3g}" in said["message"] for axis, value in zip("xyz", half, strict=True))
    model = mujoco.MjModel.from_xml_path(str(out / "object.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(data.geom("payload_collision").xpos, found["com"], atol=1e-6)
    assert set(map(tuple, model.tex_data.reshape(-1, 3).tolist())) == {(9, 200, 30)}
    request = json.loads((out / "record.json").read_text())["request"]
    (picture,) = (tmp_path / "scan").glob("*.png")
    assert {str(picture), str(tmp_path / "scan" / "it.obj")} <= set(request["inputs"])
    done = CliRunner().invoke(app, ["replay", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["files"].values()) == {"same"}
    picture.write_bytes(picture.read_bytes() + b"0")
    assert CliRunner().invoke(app, ["replay", str(out), "--json"]).exit_code != 0
    # A record of before meshes were placed.
    old = {name: value for name, value in request.items() if name not in ("mesh_pose", "mesh_turn")}
    assert PayloadRequest.of(old, "record.json").mesh_frame is None


def test_what_cannot_be_used_is_refused_and_nothing_written(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, out = ("--loaded", logs / "loaded.csv"), ("--out", tmp_path / "object")
    for words, part in (
        (("--way", "residual"), "--empty"),
        (("--way", "guess"), "residual"),
        (("--grasp", "0,0"), "three or six"),
        (("--mesh", tmp_path / "none.stl"), "no such file"),
        (("--mesh-turn", "0,0,0"), "is for a mesh"),
        (
            ("--mesh-pose", "0,0,0", "--mesh", logs / "loaded.csv", "--mesh-turn", "0,0,0"),
            "--mesh-turn: says",
        ),
        (("--mesh", logs / "loaded.csv", "--mesh-turn", "0,0"), "expected three numbers"),
        (("--mesh", logs / "loaded.csv", "--mesh-pose", "0,0"), "expected three or six numbers"),
        (("--torque-error", "0.1"), "0.025,0.3"),
        (("--torque-constant-error", "0.1,0.2"), "one number or 7"),
        (("--torque-constant-error", "2"), "below 1"),
        (("--known-mass", "2"), "--known-load"),
        (("--known-load", logs / "empty.csv"), "--known-mass"),
        (("--known-load", logs / "empty.csv", "--known-mass", "2"), "--empty"),
        (
            ("--known-load", logs / "empty.csv", "--known-mass", "2", "--empty", logs / "empty.csv"),
            "--known-body",
        ),
    ):
        message = refused(capsys, monkeypatch, *loaded, *out, *words)
        assert part in message, message
    assert not (tmp_path / "object").exists()


def test_a_controller_that_is_not_known_ends_the_command_before_it_reads_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--loaded", "no.csv", "--out", tmp_path / "object", "--controller", "ur,kukka")
    complaint = refused(capsys, monkeypatch, *words)
    assert "--controller: unknown controller 'kukka'" in complaint
    assert "Did you mean 'kuka'?" in complaint
    assert not list(tmp_path.iterdir())


def test_the_terminal_says_where_the_files_are(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "object"
    words = [
        "--loaded",
        logs / "loaded.csv",
        "--empty",
        logs / "empty.csv",
        "--out",
        out,
        "--controller",
        "all",
    ]
    done = CliRunner().invoke(app, ["payload", "panda", *map(str, words)])
    assert done.exit_code == 0, done.output
    assert f"written to {out}" in done.stdout.replace("\n", "")
    assert "controllers/fanuc: A payload schedule holds the diagonal" in done.stdout
    assert len(list((out / "controllers").rglob("*.*"))) == 8
