"""Every arm of the zoo runs every command, with settings as short as they can be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.running import Run, run
from steelyard.cli import demo_line
from steelyard.simulate import nominal_posture
from steelyard.zoo import ZOO, zoo_robot

LOAD = {"mass": 0.05, "com": [0, 0, 0.02], "inertia": [1e-4, 0, 1e-4, 0, 0, 1e-4]}


def _is_arm(name: str) -> bool:
    """Whether it is one chain, with a torque limit at every joint."""
    robot = zoo_robot(name)
    chain = all(joint.parent == k - 1 for k, joint in enumerate(robot.joints))
    return chain and bool(np.isfinite(robot.limit_array("effort")).all())


ARMS = [name for name in ZOO if _is_arm(name)]
SLIDING = {"scara": ("--lock", "joint3=-0.05")}
"""What `online` is told to hold: it moves joints that turn."""


def test_all_but_the_quadruped_are_arms() -> None:
    assert set(ZOO) - set(ARMS) == {"cheetah3"}


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "load.json").write_text(json.dumps(LOAD))
    short = replace(demo_line.DESIGN, rounds=1, harmonics=2, period=4.0)
    monkeypatch.setattr(demo_line, "DESIGN", short)
    return tmp_path


def _done(*words: str, verdict: bool = False) -> Run:
    """A run that ended well; where a verdict is its answer, a bad one is an answer too."""
    ended = run(*words, "--json")
    assert ended.code in ((0, 1) if verdict else (0,)), f"{' '.join(words)}: {ended.err[-2000:]}"
    return ended


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_runs_every_command(name: str, there: Path) -> None:
    _done("inspect", name)
    _done("identifiability", name)
    short = ("--harmonics", "2", "--period", "4", "--rounds", "1")
    assert _done("excite", name, "--out", "m.json", *short).document["certified"] is True
    plant = ("--sensor", "industrial", "--rate", "200")
    _done("simulate", name, "m.json", "--out", "empty.npz", *plant)
    _done("simulate", name, "m.json", "--out", "loaded.npz", *plant, "--payload", "load.json")
    plain = ("--method", "ols", "--drive", "viscous,coulomb", "--cutoff", "10", "--prior", "none")
    _done("identify", name, "empty.npz", "--out", "result", *plain, verdict=True)
    _done("validate", "result", "empty.npz", verdict=True)
    _done("payload", name, "--loaded", "loaded.npz", "--empty", "empty.npz", "--out", "asset", verdict=True)
    few = ("--trials", "1", "--count", "1", "--filters", "none", "--noise", "q=1e-5")
    _done("sensitivity", name, "--out", "study", *few)
    found = _done("demo", "--robot", name, "--out", "demo", verdict=True).document
    assert found["holdout"]["overall"] < 25.0
    assert all(Path(file).is_file() for file in found["files"].values())


@pytest.mark.parametrize("name", ARMS)
def test_the_last_joint_of_an_arm_is_modelled_by_itself(name: str, there: Path) -> None:
    robot = zoo_robot(name)
    stands = zip(robot.joint_names[:-1], nominal_posture(robot)[:-1].tolist(), strict=True)
    held = [word for joint, q in stands for word in ("--lock", f"{joint}={q}")]
    assert _done("joints", name, "--out", "joints", *held).document["files"]


@pytest.mark.parametrize("name", [arm for arm in ARMS if arm not in ("panda", "so101")])
def test_an_arm_learns_what_it_holds_along_a_proven_plan(name: str, there: Path) -> None:
    words = ("--payload", "load.json", "--plans", "1", "--budget", "1")
    found = _done("online", name, *words, *SLIDING.get(name, ())).document
    assert found["contains_truth"] is True
    assert found["violations"] == []


def test_a_joint_that_slides_is_refused_with_the_option_that_holds_it(there: Path) -> None:
    ended = run("online", "scara", "--payload", "load.json")
    assert ended.code == 2
    assert "joint 'joint3' does not just turn" in ended.complaint
    assert "--lock joint3=" in ended.complaint
