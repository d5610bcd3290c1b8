"""`steelyard.sensitivity` from Python: the same as the command, and nothing is written unasked."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.inertia import Body
from steelyard.payloads import Noise
from steelyard.workflows.sensitivity import sensitivity
from steelyard.workflows.sensitivity_study import SensitivityRequest
from steelyard.zoo import zoo_robot

SMALL: dict[str, Any] = {
    "motions": ["sinusoid"],
    "trials": 2,
    "count": 2,
    "filters": ["none", "clean"],
    "noise": [Noise(position=0.01, velocity=0.02), Noise(torque=0.1)],
    "lock": {"panda_joint7": 0.1},
}
WORDS = ("--motions", "sinusoid", "--trials", "2", "--count", "2", "--filters", "none,clean")
WORDS += ("--noise", "q=0.01,v=0.02;tau=0.1", "--lock", "panda_joint7=0.1")


def _content(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in to_document(document).items() if key not in ("seconds", "files")}


def test_a_request_holds_what_the_function_takes() -> None:
    fields = {field.name for field in dataclasses.fields(SensitivityRequest)} - {"jerk"}
    taken = {
        name if name != "argument" else "arguments" for name in inspect.signature(sensitivity).parameters
    }
    assert fields == taken - {"out", "force", "progress"}


def test_it_gives_what_the_command_gives_and_writes_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = run("sensitivity", "panda", "--out", "by_command", *WORDS, "--json")
    assert command.code == 0, command.err
    heard: list[str] = []
    done = sensitivity("panda", **SMALL, progress=lambda step: heard.append(step.message))
    assert [path.name for path in tmp_path.iterdir()] == ["by_command"]
    assert done.files == {}
    assert _content(done.document) == _content(command.document)
    assert heard[0].startswith("1  2 motions")
    assert "weighing" in heard
    assert "\n" not in repr(done)
    assert len(str(done).splitlines()) == 2 + len(done.table.cells) + len(done.table.spreads)
    assert set(done.save(tmp_path / "by_hand")) == set(command.document["files"])
    for file in (tmp_path / "by_command").iterdir():
        if file.name != "record.json":
            assert (tmp_path / "by_hand" / file.name).read_bytes() == file.read_bytes(), file.name
    assert run("replay", "by_hand").code == 0


def test_what_was_given_as_an_object_gives_the_same_but_cannot_be_made_again_from_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ball = Body(0.5, [0.0, 0.0, 0.1], [[0.001, 0.0, 0.0], [0.0, 0.001, 0.0], [0.0, 0.0, 0.001]])
    Path("ball.json").write_text(
        '{"mass": 0.5, "com": [0, 0, 0.1], "inertia": [0.001, 0, 0.001, 0, 0, 0.001]}'
    )
    few = {**SMALL, "filters": "none", "noise": "tau=0.1"}
    by_path = sensitivity("panda", payload=Path("ball.json"), **few)
    done = sensitivity(zoo_robot("panda"), payload=ball, **few, out="study")
    assert _content(done.document) == _content(by_path.document)
    assert done.request.robot.startswith("<Robot panda, sha256 ")
    again = run("replay", "study")
    assert again.code == 2
    assert "was given as an object" in again.complaint
