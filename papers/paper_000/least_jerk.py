r"""The least jerk within limits: convex programs one after another, each trusted near its start only.

Near x the margins are $m + G\,d$. Each step minimises the jerk, which is a square, and $\mu\sigma$ with
$m + G d + \sigma \ge 0$ and every $|d_i| \le \Delta$: one slack for the worst limit, an exact penalty once
$\mu$ exceeds the sum of the limits' multipliers. A step is taken where the true merit falls as promised, and
the trusted distance grows and shrinks with how well the promise was kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paper_000.sampled_limits import SampledLimits
from steelyard.arrays import Array
from steelyard.cones import AtMost, ConeProgram, solve
from steelyard.errors import SolverError

FIRST_STEP, LARGEST_STEP, SMALLEST_STEP = 0.3, 1.0, 1e-5
"""How far every unknown may move in a step, rad or m."""
PENALTIES = (1e2, 1e3, 1e4)
"""Of the worst limit, in parts of the straight motion's jerk."""
KEPT = 1e-6
"""Violation, over the limit's size, that counts as none."""
MOST_STEPS = 60
"""Steps with each penalty."""
SETTLED = 1e-5
"""Promised fall of the merit below which there is nothing left to gain."""


class Settled(NamedTuple):
    """Where a search has ended.

    Attributes:
        x: unknowns, shape (nv, 3), rad or m.
        violation: of the worst limit, dimensionless; at most `KEPT` where all are kept.
    """

    x: Array
    violation: float


def least_jerk(limits: SampledLimits, start: Array, scale: float) -> Settled:
    """Search from a start, which may break limits, for the least jerk that keeps them.

    Args:
        limits: what to keep.
        start: unknowns to start from, shape (nv, 3), rad or m.
        scale: the jerk to compare with, rad²/s⁵ or m²/s⁵, positive.

    Returns:
        Where the search ended; a local optimum where all limits are kept.
    """
    x = start
    for penalty in PENALTIES:
        x = _descent(limits, x, scale, penalty)
        if limits.violation(x) <= KEPT:
            break
    return Settled(x, limits.violation(x))


def _descent(limits: SampledLimits, x: Array, scale: float, penalty: float) -> Array:
    step = FIRST_STEP
    cost, violation = limits.family.jerk(x) / scale, limits.violation(x)
    for _ in range(MOST_STEPS):
        margins, slopes = limits.linearised(x, step)
        while True:
            try:
                d, slack = _programmed(limits, x, scale, penalty, step, margins, slopes)
            except SolverError:
                return x
            promised = cost + penalty * violation - limits.family.jerk(x + d) / scale - penalty * slack
            if promised <= SETTLED * max(cost, 1.0):
                return x
            new_cost, new_violation = limits.family.jerk(x + d) / scale, limits.violation(x + d)
            kept = (cost + penalty * violation - new_cost - penalty * new_violation) / promised
            if kept > 0.1:
                break
            step *= 0.4
            if step < SMALLEST_STEP:
                return x
        x, cost, violation = x + d, new_cost, new_violation
        if kept > 0.7:
            step = min(2.0 * step, LARGEST_STEP)
        elif kept < 0.3:
            step *= 0.5
    return x


def _programmed(
    limits: SampledLimits, x: Array, scale: float, penalty: float, step: float, margins: Array, slopes: Array
) -> tuple[Array, float]:
    """The step of the convex program and the slack that it needs."""
    J, shift = limits.family.jerk_rows
    nv, n = len(x), x.size
    root = np.sqrt(2.0 / scale)
    R = np.hstack([root * np.kron(np.eye(nv), J), np.zeros((nv * len(J), 1))])
    r = -root * (x @ J.T + shift).ravel()
    kept = AtMost(np.hstack([-slopes, -np.ones((len(slopes), 1))]), margins)
    box = np.vstack([np.eye(n + 1)[:n], -np.eye(n + 1)])
    near = AtMost(box, np.append(np.full(2 * n, step), 0.0))
    found = solve(ConeProgram(R, r, np.append(np.zeros(n), penalty), (kept, near)), accept_reduced=True)
    return found.x[:n].reshape(nv, -1), max(float(found.x[n]), 0.0)
