"""Limits beside the description, wherever a command takes a robot and uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import run
from command_table import every_command
from steelyard.formats.urdf import new_urdf
from steelyard.zoo import zoo_robot

OPTIONS = ("--limits", "--velocity", "--acceleration", "--torque")
WORDS = {
    "inspect": (),
    "excite": ("--out", "m.json"),
    "simulate": ("m.json", "--out", "log.csv"),
    "joints": ("--out", "r"),
    "sensitivity": ("--out", "r"),
    "identify": ("log.csv", "--out", "r"),
    "validate": ("log.csv",),
    "payload": ("--loaded", "log.csv", "--out", "r"),
    "online": ("--payload", "load.json"),
    "demo": ("--out", "r"),
    "view": ("--no-serve",),
}
"""Commands that take a robot and use its limits, with what else they need."""
WITHOUT_USE = {"identifiability"}
"""Commands that take a robot and use no limit."""


def test_every_command_that_takes_a_robot_takes_its_limits() -> None:
    for name, command in every_command().items():
        options = {word for option in command.params for word in option.opts}
        if "--gravity" in options and name not in WITHOUT_USE:
            assert options.issuperset(OPTIONS), name
            assert name in WORDS


@pytest.mark.parametrize("command", WORDS)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--torque", "elbow=3"), "--torque: unknown joint 'elbow'. Valid: joint1, joint2."),
        (("--acceleration", "nan"), "--acceleration: expected a positive number, got 'nan'."),
        (("--limits", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_what_is_no_limit_is_refused_before_anything_else(
    command: str, words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = ("--robot", "two_link") if command == "demo" else ("two_link",)
    done = run(command, *robot, *WORDS[command], *words)
    assert done.code == 2
    assert said in done.complaint
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A description of one's own, which can state no acceleration."""
    file = tmp_path / "arm.urdf"
    file.write_bytes(new_urdf(zoo_robot("two_link")))
    return file


def test_a_motion_keeps_the_acceleration_that_was_stated_and_says_where_there_is_none(arm: Path) -> None:
    words = ("--harmonics", "2", "--period", "4", "--rounds", "1", "--floor", "none", "--json")
    free = run("excite", arm, "--out", arm.with_name("free.json"), *words)
    assert free.code == 0, free.err
    assert "acceleration" not in free.document["proven"]
    (finding,) = (words for words in free.document["findings"] if "acceleration" in words)
    assert "joint1, joint2: no acceleration limit is stated" in finding
    assert "--acceleration" in finding
    kept = run("excite", arm, "--out", arm.with_name("kept.json"), *words, "--acceleration", "2")
    assert kept.code == 0, kept.err
    assert 0.0 <= kept.document["proven"]["acceleration"]["margin"] <= 2.0
    assert not any("acceleration" in words for words in kept.document["findings"])


def test_a_simulated_robot_is_cut_at_the_torque_that_was_stated(arm: Path) -> None:
    motion = arm.with_name("m.json")
    words = ("--harmonics", "2", "--period", "2", "--rounds", "1", "--floor", "none", "--json")
    assert run("excite", "two_link", "--out", motion, *words).code == 0
    words = ("--sensor", "industrial", "--json")
    free = run("simulate", "two_link", motion, "--out", arm.with_name("a.csv"), *words)
    assert not any(free.document["clipped"].values())
    weak = ("--torque", "joint1=0.5")
    cut = run("simulate", "two_link", motion, "--out", arm.with_name("b.csv"), *words, *weak)
    assert cut.document["clipped"]["joint1"] > 0
    assert cut.document["clipped"]["joint2"] == 0


def test_a_record_holds_the_limits_and_a_replay_repeats_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("limits.toml").write_text("velocity = 1.0\nacceleration = 2.0\n")
    words = ("--trials", "2", "--count", "1", "--motions", "sinusoid", "--filters", "none")
    done = run("sensitivity", "panda", "--out", "slow", *words, "--limits", "limits.toml", "--json")
    assert done.code == 0, done.err
    request = json.loads(Path("slow/record.json").read_text())["request"]
    assert request["limits"] == "limits.toml"
    assert "limits.toml" in request["inputs"]
    assert run("replay", "slow").code == 0
    assert run("sensitivity", "panda", "--out", "fast", *words).code == 0
    tables = [json.loads(Path(x, "record.json").read_text())["files"] for x in ("slow", "fast")]
    assert tables[0] != tables[1]
    Path("limits.toml").write_text("velocity = 1.0\n")
    changed = run("replay", "slow")
    assert changed.code == 2
    assert "limits.toml" in changed.complaint


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("limits = {torque = -1}", "study.toml:6: robot.limits: torque: expected a positive number"),
        ("limits = {joint = {elbow = {torque = 1}}}", "unknown joint 'elbow'. Valid: joint1, joint2."),
        ('limits = "none.toml"', "none.toml: cannot be read"),
    ],
)
def test_a_campaign_states_limits_beside_its_robot(limits: str, said: str, tmp_path: Path) -> None:
    spec = tmp_path / "study.toml"
    spec.write_text(
        f'[campaign]\nkind = "monte-carlo"\n\n[robot]\nname = "two_link"\n{limits}\n\n'
        '[study]\ntrials = 1\nsensors = ["ideal"]\nmethods = ["ols"]\nduration = 2.0\n'
    )
    done = run("campaign", spec, "--out", tmp_path / "r")
    assert done.code == 2
    assert said in done.complaint
    assert not (tmp_path / "r").exists()
