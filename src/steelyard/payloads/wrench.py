r"""What an arm holds, by a force-torque sensor between the arm and what holds it.

The sensor carries the load $\varphi$ and what holds it, $\varphi_g$. About the origin of its frame and in its
axes it shows, up to a sign that the maker chose,

$$w(t - \delta) = Y(q, v, a)\,(\varphi + \varphi_g) + b,$$

with a zero b that is six constants and a lag δ against the encoders. Neither friction nor the numbers of the
arm are in it, only its kinematics. Without an empty run $\varphi_g$ is the description's; with one it is
estimated beside $\varphi$.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.special

from steelyard.arrays import Array
from steelyard.dynamics import base_wrench_regressor, forward_kinematics
from steelyard.errors import DescriptionError, InputError, RecordingError, UnknownNameError
from steelyard.estimation import Rows, Spread, linear_covariance
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout, layout_of
from steelyard.payloads.arm_model import Mount
from steelyard.payloads.weighing import BLIND, SCALES, Weighing, eliminated
from steelyard.recording import Recording, wrench_in
from steelyard.robot import Robot
from steelyard.threads import with_one_blas_thread

SIGNS = {"load": -1.0, "reaction": 1.0}
"""What a sensor shows: the wrench that the load exerts on it, or the one that it exerts on the load."""
WAY = "wrist sensor"
"""What this way of weighing is called."""
LATEST = 0.05
"""Longest lag of a sensor that is looked for, s."""
MOVED = 1e-3
"""Chance below which two zeros are taken for different ones."""
_PIECE = 4096  # samples at a time; noise is not followed from one piece to the next
_ROUNDS = 4
_QUIET = 1e-12
_ROUND_OFF = 1e-12
_NOTHING = 1e-9  # length of a column of equations, by the longest, that is none
_PROMPT = 0.05  # share of an interval that is no lag


@dataclass(frozen=True, eq=False)
class WristSensor:
    """A force-torque sensor on an arm.

    Attributes:
        robot: the robot, for its kinematics and for what the sensor carries.
        frame: name of the link in whose frame it sits.
        sign: one of `SIGNS`.
    """

    robot: Robot
    frame: str
    sign: str = "load"

    def __post_init__(self) -> None:
        if self.sign not in SIGNS:
            raise UnknownNameError("sign", self.sign, SIGNS, place="--wrench-sign")
        self.robot.parted(self.frame)

    @cached_property
    def layout(self) -> Layout:
        """The parameters whose columns `regressor` has."""
        return layout_of(self.robot)

    @cached_property
    def link(self) -> str:
        """The moving link that it sits on."""
        return self.robot.link_names[self.robot.frame(self.frame).link]

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """Moving links beyond its own, whose weight passes through it."""
        index, beyond = self.robot.link_names.index(self.link), []
        for i, joint in enumerate(self.robot.joints):
            if joint.parent == index or self.robot.link_names[max(joint.parent, 0)] in beyond:
                beyond.append(self.robot.link_names[i])
        return tuple(beyond)

    def carries(self, held: Mount) -> bool:
        """Whether what is held at a place passes through it."""
        return held.link in (self.link, *self.moving)

    @property
    def gripper(self) -> Array:
        """What the description says that it carries, parameters of the robot's layout, shape (p,), SI.

        Raises:
            DescriptionError: a moving link beyond it states no inertia.
        """
        layout = self.layout
        phi = np.zeros(layout.size)
        carried = self.robot.parted(self.frame).carried
        if carried is not None:
            phi[layout.of_link(self.link)] = carried.parameters
        for name in self.moving:
            body = self.robot.links[self.robot.link_names.index(name)].body
            if body is None:
                raise DescriptionError(
                    "no inertia is stated, and the sensor carries it.",
                    place=f"link '{name}'",
                    remedy="State it, or give a run without the load (--empty).",
                )
            phi[layout.of_link(name)] = body.parameters
        return phi

    def measured(self, run: Recording) -> Array:
        """The wrench that moves what it carries, up to its zero, shape (N, 6), N and N·m."""
        return SIGNS[self.sign] * wrench_in(run, self.frame)

    def regressor(self, run: Recording) -> Array:
        r"""Y of all links in the sensor's frame: $f_S = R^T f$, $n_S = R^T (n - p \times f)$.

        Args:
            run: a run with q, v and a.

        Returns:
            Y, rows three forces and three moments; only columns of what the sensor carries mean something,
            shape (N, 6, p), SI.
        """
        at = run.channels
        if "v" not in at or "a" not in at:
            raise RecordingError("needs q, v and a.", place="run")
        B = base_wrench_regressor(self.robot, self.layout, at["q"], at["v"], at["a"])
        X = forward_kinematics(self.robot, at["q"], [self.frame])[:, 0]
        R, p = X[:, :3, :3], X[:, :3, 3]
        n = B[:, 3:] - np.cross(p[:, :, None], B[:, :3], axis=1)
        return np.concatenate([np.swapaxes(R, 1, 2) @ B[:, :3], np.swapaxes(R, 1, 2) @ n], axis=1)


@with_one_blas_thread
def weigh_by_wrench(
    sensor: WristSensor, held: Mount, loaded: Sequence[Recording], empty: Sequence[Recording] = ()
) -> Weighing:
    """Weigh by a sensor at the wrist.

    One zero is taken for all runs, unless the data contradicts it: then each run has its own, and a finding
    says so. With one zero, an empty and a loaded run weigh even where neither alone shows anything.

    Args:
        sensor: the sensor.
        held: where the payload is held.
        loaded: runs with the payload, with q, v, a and the sensor's wrench.
        empty: runs without it, of any motion; without one the description says what holds the payload.

    Returns:
        What the data says; its residual has the six rows of the wrench, N and N·m.

    Raises:
        InputError: what is held there does not pass through the sensor.
        RecordingError: a run lacks the wrench.
    """
    if not sensor.carries(held):
        raise InputError(
            f"what '{held.link}' holds does not pass through '{sensor.frame}'.",
            place="--wrench",
            remedy="Name the frame of the sensor that carries it, or another --tool-frame.",
        )
    runs, full = [*loaded, *empty], len(loaded)
    equations = [_Equations.of(sensor, held, run, k < full, bool(empty)) for k, run in enumerate(runs)]
    findings: list[Finding] = []
    own = _fitted(equations, shared=False) if len(runs) > 1 else None
    moved = own is not None and _zeros_differ(own, len(runs))
    if own is None or not moved:
        own = _fitted(equations, shared=True)
    else:
        message = (
            "its zero differs between the runs beyond noise, so that each run has its own; a run then weighs "
            "only by how its readings change with pose and motion. Zero it once, before both runs."
        )
        findings.append(Finding(Severity.WARNING, "wrench-zero-moved", message, sensor.frame))
    own, lag = _on_time(equations, own, shared=not moved)
    if lag:
        message = f"shows what passes through it {1e3 * lag:.3g} ms after the encoders; it is moved by that."
        findings.append(Finding(Severity.INFO, "wrench-lag", message, sensor.frame))
    L = own.root
    R, r = _without_round_off(*eliminated(L[:, 10:], L[:, :10], L @ own.values), L[:, :10])
    weighing = Weighing(held, R, r, own.residual, own.samples, WAY, tuple(findings))
    m, spread = float(weighing.values[0]), float(weighing.deviations[0])
    if m < -3.0 * spread:
        other = next(name for name in SIGNS if name != sensor.sign)
        message = (
            f"the mass comes out as {m:.4g} kg: the sensor shows the opposite of what was taken "
            f"('{sensor.sign}'). Give --wrench-sign {other}."
        )
        weighing = replace(
            weighing,
            findings=(*findings, Finding(Severity.ERROR, "wrench-sign", message, sensor.frame)),
        )
    return weighing


def _without_round_off(R: Array, r: Array, whole: Array) -> tuple[Array, Array]:
    """Equations of the ten numbers without those that eliminating the rest has left nothing of."""
    U, s, Vt = np.linalg.svd(R * SCALES)
    seen = s > _NOTHING * np.linalg.norm(whole * SCALES, 2)
    return np.where(seen, s, 0.0)[:, None] * Vt / SCALES, np.where(seen, U.T @ r, 0.0)


@dataclass(frozen=True, eq=False)
class _Equations:
    """One run: its rows in the ten numbers and in the gripper's, its target and its times."""

    ten: Array  # (N, 6, 10)
    gripper: Array  # (N, 6, 10) or (N, 6, 0)
    measured: Array  # (N, 6)
    known: Array  # (N, 6), of what the description says that holds the load
    time: Array  # (N,)

    @classmethod
    def of(cls, sensor: WristSensor, held: Mount, run: Recording, full: bool, asked: bool) -> _Equations:
        Y, layout = sensor.regressor(run), sensor.layout
        y, known = sensor.measured(run), np.zeros((run.n, 6))
        ten = Y[:, :, layout.of_link(held.link)] @ held.to_link
        if asked:
            gripper = Y[:, :, layout.of_link(sensor.link)]
        else:
            gripper, known = np.zeros((*y.shape, 0)), Y @ sensor.gripper
        return cls(ten if full else np.zeros_like(ten), gripper, y, known, run.time)

    @property
    def target(self) -> Array:
        return self.measured - self.known

    def earlier(self, lag: float) -> _Equations:
        """The same with readings that come sooner."""
        moved = [np.interp(self.time + lag, self.time, column) for column in self.measured.T]
        return replace(self, measured=np.column_stack(moved))

    def rows(self, zero: slice, zeros: int, slope: Array) -> Array:
        """All columns: the ten, the zeros of all runs, the gripper, the lag; shape (N, 6, b)."""
        offset = np.zeros((len(self.time), 6, zeros))
        offset[:, :, zero] = np.eye(6)
        return np.concatenate([self.ten, offset, self.gripper, -slope[:, :, None]], axis=2)


@dataclass(frozen=True, eq=False)
class _Fit:
    """The ten numbers, the zeros, the gripper's ten and the lag; L theta = L values + e, e ~ N(0, 1)."""

    values: Array
    spread: Spread
    root: Array
    residual: Array
    samples: int


def _on_time(equations: Sequence[_Equations], found: _Fit, *, shared: bool) -> tuple[_Fit, float]:
    """The fit with the lag taken out where there is one, and the lag, s."""
    lag, sure = 0.0, np.sqrt(found.spread.variance(np.eye(len(found.values))[-1]))
    interval = max(float(np.median(np.diff(each.time))) for each in equations)
    first = float(found.values[-1])
    if not max(4.0 * float(sure), _PROMPT * interval) < abs(first) < LATEST:
        return found, 0.0
    # Targets that are moved are interpolated, and the rest of the lag is a column: a few steps settle it.
    for _ in range(_ROUNDS):
        step = float(found.values[-1])
        lag = float(np.clip(lag + step, -LATEST, LATEST))
        found = _fitted([each.earlier(lag) for each in equations], shared=shared)
        if abs(step) < _PROMPT * interval:
            break
    return found, lag


def _fitted(equations: Sequence[_Equations], *, shared: bool) -> _Fit:
    """Weighted least squares with noise that has a memory."""
    zeros = 6 if shared else 6 * len(equations)
    places = [slice(0, 6) if shared else slice(6 * k, 6 * k + 6) for k in range(len(equations))]
    slopes = [np.zeros_like(each.target) for each in equations]
    w = np.ones(6)
    for _ in range(_ROUNDS):
        W = [each.rows(at, zeros, slope) for each, at, slope in zip(equations, places, slopes, strict=True)]
        solved = solved_rows(W, [each.target for each in equations], w)
        values = solved.values
        left = [each.target - rows @ values for each, rows in zip(equations, W, strict=True)]
        count = sum(len(each) for each in left)
        rms = np.sqrt(sum((each**2).sum(axis=0) for each in left) / max(count - len(values) / 6.0, 1.0))
        size = np.sqrt(sum((each.target**2).sum(axis=0) for each in equations) / count)
        w = 1.0 / np.maximum(rms, _QUIET * max(float(size.max()), 1.0))
        slopes = [
            np.gradient(each.known + rows[:, :, :-1] @ values[:-1], each.time, axis=0)
            for each, rows in zip(equations, W, strict=True)
        ]

    def pieces() -> Iterator[Rows]:
        for each, rows in zip(equations, W, strict=True):
            for part in even_parts(len(rows)):
                yield Rows(rows[part], rows[part], each.target[part])

    residual = [each[part] for each in left for part in even_parts(len(each))]
    solved = solved_rows(W, [each.target for each in equations], w)
    covariance, _ = linear_covariance(pieces, w, solved.shown @ solved.shown.T, residual, "autoregressive")
    # In coordinates in which white noise of these weights would have the covariance 1.
    C = solved.along @ covariance @ solved.along.T
    eigenvalues, vectors = np.linalg.eigh(C)
    eigenvalues = np.maximum(eigenvalues, _ROUND_OFF * eigenvalues[-1])
    root = (vectors / np.sqrt(eigenvalues)).T @ solved.along
    return _Fit(solved.values, Spread(covariance, solved.blind), root, rms, count)


def even_parts(n: int) -> list[slice]:
    """Samples in even runs, each short enough for noise to be followed through it.

    Args:
        n: number of samples.
    """
    edges = np.linspace(0, n, -(-n // _PIECE) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges.tolist())]


@dataclass(frozen=True, eq=False)
class RowsSolution:
    """Least squares along what the data shows: theta = shown z + blind y, with z = along theta.

    Attributes:
        values: theta, nothing of it blind, shape (b,), SI.
        shown: directions of one deviation each where the weights are one over the noise, shape (b, k), SI.
        along: what measures theta along them, shape (k, b), SI.
        blind: directions that the data does not show, shape (b, b - k), SI.
    """

    values: Array
    shown: Array
    along: Array
    blind: Array


def solved_rows(regressors: Sequence[Array], targets: Sequence[Array], w: Array) -> RowsSolution:
    """Weighted least squares over runs, blind directions left out.

    Args:
        regressors: W of each run, c equations in a sample, shape (N, c, b), SI.
        targets: y of each run, shape (N, c), SI.
        w: one over the noise of each equation, shape (c,), SI.
    """
    b = regressors[0].shape[2]
    R: Array = np.zeros((0, b + 1))
    for rows, target in zip(regressors, targets, strict=True):
        flat = np.concatenate([rows, target[:, :, None]], axis=2) * w[:, None]
        R = np.asarray(np.linalg.qr(np.vstack([R, flat.reshape(-1, b + 1)]), mode="r"))
    lengths = np.linalg.norm(R[:, :b], axis=0)
    dead = lengths <= _NOTHING * lengths.max()
    scale = 1.0 / np.where(dead, lengths.max(), lengths)
    U, s, Vt = np.linalg.svd(np.where(dead, 0.0, R[:, :b] * scale))
    k = int((s > BLIND * s[0]).sum())
    # Round-off along a dead column, as the lag of an arm that stands, would pass for an equation.
    Vt[:k, dead] = 0.0
    shown, along = scale[:, None] * Vt[:k].T / s[:k], s[:k, None] * Vt[:k] / scale
    return RowsSolution(shown @ (U.T @ R[:, b])[:k], shown, along, scale[:, None] * Vt[k:].T)


def _zeros_differ(found: _Fit, runs: int) -> bool:
    """Whether the zeros of runs differ beyond noise, as far as the data shows them."""
    b = len(found.values)
    C = np.zeros((6 * (runs - 1), b))
    for k in range(1, runs):
        for axis in range(6):
            C[6 * (k - 1) + axis, 10 + axis] = -1.0
            C[6 * (k - 1) + axis, 10 + 6 * k + axis] = 1.0
    C = C[np.isfinite(found.spread.variance(C))]
    if not len(C):
        return False
    d, covariance = C @ found.values, C @ found.spread.finite @ C.T
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0.0).all():
        return bool(np.abs(d).max() > 0.0)
    chi = float((d / scale) @ np.linalg.solve(covariance / np.outer(scale, scale), d / scale))
    return bool(scipy.special.gammaincc(0.5 * len(C), 0.5 * chi) < MOVED)
