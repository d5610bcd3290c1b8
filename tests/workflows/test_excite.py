"""`excite` from Python: the same motion, document and files as the command's, from objects or paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import to_document
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.limits import Scene
from steelyard.motion import random_fourier, read_motion, write_motion
from steelyard.progress import ProgressStep
from steelyard.recording import read, write
from steelyard.robot import read_payload
from steelyard.simulation import simulate_motion
from steelyard.workflows.excitation import DesignedMotion, SupplementedMotion
from steelyard.workflows.excite import excite
from steelyard.zoo import zoo_robot

SCENE = '[[obstacle]]\nname = "post"\nshape = "box"\nsize = [0.1, 0.1, 0.1]\nposition = [4, 0, 0]\n'
LOAD = '{"mass": 0.2, "com": [0, 0, 0.05], "inertia": [1e-3, 0, 1e-3, 0, 0, 1e-3]}'
SEARCH: dict[str, Any] = {"rounds": 1, "period": 4.0, "harmonics": 3}
WORDS = ("--rounds", 1, "--period", 4, "--harmonics", 3)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, a scene and a load."""
    folder = tmp_path_factory.mktemp("there")
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(0), period=4.0)
    write(
        simulate_motion(robot, motion, sensor="ideal", rng=np.random.default_rng(1), rate=100.0),
        folder / "log.csv",
    )
    (folder / "scene.toml").write_text(SCENE)
    (folder / "load.json").write_text(LOAD)
    return folder


@pytest.fixture(scope="module")
def commanded(there: Path) -> dict[str, Any]:
    """The answer of the command with all kinds of options."""
    out = there / "commanded.json"
    inputs = ("--scene", "scene.toml", "--payload", "load.json", "--after", "log.csv")
    numbers = ("--floor", "-5", "--start", "0.1,0.2", "--velocity", "joint1=2.5", "--without", "acceleration")
    done = run("excite", "two_link", *WORDS, *inputs, *numbers, "--out", out, "--json", cwd=there)
    assert done.code == 3, done.err
    found: dict[str, Any] = done.document
    return found


def _said(document: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock and on where it is written, as JSON has it."""
    kept = {name: value for name, value in document.items() if name not in ("seconds", "files")}
    kept["goal"] = {name: value for name, value in kept["goal"].items() if name != "send"}
    found: dict[str, Any] = json.loads(json.dumps(to_document(kept)))
    return found


NUMBERS: dict[str, Any] = {
    "floor": -5,
    "start": [0.1, 0.2],
    "velocity": {"joint1": 2.5},
    "without": ["acceleration"],
}


def test_paths_give_what_the_command_gives(there: Path, commanded: dict[str, Any]) -> None:
    files = {"scene": there / "scene.toml", "payload": str(there / "load.json"), "after": there / "log.csv"}
    found = excite("two_link", **files, **NUMBERS, **SEARCH, out=there / "mine.json")
    assert list(found.document) == list(commanded)
    assert _said(found.document) == _said(commanded)
    assert found.certified is False
    assert found.certificate is not None
    for kind in ("motion", "samples", "trajectory", "rehearsal", "certificate"):
        mine, other = Path(found.files[kind]), there / commanded["files"][kind]
        assert mine.read_bytes() == other.read_bytes(), kind


def test_objects_give_the_same_and_nothing_is_written(there: Path, commanded: dict[str, Any]) -> None:
    before = sorted(there.iterdir())
    objects = {
        "scene": Scene.read(there / "scene.toml"),
        "payload": read_payload(there / "load.json"),
        "after": [read(there / "log.csv")],
    }
    assert isinstance(objects["scene"], Scene)
    assert isinstance(objects["payload"], Body)
    found = excite(zoo_robot("two_link"), **objects, **NUMBERS, **SEARCH)
    assert _said(found.document) == _said(commanded)
    assert found.files == {}
    assert sorted(there.iterdir()) == before


def test_a_result_samples_tells_and_saves_itself(tmp_path: Path) -> None:
    heard: list[ProgressStep] = []
    found = excite(zoo_robot("two_link"), floor="none", **SEARCH, progress=heard.append)
    assert isinstance(found, DesignedMotion)
    assert found.certified
    assert found.reason == ""
    assert {"position", "velocity"} <= set(found.proven)
    assert found.margins["velocity"] == found.document["margins"]["velocity"]
    assert found.motion.sample([0.0, 1.0]).q.shape == (2, 2)
    assert any(step.message.startswith("1  ") for step in heard)
    assert [step.share for step in heard if step.share is not None][-1] == 1.0
    assert len(repr(found)) < 110
    assert "\n" not in repr(found)
    said = str(found).splitlines()
    assert said[0].startswith("certified: position, velocity")
    assert any(line.startswith("velocity") and "rad/s" in line for line in said)
    assert "<table>" in found._repr_html_()
    files = found.save(tmp_path / "deep" / "m.json", slower=2.0)
    assert set(files) == {"motion", "samples", "trajectory", "goal", "rehearsal", "page", "certificate"}
    assert read_motion(files["motion"]).digest == found.motion.digest
    assert read_motion(files["rehearsal"]).duration == pytest.approx(2.0 * found.motion.duration)
    assert "&lt;Robot two_link, sha256" in Path(files["page"]).read_text()
    with pytest.raises(InputError, match="exists already"):
        found.save(tmp_path / "deep" / "m.json")


def test_what_is_not_certified_is_returned_with_the_reason() -> None:
    found = excite("two_link", floor="none", family="primitives", motion_name="PB05", parameter_range=5.0)
    assert not found.certified
    assert found.certificate is None
    assert "torque" in found.reason
    assert str(found).startswith("not certified: ")
    assert found.proven == {}


def test_a_planned_motion_is_taken_as_it_is_or_from_its_file(tmp_path: Path) -> None:
    robot = zoo_robot("panda")
    motion = random_fourier(robot, np.random.default_rng(0), fraction=0.3)
    write_motion(motion, tmp_path / "planned.json")
    words = ("--for", "payload", "--floor", "none", "--planned", tmp_path / "planned.json")
    done = run("excite", "panda", *words, "--out", tmp_path / "m.json", "--json")
    assert done.code == 3, done.err
    found = excite(robot, target="payload", floor="none", planned=motion)
    assert isinstance(found, SupplementedMotion)
    assert _said(found.document) == _said(done.document)
    assert found.cond == found.document["cond"]["with_addition"]
    assert str(found).startswith("certified in part")
    with pytest.raises(InputError, match="--for payload"):
        excite(robot, planned=motion)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"family": "primitives", "harmonics": 5}, "--harmonics: says nothing about --family primitives"),
        ({"family": "spline", "motion_name": "AG02"}, "--motion-name: says nothing about --family spline"),
        ({"criterion": "luck"}, "--criterion: unknown criterion 'luck'"),
        ({"period": -1.0}, "--period"),
        ({"seed": -1}, "--seed: must be at least 0"),
        ({"start": ""}, "--start: expected home, free or 2 positions"),
        ({"out": "m.txt"}, "ends in .json"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        excite("two_link", **options)
