"""Real logs by `identify`: the figures of docs/real-data.md against their bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from tables import Bound, Study

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Case:
    """A robot with its logs, in a folder of the data.

    Attributes:
        folder: its name.
        robot: file of the description.
        logs: files to identify from.
        holdout: file of another motion; None to keep a stretch of the last log apart.
        options: others of `identify`.
    """

    folder: str
    robot: str
    logs: tuple[str, ...]
    holdout: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def identified(self) -> Identification:
        """What `identify` finds, whose verdict may be fail; nothing is written."""
        beside = DATA / self.folder
        apart = None if self.holdout is None else beside / self.holdout
        return identify(
            beside / self.robot, [beside / log for log in self.logs], holdout=apart, **self.options
        )


CASES = {
    "UR10e": Case(
        "ur10e",
        "ur10e.urdf",
        ("ur-20_02_12-50sec_12harm.csv", "ur-20_02_12-40sec_12harm.csv"),
        "ur-20_02_10-30sec_12harm.csv",
        {"torque_constant": (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)},
    ),
    "Panda": Case(
        "panda_gaz", "panda.urdf", ("trajectory_1.csv",), options={"lock": {"panda_finger_joint1": 0}}
    ),
    "UR10, bag": Case("ur10_panda_unisa", "ur10_robot.urdf", ("ur10_exciting_trajectory.db3",)),
    "UR10, table": Case("ur10_panda_unisa", "ur10_robot.urdf", ("ur10_exciting_trajectory.csv",)),
    "xMate7p": Case("xmate7p", "XM7p.urdf", ("traj1.csv",), "traj2.csv"),
    "LWR4+": Case("kuka_lwr4", "kuka_lwr4.urdf", ("measurements_1.csv",), "measurements_2.csv"),
}


def run() -> Study:
    """Run every command and hold its figures against their bounds."""
    if not DATA.is_dir():
        raise FileNotFoundError(f"the logs are not here: {DATA}")
    found = {name: case.identified().document for name, case in CASES.items()}
    held = {name: answer["holdout"]["overall"] for name, answer in found.items()}
    joints = {name: max(answer["holdout"]["joints"].values()) for name, answer in found.items()}
    apart = abs(held["UR10, bag"] - held["UR10, table"])
    figures = (
        Bound("UR10e: held-out torque error, percent", held["UR10e"], 5.0),
        Bound("UR10e: that of its worst joint, percent", joints["UR10e"], 12.0),
        Bound(
            "Panda, by phase: held-out torque error, percent", held["Panda"], 2.5, note=_apart(found["Panda"])
        ),
        Bound("UR10 from a bag: held-out torque error, percent", held["UR10, bag"], 8.0),
        Bound("UR10: bag and table differ by, percent", apart, 0.01),
        Bound("xMate7p: error on the same motion scaled, percent", held["xMate7p"], 5.0),
        *(Bound(f"{name}: repeats named", _named(found[name]), 1, False) for name in ("xMate7p", "LWR4+")),
        Bound("LWR4+: weak excitation named", _weak(found["LWR4+"]), 1, False),
        Bound("UR10e: weak excitation named", _weak(found["UR10e"]), 0),
        *(bound for name, answer in found.items() for bound in _believable(name, answer)),
    )
    return Study(
        "Real logs",
        "Each robot by one command, `steelyard identify`; see docs/real-data.md for the logs, the commands "
        "and the limits. Errors are in percent of the torque's rms, compared in the band of the motion.",
        figures,
        {name: _row(answer) for name, answer in found.items()},
    )


def _believable(name: str, answer: dict[str, Any]) -> tuple[Bound, ...]:
    """Masses and centres of mass beside those described."""
    ratios = [link["mass"] / link["described"]["mass"] for link in answer["links"]]
    total = answer["total_mass"]["estimated"] / answer["total_mass"]["described"]
    moved = max(math.dist(link["com"], link["described"]["com"]) for link in answer["links"])
    return (
        Bound(f"{name}: least mass of a link over the described", min(ratios), 1 / 3, False),
        Bound(f"{name}: largest mass of a link over the described", max(ratios), 3.0),
        Bound(f"{name}: total mass over the described, or its inverse", max(total, 1 / total), 2.0),
        Bound(f"{name}: farthest centre of mass from the described, m", moved, 0.1),
    )


def _apart(answer: dict[str, Any]) -> str:
    return str(answer["holdout"]["log"]).partition(", ")[2]


def _named(answer: dict[str, Any]) -> int:
    return sum(finding["code"] == "repeated-motion" for finding in answer["findings"])


def _weak(answer: dict[str, Any]) -> int:
    return sum("excitation is weak" in check["message"] for check in answer["checks"])


def _row(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": answer["method"],
        "verdict": answer["verdict"],
        "total_mass": answer["total_mass"],
        "links": answer["links"],
        "joints": answer["joints"],
        "price": answer["price"],
        "condition": answer["cond"],
        "train": answer["train"],
        "holdout": answer["holdout"],
        "checks": answer["checks"],
        "seconds": answer["seconds"],
    }
