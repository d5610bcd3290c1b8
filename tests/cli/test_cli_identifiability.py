"""`steelyard identifiability`: the published counts, both arithmetics, and refusals that name the option."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.numerical_identifiability import numbers, preference, stacked_regressor
from shared_material import DATA, needs_shared
from steelyard.cli.app import main
from steelyard.layout import layout_of
from steelyard.robot import load_robot


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    exit_code: object
    stdout: str
    stderr: str


def run(*words: str) -> Finished:
    """Run the command in this process, where what it compiled stays loaded."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["steelyard", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: object = 0
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = before
    return Finished(code, out.getvalue(), err.getvalue())


def _answer(*words: str) -> dict[str, Any]:
    finished = run("identifiability", *words, "--json")
    assert finished.exit_code == 0, finished.stderr
    document: dict[str, Any] = json.loads(finished.stdout)
    return document


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("puma560",), 36),
        (("puma560", "--rotors"), 40),
        (("puma560", "--rotors", "gyroscopic"), 40),
        (("puma560", "--rotors", "armature"), 40),
        (("puma560", "--gravity", "none"), 34),
        (("puma560", "--static"), 10),
        (("scara", "--rotors", "--gravity", "none"), 11),
        (("scara", "--rotors", "armature", "--gravity", "none"), 10),
        (("cheetah3_leg", "--rotors"), 18),
        (("cheetah3_leg", "--floating", "--rotors"), 34),
        (("panda", "--drive", "viscous,coulomb,offset,rotor"), 69),
        (("crane_x7", "--reduce", "products", "--frames", "mdh"), 25),
        (("crane_x7", "--reduce", "products", "--frames", "urdf"), 27),
        (("cheetah3_leg", "--floating", "--measured", "base"), 31),
        (("cheetah3_leg", "--floating", "--rotors", "--measured", "base"), 31),
        (("puma560", "--rotors", "--measured", "joint1,joint2,joint3,joint4,joint5,joint6"), 40),
        (("panda", "--lock", "panda_joint7=0"), 36),
    ],
)
def test_the_count_is_the_published_one(words: tuple[str, ...], count: int) -> None:
    document = _answer(*words)
    assert document["identifiable"] == document["identifiable_unsnapped"] == count
    assert len(document["groupings"]) == count
    classes = [kind for body in document["bodies"] for kind in body["classes"].values()]
    assert len(classes) == document["parameters"]
    assert sum(kind in ("alone", "base") for kind in classes) == count
    assert not document["exact"]
    assert document["gap"]["kept"] > 1e-4
    assert document["gap"]["dropped"] < 1e-10


@pytest.mark.parametrize(
    "words", [("puma560",), ("puma560", "--rotors"), ("scara", "--drive", "rotor,offset")]
)
def test_exact_arithmetic_proves_the_same_answer(words: tuple[str, ...]) -> None:
    proven, found = _answer(*words, "--exact"), _answer(*words)
    assert proven["exact"]
    for key in ("identifiable", "bodies", "parameters"):
        assert proven[key] == found[key]
    assert {group["leading"] for group in proven["groupings"]} == {
        group["leading"] for group in found["groupings"]
    }
    numbers = {group["leading"]: group["terms"] for group in found["groupings"]}
    for group in proven["groupings"]:
        assert group["terms"] == pytest.approx(numbers[group["leading"]], rel=1e-9)


def test_symbolic_groupings_are_formulas_in_the_lengths() -> None:
    document = _answer("scara", "--symbolic")
    groups = {group["leading"]: group["terms"] for group in document["groupings"]}
    assert groups["link1.Izz"] == {"link1.Izz": "1", "link2.m": "p_joint2_x**2"}
    assert "p_joint2_x = 0.1" in document["notes"][0]


@needs_shared
def test_rounded_angles_are_read_as_meant_and_both_counts_are_given() -> None:
    path = str(DATA / "xmate7p" / "XM7p.urdf")
    document = _answer(path, "--drive", "rotor,viscous,coulomb,offset")
    assert (document["identifiable"], document["identifiable_unsnapped"]) == (69, 70)
    text = run("identifiability", path, "--drive", "rotor,viscous,coulomb,offset").stdout
    assert "as written it is 70" in text


FREE_BODY = (
    '<robot name="box"><link name="box"/><link name="lid"/><joint name="glue" type="fixed">'
    '<parent link="box"/><child link="lid"/></joint></robot>'
)


def test_a_body_without_joints_has_ten_parameters_where_it_is_free(tmp_path: Path) -> None:
    file = tmp_path / "box.urdf"
    file.write_text(FREE_BODY)
    for more in ((), ("--measured", "base"), ("--exact",)):
        document = _answer(str(file), "--floating", *more)
        assert (document["identifiable"], document["parameters"], document["nv"]) == (10, 10, 6)
    # At rest only its weight shows: mass and first moments.
    assert _answer(str(file), "--floating", "--static")["identifiable"] == 4
    held = run("identifiability", str(file))
    assert held.exit_code == 2
    assert "nothing can move" in held.stderr


def test_a_robot_whose_joints_are_all_locked_is_a_body_where_it_is_free() -> None:
    locks = ("--lock", "joint1=0.3", "--lock", "joint2=-0.5")
    document = _answer("two_link", "--floating", *locks)
    assert (document["identifiable"], document["parameters"]) == (10, 10)
    assert run("identifiability", "two_link", *locks).exit_code == 2


def _gripper(folder: Path) -> str:
    """Two fingers on a palm; the tip of each follows the left finger, so one of them sits on another link."""
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
        '<origin xyz="0.1 0.02 0"/><axis xyz="0 0 1"/>{3}</joint>'
    )
    tie = '<mimic joint="left" multiplier="{}"/>'
    joints = [
        joint.format("wrist", "base", "palm", "").replace("0 0 1", "1 0 0"),
        joint.format("left", "palm", "left_finger", ""),
        joint.format("right", "palm", "right_finger", tie.format(-1)),
        joint.format("tip", "left_finger", "left_tip", tie.format(-1)),
    ]
    links = "".join(
        f'<link name="{x}"/>' for x in ("base", "palm", "left_finger", "right_finger", "left_tip")
    )
    file = folder / "gripper.urdf"
    file.write_text(f'<robot name="gripper">{links}{"".join(joints)}</robot>')
    return str(file)


def test_a_gripper_whose_tips_follow_a_joint_on_another_link_is_counted_and_the_way_said(
    tmp_path: Path,
) -> None:
    file = _gripper(tmp_path)
    document = _answer(file)
    robot = load_robot(file)
    layout = layout_of(robot)
    seen = numbers(stacked_regressor(robot, layout, np.random.default_rng(2)), preference(robot, layout))
    assert (document["nv"], document["parameters"], document["identifiable"]) == (2, 40, seen.rank)
    assert "follow one on another link ('tip')" in document["notes"][0]
    assert "rank of the torques at random states" in document["notes"][0]
    text = run("identifiability", file).stdout
    assert "random states" in text
    assert "dim V" not in text
    held = _answer(file, "--lock", "left=0.2")
    assert (held["nv"], held["notes"]) == (1, [])
    proof = run("identifiability", file, "--exact")
    assert proof.exit_code == 2
    assert "'tip' follows 'left', which hangs on another link" in " ".join(proof.stderr.split())


def test_exact_angles_are_not_called_rounded_whatever_is_measured() -> None:
    for measured in ("base", "joint2", "joint1,joint6"):
        finished = run("identifiability", "puma560", "--measured", measured)
        assert finished.exit_code == 0
        assert "as written" not in finished.stdout


@needs_shared
def test_both_counts_answer_the_question_that_was_asked() -> None:
    path = str(DATA / "xmate7p" / "XM7p.urdf")
    whole, wrench = _answer(path), _answer(path, "--measured", "base")
    # The wrench tells more than the torques, so the two questions cannot be mistaken for one another.
    assert wrench["identifiable"] > whole["identifiable_unsnapped"]
    assert wrench["identifiable_unsnapped"] is None or (
        wrench["identifiable_unsnapped"] >= wrench["identifiable"]
    )


def test_the_table_shows_the_symbols_of_the_paper() -> None:
    text = run("identifiability", "puma560", "--rotors").stdout
    rows = {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:3] in ("m  ", "mx ", "Izz")
    }
    assert rows["m"] == list("××○○○○")
    assert rows["mx"] == list("×●●★★★")
    assert rows["Izz"] == list("●●●●●★")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("panda", "--rotors", "armature", "--reduce", "sums"), "--reduce: unknown reduction 'sums'"),
        (("panda", "--drive", "viscos"), "--drive: unknown drive term 'viscos'. Did you mean 'viscous'"),
        (("panda", "--frames", "dh"), "--frames: unknown kind of frames 'dh'"),
        (("panda", "--exact", "--symbolic"), "--exact: goes without --symbolic"),
        (("panda", "--exact", "--reduce", "products"), "--reduce: goes in floating point only"),
        (("panda", "--measured", "elbow"), "measured: unknown joint 'elbow'"),
        (("panda", "--measured", "base", "--exact"), "--exact: does not go with --measured"),
        (("panda", "--drive", "load"), "not linear in the parameters"),
        (("panda", "--rotors", "--drive", "rotor"), "--drive: a rotor is either"),
        (("panda", "--rotors", "--symbolic"), "--symbolic: goes with armatures only"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_option(words: tuple[str, ...], message: str) -> None:
    finished = run("identifiability", *words)
    assert finished.exit_code == 2
    assert message in " ".join(finished.stderr.split())
    assert finished.stdout == ""
