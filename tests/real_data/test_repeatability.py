"""Two logs of a real robot, identified apart, agree as often as their intervals claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cli.running import run
from real_data.test_real_data import UR10E_CONSTANTS
from shared_material import DATA, needs_shared

pytestmark = needs_shared

KEYS = ("interval95_random", "interval95")


def _ends(document: dict[str, Any], name: str) -> np.ndarray:
    return np.array([[float(end) for end in line[name]] for line in document["base"]])


def test_two_days_of_the_ur10e_agree_and_no_finding_says_otherwise(tmp_path: Path) -> None:
    logs, found = DATA / "ur10e", []
    for k, name in enumerate(("ur-20_02_10-30sec_12harm.csv", "ur-20_02_12-40sec_12harm.csv")):
        words = ("identify", logs / "ur10e.urdf", logs / name, "--method", "wls", "--json")
        done = run(*words, "--out", tmp_path / f"{k}", "--torque-constant", UR10E_CONSTANTS)
        assert done.code in (0, 1), done.err
        found.append(done.document)
    values = [np.array([line["value"] for line in one["base"]]) for one in found]
    random, both = ([np.diff(_ends(one, key))[:, 0] / 2.0 for one in found] for key in KEYS)
    within = np.abs(values[0] - values[1]) <= np.hypot(*random)
    # Without a drift of friction it is 0.86.
    assert within.mean() >= 0.93
    for one, r, b in zip(found, random, both, strict=True):
        assert (b > r).all(), "an error of the torque constants is in, 10 % where nothing is said"
        codes = {finding["code"] for finding in one["findings"]}
        assert "friction-drift" in codes
        assert "biased-motion" not in codes
        (check,) = [check for check in one["checks"] if check["name"] == "intervals"]
        assert check["status"] == "pass", "drift is not weak excitation"
