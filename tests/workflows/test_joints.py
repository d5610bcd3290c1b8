"""`joints` from Python: the same models, document and files as the command's, from objects or paths."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.control import FeedforwardPD
from steelyard.errors import InputError
from steelyard.progress import ProgressStep
from steelyard.recording import read
from steelyard.workflows.joint_models import JointModels, JointsRequest
from steelyard.workflows.joints import joints
from steelyard.zoo import zoo_robot

WORDS = ("--lock", "joint1=0", "--lock", "joint2=0", "--gravity", "none")
ROBOT = zoo_robot("scara").locked({"joint1": 0.0, "joint2": 0.0}).with_gravity([0.0, 0.0, 0.0])
PLURALS = {"log": "logs", "argument": "arguments"}
"""Parameters that may be given several times, and what records say of all of them."""


@pytest.fixture(scope="module")
def commanded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder and the answer of the command."""
    out = tmp_path_factory.mktemp("joints") / "models"
    done = run("joints", "scara", *WORDS, "--posture", "-0.1,0.2", "--out", out, "--seed", 3, "--json")
    assert done.code == 0, done.err
    return out, done.document


@pytest.fixture(scope="module")
def heard() -> list[ProgressStep]:
    """What was said while the models below were made."""
    return []


@pytest.fixture(scope="module")
def found(heard: list[ProgressStep]) -> JointModels:
    """The same from Python, of an object."""
    return joints(ROBOT, posture=[-0.1, 0.2], seed=3, progress=heard.append)


def _said(document: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock and on where it is written, as JSON has it."""
    kept = {name: value for name, value in document.items() if name not in ("seconds", "files")}
    said: dict[str, Any] = json.loads(json.dumps(to_document(kept)))
    return said


def test_the_request_holds_every_parameter() -> None:
    apart = {"out", "force", "progress"}
    names = [PLURALS.get(name, name) for name in inspect.signature(joints).parameters if name not in apart]
    # Jerks are among the limits that may be stated, but no experiment is slowed to keep one.
    assert sorted(names) == sorted({item.name for item in fields(JointsRequest)} - {"jerk"})


def test_an_object_gives_what_the_command_gives(
    commanded: tuple[Path, dict[str, Any]], found: JointModels, heard: list[ProgressStep]
) -> None:
    assert list(found.document) == list(commanded[1])
    assert _said(found.document) == _said(commanded[1])
    assert found.files == {}
    assert [step.message[:1] for step in heard] == ["1", "2", "3"]


def test_recordings_give_what_their_files_give(
    commanded: tuple[Path, dict[str, Any]], found: JointModels
) -> None:
    paths = sorted((commanded[0] / "experiments").iterdir())
    of_paths = joints(ROBOT, log=paths, inertia_range=(0.5, 2))
    of_objects = joints(ROBOT, log=[read(path) for path in paths], inertia_range="0.5,2")
    assert _said(of_paths.document) == _said(of_objects.document)
    for name, joint in of_objects.joints.items():
        assert joint.fit.model == found.joints[name].fit.model


def test_a_result_tells_and_saves_itself(found: JointModels, tmp_path: Path) -> None:
    assert isinstance(found.controller, FeedforwardPD)
    assert repr(found) == "<JointModels of scara: 2 of 2 joints>"
    said = str(found).splitlines()
    assert said[0] == "2 of 2 joints of scara have a model and a controller."
    assert any(line.startswith("joint3 ") and "±" in line for line in said)
    files = found.save(tmp_path / "models")
    assert {"joints.json", "controller.toml", "report.html", "record.json"} <= set(files)
    with pytest.raises(InputError, match="is not empty"):
        found.save(tmp_path / "models")


def test_what_was_made_of_an_object_is_not_made_again(found: JointModels, tmp_path: Path) -> None:
    found.save(tmp_path / "models")
    request = json.loads((tmp_path / "models" / "record.json").read_text())["request"]
    assert request["robot"] == f"<Robot scara, sha256 {ROBOT.digest[:12]}>"
    done = run("replay", tmp_path / "models")
    assert done.code == 2
    assert "<Robot scara" in done.complaint


def test_a_joint_without_a_model_is_said_and_left_out() -> None:
    models = joints("two_link", gravity="none", seed=3)
    assert list(models.joints) == ["joint1"]
    assert list(models.failed) == ["joint2"]
    assert str(models).startswith("1 of 2 joints")
    assert "leave the inertia of joint 'joint2' open" in str(models)
