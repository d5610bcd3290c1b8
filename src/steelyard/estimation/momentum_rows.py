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
        Their source, in pieces of at most `PIECE` windows: noise is followed within one.

    Raises:
        InputError: the window is shorter than an interval or longer than a motion.
    """
    spans = list(_spans(problem.samples, window))

    def rows() -> Iterator[Rows]:
        for edges in spans:
            Y, impulse = zip(*_windows(problem, edges), strict=True)
            W = np.concatenate(Y)
            yield Rows(W, W, np.concatenate(impulse))

    return rows


def _windows(problem: Problem, edges: IntArray) -> Iterator[tuple[Array, Array]]:
    """Regressors and impulses of successive windows, computed from a few thousand samples at a time."""
    at = problem.samples
    for some in _batches(edges):
        part, ends = slice(some[0], some[-1] + 1), some - some[0]
        t, q, v = at.time[part], at.q[part], at.v[part]
        W_c = momentum_rate_regressor(problem.robot, problem.layout, q, v)
        W_m = momentum_regressor(problem.robot, problem.layout, q[ends], v[ends])
        yield np.diff(W_m, axis=0) - _integral(t, W_c, ends), _integral(t, at.tau[part], ends)


def integrated_rows(problem: Problem, window: float) -> RowSource:
    """The same equations in the base parameters, the impulse of what the layout fixes taken off.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.

    Returns:
        Their source, in the same pieces.

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
    r"""What the trapezoidal rule misses in a window, root mean square over the windows.

    With $f = W_c\,\phi + \tau$ it misses $\tfrac{1}{12} h^3 f''$ in an interval, and $h^2 f''$ is a second
    difference. Only those of every second sample are taken, as by halving the interval (Richardson): a jump
    then does not cancel itself, and white noise of the torque adds a third of the residual it causes, where
    the sum of absolute values would add far more than all of it.

    Args:
        problem: the question, with its samples.
        window: length of a window, s.
        beta: base parameters, shape (b,), SI.

    Returns:
        The estimate, shape (nv,), N·m·s or N·s; zero where a motion has too few samples to tell.
    """
    at = problem.samples
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    missed = []
    for edges in (some for span in _spans(at, window) for some in _batches(span)):
        part = slice(edges[0], edges[-1] + 1)
        f = (
            momentum_rate_regressor(problem.robot, problem.layout, at.q[part], at.v[part]) @ phi
            + at.tau[part]
        )
        bend = np.zeros_like(f)
        if len(f) > 2:
            bend[1:-1] = f[2:] - 2.0 * f[1:-1] + f[:-2]
            bend[[0, -1]] = bend[[1, -2]]
        # Of both ends of an interval, the one with an odd number.
        odd = np.arange(len(f) - 1) // 2 * 2 + 1
        step = np.diff(at.time[part])[:, None] / 12.0 * bend[odd]
        missed.append(np.add.reduceat(step, edges[:-1] - edges[0], axis=0))
    return np.asarray(np.sqrt((np.concatenate(missed) ** 2).mean(axis=0)))


def _integral(t: Array, f: Array, edges: IntArray) -> Array:
    """Trapezoidal integral of f between edges, shape (n, ...)."""
    h = np.diff(t).reshape((-1,) + (1,) * (f.ndim - 1))
    return np.asarray(np.add.reduceat(0.5 * h * (f[1:] + f[:-1]), edges[:-1], axis=0))


def _spans(at: Evidence, window: float) -> Iterator[IntArray]:
    """Samples at the edges of successive windows, at most `PIECE` windows at a time."""
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
        for first in range(0, len(edges) - 1, PIECE):
            yield edges[first : first + PIECE + 1]


def _batches(edges: IntArray) -> Iterator[IntArray]:
    """The edges of as many windows at a time as hold a few thousand samples."""
    run = max(PIECE // int(edges[1] - edges[0]), 1)
    for first in range(0, len(edges) - 1, run):
        yield edges[first : first + run + 1]
