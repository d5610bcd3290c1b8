"""`steelyard patch`: the difference on stdout, or files; a refusal ends with 2 and changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from export.material import full_layout, nominal_estimate, write_result
from robot.patch_material import ODD_URDF
from steelyard.robot import load_robot


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A description and a result of it."""
    place = tmp_path_factory.mktemp("patch")
    (place / "arm.urdf").write_bytes(ODD_URDF)
    robot = load_robot(place / "arm.urdf")
    layout = full_layout(robot)
    write_result(place / "result", robot, layout, nominal_estimate(np.random.default_rng(0), robot, layout))
    return place


def test_without_a_place_to_write_the_difference_is_all_of_stdout(folder: Path) -> None:
    done = run("patch", "arm.urdf", "result", cwd=folder)
    assert done.code == 0, done.err
    assert done.out.startswith("--- a/arm.urdf\n+++ b/arm.urdf\n@@ ")
    assert all(line[0] in "-+@ \\" for line in done.out.split("\n") if line)
    assert "not carried: rotor (joint1 " in done.err
    assert "numbers of 2 links and 2 joints change in 1 file" in done.complaint
    assert (folder / "arm.urdf").read_bytes() == ODD_URDF


def test_json_names_every_number_with_its_line(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "patched.urdf"
    done = run("patch", "arm.urdf", "result", "--out", out, "--json", cwd=folder)
    assert done.code == 0, done.err
    answer = done.document
    assert answer["files"] == {"patched.urdf": str(out)}
    assert 0.0 <= answer["read_back"] < 1e-9
    assert {"Pinocchio"} <= set(answer["judges"])
    lines = ODD_URDF.decode().split("\r\n")
    for number in answer["changed"]:
        assert set(number) == {"file", "line", "kind", "name", "field", "before", "after"}
        assert number["file"] == "arm.urdf"
        words = {"mass": "<mass", "inertia": "<inertia", "viscous": "joint", "coulomb": "joint"}
        if number["name"] == "joint1":
            words |= {"viscous": "<dynamics", "coulomb": "<dynamics"}
        assert words.get(number["field"], "") in lines[number["line"] - 1]
    after = load_robot(out).own_bodies
    stated = {(x["name"], x["field"]): x["after"] for x in answer["changed"]}
    assert stated["link1", "mass"] == after["link1"].mass
    assert {(x["name"], x["field"]) for x in answer["not_carried"]} == {
        (joint, term) for joint in ("joint1", "joint2") for term in ("offset", "rotor")
    }
    assert [x["name"] for x in answer["untouched"]] == ["tool"]


def test_with_a_place_to_write_people_read_what_was_done(folder: Path, tmp_path: Path) -> None:
    done = run("patch", folder / "arm.urdf", folder / "result", "--out", tmp_path / "new" / "arm.urdf")
    assert done.code == 0, done.err
    assert f"{tmp_path / 'new' / 'arm.urdf'}: written." in done.out
    assert "assets-not-copied" not in done.out, "findings are sentences"
    assert "they were not copied" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("arm.urdf", "nowhere"), "nowhere: is no folder"),
        (("arm.urdf", "."), "there is no such file"),
        (("missing.urdf", "result"), "missing.urdf: there is no such file"),
        (("panda", "result"), "is a robot of the zoo"),
        (("result", "arm.urdf"), "the description to patch comes first"),
        (("arm.urdf", "result", "--out", "arm.urdf"), "arm.urdf: exists already"),
        (("arm.urdf", "result", "--arg", "a=1"), "takes no arguments"),
    ],
)
def test_what_it_cannot_do_ends_with_two_and_changes_nothing(
    words: tuple[str, ...], message: str, folder: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run("patch", *words, cwd=folder)
    assert (done.code, done.out) == (2, "")
    assert message in done.complaint
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
