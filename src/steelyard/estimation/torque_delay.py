r"""A delay between torque and motion, found by the model that explains both.

The motion is moved against the torque and the model fitted anew,

$$\sigma_k(d)^2 = \min_\beta \operatorname{mean}_t \bigl(\tau_k(t) - W_k(t - d)\,\beta\bigr)^2,$$

at the same instants t for every d. It is the motion that is interpolated, by splines: interpolated torques
would have less noise between samples than on them, which looks like a better fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize_scalar

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import torque_regressor
from steelyard.estimation.residual_memory import effective_samples
from steelyard.estimation.turned import OVERWHELMING
from steelyard.estimation.turned_equations import MOST_SAMPLES, NOTHING, TurnedEquations
from steelyard.finding import Finding, Severity
from steelyard.problem import Evidence, Problem

LONGEST = 0.05
"""Longest delay looked for, either way, s."""
CLEARLY = 0.9
"""Share of the residual, as a geometric mean over degrees of freedom, that a delay must leave at most."""
_COARSE, _FINE = 9, 1e-4
_ROUNDS, _RANK, _DEGREE = 3, 1e-11, 5


def delay_findings(problem: Problem) -> tuple[Finding, ...]:
    """Say whether the torque comes late, or early, against the motion, and by how much.

    A delay counts where the residual falls by a tenth at least, as a geometric mean over degrees of freedom,
    and the likelihood of normal noise rises by a factor of at least e¹⁰. At most `MOST_SAMPLES` instants are
    looked at, and delays of at most `LONGEST`. Torques of a wrong sign fit at no delay: ask `turned_findings`
    first.

    Args:
        problem: the question, with its samples.

    Returns:
        One finding, or none; none also where the motions are too short, or joints float.

    Raises:
        InputError: the samples were not kept.
        RecordingError: the problem was posed without accelerations.
    """
    posed = TurnedEquations.of(problem).problem
    instants = _instants(posed.samples)
    nv, b = posed.robot.nv, posed.base.count
    if posed.robot.nq != nv or len(instants) * nv <= 2 * b:
        return ()
    explain = _explainer(posed, instants)
    weights = np.ones(nv)
    for _ in range(_ROUNDS):
        now = _deviations(posed, instants, explain(0.0, weights))
        weights = 1.0 / now

    def gains(d: float) -> Array:
        return np.asarray(np.log(now / _deviations(posed, instants, explain(d, weights))))

    grid = np.linspace(-LONGEST, LONGEST, _COARSE)
    k = int(np.argmax([gains(float(d)).sum() for d in grid]))
    between = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, _COARSE - 1)])
    found = minimize_scalar(
        lambda d: -float(gains(d).sum()), bounds=between, method="bounded", options={"xatol": _FINE}
    )
    d = float(found.x)
    nothing = NOTHING * np.sqrt((posed.samples.tau[instants] ** 2).mean(axis=0))
    counted = effective_samples(explain(d, weights), nothing) - b / nv
    share = float(np.exp(-gains(d).mean()))
    if share > CLEARLY or float(np.maximum(counted, 0.0) @ gains(d)) < OVERWHELMING:
        return ()
    more = " or more" if LONGEST - abs(d) < 2.0 * _FINE else ""
    return (
        Finding(
            Severity.WARNING,
            "torque-delay",
            f"torques come {1e3 * abs(d):.2g} ms{more} too {'late' if d > 0.0 else 'early'} for the motion: "
            f"without that the model leaves {100.0 * share:.3g} % of the residual. Take it out "
            f"(without_delay by {d:.2g} s), or log both at the same instant.",
            "tau",
        ),
    )


def _instants(at: Evidence) -> IntArray:
    """Samples far enough from the ends of their motion to look both ways, evenly spread over the log."""
    inside = [np.zeros(0, dtype=np.int64)]
    for part in at.motions:
        t = at.time[part]
        if len(t) > _DEGREE:
            inside.append(part.start + np.flatnonzero((t >= t[0] + LONGEST) & (t <= t[-1] - LONGEST)))
    index = np.concatenate(inside)
    chosen = np.linspace(0, max(len(index) - 1, 0), min(len(index), MOST_SAMPLES)).round()
    return np.asarray(index[chosen.astype(np.int64)])


def _explainer(posed: Problem, instants: IntArray) -> Callable[[float, Array], Array]:
    """What is left of the torque, shape (n, nv), if it is late by d and weighted by w."""
    at, columns = posed.samples, posed.base.columns
    splines = []
    for part in at.motions:
        mine = instants[(instants >= part.start) & (instants < part.stop)]
        if len(mine):
            motion = np.hstack([at.q[part], at.v[part], at.a[part]])
            splines.append((at.time[mine], make_interp_spline(at.time[part], motion, k=_DEGREE)))
    tau = at.tau[instants]

    def left(d: float, weights: Array) -> Array:
        motion = np.vstack([spline(t - d) for t, spline in splines])
        Y = torque_regressor(posed.robot, posed.layout, *np.hsplit(motion, 3), code="generic")
        y = tau - Y @ posed.known
        W = (Y[..., columns] * weights[:, None]).reshape(-1, len(columns))
        scale = np.linalg.norm(W, axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        values, vectors = np.linalg.eigh((W / scale).T @ (W / scale))
        shown = values > _RANK * values[-1]
        projected = vectors[:, shown].T @ (W.T @ (y * weights).ravel() / scale)
        beta = vectors[:, shown] @ (projected / values[shown]) / scale
        return np.asarray(y - Y[..., columns] @ beta)

    return left


def _deviations(posed: Problem, instants: IntArray, left: Array) -> Array:
    """Residual deviations, at least `NOTHING` of the torque; 1 where there is no torque, shape (nv,)."""
    torque = np.sqrt((posed.samples.tau[instants] ** 2).mean(axis=0))
    sigma = np.maximum(np.sqrt((left**2).mean(axis=0)), NOTHING * torque)
    return np.where(torque > 0.0, sigma, 1.0)
