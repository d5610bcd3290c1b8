"""A real arm with a real load: the UR10e pair of logs, with 2.805 kg and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import run
from shared_material import DATA, needs_shared

WEIGHED = 2.805  # kg, by the logs' README
DE_LUCA = "14.87,13.26,11.13,10.62,11.03,11.47"
AUTHORS = "10.0,10.70,8.46,9.00,9.48,10.12"


@needs_shared
def test_the_interval_of_the_ur10es_load_holds_what_a_balance_says(tmp_path: Path) -> None:
    folder = DATA / "ur10e"
    log = "ur-20_02_19_14harm50sec"
    done = run(
        *("payload", folder / "ur10e.urdf", "--json", "--out", tmp_path / "load"),
        *("--loaded", folder / f"{log}Load.csv", "--empty", folder / f"{log}.csv"),
        *("--torque-constant", DE_LUCA, "--other-torque-constant", AUTHORS),
    )
    assert done.code in (0, 1), done.err
    found = done.document
    assert found["mass"] == pytest.approx(WEIGHED, rel=0.10)
    (other,) = found["others"].values()
    low, high = found["interval95"]["mass"]
    assert low < WEIGHED < high
    assert low < found["mass"] < high < 1.3 * WEIGHED
    # Noise alone leaves far less open than the two sets of constants do.
    noise, constants = (found["deviations"][source]["mass"] for source in ("noise", "torque constants"))
    assert noise < 0.1 * constants
    assert noise < 0.05 * abs(found["mass"] - other)
    (check,) = [check for check in found["checks"] if check["name"] == "mass"]
    assert "by noise" in check["message"]
    assert "by torque constants" in check["message"]
    assert "2.4" in (tmp_path / "load" / "report.html").read_text()
