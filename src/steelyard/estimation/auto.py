"""The estimator that the data asks for, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import Prior
from steelyard.errors import NoSolutionError
from steelyard.estimation.entropic import fit_entropic, stated_prior
from steelyard.estimation.equations import base_rows, residual_rms, residuals, row_triangles
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.linear import fit_huber, fit_weighted, settled_weights
from steelyard.estimation.load_friction import fit_load_friction, tangent_rows
from steelyard.estimation.physical import fit_lmi, with_full_set
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

# Nonlinear problems linearised at an estimate, so that linear tools apply


def linearised(problem: Problem, estimate: Estimate) -> Problem:
    r"""The question with load friction as a linear one near an estimate: $J\phi = \tau + F_l\,|r|\,s_v$.

    Its equations are those of a Gauss-Newton step, which the estimate solves, so `with_full_set` and every
    estimator that takes compressed equations can be asked. The answer of another estimator holds near the
    estimate: linearise there again.

    Args:
        problem: the question, with its samples.
        estimate: its answer by `fit_load_friction`.

    Returns:
        The problem with compressed equations.
    """
    return replace(problem, compressed=row_triangles(tangent_rows(problem, estimate.representative)))


NOISELESS = 1e-6
"""Unexplained share of the torque below which the data decides everything that it shows."""
OUTLYING = 20.0
"""Deviations beyond which a residual is neither noise nor what the model lacks."""
BELIEVABLE = "believable links"
"""Name of the default method."""


@with_one_blas_thread
def fit_auto(problem: Problem, prior: Prior | None = None, strength: float | None = None) -> Estimate:
    r"""Links that explain the torques and stay near what is known; base parameters from the data alone.

    1. What the data says alone: weighted least squares. Friction that grows with the load is bilinear and
       Stribeck friction has shapes that are not linear: they are fitted with the rest. Where far more
       residuals are large than normal noise has, Huber's loss, which they cannot pull, if that makes the
       estimate surer: the pulses of a controller that answers to the steps of an encoder take each other
       back. What the motion hides has an infinite variance. This is `values` with their covariance.
    2. Links near the prior that predict these torques, by `fit_entropic`: `parameters`. Data without noise
       leaves nothing to weigh up: then the links nearest to the prior that predict the same torques.
    3. Without a prior, links with the same torques, or the best that can exist.

    Args:
        problem: the question, with its samples.
        prior: what is known beforehand; None for what the problem's prior states, if it states every link.
        strength: of the pull towards it; None lets left-out blocks choose.

    Returns:
        The estimate; its first finding, `method-chosen`, says what was done, why, and what it cost.

    Raises:
        NoSolutionError: there are too few samples for the number of base parameters.
        SolverError: the fit did not settle.
    """
    plain, reason, linearise = _data_alone(problem)
    posed = replace(problem, layout=plain.layout, compressed=None) if _reshaped(problem, plain) else problem
    cut = _without_outliers(posed, plain) if plain.method == "Huber" else posed
    linear = cut if linearise is None else linearise(cut)
    if prior is None:
        prior = stated_prior(problem)
    if prior is None:
        return _without_prior(linear, plain, reason)
    size = np.sqrt((problem.samples.tau**2).mean(axis=0))
    if strength is None and np.linalg.norm(plain.residual) <= NOISELESS * np.linalg.norm(size):
        full = with_full_set(linear, plain)
        if not any(x.code == "no-possible-links" for x in full.findings):
            return _because(full, f"{reason}; the data holds no noise, so it decides all that it shows")
    weights = plain.weights if cut is posed else settled_weights(cut, "infinite")[0]
    drawn = fit_entropic(
        linear, replace(prior, layout=plain.layout), strength, weights=weights, linearise=linearise
    )
    phi = drawn.representative
    residual = residual_rms(posed, posed.base.matrix @ phi) if linearise is None else drawn.residual
    price = {
        "unconstrained": _percent(plain.residual, size),
        "believable": _percent(residual, size),
    }
    pull = drawn.detail["strength"]
    chosen = "as given" if strength is not None else str(drawn.detail["strength_chosen"])
    estimate = replace(
        plain,
        method=BELIEVABLE,
        parameters=drawn.parameters,
        residual=residual,
        findings=(*plain.findings, *drawn.findings),
        detail={**plain.detail, **drawn.detail, "data_alone": plain.method, "price": price},
    )
    return _because(
        estimate,
        f"links near the prior by a pull of {pull:g}, {chosen}; their error on the samples fitted is "
        f"{_dearer(price)} that of {plain.method} without links. Base parameters: {reason}",
    )


Linearise = Callable[[Problem], Problem]


def _data_alone(problem: Problem) -> tuple[Estimate, str, Linearise | None]:
    """The estimate of base parameters, why this one, and what makes its equations linear."""
    if "load" in problem.layout.drive:
        loaded = fit_load_friction(problem, on_blind="infinite")
        reason = (
            "bilinear least squares, because friction that grows with the load multiplies the links' numbers"
        )
        return loaded, reason, lambda part: linearised(part, loaded)
    if "stribeck" in problem.layout.drive:
        reason = (
            "separable least squares, because the shape of Stribeck friction is not linear in its numbers"
        )
        try:
            return fit_friction(problem, on_blind="infinite"), reason, None
        except NoSolutionError as unsettled:
            why = unsettled.message.rstrip(".")
            reason = f"weighted least squares with Stribeck friction of the shapes stated, because {why}"
            return fit_weighted(problem, on_blind="infinite"), reason, None
    try:
        # White noise is cheap to spread; the memory of the noise is asked of the estimate that is kept.
        robust = fit_huber(problem, colour="white")
    except NoSolutionError as hidden:
        why = hidden.message.rstrip(".")
        reason = f"weighted least squares with infinite intervals for what the motion hides: {why}"
        return fit_weighted(problem, on_blind="infinite"), reason, None
    plain = fit_weighted(problem)
    outliers = [x for x in robust.findings if x.code == "outliers"]
    if not outliers:
        reason = "weighted least squares, because residuals hold no outliers and the motion shows every base"
        return plain, f"{reason} parameter", None
    robust, many = fit_huber(problem), outliers[0].message.split(";")[0]
    if not _surer(plain, robust):
        return robust, f"Huber's loss, because {outliers[0].message.rstrip('.')}", None
    reason = f"weighted least squares: {many}, but they take each other back, and to bound their pull would "
    return plain, f"{reason}make base parameters less sure", None


def _surer(one: Estimate, other: Estimate) -> bool:
    """Whether the deviations of one estimate are smaller than those of another, by their geometric mean."""
    ratios = one.deviations / other.deviations
    return bool(np.log(ratios).mean() < 0.0)


def _reshaped(problem: Problem, plain: Estimate) -> bool:
    return plain.layout is not problem.layout


def _without_outliers(problem: Problem, robust: Estimate) -> Problem:
    r"""The question with torques whose residuals under Huber's estimate are cut at `OUTLYING` deviations.

    Only what is no noise at all, a knock or a lost sample, is touched. Cutting at Huber's own bound would
    give his estimate exactly, but it would move every third torque towards a fit that has seen it, and
    left-out blocks would no longer tell how strong a pull may be: what a model lacks has long tails as well.
    """
    assert robust.weights is not None  # Huber's always has
    reach = OUTLYING / robust.weights
    left = np.concatenate(residuals(base_rows(problem), robust.values))
    tau = problem.samples.tau - left + np.clip(left, -reach, reach)
    return replace(problem, compressed=None, evidence=replace(problem.samples, tau=tau))


def _without_prior(problem: Problem, plain: Estimate, reason: str) -> Estimate:
    full = with_full_set(problem, plain)
    if not any(x.code == "no-possible-links" for x in full.findings):
        return _because(full, f"{reason}; there is no prior, so links are any that predict the same torques")
    possible = fit_lmi(problem, weights=plain.weights)
    estimate = replace(
        plain,
        method=possible.method,
        parameters=possible.parameters,
        residual=possible.residual,
        findings=(*plain.findings, *possible.findings),
        detail={**plain.detail, **possible.detail},
    )
    return _because(
        estimate,
        "least squares over possible links without a prior, because no links that can exist predict the "
        f"torques of the unconstrained fit; single links may be absurd. Base parameters: {reason}",
    )


def _dearer(price: dict[str, float]) -> str:
    """How much more torque believable links leave, as a ratio: both figures hang on how logs are filtered."""
    ratio = price["believable"] / max(price["unconstrained"], float(np.finfo(float).tiny))
    if ratio > 2.0:
        return f"{ratio:.3g} times"
    return f"{100.0 * abs(ratio - 1.0):.2g} % {'above' if ratio >= 1.0 else 'below'}"


def _percent(residual: Array, size: Array) -> float:
    return 100.0 * float(np.linalg.norm(residual) / max(float(np.linalg.norm(size)), np.finfo(float).tiny))


def _because(estimate: Estimate, reason: str) -> Estimate:
    finding = Finding(Severity.INFO, "method-chosen", f"{reason}.", "auto")
    return replace(
        estimate,
        findings=(finding, *estimate.findings),
        detail={**estimate.detail, "chosen": reason},
    )
