"""Monte Carlo studies through `steelyard campaign`, judged by what chance and noise can and cannot do."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import steelyard as sy
from campaigns.folders import bits
from cli.running import Run, run
from steelyard.campaigns import Spec, monte_carlo, plan
from steelyard.campaigns.spec import robot_document
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import in_sequence
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.simulation import SensorPreset, simulate_motion
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
    tasks = plan(Spec.read(written(tmp_path))).graph.tasks
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


def recorded(condition: dict[str, Any], drive: tuple[str, ...] = ALL, **more: Any) -> dict[str, Any]:
    """The logs of a trial."""
    given = {"prior_error": 0.3, "drive": drive, "every_sample": False, "trial": 0, "seed": 1, **more}
    return monte_carlo.record_trial(**condition, **given)


def tried(method: str, drive: tuple[str, ...] = ALL) -> dict[str, Any]:
    """A trial without noise."""
    return monte_carlo.fit_trial(recorded(QUIET, drive), **QUIET, trial=0, method=method, drive=drive)


NOISY = {**QUIET, "sensor": "low-cost", "duration": 8.0}
"""Of its logs, prediction lowers the cut-off that the spectrum suggests, and they are thinned."""


@pytest.fixture(scope="module")
def as_recorded() -> tuple[Recording, Recording]:
    """The two logs of a noisy trial before anything was done to them."""
    robot, seconds = zoo_robot("two_link"), NOISY["duration"]
    both = in_sequence([monte_carlo.motion_of_seed(robot, 1, seconds, part) for part in range(2)])
    log = simulate_motion(robot, both, sensor="low-cost", rng=np.random.default_rng(1))
    seam = int(np.searchsorted(log.time, seconds))
    return log.rows(slice(0, seam)), log.rows(slice(seam, None))


@pytest.fixture(scope="module")
def noisy() -> dict[str, Any]:
    return recorded(NOISY, every_sample=True)


def believing(links: np.ndarray) -> Robot:
    """The robot as a trial believes it to be: other links, and drives of which nothing is stated."""
    robot = zoo_robot("two_link")
    return replace(
        robot,
        links=tuple(
            replace(link, own=Body.from_parameters(ten), fixed=())
            for link, ten in zip(robot.links, links.reshape(-1, 10), strict=True)
        ),
        joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints),
    )


@pytest.mark.parametrize("method", ["auto", "wls", "lmi", "iv", "momentum"])
def test_a_trial_is_what_identify_makes_of_its_logs(
    as_recorded: tuple[Recording, Recording], noisy: dict[str, Any], method: str
) -> None:
    found = monte_carlo.fit_trial(noisy, **NOISY, trial=0, method=method, drive=ALL)
    done = sy.identify(
        zoo_robot("two_link"),
        as_recorded[0],
        holdout=as_recorded[1],
        method=method,
        drive=",".join(ALL),
        prior=believing(noisy["prior"]),
        motion=monte_carlo.motion_of_seed(zoo_robot("two_link"), 1, NOISY["duration"], 0),
    )
    # A trial is about the method, so what links cost that are found after it is not counted.
    left = done.holdout if method in ("auto", "lmi") else done.price.holdout
    assert found["held_out"] == pytest.approx(left.overall, rel=1e-9)
    assert found["cond"] == pytest.approx(done.estimate.condition, rel=1e-9)


def test_links_believed_beforehand_are_not_the_true_ones(noisy: dict[str, Any]) -> None:
    layout = layout_of(zoo_robot("two_link"))
    off = noisy["prior"][::10] / layout.nominal[: 10 * len(layout.links) : 10] - 1.0
    assert (np.abs(off) > 0.01).all()
    assert (np.abs(off) < 2.0).all()


def test_only_logs_for_windows_are_kept_at_their_own_rate(noisy: dict[str, Any], tmp_path: Path) -> None:
    (every,) = noisy["every_sample"]
    assert len(every["time"]) > 2 * len(noisy["train"]["time"])
    assert recorded(NOISY)["every_sample"] == []
    for methods, wanted in ((('"wls"]', '"wls"]'), False), (('"wls"]', '"momentum"]'), True)):
        tasks = plan(Spec.read(written(tmp_path, methods))).graph.tasks.values()
        assert {task.parameters["every_sample"] for task in tasks if task.kind == "record"} == {wanted}


@pytest.mark.parametrize("method", ["ols", "wls", "huber", "lmi", "iv"])
def test_without_noise_every_method_finds_the_truth(method: str) -> None:
    found = tried(method)
    assert found["error"] < 1e-5
    assert found["held_out"] < 1e-5


def test_a_model_without_dry_friction_is_off_by_what_least_squares_leaves() -> None:
    drive = ("viscous", "offset", "rotor")
    robot, train = zoo_robot("two_link"), recorded(QUIET)["train"]
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
    logs = recorded({**QUIET, "sensor": "biased", "duration": 3.0}, seed=5)
    for part in (logs["train"], logs["held_out"]):
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
        plan(Spec.read(written(tmp_path, (old, new))))


def test_a_gain_error_of_one_is_refused_where_the_noise_is_stated(tmp_path: Path) -> None:
    spec = written(tmp_path, ('"industrial"', '"low-cost"'), ("[0.1, 1, 10]", "[1, 50]"))
    with pytest.raises(InputError, match=r"study.toml:12: study.noise: gain_error"):
        plan(Spec.read(spec))


def test_the_example_is_a_study() -> None:
    planned = plan(Spec.read(SPECS / "monte_carlo_panda.toml"))
    kinds = [task.kind for task in planned.graph.tasks.values()]
    assert kinds.count("fit") == 5 * kinds.count("record") == 2 * 3 * 5 * 5
