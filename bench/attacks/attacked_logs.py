"""Logs of loaded arms whose every error is known to keep its stated bound, or to break a named assumption.

Arms are written as URDF files and moved by Pinocchio, so that neither torques nor motions come from the code
under attack. The arm that moves differs from its file by the stated share of every number, signs drawn.
Torques either hold between samples, as of a drive that is told once per cycle (the motion is then integrated
under them), or follow a smooth motion.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio

Array = np.ndarray

PATTERNS = ("uniform", "bias", "alternating", "gradient", "with the motion", "corner")
"""How errors at their limits follow each other; see `_shares`."""
EXTENT = 0.3
"""Radius about the tool frame that no payload leaves, m."""
FINER = 8
"""How much finer than its log a smooth motion is searched for its largest acceleration."""
AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
"""Of the joints; an arm of two joints lies in a plane."""


@dataclass(frozen=True)
class Stated:
    """What the command is told of the errors: r, N·m, rad/s, rad, share of the model, s."""

    relative: float
    absolute: float
    velocity: float
    position: float
    model: float
    delay: float = 0.0


@dataclass(frozen=True, eq=False)
class Case:
    """One log: which arm, motion, errors and cut-off, all from one seed."""

    seed: int
    joints: int
    rate: float
    duration: float
    held: bool
    friction: bool
    pattern: str
    cutoff: float | None
    empty: bool
    stated: Stated

    @classmethod
    def drawn(cls, seed: int) -> Case:
        """The case of a seed."""
        rng = np.random.default_rng([20261118, seed])
        held = bool(rng.integers(2))
        tight = bool(rng.integers(2))
        stated = Stated(
            float(rng.choice([0.0, 0.01, 0.025])),
            float(rng.choice([0.02, 0.1])) if tight else float(rng.choice([0.1, 0.3])),
            float(rng.choice([1e-4, 1e-3])),
            float(rng.choice([0.0, 1e-6, 5e-5])),
            float(rng.choice([0.0, 0.001, 0.01, 0.05])),
        )
        return cls(
            seed,
            int(rng.choice([2, 3, 6])),
            float(rng.choice([250.0, 500.0, 1000.0])),
            float(rng.uniform(1.6, 2.2)),
            held,
            bool(rng.integers(2)) and not held,
            PATTERNS[seed % len(PATTERNS)],
            float(rng.uniform(8.0, 40.0)) if rng.integers(2) else None,
            bool(rng.integers(4) == 0),
            stated,
        )


@dataclass(frozen=True, eq=False)
class Attack:
    """Logs on disk and what is true of them.

    Attributes:
        robot: the description.
        ten: of the payload in the tool frame, Pinocchio's order, shape (10,), SI.
        words: options that name the logs and state the errors.
    """

    robot: Path
    ten: Array
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of a run, sample by sample, and the signs that push a fit outwards."""

    case: Case
    time: Array
    q: Array
    v: Array
    tau: Array
    acceleration: Array
    ten: Array
    pulls: Array
    urdf: str
    later: Callable[[float], Array] | None = field(default=None)


@dataclass(frozen=True)
class Break:
    """An assumption that does not hold.

    Attributes:
        name: which.
        log: changes what is logged: time, q, v, tau in, the same out.
        arm: changes the arm that moves, given its Pinocchio model.
        drive: torque that the drives need beyond the description's, of v.
    """

    name: str
    log: Callable[[Truth, Array, Array, Array, Array], tuple[Array, Array, Array, Array]] | None = None
    arm: Callable[[pinocchio.Model], None] | None = None
    drive: Callable[[Array], Array] | None = None


def written(case: Case, folder: Path, broken: Break | None = None) -> Attack:
    """Write the description and the logs of a case.

    Args:
        case: which.
        folder: where to.
        broken: an assumption that does not hold, if any.

    Returns:
        The files and what is true.
    """
    truths = _truths(case, broken)
    robot = folder / f"arm{case.seed}.urdf"
    robot.write_text(truths[0].urdf)
    s, words = case.stated, []
    for what, truth in zip(("loaded", "empty"), truths, strict=False):
        log = _with_errors(truth, np.random.default_rng([20261119, case.seed, what == "empty"]))
        if broken is not None and broken.log is not None:
            log = broken.log(truth, *log)
        words += [f"--{what}", str(_log(folder / f"{what}{case.seed}.csv", case.joints, log))]
    most = np.max([truth.acceleration for truth in truths], axis=0)
    words += [
        *("--way", "model", "--torque-error", f"{s.relative},{s.absolute}", "--model-error", f"{s.model}"),
        *("--velocity-error", f"{s.velocity}", "--position-error", f"{s.position}"),
        *("--heaviest", "4", "--extent", f"{EXTENT}"),
        *("--acceleration", ",".join(f"{a:.17g}" for a in most)),
    ]
    if case.cutoff is not None:
        words += ["--cutoff", f"{case.cutoff:.4g}"]
    return Attack(robot, truths[0].ten, tuple(words))


def _log(path: Path, nv: int, log: tuple[Array, ...]) -> Path:
    names = ["time", *(f"{x}_j{k + 1}" for x in ("q", "v", "tau") for k in range(nv))]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.column_stack(log).tolist())
    return path


def _urdf(case: Case, rng: np.random.Generator) -> tuple[str, Array]:
    """An arm of turning joints, and viscous and Coulomb friction of its drives, shape (nv, 2), SI."""
    nv = case.joints
    drives = rng.uniform([0.1, 0.1], [1.0, 1.5], (nv, 2)) * case.friction
    masses = 8.0 * 0.75 ** np.arange(nv) * rng.uniform(0.7, 1.3, nv)
    length, turns = (0.35, AXES[1:]) if nv == 2 else (0.35 if nv == 3 else 0.22, AXES)
    parts = ['<link name="base"/>']
    for k, mass in enumerate(masses.tolist()):
        x, y, z = (np.array([0.5 * length, 0.02, 0.03]) * rng.uniform(0.6, 1.4, 3)).tolist()
        size = rng.uniform(0.05, 0.15, 3)
        xx, yy, zz = (mass / 12.0 * (np.sum(size**2) - size**2)).tolist()
        damping, friction = drives[k].tolist()
        parts.append(
            f'<link name="l{k + 1}"><inertial><origin xyz="{x!r} {y!r} {z!r}"/><mass value="{mass!r}"/>'
            f'<inertia ixx="{xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k + 1}" type="revolute">'
            f'<parent link="{f"l{k}" if k else "base"}"/><child link="l{k + 1}"/>'
            f'<origin xyz="{f"{length} 0 0.05" if k else "0 0 0.2"}"/><axis xyz="{turns[k]}"/>'
            '<limit lower="-3.1" upper="3.1" velocity="20" effort="1000"/>'
            f'<dynamics damping="{damping!r}" friction="{friction!r}"/></joint>'
        )
    parts.append(
        f'<link name="tool"/><joint name="fixed" type="fixed"><parent link="l{nv}"/><child link="tool"/>'
        '<origin xyz="0.1 0 0.05"/></joint>'
    )
    return f'<robot name="attacked">{"".join(parts)}</robot>', drives


def _payload(rng: np.random.Generator) -> pinocchio.Inertia:
    """A body of a few points within `EXTENT` of the tool frame."""
    points = rng.normal(0.0, 0.04, (6, 3)) + rng.normal(0.0, 0.04, 3)
    points *= min(1.0, 0.95 * EXTENT / np.linalg.norm(points, axis=1).max())
    weights = rng.uniform(0.5, 1.5, 6)
    weights *= rng.uniform(0.3, 3.5) / weights.sum()
    bodies = [pinocchio.Inertia(w, p, np.zeros((3, 3))) for w, p in zip(weights, points, strict=True)]
    whole = bodies[0]
    for body in bodies[1:]:
        whole = whole + body
    return whole


class _Motion:
    """A sum of sinusoids for each joint."""

    def __init__(self, case: Case, rng: np.random.Generator) -> None:
        nv = case.joints
        self.w = 2.0 * np.pi * rng.uniform(0.3, 1.6, (nv, 3))
        self.a = rng.uniform(0.15, 0.45, (nv, 3)) / self.w**0.5
        self.p = rng.uniform(0.0, 2.0 * np.pi, (nv, 3))
        self.c = rng.uniform(-0.8, 0.8, nv)

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        x = self.w * np.asarray(t)[:, None, None] + self.p
        a, w = self.a, self.w
        return (
            self.c + (a * np.sin(x)).sum(-1),
            (a * w * np.cos(x)).sum(-1),
            (-a * w**2 * np.sin(x)).sum(-1),
        )


def _truths(case: Case, broken: Break | None) -> list[Truth]:
    """One arm with the payload and, where the case has an empty run, without it in another motion."""
    rng = np.random.default_rng([20261120, case.seed])
    urdf, drives = _urdf(case, rng)
    described = pinocchio.buildModelFromXML(urdf)
    model, nv = pinocchio.Model(described), case.joints
    signs = rng.choice([-1.0, 1.0], (nv, 10))
    for k in range(nv):
        ten = model.inertias[k + 1].toDynamicParameters()
        model.inertias[k + 1] = pinocchio.Inertia.FromDynamicParameters(
            ten * (1.0 + case.stated.model * signs[k])
        )
    drives = drives * (1.0 + case.stated.model * rng.choice([-1.0, 1.0], drives.shape))
    if broken is not None and broken.arm is not None:
        broken.arm(model)
    load, full = _payload(rng), pinocchio.Model(model)
    tool = described.frames[described.getFrameId("tool")]
    full.inertias[nv] = full.inertias[nv] + tool.placement.act(load)

    def friction(v: Array) -> Array:
        more = 0.0 if broken is None or broken.drive is None else broken.drive(v)
        return np.asarray(drives[:, 0] * v + drives[:, 1] * np.sign(v) + more)

    arms = [full, model] if case.empty else [full]
    return [_truth(case, arm, friction, tool, urdf, load.toDynamicParameters(), rng) for arm in arms]


def _truth(
    case: Case,
    model: pinocchio.Model,
    friction: Callable[[Array], Array],
    tool: pinocchio.Frame,
    urdf: str,
    ten: Array,
    rng: np.random.Generator,
) -> Truth:
    motion, data, later = _Motion(case, rng), model.createData(), None
    time = np.arange(round(case.duration * case.rate) + 1) / case.rate
    held = case.held
    if held:
        q, v, tau, most = _driven(model, data, motion, time, friction)
        # At a corner of its box an arm may have no mass matrix that is positive, and fly away.
        held = bool(np.isfinite(q).all() and np.isfinite(v).all())
    if not held:
        q, v, _ = motion(time)
        fine = np.linspace(0.0, time[-1], FINER * (len(time) - 1) + 1)
        most = np.abs(motion(fine)[2]).max(axis=0)

        def later(late: float) -> Array:
            states = motion(time - late)
            rigid = [pinocchio.rnea(model, data, *state) for state in zip(*states, strict=True)]
            return np.asarray(rigid) + friction(states[1])

        tau = later(0.0)
    pulls = _pulls(model, data, tool, time, q, v, rng)
    return Truth(case, time, q, v, tau, 1.02 * most + 1e-6, ten, pulls, urdf, later)


def _driven(
    model: pinocchio.Model,
    data: pinocchio.Data,
    motion: _Motion,
    time: Array,
    friction: Callable[[Array], Array],
) -> tuple[Array, Array, Array, Array]:
    """The arm under torques that hold from each sample to the next, which follow the motion."""
    wanted, h, nv = motion(time), time[1] - time[0], model.nv
    q, v, tau, most = (
        np.empty((len(time), nv)),
        np.empty((len(time), nv)),
        np.empty((len(time), nv)),
        np.zeros(nv),
    )
    x = np.concatenate([wanted[0][0], wanted[1][0]])
    for k in range(len(time)):
        q[k], v[k] = x[:nv], x[nv:]
        told = wanted[2][k] + 100.0 * (wanted[0][k] - q[k]) + 20.0 * (wanted[1][k] - v[k])
        tau[k] = pinocchio.rnea(model, data, q[k], v[k], told) + friction(v[k])
        if k == len(time) - 1:
            break

        def rate(y: Array, held: Array = tau[k]) -> Array:
            a = pinocchio.aba(model, data, y[:nv], y[nv:], held - friction(y[nv:]))
            return np.concatenate([y[nv:], a])

        k1 = rate(x)
        k2 = rate(x + 0.5 * h * k1)
        k3 = rate(x + 0.5 * h * k2)
        k4 = rate(x + h * k3)
        for one in (k1, k2, k3, k4):
            most = np.maximum(most, np.abs(one[nv:]))
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return q, v, tau, most


def _pulls(
    model: pinocchio.Model,
    data: pinocchio.Data,
    tool: pinocchio.Frame,
    time: Array,
    q: Array,
    v: Array,
    rng: np.random.Generator,
) -> Array:
    """Signs of torque errors that push a least-squares fit of the payload farthest in one direction."""
    a = np.gradient(v, time, axis=0)
    step = max(1, len(time) // 300)
    X = np.zeros((10, 10))
    for j in range(10):
        unit = np.zeros(10)
        unit[j] = 1.0
        # Linear in the ten numbers: by the difference from a body that is not massless.
        some = np.array([1.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 1.0])
        one, two = (pinocchio.Inertia.FromDynamicParameters(p) for p in (some + unit, some))
        X[:, j] = (
            tool.placement.act(one).toDynamicParameters() - tool.placement.act(two).toDynamicParameters()
        )
    rows = []
    for k in range(0, len(time), step):
        Y = pinocchio.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])[:, -10:]
        rows.append(Y @ X)
    A = np.concatenate(rows)
    scale = np.linalg.norm(A, axis=0) + 1e-12
    towards = np.zeros(10)
    towards[rng.integers(4)] = rng.choice([-1.0, 1.0])
    pull = (towards @ np.linalg.pinv(A / scale, rcond=1e-8)).reshape(-1, model.nv)
    return np.sign(np.repeat(pull, step, axis=0)[: len(time)])


def _with_errors(truth: Truth, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """What is logged: everything as far off as the stated errors allow."""
    s = truth.case.stated
    of_q, of_v, of_tau = (_shares(truth, rng) for _ in range(3))
    if truth.case.pattern == "gradient":
        of_tau = truth.pulls
    most = s.relative * np.abs(truth.tau) + s.absolute
    return (
        truth.time,
        truth.q + s.position * of_q,
        truth.v + s.velocity * of_v,
        truth.tau + most * of_tau * (1.0 - 1e-9),
    )


def _shares(truth: Truth, rng: np.random.Generator) -> Array:
    """Errors in parts of their bound, shape (N, nv)."""
    shape, pattern = truth.q.shape, truth.case.pattern
    signs = rng.choice([-1.0, 1.0], shape[1])
    if pattern == "bias":
        return np.broadcast_to(signs, shape)
    if pattern == "with the motion":
        return signs * np.sign(truth.v if rng.integers(2) else truth.tau)
    window = (truth.time / 0.1 + 1e-6).astype(int)
    if pattern == "alternating":
        return signs * np.where(window % 2, -1.0, 1.0)[:, None]
    if pattern in ("corner", "gradient"):
        return np.asarray(rng.choice([-1.0, 1.0], (window[-1] + 1, shape[1]))[window])
    return rng.uniform(-1.0, 1.0, shape)


def _late(seconds: float) -> Break:
    """Torques that are logged later than they act."""

    def log(truth: Truth, time: Array, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array, Array]:
        if truth.later is not None:
            return time, q, v, tau - truth.tau + truth.later(seconds)
        then = np.floor((time - seconds) * truth.case.rate + 1e-6).astype(int)
        return time, q, v, tau[np.maximum(then, 0)]

    return Break(f"torques {1e3 * seconds:g} ms late", log=log)


def _tau(name: str, change: Callable[[Array], Array]) -> Break:
    return Break(name, log=lambda truth, time, q, v, tau: (time, q, v, change(tau)))


def _last(tau: Array, factor: float) -> Array:
    out = tau.copy()
    out[:, -1] *= factor
    return out


def _swapped(tau: Array) -> Array:
    return np.asarray(tau[:, [1, 0, *range(2, tau.shape[1])]])


def _dropped(truth: Truth, *log: Array) -> tuple[Array, Array, Array, Array]:
    """One sample in fifty is missing, and the stamps do not show it."""
    kept = np.arange(len(truth.time)) % 50 != 25
    time, *rest = log
    return (time[: int(kept.sum())], *(x[kept] for x in rest))  # type: ignore[return-value]


def _tilted(model: pinocchio.Model) -> None:
    model.gravity.linear = pinocchio.exp3(np.array([0.0, np.deg2rad(3.0), 0.0])) @ model.gravity.linear


def _longer(model: pinocchio.Model) -> None:
    model.jointPlacements[2].translation = 1.05 * model.jointPlacements[2].translation


def _heavier(share: float) -> Callable[[pinocchio.Model], None]:
    def arm(model: pinocchio.Model) -> None:
        ten = model.inertias[1 if model.nv == 2 else 2].toDynamicParameters()
        model.inertias[1 if model.nv == 2 else 2] = pinocchio.Inertia.FromDynamicParameters(
            (1.0 + share) * ten
        )

    return arm


def _parcel(model: pinocchio.Model) -> None:
    k = model.nv - 1
    model.inertias[k] = model.inertias[k] + pinocchio.Inertia(
        0.5, np.array([0.1, 0.0, 0.1]), np.zeros((3, 3))
    )


BREAKS = (
    _tau("all torques 5 % high", lambda tau: 1.05 * tau),
    _tau("torque of the last joint 20 % high", lambda tau: _last(tau, 1.2)),
    _tau("torque of the last joint with the wrong sign", lambda tau: _last(tau, -1.0)),
    _tau("torques of joints 1 and 2 swapped", _swapped),
    _late(0.002),
    _late(0.005),
    _late(0.020),
    Break("velocities 2 % high", log=lambda truth, time, q, v, tau: (time, q, 1.02 * v, tau)),
    Break(
        "joint 2 zero off by 0.05 rad",
        log=lambda truth, time, q, v, tau: (time, q + 0.05 * (np.arange(q.shape[1]) == 1), v, tau),
    ),
    Break(
        "positions and velocities in degrees",
        log=lambda truth, time, q, v, tau: (time, np.rad2deg(q), np.rad2deg(v), tau),
    ),
    Break("clock 1 % fast", log=lambda truth, time, q, v, tau: (1.01 * time, q, v, tau)),
    Break("2 % of the samples missing, stamps closed up", log=_dropped),
    Break("base tilted by 3 degrees", arm=_tilted),
    Break("second link 5 % longer", arm=_longer),
    Break("a link 30 % heavier", arm=_heavier(0.3)),
    Break("0.5 kg on another link", arm=_parcel),
    Break("friction that nobody states", drive=lambda v: 0.5 * v + 1.0 * np.tanh(v / 0.05)),
)
"""What can be wrong with a log or a description."""
