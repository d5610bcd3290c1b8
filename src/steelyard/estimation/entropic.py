r"""Possible links that explain the torques and stay near what is known, as strongly as unseen torques allow.

$$\min_\phi\; \lVert R\,(\phi, -1) \rVert^2 + \gamma\,D(\phi, \phi_0)$$

with the divergence D of `consistency.divergence` (Lee, Wensing and Park 2020). What the torques do not show
comes from the prior, so no mass runs away along a direction that the motion leaves open.

How strong the pull is the data decides by prediction. The training logs are cut into blocks of consecutive
samples; each is left out in turn, and its torques are predicted by the fit to the others, for strengths over
seven decades. Of all strengths whose error is within one standard error of the least, or within a hundredth
of it, the strongest is taken (the one-standard-error rule of Breiman and others, 1984). No noise model
enters: residuals of real robots remember seconds, and a test that takes them for white is far too sure of
itself. The standard error is that of the *difference* to the best strength over blocks, because blocks differ
far more among each other than strengths do. On long logs it becomes so small that an upper arm twice its
length would be bought for half a percent of the error; nobody would take that, hence the hundredth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.consistency import Divergence, DrawnFit, Prior, drawn_fits, prior_of
from steelyard.errors import InputError
from steelyard.estimation.physical import full_set_estimate
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

BLOCKS = 6
"""Blocks that are left out in turn; with several logs at least this many, of about the same length."""
STRENGTHS = tuple(float(x) for x in 10.0 ** np.arange(6.0, -0.75, -0.5))
"""Strengths tried, in units of a sample's squared noise: 1 weighs a link that is off by its own size like a
sample that is off by its noise."""
UNTESTED = 100.0
"""Strength where nothing can be left out, because the samples were not kept or are too few: the pull of a
prior that is 30 % off beside noise that remembers about nine samples."""
WORTH = 0.02
"""Squared error of left-out blocks, relative, that a stronger pull may always cost: a hundredth of the error
itself, as 2.92 for 2.89 %."""
_FEWEST = 8
"""Samples a block must have."""


@dataclass(frozen=True, eq=False)
class StrengthChoice:
    """How a strength was chosen.

    Attributes:
        strength: the one chosen.
        strengths: those tried, from strong to weak.
        errors: squared residual of left-out blocks, relative to the least, shape (n,), dimensionless.
        standard_errors: of the differences to the least, relative to it, shape (n,), dimensionless.
        reason: in words.
    """

    strength: float
    strengths: tuple[float, ...]
    errors: Array
    standard_errors: Array
    reason: str


@with_one_blas_thread
def fit_entropic(
    problem: Problem,
    prior: Prior | ArrayLike | None = None,
    strength: float | None = None,
    *,
    weights: ArrayLike | None = None,
    linearise: Callable[[Problem], Problem] | None = None,
) -> Estimate:
    r"""Possible links that explain the torques and stay near what is known, such as a model from CAD.

    Args:
        problem: the question.
        prior: what is known beforehand; a vector phi_0, shape (p,), SI, NaN for drive terms nothing is known
            of, is completed by `consistency.prior_of`. None for the problem's prior, or the description's.
        strength: gamma, in units of the squared weighted residual; None lets prediction of left-out blocks
            choose.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        linearise: what makes the equations of a part of the samples linear, where torque is not; None for
            torque equations that are.

    Returns:
        The estimate, with `parameters`; `detail` holds the strength, how it was chosen and the divergence.

    Raises:
        InputError: the strength is not positive, or the prior says nothing of a link.
        NoSolutionError: known sums contradict each other.
        SolverError: the fit did not settle.
    """
    known = _known(problem, prior)
    divergence = Divergence(known)
    R = problem.compressed.factor(weights)
    if strength is None:
        choice = choose_strength(problem, divergence, weights, linearise)
    elif np.isfinite(strength) and strength > 0:
        choice = StrengthChoice(float(strength), (float(strength),), np.ones(1), np.zeros(1), "given")
    else:
        raise InputError(f"must be positive, got {strength}.", place="strength")
    fit = _along(R, divergence, [choice.strength])[0]
    detail = {
        "status": "optimal",
        "iterations": fit.steps,
        "squared_residual": fit.squares,
        "gap": fit.gap,
        "strength": choice.strength,
        "strength_chosen": choice.reason,
        "strengths_tried": list(choice.strengths),
        "left_out_error": choice.errors.tolist(),
        "left_out_standard_error": choice.standard_errors.tolist(),
        "divergence": fit.divergence,
    }
    return full_set_estimate(
        "entropic", problem, fit.parameters, weights=weights, findings=known.findings, detail=detail
    )


def with_links_near(problem: Problem, estimate: Estimate, prior: Prior) -> Estimate:
    r"""Links near the prior for base parameters that no possible links have.

    $$\min_\phi \lVert R_b\,(K\phi - \beta) \rVert^2 + \gamma\,D(\phi, \phi_0)$$

    with the strength that left-out blocks choose, as for `fit_entropic`. Without the pull such links run away
    along what the torques leave open.

    Args:
        problem: the question.
        estimate: of base parameters, from any method.
        prior: what is known beforehand.

    Returns:
        The estimate with `parameters`; its base parameters stay as they are.

    Raises:
        SolverError: the fit did not settle.
    """
    weights = estimate.weights
    if weights is None:
        weights = np.full(problem.robot.nv, 1.0 / np.sqrt((estimate.residual**2).mean()))
    R = problem.base_factor(weights)[:, :-1]
    factor = np.column_stack([R @ problem.base.matrix, R @ estimate.values])
    divergence = Divergence(prior)
    # Blocks of friction that grows with the load have no linear equations of their own.
    linear = "load" not in problem.layout.drive
    strength = choose_strength(problem, divergence, weights).strength if linear else UNTESTED
    fit = _along(factor, divergence, [strength])[0]
    return replace(
        estimate,
        parameters=fit.parameters,
        detail={**estimate.detail, "strength": strength, "divergence": fit.divergence},
    )


@with_one_blas_thread
def choose_strength(
    problem: Problem,
    divergence: Divergence,
    weights: ArrayLike | None = None,
    linearise: Callable[[Problem], Problem] | None = None,
) -> StrengthChoice:
    """Choose the strength of the pull by the torques of blocks that are left out in turn.

    Args:
        problem: the question.
        divergence: the pull.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        linearise: what makes the equations of a part of the samples linear, where torque is not.
    """
    parts = list(left_out_blocks(problem, linearise))
    if len(parts) < 3:
        reason = "taken, since the samples are too few to leave some out"
        return StrengthChoice(UNTESTED, (UNTESTED,), np.ones(1), np.zeros(1), reason)
    factors = [part.compressed.factor(weights) for part in parts]
    errors = np.empty((len(parts), len(STRENGTHS)))
    for k, left_out in enumerate(factors):
        others = np.asarray(np.linalg.qr(np.vstack([*factors[:k], *factors[k + 1 :]]), mode="r"))
        for j, fit in enumerate(_along(others, divergence, STRENGTHS)):
            missed = left_out @ np.r_[fit.parameters, -1.0]
            errors[k, j] = float(missed @ missed)
    total = errors.sum(axis=0)
    best = int(np.argmin(total))
    spread = (errors - errors[:, [best]]).std(axis=0, ddof=1) * np.sqrt(len(parts))
    allowed = np.flatnonzero(total <= total[best] + np.maximum(spread, WORTH * total[best]))
    chosen = int(min(best, allowed[0]))
    reason = (
        f"the strongest of {len(STRENGTHS)} whose prediction of {len(parts)} left-out blocks is within one "
        "standard error, or one percent, of the best"
    )
    floor = max(float(total[best]), float(np.finfo(float).tiny))
    return StrengthChoice(STRENGTHS[chosen], STRENGTHS, total / floor, spread / floor, reason)


def left_out_blocks(
    problem: Problem, linearise: Callable[[Problem], Problem] | None = None
) -> Iterator[Problem]:
    """The question put to each of several blocks of consecutive samples.

    Args:
        problem: the question; one whose samples were not kept has no blocks.
        linearise: what makes the equations of a part of the samples linear, where torque is not.

    Yields:
        Problems of about the same number of samples, none of which reaches over two motions.
    """
    if problem.evidence is None:
        return
    at = problem.evidence
    length = max(_FEWEST, -(-at.n // BLOCKS))
    for motion in at.motions:
        count = max(1, round((motion.stop - motion.start) / length))
        edges = np.linspace(motion.start, motion.stop, count + 1).astype(int)
        for start, stop in pairwise(edges):
            if stop - start < _FEWEST:
                continue
            part = replace(
                at,
                **{name: getattr(at, name)[start:stop] for name in ("time", "q", "v", "a", "tau")},
                starts=(0,),
                digests=("",),
            )
            block = replace(problem, compressed=None, evidence=part)
            yield block if linearise is None else linearise(block)


def _along(R: Array, divergence: Divergence, strengths: Sequence[float]) -> list[DrawnFit]:
    """The fits at strengths, along a path that begins stronger where the first strength is weak."""
    lead = [x for x in STRENGTHS[::2] if x > 3.0 * max(strengths)]
    return drawn_fits(R[:, :-1], R[:, -1], divergence, [*lead, *strengths])[len(lead) :]


def _known(problem: Problem, prior: Prior | ArrayLike | None) -> Prior:
    if isinstance(prior, Prior):
        if prior.layout.names != problem.layout.names:
            raise InputError("is of other parameters than the problem.", place="prior")
        return prior
    given = problem.prior if prior is None else checked("prior", prior, (problem.layout.size,), finite=False)
    return prior_of(problem.robot, problem.layout, given, torque=largest_torque(problem))


def stated_prior(problem: Problem) -> Prior | None:
    """What a problem's own prior says, where it states every link.

    Args:
        problem: the question.

    Returns:
        The prior; None where there is none, or it says nothing of some link.
    """
    links = 10 * len(problem.layout.links)
    if problem.prior is None or not np.isfinite(problem.prior[:links]).all():
        return None
    return prior_of(problem.robot, problem.layout, problem.prior, torque=largest_torque(problem))


def largest_torque(problem: Problem) -> Array | None:
    """The largest torque seen at each degree of freedom.

    Args:
        problem: the question.

    Returns:
        Torques, shape (nv,), N·m or N; None where the samples were not kept.
    """
    return None if problem.evidence is None else np.asarray(np.abs(problem.evidence.tau).max(axis=0))
