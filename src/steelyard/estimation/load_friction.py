"""Friction that grows with the load, found together with the links that make the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np
import scipy.optimize

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import NoSolutionError
from steelyard.estimation.load_findings import MOST, SURE, left_out_finding, load_findings
from steelyard.estimation.load_groups import LoadGroups, LoadSamples
from steelyard.estimation.load_rows import tangent_rows
from steelyard.estimation.noise_covariance import Colour, linear_covariance
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.weighted import ROUND_OFF
from steelyard.estimation.weighted_rows import residuals, weighted_factor
from steelyard.estimation.weighted_solution import OnBlind, solved
from steelyard.finding import Finding
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

_ROUNDS, _SORTINGS, _HALVINGS = 3, 30, 4
_SETTLED, _TIGHT = 1e-8, 1e-15


@with_one_blas_thread
def fit_load_friction(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""Base parameters together with each joint's friction per load, $F_l$.

    $$\min_{\phi} \sum_k w_k^2 \lVert r_k + D_k\delta + F_{l,k}\,|r_k| \operatorname{sign}(v_k)
      - \tau_k \rVert^2, \qquad r = Y\phi_{links}$$

    The torque is bilinear in $F_l$ and the links wherever the load keeps its sign. So samples are sorted by
    it and compressed, Levenberg and Marquardt's method solves the rest without them, and both are repeated
    until no sample changes sides. Weights follow the noise of each degree of freedom.

    Without load friction, torques see a rotor and the inertia of the link it turns by their sum alone at some
    joints. There load friction is what tells them apart, as well as it is known itself: where it cannot be
    told from zero their variances are infinite, while the torque predicted is not affected.

    A joint that carries next to nothing does not show it, and the fit then takes something else for it: on
    logs of one arm its last joint got -9 to 1.2. Beyond `MOST`, of either sign, it is left out at that joint
    and the rest fitted again.

    Args:
        problem: the question, with its samples; its layout has the term `load`.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them an
            infinite variance and a finding.

    Returns:
        The estimate; F_l is among its base parameters, but where its layout fixes it at zero because it was
        left out, which a finding says. `linearised` gives the equations that `with_full_set`
        and estimators of possible links need.

    Raises:
        InputError: the layout has no load term, joints mimic others, or the samples were not kept.
        NoSolutionError: the motion hides something, there are too few samples, or the search does not settle.
    """
    left_out: list[Finding] = []
    while True:
        try:
            estimate = _fitted(problem, colour, on_blind)
            beyond = _beyond(problem, estimate.values)
            if not beyond:
                return replace(estimate, findings=(*left_out, *estimate.findings))
        except NoSolutionError as unsettled:
            # What no gear has may be what keeps the sides from settling.
            beyond = _beyond(problem, unsettled.evidence.get("values", ()))
            if not beyond:
                raise
        left_out += [left_out_finding(name, value) for name, value in beyond.items()]
        layout = problem.layout.fixing(dict.fromkeys(beyond, 0.0))
        problem = replace(problem, layout=layout, compressed=None)


def _beyond(problem: Problem, beta: object) -> dict[str, float]:
    """The load coefficients among base parameters that no gear has, by name; none where there are none."""
    named = dict(zip(problem.base.names, np.asarray(beta, dtype=float).tolist(), strict=False))
    loads = [x.name for x in problem.layout.parameters if x.term == "load" and not x.fixed]
    return {name: named[name] for name in loads if abs(named.get(name, 0.0)) > MOST}


def _fitted(problem: Problem, colour: Colour, on_blind: OnBlind) -> Estimate:
    """The estimate with the loads that the layout has."""
    base, tau = problem.base, problem.samples.tau
    floor = ROUND_OFF * max(float(np.sqrt((tau**2).mean())), np.finfo(float).tiny)
    weights = 1.0 / np.maximum(np.sqrt((tau**2).mean(axis=0)), floor)
    samples = LoadSamples.of(problem)
    groups = samples.sorted_by(None)
    beta = _without_load(groups, weights)
    groups = samples.sorted_by(_parameters(problem, beta), groups)
    for _ in range(_ROUNDS):
        beta, groups = _search(samples, groups, beta, weights)
        rms = _rms(groups, beta, weights, len(tau))
        used, weights = weights, 1.0 / np.maximum(rms, floor)
    solution, regressors = _parameters(problem, beta), samples.regressors
    at_solution = tangent_rows(problem, solution, base.columns, given=regressors)
    seen = solved(weighted_factor(at_solution, repeat(used)), base.names, on_blind)
    left = residuals(at_solution, beta)
    doubtful = _doubtful(groups, beta, np.sqrt(np.diag(seen.inverse)) * _scatter(left, used))
    sure = _parameters(problem, _without(beta, doubtful))
    source = tangent_rows(problem, sure, base.columns, given=regressors)
    known = solved(weighted_factor(source, repeat(used)), base.names, "infinite")
    covariance, noise = linear_covariance(source, used, known.inverse, left, colour)
    spread = Spread(covariance, known.blind)
    return Estimate(
        method="load friction",
        layout=problem.layout,
        base=base,
        values=beta,
        residual=rms,
        samples=len(tau),
        condition=seen.condition,
        covariance=spread.covariance,
        weights=used,
        findings=load_findings(problem, groups, beta, np.sqrt(np.diag(spread.covariance))),
        recordings=problem.digests,
        detail={"colour": colour, "orders": [model.order for model in noise]},
    )


def _search(
    samples: LoadSamples, groups: LoadGroups, beta: Array, weights: Array
) -> tuple[Array, LoadGroups]:
    """Minimise with the sides held, sort again, until sides or loss no longer change."""
    problem = samples.problem
    loss = _loss(problem, beta, weights)
    for _ in range(_SORTINGS):
        best = _minimum(groups, beta, weights)
        for halving in range(_HALVINGS):
            trial = beta + 0.5**halving * (best - beta)
            trial_loss = _loss(problem, trial, weights)
            if trial_loss < loss:
                break
        else:
            return beta, groups
        settled = loss - trial_loss <= _SETTLED * loss
        beta, loss, before = trial, trial_loss, groups.pattern
        groups = samples.sorted_by(_parameters(problem, beta), groups)
        if settled or (halving == 0 and (groups.pattern == before).all()):
            return beta, groups
    raise NoSolutionError(
        f"the sides of the load did not settle in {_SORTINGS} sortings.",
        place="friction",
        remedy="Leave 'load' out of the drive terms.",
        evidence={"values": beta.tolist()},
    )


def _loss(problem: Problem, beta: Array, weights: Array) -> float:
    """The weighted squared residual of the samples, each on the side where beta puts it."""
    at = problem.samples
    tau = inverse_dynamics(problem.robot, problem.layout, _parameters(problem, beta), at.q, at.v, at.a)
    return float((((tau - at.tau) * weights) ** 2).sum())


def _minimum(groups: LoadGroups, start: Array, weights: Array) -> Array:
    """The best base parameters with the sides held."""
    if len(groups.rows) < len(start):
        raise NoSolutionError(
            f"{len(groups.pattern)} samples are too few for {len(start)} base parameters.",
            place="recording",
            remedy="Record a longer motion.",
        )
    found = scipy.optimize.least_squares(
        groups.residual,
        start,
        groups.slope,
        method="lm",
        x_scale="jac",
        xtol=_TIGHT,
        ftol=_TIGHT,
        gtol=_TIGHT,
        args=(weights,),
    )
    return np.asarray(found.x)


def _without_load(groups: LoadGroups, weights: Array) -> Array:
    """The base parameters that explain most without friction that grows with the load, shape (b,)."""
    nothing = np.zeros(groups.rows.shape[1] - 2)
    W = -groups.slope(nothing, weights)
    W[:, groups.loads[groups.loads >= 0]] = 0.0
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(W / scale, groups.residual(nothing, weights), rcond=1e-10)[0] / scale)


def _parameters(problem: Problem, beta: Array) -> Array:
    """A full vector with these base parameters, shape (p,)."""
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    return phi


def _rms(groups: LoadGroups, beta: Array, weights: Array, samples: int) -> Array:
    left = groups.residual(beta, weights) / weights[groups.dofs]
    return np.asarray(np.sqrt(np.bincount(groups.dofs, left**2, len(weights)) / samples))


def _scatter(left: Sequence[Array], weights: Array) -> float:
    """Deviation of the weighted residual, dimensionless."""
    return float(np.sqrt((np.concatenate(left) ** 2 * weights**2).mean()))


def _doubtful(groups: LoadGroups, beta: Array, deviations: Array) -> IntArray:
    """Places of the load coefficients that could as well be zero."""
    places = groups.loads[groups.loads >= 0]
    return places[np.abs(beta[places]) <= SURE * deviations[places] + ROUND_OFF]


def _without(beta: Array, places: IntArray) -> Array:
    less = np.array(beta)
    less[places] = 0.0
    return less
