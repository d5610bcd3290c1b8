r"""Whether a payload stayed where it was held: its first moments before and after every moment of the log.

A load that slips in its grasp keeps its mass and moves its centre. With $H(t)$ one after the time $t_0$ and
zero before, the equations of a weighing get three more columns,

$$y = A\,\varphi + N\nu + H(t)\,A_h\,\Delta h + e,$$

whose $\Delta h = m\,\Delta c$ is zero for a grasp that holds. Its covariance respects the memory of the noise,
so that $\Delta h^T\Sigma^{-1}\Delta h$ has three degrees of freedom of chi square. The scan asks this for many
$t_0$; for a load that creeps, four blocks of time with first moments of their own are asked as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.estimation import Rows, Spread, linear_covariance
from steelyard.payloads.arm_model import ArmModel, Mount
from steelyard.payloads.wrench import WristSensor, even_parts, solved_rows
from steelyard.recording import Recording
from steelyard.signals import without_limited, without_turning
from steelyard.threads import with_one_blas_thread

CHANCE = 0.01
"""Chance at which a grasp that holds is called one that slips."""
LEAST = 2e-3
"""Least way of a centre of mass that is called a slip, m: less is what models and kinematics are off by."""
MOMENTS = 19
"""Times at which a change is asked for, spread evenly over the log."""
BLOCKS = 4
"""Blocks of time whose first moments are compared."""
FEWEST = 60
"""Samples below which a log is too short to be asked."""
_ROUNDS = 3
_QUIET = 1e-12


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
        deviation: one of the length of the way, m.
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
        """Whether the grasp slips."""
        return self.chance < CHANCE and self.distance > LEAST


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
    starts = np.cumsum([0, *(len(each.time) for each in rows)])
    cuts = np.linspace(0, count, MOMENTS + 2).astype(int)[1:-1]
    asked = [(int(cut), _Asked.of(rows, [int(cut)])) for cut in cuts]
    found = [(cut, answer) for cut, answer in asked if answer is not None]
    if not found:
        return None
    cut, best = min(found, key=lambda item: item[1].chance)
    blocks = _Asked.of(rows, np.linspace(0, count, BLOCKS + 1).astype(int)[1:-1].tolist())
    # Whoever asks several questions finds by chance more often, at most as often as there are questions.
    chance = len(found) * best.chance
    if blocks is not None:
        chance = 2.0 * min(chance, blocks.chance)
    run = int(np.searchsorted(starts, cut, side="right")) - 1
    way = best.change / mass
    along = way / max(float(np.linalg.norm(way)), np.finfo(float).tiny)
    deviation = float(np.sqrt(along @ best.covariance @ along)) / mass
    return GraspSlip(min(chance, 1.0), run, float(rows[run].time[cut - starts[run]]), way, deviation)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Changes of the first moments at given samples, and the chance of them where nothing changes."""

    change: Array
    covariance: Array
    chance: float

    @classmethod
    def of(cls, rows: Sequence[LoadRows], cuts: Sequence[int]) -> _Asked | None:
        W, first = [], 0
        for each in rows:
            index = first + np.arange(len(each.time))
            after = [(index >= cut)[:, None, None] * each.ten[:, :, 1:4] for cut in cuts]
            W.append(np.concatenate([each.ten, each.others, *after], axis=2))
            first += len(each.time)
        y, k = [each.target for each in rows], 3 * len(cuts)
        w = np.ones(y[0].shape[1])
        for _ in range(_ROUNDS):
            solved = solved_rows(W, y, w)
            left = [target - each @ solved.values for each, target in zip(W, y, strict=True)]
            rms = np.sqrt(sum((each**2).sum(axis=0) for each in left) / first)
            size = np.sqrt(sum((each**2).sum(axis=0) for each in y) / first)
            w = 1.0 / np.maximum(rms, _QUIET * max(float(size.max()), 1.0))
        # Where the motion after a cut hides a first moment, nothing can be said of its change.
        change = np.eye(len(solved.values))[-k:]

        def pieces() -> Iterator[Rows]:
            for each, target in zip(W, y, strict=True):
                for part in even_parts(len(each)):
                    yield Rows(each[part], each[part], target[part])

        residual = [each[part] for each in left for part in even_parts(len(each))]
        solved = solved_rows(W, y, w)
        gain = solved.shown @ solved.shown.T
        covariance, _ = linear_covariance(pieces, w, gain, residual, "autoregressive")
        if not np.isfinite(Spread(covariance, solved.blind).variance(change)).all():
            return None
        C, d = covariance[-k:, -k:], solved.values[-k:]
        scale = np.sqrt(np.diag(C))
        if not (scale > 0.0).all():
            return None
        chi = float((d / scale) @ np.linalg.solve(C / np.outer(scale, scale), d / scale))
        return cls(d, C, float(scipy.stats.chi2.sf(chi, k)))
