"""The momentum equation integrated over windows, and the error of the trapezoidal rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import momentum_rate_regressor, momentum_regressor
from steelyard.errors import InputError
from steelyard.estimation.weighted_rows import PIECE, Rows, RowSource
from steelyard.problem import Evidence, Problem


def integrated_equations(problem: Problem, window: float) -> RowSource:
    r"""The equations $[\Delta W_m - \int W_c\,dt]\,\phi = \int \tau\,dt$ of every window.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.

    Returns:
        Their source, in pieces of a few thousand samples.

    Raises:
        InputError: the window is shorter than an interval or longer than a motion.
    """
    spans = list(_spans(problem.samples, window))

    def rows() -> Iterator[Rows]:
        at = problem.samples
        for edges in spans:
            part = slice(edges[0], edges[-1] + 1)
            t, q, v = at.time[part], at.q[part], at.v[part]
            W_c = momentum_rate_regressor(problem.robot, problem.layout, q, v)
            W_m = momentum_regressor(problem.robot, problem.layout, q[edges - edges[0]], v[edges - edges[0]])
            Y = np.diff(W_m, axis=0) - _integral(t, W_c, edges - edges[0])
            yield Rows(Y, Y, _integral(t, at.tau[part], edges - edges[0]))

    return rows


def integrated_rows(problem: Problem, window: float) -> RowSource:
    """The same equations in the base parameters, the impulse of what the layout fixes taken off.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.

    Returns:
        Their source, in pieces of a few thousand samples.

    Raises:
        InputError: the window is shorter than an interval or longer than a motion.
    """
    equations = integrated_equations(problem, window)

    def rows() -> Iterator[Rows]:
        for full in equations():
            W = np.ascontiguousarray(full.regressor[..., problem.base.columns])
            yield Rows(W, W, full.target - full.regressor @ problem.known)

    return rows


def window_durations(problem: Problem, window: float) -> Array:
    """Lengths of the windows, which hold a whole number of samples.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.

    Returns:
        Lengths, shape (n,), s.
    """
    time = problem.samples.time
    return np.concatenate([np.diff(time[edges]) for edges in _spans(problem.samples, window)])


def integration_error(problem: Problem, window: float, beta: Array) -> Array:
    r"""Bound on what the trapezoidal rule misses in a window, root mean square over the windows.

    With $f = W_c\,\phi + \tau$ it misses at most $\tfrac{1}{12} h^2 |f''|$ of the integrand on a smooth
    interval, and half the jump of one in which friction changes sign. Half of $|\Delta^2 f|$, the larger of
    both ends, bounds either as far as the samples show f.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.
        beta: base parameters, shape (b,), SI.

    Returns:
        The bound, shape (nv,), N·m·s or N·s.
    """
    at = problem.samples
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    missed = []
    for edges in _spans(at, window):
        part = slice(edges[0], edges[-1] + 1)
        f = (
            momentum_rate_regressor(problem.robot, problem.layout, at.q[part], at.v[part]) @ phi
            + at.tau[part]
        )
        bend = np.zeros_like(f)
        bend[1:-1] = np.abs(f[2:] - 2.0 * f[1:-1] + f[:-2])
        bend[[0, -1]] = bend[[1, -2]]
        step = 0.5 * np.diff(at.time[part])[:, None] * np.maximum(bend[1:], bend[:-1])
        missed.append(np.add.reduceat(step, edges[:-1] - edges[0], axis=0))
    return np.asarray(np.sqrt((np.concatenate(missed) ** 2).mean(axis=0)))


def _integral(t: Array, f: Array, edges: IntArray) -> Array:
    """Trapezoidal integral of f between edges, shape (n, ...)."""
    h = np.diff(t).reshape((-1,) + (1,) * (f.ndim - 1))
    return np.asarray(np.add.reduceat(0.5 * h * (f[1:] + f[:-1]), edges[:-1], axis=0))


def _spans(at: Evidence, window: float) -> Iterator[IntArray]:
    """Samples at the edges of successive windows, a few thousand samples at a time."""
    for motion in at.motions:
        time = at.time[motion]
        interval = (time[-1] - time[0]) / max(len(time) - 1, 1)
        if not interval * (1.0 - 1e-6) <= window <= time[-1] - time[0]:
            raise InputError(
                f"of {window:g} s must hold an interval of the log, {interval:g} s, and fit into a motion of "
                f"{time[-1] - time[0]:g} s.",
                place="window",
            )
        samples = round(window / interval)
        edges = motion.start + np.arange(0, len(time), samples)
        run = max(PIECE // samples, 1)
        for first in range(0, len(edges) - 1, run):
            yield edges[first : first + run + 1]
