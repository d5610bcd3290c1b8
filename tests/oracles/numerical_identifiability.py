"""What numbers alone say about identifiability: rank, nullspace and classes from Pinocchio's regressors.

Slow rewrites of the definitions (Wensing et al. 2024, Table 3): a parameter out of reach has a zero column,
one known alone takes part in no unseen change, and the base parameters are the columns that are independent
of those before them in the order of preference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_states
from steelyard.identifiable import Class, Identifiability, structural_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.robot.joint import Mimic

# A structurally zero column carries round-off and must not be normalised into a unit column.
DEAD = 1e-11
KEPT = 1e-7
TINY = 1e-9
TABLE_ORDER = (0, 1, 2, 3, 4, 6, 9, 8, 7, 5)
"""m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy: down the columns of the tables of Wensing et al. (2024)."""

_DRIVE: dict[str, Callable[[float, float], float]] = {
    "viscous": lambda v, _a: v,
    "coulomb": lambda v, _a: float(np.sign(v)),
    "asymmetric": lambda v, _a: abs(v),
    "offset": lambda _v, _a: 1.0,
    "rotor": lambda _v, a: a,
}


def stacked_regressor(
    robot: Robot, layout: Layout, rng: np.random.Generator, *, samples: int = 0, static: bool = False
) -> np.ndarray:
    """Pinocchio's W over random states, (N nv, p); drive columns and ties are written from their definitions.

    Args:
        robot: the robot; it may have joints that mimic others.
        layout: the order of the columns.
        rng: source of the states.
        samples: how many; by default enough for four times as many rows as columns.
        static: whether nothing moves.
    """
    samples = samples or 4 * layout.size // robot.nv + 20
    q, v, a = random_states(rng, robot, samples)
    if static:
        v, a = np.zeros_like(v), np.zeros_like(a)
    judge = PinocchioRobot.of(robot.untied)
    follow_q, shift = _follow(robot, "nq")
    follow, _ = _follow(robot, "nv")
    driven = np.flatnonzero([joint.kind.nv == 1 for joint in robot.joints])
    row = np.cumsum([0, *(joint.kind.nv for joint in robot.joints)])
    W = np.zeros((samples, robot.nv, layout.size))
    for n in range(samples):
        rates, accelerations = follow @ v[n], follow @ a[n]
        Y = np.zeros((len(follow), layout.size))
        Y[:, : 10 * len(robot.links)] = judge.regressor(follow_q @ q[n] + shift, rates, accelerations)
        for k, i in enumerate(driven):
            for t, term in enumerate(layout.drive):
                column = 10 * len(robot.links) + len(layout.drive) * k + t
                Y[row[i], column] = _DRIVE[term](rates[row[i]], accelerations[row[i]])
        W[n] = follow.T @ Y
    return W.reshape(-1, layout.size)


def _follow(robot: Robot, size: str) -> tuple[np.ndarray, np.ndarray]:
    """The matrix and shift from independent coordinates to those of all joints, by the rule of a mimic."""
    starts = dict(
        zip(robot.joint_names, np.cumsum([0, *(getattr(j, size) for j in robot.joints)]), strict=False)
    )
    total = sum(getattr(joint, size) for joint in robot.joints)
    rows, shift = [], []
    for joint in robot.joints:
        rule = joint.mimic or Mimic(joint.name)
        for k in range(getattr(joint.kind, size)):
            rows.append(rule.multiplier * np.eye(total)[starts[rule.joint] + k])
            shift.append(rule.offset)
    return np.array(rows), np.array(shift)


@dataclass(frozen=True)
class Numbers:
    """What a regressor says.

    Attributes:
        rank: number of independent columns.
        kept: smallest singular value that counts, columns being normalised.
        dropped: largest that does not.
        classes: class of each column.
    """

    rank: int
    kept: float
    dropped: float
    classes: tuple[Class, ...]


def numbers(W: np.ndarray, order: Sequence[int]) -> Numbers:
    """Rank and classes of the columns of a regressor, preferred in the order given."""
    norms = np.linalg.norm(W, axis=0)
    alive = np.flatnonzero(norms > DEAD * norms.max()) if norms.any() else np.zeros(0, dtype=int)
    if alive.size == 0:
        return Numbers(0, 1.0, 0.0, (Class.UNIDENTIFIABLE,) * W.shape[1])
    R = np.linalg.qr(W[:, alive] / norms[alive], mode="r")
    _, singular, Vt = np.linalg.svd(R)
    rank = int((singular > KEPT * singular[0]).sum())
    taking_part = np.abs(Vt[rank:]).max(axis=0, initial=0.0) > KEPT
    base = _independent(R, [list(alive).index(k) for k in order if k in alive])
    classes = [Class.UNIDENTIFIABLE] * W.shape[1]
    for k, column in enumerate(alive):
        if k not in base:
            classes[column] = Class.GROUPED
        else:
            classes[column] = Class.BASE if taking_part[k] else Class.ALONE
    dropped = singular[rank] / singular[0] if rank < singular.size else 0.0
    return Numbers(rank, float(singular[rank - 1] / singular[0]), float(dropped), tuple(classes))


def _independent(R: np.ndarray, order: Sequence[int]) -> set[int]:
    """The columns that are independent of those before them."""
    Q = np.zeros((R.shape[0], 0))
    chosen = set()
    for k in order:
        x = R[:, k] - Q @ (Q.T @ R[:, k])
        x = x - Q @ (Q.T @ x)
        if np.linalg.norm(x) > KEPT:
            Q = np.column_stack([Q, x / np.linalg.norm(x)])
            chosen.add(k)
    return chosen


def preference(robot: Robot, layout: Layout) -> list[int]:
    """Body after body in the order of the tables, bodies that move with one coordinate together.

    After the links of a coordinate come its armatures, its offsets and its friction.
    """
    leaders = [joint.name if joint.mimic is None else joint.mimic.joint for joint in robot.joints]
    order: list[int] = []
    for leader in dict.fromkeys(leaders):
        mine = [i for i, name in enumerate(leaders) if name == leader]
        mine.sort(key=lambda i: robot.joints[i].mimic is not None)
        order += [10 * i + k for i in mine for k in TABLE_ORDER]
        terms = sorted(layout.drive, key=lambda term: (term != "rotor", term != "offset"))
        for term in terms if robot.joints[mine[0]].kind.nv == 1 else ():
            order += [layout.index(f"{robot.joints[i].name}.{term}") for i in mine]
    return order


@dataclass(frozen=True)
class Judgement:
    """How far the structure found for a robot is from what numbers say.

    Attributes:
        found: what is judged.
        seen: what numbers say, on oversampled random states.
        wrong_classes: parameter, class found, class seen.
        torque: largest torque of an unseen change on other states, over the largest regressor entry.
        descriptor: largest entry of descriptor times nullspace, relative.
        rebuilt: largest entry of W - W[:, columns] K on these states, relative.
        dimension: number of independent unseen changes.
    """

    found: Identifiability
    seen: Numbers
    wrong_classes: tuple[tuple[str, Class, Class], ...]
    torque: float
    descriptor: float
    rebuilt: float
    dimension: int


def judge_structure(robot: Robot, drive: Sequence[str], seed: int, *, static: bool = False) -> Judgement:
    """Compare structure and numbers of a robot."""
    layout = layout_of(robot, drive)
    found = structural_identifiability(robot, layout, static=static)
    rng = np.random.default_rng(seed)
    seen = numbers(stacked_regressor(robot, layout, rng, static=static), preference(robot, layout))
    pairs = zip(layout.names, found.classes, seen.classes, strict=True)
    W = stacked_regressor(robot, layout, rng, samples=25, static=static)
    N = found.nullspace / np.abs(found.nullspace).max(axis=0, initial=0.0)
    largest = np.abs(W).max() or 1.0
    base = found.base
    return Judgement(
        found,
        seen,
        tuple(pair for pair in pairs if pair[1] != pair[2]),
        float(np.abs(W @ N).max(initial=0.0) / largest),
        float(np.abs(found.descriptor @ N).max(initial=0.0) / np.abs(found.descriptor).max(initial=1e-300)),
        float(np.abs(W - W[:, base.columns] @ base.matrix).max() / largest),
        int(np.linalg.matrix_rank(N)),
    )


def assert_numbers_agree(robot: Robot, drive: Sequence[str], seed: int, *, static: bool = False) -> None:
    """Count, classes, nullspace, descriptor and base parameters all hold, and the judge is in no doubt."""
    judged = judge_structure(robot, drive, seed, static=static)
    found, seen = judged.found, judged.seen
    assert seen.kept > 1e5 * seen.dropped, "the judge is in doubt"
    assert found.count == seen.rank
    assert judged.wrong_classes == ()
    assert max(judged.torque, judged.descriptor, judged.rebuilt) <= TINY
    assert judged.dimension == found.layout.size - found.count == found.nullspace.shape[1]
    assert np.linalg.matrix_rank(found.descriptor / found.scales, rtol=KEPT) == found.count
