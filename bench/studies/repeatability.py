"""Two logs of one robot agree as often as their intervals claim: real robots with several recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.problem import Estimate
from steelyard.workflows.identify import identify
from tables import Bound, Study

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DRIVE = ("viscous", "coulomb", "offset", "rotor")
WITHIN = 1.959963984540054


@dataclass(frozen=True)
class Series:
    """Logs of one robot that did not change in between; constants in N·m/A where it logs currents."""

    folder: str
    robot: str
    logs: tuple[str, ...]
    constants: tuple[float, ...] | None = None


SERIES = {
    # The fifth log of this arm was recorded with a load of 2.8 kg: another robot.
    "UR10e": Series(
        "ur10e",
        "ur10e.urdf",
        (
            "ur-20_02_10-30sec_12harm.csv",
            "ur-20_02_12-50sec_12harm.csv",
            "ur-20_02_12-40sec_12harm.csv",
            "ur-20_02_19_14harm50sec.csv",
        ),
        (14.87, 13.26, 11.13, 10.62, 11.03, 11.47),
    ),
    "LWR4+": Series("kuka_lwr4", "kuka_lwr4.urdf", ("measurements_1.csv", "measurements_2.csv")),
    "xMate7p": Series("xmate7p", "XM7p.urdf", ("traj1.csv", "traj2.csv")),
}


@dataclass(frozen=True, eq=False)
class Identified:
    """One log identified by itself: with a drift of friction in its deviations, and by the former method."""

    log: str
    estimate: Estimate
    former: Array
    findings: tuple[str, ...]

    @property
    def offsets(self) -> Array:
        """Which base parameters are offsets."""
        return np.array(["offset" in name for name in self.estimate.base.names])


@dataclass(frozen=True, eq=False)
class Pair:
    """Differences of base parameters between two logs over their combined deviations, now and formerly."""

    logs: tuple[str, str]
    now: Array
    former: Array
    offsets: Array


def run() -> Study:
    """Identify every log by itself and compare each two of a robot."""
    if not DATA.is_dir():
        raise FileNotFoundError(f"the logs are not here: {DATA}")
    found = {name: [identified(series, log) for log in series.logs] for name, series in SERIES.items()}
    pairs = {name: pairs_of(logs) for name, logs in found.items()}
    figures = [
        Bound(
            f"{name}: base parameters within 1.96 combined deviations, share over {len(pairs[name])} pairs",
            _share([pair.now for pair in pairs[name]]),
            0.93,
            atmost=False,
            note=f"formerly {_share([pair.former for pair in pairs[name]]):.3f}",
        )
        for name in SERIES
    ]
    figures += [
        Bound(f"{name}: median width of an interval over the former one", _wider(logs), 1.5)
        for name, logs in found.items()
    ]
    told = sum("biased-motion" in one.findings for logs in found.values() for one in logs)
    figures.append(Bound("logs of which it is said that intervals do not hold", told, 0))
    return Study(
        "Repeatability on real robots",
        "Logs of one robot, each identified by itself by `steelyard.identify` with `wls`, linear drives "
        "and no prior, on all of its motion. Counted are base parameters, offsets among them, that differ "
        "between two logs by less than 1.96 combined deviations. The former method is the same without a "
        "drift of friction. Errors of torque constants are not in the deviations: the logs share them. "
        "The log of the UR10e with a load is left out, since its base parameters truly differ.",
        tuple(figures),
        {name: _summary(found[name], pairs[name]) for name in SERIES},
    )


def identified(series: Series, log: str) -> Identified:
    """One log from its file to deviations, by the data alone: two logs with one prior would agree by it."""
    folder = DATA / series.folder
    fit = identify(
        folder / series.robot,
        folder / log,
        holdout=folder / log,
        method="wls",
        prior="none",
        drive=DRIVE,
        torque_constant=series.constants,
    )
    estimate = fit.estimate
    assert estimate.covariance is not None
    assert estimate.drift is not None
    former = np.sqrt(np.diag(estimate.covariance - estimate.drift))
    return Identified(log, estimate, former, tuple(finding.code for finding in fit.findings))


def pairs_of(logs: Sequence[Identified]) -> list[Pair]:
    """Each two logs."""
    found = []
    for one, other in combinations(logs, 2):
        apart = np.abs(one.estimate.values - other.estimate.values)
        now = apart / np.hypot(one.estimate.deviations, other.estimate.deviations)
        found.append(Pair((one.log, other.log), now, apart / np.hypot(one.former, other.former), one.offsets))
    return found


def _share(apart: Sequence[Array]) -> float:
    return float(np.mean(np.concatenate(apart) < WITHIN))


def _wider(logs: Sequence[Identified]) -> float:
    ratios = np.concatenate([one.estimate.deviations / one.former for one in logs])
    return float(np.median(ratios[np.isfinite(ratios)]))


def _summary(logs: Sequence[Identified], pairs: Sequence[Pair]) -> dict[str, Any]:
    plain = ~logs[0].offsets
    friction = np.array(["viscous" in n or "coulomb" in n for n in logs[0].estimate.base.names])
    return {
        "base parameters": len(plain),
        "share": round(_share([pair.now for pair in pairs]), 4),
        "share, formerly": round(_share([pair.former for pair in pairs]), 4),
        "share without offsets": round(_share([pair.now[plain] for pair in pairs]), 4),
        "share without offsets, formerly": round(_share([pair.former[plain] for pair in pairs]), 4),
        "share of friction": round(_share([pair.now[friction] for pair in pairs]), 4),
        "share of friction, formerly": round(_share([pair.former[friction] for pair in pairs]), 4),
        "largest difference, deviations": round(max(float(pair.now.max()) for pair in pairs), 2),
        "largest difference, deviations, formerly": round(max(float(p.former.max()) for p in pairs), 2),
        "median width over the former one": round(_wider(logs), 4),
        "median width of friction over the former one": round(
            float(np.median([one.estimate.deviations[friction] / one.former[friction] for one in logs])), 3
        ),
        "pairs": {
            f"{pair.logs[0]} and {pair.logs[1]}": {
                "share": round(_share([pair.now]), 4),
                "formerly": round(_share([pair.former]), 4),
                "without offsets": round(_share([pair.now[plain]]), 4),
            }
            for pair in pairs
        },
        "findings": {one.log: list(one.findings) for one in logs},
    }
