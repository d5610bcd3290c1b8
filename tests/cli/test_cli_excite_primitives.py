"""`steelyard excite --family primitives`: structured motions, chosen, proven and written like all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import read_document
from steelyard.limits import Certificate, MotionLimits, certify, clearance_of
from steelyard.motion import Motion, random_fourier, read_motion, structured_motions
from steelyard.recording import read, write
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

PRIMITIVES = ("--family", "primitives", "--floor", "none")
Made = tuple[Path, dict[str, Any]]


def one_link_columns(motion: Motion) -> np.ndarray[Any, Any]:
    """All that the torque of one link under gravity depends on, by hand: inertia, two moments, friction."""
    at = motion.sample(np.linspace(0.0, motion.duration, round(20.0 * motion.duration)))
    q, v, a = at.q[:, 0], at.v[:, 0], at.a[:, 0]
    return np.stack([a, 9.81 * np.cos(q), 9.81 * np.sin(q), v, np.sign(v)], axis=1)


@pytest.fixture(scope="module")
def one_link(tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("one_link") / "motion.json"
    done = run("excite", "one_link", *PRIMITIVES, "--out", out, "--json")
    assert done.code == 0, done.err
    return out, done.document


@pytest.fixture(scope="module")
def crane(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    out = tmp_path_factory.mktemp("crane") / "motion.json"
    words = ("--family", "primitives", "--motion-name", "AP03", "--json")  # above a floor
    done = run("excite", "crane_x7", *words, "--out", out)
    assert done.code == 0, done.err
    return out, done.document, done.complaint


def test_the_chosen_motion_has_the_smallest_condition_number_of_all_forty(one_link: Made) -> None:
    out, document = one_link
    limits = MotionLimits(zoo_robot("one_link"))
    by_hand = {
        item.name: np.linalg.cond(one_link_columns(item.motion))
        for item in structured_motions(limits).identification
    }
    # Without a model of the torques swings are not slowed, and here none needs to be.
    assert document["compared"] == pytest.approx(by_hand, rel=1e-6)
    assert document["name"] == min(by_hand, key=lambda name: by_hand[name])
    assert document["value"] == document["cond"] == document["compared"][document["name"]]
    assert document["value"] == pytest.approx(np.linalg.cond(one_link_columns(read_motion(out))), rel=1e-6)


def test_a_criterion_that_grows_with_information_is_maximised(tmp_path: Path) -> None:
    done = run("excite", "one_link", *PRIMITIVES, "--criterion", "d", "--out", tmp_path / "m.json", "--json")
    found = done.document
    assert found["compared"][found["name"]] == max(found["compared"].values())
    W = one_link_columns(read_motion(tmp_path / "m.json"))
    assert found["value"] == pytest.approx(np.linalg.slogdet(W.T @ W)[1], rel=1e-6)


def test_data_that_is_there_counts(one_link: Made, tmp_path: Path) -> None:
    robot = zoo_robot("one_link")
    log = simulate_motion(robot, random_fourier(robot, np.random.default_rng(0), period=3.0))
    write(log, tmp_path / "log.csv")
    options = ("--after", tmp_path / "log.csv", "--criterion", "e", "--json")
    more = run("excite", "one_link", *PRIMITIVES, "--out", tmp_path / "a.json", *options)
    none = run("excite", "one_link", *PRIMITIVES, "--out", tmp_path / "b.json", *options[2:])
    assert more.code == none.code == 0, more.err
    for name, least in none.document["compared"].items():
        assert more.document["compared"][name] > least


def test_the_certificate_is_of_the_written_motion_and_can_be_made_again(one_link: Made) -> None:
    out, document = one_link
    motion, robot = read_motion(out), zoo_robot("one_link")
    proof = read_document(Certificate, out.with_suffix(".certificate.json"))
    assert document["certified"] is True
    assert proof.motion == motion.digest
    assert motion.robot == robot.digest
    again = certify(MotionLimits(robot), motion)
    mine = {margin.name: margin.margin for margin in proof.margins if margin.kind == "velocity"}
    assert mine == {margin.name: margin.margin for margin in again.margins if margin.kind == "velocity"}


def test_a_named_motion_keeps_every_limit_and_stays_clear(
    crane: tuple[Path, dict[str, Any], str],
) -> None:
    out, document, _ = crane
    motion, robot = read_motion(out), zoo_robot("crane_x7")
    at = motion.sample(np.arange(0.0, motion.duration, 1e-3))
    assert (at.q >= robot.limit_array("lower")).all()
    assert (at.q <= robot.limit_array("upper")).all()
    assert (np.abs(at.v) <= robot.limit_array("velocity")).all()
    nearest = clearance_of(robot, rest=np.zeros(7)).distances(at.q[::10]).min()
    assert nearest >= 0.01
    assert 0.0 <= document["clearance"] <= nearest - 0.01 + 1e-9
    for kind, proven in document["proven"].items():
        assert 0.0 <= proven["margin"] <= document["margins"][kind] + 1e-9
    for end in (0.0, motion.duration):
        np.testing.assert_allclose(motion.sample([end]).v, 0.0, atol=1e-9)


def test_a_named_motion_is_the_only_one_and_what_gave_way_is_said(
    crane: tuple[Path, dict[str, Any], str],
) -> None:
    _, document, complaint = crane
    assert document["name"] == "AP03"
    assert list(document["compared"]) == ["AP03"]
    # AP03 is at posture C, where the floor is near.
    smaller = [finding for finding in document["findings"] if "at posture C there is room for" in finding]
    assert smaller
    assert all(finding in complaint for finding in smaller)


def test_samples_rehearsal_trajectory_and_page_are_of_the_same_path(one_link: Made) -> None:
    out, document = one_link
    motion = read_motion(out)
    log = read(out.with_suffix(".csv"))
    np.testing.assert_allclose(log.q, motion.sample(log.time).q, atol=1e-12)
    slow, t = read_motion(out.with_suffix(".rehearsal.json")), np.linspace(0.0, motion.duration, 50)
    np.testing.assert_allclose(slow.sample(4.0 * t).q, motion.sample(t).q, atol=1e-9)
    assert "joint_names" in out.with_suffix(".trajectory.yaml").read_text()
    assert document["name"] in out.with_suffix(".html").read_text()


def test_every_seed_gives_the_same_bits(one_link: Made, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    assert run("excite", "one_link", *PRIMITIVES, "--out", again, "--seed", 7).code == 0
    assert again.read_bytes() == one_link[0].read_bytes()


def test_a_named_motion_that_cannot_be_proven_is_written_with_the_reason_and_exit_code_three(
    tmp_path: Path,
) -> None:
    options = ("--motion-name", "PB05", "--parameter-range", 5.0, "--json")
    done = run("excite", "two_link", *PRIMITIVES, "--out", tmp_path / "m.json", *options)
    assert done.code == 3
    assert done.document["certified"] is False
    assert "torque" in done.document["reason"]
    assert not (tmp_path / "m.certificate.json").exists()


def test_the_next_best_is_taken_where_the_best_cannot_be_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steelyard.limits import NotCertifiedError
    from steelyard.workflows import motion_proof

    refused: list[str] = []

    def strict(limits: MotionLimits, motion: Any, **given: Any) -> Certificate:
        if not refused:
            refused.append(motion.digest)
            raise NotCertifiedError(
                "it is the best.",
                kind="torque",
                name="joint1",
                instant=0.0,
                margin=-1.0,
                broken=True,
                remedy="",
            )
        return certify(limits, motion, **given)

    monkeypatch.setattr(motion_proof, "certify", strict)
    done = run("excite", "one_link", *PRIMITIVES, "--out", tmp_path / "m.json", "--json")
    assert done.code == 0
    by_worth = sorted(done.document["compared"], key=lambda name: done.document["compared"][name])
    assert done.document["name"] == by_worth[1]
    assert f"{by_worth[0]} is left out" in done.complaint


def test_a_motion_for_validation_is_written_only_by_name(one_link: Made, tmp_path: Path) -> None:
    assert not [name for name in one_link[1]["compared"] if name.startswith("V")]
    done = run(
        "excite", "one_link", *PRIMITIVES, "--motion-name", "V01", "--out", tmp_path / "v.json", "--json"
    )
    assert done.code == 0
    assert done.document["name"] == "V01"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*PRIMITIVES, "--motion-name", "AG03"), "--motion-name: unknown structured motion 'AG03'"),
        (("--motion-name", "AG02"), "--motion-name: says nothing about --family fourier"),
        ((*PRIMITIVES, "--period", "5"), "--period: says nothing about --family primitives"),
        ((*PRIMITIVES, "--harmonics", "5"), "--harmonics: says nothing about --family primitives"),
        ((*PRIMITIVES, "--budget", "5"), "--budget: says nothing about --family primitives"),
        ((*PRIMITIVES, "--start", "free"), "--start: says nothing about --family primitives"),
    ],
)
def test_options_asked_for_in_vain_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("excite", "one_link", "--out", tmp_path / "m.json", *words)
    assert done.code == 2
    assert message in done.complaint
    assert not list(tmp_path.iterdir())
