"""`steelyard validate`: models of any tool against logs, judged by torques and by what can exist."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from audit.test_audit_checks import TABLE_5_5
from cli.running import run
from export.material import write_result
from oracles.newton_euler import newton_euler
from shared_material import DATA, needs_shared
from steelyard.formats.urdf import new_urdf
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.recording import Recording, write
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

TENSOR = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
OFFSET = np.array([3.0, -2.0])


def _log(
    path: Path, robot: Robot, bodies: np.ndarray, extra: np.ndarray | float = 0.0, seed: int = 1
) -> Path:
    """A log of a motion whose torques are those of Newton and Euler, 50 Hz."""
    motion = random_fourier(robot, np.random.default_rng(seed))
    time = np.arange(0.0, motion.duration, 0.02)
    s = motion.sample(time)
    tau = np.array([newton_euler(robot, bodies, *state) for state in zip(s.q, s.v, s.a, strict=True)]) + extra
    write(Recording(tuple(robot.joint_names), time, s.q, v=s.v, a=s.a, tau=tau), path)
    return path


def _bodies(robot: Robot) -> np.ndarray:
    return layout_of(robot).complete_nominal().reshape(-1, 10)


def _table_5_5() -> np.ndarray:
    """Ten numbers a link about its frame, shape (7, 10), SI."""
    m = np.array(TABLE_5_5["m"])
    first = [m * TABLE_5_5[c] for c in ("cx", "cy", "cz")]
    return np.column_stack([m, *first, *(TABLE_5_5[i] for i in ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))])


def _frictionless(robot: Robot) -> ET.Element:
    tree = ET.fromstring(new_urdf(robot))
    for dynamics in tree.iter("dynamics"):
        dynamics.attrib.update({"damping": "0", "friction": "0"})
    return tree


def _urdf_with(robot: Robot, bodies: np.ndarray) -> bytes:
    """The robot's URDF with other inertials, written by hand: our own writer refuses impossible ones."""
    tree = _frictionless(robot)
    for name, (m, *h, xx, xy, yy, xz, yz, zz) in zip(robot.link_names, bodies, strict=True):
        c = np.array(h) / m
        about_frame = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        tensor = about_frame - m * (c @ c * np.eye(3) - np.outer(c, c))
        inertial = next(link for link in tree.iter("link") if link.get("name") == name).find("inertial")
        assert inertial is not None
        origin, mass, inertia = (inertial.find(tag) for tag in ("origin", "mass", "inertia"))
        assert origin is not None
        assert mass is not None
        assert inertia is not None
        origin.set("xyz", " ".join(map(repr, c.tolist())))
        origin.set("rpy", "0 0 0")
        mass.set("value", repr(float(m)))
        for key, value in zip(TENSOR, tensor[np.tril_indices(3)], strict=True):
            inertia.set(key, repr(float(value)))
    return ET.tostring(tree)


def test_the_panda_of_table_5_5_explains_its_torques_and_fails_because_its_links_cannot_exist(
    tmp_path: Path,
) -> None:
    robot, bodies = zoo_robot("panda"), _table_5_5()
    (tmp_path / "panda.urdf").write_bytes(_urdf_with(robot, bodies))
    log = _log(tmp_path / "log.parquet", robot, bodies)
    done = run("validate", tmp_path / "panda.urdf", log, "--out", tmp_path / "report", "--json")
    assert done.code == 1, done.err
    found = done.document
    assert found["verdict"] == "fail"
    assert found["overall"] < 5.0, "it fits its torques"
    checks = {check["name"]: check for check in found["checks"]}
    assert checks["held-out torque"]["status"] in ("pass", "warn")
    assert checks["physical consistency"]["status"] == "fail"
    # The pseudo-inertia of a body that can exist has no negative eigenvalue: only the first link is one.
    impossible = set(checks["physical consistency"]["evidence"]["impossible"])
    assert "panda_link7" in impossible
    assert "panda_link7: " in checks["physical consistency"]["message"]
    expected = set()
    for name, (m, mx, my, mz, xx, xy, yy, xz, yz, zz) in zip(robot.link_names, bodies, strict=True):
        E = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        pseudo = np.block(
            [[np.trace(E) / 2 * np.eye(3) - E, np.array([[mx], [my], [mz]])], [np.array([mx, my, mz, m])]]
        )
        if np.linalg.eigvalsh(pseudo)[0] < -1e-9:
            expected.add(name)
    assert impossible == expected == set(robot.link_names[1:])
    page = (tmp_path / "report" / "report.html").read_text()
    assert "panda_link7" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_a_description_that_is_right_passes_and_a_wrong_mass_does_not(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    bodies = _bodies(robot)
    log = _log(tmp_path / "log.parquet", robot, bodies)
    other = _log(tmp_path / "other.parquet", robot, bodies, seed=2)
    tree = _frictionless(robot)
    (tmp_path / "right.urdf").write_bytes(ET.tostring(tree))
    right = run("validate", tmp_path / "right.urdf", log, other, "--json")
    assert right.code == 0, right.err
    assert right.document["overall"] < 1.0
    assert set(right.document["joints"]) == {"joint1", "joint2"}
    assert set(right.document["logs"]) == {str(log), str(other)}
    assert {"excitation", "intervals"} <= {
        c["name"] for c in right.document["checks"] if c["status"] == "not run"
    }
    assert len(right.document["untested"]) == 2
    heavy = ET.fromstring(ET.tostring(tree))
    for mass in heavy.iter("mass"):
        mass.set("value", repr(2.0 * float(mass.attrib["value"])))
    (tmp_path / "heavy.urdf").write_bytes(ET.tostring(heavy))
    wrong = run("validate", tmp_path / "heavy.urdf", log, "--json")
    assert wrong.code == 1
    assert wrong.document["overall"] > 50.0
    said = run("validate", tmp_path / "heavy.urdf", log)
    assert said.code == 1
    assert "fail" in said.out
    assert "not run" in said.out


def test_a_result_folder_counts_with_the_terms_its_urdf_cannot_carry(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["offset"])
    phi = layout.complete_nominal()
    phi[[layout.index(f"joint{k + 1}.offset") for k in range(2)]] = OFFSET
    write_result(tmp_path / "result", robot, layout, phi)
    log = _log(tmp_path / "log.parquet", robot, _bodies(robot), OFFSET)
    whole = run("validate", tmp_path / "result", log, "--json")
    assert whole.code == 0, whole.err
    assert whole.document["overall"] < 1.0
    urdf = run("validate", tmp_path / "result" / "model.urdf", log, "--json")
    assert urdf.document["overall"] > 10.0
    (tmp_path / "result" / "model.xml").write_text("<mujoco/>")
    touched = run("validate", tmp_path / "result", log, "--json").document
    assert [f["code"] for f in touched["findings"] if "model.xml" in f["place"]] == ["file-changed"]
    assert touched["overall"] == whole.document["overall"]


def test_a_joint_can_be_held_in_a_result_as_in_a_description(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["offset"])
    phi = layout.complete_nominal()
    phi[[layout.index(f"joint{k + 1}.offset") for k in range(2)]] = OFFSET
    write_result(tmp_path / "result", robot, layout, phi)
    held = robot.locked({"joint2": 0.4})
    log = _log(tmp_path / "log.parquet", held, _bodies(held), OFFSET[:1])
    done = run("validate", tmp_path / "result", log, "--lock", "joint2=0.4", "--json")
    assert done.code == 0, done.err
    assert done.document["overall"] < 1.0
    upside_down = run(
        "validate", tmp_path / "result", log, "--lock", "joint2=0.4", "--gravity", "0,0,9.81", "--json"
    )
    assert upside_down.code == 1


def test_a_joint_that_a_result_was_made_with_may_be_named_again(tmp_path: Path) -> None:
    held = zoo_robot("two_link").locked({"joint2": 0.4})
    layout = layout_of(held)
    write_result(tmp_path / "result", held, layout, layout.complete_nominal())
    log = _log(tmp_path / "log.parquet", held, _bodies(held))
    plain = run("validate", tmp_path / "result", log, "--json")
    again = run("validate", tmp_path / "result", log, "--lock", "joint2=0.4", "--json")
    assert again.code == 0, again.err
    assert again.document["overall"] == plain.document["overall"]
    elsewhere = run("validate", tmp_path / "result", log, "--lock", "joint2=0.5")
    assert elsewhere.code == 2
    assert "the result was identified with it at 0.4" in elsewhere.complaint


def test_a_report_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    log = _log(tmp_path / "log.parquet", robot, _bodies(robot))
    words = ("validate", "two_link", log, "--out", tmp_path / "report")
    assert run(*words).code in (0, 1)
    (tmp_path / "report" / "report.html").write_text("mine")
    refused = run(*words)
    assert refused.code == 2
    assert "--force" in refused.complaint
    assert run(*words, "--force").code in (0, 1)
    assert (tmp_path / "report" / "report.html").read_text() != "mine"


def test_a_log_that_shows_little_is_said_to_test_little(tmp_path: Path) -> None:
    robot = zoo_robot("two_link")
    time = np.arange(0.0, 10.0, 0.01)
    q = np.column_stack([np.sin(time), np.zeros(time.size)])
    v = np.column_stack([np.cos(time), np.zeros(time.size)])
    a = -q
    tau = np.array([newton_euler(robot, _bodies(robot), *state) for state in zip(q, v, a, strict=True)])
    write(Recording(tuple(robot.joint_names), time, q, v=v, a=a, tau=tau), tmp_path / "log.parquet")
    found = run("validate", "two_link", tmp_path / "log.parquet", "--json").document
    (coverage,) = [check for check in found["checks"] if check["name"] == "log coverage"]
    assert coverage["status"] == "warn"
    assert coverage["evidence"]["determined"] < coverage["evidence"]["identifiable"]
    assert "would not be seen" in coverage["message"]


@needs_shared
def test_the_description_of_a_real_arm_fails_by_the_friction_it_does_not_state() -> None:
    folder = DATA / "ur10e"
    constants = "14.87,13.26,11.13,10.62,11.03,11.47"  # N·m/A, from the README of the logs
    words = ("--torque-constant", constants, "--cutoff", "8", "--json")
    done = run("validate", folder / "ur10e.urdf", folder / "ur-20_02_10-30sec_12harm.csv", *words)
    assert done.code == 1
    checks = {check["name"]: check for check in done.document["checks"]}
    assert checks["physical consistency"]["status"] == "pass"
    assert checks["held-out torque"]["status"] == "fail"
    assert min(checks["velocity dependence"]["evidence"]["explained"].values()) > 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.urdf", "log"), "nowhere.urdf: there is no such file"),
        (("two_link", "nowhere.csv"), "nowhere.csv"),
        (("two_link", "log", "--torque-constant", "1"), "--torque-constant: expected 2 numbers"),
        (("result", "log", "--arg", "a=b"), "--arg: goes with a xacro file"),
        (("panda", "log"), "joint"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    write_result(tmp_path / "result", robot, layout, layout.complete_nominal())
    places = {"log": _log(tmp_path / "log.parquet", robot, _bodies(robot)), "result": tmp_path / "result"}
    done = run("validate", *(places.get(word, word) for word in words))
    assert done.code == 2
    assert message in done.complaint
    assert not done.out
