"""Identification from momentum: positions, velocities and torques, no accelerations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import momentum_rate_regressor, momentum_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import (
    PIECE,
    OnBlind,
    Rows,
    RowSource,
    Solution,
    residuals,
    solved,
    weighted_factor,
)
from steelyard.estimation.linear import ROUND_OFF
from steelyard.estimation.noise import Colour, Spread, linear_covariance
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Evidence, Problem
from steelyard.threads import with_one_blas_thread

# The momentum equation integrated over windows, and the error of the trapezoidal rule.


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


_ROUNDS, _SETTLED = 30, 1e-6


@with_one_blas_thread
def fit_momentum(
    problem: Problem, window: float, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""Base parameters that explain how momentum changes over windows (Zhang et al. 2025, Corollary 10).

    $$\Big[ W_m \big|_{t_i}^{t_{i+h}} - \int_{t_i}^{t_{i+h}} W_c\,dt \Big]\,\phi
      = \int_{t_i}^{t_{i+h}} \tau\,dt$$

    in windows that do not overlap, integrated by the trapezoidal rule, whose error is second order in the
    interval where the paper's Euler rule has first. Each degree of freedom is weighted by its own noise. The
    rule's error is estimated from the integrand's second differences; a finding says where it is no longer
    small beside the residual.

    The log is best given at its own rate, with velocities that hold little noise (`signals.prepared` with the
    log's interval) and torques as they were measured: the integral averages the noise of torques, nothing
    averages that of the velocities at the two ends, and one end is shared with the next window. What that
    leaves of memory in the noise, the covariance takes from the residuals.

    Args:
        problem: the question, with its samples; accelerations are not needed, see `problem_of`.
        window: length of a window, s; at least one interval of the log.
        colour: what is assumed of the noise of successive windows.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate; its residual is that of the mean torque over a window. `integrated` gives the equations
        that `with_full_set` and estimators of possible links need where there are no accelerations.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few windows for their number.
        InputError: the window is shorter than an interval or longer than a motion, the layout has a load
            term, or the samples were not kept.
    """
    source = integrated_rows(problem, window)
    weights, solution = _settled(problem, source, on_blind)
    left = residuals(source, solution.values)
    covariance, noise = linear_covariance(source, weights, solution.inverse, left, colour)
    impulse = np.sqrt((np.concatenate(left) ** 2).mean(axis=0))
    error = integration_error(problem, window, solution.values)
    durations = window_durations(problem, window)
    findings = tuple(
        Finding(
            Severity.WARNING,
            "integration-error",
            f"the trapezoidal rule is off by about {e:.2g} N·m·s in a window, the residual is {r:.2g} N·m·s.",
            place=joint,
        )
        for joint, e, r in zip(problem.robot.joint_names, error, impulse, strict=False)
        if e > r
    )
    return Estimate(
        method="momentum",
        layout=problem.layout,
        base=problem.base,
        values=solution.values,
        residual=impulse / durations.mean(),
        samples=problem.samples.n,
        condition=solution.condition,
        covariance=Spread(covariance, solution.blind).covariance,
        weights=weights,
        findings=findings,
        recordings=problem.digests,
        detail={
            "window": float(window),
            "windows": len(durations),
            "colour": colour,
            "integration_error": error.tolist(),
            "orders": [model.order for model in noise],
        },
    )


def _settled(problem: Problem, source: RowSource, on_blind: OnBlind) -> tuple[Array, Solution]:
    """Weights that agree with the noise of the windows, shape (nv,), 1/(N·m·s), and the solution there."""
    first = next(iter(source()))
    weights = np.ones(first.target.shape[1])
    target = np.concatenate([rows.target for rows in source()])
    floor = ROUND_OFF * max(float(np.sqrt((target**2).mean())), np.finfo(float).tiny)
    for _ in range(_ROUNDS):
        solution = solved(weighted_factor(source, repeat(weights)), problem.base.names, on_blind)
        square, paid = np.zeros(len(weights)), np.zeros(len(weights))
        for rows in source():
            square += ((rows.target - rows.regressor @ solution.values) ** 2).sum(axis=0)
            paid += np.einsum("tki,ij,tkj->k", rows.regressor, solution.inverse, rows.regressor)
        windows_left = len(target) - weights**2 * paid
        if (windows_left < 1.0).any():
            raise NoSolutionError(
                f"{len(target)} windows leave nothing to tell the noise by after {problem.base.count} base "
                "parameters.",
                place="window",
                remedy="Take shorter windows or a longer log.",
            )
        before, weights = weights, 1.0 / np.maximum(np.sqrt(square / windows_left), floor)
        if np.abs(weights / before - 1.0).max() < _SETTLED:
            break
    return before, solution
