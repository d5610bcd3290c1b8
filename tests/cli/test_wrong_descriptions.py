"""A right log passes; one that contradicts its description fails with the cause, and the option repairs it.

A short version of bench/studies/wrong_descriptions.py: one arm, one seed, a few of its cases.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.app import main
from steelyard.errors import InputError, UnknownNameError
from steelyard.recording import write
from steelyard.workflows.logs import torque_signs

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies import wrong_descriptions as study

ARM = "ur10e"
CASES = {case.name: case for case in study.CASES}
SHOWN = ("axis of joint 3 tilted 20 deg", "gear of joint 2: q times 1.05")
"""One of the description and one of the log; `tests/estimation/test_diagnosis.py` names every cause."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the simulated log instead of the user's cache."""
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "CACHE", folder)
        study.logged(ARM, 0)
    return folder


@pytest.fixture(autouse=True)
def _cache(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "CACHE", kept)


def test_the_right_log_passes_and_names_nothing() -> None:
    outcome = study.judged(ARM, 0, CASES[study.RIGHT])
    assert (outcome.verdict, outcome.causes) == ("pass", [])


@pytest.mark.parametrize("name", SHOWN)
def test_a_wrong_one_fails_by_its_own_cause(name: str) -> None:
    outcome = study.judged(ARM, 0, CASES[name])
    robot, _ = study.logged(ARM, 0)
    assert outcome.verdict == "fail"
    assert outcome.names(CASES[name], robot)
    assert not outcome.misnames(CASES[name], robot)
    assert outcome.causes[0][2].partition(". ")[0] in outcome.speaking["description and log"]


def test_a_summary_counts_what_was_said() -> None:
    right = study.Outcome(ARM, 0, study.RIGHT, "pass", 0.3, {}, [])
    name = "two torques swapped (4, 5)"
    joints = "wrist_1_joint, wrist_2_joint"
    told = study.Outcome(ARM, 0, name, "fail", 6.0, {}, [("joint-order", joints, "")])
    assert study.summary([right, told]).passed
    silent = study.Outcome(ARM, 0, name, "warn", 6.0, {}, [("torque-delay", "tau", "")])
    held = {figure.what: figure.passed for figure in study.summary([right, silent]).figures}
    assert not held["mistakes that cost more than 5 % and do not fail"]
    assert not held["mistakes that a log can show, named, percent"]
    assert not held["mistakes named as another's"]


def _answer(*words: object) -> tuple[object, dict[str, Any]]:
    out = io.StringIO()
    before, sys.argv = sys.argv, ["steelyard", "identify", *map(str, words), "--json"]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main()
        code: object = 0
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = before
    return code, json.loads(out.getvalue())


def test_a_sign_that_is_turned_ends_in_exit_code_1_and_the_option_repairs_it(tmp_path: Path) -> None:
    robot, log = study.logged(ARM, 0)
    joint = robot.joint_names[1]
    turned = log.channels["tau"] * [1.0, -1.0, *[1.0] * (robot.nv - 2)]
    write(log.with_channels(tau=turned), tmp_path / "turned.npz")
    code, found = _answer(ARM, tmp_path / "turned.npz", "--out", tmp_path / "wrong")
    assert (code, found["verdict"]) == (1, "fail")
    assert (found["checks"][0]["name"], found["checks"][0]["status"]) == ("description and log", "fail")
    assert f"--torque-sign {joint}=-1" in found["checks"][0]["message"]
    assert next((f["code"], f["place"]) for f in found["findings"]) == ("torque-sign", joint)
    words = ("--torque-sign", f"{joint}=-1", "--out", tmp_path / "right")
    code, found = _answer(ARM, tmp_path / "turned.npz", *words)
    assert (code, found["verdict"]) == (0, "pass")


def test_signs_are_given_by_name_by_list_or_for_all() -> None:
    joints = ("a", "b", "c")
    assert torque_signs(None, joints) is None
    for text, signs in (("b=-1", [1, -1, 1]), ("-1,1,+1", [-1, 1, 1]), ("-", [-1, -1, -1])):
        found = torque_signs(text, joints)
        assert found is not None
        assert found.tolist() == signs
    with pytest.raises(UnknownNameError, match="'d'"):
        torque_signs("d=-1", joints)
    for text in ("b=2", "1,1", "x", "a=-1,1"):
        with pytest.raises(InputError, match="--torque-sign"):
            torque_signs(text, joints)
