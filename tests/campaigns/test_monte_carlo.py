"""Monte Carlo studies through `steelyard campaign`, judged by what chance and noise can and cannot do."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from campaigns.folders import bits
from cli.running import Run, run
from steelyard.campaigns import monte_carlo, plan, read_spec
from steelyard.campaigns.spec import robot_document
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.problem import Estimate, Problem
from steelyard.simulation import SensorPreset
from steelyard.zoo import zoo_robot

ALL = ("viscous", "coulomb", "offset", "rotor")
SPECS = Path(__file__).resolve().parents[2] / "specs"
SMALL = """
[campaign]
kind = "monte-carlo"
seed = 3

[robot]
name = "two_link"

[study]
trials = 2
sensors = ["industrial"]
noise = [0.1, 1, 10]
motions = [1]
duration = 3.0
methods = ["ols", "wls"]
drive = ["viscous", "coulomb", "offset", "rotor"]
"""


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "study.toml"
    path.write_text(text)
    return path


def carried_out(folder: Path, *changes: tuple[str, str]) -> Run:
    spec = written(folder, *changes)
    return run("campaign", spec, "--out", folder / "out", "--workers", 1, "--json")


def trials_of(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(out / "trials.parquet").to_pylist()
    return found


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("study")
    done = carried_out(folder)
    assert done.code == 0, done.err
    return folder / "out", done


def test_more_noise_means_a_larger_median_error(study: tuple[Path, Run]) -> None:
    rows = study[1].document["rows"]
    for method in ("ols", "wls"):
        for figure in ("error", "held_out"):
            medians = [row[figure]["median"] for row in rows if row["method"] == method]
            assert len(medians) == 3
            assert medians[0] < medians[1] < medians[2], (method, figure)
    ols = [row["error"]["median"] for row in rows if row["method"] == "ols"]
    # Least squares is linear in the torque's errors, and those grow tenfold; positions add a little.
    assert 3.0 < ols[2] / ols[1] < 30.0


def test_the_table_is_the_quartiles_of_its_trials(study: tuple[Path, Run]) -> None:
    out, done = study
    trials = trials_of(out)
    assert len(trials) == 3 * 2 * 2
    for row in done.document["rows"]:
        mine = [t for t in trials if all(t[axis] == row[axis] for axis in ("sensor", "noise", "method"))]
        assert row["trials"] == len(mine) == 2
        for figure in ("error", "held_out", "cond"):
            wanted = statistics.quantiles([t[figure] for t in mine], n=4, method="inclusive")
            found = [row[figure][key] for key in ("lower_quartile", "median", "upper_quartile")]
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    schema = pq.read_schema(out / "trials.parquet")
    assert schema.field("error").metadata[b"unit"] == b"%"
    table = pq.read_table(out / "table.parquet")
    assert table.num_rows == len(done.document["rows"])
    assert table.schema.field("held_out_median").metadata[b"unit"] == b"%"


def test_trials_differ_and_methods_share_their_logs(study: tuple[Path, Run], tmp_path: Path) -> None:
    errors = [one["error"] for one in trials_of(study[0])]
    assert len(set(errors)) == len(errors)
    tasks = plan(read_spec(written(tmp_path))).graph.tasks
    fits = [task for task in tasks.values() if task.kind == "fit"]
    logs = [task for task in tasks.values() if task.kind == "record"]
    assert len(fits) == 2 * len(logs) == 12
    for log in logs:
        assert {task.parameters["method"] for task in fits if log.name in task.needs} == {"ols", "wls"}


def test_another_trial_changes_no_other(study: tuple[Path, Run], tmp_path: Path) -> None:
    out = study[0]
    before, trials = bits(out), trials_of(out)
    spec = written(tmp_path, ("trials = 2", "trials = 3"))
    more = run("campaign", spec, "--out", out, "--workers", 1, "--json")
    assert more.code == 0, more.err
    assert before.items() <= bits(out).items()
    again = [one for one in trials_of(out) if one["trial"] < 2]
    assert sorted(again, key=str) == sorted(trials, key=str)
    journal = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines() if line]
    computed = [entry["task"] for entry in journal]
    assert computed.count("record.industrial.1.1.0") == 1
    assert computed.count("record.industrial.1.1.2") == 1


QUIET = {"robot": robot_document("two_link"), "sensor": "ideal", "noise": 1.0, "motion": 1, "duration": 2.0}


def tried(method: str, drive: tuple[str, ...] = ALL) -> dict[str, Any]:
    """A trial without noise."""
    recorded = monte_carlo.record_trial(**QUIET, prior_error=0.3, trial=0, seed=1)
    return monte_carlo.fit_trial(recorded, **QUIET, trial=0, method=method, drive=drive)


def test_a_trial_fits_what_identify_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torques moved by their lag, no samples near a turn, and a prior whose links are not the true ones."""
    noisy = {**QUIET, "sensor": "industrial", "duration": 4.0}
    recorded = monte_carlo.record_trial(**noisy, prior_error=0.3, trial=0, seed=1)
    asked: list[Problem] = []
    fitted = monte_carlo.fit_by_name

    def watched(problem: Problem, method: str, **more: Any) -> Estimate:
        asked.append(problem)
        return fitted(problem, method, **more)

    monkeypatch.setattr(monte_carlo, "fit_by_name", watched)
    found = monte_carlo.fit_trial(recorded, **noisy, trial=0, method="auto", drive=ALL)
    (problem,) = asked
    samples, train = problem.samples, recorded["train"]
    kept = np.isin(train["time"], samples.time)
    turning = (np.diff(np.sign(train["v"]), axis=0) != 0).any(axis=1)
    assert kept.sum() == samples.n < len(kept)
    assert not (kept[:-1] & kept[1:] & turning).any()
    assert np.abs(samples.tau - train["tau"][kept]).max() > 0.0
    layout = problem.layout
    links = 10 * len(layout.links)
    assert problem.prior is not None
    np.testing.assert_array_equal(problem.prior[:links], recorded["prior"])
    off = problem.prior[:links:10] / layout.nominal[:links:10] - 1.0
    assert (np.abs(off) > 0.01).all()
    assert (np.abs(off) < 2.0).all()
    assert found["error"] < 3.0


@pytest.mark.parametrize("method", ["ols", "wls", "huber", "lmi", "iv"])
def test_without_noise_every_method_finds_the_truth(method: str) -> None:
    found = tried(method)
    assert found["error"] < 1e-5
    assert found["held_out"] < 1e-5


def test_a_model_without_dry_friction_is_off_by_what_least_squares_leaves() -> None:
    drive = ("viscous", "offset", "rotor")
    robot, train = (
        zoo_robot("two_link"),
        monte_carlo.record_trial(**QUIET, prior_error=0.3, trial=0, seed=1)["train"],
    )
    W = torque_regressor(robot, layout_of(robot, drive), train["q"], train["v"], train["a"])
    W, tau = W.reshape(-1, W.shape[-1]), train["tau"].ravel()
    left = tau - W @ np.linalg.lstsq(W, tau, rcond=1e-9)[0]
    least = 100.0 * np.linalg.norm(left) / np.linalg.norm(tau)
    assert least > 0.1
    # The truth is known along the plan, the log is of the motion that followed it.
    assert tried("ols", drive)["error"] == pytest.approx(least, rel=0.05)


def test_the_robot_of_a_trial_keeps_its_bias_for_the_motion_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    preset = SensorPreset(name="biased", torque_bias=0.02)
    monkeypatch.setattr(monte_carlo, "SENSORS", {"biased": preset})
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ALL)
    means = []
    recorded = monte_carlo.record_trial(robot_document("two_link"), "biased", 1.0, 1, 3.0, 0.3, 0, 5)
    for part in (recorded["train"], recorded["held_out"]):
        model = inverse_dynamics(robot, layout, layout.complete_nominal(), part["q"], part["v"], part["a"])
        means.append((part["tau"] - model).mean(axis=0))
    effort = robot.limit_array("effort")
    assert (np.abs(means) > 1e-3 * effort).all()
    np.testing.assert_allclose(means[0], means[1], atol=5e-4 * effort.min())


def test_trials_that_fail_are_listed_and_do_not_stop_the_table(tmp_path: Path) -> None:
    # Steps of ten thousand radians: the encoders see no motion at all.
    blind = (("[0.1, 1, 10]", "[1, 1e9]"), ("trials = 2", "trials = 1"), ('"wls"]', '"huber"]'))
    done = carried_out(tmp_path, *blind)
    assert done.code == 1
    found = done.document
    assert found["failed"] == 3  # the log, and two methods that needed it
    assert {name.split(".")[0] for name in found["failures"]} == {"record", "fit"}
    good = [row for row in found["rows"] if row["noise"] == 1.0]
    bad = [row for row in found["rows"] if row["noise"] == 1e9]
    assert [row["trials"] for row in good] == [1, 1]
    assert [row["trials"] for row in bad] == [0, 0]
    assert all(row["error"] is None for row in bad)
    told = run("campaign", tmp_path / "study.toml", "--out", tmp_path / "out", "--workers", 1)
    assert told.code == 1
    assert told.out.count("no result") == 2 * 3
    assert "record.industrial.1e+09.1.0: " in told.out


def test_the_printed_table_is_aligned_and_says_its_units(study: tuple[Path, Run], tmp_path: Path) -> None:
    told = run("campaign", written(tmp_path), "--out", study[0], "--workers", 1)
    lines = told.out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("sensor"))
    table = lines[head : head + 7]
    assert "off the truth, %" in table[0]
    assert "off the held-out log, %" in table[0]
    assert len({len(line) for line in table}) == 1
    for line in table[1:]:
        assert line.startswith("industrial ")
        assert line.count(" to ") == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"two_link"', '"no_such_robot"', r"study.toml:7: robot.name: .*no_such_robot"),
        ('"two_link"', '"nowhere.urdf"', r"study.toml:7: robot.name: .*nowhere.urdf"),
        ('["industrial"]', '["telepathy"]', r"study.toml:11: study.sensors: unknown sensor 'telepathy'"),
        ('["industrial"]', '["crane-x7"]', r"study.toml:11: study.sensors: "),
        ('["industrial"]', "[]", r"study.toml:11: study.sensors: must have at least one entry"),
        ('["ols", "wls"]', '["ols", "magic"]', r"study.toml:15: study.methods: unknown method 'magic'"),
        ('["ols", "wls"]', '["ols", "ols"]', r"study.toml:15: study.methods: has an entry twice"),
        ("[0.1, 1, 10]", "[1, 1.0]", r"study.toml:12: study.noise: has an entry twice"),
        ("[0.1, 1, 10]", "[-1]", r"study.toml:12: study.noise: must not be negative"),
        ("[0.1, 1, 10]", '["loud"]', r"study.toml:12: study.noise: must be a number"),
        ("[0.1, 1, 10]", "[nan]", r"study.toml:12: study.noise: must be finite"),
        ("motions = [1]", "motions = [1.5]", r"study.toml:13: study.motions: must be seeds"),
        ("motions = [1]", "motions = [-2]", r"study.toml:13: study.motions: must be seeds"),
        ("duration = 3.0", "duration = 0.0", r"study.toml:14: study.duration: must be at least"),
        ("duration = 3.0", "duration = 1e9", r"study.toml:14: study.duration: must be at most"),
        ("trials = 2", "trials = 0", r"study.toml:10: study.trials: must be at least 1"),
        ("trials = 2", "trials = 10000000000", r"study.toml:10: study.trials: asks for 60000000000 fits"),
        ('"rotor"]', '"telekinesis"]', r"study.toml:16: study.drive: unknown drive 'telekinesis'"),
        ("trials = 2", "trails = 2", r"study.toml:10: study.trails: unknown key"),
    ],
)
def test_hostile_studies_are_refused_with_the_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(read_spec(written(tmp_path, (old, new))))


def test_a_gain_error_of_one_is_refused_where_the_noise_is_stated(tmp_path: Path) -> None:
    spec = written(tmp_path, ('"industrial"', '"low-cost"'), ("[0.1, 1, 10]", "[1, 50]"))
    with pytest.raises(InputError, match=r"study.toml:12: study.noise: gain_error"):
        plan(read_spec(spec))


def test_the_example_is_a_study() -> None:
    planned = plan(read_spec(SPECS / "monte_carlo_panda.toml"))
    kinds = [task.kind for task in planned.graph.tasks.values()]
    assert kinds.count("fit") == 5 * kinds.count("record") == 2 * 3 * 5 * 5
