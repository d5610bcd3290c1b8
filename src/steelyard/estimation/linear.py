"""Least squares on base parameters: ordinary, weighted, Huber's, towards a prior, within bounds."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError, SolverError
from steelyard.estimation.equations import (
    OnBlind,
    Solution,
    base_rows,
    residual_rms,
    residuals,
    solved,
)
from steelyard.estimation.noise import Colour, NoiseModel, Spread, linear_covariance
from steelyard.estimation.physical import full_set_estimate
from steelyard.finding import Finding, Severity
from steelyard.identifiable import Criterion, Information, score
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

# Ordinary least squares

_BLIND = 1e-10


@with_one_blas_thread
def fit_least_squares(problem: Problem) -> Estimate:
    r"""The base parameters that leave the least squared torque: $\min_\beta \lVert W_1\beta - \tau \rVert^2$.

    Solved by an orthogonal factorisation of the column-scaled regressor; nothing is regularised.

    Args:
        problem: the question.

    Raises:
        NoSolutionError: the motion does not show every base parameter; names those it hides.
    """
    R = problem.base_factor()
    W, tau = R[:, :-1], R[:, -1]
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    Q, triangle, pivots = scipy.linalg.qr(W / scale, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    hidden = pivots[diagonal <= _BLIND * diagonal[0]]
    if hidden.size:
        names = ", ".join(problem.base.names[k] for k in sorted(hidden))
        raise NoSolutionError(
            f"the motion shows {W.shape[1] - hidden.size} of {W.shape[1]} base parameters; it hides {names}.",
            place="recording",
            remedy="Record a richer motion.",
            evidence={"hidden": [int(k) for k in hidden]},
        )
    beta = np.empty(W.shape[1])
    beta[pivots] = scipy.linalg.solve_triangular(triangle, Q.T @ tau)
    beta /= scale
    return Estimate(
        method="least squares",
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value,
        recordings=problem.digests,
    )


# Least squares with each degree of freedom weighted by its own noise, and intervals that know its colour.

ROUND_OFF = 1e-12
"""Noise below this share of the torque is taken for round-off, so that weights stay finite."""
_ROUNDS, _SETTLED = 30, 1e-6


@with_one_blas_thread
def fit_weighted(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""The base parameters that explain the torques best when every joint has a noise of its own.

    $$\min_\beta \sum_k \frac{\lVert W_k \beta - \tau_k \rVert^2}{\sigma_k^2}, \qquad
      \sigma_k^2 = \frac{\lVert r_k \rVert^2}{N - h_k}$$

    with $h_k$ the number of parameters that joint k pays for, the trace of its part of the hat matrix. Both
    are repeated until the noise settles. The covariance respects the memory of the residual; it takes the
    motion as exact, see `uncertainty` for a check of that.

    Args:
        problem: the question; its samples are needed unless `colour` is `white`.
        colour: what is assumed of the noise: `autoregressive`, `newey-west`, or `white`.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate, with covariance, weights, and in `detail` the noise's deviation and order by joint.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few samples for their number.
        InputError: the samples are needed but were not kept.
    """
    weights, solution = settled_weights(problem, on_blind)
    spread, noise = weighted_spread(problem, solution.values, weights, colour)
    return Estimate(
        method="weighted least squares",
        layout=problem.layout,
        base=problem.base,
        values=solution.values,
        residual=residual_rms(problem, solution.values),
        samples=problem.compressed.samples,
        condition=solution.condition,
        covariance=spread.covariance,
        weights=weights,
        recordings=problem.digests,
        detail={
            "colour": colour,
            "noise": (1.0 / weights).tolist(),
            "orders": [model.order for model in noise],
        },
    )


def settled_weights(problem: Problem, on_blind: OnBlind) -> tuple[Array, Solution]:
    """The weights that agree with the noise they lead to, and the solution there.

    Args:
        problem: the question.
        on_blind: what to do where the motion hides base parameters.

    Returns:
        Weights, shape (nv,), 1/(N·m) or 1/N; and the solution.

    Raises:
        NoSolutionError: the motion hides base parameters, or there are too few samples for their number.
    """
    small = problem.compressed
    torque = np.array([np.linalg.norm(T[:, -1]) for T in small.triangles]) / np.sqrt(small.samples)
    floor = ROUND_OFF * max(torque.max(), np.finfo(float).tiny)
    weights = np.ones(len(torque))
    for _ in range(_ROUNDS):
        solution = solved(problem.base_factor(weights), problem.base.names, on_blind)
        rms = residual_rms(problem, solution.values)
        left = small.samples - _paid(problem, solution, weights)
        if (left < 1.0).any():
            raise NoSolutionError(
                f"{small.samples} samples leave nothing to tell the noise by after {problem.base.count} base "
                "parameters.",
                place="recording",
                remedy="Record a longer motion.",
            )
        before = weights
        weights = 1.0 / np.maximum(rms * np.sqrt(small.samples / left), floor)
        if np.abs(weights / before - 1.0).max() < _SETTLED:
            break
    return before, solution


def weighted_spread(
    problem: Problem, values: Array, weights: Array, colour: Colour = "autoregressive"
) -> tuple[Spread, tuple[NoiseModel, ...]]:
    """How sure least squares with given weights is, from the residual that its estimate leaves.

    Args:
        problem: the question.
        values: beta, shape (b,), SI.
        weights: of the degrees of freedom, shape (nv,), 1/(N·m) or 1/N; their common factor does not matter
            where the samples were kept.
        colour: what is assumed of the noise; only `white` where the samples were not kept, and then the
            weights are taken for one over the noise.

    Returns:
        The spread, and the noise of each degree of freedom where a model of it is used.
    """
    solution = solved(problem.base_factor(weights), problem.base.names, "infinite")
    if colour == "white" and problem.evidence is None:
        return Spread(solution.inverse, solution.blind), ()
    source = base_rows(problem)
    left = residuals(source, values)
    covariance, noise = linear_covariance(source, weights, solution.inverse, left, colour)
    return Spread(covariance, solution.blind), noise


def _paid(problem: Problem, solution: Solution, weights: Array) -> Array:
    """Trace of each degree of freedom's part of the hat matrix, shape (nv,)."""
    place = {int(column): k for k, column in enumerate(problem.base.columns)}
    paid = []
    for w, columns, T in zip(weights, problem.compressed.columns, problem.compressed.triangles, strict=True):
        inside = [(i, place[int(c)]) for i, c in enumerate(columns) if int(c) in place]
        mine, base = [i for i, _ in inside], [j for _, j in inside]
        W = T[:, mine]
        paid.append(w**2 * float(np.sum((W @ solution.inverse[np.ix_(base, base)]) * W)))
    return np.array(paid)


# Huber's estimator: outliers pull with a bounded force.

TUNING = 1.345
"""Deviations beyond which a residual counts as an outlier; 95 % efficient on normal noise (Huber 1981)."""
NORMAL = 1.482602218505602
"""Deviations of normal noise per median absolute residual."""
_HUBER_ROUNDS = 200
_STEADY, _HUBER_SETTLED = 1e-2, 1e-6
"""Change of a base parameter in a round, in its deviations, from which on the scales are kept (medians jump
by a tenth of that from round to round and settle no further), and at which the answer is taken."""


@with_one_blas_thread
def fit_huber(
    problem: Problem,
    *,
    tuning: float = TUNING,
    colour: Colour = "autoregressive",
    on_blind: OnBlind = "refuse",
) -> Estimate:
    r"""The base parameters that minimise Huber's loss of the residuals, each in deviations of its joint.

    $$\min_\beta \sum_{t,k} \rho\!\left(\frac{\tau_{t,k} - W_{t,k}\beta}{s_k}\right), \qquad
      \rho(u) = \begin{cases} u^2/2 & |u| \le c \\ c\,|u| - c^2/2 & |u| > c \end{cases}$$

    by steps of least squares of the clipped residuals $s_k\,\psi(u)$, $\psi(u) = \max(-c, \min(c, u))$,
    longer by the share of residuals that are not clipped: they need no factorisation of the samples (Huber
    1981, section 7.8). $s_k$ is the median absolute residual of joint k made comparable to a deviation. To
    first order the answer is the least-squares fit of pseudo-residuals
    $s_k\,\psi(u) / \overline{\psi'}$, and their memory gives its covariance.

    Args:
        problem: the question, with its samples.
        tuning: c, dimensionless.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them zero
            and an infinite variance.

    Returns:
        The estimate; a finding says how many residuals were held back at each joint where that is unusual.

    Raises:
        NoSolutionError: the motion hides base parameters.
        InputError: the tuning is not positive, or the samples were not kept.
    """
    if not tuning > 0:
        raise InputError(f"must be positive, got {tuning}.", place="tuning")
    source, names = base_rows(problem), problem.base.names
    solution = solved(problem.base_factor(), names, on_blind)
    floor = ROUND_OFF * max(float(np.sqrt((problem.samples.tau**2).mean())), np.finfo(float).tiny)
    beta, scale, steady = solution.values, np.full(problem.robot.nv, floor), False
    for _ in range(_HUBER_ROUNDS):
        left = residuals(source, beta)
        if not steady:
            scale = np.maximum(NORMAL * np.median(np.abs(np.concatenate(left)), axis=0), floor)
            solution = solved(problem.base_factor(1.0 / scale), names, on_blind)
            deviations = np.sqrt(np.diag(solution.inverse))
        bounded = [np.clip(r / scale, -tuning, tuning) for r in left]
        inside = float(np.mean(np.abs(np.concatenate(left)) <= tuning * scale))
        pull = sum(
            np.tensordot(u / scale, rows.regressor, axes=2) for rows, u in zip(source(), bounded, strict=True)
        )
        step = solution.inverse @ pull / max(inside, 0.5)
        beta = beta + step
        change = np.abs(step)
        if (change <= _HUBER_SETTLED * deviations).all():
            break
        steady = steady or bool((change <= _STEADY * deviations).all())
    left = residuals(source, beta)
    held = np.mean(np.abs(np.concatenate(left)) > tuning * scale, axis=0)
    pseudo = [np.clip(r, -tuning * scale, tuning * scale) / (1.0 - held) for r in left]
    covariance, _ = linear_covariance(source, 1.0 / scale, solution.inverse, pseudo, colour)
    return Estimate(
        method="Huber",
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.samples.n,
        condition=solution.condition,
        covariance=Spread(covariance, solution.blind).covariance,
        weights=1.0 / scale,
        findings=_outliers(problem, left, scale),
        recordings=problem.digests,
        detail={"tuning": tuning, "colour": colour, "held_back": held.tolist()},
    )


def _outliers(problem: Problem, left: list[Array], scale: Array) -> tuple[Finding, ...]:
    """Joints with far more residuals beyond five deviations than normal noise has, which is none in 1e6."""
    share = np.mean(np.abs(np.concatenate(left)) > 5.0 * scale, axis=0)
    return tuple(
        Finding(
            Severity.WARNING,
            "outliers",
            f"{100 * x:.2g} % of the residuals exceed five deviations of {s:.3g}; their pull was bounded.",
            place=joint,
        )
        for joint, x, s in zip(problem.robot.joint_names, share, scale, strict=False)
        if x > 1e-3
    )


# Ridge regression towards a prior: what the motion does not show stays what was believed.


@with_one_blas_thread
def fit_ridge(
    problem: Problem,
    strength: float,
    *,
    scales: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Estimate:
    r"""The full parameters that explain the torques and stay near the prior (Lambert 2023, eq. (4.13)).

    $$\min_\phi \sum_k w_k^2 \lVert W_k\phi - \tau_k \rVert^2
      + \lambda \lVert \operatorname{diag}(s)\,(\phi - \phi_0) \rVert^2$$

    It is biased towards the prior by design, and by how much depends on how wrong the prior is, which no data
    tells: no covariance is given.

    Args:
        problem: the question, with a prior of every free parameter.
        strength: λ, positive; squared torque per squared parameter times s, SI.
        scales: s, factors that make parameters comparable, such as `problem.structure.scales`, shape (p,),
            SI; None for ones, as in the paper.
        weights: w, one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The estimate, with its full parameters.

    Raises:
        InputError: the strength or a scale is not positive, or the prior does not say every free parameter.
    """
    if not (np.isfinite(strength) and strength > 0.0):
        raise InputError(f"must be positive and finite, got {strength}.", place="strength")
    layout, free = problem.layout, np.flatnonzero(problem.layout.free)
    s = np.ones(layout.size) if scales is None else checked("scales", scales, (layout.size,))
    if not (s[free] > 0.0).all():
        raise InputError("must be positive.", place="scales")
    prior = np.full(layout.size, np.nan) if problem.prior is None else np.array(problem.prior)
    if missing := [layout.names[k] for k in free if np.isnan(prior[k])]:
        raise InputError(
            f"says nothing of {', '.join(missing)}.",
            place="prior",
            remedy="Give a value for each free parameter, or fit base parameters instead.",
            evidence={"missing": missing},
        )
    R = problem.factor(weights)
    W, tau = R[:, free], R[:, -1]
    pull = np.sqrt(strength) * s[free]
    stacked = np.vstack([W, np.diag(pull)])
    target = np.concatenate([tau, pull * prior[free]])
    # Scaled by the pull the stacked matrix has no singular value below 1, so no rank is in question.
    change = np.linalg.lstsq(stacked / pull, target - stacked @ prior[free], rcond=None)[0]
    phi = np.array(problem.known)
    phi[free] = prior[free] + change / pull
    return full_set_estimate(
        "ridge",
        problem,
        phi,
        weights=weights,
        condition=solved(problem.base_factor(weights), problem.base.names, "infinite").condition,
        detail={"strength": float(strength), "scaled": scales is not None},
    )


# Least squares within bounds on the full parameters, taken from the description's numbers.

TOUCHING = 1e-6
"""Share of a bound's range within which a parameter counts as lying on the bound."""
_UNSEEN, _OPTIMAL, _ROUND_OFF = 1e-12, 1e-14, 1e-13
_GROUPS = (slice(0, 1), slice(1, 4), slice(4, 10))


@with_one_blas_thread
def fit_bounded(problem: Problem, relative: float, *, weights: ArrayLike | None = None) -> Estimate:
    r"""The parameters within a stated range of the nominal ones that explain the torques best.

    $$\min_\phi \sum_k w_k^2 \lVert W_k\phi - \tau_k \rVert^2 \quad\text{with}\quad
      \phi_{min} \le \phi \le \phi_{max}$$

    This is Tian et al. (2024), eq. (13) with the bounds on the full parameters: those on base parameters are
    their image, $\beta = K\phi$, so no interval arithmetic widens them. See `relative_bounds` for the range.
    A parameter on its bound says that the range decided it; no covariance is given.

    Args:
        problem: the question; the layout's nominal values are the middle of the ranges.
        relative: half the range by the size of the parameter, dimensionless; 0.3 for ±30 %.
        weights: w, one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The estimate, with its full parameters and a finding that names those on a bound.

    Raises:
        InputError: the range is not positive.
        SolverError: the active set did not settle.
    """
    layout, free = problem.layout, np.flatnonzero(problem.layout.free)
    lower, upper = (bound[free] for bound in relative_bounds(layout, relative))
    nominal = np.clip(np.nan_to_num(layout.nominal[free]), lower, upper)
    R = problem.factor(weights)
    W, tau = R[:, free], R[:, -1] - R[:, free] @ nominal
    if np.linalg.norm(tau) <= _ROUND_OFF * np.linalg.norm(R[:, -1]):
        # The nominal values explain the torques: what is left is round-off, which must not move anything.
        tau = np.zeros_like(tau)
    norms = np.linalg.norm(W, axis=0)
    seen = norms > _UNSEEN * norms.max()
    scale = norms[seen]
    # Solved for the change from the nominal values, so what no torque shows stays there.
    found = scipy.optimize.lsq_linear(
        W[:, seen] / scale,
        tau,
        ((lower - nominal)[seen] * scale, (upper - nominal)[seen] * scale),
        method="bvls",
        tol=_OPTIMAL,
        max_iter=50 * len(free),
    )
    if found.status < 1:
        raise SolverError(
            f"the active set did not settle in {found.nit} steps: {found.message}",
            place="bounded least squares",
        )
    phi = np.array(problem.known)
    phi[free] = nominal
    phi[free[seen]] += found.x / scale
    width = np.where(np.isfinite(upper - lower), upper - lower, np.maximum(np.abs(phi[free]), 1.0))
    low = phi[free] - lower < TOUCHING * width
    high = upper - phi[free] < TOUCHING * width
    touching = [layout.names[k] for k, on in zip(free, low | high, strict=True) if on]
    finding = Finding(
        Severity.WARNING,
        "on-bound",
        f"{len(touching)} of {len(free)} parameters lie on a bound, which decided them rather than the data: "
        f"{', '.join(touching)}.",
    )
    return full_set_estimate(
        "bounded least squares",
        problem,
        phi,
        weights=weights,
        condition=solved(problem.base_factor(weights), problem.base.names, "infinite").condition,
        findings=(finding,) if touching else (),
        detail={"relative": float(relative), "on_bound": touching},
    )


def relative_bounds(layout: Layout, relative: float) -> tuple[Array, Array]:
    r"""Bounds around the nominal values, as wide as a share of each parameter's size.

    The size of a link's parameter is the largest of its kind: its mass, its first moments, its moments and
    products of inertia; so a product of inertia that the description calls zero is not nailed there. A drive
    term is its own size; where the description states none, or zero, it is free down to what is physically
    possible. No bound is looser than that.

    Args:
        layout: the parameters and their nominal values.
        relative: half the range by that size, dimensionless.

    Returns:
        Lower bounds, shape (p,), SI; and upper bounds, shape (p,), SI; infinite where there is none.

    Raises:
        InputError: the range is not positive.
    """
    if not (np.isfinite(relative) and relative > 0.0):
        raise InputError(f"must be positive and finite, got {relative}.", place="relative")
    nominal = layout.nominal
    size = np.abs(nominal)
    for link in layout.links:
        mine = layout.of_link(link)
        for group in _GROUPS:
            part = slice(mine.start + group.start, mine.start + group.stop)
            size[part] = np.abs(nominal[part]).max()
    stated = np.isfinite(size) & (size > 0.0)
    half = np.where(stated, relative * np.where(stated, size, 0.0), np.inf)
    middle = np.where(stated, nominal, 0.0)
    possible = np.array([parameter.lower for parameter in layout.parameters])
    lower = np.maximum(middle - half, possible)
    return checked("lower", lower, ("p",), finite=False), middle + half
