"""Every estimator by the name a command calls it, with settings that the data itself suggests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.consistency import Prior
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation.auto import fit_auto
from steelyard.estimation.entropic import fit_entropic
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.instrumental import fit_instrumental
from steelyard.estimation.linear import (
    fit_bounded,
    fit_huber,
    fit_least_squares,
    fit_ridge,
    fit_weighted,
    relative_bounds,
    settled_weights,
)
from steelyard.estimation.load_friction import fit_load_friction
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.physical import fit_lmi, fit_log_cholesky
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

Instruments = tuple[ArrayLike, ArrayLike, ArrayLike]
"""q, v and a of a motion that carries no measurement noise."""
PRIOR_RANGE = 0.3
"""Half the range around the description's numbers where a method needs one, by the size of each parameter."""
UNSTATED = 1e-3
"""Pull, in deviations per unit, towards zero on drive terms that have no prior."""
WINDOW = 0.1
"""Length of a window of the momentum method, s (Zhang et al. 2025 have 0.10 to 0.12 s)."""


def _wls(problem: Problem) -> Estimate:
    if "load" in problem.layout.drive:
        return fit_load_friction(problem, on_blind="infinite")
    if "stribeck" in problem.layout.drive:
        return fit_friction(problem, on_blind="infinite")
    return fit_weighted(problem, on_blind="infinite")


def _ridge(problem: Problem) -> Estimate:
    """In units of noise, a parameter that is off by its prior range weighs as much as one sample."""
    weights = settled_weights(problem, "infinite")[0]
    lower, upper = relative_bounds(problem.layout, PRIOR_RANGE)
    half = 0.5 * (upper - lower)
    known = np.isfinite(half) & (half > 0.0)
    prior = problem.layout.nominal if problem.prior is None else problem.prior
    # Drive terms that nobody states are drawn towards zero, too weakly to matter where the data speaks.
    drive = np.array([parameter.term in problem.layout.drive for parameter in problem.layout.parameters])
    asked = replace(problem, prior=np.where(drive & np.isnan(prior), 0.0, prior))
    scales = np.where(known & ~np.isnan(prior), 1.0 / np.where(known, half, 1.0), UNSTATED)
    return fit_ridge(asked, 1.0, scales=scales, weights=weights)


def _momentum(problem: Problem, window: float | None) -> Estimate:
    """A log that is coarser than the usual window gets one interval to a window."""
    if window is None:
        window = max(WINDOW, float(np.median(np.diff(problem.samples.time))))
    return fit_momentum(problem, window, on_blind="infinite")


_WEIGHTED: dict[str, Callable[..., Estimate]] = {
    "bounded": lambda problem, weights: fit_bounded(problem, PRIOR_RANGE, weights=weights),
    "lmi": lambda problem, weights: fit_lmi(problem, weights=weights),
    "cholesky": lambda problem, weights: fit_log_cholesky(problem, weights=weights),
}
_PLAIN: dict[str, Callable[[Problem], Estimate]] = {
    "ols": fit_least_squares,
    "wls": _wls,
    "huber": lambda problem: fit_huber(problem, on_blind="infinite"),
    "ridge": _ridge,
}
METHODS = ("auto", *_PLAIN, "momentum", *_WEIGHTED, "entropic", "iv")
"""Names of the estimators."""


@with_one_blas_thread
def fit_by_name(
    problem: Problem,
    method: str,
    *,
    instruments: Instruments | None = None,
    prior: Prior | None = None,
    strength: float | None = None,
    window: float | None = None,
) -> Estimate:
    """Fit by the estimator of a name.

    Methods over full parameters weigh each joint by the noise that weighted least squares finds; `ridge` and
    `bounded` take ±30 % of the description's numbers for their prior knowledge.

    Args:
        problem: the question, with its samples.
        method: one of `METHODS`.
        instruments: q, v and a that carry no measurement noise, for `iv`.
        prior: what is known beforehand, for `auto` and `entropic`; None for what the problem's prior states.
        strength: of the pull towards it; None lets left-out blocks choose.
        window: length of a window, s, for `momentum`; None for `WINDOW`, or an interval of a coarser log.

    Raises:
        UnknownNameError: there is no such method.
        InputError: the method needs something that was not given.
        NoSolutionError: the data does not determine what the method asks for.
    """
    if method == "auto":
        return fit_auto(problem, prior, strength)
    if method == "entropic":
        weights = settled_weights(problem, "infinite")[0]
        return fit_entropic(problem, prior, strength, weights=weights)
    if method in _PLAIN:
        return _PLAIN[method](problem)
    if method == "momentum":
        return _momentum(problem, window)
    if method in _WEIGHTED:
        return _WEIGHTED[method](problem, settled_weights(problem, "infinite")[0])
    if method != "iv":
        raise UnknownNameError("method", method, METHODS, place="--method")
    if instruments is None:
        raise InputError(
            "iv needs a motion without measurement noise.",
            place="--method",
            remedy="Log the references (qref_…, vref_…, aref_…), or give the planned --motion.",
        )
    return fit_instrumental(problem, *instruments, on_blind="infinite")
