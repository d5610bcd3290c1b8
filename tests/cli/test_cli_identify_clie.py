"""`steelyard identify --method clie`: the controller in the simulation, not measured accelerations."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from cli.running import Run, run
from steelyard.control import LoopSettings
from steelyard.identification.closed_loop import _doubts
from steelyard.motion import random_fourier, write_motion
from steelyard.recording import Recording, write
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

CYCLE, DELAY = 1e-3, 1.5e-3
LAW = """law = "ff-pd"
inertia = [1.5, 0.6]
viscous = 0.1
kp = 400.0
kv = 40.0
cycle = 0.001
delay = 0.0015
"""
ROBOT = zoo_robot("two_link")
DRIVE = ("--drive", "viscous,coulomb")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motions of an arm with 12-bit encoders and an ammeter, the law that followed them, and the plan."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "law.toml").write_text(LAW)
    for name, seed in (("train", 1), ("other", 2)):
        motion = random_fourier(ROBOT, np.random.default_rng(seed))
        write_motion(motion, folder / f"{name}.json")
        write(recorded(folder, motion, seed), folder / f"{name}.parquet")
    return folder


def recorded(folder: Path, motion: Any, seed: int) -> Recording:
    law = LoopSettings.read(folder / "law.toml", ROBOT).controller
    rng = np.random.default_rng(seed)
    return simulate_motion(ROBOT, motion, controller=law, sensor="low-cost", torque_limits=False, rng=rng)


@cache
def refined(bench: Path) -> tuple[Run, Path]:
    """Noisy accelerations: a low-pass far above the motion, behind encoders of 12 bits."""
    return identified(bench, "clie", "--controller", bench / "law.toml"), bench / "clie"


def identified(bench: Path, method: str, *words: object, log: str = "train.parquet") -> Run:
    held_out = ("--holdout", bench / "other.parquet", "--cutoff", 40)
    words = (*held_out, *DRIVE, "--method", method, "--out", bench / method, "--force", "--json", *words)
    return run("identify", "two_link", bench / log, *words)


def refused(bench: Path, tmp_path: Path, *words: object, log: str = "train.parquet") -> str:
    """The complaint of a run that must end with exit code 2 and write nothing."""
    out = tmp_path / "result"
    got = run("identify", "two_link", bench / log, "--method", "clie", "--out", out, *words)
    assert got.code == 2, (got.code, got.out, got.err)
    assert not out.exists()
    return got.complaint


def inertias(urdf: Path) -> np.ndarray:
    """Diagonals of the mass matrix at some poses, by Pinocchio."""
    model = pin.buildModelFromUrdf(str(urdf))
    data, rng = model.createData(), np.random.default_rng(0)
    poses = rng.uniform(-math.pi, math.pi, (20, model.nv))
    return np.array([np.diag(pin.crba(model, data, q)) for q in poses])


def true_inertias() -> np.ndarray:
    """The same by hand: rods of 0.6 kg and 1 m, 0.8 kg and 1.5 m, joint axes parallel."""
    q2 = np.random.default_rng(0).uniform(-math.pi, math.pi, (20, 2))[:, 1]
    (m1, l1), (m2, l2) = (0.6, 1.0), (0.8, 1.5)
    elbow = m2 * l2**2 / 3.0
    shoulder = m1 * l1**2 / 3.0 + m2 * l1**2 + elbow + m2 * l1 * l2 * np.cos(q2)
    return np.column_stack([shoulder, np.full(len(q2), elbow)])


def test_noisy_accelerations_bend_least_squares_and_not_the_closed_loop(bench: Path) -> None:
    got, out = refined(bench)
    assert got.code in (0, 1), got.err
    identified(bench, "ols")
    bent, straight = (
        np.abs(inertias(folder / "model.urdf") / true_inertias() - 1.0).max(axis=0)
        for folder in (bench / "ols", out)
    )
    assert (bent > 0.4).all(), "the accelerations are too clean for this to show anything"
    assert (straight < np.minimum(0.2, 0.35 * bent)).all(), (bent, straight)


def test_the_answer_and_the_page_tell_how_the_refinement_went(bench: Path) -> None:
    got, out = refined(bench)
    told = got.document["refinement"]
    assert told["outcome"] in ("converged", "stalled")
    assert told["iterations"] >= 1
    assert told["delay"] == DELAY
    assert told["torque_shifts"] == [math.ceil(DELAY / CYCLE)], "the ammeter shows what acts"
    assert told["block"] / CYCLE == pytest.approx(round(told["block"] / CYCLE))
    assert 1.0 / (5.0 * told["block"]) < 40.0 <= 1.0 / (4.0 * told["block"]) * 1.2
    before, after = (np.array(list(told["rms"][when].values())) for when in ("before", "after"))
    assert ((after > 0.0) & (after <= 1.001 * before)).all()
    check = next(check for check in got.document["checks"] if check["name"] == "closed loop")
    assert "with a delay of 1.5 ms" in check["message"]
    page = (out / "report.html").read_text()
    assert "closed loop" in page
    assert "closed-loop input error" in page


def test_the_same_record_gives_the_same_bits_again(bench: Path) -> None:
    _, out = refined(bench)
    again = run("replay", out)
    assert again.code == 0, again.out + again.err


def test_references_come_from_the_log_or_from_the_planned_motion(bench: Path, tmp_path: Path) -> None:
    log = recorded(bench, random_fourier(ROBOT, np.random.default_rng(1)), 1)
    write(log.with_channels(q_ref=None, v_ref=None, a_ref=None), bench / "bare.parquet")
    law = ("--controller", bench / "law.toml")
    complaint = refused(bench, tmp_path, *law, log="bare.parquet")
    assert "bare.parquet: has no references q_ref, v_ref, a_ref" in complaint
    assert "give the planned --motion" in complaint
    first = refined(bench)[0].document
    planned = identified(
        bench,
        "clie",
        *law,
        "--motion",
        bench / "train.json",
        "--out",
        tmp_path / "planned",
        log="bare.parquet",
    ).document
    for one, other in zip(planned["base"], first["base"], strict=True):
        np.testing.assert_allclose(one["value"], other["value"], rtol=1e-6, atol=1e-9, err_msg=one["name"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kp = 400.0", "kp = 1600.0", "Give the controller that made this log"),
        ("kp = 400.0", "kp = [400.0, 400.0, 400.0]", "kp"),
        ("cycle = 0.001", "cycle = 0.002", "has even intervals of 1 ms, but the controller's cycle is 2 ms"),
    ],
)
def test_a_controller_that_did_not_make_the_log_is_refused(
    bench: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in LAW
    (tmp_path / "law.toml").write_text(LAW.replace(old, new))
    assert message in refused(bench, tmp_path, "--controller", tmp_path / "law.toml")


def test_what_is_needed_or_cannot_be_simulated_is_said(bench: Path, tmp_path: Path) -> None:
    assert "--controller: clie simulates the closed loop" in refused(bench, tmp_path)
    (tmp_path / "pd.toml").write_text('law = "pd"\nkp = 60.0\nkd = 8.0\n')
    assert "State the control cycle" in refused(bench, tmp_path, "--controller", tmp_path / "pd.toml")
    law = ("--controller", bench / "law.toml")
    for term in ("stribeck", "asymmetric", "load"):
        complaint = refused(bench, tmp_path, *law, "--drive", f"viscous,coulomb,{term}")
        assert f"--drive: clie refines linear drives, not {term}." in complaint
    assert "needs a motion" in refused(bench, tmp_path, *law, "--static")


def test_a_loop_that_cannot_be_simulated_is_a_failed_check_and_no_crash(bench: Path, tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(LAW.replace("delay = 0.0015", "delay = 0.08"))
    got = identified(bench, "clie", "--controller", tmp_path / "late.toml", "--out", tmp_path / "late")
    assert got.code == 1, got.err
    codes = {finding["code"] for finding in got.document["findings"]}
    assert {"other-delay", "not-converged"} <= codes
    check = next(check for check in got.document["checks"] if check["name"] == "closed loop")
    assert check["status"] in ("fail", "warn"), check


def test_what_is_kept_apart_is_not_simulated(bench: Path, tmp_path: Path) -> None:
    words = (
        "--method",
        "clie",
        "--controller",
        bench / "law.toml",
        *DRIVE,
        "--out",
        tmp_path / "r",
        "--json",
    )
    got = run("identify", "two_link", bench / "train.parquet", *words)
    assert got.code in (0, 1), got.err
    simulated = got.document["samples"] * got.document["refinement"]["block"]
    assert 5.0 < simulated < 7.6, "the motion takes 10 s, of which a quarter is kept apart"


@pytest.mark.parametrize(
    ("delay", "doubted"), [(0.5e-3, True), (1.5e-3, False), (2e-3, False), (2.5e-3, True)]
)
def test_a_stated_delay_may_end_with_the_cycle_in_which_torques_follow(delay: float, doubted: bool) -> None:
    log, controller = SimpleNamespace(name="log.csv"), "law.toml"
    match = SimpleNamespace(unexplained=np.zeros(2), cycles=2, commands=np.zeros((3, 2)))
    settings = SimpleNamespace(delay=delay, cycle=1e-3)
    problem = SimpleNamespace(robot=zoo_robot("two_link"))
    found = _doubts(log, match, settings, problem, controller)  # type: ignore[arg-type]
    assert [finding.code for finding in found] == ["other-delay"] * doubted
