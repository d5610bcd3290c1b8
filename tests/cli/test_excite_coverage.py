"""Nothing that could hit or overload is left out of a certificate without a word and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cli.running import Run, run
from steelyard.limits import clearance_of, read_certificate
from steelyard.motion import read_motion
from steelyard.robot import load_urdf

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


def _excite(arm: Path, *words: object) -> Run:
    out = arm.with_name("motion.json")
    return run("excite", arm, "--rounds", 1, "--period", 4, "--out", out, "--force", "--json", *words)


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
        ('<mesh filename="missing.stl"/>', "lower: its mesh cannot be read"),
        ('<mesh filename="../outside.stl"/>', "lower: its mesh cannot be read"),
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
    certificate = read_certificate(tmp_path / "motion.certificate.json")
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
    done = _excite(arm, "--for", "payload", "--payload", load)
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
    done = run(*words, tmp_path / "motion.json", "--payload", load)
    assert (done.code, done.document["certified"], done.document["uncovered"]) == (0, True, [])
