"""Guaranteed bounds on a payload: 7.5 s of a Kinova Gen3, beside the same programs in other hands."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import cvxpy as cp
import numpy as np
import scipy.optimize

from steelyard.recording import Recording
from steelyard.uncertainty import GuaranteedBounds, PayloadBox, guaranteed_bounds
from steelyard.uncertainty.payload_polytope import BoundedRows
from studies.payload_bounds import Case, Weighing, drawn, with_errors
from timing import Row, best

SIZES = np.array([1.0, *3 * [0.1], *6 * [0.01]])
"""Sizes near one of the ten numbers, for the peers' tolerances."""
SAME = 1e-4
"""Difference of an end, in these sizes, that counts as the same."""


def rows() -> list[Row]:
    """Every comparison of this room."""
    rng = np.random.default_rng(0)
    weighing = drawn(rng, Case(0))
    log = with_errors(weighing, "uniform", rng)
    return list(_rows(weighing, log))


def _rows(weighing: Weighing, log: Recording) -> Iterator[Row]:
    prior, equations = weighing.prior, weighing.rows(log)
    made, linear, possible = best(
        lambda: weighing.rows(log),
        lambda: guaranteed_bounds(equations, prior),
        lambda: guaranteed_bounds(equations, prior, possible=True),
        repeats=3,
    )
    used = int(((equations.spread > 0.0) & equations.robot.any(axis=0)).sum())
    size = f"{equations.count} rows, {10 + used} variables, 20 programs"
    yield Row("equations with bounded errors, 7.5 s of a Gen3 at 1 kHz", made)
    theirs, apart = _timed(_by_linprog, equations, guaranteed_bounds(equations, prior))
    yield Row(
        "payload's hull by linear programs, safe dual bounds",
        linear,
        "scipy linprog, HiGHS",
        theirs,
        most_seconds=0.3,
        note=f"{size}; ends {apart:.0e} apart; the peer ran once and proves nothing",
    )
    theirs, apart = _timed(_by_cvxpy, equations, guaranteed_bounds(equations, prior, possible=True))
    yield Row(
        "payload's hull of bodies that can exist, safe dual bounds",
        possible,
        "cvxpy, Clarabel",
        theirs,
        most_seconds=2.0,
        note=f"linear programs included; ends {apart:.0e} apart; the peer ran once and proves nothing",
    )


def _timed(peer: object, equations: BoundedRows, ours: GuaranteedBounds) -> tuple[float, float]:
    """Seconds of the peer, and how far its ends are from ours."""
    started = time.perf_counter()
    ends = peer(equations, ours.prior)  # type: ignore[operator]
    seconds = time.perf_counter() - started
    apart = float(np.abs((ends - np.array([ours.lower, ours.upper])) / SIZES).max())
    assert apart < SAME, f"the ends differ by {apart:.1e}"
    return seconds, apart


def _by_linprog(rows: BoundedRows, prior: PayloadBox) -> np.ndarray:
    scale = np.concatenate([SIZES, np.where(rows.spread > 0.0, rows.spread, 1.0)])
    W = np.hstack([rows.load, rows.robot]) * scale / rows.error[:, None]
    y = rows.target / rows.error
    G = np.hstack([prior.conditions * SIZES, np.zeros((len(prior.limits), rows.robot.shape[1]))])
    low = np.concatenate([prior.lower, -rows.spread]) / scale
    high = np.concatenate([prior.upper, rows.spread]) / scale
    ends = np.empty((2, 10))
    for side, sign in enumerate((1.0, -1.0)):
        for k in range(10):
            found = scipy.optimize.linprog(
                sign * np.eye(len(scale))[k],
                np.vstack([W, -W, G]),
                np.concatenate([1.0 + y, 1.0 - y, prior.limits]),
                bounds=np.column_stack([low, high]),
                method="highs",
            )
            ends[side, k] = sign * found.fun * SIZES[k]
    return ends


def _by_cvxpy(rows: BoundedRows, prior: PayloadBox) -> np.ndarray:
    """As a user of cvxpy would write it: one parametrised program, the objective changed."""
    x, delta, c = cp.Variable(10), cp.Variable(rows.robot.shape[1]), cp.Parameter(10)
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (x[k] for k in range(10))
    J = cp.bmat(
        [
            [(yy + zz - xx) / 2, -xy, -xz, hx],
            [-xy, (xx + zz - yy) / 2, -yz, hy],
            [-xz, -yz, (xx + yy - zz) / 2, hz],
            [hx, hy, hz, m],
        ]
    )
    scaled = rows.load * SIZES / rows.error[:, None], rows.robot * rows.spread / rows.error[:, None]
    left = rows.target / rows.error - scaled[0] @ x - scaled[1] @ delta
    problem = cp.Problem(
        cp.Minimize(c @ x),
        [
            left <= 1.0,
            left >= -1.0,
            delta <= 1.0,
            delta >= -1.0,
            x >= prior.lower / SIZES,
            x <= prior.upper / SIZES,
            (prior.conditions * SIZES) @ x <= prior.limits,
            # In units of 1 kg and 0.1 m the pseudo-inertia has the same form.
            J >> 0,
        ],
    )
    ends = np.empty((2, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for side, sign in enumerate((1.0, -1.0)):
            for k in range(10):
                c.value = sign * np.eye(10)[k]
                ends[side, k] = sign * problem.solve(solver=cp.CLARABEL) * SIZES[k]
    return ends
