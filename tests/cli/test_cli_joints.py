"""`steelyard joints`: from experiments to a controller that the simulator reads, all of it or nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.control import read_controller
from steelyard.motion import random_fourier, write_motion
from steelyard.workflows.joint_models import _joint_remarks
from steelyard.zoo import zoo_robot

ARM = ("scara", "--lock", "joint1=0", "--lock", "joint2=0", "--gravity", "none")
ROBOT = zoo_robot("scara").locked({"joint1": 0.0, "joint2": 0.0})
FILES = {"joints.json", "controller.toml", "report.html", "record.json"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("joints") / "models"
    done = run("joints", *ARM, "--out", out, "--seed", "3", "--json")
    assert done.code == 0, done.err
    return out, done.document


def test_every_joint_has_a_model_a_gain_and_a_margin(made: tuple[Path, dict[str, Any]]) -> None:
    out, document = made
    assert tuple(document["joints"]) == ROBOT.joint_names
    assert {path.name for path in out.iterdir()} == FILES | {"experiments"}
    assert len(list((out / "experiments").iterdir())) == 6
    for joint in document["joints"].values():
        fit, law = joint["first_order"], joint["controller"]
        assert fit["gain"] * fit["inertia"] == pytest.approx(fit["time_constant"])
        assert law["inertia"] == fit["inertia"]
        assert law["viscous"] == pytest.approx(1.0 / fit["gain"])
        assert law["phase_margin"] >= math.radians(45.0) - 1e-6
        assert law["kp"] == pytest.approx(law["bandwidth"] ** 2)
        assert law["inertia_range"][0] <= fit["inertia"] <= law["inertia_range"][1]
        assert len(joint["arx"]["denominator"]) == 5
        assert {step["action"] for log in joint["experiments"] for step in log["history"]} == {"open_loop"}
    stored = json.loads((out / "joints.json").read_text())
    assert stored["joints"] == document["joints"]


def test_the_simulator_runs_the_controller(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    out, document = made
    law = read_controller(out / "controller.toml", ROBOT)
    assert law.cycle == 1e-3
    assert law.gains[2] == pytest.approx([j["controller"]["kp"] for j in document["joints"].values()])
    motion = tmp_path / "motion.json"
    write_motion(random_fourier(ROBOT, np.random.default_rng(0)), motion)
    words = ("--controller", out / "controller.toml", "--sensor", "low-cost", "--json")
    done = run("simulate", ARM[0], motion, *ARM[1:], "--out", tmp_path / "log.csv", *words)
    assert done.code == 0, done.err
    # Without an integral, dry friction leaves an error: its torque over the feedback's stiffness.
    for name, joint in document["joints"].items():
        law_here = joint["controller"]
        left = joint["first_order"]["coulomb"] / (law_here["inertia"] * law_here["kp"])
        assert done.document["tracking"][name] < 1.5 * left + 0.005


def test_the_logs_it_made_give_the_same_models(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    out, document = made
    logs = [word for path in sorted((out / "experiments").iterdir()) for word in ("--log", path)]
    words = ("--inertia-range", "0.5,2", "--json")
    again = run("joints", *ARM, "--out", tmp_path / "again", *logs, *words)
    assert again.code == 0, again.err
    for name, joint in document["joints"].items():
        assert again.document["joints"][name]["first_order"] == joint["first_order"]
        own = joint["first_order"]["inertia"]
        span = again.document["joints"][name]["controller"]["inertia_range"]
        assert span == pytest.approx([0.5 * own, 2.0 * own])
    assert {path.name for path in (tmp_path / "again").iterdir()} == FILES
    one = run("joints", *ARM, "--out", tmp_path / "one", *logs[:6])
    assert one.code == 2
    assert "joint4" in one.complaint
    fast = run("joints", *ARM, "--out", tmp_path / "one", *logs, "--bandwidth", "400")
    assert fast.code == 2
    assert "largest allowed" in fast.complaint
    assert not (tmp_path / "one").exists()


def test_people_get_a_table(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    logs = [word for path in sorted((made[0] / "experiments").iterdir()) for word in ("--log", path)]
    done = run("joints", *ARM, "--out", tmp_path / "models", *logs)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    for word in ("joint3", "T_d", "K_P", "margin", "ms after the reading", "written to"):
        assert word in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--posture", "1,2,3"), "expected 2 numbers"),
        (("--posture", "-0.001,0"), "too near to its limits"),
        (("--sensor", "laser"), "ideal, industrial, low-cost"),
        (("--travel", "0"), "travel"),
        (("--log", "missing.csv"), "missing.csv"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = run("joints", *ARM, "--out", tmp_path / "models", *words)
    assert done.code == 2
    assert said in done.complaint
    assert not (tmp_path / "models").exists()


def test_a_joint_that_shakes_the_arm_is_left_out_and_the_others_are_kept(tmp_path: Path) -> None:
    # Held by nothing but its motor, the first link of this arm gives way sevenfold.
    out, words = tmp_path / "models", ("--gravity", "none", "--seed", "3", "--json")
    done = run("joints", "two_link", "--out", out, *words)
    assert done.code == 3
    assert "leave the inertia of joint 'joint2' open" in done.complaint
    assert list(done.document["joints"]) == ["joint1"]
    assert list(done.document["failed"]) == ["joint2"]
    assert {path.name for path in out.iterdir()} == FILES | {"experiments"}
    assert {path.name[0] for path in (out / "experiments").iterdir()} == {"1", "2"}
    assert "joint2" in (out / "report.html").read_text()
    (held,) = json.loads((out / "record.json").read_text())["robot"]["locks"].items()
    assert held[0] == "joint2"
    assert f"--lock joint2={held[1][0]!r}" in (out / "controller.toml").read_text()
    law = read_controller(out / "controller.toml", zoo_robot("two_link").locked({"joint2": held[1][0]}))
    assert law.cycle == 1e-3


def test_a_robot_of_which_no_joint_can_be_modelled_gets_no_folder(tmp_path: Path) -> None:
    words = ("--gravity", "none", "--lock", "joint1=0", "--seed", "3", "--margin", "89.9")
    done = run("joints", "two_link", "--out", tmp_path / "models", *words)
    assert done.code == 3
    assert "no bandwidth of joint 'joint2'" in done.complaint
    assert not (tmp_path / "models").exists()


def test_what_is_odd_about_a_joint_is_remarked() -> None:
    ended = SimpleNamespace(provenance=[SimpleNamespace(detail={"ended": "left its room"})])
    whole = SimpleNamespace(provenance=[SimpleNamespace(detail={})])
    sure = SimpleNamespace(unexplained=0.0, half_widths=(0.0, 0.1), model=SimpleNamespace(time_constant=1.0))
    plain = SimpleNamespace(recordings=[whole], fit=sure)
    assert _joint_remarks(plain, False) == ()  # type: ignore[arg-type]
    (coupled,) = _joint_remarks(plain, True)  # type: ignore[arg-type]
    assert coupled.startswith("Other joints give way")
    unsure = SimpleNamespace(unexplained=0.9, half_widths=(0.0, 2.0), model=sure.model)
    odd = _joint_remarks(SimpleNamespace(recordings=[ended, whole], fit=unsure), False)  # type: ignore[arg-type]
    assert [words.split()[:3] for words in odd] == [
        ["1", "of", "2"],
        ["The", "model", "leaves"],
        ["Gain", "and", "time"],
    ]
