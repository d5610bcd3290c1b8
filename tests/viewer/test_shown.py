"""What `view` is given becomes a scene; Viser and Rerun draw all of it; wrong requests name their remedy."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import InputError, MissingExtraError
from steelyard.export import write_object
from steelyard.inertia import Body
from steelyard.model import Model
from steelyard.motion import random_fourier, write_motion
from steelyard.viewer import viser_recording
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view")
    robot = zoo_robot("two_link")
    write_motion(random_fourier(robot, np.random.default_rng(0), period=2.0), folder / "motion.json")
    Model.of_robot(robot).save(folder / "result")
    (folder / "scene.toml").write_text(
        '[[obstacle]]\nname = "table"\nshape = "box"\nsize = [1, 1, 0.1]\nposition = [3, 0, 0]\n'
    )
    return folder


def test_a_motion_is_played_by_its_robot_in_its_scene(files: Path) -> None:
    given = {"scene": files / "scene.toml", "serve": False}
    shown = sy.view(files / "motion.json", robot="two_link", **given).document
    same = sy.view("two_link", motion=files / "motion.json", **given).document
    assert shown == same
    assert shown["obstacles"] == ["table"]
    assert shown["motion"]["duration"] == 2.0
    assert shown["motion"]["clearance"] is not None
    assert json.loads(json.dumps(shown, allow_nan=True))["url"] is None


def test_a_result_shows_the_shapes_of_its_description_and_both_masses(files: Path) -> None:
    shown = sy.view(files / "result", robot="two_link", motion=files / "motion.json", serve=False)
    robot = zoo_robot("two_link")
    for body, link in zip(shown.scene.bodies[1:], robot.links, strict=True):
        assert len(body.surfaces) == len(link.visual) + len(link.collision)
        assert body.mass("estimated").mass == pytest.approx(link.body.mass)
    with pytest.raises(InputError, match="has no moving link"):
        sy.view(files / "result", robot="panda", serve=False)


def test_a_weighed_object_is_shown_by_itself(tmp_path: Path) -> None:
    body = Body(2.0, np.array([0.0, 0.0, 0.1]), np.diag([0.01, 0.012, 0.011]))
    write_object(tmp_path / "asset", body, name="box", frame="tool")
    shown = sy.view(tmp_path / "asset", serve=False)
    assert shown.scene.mass("estimated") == 2.0
    with pytest.raises(InputError, match="--robot"):
        sy.view(tmp_path / "asset", robot="panda", serve=False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"subject": "motion.json"}, "--robot"),
        ({"subject": "two_link", "robot": "two_link"}, "--robot"),
        ({"subject": "motion.json", "robot": "two_link", "motion": "motion.json"}, "--motion"),
        ({"subject": "motion.json", "robot": "panda"}, "it is for the joints"),
        ({"subject": "two_link", "out": "scene.png"}, ".html, .viser, .rrd"),
        ({"subject": "two_link", "port": 70000}, "port"),
    ],
)
def test_a_wrong_request_names_its_place(files: Path, given: dict[str, object], said: str) -> None:
    placed = {k: files / v if str(v).endswith((".json", ".png")) else v for k, v in given.items()}
    with pytest.raises(InputError, match=said):
        sy.view(**placed, serve=False)  # type: ignore[arg-type]


def test_without_viser_or_rerun_the_extra_is_named(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtraError, match=r"steelyard\[view\]"):
        sy.view("two_link", port=0)
    with pytest.raises(MissingExtraError, match=r"steelyard\[rerun\]"):
        sy.view("two_link", out=tmp_path / "a.rrd")
    assert not list(tmp_path.iterdir())
    assert sy.view("two_link", serve=False).url is None


def test_a_server_has_every_body_and_ends(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("viser", reason="the extra view is not installed")
    shown = sy.view(files / "result", motion=files / "motion.json", scene=files / "scene.toml", port=0)
    with shown:
        assert urllib.request.urlopen(shown.url, timeout=10).status == 200
        nodes = set(shown.window.nodes)
        for body in shown.scene.bodies[1:]:
            parts = {"collision", "described_com", "estimated_com", "name"}
            assert {f"/bodies/{body.name}/{part}" for part in parts} <= nodes
        assert "/scene/table" in nodes
    with pytest.raises(OSError):
        urllib.request.urlopen(shown.url, timeout=2)
    shown.close()
    assert capsys.readouterr().out == ""


def test_a_recording_is_longer_with_a_motion(files: Path) -> None:
    pytest.importorskip("viser", reason="the extra view is not installed")
    still = sy.view("two_link", serve=False).scene
    moving = sy.view("two_link", motion=files / "motion.json", serve=False).scene
    assert len(viser_recording(moving)) > len(viser_recording(still)) > 1000
    assert b"<html" in viser_recording(still, "html")[:2000].lower()


def test_rerun_reads_what_was_written(files: Path, tmp_path: Path) -> None:
    chunk = pytest.importorskip("rerun.chunk", reason="the extra rerun is half a gigabyte and not installed")
    out = tmp_path / "a.rrd"
    shown = sy.view("two_link", motion=files / "motion.json", out=out)
    poses = len(shown.scene.playback.time)
    rows = {x.entity_path: x.num_rows for x in chunk.RrdReader(out).stream().to_chunks() if not x.is_static}
    for body in shown.scene.bodies:
        assert rows[f"/bodies/{body.name}"] == poses
    for joint in shown.scene.robot.joint_names:
        assert rows[f"/series/torque/{joint}"] == poses
