"""`steelyard identify`: from logs to a judged model on disk, on simulated and on real data."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from steelyard.cli.app import main
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation import TorqueLag
from steelyard.identification.estimate import lag_words
from steelyard.layout import layout_of
from steelyard.motion import random_fourier, write_motion
from steelyard.recording import Recording, read, write
from steelyard.simulation import simulate_motion
from steelyard.workflows.judged_estimate import _costly
from steelyard.zoo import zoo_robot

FILES = {"model.urdf", "model.xml", "parameters.json", "record.json", "report.html"}


def run(*words: object) -> tuple[object, str, str]:
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["steelyard", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: object = 0
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def _identified(*words: object) -> dict[str, Any]:
    code, out, err = run("identify", *words, "--json")
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motions of a simulated two-link arm with industrial sensors."""
    folder = tmp_path_factory.mktemp("logs")
    robot = zoo_robot("two_link")
    for name, seed in (("train", 1), ("other", 2)):
        motion = random_fourier(robot, np.random.default_rng(seed))
        log = simulate_motion(robot, motion, sensor="industrial", rng=np.random.default_rng(seed))
        write(log, folder / f"{name}.parquet")
    return folder


def test_a_simulated_log_becomes_a_model_that_predicts_another_motion(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "result"
    found = _identified(
        "two_link",
        logs / "train.parquet",
        "--holdout",
        logs / "other.parquet",
        "--out",
        out,
        "--cutoff",
        "20",
    )
    assert found["holdout"]["overall"] < 3.0
    assert {path.name for path in out.iterdir()} >= FILES
    assert set(found["files"]) >= FILES
    statuses = {check["name"]: check["status"] for check in found["checks"]}
    assert statuses["physical consistency"] == "pass"
    model = pin.buildModelFromUrdf(str(out / "model.urdf"))
    assert model.nv == 2
    page = (out / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_without_a_log_to_hold_out_the_end_is_kept_apart_and_said(logs: Path, tmp_path: Path) -> None:
    code, out, err = run("identify", "two_link", logs / "train.parquet", "--out", tmp_path / "r")
    assert code == 0, err
    assert "train.parquet, the last 25 %, from" in " ".join(err.split())
    assert "held out" in out


def test_what_was_weighed_holds_and_every_number_says_who_decided(logs: Path, tmp_path: Path) -> None:
    words = ("two_link", logs / "train.parquet", "--holdout", logs / "other.parquet", "--out", tmp_path / "r")
    found = _identified(*words, "--total-mass", "1.5", "--mass", "link1=0.7", "--draws", "3")
    masses = {link["name"]: link["mass"] for link in found["links"]}
    assert masses["link1"] == pytest.approx(0.7, rel=1e-6)
    assert found["total_mass"]["estimated"] == pytest.approx(1.5, rel=1e-6)
    for link in found["links"]:
        low, high = link["interval95"]["mass"]
        assert low <= link["mass"] <= high
    for joint in found["joints"]:
        assert set(joint["decided_by"].values()) <= {"data", "prior", "both", "fixed"}
    price = found["price"]["holdout"]
    assert price["links"] == found["holdout"]["overall"]
    assert price["unconstrained"] > 0.0
    written = json.loads((tmp_path / "r" / "parameters.json").read_text())["parameters"]
    assert all("decided_by" in entry for entry in written)
    drawn = sorted((tmp_path / "r" / "models").glob("*.urdf"))
    totals = [sum(x.mass for x in pin.buildModelFromUrdf(str(path)).inertias) for path in drawn]
    assert len(totals) == 3
    assert totals == pytest.approx([1.5] * 3, rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--mass", "foo=3"), "unknown link 'foo'"),
        (("--mass", "link1"), "expected NAME=VALUE"),
        (("--mass", "link1="), "expected NAME=VALUE"),
        (("--mass", "=3"), "expected NAME=VALUE"),
        (("--mass", "link1=heavy"), "expected a number"),
        (("--rotor", "joint9=1"), "unknown joint 'joint9'"),
        (("--equal", "link1=link1"), "equal to itself"),
        (("--strength", "0"), "positive"),
        (("--prior-error", "-1"), "positive"),
        (("--method", "wls", "--strength", "3"), "drawn to a prior"),
    ],
)
def test_what_cannot_be_known_beforehand_is_refused(
    logs: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    code, _, err = run("identify", "two_link", logs / "train.parquet", "--out", tmp_path / "r", *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "r").exists()


def test_drive_terms_that_are_given_are_not_chosen_anew(tmp_path: Path) -> None:
    robot = zoo_robot("ur10e")
    joints = [replace(x, drive=Drive(viscous=5.0, coulomb=3.0, rotor=0.5, load=0.1)) for x in robot.joints]
    rng = np.random.default_rng(0)
    motion = random_fourier(robot, rng, period=5.0)
    log = simulate_motion(replace(robot, joints=tuple(joints)), motion, sensor="industrial", rng=rng)
    write(log, tmp_path / "log.parquet")
    given = _identified(
        "ur10e", tmp_path / "log.parquet", "--drive", "viscous,coulomb,offset,rotor", "--out", tmp_path / "a"
    )
    chosen = _identified("ur10e", tmp_path / "log.parquet", "--out", tmp_path / "b", "--draws", "2")
    drives = [json.loads((tmp_path / x / "parameters.json").read_text())["drive"] for x in "ab"]
    assert drives[0] == ["viscous", "coulomb", "offset", "rotor"]
    assert drives[1] == [*drives[0], "load"]
    codes = [[finding["code"] for finding in x["findings"]] for x in (given, chosen)]
    assert "drive-chosen" not in codes[0]
    assert "drive-chosen" in codes[1]
    assert chosen["holdout"]["overall"] < 0.7 * given["holdout"]["overall"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "magic"), "--method: unknown method 'magic'"),
        (("--drive", "viscos"), "--drive: unknown drive term 'viscos'"),
        (("--torque-constant", "1,x"), "--torque-constant: expected 2 numbers"),
        (("--torque-constant-error", "1.5"), "--torque-constant-error: expected one number or 2"),
        (("--known-moment", "elbow=1@0,0"), "--known-moment: unknown joint 'elbow'"),
        (("--known-moment", "joint2=0@0,0"), "--known-moment joint2: 0 N·m says nothing"),
        (("--known-moment", "joint2=1@0"), "--known-moment joint2: expected 2 joint positions"),
        (("--known-moment", "joint2=1@0,0"), "State how far it may be off by --torque-constant-error"),
        (("--holdout", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    logs: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "result"
    code, _, err = run("identify", "two_link", logs / "train.parquet", "--out", out, *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert not out.exists()


@pytest.fixture(scope="module")
def weighted(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder and the answer of weighted least squares, for all tests that look at them."""
    out = tmp_path_factory.mktemp("weighted") / "r"
    return out, _identified("two_link", logs / "train.parquet", "--out", out, "--method", "wls")


def test_the_record_holds_the_request_and_the_digests_of_what_was_read(
    logs: Path, weighted: tuple[Path, dict[str, Any]]
) -> None:
    log = logs / "train.parquet"
    request = json.loads((weighted[0] / "record.json").read_text())["request"]
    assert request["command"] == "identify"
    assert (request["method"], request["logs"]) == ("wls", [str(log)])
    assert request["inputs"] == {
        str(log): hashlib.sha256(hashlib.sha256(log.read_bytes()).digest()).hexdigest()
    }


def test_intervals_and_excitation_are_in_the_answer(weighted: tuple[Path, dict[str, Any]]) -> None:
    found = weighted[1]
    assert found["excited"] == found["identifiable"] == len(found["base"])
    assert found["consistent"] is True
    for line in found["base"]:
        lower, upper = line["interval95"]
        assert lower < line["value"] < upper


def test_a_known_moment_corrects_the_torques_of_its_joint_and_narrows_their_error(
    logs: Path, tmp_path: Path
) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, [])
    still = np.zeros((1, 2))
    pose = np.array([[0.4, 0.3]])
    held = inverse_dynamics(robot, layout, layout.complete_nominal(), pose, still, still)[0, 1]
    log = read(logs / "train.parquet", joints=robot.joint_names)
    low = log.with_channels(tau=log.channels["tau"] * [1.0, 1.0 / 1.1])
    write(low, tmp_path / "low.parquet")
    words = ("two_link", tmp_path / "low.parquet", "--method", "wls", "--torque-constant-error", "0.2")
    plain = json.loads(run("identify", *words, "--out", tmp_path / "p", "--json")[1])
    moment = f"joint2={held:.6f}~{0.005 * abs(held):.6f}@0.4,0.3"
    found = _identified(*words, "--known-moment", moment, "--out", tmp_path / "k")
    assert (plain["verdict"], found["verdict"]) == ("fail", "pass")
    (said,) = [x["message"] for x in found["findings"] if x["code"] == "calibrated-constants"]
    assert float(said.split("→")[1].split("±")[0]) == pytest.approx(1.1, abs=0.03)
    assert "joint2: 1 →" in said
    assert "joint1" not in said
    friction = [
        next(line for line in one["base"] if line["name"] == "joint2.coulomb") for one in (plain, found)
    ]
    assert found["holdout"]["overall"] < 0.5 * plain["holdout"]["overall"]
    before, after = (np.ptp(line["interval95"]) for line in friction)
    assert after < 0.7 * before  # What is left is the other constant, of which nothing was said.


def test_errors_of_torque_constants_widen_intervals_and_stand_apart(
    logs: Path, weighted: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    words = ("two_link", logs / "train.parquet", "--method", "wls")
    folder, plain = weighted
    wide = _identified(*words, "--out", tmp_path / "w", "--torque-constant-error", "0.2")
    for before, after in zip(plain["base"], wide["base"], strict=True):
        # Torques that were measured as such have no constants to be wrong.
        assert before["interval95"] == before["interval95_random"] == after["interval95_random"]
        low, high = after["interval95"]
        assert low <= before["interval95"][0]
        assert high >= before["interval95"][1]
    halves = [np.diff([line["interval95"] for line in one["base"]])[:, 0] for one in (plain, wide)]
    assert np.median(halves[1] / halves[0]) > 2.0
    stored = json.loads((tmp_path / "w" / "parameters.json").read_text())["base"]
    same = json.loads((folder / "parameters.json").read_text())["base"]
    for line, other, told in zip(stored, same, wide["base"], strict=True):
        assert line["deviation"] == pytest.approx(other["deviation"])
        assert line["deviation_systematic"] > 0.0
        half = 1.959964 * np.hypot(line["deviation"], line["deviation_systematic"])
        assert told["interval95"][1] - told["value"] == pytest.approx(half, rel=1e-5)
    request = json.loads((tmp_path / "w" / "record.json").read_text())["request"]
    assert request["torque_constant_error"] == "0.2"
    assert "by the same torque constants" in (tmp_path / "w" / "report.html").read_text()


def test_people_are_told_what_errors_of_torque_constants_add(logs: Path, tmp_path: Path) -> None:
    words = ("identify", "two_link", logs / "train.parquet", "--method", "wls", "--out", tmp_path / "r")
    _, out, _ = run(*words, "--torque-constant-error", "0.05,0.1")
    assert "hold an error of 5 to 10 % of each torque constant" in " ".join(out.split())


def _held_poses(path: Path) -> None:
    """Torques of a two-link arm at rest, by the textbook: no motion, gravity and an offset alone."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["offset"])
    q = np.random.default_rng(5).uniform(-2.0, 2.0, (40, 2))
    zero = np.zeros_like(q)
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), q, zero, zero)
    write(Recording(robot.joint_names, np.arange(40.0), q, tau=tau), path)


def test_held_poses_show_what_statics_can_and_nothing_more(tmp_path: Path) -> None:
    _held_poses(tmp_path / "poses.csv")
    found = _identified(
        "two_link",
        tmp_path / "poses.csv",
        "--static",
        "--drive",
        "offset",
        "--out",
        tmp_path / "r",
        "--method",
        "ols",
    )
    code, out, _ = run("identifiability", "two_link", "--static", "--drive", "offset", "--json")
    assert code == 0
    assert found["identifiable"] == json.loads(out)["identifiable"]
    assert found["holdout"]["overall"] < 1e-6
    statuses = {check["name"]: check["status"] for check in found["checks"]}
    assert statuses["residual colour"] == "not run"


def test_models_are_drawn_for_domain_randomisation(logs: Path, tmp_path: Path) -> None:
    words = ("two_link", logs / "train.parquet", "--draws", "3", "--out", tmp_path / "r")
    found = _identified(*words, "--method", "wls")
    drawn = sorted((tmp_path / "r" / "models").glob("*.urdf"))
    assert len(drawn) == 3
    assert {f"models/{path.name}" for path in drawn} <= set(found["files"])
    masses = [pin.buildModelFromUrdf(str(path)).inertias[2].mass for path in drawn]
    assert len(set(masses)) == 3 or len({path.read_text() for path in drawn}) == 3


def test_a_prior_of_another_robot_is_refused(logs: Path, tmp_path: Path) -> None:
    code, _, err = run(
        "identify", "two_link", logs / "train.parquet", "--prior", "panda", "--out", tmp_path / "r"
    )
    assert code == 2
    assert "--prior panda: has other links or joints" in " ".join(err.split())


def test_the_planned_motion_serves_as_instruments(logs: Path, tmp_path: Path) -> None:
    motion = random_fourier(zoo_robot("two_link"), np.random.default_rng(1))
    write_motion(motion, tmp_path / "plan.json")
    words = ("--method", "iv", "--motion", tmp_path / "plan.json", "--holdout", logs / "other.parquet")
    found = _identified("two_link", logs / "train.parquet", *words, "--out", tmp_path / "r")
    assert found["method"] == "instrumental variables"
    assert found["holdout"]["overall"] < 5.0


def test_a_folder_in_use_is_not_overwritten(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    code, _, err = run("identify", "two_link", logs / "train.parquet", "--out", tmp_path)
    assert code == 2, err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_momentum_integrates_over_windows_of_the_log_at_its_own_rate(logs: Path, tmp_path: Path) -> None:
    words = ("two_link", logs / "train.parquet", "--holdout", logs / "other.parquet", "--method", "momentum")
    found = _identified(*words, "--out", tmp_path / "tenth")
    detail = json.loads((tmp_path / "tenth" / "record.json").read_text())["estimate"]["detail"]
    assert detail["window"] == 0.1
    assert found["samples"] > 5000  # the log's 1 kHz, not the thinned log's
    _identified(*words, "--window", "0.2", "--out", tmp_path / "fifth")
    wider = json.loads((tmp_path / "fifth" / "record.json").read_text())["estimate"]["detail"]
    assert wider["windows"] == pytest.approx(0.5 * detail["windows"], abs=1)
    plain = _identified(*words[:4], "--method", "wls", "--out", tmp_path / "wls")
    assert found["holdout"]["unfiltered"] < 1.05 * plain["holdout"]["unfiltered"]


def test_windows_are_refused_where_a_method_has_none(logs: Path, tmp_path: Path) -> None:
    code, _, err = run(
        "identify", "two_link", logs / "train.parquet", "--window", "0.2", "--out", tmp_path / "r"
    )
    assert code != 0
    assert "--window" in err
    assert "--method momentum" in " ".join(err.split())


@pytest.fixture(scope="module")
def coarse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motions of the same arm with 12-bit encoders."""
    folder = tmp_path_factory.mktemp("coarse")
    robot = zoo_robot("two_link")
    for name, seed in (("train", 2), ("other", 3)):
        rng = np.random.default_rng(seed)
        log = simulate_motion(robot, random_fourier(robot, rng), sensor="low-cost", rng=rng)
        write(log, folder / f"{name}.parquet")
    return folder


def test_coarse_encoders_get_a_cutoff_that_predicts_torques(coarse: Path, tmp_path: Path) -> None:
    words = ("two_link", coarse / "train.parquet", "--holdout", coarse / "other.parquet")
    code, out, err = run("identify", *words, "--json", "--out", tmp_path / "chosen")
    assert code == 0, err
    said = " ".join(err.split())
    assert "which the spectrum suggests" in said
    assert "as that of the training logs, which was chosen by prediction" in said
    found = json.loads(out)
    asked = _identified(*words, "--cutoff", "29.2", "--out", tmp_path / "asked")
    assert found["holdout"]["overall"] < asked["holdout"]["overall"]
    assert found["holdout"]["unfiltered"] < 0.8 * asked["holdout"]["unfiltered"]


def test_a_cutoff_that_is_asked_for_is_kept(coarse: Path, tmp_path: Path) -> None:
    code, _, err = run(
        "identify", "two_link", coarse / "train.parquet", "--cutoff", "29.2", "--out", tmp_path / "r"
    )
    assert code in (0, 1), err
    assert "positions pass a low-pass of 29.2 Hz: as asked." in " ".join(err.split())


def test_errors_in_the_band_and_unfiltered_stand_wherever_the_verdict_does(
    coarse: Path, tmp_path: Path
) -> None:
    words = ("two_link", coarse / "train.parquet", "--holdout", coarse / "other.parquet", "--cutoff", "9")
    found = _identified(*words, "--out", tmp_path / "r")
    band, plain = found["holdout"]["overall"], found["unfiltered"]["overall"]
    assert plain > 1.3 * band
    assert found["holdout"]["unfiltered"] == plain
    assert found["holdout"]["band"] == 9.0
    assert set(found["unfiltered"]["joints"]) == set(found["holdout"]["joints"])
    told = json.loads((tmp_path / "r" / "record.json").read_text())["verdict"]
    assert told["verdict"] == found["verdict"]
    for part in ("checks", "train", "holdout", "unfiltered"):
        assert told[part] == found[part]
    page = (tmp_path / "r" / "report.html").read_text()
    assert "where no torque is filtered" in page
    assert f"({plain:.2f} % unfiltered)" in page
    code, out, err = run("identify", *words, "--out", tmp_path / "again")
    assert code == 0, err
    terminal = " ".join(out.split())
    assert "below 9 Hz" in terminal
    assert f"{band:.2f} % of the torque is unexplained in the motion's band ({plain:.2f} % unf" in terminal
    overall = next(line for line in out.splitlines() if "overall" in line)
    assert f"{band:.2f}" in overall
    assert f"{plain:.2f}" in overall


def test_a_lag_beyond_the_interval_is_not_said_to_be_within_it() -> None:
    near = lag_words(TorqueLag(0.005, 0.001, np.zeros(1)), 0.02)
    assert near == "torques are moved by +5.00 ms, within the log's interval of 20 ms"
    far = lag_words(TorqueLag(0.11945, 0.0512, np.zeros(1)), 0.02)
    assert "+119.45 ms" in far
    assert "more than the log's interval of 20 ms" in far
    assert "standard deviations of 51.2 ms" in far


@pytest.mark.parametrize(
    ("train", "holdout", "said"), [(1.2, 1.2, True), (1.2, 1.0, False), (1.0, 1.2, False)]
)
def test_links_are_costly_where_they_cost_torque_seen_and_unseen(
    train: float, holdout: float, said: bool
) -> None:
    alone = SimpleNamespace(overall=5.0)
    price = SimpleNamespace(train=alone, holdout=alone)
    left = (SimpleNamespace(overall=5.0 * share) for share in (train, holdout))
    found = _costly(price, *left)  # type: ignore[arg-type]
    assert [finding.code for finding in found] == ["costly-links"] * said


def test_momentum_takes_every_log_at_its_own_rate(logs: Path, tmp_path: Path) -> None:
    pair = (logs / "train.parquet", logs / "other.parquet")
    words = ("--method", "momentum", "--drive", "rotor", "--cutoff", "20")
    found = _identified("two_link", *pair, *words, "--out", tmp_path / "r")
    # The first log lasts 10 s at 1 kHz; of the second one a part is held out.
    assert 11_000 < found["samples"] < 20_000
