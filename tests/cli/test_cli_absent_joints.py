"""A log without the fingers of a gripper: they are held, that is said, and a bag's topic can be chosen."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from cli.running import Run, run
from recording.written_bags import JOINT_STATE, cdr, db3
from steelyard.dynamics import inverse_dynamics
from steelyard.formats.urdf import new_urdf
from steelyard.layout import layout_of
from steelyard.model import ResultFolder
from steelyard.motion import random_fourier
from steelyard.recording import Recording, write
from steelyard.robot import load_robot
from steelyard.zoo import zoo_robot

FINGER = """<link name="finger"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"
ixy="0" ixz="0" iyz="0"/></inertial></link>"""


@pytest.fixture
def gripper(tmp_path: Path) -> Path:
    """A two-link arm whose hand has a finger that opens between 1 cm and 4 cm."""
    arm = zoo_robot("two_link")
    tree = ET.fromstring(new_urdf(arm))
    tree.append(ET.fromstring(FINGER))
    slide = ET.SubElement(tree, "joint", name="slide", type="prismatic")
    for tag, words in {
        "parent": {"link": arm.link_names[-1]},
        "child": {"link": "finger"},
        "origin": {"xyz": "0.1 0 0"},
        "axis": {"xyz": "0 1 0"},
        "limit": {"lower": "0.01", "upper": "0.04", "velocity": "1", "effort": "5"},
    }.items():
        ET.SubElement(slide, tag, words)
    path = tmp_path / "gripper.urdf"
    path.write_bytes(ET.tostring(tree))
    return path


def _log(gripper: Path, joints: tuple[str, ...] = ("joint1", "joint2")) -> Recording:
    """A log of the arm with the finger held, whose numbers say nothing of it."""
    robot = load_robot(gripper).locked({"slide": 0.01})
    layout = layout_of(robot, ["viscous"])
    time = np.arange(0.0, 10.0, 0.01)
    at = random_fourier(robot, np.random.default_rng(0)).sample(time)
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), at.q, at.v, at.a)
    return Recording(joints, time, at.q, v=at.v, a=at.a, tau=tau)


def _codes(done: Run) -> list[str]:
    return [finding["code"] for finding in done.document["findings"]]


def test_joints_that_the_log_does_not_have_are_held_where_the_description_lets_them(
    gripper: Path, tmp_path: Path
) -> None:
    write(_log(gripper), tmp_path / "log.csv")
    words = ("--drive", "viscous", "--method", "wls", "--json")
    done = run("identify", gripper, tmp_path / "log.csv", "--out", tmp_path / "result", *words)
    assert done.code in (0, 1), done.err
    assert "joints-not-logged" in _codes(done)
    assert "slide at 0.01 m" in done.complaint
    stored = ResultFolder.read(tmp_path / "result")
    assert stored.locks["slide"] == pytest.approx([0.01])
    assert stored.record["request"]["lock"] == []
    for model in (gripper, tmp_path / "result"):
        judged = run("validate", model, tmp_path / "log.csv", "--json")
        assert judged.code in (0, 1), judged.err
        assert judged.document["overall"] < 5.0
    assert run("replay", tmp_path / "result").code == 0


def test_a_log_that_names_other_joints_is_still_refused(gripper: Path, tmp_path: Path) -> None:
    write(_log(gripper, ("joint1", "elbow")), tmp_path / "log.csv")
    done = run("identify", gripper, tmp_path / "log.csv", "--out", tmp_path / "result")
    assert done.code == 2
    assert "no column for q of joint 'joint2', 'slide'" in done.complaint
    assert "--columns" in done.complaint
    assert "joints=[" not in done.complaint


def test_a_topic_of_a_bag_can_be_chosen(gripper: Path, tmp_path: Path) -> None:
    log = _log(gripper)
    assert log.v is not None
    assert log.tau is not None
    messages = [
        (topic, stamp, cdr(stamp, log.joints, q, v, tau * topic))
        for time, q, v, tau in zip(log.time, log.q, log.v, log.tau, strict=True)
        for topic, stamp in ((1, 10**9 + round(1e9 * time)), (2, 10**9 + round(1e9 * time)))
    ]
    topics = (("/right", JOINT_STATE), ("/twice", JOINT_STATE))
    bag = db3(tmp_path / "log.db3", messages, topics)
    words = ("validate", gripper, bag, "--lock", "slide=0.01", "--json")
    unclear = run(*words)
    assert unclear.code == 2
    assert "--topic /right" in unclear.complaint
    right, twice = (run(*words, "--topic", name) for name in ("/right", "/twice"))
    assert right.code in (0, 1), right.err
    assert right.document["overall"] < 5.0
    assert twice.document["overall"] == pytest.approx(50.0, abs=5.0)
    held = run("validate", gripper, bag, "--topic", "/right", "--json")
    assert "joints-not-logged" in _codes(held), "a bag lacks joints as a table does"
    assert json.dumps(held.document["overall"]) == json.dumps(right.document["overall"])


def test_a_numbered_log_of_fewer_turning_joints_is_of_another_robot(tmp_path: Path) -> None:
    log = tmp_path / "six.csv"
    names = ",".join(f"{channel}_{k}" for channel in ("q", "tau") for k in range(1, 7))
    rows = "".join(f"{0.01 * n}," + ",".join(["0.1"] * 12) + "\n" for n in range(50))
    log.write_text(f"time,{names}\n{rows}")
    done = run("identify", "panda", log, "--out", tmp_path / "result")
    assert done.code == 2
    assert "no column for q of joint" in done.complaint
    assert not (tmp_path / "result").exists()
