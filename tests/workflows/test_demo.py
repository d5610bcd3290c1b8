"""`demo` from Python: the same numbers as the command's, and nothing is written where no folder is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.inertia import pseudo_inertia
from steelyard.pose import Pose
from steelyard.progress import ProgressStep
from steelyard.robot import FixedLink, Link
from steelyard.workflows.demo import demo
from steelyard.workflows.demonstration import LINKS_OFF, Demonstration, _other_links
from steelyard.zoo import zoo_robot


def _said(document: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock and on where it is written, as JSON has it."""
    kept = {name: value for name, value in document.items() if name not in ("seconds", "files")}
    said: dict[str, Any] = json.loads(json.dumps(to_document(kept)))
    return said


@pytest.fixture(scope="module")
def heard() -> list[ProgressStep]:
    """What was said while the demo below ran."""
    return []


@pytest.fixture(scope="module")
def shown(heard: list[ProgressStep]) -> Demonstration:
    """The demo of an object."""
    return demo(zoo_robot("one_link"), seed=3, progress=heard.append)


def test_python_gives_what_the_command_gives(shown: Demonstration, tmp_path: Path) -> None:
    done = run("demo", "--robot", "one_link", "--seed", 3, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert list(shown.document) == list(done.document)
    assert _said(shown.document) == _said(done.document)


def test_nothing_is_written_without_a_folder(
    shown: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown.files == {}
    monkeypatch.chdir(tmp_path)
    demo("one_link", lock={}, seed=4)
    assert list(tmp_path.iterdir()) == []


def test_it_tells_what_it_does_and_what_it_found(shown: Demonstration, heard: list[ProgressStep]) -> None:
    assert [step.message[0] for step in heard if step.message[:1] in "ABCD"] == ["A", "B", "C", "D"]
    assert repr(shown).startswith("<Demonstration of one_link: ")
    assert str(shown).startswith(shown.verdict)
    assert "hold the truth" in str(shown)
    assert shown.payload is None


def test_on_the_bench_stands_an_arm_whose_links_are_others_but_nothing_bolted_to_them_is() -> None:
    robot = zoo_robot("crane_x7")
    # One link is a frame between two axes, and one has nothing of its own.
    held = FixedLink("box", Pose.identity(), robot.links[1].own)
    links = (Link("between", virtual=True), Link("carrier", fixed=(held,)), *robot.links[2:])
    other = _other_links(replace(robot, links=links), np.random.default_rng(0))
    assert other.links[:2] == links[:2]
    assert any(link.fixed for link in other.links[2:])
    for ours, theirs in zip(other.links[2:], links[2:], strict=True):
        assert ours.fixed == theirs.fixed
        assert ours.body is not None
        assert theirs.body is not None
        assert np.linalg.eigvalsh(pseudo_inertia(ours.body.parameters)).min() > 0.0
        assert 0.0 < abs(ours.body.mass / theirs.body.mass - 1.0) < 4.0 * LINKS_OFF
