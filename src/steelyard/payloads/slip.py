r"""Whether a payload stayed where it was held: its first moments before and after every moment of the log.

A load that slips in its grasp keeps its mass and moves its centre. With $H(t)$ one after the time $t_0$ and
zero before, the equations of a weighing get three more columns,

$$y = A\,\varphi + N\nu + H(t)\,A_h\,\Delta h + e,$$

whose $\Delta h = m\,\Delta c$ is zero for a grasp that holds. The noise has a memory, an autoregression that
a fit tells in which the load may slip; it is filtered out of all columns, so that
$\Delta h^T\Sigma^{-1}\Delta h$ has three degrees of freedom of chi square. The scan asks this for many $t_0$;
for a load that creeps, four blocks of time with first moments of their own are asked as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.estimation import NoiseModel, Rows, linear_covariance
from steelyard.payloads.arm_model import ArmModel, Mount
from steelyard.payloads.weighing import DEPENDENT
from steelyard.payloads.wrench import WristSensor, even_parts, solved_rows
from steelyard.recording import Recording
from steelyard.signals import without_limited, without_turning
from steelyard.threads import with_one_blas_thread

CHANCE = 0.01
"""Chance at which a grasp that holds is called one that slips."""
LEAST = 2e-3
"""Least way of a centre of mass that is called a slip, m: less is what models and kinematics are off by."""
SURE = 3.0
"""Deviations that the way of a slip exceeds."""
MOMENTS = 19
"""Times at which a change is asked for, spread evenly over the log."""
FINER = 10
"""Parts of the time between two of them in which it is then looked for."""
BLOCKS = 4
"""Blocks of time whose first moments are compared."""
FEWEST = 60
"""Samples below which a log is too short to be asked."""
_ROUNDS = 3
_QUIET = 1e-12
_SEEN = 1e-3  # share of the columns of a change that a payload that stays must not explain


@dataclass(frozen=True, eq=False)
class LoadRows:
    """The equations of a loaded run, c of them in every sample.

    Attributes:
        time: of the samples, shape (N,), s.
        ten: A, of the payload's ten numbers in its frame, shape (N, c, 10), SI.
        others: N, of what may differ between runs, shape (N, c, k), SI.
        target: y, what was measured beyond the arm, shape (N, c), N·m or N.
    """

    time: Array
    ten: Array
    others: Array
    target: Array

    @classmethod
    def of_torques(cls, own: ArmModel, held: Mount, run: Recording) -> LoadRows:
        """Those of joint torques; offset, viscous and Coulomb friction of each joint may have changed.

        Args:
            own: the arm without payload; `massless` where its torque was taken off.
            held: where the payload is held.
            run: the run, with q, v, a and tau.
        """
        run = without_limited(without_turning(run))
        at, layout = run.channels, own.layout
        q, v, a = at["q"], at["v"], at["a"]
        ten = torque_regressor(own.robot, layout, q, v, a)[:, :, layout.of_link(held.link)] @ held.to_link
        each = np.eye(v.shape[1])
        others = np.concatenate([x[:, :, None] * each for x in (np.ones_like(v), v, np.sign(v))], axis=2)
        tau = at["tau"] - inverse_dynamics(own.robot, layout, own.parameters, q, v, a)
        return cls(run.time, ten, others, tau)

    @classmethod
    def of_wrench(cls, sensor: WristSensor, held: Mount, run: Recording) -> LoadRows:
        """Those of a sensor at the wrist; what holds the payload counts to it, and the zero is unknown.

        Args:
            sensor: the sensor.
            held: where the payload is held.
            run: the run, with q, v, a and the wrench.
        """
        Y, layout = sensor.regressor(run), sensor.layout
        ten = Y[:, :, layout.of_link(held.link)] @ held.to_link
        others = np.broadcast_to(np.eye(6), (run.n, 6, 6))
        return cls(run.time, ten, others, sensor.measured(run) - Y @ sensor.gripper)


@dataclass(frozen=True, eq=False)
class GraspSlip:
    """What the loaded runs say of the grasp.

    Attributes:
        chance: of seeing as much where nothing slips, dimensionless.
        run: index of the loaded run in which the payload most likely moved.
        time: when, in that run, s.
        way: how far its centre of mass went, in its frame, shape (3,), m.
        deviation: one of the length of the way by noise, as if the time were known, m: too small.
    """

    chance: float
    run: int
    time: float
    way: Array
    deviation: float

    @property
    def distance(self) -> float:
        """How far the centre of mass went, m."""
        return float(np.linalg.norm(self.way))

    @property
    def noticed(self) -> bool:
        """Whether the grasp slips: chance does not explain a change, and the way that is told is sure."""
        return self.chance < CHANCE and self.distance > max(LEAST, SURE * self.deviation)


@with_one_blas_thread
def grasp_slip(rows: Sequence[LoadRows], mass: float) -> GraspSlip | None:
    """Ask whether the payload stayed where it was held.

    Args:
        rows: the equations of each loaded run, in the order in which they were made.
        mass: of the payload, kg.

    Returns:
        The answer; None where the runs are too short, or no change could be seen.
    """
    count = sum(len(each.time) for each in rows)
    if count < FEWEST or not mass > 0.0:
        return None
    cuts = np.linspace(0, count, MOMENTS + 2).astype(int)[1:-1].tolist()
    blocked = np.linspace(0, count, BLOCKS + 1).astype(int)[1:-1].tolist()
    # A slip would pass for noise with a long memory, so that the noise is told by a fit that may have one:
    # where plain least squares puts it, which also tells when and how far best where it is plain to see.
    plain = _White.of(rows)
    first = plain.likeliest(cuts)
    if first is None:
        return None
    step = count // (MOMENTS + 1)
    near = range(max(first[0] - step, 1), min(first[0] + step, count - 1), max(step // FINER, 1))
    cut, seen = plain.likeliest(near) or first
    white = _White.of(rows, [cut, *blocked])
    best, sure, blocks = white.likeliest(cuts), white.asked([cut]), white.asked(blocked)
    if best is None or sure is None:
        return None
    # Whoever asks several questions finds by chance more often, at most as often as there are questions.
    chance = len(cuts) * best[1].chance
    if blocks is not None:
        chance = 2.0 * min(chance, blocks.chance)
    starts = np.cumsum([0, *(len(each.time) for each in rows)])
    run = int(np.searchsorted(starts, cut, side="right")) - 1
    way = seen.change / mass
    along = way / max(float(np.linalg.norm(way)), np.finfo(float).tiny)
    deviation = float(np.sqrt(along @ sure.covariance @ along)) / mass
    return GraspSlip(min(chance, 1.0), run, float(rows[run].time[cut - starts[run]]), way, deviation)


@dataclass(frozen=True, eq=False)
class _Change:
    """Changes of the first moments at given samples, and the chance of them where nothing changes."""

    change: Array
    covariance: Array
    square: float
    chance: float


@dataclass(frozen=True, eq=False)
class _White:
    """All equations with noise that was made white, what a payload that stays explains taken out."""

    rows: Sequence[LoadRows]
    noise: tuple[NoiseModel, ...]
    basis: Array  # orthonormal columns of what a payload that stays explains, (m, b)
    left: Array  # (m,)

    @classmethod
    def of(cls, rows: Sequence[LoadRows], cuts: Sequence[int] | None = None) -> _White:
        """With noise as it is when first moments may change at some samples; None takes it for white."""
        stays = [np.concatenate([each.ten, each.others], axis=2) for each in rows]
        W, y = stays, [each.target for each in rows]
        if cuts is not None:
            changes = _changed(rows, cuts)
            W = [np.concatenate(both, axis=2) for both in zip(stays, changes, strict=True)]
        count, w = sum(len(target) for target in y), np.ones(y[0].shape[1])
        for _ in range(_ROUNDS):
            solved = solved_rows(W, y, w)
            left = [target - each @ solved.values for each, target in zip(W, y, strict=True)]
            rms = np.sqrt(sum((each**2).sum(axis=0) for each in left) / count)
            size = np.sqrt(sum((each**2).sum(axis=0) for each in y) / count)
            w = 1.0 / np.maximum(rms, _QUIET * max(float(size.max()), 1.0))

        def pieces() -> Iterator[Rows]:
            for each, target in zip(W, y, strict=True):
                for part in even_parts(len(each)):
                    yield Rows(each[part], each[part], target[part])

        residual = [each[part] for each in left for part in even_parts(len(each))]
        gain = solved.shown @ solved.shown.T
        _, noise = linear_covariance(pieces, w, gain, residual, "white" if cuts is None else "autoregressive")
        made = cls(rows, noise, np.zeros((0, 0)), np.zeros(0))
        U, s, _ = np.linalg.svd(made._whitened(stays) * _lengths(stays), full_matrices=False)
        U = U[:, s > DEPENDENT * s[0]]
        target = made._whitened([each[:, :, None] for each in y])[:, 0]
        # Twice, because once leaves round-off of what was large.
        target = target - U @ (U.T @ target)
        return cls(rows, noise, U, target - U @ (U.T @ target))

    def _whitened(self, blocks: Sequence[Array]) -> Array:
        """Columns (N, c, k) of each run as (m, k), each sample less what the noise before it foretells."""
        parts = []
        for block in blocks:
            for k, model in enumerate(self.noise):
                p = model.order
                x = np.array(block[p:, k])
                for lag, a in enumerate(model.coefficients.tolist(), start=1):
                    x -= a * block[p - lag : len(block) - lag, k]
                fresh = float(model.start[0] - model.coefficients @ model.start[1 : p + 1])
                parts.append(x / np.sqrt(max(fresh, _QUIET * float(model.start[0]), np.finfo(float).tiny)))
        return np.concatenate(parts)

    def asked(self, cuts: Sequence[int]) -> _Change | None:
        """What changes at some samples; None where the motion hides it."""
        white = self._whitened(_changed(self.rows, cuts))
        clean = white - self.basis @ (self.basis.T @ white)
        lengths = np.linalg.norm(clean, axis=0)
        if not (lengths > _SEEN * np.linalg.norm(white, axis=0)).all():
            return None
        Q, R = np.linalg.qr(clean)
        along, inverse, k = Q.T @ self.left, np.linalg.inv(R), 3 * len(cuts)
        # What is left beyond the change says how far the model of the noise holds; never that it is less.
        rest = float(self.left @ self.left - along @ along)
        size = max(rest / max(len(self.left) - self.basis.shape[1] - k, 1), 1.0)
        square = float(along @ along) / size
        chance = float(scipy.special.gammaincc(0.5 * k, 0.5 * square))
        return _Change(inverse @ along, size * inverse @ inverse.T, square, chance)

    def likeliest(self, cuts: Iterable[int]) -> tuple[int, _Change] | None:
        """The sample at which a change explains most; None where the motion hides all."""
        found = [(cut, answer) for cut in cuts if (answer := self.asked([cut])) is not None]
        return max(found, key=lambda item: item[1].square, default=None)


def _changed(rows: Sequence[LoadRows], cuts: Sequence[int]) -> list[Array]:
    """Columns of changes of the first moments at some samples, counted over all runs, (N, c, 3 k) of each."""
    columns, first = [], 0
    for each in rows:
        index = (first + np.arange(len(each.time)))[:, None, None]
        columns.append(np.concatenate([(index >= cut) * each.ten[:, :, 1:4] for cut in cuts], axis=2))
        first += len(each.time)
    return columns


def _lengths(blocks: Sequence[Array]) -> Array:
    """One over the length of each column."""
    lengths = np.sqrt(sum((block**2).sum(axis=(0, 1)) for block in blocks))
    return np.asarray(1.0 / np.where(lengths > 0.0, lengths, 1.0))
