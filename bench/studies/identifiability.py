"""Structural identifiability beside Pinocchio: trees, rotors, robots; Table 6 of Wensing et al. (2024)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.gallop import table_6
from oracles.mixed_trees import mixed_tree, rotor_tree
from oracles.numerical_identifiability import judge_structure
from shared_material import DATA, robot_files
from steelyard.robot import JointKind, Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

TREES, ROTOR_TREES = 300, 120
ALL = ("viscous", "coulomb", "offset", "rotor")
DRIVES: tuple[Sequence[str], ...] = ((), ("rotor",), ("offset",), ALL, ("viscous", "coulomb", "asymmetric"))
TINY = 1e-9


@dataclass(frozen=True)
class Case:
    """One question: a robot, its drive terms, and whether it only ever rests."""

    name: str
    robot: Robot
    drive: Sequence[str]
    static: bool = False


def run() -> Study:
    """Judge every case; a count or a class that differs is a failure."""
    figures: list[Bound] = []
    extra: dict[str, Any] = {}
    for group, cases in (("random trees", _trees()), ("rotor trees", _rotor_trees()), ("robots", _robots())):
        bounds, extra[group] = _judged(group, cases)
        figures += bounds
    bounds, extra["Table 6"] = _lesson()
    return Study(
        "Structural identifiability",
        f"{TREES} random trees of revolute, prismatic, helical, spherical and floating joints, some tied to "
        f"their siblings; {ROTOR_TREES} with rotors of any axis, place and ratio; and every robot of the zoo "
        "and of the public descriptions at hand, held and floating, with and without gravity and drives. The "
        "rank and the classes are judged by Pinocchio's regressors at oversampled random states, nullspace "
        "and base parameters on other states. Table 6 of Wensing et al. (2024): a leg identified on a bench "
        "and used on a galloping robot, against one identified while galloping; RMS errors.",
        (*figures, *bounds),
        extra,
    )


def _judged(group: str, cases: Iterable[Case]) -> tuple[list[Bound], dict[str, Any]]:
    wrong, doubtful, worst, count = [], [], 0.0, 0
    judge_kept, judge_dropped, kept, dropped = 1.0, 0.0, np.inf, 0.0
    for count, case in enumerate(cases, start=1):
        judged = judge_structure(case.robot, case.drive, seed=count, static=case.static)
        found, seen = judged.found, judged.seen
        if found.count != seen.rank or judged.wrong_classes:
            wrong.append([case.name, list(case.drive), case.static, found.count, seen.rank])
        if found.doubtful:
            doubtful.append([case.name, list(case.drive), found.kept, found.dropped])
        kept, dropped = min(kept, found.kept), max(dropped, found.dropped)
        worst = max(worst, judged.torque, judged.descriptor, judged.rebuilt)
        judge_kept, judge_dropped = min(judge_kept, seen.kept), max(judge_dropped, seen.dropped)
    bounds = [
        Bound(f"{group}: wrong counts or classes", len(wrong), 0, note=f"of {count} cases"),
        Bound(f"{group}: unseen changes and base parameters, largest error", worst, TINY, note="relative"),
        Bound(
            f"{group}: largest length not counted",
            dropped,
            1e-11,
            note=f"smallest counted {kept:.1e}; {len(doubtful)} cases say that they are in doubt",
        ),
        Bound(
            f"{group}: gap of the judge's singular values",
            judge_kept / max(judge_dropped, 1e-300),
            1e5,
            atmost=False,
        ),
    ]
    return bounds, {"cases": count, "wrong": wrong, "doubtful": doubtful}


def _trees() -> Iterator[Case]:
    for seed in range(TREES):
        robot = mixed_tree(np.random.default_rng(seed))
        yield Case(f"tree {seed}", robot, DRIVES[seed % len(DRIVES)], static=seed % 7 == 6)


def _rotor_trees() -> Iterator[Case]:
    for seed in range(ROTOR_TREES):
        yield Case(f"rotor tree {seed}", rotor_tree(np.random.default_rng(seed)), DRIVES[seed % len(DRIVES)])


def _robots() -> Iterator[Case]:
    robots = [zoo_robot(name) for name in ZOO]
    files = [*robot_files(".urdf"), *robot_files(".xml"), *DATA.rglob("xmate7p/*.urdf")]
    robots += [load_robot(path, snap=True) for path in files]
    for robot in robots:
        parents = {joint.name: joint.parent for joint in robot.joints}
        if any(joint.mimic and parents[joint.mimic.joint] != joint.parent for joint in robot.joints):
            continue  # a closed loop, refused
        named = replace(robot, base=replace(robot.base, name="trunk"))
        held = all(joint.kind is not JointKind.FLOATING for joint in robot.joints)
        for variant in (named, named.floating()) if held else (named,):
            for drive in ((), ALL):
                yield Case(robot.name, variant, drive)
                yield Case(robot.name, variant.with_gravity(np.zeros(3)), drive)


def _lesson() -> tuple[list[Bound], dict[str, Any]]:
    errors = table_6().errors
    wrong = errors["fixed", "floating"]
    bounds = [
        Bound("gallop: identified floating, judged floating", errors["floating", "floating"].max(), 1e-6),
        Bound("gallop: identified floating, judged on the bench", errors["floating", "fixed"].max(), 1e-6),
        Bound("gallop: identified on the bench, judged there", errors["fixed", "fixed"].max(), 1e-6),
        Bound("gallop: bench leg floating, force on the torso, N", wrong[:3].min(), 0.1, atmost=False),
        Bound("gallop: bench leg floating, torque on the torso, N·m", wrong[3:6].min(), 0.1, atmost=False),
        Bound("gallop: bench leg floating, ab/ad torque, N·m", wrong[6], 0.1, atmost=False),
        Bound("gallop: bench leg floating, hip torque, N·m", wrong[7], 0.1, atmost=False),
        Bound("gallop: bench leg floating, knee torque, N·m", wrong[8], 1e-6),
    ]
    table = {f"identified {a}, judged {b}": [float(x) for x in rms] for (a, b), rms in errors.items()}
    return bounds, table
