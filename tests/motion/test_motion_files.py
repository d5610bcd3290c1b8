"""Motion files come back bit for bit, and what is not one is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from motion.motion_families import NAMES, ROBOT, families
from steelyard.errors import InputError, UnknownNameError
from steelyard.motion import FourierMotion, random_fourier, read_motion, write_motion
from steelyard.zoo import zoo_robot


def motion() -> FourierMotion:
    return random_fourier(zoo_robot("panda"), np.random.default_rng(11), period=1.0 / 3.0)


def test_a_motion_comes_back_bit_for_bit(tmp_path: Path) -> None:
    written = motion()
    extreme = FourierMotion(("a β",), 0.1, [-0.0], [[5e-324, 1.7e308]], [[0.1 + 0.2, -1e-17]])
    for k, one in enumerate((written, extreme)):
        path = tmp_path / f"motion{k}.json"
        write_motion(one, path)
        back = read_motion(path)
        assert back.coefficients.tobytes() == one.coefficients.tobytes()
        assert (back.joints, back.period, back.robot) == (one.joints, one.period, one.robot)
        assert back.digest == one.digest


@pytest.mark.parametrize("name", NAMES)
def test_every_family_comes_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    written = families(5)[name]
    path = tmp_path / "motion.json"
    write_motion(written, path)
    back = read_motion(path)
    assert type(back) is type(written)
    assert (back.digest, back.joints, back.robot) == (written.digest, written.joints, written.robot)
    t = np.linspace(0.0, written.duration, 33)
    assert back.duration == written.duration
    assert back.sample(t).q.tobytes() == written.sample(t).q.tobytes()
    assert back.sample(t).a.tobytes() == written.sample(t).a.tobytes()
    again = tmp_path / "again.json"
    write_motion(back, again)
    assert again.read_bytes() == path.read_bytes()


def test_a_composed_file_holds_the_robot_and_joints_of_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    write_motion(families()["sum"], path)
    content = json.loads(path.read_text())
    assert content["family"] == "sum"
    assert content["schema"] == 1
    assert [part["is"] for part in content["parts"]] == ["FourierMotion", "SplineMotion", "SinusoidMotion"]
    assert content["parts"][0]["robot"] == ROBOT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"family": "sum", "parts": []}', r"motion\.json: parts: there must be at least one"),
        ('{"family": "sum", "parts": [{"is": "Robot"}]}', r"parts\[0\]: expected one of FourierMotion"),
        ('{"family": "sequence", "parts": [3]}', r"parts\[0\]: expected one of"),
        ('{"family": "sum", "parts": ' + 100_000 * "[" + 100_000 * "]" + "}", "nested too deeply"),
        (
            '{"family": "spline", "joints": ["a"], "breaks": [0, 1], "control": [[1]]}',
            "control: expected shape",
        ),
        (
            '{"family": "spline", "joints": ["a"], "breaks": [0, 1], "control": [[1]], "degree": 5.0}',
            r"degree: expected a whole number",
        ),
    ],
)
def test_what_is_not_a_motion_of_its_family_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_motion(path)


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    write_motion(motion(), path)
    content = json.loads(path.read_text())
    assert content["family"] == "fourier"
    assert content["schema"] == 1
    assert content["robot"] == zoo_robot("panda").digest
    assert content["joints"] == list(zoo_robot("panda").joint_names)
    assert np.shape(content["sine"]) == np.shape(content["cosine"]) == (7, 5)


def test_writing_replaces_whole_files_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    path.write_text("old")
    write_motion(motion(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["motion.json"]
    with pytest.raises(InputError, match="cannot be written"):
        write_motion(motion(), tmp_path / "absent" / "motion.json")


def broken(**changes: object) -> str:
    content = {
        "family": "fourier",
        "joints": ["a"],
        "period": 1.0,
        "offset": [0.0],
        "sine": [[1.0, -1.0]],
        "cosine": [[0.0, 0.0]],
    }
    content.update(changes)
    return json.dumps({key: value for key, value in content.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"motion\.json:1: is not JSON"),
        ("[1]", "is not a motion"),
        ("{}", "lacks the text 'family'"),
        (broken(period=None), r"lacks the fields \['period'\]"),
        (broken(colour="red"), r"unknown fields \['colour'\]"),
        (broken(period="1"), r"motion\.json\.period: expected a number"),
        (broken(period=-1.0), r"motion\.json: period: must be positive"),
        (broken(sine=[[1.0]]), r"motion\.json: cosine: expected shape"),
        (broken(sine=[[1.0], [2.0, 3.0]]), r"motion\.json.*rows differ in length"),
        (broken(offset=["inf"]), r"motion\.json: offset: must be finite"),
        (broken(schema=2), r"motion\.json: schema: layout 2 is unknown"),
        (broken().replace("1.0", "NaN"), "holds NaN"),
    ],
)
def test_what_is_not_a_motion_is_refused_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_motion(path)


def test_other_families_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    path.write_text(broken(family="furier"))
    with pytest.raises(UnknownNameError, match="Did you mean 'fourier'"):
        read_motion(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_motion(path)
    with pytest.raises(InputError, match=r"absent\.json: cannot be read"):
        read_motion(tmp_path / "absent.json")
