"""Logs of real robots through the command: how well they are predicted, and what is said of them.

The bounds are those of docs/real-data.md, where the commands and the limits of the results are.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from cli.running import run
from shared_material import DATA, needs_shared

pytestmark = needs_shared

UR10E_CONSTANTS = "14.87,13.26,11.13,10.62,11.03,11.47"  # N·m/A, from the notes beside the logs


def _identified(folder: Path, *words: object) -> dict[str, Any]:
    done = run("identify", *words, "--out", folder / "result", "--json")
    assert done.code in (0, 1), done.err
    document: dict[str, Any] = done.document
    assert document["consistent"], "the links of every model that is written can exist"
    _believed(document)
    return document


def _believed(document: dict[str, Any]) -> None:
    """Links that the robot's owner would believe, and numbers that a simulator can use."""
    for link in document["links"]:
        described = link["described"]
        assert 1 / 3 <= link["mass"] / described["mass"] <= 3.0, link["name"]
        assert math.dist(link["com"], described["com"]) <= 0.1, link["name"]
        low, high = link["interval95"]["mass"]
        assert low <= link["mass"] <= high
        assert link["decided_by"]["mass"] in ("data", "prior", "both")
    total = document["total_mass"]
    assert 0.5 <= total["estimated"] / total["described"] <= 2.0
    assert _check(document, "plausible")["status"] != "fail"
    for joint in document["joints"]:
        assert joint.get("armature", 1.0) > 1e-8, joint["name"]
        assert joint["coulomb"] > 1e-8, joint["name"]


def _check(document: dict[str, Any], name: str) -> dict[str, str]:
    return {check["name"]: check for check in document["checks"]}[name]


def _codes(document: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in document["findings"]}


def test_the_ur10e_is_predicted_from_its_currents_on_a_motion_it_has_not_seen(tmp_path: Path) -> None:
    logs = DATA / "ur10e"
    found = _identified(
        tmp_path,
        logs / "ur10e.urdf",
        logs / "ur-20_02_12-50sec_12harm.csv",
        logs / "ur-20_02_12-40sec_12harm.csv",
        *("--holdout", logs / "ur-20_02_10-30sec_12harm.csv"),
        *("--torque-constant", UR10E_CONSTANTS),
    )
    # 58 with linear drives; load friction at the two joints that show it, which tells a rotor from its link.
    assert found["identifiable"] == 61
    assert found["holdout"]["overall"] < 3.7
    assert max(found["holdout"]["joints"].values()) < 12.0
    assert {"approach-phase", "drive-chosen"} <= _codes(found)
    assert found["verdict"] != "fail"
    assert "no held-out test" not in _check(found, "held-out torque")["message"]
    assert _check(found, "intervals")["status"] == "pass", "this excitation is not weak"


def test_the_panda_is_predicted_on_phases_of_its_period_that_it_has_not_seen(tmp_path: Path) -> None:
    logs = DATA / "panda_gaz"
    found = _identified(
        tmp_path, logs / "panda.urdf", logs / "trajectory_1.csv", "--lock", "panda_finger_joint1=0"
    )
    # The notes beside the log: it repeats after 13.34 s, so that its end is no test of its beginning.
    assert "of every period, because the motion repeats after 13.34 s" in found["holdout"]["log"]
    assert found["holdout"]["overall"] <= 2.5


def test_the_ur10_is_predicted_from_a_bag(tmp_path: Path) -> None:
    logs = DATA / "ur10_panda_unisa"
    found = _identified(tmp_path, logs / "ur10_robot.urdf", logs / "ur10_exciting_trajectory.db3")
    assert found["holdout"]["overall"] <= 8.0


def test_the_second_log_of_the_xmate_is_found_to_be_the_first_scaled(tmp_path: Path) -> None:
    logs = DATA / "xmate7p"
    found = _identified(
        tmp_path, logs / "XM7p.urdf", logs / "traj1.csv", "--holdout", logs / "traj2.csv", "--method", "wls"
    )
    assert found["holdout"]["overall"] <= 5.0
    assert "no held-out test" in _check(found, "held-out torque")["message"]
    repeated = [finding for finding in found["findings"] if finding["code"] == "repeated-motion"]
    assert len(repeated) == 1
    assert "scaled by" in repeated[0]["message"]


def test_the_second_log_of_the_kuka_is_a_repeat_and_its_weak_excitation_is_named(tmp_path: Path) -> None:
    logs = DATA / "kuka_lwr4"
    first, second = (logs / f"measurements_{k}.csv" for k in (1, 2))
    found = _identified(tmp_path, logs / "kuka_lwr4.urdf", first, "--holdout", second, "--method", "wls")
    assert "no held-out test" in _check(found, "held-out torque")["message"]
    assert "repeated-motion" in _codes(found)
    weak = _check(found, "intervals")
    assert weak["status"] == "warn"
    assert "excitation is weak" in weak["message"]
    named = [line["name"] for line in found["base"] if line["name"] in weak["message"]]
    assert len(named) >= 5


@pytest.mark.parametrize("suffix", ["csv", "db3"])
def test_a_log_of_another_robot_is_refused(tmp_path: Path, suffix: str) -> None:
    log = DATA / "ur10_panda_unisa" / f"ur10_exciting_trajectory.{suffix}"
    done = run("identify", "panda", log, "--out", tmp_path / "result")
    assert done.code == 2
    assert not (tmp_path / "result").exists()
