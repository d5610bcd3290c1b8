"""Guaranteed bounds of `steelyard payload`: of what was measured, or an alarm where an error is broken.

A short version of bench/attacks/bounds.py.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.payloads import described, mounted_at, posterior
from steelyard.recording import read
from steelyard.uncertainty import ErrorBounds, PayloadBox, guaranteed_payload
from steelyard.zoo import find_robot

from .running import Run, run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from attacks import bounds as study
from attacks.attacked_logs import EXTENT, Attack, Case, written

BREAKS = {one.name: one for one in study.BREAKS}
SEED = 6


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The intervals of the estimate are not asked about."""
    monkeypatch.setattr(posterior, "STEPS", 40)
    monkeypatch.setattr(posterior, "WARM_UP", (20, 20))


def case(**changed: Any) -> Case:
    return replace(Case.drawn(SEED), joints=3, duration=1.6, cutoff=None, empty=False, **changed)


def asked(attack: Attack, out: Path, *words: object) -> Run:
    return run("payload", attack.robot, *attack.words, *words, "--out", out, "--json", "--force")


def spoilt(attack: Attack, columns: str = "", keep: slice | np.ndarray = slice(None)) -> None:
    """Leave out columns or rows of the log with the load."""
    path = Path(attack.words[attack.words.index("--loaded") + 1])
    with path.open() as file:
        head, *rows = list(csv.reader(file))
    kept = [k for k, name in enumerate(head) if not (columns and name.startswith(columns))]
    table = np.array(rows)[keep][:, kept]
    path.write_text("\n".join(",".join(row) for row in [[head[k] for k in kept], *table]))


def judgement(answer: Any) -> tuple[str, str]:
    check = next(check for check in answer["checks"] if check["name"] == "guaranteed bounds")
    return check["status"], check["message"]


@pytest.mark.parametrize("seed", range(10))
def test_the_truth_is_inside_while_all_errors_keep_their_bounds(seed: int) -> None:
    outcome = study.attacked(seed)
    assert outcome.what == "inside", outcome


def test_the_command_bounds_what_was_measured_as_the_library_does(tmp_path: Path) -> None:
    attack = written(case(), tmp_path)
    answers = [
        asked(attack, tmp_path / "out", *words).document
        for words in ((), ("--cutoff", 7.0), ("--cutoff", 30.0))
    ]
    assert answers[0]["bounds"] == answers[1]["bounds"] == answers[2]["bounds"]
    assert answers[0]["mass"] != answers[1]["mass"]
    robot = find_robot(attack.robot)
    model, options = described(robot), dict(zip(attack.words[::2], attack.words[1::2], strict=True))
    errors = ErrorBounds.stated(
        robot,
        model.layout,
        model.parameters,
        torque=tuple(float(x) for x in options["--torque-error"].split(",")),
        model=float(options["--model-error"]),
        velocity=float(options["--velocity-error"]),
        position=float(options["--position-error"]),
        acceleration=[float(x) for x in options["--acceleration"].split(",")],
        delay=2e-3,
        torque_holds=False,
        delay_steady=True,
    )
    log, prior = read(options["--loaded"]), PayloadBox.in_ball(4.0, EXTENT)
    bounds = guaranteed_payload(
        robot,
        model.layout,
        model.parameters,
        [log.renamed(robot.joint_names)],
        mounted_at(robot),
        errors,
        prior,
    )
    np.testing.assert_array_equal(
        np.array(list(answers[0]["bounds"].values())).T, [bounds.lower, bounds.upper]
    )


def test_everything_that_the_data_cannot_show_stands_beside_the_number(tmp_path: Path) -> None:
    done = asked(written(case(), tmp_path), tmp_path / "out")
    answer, said = done.document, " ".join(done.err.split())
    untested = answer["bounds_untested"]
    assert set(untested) < set(answer["bounds_assume"])
    page = (tmp_path / "out" / "report.html").read_text()
    for part in (
        "stays between its values",
        "0.002 s before or after",
        "gravity",
        "Nothing touches",
        "rigid",
    ):
        (sentence,) = (one for one in untested if part in one)
        assert sentence in said
        assert sentence in judgement(answer)[1]
    assert "No empty run is given" in said
    assert "No empty run is given" in judgement(answer)[1]
    assert f"{len(untested)} of them the data cannot test" in page
    assert 0.0 < answer["bounds_need"] <= 1.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("velocities 2 % high", "velocities add up"),
        ("clock 1 % fast", "velocities add up"),
        ("2 % of the samples missing, stamps closed up", "velocities add up"),
        ("torques of joints 1 and 2 swapped", "no payload explains"),
        ("torques 20 ms late", "no payload explains"),
    ],
)
def test_a_broken_assumption_is_an_alarm(name: str, said: str) -> None:
    outcome = study.attacked(SEED, BREAKS[name], empty=False)
    assert outcome.what == "alarm", outcome
    assert said in outcome.said


def test_an_empty_run_shows_what_a_payload_hides() -> None:
    """All torques 5 % high look like a heavier load; an arm that holds nothing has nothing to hide it in."""
    high = BREAKS["all torques 5 % high"]
    alone, both = (study.attacked(9, high, empty=empty) for empty in (False, True))
    assert alone.what == "wrong"
    assert both.what == "alarm"
    assert "an empty run" in both.said


def test_a_log_without_velocities_is_bounded_by_its_positions_alone(tmp_path: Path) -> None:
    attack = written(case(), tmp_path)
    measured = asked(attack, tmp_path / "with").document
    spoilt(attack, "v_")
    answer = asked(attack, tmp_path / "without").document
    low, high = np.array(list(answer["bounds"].values())).T
    assert ((low <= attack.ten) & (attack.ten <= high)).all()
    assert high[0] - low[0] > np.diff(measured["bounds"]["m"])[0]
    k = attack.words.index("--position-error")
    silent = replace(attack, words=(*attack.words[:k], *attack.words[k + 2 :]))
    refused = asked(silent, tmp_path / "silent")
    assert refused.code == 2
    assert "--position-error" in refused.complaint
    assert not (tmp_path / "silent").exists()


def test_missing_samples_end_a_stretch_and_are_not_bridged(tmp_path: Path) -> None:
    attack = written(case(), tmp_path)
    count = round(1.6 * case().rate) + 1
    spoilt(attack, keep=np.flatnonzero(np.abs(np.arange(count) - count // 2) > 3))
    answer = asked(attack, tmp_path / "gap").document
    low, high = np.array(list(answer["bounds"].values())).T
    assert ((low <= attack.ten) & (attack.ten <= high)).all()
    left = round((count - 7) / 2)
    keep = [k for k in range(left) if k % 20]
    spoilt(attack, keep=np.array(keep))
    refused = asked(attack, tmp_path / "many")
    assert refused.code == 2
    assert "without a missing sample" in refused.complaint


def test_positions_that_are_coarser_than_stated_are_an_alarm_that_says_how_coarse(tmp_path: Path) -> None:
    attack = written(case(), tmp_path)
    k = attack.words.index("--position-error")
    stated = replace(attack, words=(*attack.words[: k + 1], "1e-9", *attack.words[k + 2 :]))
    done = asked(stated, tmp_path / "out")
    assert done.code == 1
    assert done.document["bounds"] is None
    status, message = judgement(done.document)
    assert status == "fail"
    assert "--position-error" in message


def test_bounds_that_the_prior_alone_decides_are_no_pass(tmp_path: Path) -> None:
    attack = written(case(), tmp_path)
    k = attack.words.index("--torque-error")
    loose = replace(attack, words=(*attack.words[: k + 1], "0.1,50", *attack.words[k + 2 :]))
    answer = asked(loose, tmp_path / "out").document
    assert answer["bounds"]["m"] == pytest.approx([0.0, 4.0])
    status, message = judgement(answer)
    assert status == "warn"
    assert "the prior's own" in message
