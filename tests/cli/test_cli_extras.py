"""What needs a package that is not installed is refused before anything is computed, with the extra."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard.motion import random_fourier, write_motion
from steelyard.recording import write
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a motion, its log in two formats, and no Arrow to read or write one of them."""
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(0), period=1.0)
    write_motion(motion, tmp_path / "m.json")
    log = simulate_motion(robot, motion, rng=np.random.default_rng(0))
    write(log, tmp_path / "log.csv")
    write(log, tmp_path / "log.parquet")
    for name in [name for name in sys.modules if name.split(".")[0] in ("pyarrow", "distributed")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pyarrow", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _forbidden(what: str) -> Callable[..., object]:
    def refuse(*_: object, **__: object) -> object:
        pytest.fail(f"{what} ran before the format was refused")

    return refuse


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("log2.parquet", "a Parquet file needs the package pyarrow, which is not installed. "
         "Install it with: pip install 'steelyard[parquet]'"),
        ("log2.xlsx", "log2.xlsx: unknown kind of log '.xlsx'. Supported are .csv, .parquet, .npz"),
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_written_is_refused_before_the_run(
    there: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setattr("steelyard.workflows.simulation.simulate_motion", _forbidden("the simulation"))
    done = run("simulate", "two_link", "m.json", "--out", name)
    assert done.code == 2
    assert said in done.complaint
    assert not (there / name).exists()


READERS = {
    "identify": ("identify", "two_link", "log.csv", "LOG", "--out", "r"),
    "holdout": ("identify", "two_link", "log.csv", "--holdout", "LOG", "--out", "r"),
    "validate": ("validate", "two_link", "log.csv", "LOG"),
    "payload": ("payload", "two_link", "--loaded", "log.csv", "--empty", "LOG", "--out", "r"),
    "joints": ("joints", "two_link", "--log", "log.csv", "--log", "LOG", "--out", "r"),
    "excite": ("excite", "two_link", "--after", "log.csv", "--after", "LOG", "--out", "n.json"),
}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("log.parquet", "pip install 'steelyard[parquet]'"),
        ("none.csv", "none.csv: no such file."),
        ("m.json", "m.json: unknown kind of log '.json'."),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_before_another_one_is(
    there: Path, monkeypatch: pytest.MonkeyPatch, command: str, log: str, said: str
) -> None:
    for room in (
        "identification.data",
        "workflows.weighing",
        "workflows.joint_models",
        "workflows.motion_design",
        "workflows.logs",
    ):
        monkeypatch.setattr(f"steelyard.{room}.read", _forbidden("a reader"))
    done = run(*(log if word == "LOG" else word for word in READERS[command]))
    assert done.code == 2
    assert said in done.complaint


def test_a_campaign_without_dask_is_refused_before_it_is_planned(there: Path) -> None:
    done = run("campaign", there / "none.toml", "--out", "r", "--cluster", "tcp://127.0.0.1:1")
    assert done.code == 2
    assert "pip install 'steelyard[cluster]'" in done.complaint


def test_the_tables_of_a_campaign_need_no_extra(there: Path) -> None:
    (there / "study.toml").write_text(
        '[campaign]\nkind = "monte-carlo"\n[robot]\nname = "two_link"\n'
        '[study]\ntrials = 1\nsensors = ["ideal"]\nmethods = ["ols"]\nduration = 1.0\n'
    )
    done = run("campaign", "study.toml", "--out", "r", "--workers", "1", "--json")
    assert done.code == 0, done.err
    assert {"trials.csv", "table.csv"} <= set(done.document["files"])
