"""Nothing that could hit or overload is left out of a certificate without a word and an exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cli.running import Run, run
from steelyard.archive import read_document
from steelyard.limits import Certificate, certify, clearance_of
from steelyard.motion import read_motion
from steelyard.robot.descriptions.urdf import load_urdf

LINK = """<link name="{name}"><inertial><mass value="{mass}"/>
  <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>
  <collision><origin xyz="0 0 {z}"/><geometry>{shape}</geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0 0 {z}"/><axis xyz="{axis}"/><dynamics damping="3" friction="4"/>
  <limit lower="-3.1" upper="3.1" velocity="2" effort="60"/></joint>"""
ROUND = '<cylinder radius="0.04" length="0.4"/>'


def _arm(folder: Path, first: str = ROUND, second: str = ROUND, z: float = 0.3) -> Path:
    """Two links on a post that turns; the elbow may fold until they meet."""
    parts = [
        '<robot name="arm"><link name="base"/>',
        LINK.format(name="upper", mass=2.0, shape=first, z=0.3),
        LINK.format(name="lower", mass=1.0, shape=second, z=z),
        JOINT.format(name="post", parent="base", child="upper", z=0.1, axis="0 0 1"),
        JOINT.format(name="elbow", parent="upper", child="lower", z=0.6, axis="0 1 0"),
        "</robot>",
    ]
    path = folder / "arm.urdf"
    path.write_text("\n".join(parts))
    return path


def _excite(arm: Path, *words: object, floor: object = "none") -> Run:
    out = arm.with_name("motion.json")
    search = ("--rounds", 1, "--period", 4, "--floor", floor)
    return run("excite", arm, *search, "--out", out, "--force", "--json", *words)


def test_neighbours_are_kept_apart_where_the_joint_may_fold_them_together(tmp_path: Path) -> None:
    robot = load_urdf(_arm(tmp_path))
    clearance = clearance_of(robot)
    assert clearance.names == ("lower – upper",)
    # MuJoCo sees what the fold does, and so does the clearance.
    folded = np.array([[0.0, 2.9]])
    spec = mujoco.MjSpec.from_file(str(tmp_path / "arm.urdf"))
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = folded[0]
    mujoco.mj_forward(model, data)
    geoms = {
        mujoco.mj_id2name(model, 1, b): np.flatnonzero(model.geom_bodyid == b) for b in range(model.nbody)
    }
    seen = mujoco.mj_geomDistance(model, data, geoms["upper"][0], geoms["lower"][0], 1.0, None)
    assert seen < -0.01
    np.testing.assert_allclose(clearance.distances(folded)[0, 0], seen, atol=2e-3)


def test_neighbours_that_meet_at_their_joint_are_named_and_left_out(tmp_path: Path) -> None:
    long = '<cylinder radius="0.04" length="0.8"/>'
    clearance = clearance_of(load_urdf(_arm(tmp_path, first=long, second=long)))
    assert clearance.names == ()
    (finding,) = clearance.findings
    assert (finding.code, finding.severity) == ("overlapping-pair", "info")
    assert "at every position" in finding.message


def test_neighbours_built_nearer_than_asked_are_named_and_left_out(tmp_path: Path) -> None:
    # A ball around the elbow, 50 mm above the upper link's end whatever the elbow does.
    robot = load_urdf(_arm(tmp_path, second='<sphere radius="0.05"/>', z=0.0))
    assert clearance_of(robot, distance=0.04).names == ("lower – upper",)
    clearance = clearance_of(robot, distance=0.06)
    assert clearance.names == ()
    (finding,) = clearance.findings
    assert (finding.code, finding.severity) == ("near-pair", "info")
    assert "50 to 50 mm" in finding.message


def test_neighbours_that_overlap_at_rest_and_not_elsewhere_are_a_warning(tmp_path: Path) -> None:
    # Upright, the lower link's box reaches down beside the upper one; bent, it does not.
    clearance = clearance_of(load_urdf(_arm(tmp_path, second='<box size="0.1 0.1 1.4"/>')))
    assert clearance.names == ()
    (finding,) = clearance.findings
    assert (finding.code, finding.severity) == ("overlapping-pair", "warning")
    assert "nothing is known" in finding.message


def test_neighbours_that_overlap_at_rest_are_a_warning_however_near_they_stay(tmp_path: Path) -> None:
    # A needle through the elbow, whose end touches the upper link upright and nowhere else.
    robot = load_urdf(_arm(tmp_path, second='<box size="0.0001 0.0001 0.200004"/>', z=0.0))
    (finding,) = clearance_of(robot, distance=0.12).findings
    assert (finding.code, finding.severity) == ("overlapping-pair", "warning")
    assert "overlap at rest" in finding.message


def test_a_plate_without_thickness_is_kept_clear(tmp_path: Path) -> None:
    robot = load_urdf(_arm(tmp_path, second='<box size="0.5 0.5 0"/>'))
    assert clearance_of(robot).names == ("lower – upper",)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ('<mesh filename="missing.stl"/>', "lower: its mesh is not counted"),
        ('<mesh filename="../outside.stl"/>', "lower: its mesh is not counted"),
        ('<cone radius="1"/>', "Its clearance is not checked"),
    ],
)
def test_a_shape_that_cannot_be_read_makes_the_answer_amber(tmp_path: Path, shape: str, words: str) -> None:
    done = _excite(_arm(tmp_path, second=shape))
    assert done.code == 3
    document = done.document
    assert document["certified"] is False
    assert "position" in document["covers"]
    assert any(words in sentence for sentence in document["uncovered"])
    page = (tmp_path / "motion.html").read_text()
    assert "Look before you run this motion" in page
    assert "Not part of the proof" in page
    certificate = read_document(Certificate, tmp_path / "motion.certificate.json")
    assert "unchecked-shape" in {finding.code for finding in certificate.uncovered}


def test_what_the_user_leaves_out_is_the_users_word(tmp_path: Path) -> None:
    arm = _arm(tmp_path, second='<mesh filename="missing.stl"/>')
    done = _excite(arm, "--without", "clearance")
    assert (done.code, done.document["certified"], done.document["uncovered"]) == (0, True, [])
    assert "clearance" not in done.document["covers"]


@pytest.mark.parametrize("text", ["", "solid\nendsolid", "words", "solid x\nvertex nan nan nan\nendsolid"])
def test_a_tool_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    tool = tmp_path / "tool.stl"
    tool.write_text(text)
    done = _excite(_arm(tmp_path), "--tool", tool)
    assert done.code == 2
    assert "--tool" in done.complaint
    assert not (tmp_path / "motion.json").exists()


def test_torques_are_those_of_the_whole_robot_and_its_load(tmp_path: Path) -> None:
    arm, load = _arm(tmp_path), tmp_path / "load.json"
    body = {"mass": 2.0, "com": [0.0, 0.0, 0.4], "inertia": [0.01, 0.0, 0.01, 0.0, 0.0, 0.01]}
    load.write_text(json.dumps(body))
    empty = _excite(arm, "--for", "payload")
    assert empty.code == 3
    assert any("--payload" in words for words in empty.document["uncovered"])
    unshaped = _excite(arm, "--for", "payload", "--payload", load)
    assert unshaped.code == 3
    (words,) = unshaped.document["uncovered"]
    assert "--tool" in words
    done = _excite(arm, "--for", "payload", "--payload", load, "--tool", "none")
    assert (done.code, done.document["certified"]) == (0, True)
    # MuJoCo's own friction, damping and load, along the motion.
    spec = mujoco.MjSpec.from_file(str(arm))
    spec.body("lower").add_body(
        name="load",
        mass=body["mass"],
        ipos=body["com"],
        inertia=[body["inertia"][k] for k in (0, 2, 5)],
        explicitinertial=True,
    )
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    motion = read_motion(tmp_path / "motion.json")
    at = motion.sample(np.linspace(0.0, motion.duration, 801))
    most = 0.0
    for q, v, a in zip(at.q, at.v, at.a, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(model, data)
        torque = data.qfrc_inverse + 4.0 * np.sign(v)
        most = max(most, float(np.abs(torque).max()))
    margin = done.document["proven"]["torque"]["margin"]
    assert 0.6 * (60.0 - most) <= margin <= 60.0 - most + 1e-6


def test_names_that_may_touch_are_given_by_twos(tmp_path: Path) -> None:
    assert _excite(_arm(tmp_path), "--ignore", "upper").code == 2
    done = _excite(_arm(tmp_path), "--ignore", "upper:lower")
    assert done.code == 0
    assert "clearance" not in done.document["covers"]


def test_what_is_planned_anyway_counts_the_load_too(tmp_path: Path) -> None:
    load, planned = tmp_path / "load.json", tmp_path / "planned.json"
    load.write_text('{"mass": 0.5, "com": [0, 0, 0.05], "inertia": [1e-3, 0, 1e-3, 0, 0, 1e-3]}')
    assert run("excite", "panda", "--rounds", 1, "--period", 4, "--harmonics", 3, "--out", planned).code == 0
    words = ("excite", "panda", "--for", "payload", "--planned", planned, "--json", "--force", "--out")
    empty = run(*words, tmp_path / "motion.json")
    assert (empty.code, empty.document["certified"]) == (3, False)
    assert any("--payload" in sentence for sentence in empty.document["uncovered"])
    done = run(*words, tmp_path / "motion.json", "--payload", load, "--tool", "none")
    assert (done.code, done.document["certified"], done.document["uncovered"]) == (0, True, [])


def _post(folder: Path, height: float) -> Path:
    """An arm on a post that turns, its shoulder so high above the base frame."""
    path = _arm(folder)
    path.write_text(path.read_text().replace('<origin xyz="0 0 0.1"/>', f'<origin xyz="0 0 {height}"/>'))
    return path


def test_a_floor_is_assumed_level_with_the_base_and_kept_clear_of(tmp_path: Path) -> None:
    # The elbow is 0.6 m above the shoulder and the arm 0.5 m long: it reaches down to the floor and below.
    arm = _post(tmp_path, -0.3)
    done = _excite(arm, floor="base")
    assert done.code == 0, done.err
    assert any("assumed to be level with the base" in words for words in done.document["findings"])
    certificate = read_document(Certificate, tmp_path / "motion.certificate.json")
    assert "lower – box 'floor'" in {margin.name for margin in certificate.margins}
    motion = read_motion(tmp_path / "motion.json")
    q = motion.sample(np.linspace(0.0, motion.duration, 2001)).q
    # The lower link is a cylinder of radius 0.04 m from 0.1 to 0.5 m beyond the elbow, 0.3 m up.
    ends = 0.3 + np.array([0.1, 0.5]) * np.cos(q[:, 1, None]) - 0.04 * np.abs(np.sin(q[:, 1, None]))
    assert ends.min() >= 0.01
    free = _excite(arm, floor="none")
    assert free.code == 0
    assert "lower – box 'floor'" not in {
        margin.name for margin in read_document(Certificate, tmp_path / "motion.certificate.json").margins
    }


def test_a_floor_in_which_the_robot_starts_is_doubted_unless_it_is_stated(tmp_path: Path) -> None:
    arm = _post(tmp_path, -1.0)
    assumed = _excite(arm, floor="base")
    assert (assumed.code, assumed.document["certified"]) == (3, False)
    (words,) = assumed.document["uncovered"]
    assert "floor, lower" in words
    assert "m inside it" in words
    stated = _excite(arm, floor=0)
    assert stated.code == 3
    assert "box 'floor'" in stated.complaint
    assert not stated.out
    below = _excite(arm, floor=-2)
    assert (below.code, below.document["certified"]) == (0, True)


def test_of_an_arm_that_hangs_the_floor_is_unknown_until_it_is_stated(tmp_path: Path) -> None:
    arm = _arm(tmp_path)
    unknown = _excite(arm, "--gravity", "0,0,9.81", floor="base")
    assert (unknown.code, unknown.document["certified"]) == (3, False)
    assert any("--floor" in words for words in unknown.document["uncovered"])
    stated = _excite(arm, "--gravity", "0,0,9.81", floor=-2.5)
    assert (stated.code, stated.document["certified"]) == (0, True)
    certificate = read_document(Certificate, tmp_path / "motion.certificate.json")
    (lower,) = (x.margin for x in certificate.margins if x.name == "lower – box 'floor'")
    # It hangs from a ceiling 2.5 m above the floor and reaches 1.2 m down.
    assert 1.2 <= lower <= 2.5


@pytest.mark.parametrize("floor", ["nan", "ground", "inf"])
def test_a_floor_is_at_the_base_nowhere_or_at_a_height(tmp_path: Path, floor: str) -> None:
    done = _excite(_arm(tmp_path), floor=floor)
    assert done.code == 2
    assert "--floor" in done.complaint


def test_a_scene_with_a_floor_states_it(tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    shape = 'shape = "box"\nsize = [4, 4, 0.1]\nposition = [0, 0, -2]'
    scene.write_text(f'[[obstacle]]\nname = "floor"\n{shape}\n')
    arm = _arm(tmp_path)
    done = _excite(arm, "--scene", scene, floor="base")
    assert not any("assumed to be level" in words for words in done.document["findings"])
    twice = _excite(arm, "--scene", scene, floor=-1)
    assert twice.code == 2
    assert "the scene has a floor already" in twice.complaint


def test_other_code_looks_at_every_motion_and_a_disagreement_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = _arm(tmp_path)
    done = _excite(arm)
    look = done.document["second_look"]
    assert look["instants"] >= 200
    assert set(look["margins"]) == set(done.document["covers"])
    for kind, seen in look["margins"].items():
        assert seen["seen"] >= done.document["proven"][kind]["margin"] - 1e-6
    assert "by other code" in (tmp_path / "motion.html").read_text()
    (tmp_path / "motion.json").unlink()

    def forged(*words: object, **more: object) -> Certificate:
        proof = certify(*words, **more)  # type: ignore[arg-type]
        least = proof.smallest("torque")
        assert least is not None
        wrong = tuple(replace(x, margin=x.margin + 5.0) if x is least else x for x in proof.margins)
        return replace(proof, margins=wrong)

    monkeypatch.setattr("steelyard.workflows.motion_proof.certify", forged)
    wrong = _excite(arm)
    assert wrong.code == 3
    assert "proof and second look disagree" in wrong.complaint
    assert "torque limit" in wrong.complaint
    assert not (tmp_path / "motion.json").exists()


MJCF = """<mujoco model="arm"><worldbody>{around}
<body name="a" pos="0 0 .5"><joint name="j1" axis="0 0 1" range="-2 2"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 0 .2" mass="1"/>
<body name="b" pos="0 0 .4"><joint name="j2" axis="0 1 0" range="-1 1"/>
<geom type="capsule" size=".05" fromto="0 0 .1 0 0 .4" mass="1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("around", "named"),
    [
        ('<geom type="plane" size="2 2 .1"/>', ""),
        ('<geom type="plane" size="2 2 .1" pos="0 0 .3"/>', "a plane is no shape that is kept"),
        ('<geom type="plane" size="2 2 .1" euler="0 90 0"/>', "a plane is no shape that is kept"),
        ('<geom type="ellipsoid" size=".1 .2 .3" pos="2 0 0"/>', "an ellipsoid of this form"),
        ('<geom type="plane" size="2 2 .1" pos="0 0 .3" contype="0" conaffinity="0"/>', ""),
    ],
)
def test_what_an_mjcf_file_puts_around_its_robot_is_kept_clear_or_named(
    tmp_path: Path, around: str, named: str
) -> None:
    arm = tmp_path / "arm.xml"
    arm.write_text(MJCF.format(around=around))
    done = _excite(arm, "--velocity", 2, "--torque", 50, floor="base")
    assert done.code == (3 if named else 0), done.err
    assert any(named in words for words in done.document["uncovered"]) or not named
    certificate = read_document(Certificate, tmp_path / "motion.certificate.json")
    assert "b – box 'floor'" in {margin.name for margin in certificate.margins}


def test_the_users_word_settles_missing_shapes_and_nothing_else(tmp_path: Path) -> None:
    arm = _arm(tmp_path, second='<mesh filename="package://gone/a.stl"/>')
    refused = _excite(arm)
    assert (refused.code, refused.document["accepted"]) == (3, [])
    assert "package 'gone' was not found; --package-path" in refused.document["uncovered"][0]
    taken = _excite(arm, "--allow-no-clearance")
    document = taken.document
    assert (taken.code, document["certified"]) == (0, False)
    assert document["accepted"] == document["uncovered"] == refused.document["uncovered"]
    certificate = read_document(Certificate, document["files"]["certificate"])
    (word,) = (x for x in certificate.assumptions.findings if x.code == "accepted-no-clearance")
    assert word.place == "lower"
    page = Path(document["files"]["page"]).read_text()
    assert "Look before you run this motion" in page
    assert "accepted this (--allow-no-clearance)" in page
    # A torque that nobody bounds is another matter.
    unknown = _excite(arm, "--allow-no-clearance", "--for", "payload")
    assert unknown.code == 3
    assert any("--payload" in words for words in unknown.document["uncovered"])
    assert any("--tool" in words for words in unknown.document["accepted"])


def test_the_first_line_is_the_warning(tmp_path: Path) -> None:
    arm = _arm(tmp_path, second='<mesh filename="package://gone/a.stl"/>')
    words = ("--rounds", 1, "--period", 4, "--floor", "none", "--out", tmp_path / "m.json")
    done = run("excite", arm, *words)
    assert done.code == 3
    first, second = done.out.splitlines()[:2]
    assert first.startswith("certified in part: ")
    assert second.startswith("  warning: lower: its mesh is not counted")
