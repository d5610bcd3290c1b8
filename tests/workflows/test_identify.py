"""`identify` from Python: objects or paths in, the command's own answer out, and what a notebook asks."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from shared_material import DATA, needs_shared
from steelyard.archive import to_document
from steelyard.errors import InputError, UnknownNameError
from steelyard.model import Model
from steelyard.motion import random_fourier
from steelyard.recording import Recording, write
from steelyard.simulation import simulate_motion
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.workflows.identify_request import IdentifyRequest
from steelyard.workflows.record import GivenObjects, request_of
from steelyard.workflows.replay import replay
from steelyard.workflows.validate import validate
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
OPTIONS: dict[str, Any] = {"cutoff": 20.0, "method": "wls", "mass": None}


def _log(seed: int) -> Recording:
    motion = random_fourier(ROBOT, np.random.default_rng(seed), period=5.0)
    log = simulate_motion(ROBOT, motion, sensor="industrial", rng=np.random.default_rng(seed))
    return Recording(log.joints, log.time, q=log.q, v=log.v, tau=log.tau)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three logs."""
    folder = tmp_path_factory.mktemp("logs")
    for name, seed in (("train", 1), ("other", 2), ("third", 3)):
        write(_log(seed), folder / f"{name}.npz")
    return folder


@pytest.fixture(scope="module")
def fit(logs: Path) -> Identification:
    """An identification from paths."""
    return identify("two_link", [logs / "train.npz"], holdout=str(logs / "other.npz"), **OPTIONS)


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """A document as JSON has it, without what says where and how fast."""
    plain = json.loads(json.dumps(to_document(document)))
    return {name: item for name, item in plain.items() if name not in ("seconds", "files", "read_back")}


def test_the_fields_of_the_request_are_the_parameters_of_the_function() -> None:
    # `argument` is called `arguments` in records of earlier versions; a limit on jerk is other commands'.
    parameters = {*inspect.signature(identify).parameters} - {"out", "force", "progress", "argument"}
    assert {field.name for field in fields(IdentifyRequest)} == parameters | {"arguments", "jerk"}


def test_the_function_says_what_the_command_says(logs: Path, fit: Identification, tmp_path: Path) -> None:
    words = ("--holdout", logs / "other.npz", "--cutoff", "20", "--method", "wls", "--out", tmp_path / "out")
    done = run("identify", "two_link", logs / "train.npz", *words, "--json")
    assert done.code == 0, done.err
    assert _plain(fit.document) == _plain(done.document)
    assert list(to_document(fit.document)) == list(done.document)
    saved = fit.save(tmp_path / "saved")
    assert {Path(path).name for path in saved.values()} == {
        Path(path).name for path in done.document["files"].values()
    }
    for name in saved:
        written, again = (tmp_path / "out" / name).read_bytes(), (tmp_path / "saved" / name).read_bytes()
        assert written == again, name


def test_objects_give_the_numbers_that_paths_give_and_nothing_is_written(
    fit: Identification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    heard: list[str] = []
    again = identify(
        ROBOT, _log(1), holdout=_log(2), progress=lambda step: heard.append(step.message), **OPTIONS
    )
    assert list(tmp_path.iterdir()) == []
    names = {f"<Recording, sha256 {_log(k).digest[:12]}>": name for k, name in ((1, "train"), (2, "other"))}
    found = json.dumps(_plain(again.document))
    for called, name in names.items():
        assert called in found
        found = found.replace(called, f"{name}.npz")
    assert json.loads(found) == _plain(fit.document)
    assert heard[0] == "1  read 1 log of two_link"
    assert any(line.startswith("3  fitted by weighted least squares") for line in heard)
    table = {"time": _log(1).time, "q": _log(1).q, "v": _log(1).v, "tau": _log(1).tau}
    by_columns = identify(ROBOT, table, holdout=_log(2), **OPTIONS)
    np.testing.assert_array_equal(by_columns.model.parameters, fit.model.parameters)


def test_numbers_lists_and_dictionaries_are_what_texts_are() -> None:
    given = {
        "robot": "two_link",
        "logs": [Path("train.npz")],
        "drive": ["viscous", "coulomb"],
        "torque_sign": {"joint1": -1},
        "lock": {"joint2": 0.5},
        "gravity": np.array([0.0, 0.0, -9.81]),
        "mass": {"link1": 1.2},
        "equal": {"link1": "link2"},
        "prior_error": np.float64(0.2),
        "columns": {"Uhr": "time"},
        "torque_constant": [1, 2.5],
        "velocity": 3.0,
        "out": "passed over",
    }
    assert request_of(IdentifyRequest, given, GivenObjects()) == IdentifyRequest(
        "two_link",
        ("train.npz",),
        drive="viscous,coulomb",
        torque_sign="joint1=-1",
        lock=("joint2=0.5",),
        gravity="0.0,0.0,-9.81",
        mass=("link1=1.2",),
        equal=("link1=link2",),
        prior_error=0.2,
        columns="Uhr=time",
        torque_constant="1.0,2.5",
        velocity="3.0",
    )


def test_the_model_has_links_and_joints_by_name(fit: Identification) -> None:
    link = fit.model.links["link2"]
    told = fit.document["links"][1]
    assert (link.mass, link.com.tolist(), link.inertia.tolist()) == (
        told["mass"],
        told["com"],
        told["inertia"],
    )
    assert link.interval95["inertia"].shape == (6, 2)
    assert link.decided_by["mass"] in ("data", "prior", "both")
    assert fit.model.joints["joint1"].coulomb == fit.document["joints"][0]["coulomb"]
    assert fit.model.joints["joint1"].armature == fit.document["joints"][0]["armature"]
    assert fit.verdict.status == fit.document["verdict"]
    assert fit.holdout.overall == fit.document["holdout"]["overall"]
    with pytest.raises(KeyError):
        fit.model.links["forearm"]


def test_it_predicts_and_scores_other_logs(logs: Path, fit: Identification) -> None:
    held = fit.question.holdout.channels
    torques = fit.predict(held["q"], held["v"], held["a"])
    np.testing.assert_allclose(torques, fit.estimate.torque(fit.robot, fit.question.holdout), atol=1e-9)
    assert fit.score(logs / "other.npz") == pytest.approx(fit.holdout.overall, rel=1e-6)
    assert fit.score(_log(3)) == pytest.approx(fit.score(logs / "third.npz"), rel=1e-9)
    judged = validate(fit.model, logs / "third.npz", cutoff=20.0)
    assert fit.score(_log(3)) == pytest.approx(judged.overall, rel=1e-9)


def test_parameters_are_a_table(fit: Identification) -> None:
    table = fit.parameters
    assert [row.name for row in table] == list(fit.layout.names)
    mass = table["link2.m"]
    assert (mass.value, mass.unit) == (fit.model.links["link2"].mass, "kg")
    assert mass.lower < mass.value < mass.upper
    assert set(table.to_dict()) == {"name", "value", "lower", "upper", "unit", "decided_by"}
    assert len(table.to_dict()["value"]) == len(table) == fit.layout.size
    assert repr(table).startswith("<ParameterTable: ")


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_the_table_is_a_data_frame_or_says_what_to_install(
    fit: Identification, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Module:
        DataFrame = dict

    monkeypatch.setitem(__import__("sys").modules, package, Module)
    assert getattr(fit.parameters, f"to_{package}")() == fit.parameters.to_dict()
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(InputError, match=f"pip install {package}"):
        getattr(fit.parameters, f"to_{package}")()


def test_it_is_short_to_print_sums_itself_up_and_draws_itself(fit: Identification, tmp_path: Path) -> None:
    told = f"{fit.verdict.status}, {fit.holdout.overall:.2f} % held out"
    assert repr(fit) == f"<Identification of two_link: {told}>"
    lines = str(fit).splitlines()
    assert lines[0].startswith(f"{fit.verdict.status}: two_link by weighted least squares, ")
    assert any(line.startswith("link2 ") for line in lines)
    page = fit._repr_html_()
    assert page.startswith(f"<p><b>{fit.verdict.status}</b>")
    assert "<td>link2</td>" in page
    figure = fit.plot()
    assert figure._repr_svg_().startswith("<svg ")
    assert "joint2" in figure.svg
    figure.save(tmp_path / "torque.svg")
    assert (tmp_path / "torque.svg").read_text() == figure.svg
    assert repr(figure).startswith("<Figure: two_link")


def test_a_saved_result_is_a_model_again(fit: Identification, tmp_path: Path) -> None:
    fit.save(tmp_path / "out")
    model = Model.load(tmp_path / "out")
    held = fit.question.holdout.channels
    motion = (held["q"], held["v"], held["a"])
    np.testing.assert_allclose(model.torque(*motion), fit.predict(*motion), atol=1e-9)
    np.testing.assert_allclose(model.intervals, fit.model.intervals, rtol=1e-12)
    assert model.decided_by == fit.model.decided_by
    assert model.compare(fit.model).parameters.moved == ()
    with pytest.raises(InputError, match="is not empty"):
        fit.save(tmp_path / "out")


def test_records_of_objects_are_not_made_again(fit: Identification, logs: Path, tmp_path: Path) -> None:
    assert fit.recorded is not None
    assert set(fit.recorded["inputs"]) == {str(logs / "train.npz"), str(logs / "other.npz")}
    of_object = identify(ROBOT, logs / "train.npz", holdout=logs / "other.npz", out=tmp_path / "a", **OPTIONS)
    assert of_object.files["record.json"] == str(tmp_path / "a" / "record.json")
    with pytest.raises(InputError, match=r"<Robot two_link, sha256 .* was given as an object"):
        replay(tmp_path / "a")
    fit.save(tmp_path / "b")
    again = replay(tmp_path / "b")
    assert again.same
    assert again.document["verdict"] == "pass"
    assert repr(again).startswith("<Replay: pass, 0 of ")


def test_what_cannot_be_used_is_refused_with_the_option_of_the_command(logs: Path) -> None:
    with pytest.raises(UnknownNameError, match="--method"):
        identify("two_link", logs / "train.npz", method="magic")
    with pytest.raises(InputError, match="--mass link1"):
        identify("two_link", logs / "train.npz", mass={"link1": "heavy"})
    with pytest.raises(InputError, match="comma or an equals sign"):
        identify("two_link", logs / "train.npz", columns={"a,b": "q_1"})


@needs_shared
def test_the_ur10e_of_a_public_log_by_the_words_of_the_front_door() -> None:
    beside = DATA / "ur10e"
    fit = identify(
        beside / "ur10e.urdf",
        beside / "ur-20_02_12-40sec_12harm.csv",
        holdout=beside / "ur-20_02_10-30sec_12harm.csv",
        torque_constant=[14.87, 13.26, 11.13, 10.62, 11.03, 11.47],
        method="wls",
        drive="viscous,coulomb,offset,rotor",
    )
    assert fit.holdout.overall < 10.0
    assert fit.model.joints["elbow_joint"].coulomb > 0.0
    assert set(fit.model.links) == set(fit.robot.link_names)
    assert 0.0 < fit.score(beside / "ur-20_02_12-50sec_12harm.csv") < 15.0
