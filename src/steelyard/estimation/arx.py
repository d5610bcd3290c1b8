r"""A joint as a difference equation, for its frequency response (Oaki et al. 2026, Fig. 2 b)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, ComplexArray, checked, keep_checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.first_order import JointTrace, common_interval
from steelyard.threads import with_one_blas_thread

ORDER = 4
"""Of the paper's model."""
LONGEST_DELAY = 0.02
"""Longest delay looked for, s."""
_AVERAGED = 0.005
"""Cycles are averaged up to this long unless stated, s: to 100 Hz, where Oaki et al. (2026) see backlash."""


@dataclass(frozen=True, eq=False)
class ArxModel:
    r"""An autoregressive model with input, from averaged commands to averaged encoder differences.

    $$y_k + \sum_{i=1}^{n} a_i\,y_{k-i} = \sum_{i=0}^{n-1} b_i\,u_{k-d-i} + c$$

    Attributes:
        denominator: 1, a_1, …, a_n, shape (n + 1,), dimensionless.
        numerator: b_0, …, b_{n-1}, shape (n,), rad/s per N·m or m/s per N.
        delay: d, in intervals.
        interval: what a sample is averaged over, s.
        cycle: length of a control cycle, s.
        deviation: of what the equation leaves, rad/s or m/s.
    """

    denominator: Array
    numerator: Array
    delay: int
    interval: float
    cycle: float
    deviation: float

    def __post_init__(self) -> None:
        keep_checked(self, ("n",), "denominator", "numerator")

    def sampled_response(self, frequency: ArrayLike) -> ComplexArray:
        r"""From commands to encoder differences, as `JointModel.sampled_response` has it.

        Averages of command and difference are late by the same, so that the ratio needs no correction but
        for the cycle between the two: a command acts on the difference that ends one cycle later.

        Args:
            frequency: ω, below π over the interval, shape (n,), rad/s.

        Returns:
            Complex gains, shape (n,), rad/s per N·m or m/s per N.
        """
        w = checked("frequency", frequency, ("n",))
        z = np.exp(-1j * w * self.interval)
        B = np.polyval(self.numerator[::-1], z) * z**self.delay
        return np.asarray(B / np.polyval(self.denominator[::-1], z) * np.exp(-1j * w * self.cycle))


@with_one_blas_thread
def fit_arx(
    traces: Sequence[JointTrace],
    *,
    order: int = ORDER,
    averaged: int | None = None,
    longest_delay: float = LONGEST_DELAY,
) -> ArxModel:
    """Fit a difference equation by least squares, with the delay that leaves least.

    The encoder's step makes the difference of one cycle nearly useless: 12 bits at 1 kHz are 1.5 rad/s. Least
    squares takes noise of the past velocities for a lack of memory, so commands and differences are averaged
    over some cycles first.

    Args:
        traces: experiments on one joint.
        order: n of past velocities and of commands.
        averaged: cycles averaged to one sample; None for as many as there are in 5 ms, at least one.
        longest_delay: largest delay looked for, s.

    Raises:
        InputError: the experiments do not belong together or are too short, or an option is out of range.
        NoSolutionError: the joint was not moved enough to tell the coefficients.
    """
    h = common_interval(traces)
    every = max(round(_AVERAGED / h), 1) if averaged is None else averaged
    if order < 1 or every < 1 or not longest_delay >= 0.0:
        raise InputError("must be at least one cycle.", place="order" if order < 1 else "averaged")
    pairs = [(_means(trace.command, every), _means(trace.velocity, every)) for trace in traces]
    longest = math.floor(longest_delay / (every * h))
    skipped = order + longest
    if sum(max(len(u) - skipped, 0) for u, _ in pairs) < 4 * (2 * order + 1):
        raise InputError("are too short for this order and delay.", place="traces")
    y = np.concatenate([past[skipped:] for _, past in pairs])
    best: tuple[float, int, Array] | None = None
    for delay in range(longest + 1):
        X = np.concatenate([_rows(u, past, order, delay, skipped) for u, past in pairs])
        scale = np.linalg.norm(X, axis=0)
        if not (scale > 0.0).all():
            continue
        x, *_, rank, _ = np.linalg.lstsq(X / scale, y, rcond=1e-10)
        left = float(((y - X / scale @ x) ** 2).mean())
        if rank == X.shape[1] and (best is None or left < best[0]):
            best = left, delay, x / scale
    if best is None:
        raise NoSolutionError(
            f"joint '{traces[0].joint}' was not moved enough for an equation of order {order}.",
            place="traces",
            remedy="Command a sequence of more frequencies, or larger torques.",
        )
    left, delay, x = best
    denominator = np.concatenate([[1.0], -x[:order]])
    return ArxModel(denominator, x[order : 2 * order], delay, every * h, h, math.sqrt(left))


def _rows(u: Array, y: Array, order: int, delay: int, skipped: int) -> Array:
    """Past velocities, commands and one, for every sample from `skipped` on, shape (N, 2 order + 1)."""
    rows = np.arange(skipped, len(y))
    past = [y[rows - i] for i in range(1, order + 1)]
    commands = [u[rows - delay - i] for i in range(order)]
    return np.column_stack([*past, *commands, np.ones(len(rows))])


def _means(x: Array, every: int) -> Array:
    """Means of groups of samples; what is left over at the end is dropped."""
    groups = len(x) // every
    return np.asarray(x[: groups * every].reshape(groups, every).mean(axis=1))
