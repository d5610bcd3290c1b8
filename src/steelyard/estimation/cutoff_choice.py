r"""The cut-off of positions by how well a model predicts torques it was not fitted to.

The spectrum of a position tells where noise rules its acceleration, not how much of that noise the torque
equations bear: with a coarse encoder the valley between motion and noise lies far above what the torques
need, and accelerations full of noise make inertias too small. So lower cut-offs are tried as well. Each gives
q, v and a; base parameters are fitted to all blocks of time but one, and judged there by the torque as it was
measured. That torque is the same for all candidates. One that passed the candidate's own filter would reward
the lowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, RecordingError
from steelyard.layout import Layout, layout_of
from steelyard.problem import structure_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import Butterworth, evenly_timed, power_spectrum, resampled, uniform_interval
from steelyard.threads import with_one_blas_thread

STEP = 0.7
"""One candidate over the next higher one: half an octave."""
ROOM = 4.0
"""Lowest candidate over the band of the velocities: an octave of room, and one in which the filter falls."""
WORTH = 0.01
"""Share of the error that a lower cut-off must save to be taken."""
REST = 0.01
"""Share of a joint's velocity power above that band."""
BLOCKS = 10
"""Blocks of time, each predicted by the others."""
A_PERIOD = 8.0
"""Samples to a period of the highest candidate on which all are tried, or more in a short log."""
SAMPLES = 1500
"""Samples that the decision looks at."""
THINNED = 2.01
"""Samples that one must stand for before the grid is thinned."""
WORSE = 2
"""Candidates in a row, each worse than the best, after which no lower one is tried."""
_RANK = 1e-9
_LINEAR = ("viscous", "coulomb", "offset", "rotor", "asymmetric")


@dataclass(frozen=True, eq=False)
class CutoffChoice:
    """A cut-off and what lower and higher ones would predict.

    Attributes:
        frequency: the chosen cut-off, Hz.
        candidates: tried, highest first, shape (n,), Hz.
        errors: of the torque of blocks left out, in units of the noise of each joint, shape (n,),
            dimensionless.
        reason: why, in one sentence.
    """

    frequency: float
    candidates: Array
    errors: Array
    reason: str


def lowest_cutoff(recording: Recording, highest: float) -> float:
    r"""The lowest cut-off worth trying: four times the band that holds 99 % of a joint's velocity power.

    The power $(2\pi f)^2 P(f)$ is that below the highest cut-off. Noise of an encoder has a far smaller share
    of it than of the power of an acceleration.

    Args:
        recording: a uniform recording.
        highest: the highest cut-off, Hz.

    Returns:
        The highest of all joints, Hz.

    Raises:
        RecordingError: time is not uniform.
    """
    f, P = power_spectrum(recording.q, uniform_interval(recording))
    f, P = f[f <= highest], P[f <= highest]
    power = np.cumsum(f[:, None] ** 2 * P, axis=0)
    bands = [f[np.searchsorted(column, (1.0 - REST) * column[-1])] for column in power.T if column[-1] > 0.0]
    return ROOM * float(max(bands, default=0.0))


@with_one_blas_thread
def choose_cutoff(
    robot: Robot,
    layout: Layout,
    log: Recording,
    highest: float,
    *,
    spans: Sequence[tuple[float, float]] = (),
) -> CutoffChoice:
    """Try cut-offs from one that the spectrum suggests downwards, and take what predicts best.

    The highest is kept unless another is better by more than the standard error of the difference over
    blocks, and by a hundredth of the error; between others that are as good, the highest counts too.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about; drive terms in which torque is not linear are left out.
        log: as it was recorded, with torques.
        highest: the cut-off that the log's spectrum suggests, Hz.
        spans: times that may be looked at, first and last, s; all of the log where none is given.

    Returns:
        The choice; `highest` itself where the log is too short to tell.

    Raises:
        InputError: the highest cut-off is not positive.
        RecordingError: there are no torques.
    """
    if not (math.isfinite(highest) and highest > 0.0):
        raise InputError(f"must be positive, got {highest:g} Hz.", place="highest")
    if log.tau is None:
        raise RecordingError("has no torques.", place="log")
    even = _thinned(evenly_timed(log, longest_gap=np.inf), highest)
    lowest = min(highest, lowest_cutoff(even, highest))
    count = 1 + math.floor(math.log(lowest / highest) / math.log(STEP)) if lowest > 0.0 else 1
    tried = _Trial(robot, layout, even, highest * STEP ** (count - 1), spans)
    if count < 2 or tried.too_short:
        return CutoffChoice(highest, read_only(np.array([highest])), read_only(np.full(1, np.nan)), "")
    candidates: list[float] = []
    scores: list[Array] = []
    best = 0
    for k in range(count):
        candidates.append(highest * STEP**k)
        scores.append(tried.score(candidates[-1]))
        if scores[k].sum() < scores[best].sum():
            best = k
        elif k - best >= WORSE:
            break
    chosen = _as_good_as(scores, best)
    if math.sqrt(scores[chosen].sum() / scores[0].sum()) > 1.0 - WORTH:
        chosen = 0
    errors = np.sqrt([score.sum() / tried.equations for score in scores])
    saved = 100.0 * (1.0 - errors[chosen] / errors[0])
    reason = (
        f"of {len(candidates)} cut-offs from {highest:.3g} Hz, which the spectrum suggests, to "
        f"{candidates[-1]:.3g} Hz none predicts torques of blocks left out better by more than its standard "
        f"error; their error is {saved:.2g} % less than at {highest:.3g} Hz."
    )
    return CutoffChoice(
        candidates[chosen], read_only(np.array(candidates)), read_only(errors), reason if chosen else ""
    )


def _thinned(log: Recording, highest: float) -> Recording:
    """Positions and torques on a grid that holds every candidate; one filter for all."""
    interval = min(1.0 / (A_PERIOD * highest), log.duration / SAMPLES)
    bare = Recording(log.joints, log.time, log.q, tau=log.tau)
    return resampled(bare, interval) if interval * log.rate > THINNED else bare


def _as_good_as(scores: Sequence[Array], best: int) -> int:
    """The highest candidate that is not worse than the best by more than the standard error."""
    for k, score in enumerate(scores[:best]):
        excess = score - scores[best]
        if excess.sum() <= excess.std(ddof=1) * math.sqrt(len(excess)):
            return k
    return best


class _Trial:
    """What all candidates have in common: the samples, the blocks, and the noise of each joint."""

    def __init__(
        self,
        robot: Robot,
        layout: Layout,
        log: Recording,
        lowest: float,
        spans: Sequence[tuple[float, float]],
    ) -> None:
        self._robot, self._log = robot, log
        self._interval = uniform_interval(log)
        terms = [term for term in layout.drive if term in _LINEAR]
        self._layout = layout_of(robot, terms)
        self._columns = structure_of(robot, self._layout).base.columns
        # What the lowest candidate does not know at the ends, none may be judged by.
        margin = Butterworth(lowest).margin(self._interval, 2)
        inside = np.zeros(log.n, dtype=np.bool_)
        for first, last in spans or [(-np.inf, np.inf)]:
            inside |= (log.time >= first) & (log.time <= last)
        inside[:margin] = inside[max(log.n - margin, 0) :] = False
        rows = np.flatnonzero(inside)
        self._rows: IntArray = rows[:: max(1, len(rows) // SAMPLES)]
        self._weights: Array | None = None

    @property
    def too_short(self) -> bool:
        """Whether blocks left out would leave too few equations to fit."""
        return len(self._rows) * self._robot.nv < 5 * BLOCKS + 2 * len(self._columns)

    @property
    def equations(self) -> int:
        return len(self._rows) * self._robot.nv

    def score(self, cutoff: float) -> Array:
        """Sum of squares that models of the other blocks leave in each block, shape (BLOCKS,)."""
        method, h = Butterworth(cutoff), self._interval
        q, v, a = (x[self._rows] for x in method.derivatives(self._log.q, h, 2))
        tau = np.asarray(self._log.tau)[self._rows]
        W = torque_regressor(self._robot, self._layout, q, v, a)[..., self._columns]
        if self._weights is None:
            left = tau - W @ _least(W.reshape(-1, W.shape[-1]), tau.reshape(-1))
            self._weights = 1.0 / np.maximum(np.sqrt((left**2).mean(axis=0)), np.finfo(float).tiny)
        W, tau = W * self._weights[:, None], tau * self._weights
        parts = np.array_split(np.arange(len(tau)), BLOCKS)
        triangles = [np.linalg.qr(_stacked(W[part], tau[part]), mode="r") for part in parts]
        found = []
        for k, part in enumerate(parts):
            others = np.concatenate([R for j, R in enumerate(triangles) if j != k])
            beta = _least(others[:, :-1], others[:, -1])
            found.append(float(((tau[part] - W[part] @ beta) ** 2).sum()))
        return np.array(found)


def _stacked(W: Array, tau: Array) -> Array:
    return np.concatenate([W.reshape(-1, W.shape[-1]), tau.reshape(-1, 1)], axis=1)


def _least(W: Array, y: Array) -> Array:
    """Least squares; what the data does not show is zero, after each column has been given unit length."""
    size = np.linalg.norm(W, axis=0)
    size[size == 0.0] = 1.0
    return np.asarray(np.linalg.lstsq(W / size, y, rcond=_RANK)[0] / size)
