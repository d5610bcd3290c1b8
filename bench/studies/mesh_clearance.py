"""Meshes in clearance: what one hull a mesh costs, and whether what is designed with them touches anything.

Every arm of one chain among the public descriptions whose meshes are at hand (`../shared/robots`, and the
package example-robot-data where it is installed or on ROS_PACKAGE_PATH). Of each, at random positions: how
many are free by our covers of 48 corners and a radius, how many by convex hulls, and how many by the meshes
themselves, as Pinocchio and Coal read them; and of the pairs that our covers leave in doubt, how many the
meshes would settle. Then a motion is designed, and looked at ten thousand times a second. About half an hour.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.errors import SteelyardError
from steelyard.finding import Severity
from steelyard.limits import Clearance, clearance_of
from steelyard.robot import Robot
from steelyard.robot.descriptions.packages import find_package
from steelyard.workflows.excitation import DesignedMotion
from steelyard.workflows.surroundings import SHAPELESS
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_meshes import MeshJudge

SHARED = Path(__file__).resolve().parents[3] / "shared" / "robots"
DATA = "example-robot-data"
MOST_JOINTS = 8
REPEATED = ("_joint_limited_robot", "_continuous", "_collision", "so101")
"""Files that describe an arm again, with other limits or shapes, and one whose meshes take an hour."""
POSES, RATE, COARSE, PERIOD, ROUNDS, SEED = 200, 10_000.0, 20.0, 5.0, 2, 20261118
DISTANCE = 2e-3
"""How far everything stays apart, m: some arms are drawn with less than the usual centimetre at home."""
ALIKE = 2e-3
"""How near two positions are for rounded angles, which Pinocchio takes as they are written, to matter, m."""


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm whose meshes are at hand: its file, where packages lie, the robot, and its clearance."""

    name: str
    file: Path
    path: tuple[str, ...]
    robot: Robot
    clearance: Clearance

    def judge(self, *, doubtful: bool = False) -> MeshJudge:
        """Pinocchio's reading, of the pairs that are kept apart, or of those that are left in doubt."""
        doubts = {
            x.place
            for x in self.clearance.findings
            if x.code == "overlapping-pair" and x.severity is not Severity.INFO
        }
        left = [pair for pair in self.clearance.excluded if pair.name in doubts]
        built = [pair for pair in self.clearance.excluded if pair.name not in doubts]
        folders = [_folder(text) for text in self.path]
        if doubtful:
            return MeshJudge(self.file, folders, self.robot, left, built)
        return MeshJudge(self.file, folders, self.robot, self.clearance.pairs, self.clearance.excluded)


def _folder(text: str) -> Path:
    """A folder that holds packages; one that is called otherwise than its package is linked to."""
    name, equals, folder = text.partition("=")
    if not equals:
        return Path(text)
    here = Path(tempfile.mkdtemp(prefix="packages-"))
    (here / name).symlink_to(folder)
    return here


def arms() -> Iterator[Arm]:
    """Every arm of which all meshes are at hand."""
    data = find_package(DATA)
    path = [] if data is None else [str(data.parent)]
    files = [*SHARED.rglob("*.urdf"), *([] if data is None else data.rglob("*.urdf"))]
    for file in sorted(files):
        if file.stem.endswith(REPEATED):
            continue
        folders = (*path, f"lbr_description={file.parent}") if file.stem.startswith("med") else tuple(path)
        try:
            robot = _held(sy.load(file, package_path=folders))
            if robot.nv > MOST_JOINTS or any(joint.nv != 1 for joint in robot.joints):
                continue
            if any(link.body is None for link in robot.links) or not _serial(robot):
                continue
            clearance = clearance_of(robot)
        except SteelyardError:
            continue
        if any(x.code in SHAPELESS for x in clearance.findings):
            continue
        if len(clearance.pairs) < 2:
            continue
        yield Arm(f"{file.parent.name}/{file.stem}", file, folders, robot, clearance)


def _serial(robot: Robot) -> bool:
    return all(joint.parent == k - 1 for k, joint in enumerate(robot.joints))


def _held(robot: Robot) -> Robot:
    """Fingers that follow one another are held still."""
    leaders = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}
    at = {x.name: min(max(0.0, x.limits.lower), x.limits.upper) for x in robot.joints if x.name in leaders}
    return robot.locked(at) if at else robot


def _poses(robot: Robot, count: int) -> np.ndarray:
    low, high = (robot.limit_array(name) for name in ("lower", "upper"))
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    return np.random.default_rng(SEED).uniform(low, high, (count, robot.nv))


@dataclass(frozen=True)
class Room:
    """What one hull a mesh costs: shares of free positions, and pairs in doubt of which meshes are apart."""

    covers: float
    hulls: float
    meshes: float
    doubtful: int
    settled: int
    pairs: int


def room_of(arm: Arm, count: int = POSES) -> Room:
    """Count free positions by covers, hulls and meshes, of the shapes that are watched whole."""
    q, judge = _poses(arm.robot, count), arm.judge()
    meshes = [float(judge.distances(x).min(initial=np.inf)) > 0.0 for x in q]
    hulls = [float(judge.hull_distances(x).min(initial=np.inf)) > 0.0 for x in q]
    covers = arm.clearance.distances(q).min(axis=1) > 0.0
    doubts = arm.judge(doubtful=True)
    apart = doubts.distances(arm.robot.rest_pose) > 0.0
    return Room(
        float(np.mean(covers)),
        float(np.mean(hulls)),
        float(np.mean(meshes)),
        sum(bool(x) for x in doubts.pairs),
        int(apart.sum()),
        len(arm.clearance.pairs),
    )


@dataclass(frozen=True)
class Driven:
    """A designed motion: what is proven to be left, and what the judge saw.

    Attributes:
        proven: least distance of all pairs, m.
        seen: least distance at `COARSE`, m.
        nearer: pairs that are nearer than proven by more than `ALIKE` at some sample of `RATE`.
        certified: whether all was covered.
        unproven: why there is no proof; empty where there is one.
    """

    proven: float
    seen: float
    nearer: int
    certified: bool
    unproven: str = ""


def driven(arm: Arm, rate: float = RATE) -> Driven:
    """Design a motion for an arm, and look at its meshes."""
    found = sy.excite(
        arm.robot,
        rounds=ROUNDS,
        seed=0,
        period=PERIOD,
        distance=DISTANCE,
        floor="none",
        velocity=2.0,
        without="torque,acceleration",
    )
    assert isinstance(found, DesignedMotion)
    if found.certificate is None:
        return Driven(np.nan, np.nan, 0, False, found.reason)
    judge = replace(arm, clearance=found.limits.clearance or arm.clearance).judge()
    proven = found.limits.distance + found.proven["clearance"]["margin"]
    every, some = (np.linspace(0.0, PERIOD, round(hertz * PERIOD) + 1) for hertz in (rate, COARSE))
    # Where less than 2 mm are proven, at least that nothing touches.
    limit = max(proven - ALIKE, 1e-6)
    nearer = {name for q in found.motion.sample(every).q for name in judge.nearer(q, limit)}
    seen = min(float(judge.distances(q, 2.0 * proven).min()) for q in found.motion.sample(some).q)
    return Driven(proven, seen, len(nearer), found.certified)


def run() -> Study:
    """Every arm."""
    rows, touching, below, unproven, gains = [], 0, 0, 0, []
    for arm in arms():
        room = room_of(arm)
        gains.append(room.meshes - room.covers)
        try:
            end = driven(arm)
        except SteelyardError as error:
            end = Driven(np.nan, np.nan, 0, False, str(error))
        unproven += bool(end.unproven)
        touching += bool(end.seen <= 0.0)
        below += end.nearer
        rows.append(_row(arm, room, end))
        print(rows[-1], flush=True)
    head = [
        "| arm | pairs | free by covers, % | by hulls, % | by meshes, % | pairs in doubt | of these apart by "
        "their meshes | proven, mm | seen, mm | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return Study(
        "Meshes in clearance",
        f"{len(rows)} public arms with their meshes; {POSES} positions each, and a motion of {PERIOD:g} s "
        f"after {ROUNDS} searches, judged by Pinocchio and Coal, which read descriptions and meshes alone.",
        (
            Bound("arms looked at", len(rows), 3, atmost=False),
            Bound("motions seen to touch", touching, 0),
            Bound(f"pairs nearer than proven at 10 kHz by more than {1e3 * ALIKE:g} mm", below, 0),
            Bound("motions that could not be designed and proven", unproven, len(rows) // 4),
            Bound("free positions lost to covers, mean, %", 100.0 * float(np.mean(gains)), 15.0),
        ),
        table="\n".join([*head, *rows]),
    )


def _row(arm: Arm, room: Room, end: Driven) -> str:
    shares = " | ".join(f"{100.0 * x:.1f}" for x in (room.covers, room.hulls, room.meshes))
    distances = " | ".join("" if np.isnan(x) else f"{1e3 * x:.1f}" for x in (end.proven, end.seen))
    word = end.unproven[:80] if end.unproven else "certified" if end.certified else "certified in part"
    return (
        f"| {arm.name} | {room.pairs} | {shares} | {room.doubtful} | {room.settled} | {distances} | {word} |"
    )
