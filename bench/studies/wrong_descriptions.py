"""Descriptions and logs that are wrong in a known way: does `identify` pass the right one and name the wrong?

A log is simulated once for each arm and seed; every case then spoils the description, or the log, and is
identified as the command does. What a mistake costs is the torque left unexplained on the stretch held out,
beyond that of the right case. A mistake is one *that a log can show* where it costs at least `SHOWN`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import steelyard
from steelyard.arrays import Array
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording, read, write
from steelyard.robot import Robot
from steelyard.signals import without_delay
from steelyard.simulation import simulate_motion
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("lbr_med7", "panda", "ur10e")
SEEDS = 5
RIGHT_SEEDS = 34
"""Logs of each arm that the right description is judged on: about a hundred for all."""
WORKERS = 2
ROOMS = ("audit", "consistency", "estimation", "problem", "signals", "uncertainty", "workflows")
PERIOD, HARMONICS = 24.0, 10
COSTLY = 5.0
"""Unexplained torque, percent, beyond that of the right case, from which on a mistake must fail."""
SHOWN = 0.5
"""The same from which on a log shows a mistake at all."""
RIGHT = "truth"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "steelyard" / "wrong_descriptions"

Spoilt = tuple[Robot, Recording]


@dataclass(frozen=True)
class Case:
    """One mistake.

    Attributes:
        name: what is wrong.
        spoil: makes the description or the log wrong.
        codes: codes of the findings that name it.
        place: joint that such a finding must name, counted from 1; 0 for none.
    """

    name: str
    spoil: Callable[[Robot, Recording], Spoilt]
    codes: tuple[str, ...] = ()
    place: int = 0


@dataclass(frozen=True)
class Outcome:
    """What became of a case on one arm."""

    robot: str
    seed: int
    case: str
    verdict: str
    held_out: float
    speaking: dict[str, str]
    causes: list[tuple[str, str, str]]

    def names(self, case: Case, robot: Robot) -> bool:
        """Whether a finding says what is wrong."""
        return any(self._is(code, place, case, robot) for code, place, _ in self.causes)

    def misnames(self, case: Case, robot: Robot) -> bool:
        """Whether a finding says that something else is wrong."""
        return any(not self._is(code, place, case, robot) for code, place, _ in self.causes)

    def _is(self, code: str, place: str, case: Case, robot: Robot) -> bool:
        joints = robot.joint_names
        return code in case.codes and (case.place == 0 or joints[case.place - 1] in place.split(", "))


def _joint(robot: Robot, k: int, **changed: Any) -> Robot:
    joints = tuple(replace(j, **changed) if i == k - 1 else j for i, j in enumerate(robot.joints))
    return replace(robot, joints=joints)


def _longer(k: int, share: float) -> Callable[[Robot, Recording], Spoilt]:
    def spoil(robot: Robot, log: Recording) -> Spoilt:
        pose = robot.joints[k - 1].placement
        return _joint(robot, k, placement=Pose(pose.rotation, (1.0 + share) * pose.translation)), log

    return spoil


def _tilted(k: int, degrees: float) -> Callable[[Robot, Recording], Spoilt]:
    def spoil(robot: Robot, log: Recording) -> Spoilt:
        joint = robot.joints[k - 1]
        # About a direction across the axis, so that the whole angle tilts it.
        across = np.roll(np.eye(3)[int(np.argmax(np.abs(joint.axis)))], 1)
        turn = Pose.from_rpy(np.deg2rad(degrees) * across)
        return _joint(robot, k, placement=joint.placement @ turn), log

    return spoil


def _turned_around(k: int) -> Callable[[Robot, Recording], Spoilt]:
    return lambda robot, log: (_joint(robot, k, axis=-robot.joints[k - 1].axis), log)


def _mounted(degrees: float) -> Callable[[Robot, Recording], Spoilt]:
    R = Pose.from_rpy((0.0, np.deg2rad(degrees), 0.0)).rotation
    return lambda robot, log: (robot.with_gravity(R @ robot.gravity), log)


def _channels(names: str, change: Callable[[Array], Array]) -> Callable[[Robot, Recording], Spoilt]:
    def spoil(robot: Robot, log: Recording) -> Spoilt:
        return robot, log.with_channels(**{name: change(log.channels[name]) for name in names.split()})

    return spoil


def _times(k: int, factor: float) -> Callable[[Array], Array]:
    return lambda x: x * np.where(np.arange(x.shape[1]) == k - 1, factor, 1.0)


def _plus(k: int, offset: float) -> Callable[[Array], Array]:
    return lambda x: x + np.where(np.arange(x.shape[1]) == k - 1, offset, 0.0)


def _swapped(j: int, k: int) -> Callable[[Array], Array]:
    def change(x: Array) -> Array:
        order = np.arange(x.shape[1])
        order[[j - 1, k - 1]] = k - 1, j - 1
        return np.asarray(x[:, order])

    return change


def _late(seconds: float) -> Callable[[Robot, Recording], Spoilt]:
    return lambda robot, log: (robot, without_delay(log, -seconds, ["tau"]))


KINEMATICS = ("kinematics-suspected",)
CASES = (
    Case(RIGHT, lambda robot, log: (robot, log)),
    Case("link before joint 3 5 % longer", _longer(3, 0.05), KINEMATICS),
    Case("link before joint 4 5 % longer", _longer(4, 0.05), KINEMATICS),
    Case("link before joint 4 20 % longer", _longer(4, 0.20), KINEMATICS),
    Case("axis of joint 3 tilted 5 deg", _tilted(3, 5.0), KINEMATICS),
    Case("axis of joint 3 tilted 20 deg", _tilted(3, 20.0), KINEMATICS),
    Case("axis of joint 2 turned around", _turned_around(2), ("joint-direction",), 2),
    Case("axis of joint 5 turned around", _turned_around(5), ("joint-direction",), 5),
    Case("torque of joint 1 times 1.3", _channels("tau", _times(1, 1.3)), ("torque-scale",), 1),
    Case("torque of joint 2 times 1.3", _channels("tau", _times(2, 1.3)), ("torque-scale",), 2),
    Case("torque of joint 5 times 1.3", _channels("tau", _times(5, 1.3)), ("torque-scale",), 5),
    Case("gear of joint 2: q times 1.05", _channels("q v", _times(2, 1.05)), ("gear-ratio",), 2),
    Case("gear of joint 4: q times 1.1", _channels("q v", _times(4, 1.1)), ("gear-ratio",), 4),
    Case("torque 5 ms late", _late(0.005), ("torque-delay",)),
    Case("torque 20 ms late", _late(0.020), ("torque-delay",)),
    Case("zero of joint 2 off by 0.1 rad", _channels("q", _plus(2, 0.1)), ("joint-zero",), 2),
    Case("two torques swapped (4, 5)", _channels("tau", _swapped(4, 5)), ("joint-order",), 4),
    Case("joints in degrees", _channels("q v", lambda x: np.rad2deg(x)), ("degrees-suspected",)),
    Case("base tilted 10 deg (gravity)", _mounted(10.0), ("gravity-direction",)),
)
CAUSES = {code for case in CASES for code in case.codes} | {"torque-sign"}
"""Codes of findings that state a cause."""


def logged(name: str, seed: int) -> tuple[Robot, Recording]:
    """The right description of an arm and a log of it, simulated or as kept."""
    robot = zoo_robot(name)
    path = CACHE / f"{name}-{seed}.npz"
    if not path.exists():
        rng = np.random.default_rng(seed)
        motion = random_fourier(robot, rng, period=PERIOD, harmonics=HARMONICS)
        log = simulate_motion(robot, motion, sensor="industrial", rng=rng)
        # No references: they would tell a wrong position from a right one, and most logs have none.
        log = Recording(log.joints, log.time, q=log.q, v=log.v, tau=log.tau)
        CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"part-{os.getpid()}-{path.name}")
        write(log, part)
        part.replace(path)
    return robot, read(path)


def identified(robot: Robot, log: Recording) -> Identification:
    """What `steelyard identify` finds out from a log and a description."""
    return identify(robot, log)


def judged(name: str, seed: int, case: Case) -> Outcome:
    """Spoil, identify and note what is said."""
    robot, log = case.spoil(*logged(name, seed))
    done = identified(robot, log)
    findings = (*done.findings, *done.estimate.findings)
    return Outcome(
        name,
        seed,
        case.name,
        done.verdict.status.value,
        done.holdout.overall,
        {c.name: f"{c.status.value}: {c.message}" for c in done.verdict.checks if c.status != "pass"},
        [(f.code, f.place, f.message) for f in findings if f.code in CAUSES],
    )


def summary(outcomes: list[Outcome]) -> Study:
    """Hold what was said of all cases against what should be."""
    cases = {case.name: case for case in CASES}
    robots = {name: zoo_robot(name) for name in {o.robot for o in outcomes}}
    truth = {(o.robot, o.seed): o for o in outcomes if o.case == RIGHT}
    wrong = [o for o in outcomes if o.case != RIGHT]
    cost = {id(o): o.held_out - truth[o.robot, o.seed].held_out for o in wrong}
    costly = [o for o in wrong if cost[id(o)] > COSTLY]
    shown = [o for o in wrong if cost[id(o)] > SHOWN]
    named = [o for o in wrong if o.names(cases[o.case], robots[o.robot])]
    misnamed = [o for o in wrong if o.misnames(cases[o.case], robots[o.robot])]
    seen = 100.0 * sum(o in named for o in shown) / max(len(shown), 1)
    rows: dict[str, Any] = {"named although they cost less": sum(cost[id(o)] <= SHOWN for o in named)}
    for case in CASES:
        mine = [o for o in outcomes if o.case == case.name]
        rows[case.name] = {
            "held out, percent": [round(o.held_out, 2) for o in mine],
            "verdicts": dict(Counter(o.verdict for o in mine)),
            "named": sum(o in named for o in mine),
            "named as another's": sum(o in misnamed for o in mine),
            "causes": dict(Counter(code for o in mine for code, _, _ in o.causes)),
        }
    logs = f"of {len(truth)}"
    beside = {(o.robot, o.seed) for o in wrong}
    rows["right cases that warn"] = {
        f"{o.robot}, seed {o.seed}": o.speaking for o in truth.values() if o.verdict != "pass"
    }
    return Study(
        "Wrong descriptions and logs",
        f"{len(CASES) - 1} mistakes and the truth on {len(robots)} arms, `industrial` sensors, one log of "
        f"{PERIOD:g} s each, of which a stretch is held out. A mistake is shown by a log where it costs more "
        f"than {SHOWN:g} % of the torque on the stretch held out, beyond the right case.",
        (
            Bound(
                "right cases beside the mistakes that do not pass",
                sum(truth[key].verdict != "pass" for key in beside),
                0,
                note=f"of {len(beside)}",
            ),
            Bound(
                "right cases with a cause named", sum(bool(o.causes) for o in truth.values()), 0, note=logs
            ),
            Bound("right cases that fail", sum(o.verdict == "fail" for o in truth.values()), 0, note=logs),
            Bound(
                f"mistakes that cost more than {COSTLY:g} % and do not fail",
                sum(o.verdict != "fail" for o in costly),
                0,
                note=f"of {len(costly)}",
            ),
            Bound("mistakes that a log can show, named, percent", seen, 80.0, False, f"of {len(shown)}"),
            Bound("mistakes named as another's", len(misnamed), 0, note=f"of {len(wrong)}"),
        ),
        rows,
    )


def run(seeds: int = SEEDS) -> Study:
    """Judge every case on every arm, and the right one on many more logs.

    Outcomes are written down as soon as they are there and kept for as long as the code stays the same: a
    study that was stopped goes on where it was.
    """
    wanted = [(name, seed, case.name) for seed in range(seeds) for name in ROBOTS for case in CASES]
    right = RIGHT_SEEDS if seeds == SEEDS else seeds
    wanted += [(name, seed, RIGHT) for seed in range(seeds, right) for name in ROBOTS]
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / f"outcomes-{_fingerprint()}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(o.robot, o.seed, o.case): o for o in (Outcome(**json.loads(line)) for line in lines)}
    missing = [key for key in wanted if key not in done]
    with ProcessPoolExecutor(WORKERS) as workers, path.open("a") as journal:
        found = [workers.submit(_named, *key) for key in missing]
        for outcome in (future.result() for future in as_completed(found)):
            journal.write(json.dumps(outcome.__dict__) + "\n")
            journal.flush()
            done[outcome.robot, outcome.seed, outcome.case] = outcome
    return summary([done[key] for key in wanted])


def _named(robot: str, seed: int, case: str) -> Outcome:
    """One outcome; a case goes by its name, since what spoils it cannot be sent to another process."""
    return judged(robot, seed, next(c for c in CASES if c.name == case))


def _fingerprint() -> str:
    """A digest of the code that outcomes rest on, given the logs."""
    package = Path(steelyard.__file__).parent
    files = [file for room in ROOMS for file in sorted((package / room).glob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
