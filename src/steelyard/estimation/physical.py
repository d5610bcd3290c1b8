"""Estimates over links that can exist: least squares over a cone, or in log-Cholesky coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from steelyard.arrays import Array, IntArray, checked
from steelyard.consistency import FeasibleFit, FeasibleSet, feasible_set, fit_feasible, full_set
from steelyard.drive import drive_term
from steelyard.errors import InputError
from steelyard.estimation.equations import residual_rms
from steelyard.finding import Finding, Severity
from steelyard.identifiable import Criterion, Information, score
from steelyard.inertia import (
    from_log_cholesky,
    log_cholesky,
    log_cholesky_hessian,
    log_cholesky_jacobian,
    pseudo_inertia,
)
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

# An estimate from a full parameter vector: what all estimators of links return.


def feasible_for(
    problem: Problem,
    R: Array,
    *,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> FeasibleSet:
    """What is possible for a problem, referred to its prior; drive terms count by their share of torque.

    Args:
        problem: the question.
        R: the factor of its equations, shape (p + 1, p + 1), SI.
        floor: smallest eigenvalue asked of each link's scaled pseudo-inertia, dimensionless.
        lower: further lower bounds, shape (p,), SI; None for none.
        upper: further upper bounds, shape (p,), SI; None for none.

    Returns:
        The set; a drive term's size is what gives a tenth of all torque.
    """
    tenth = 0.1 * float(np.linalg.norm(R[:, -1])) or 1.0
    lengths = np.linalg.norm(R[:, :-1], axis=0)
    sizes = np.divide(tenth, lengths, out=np.ones_like(lengths), where=lengths > 1e-9 * tenth)
    return feasible_set(
        problem.layout, problem.prior, floor=floor, lower=lower, upper=upper, drive_scales=sizes
    )


def full_set_estimate(
    method: str,
    problem: Problem,
    parameters: Array,
    *,
    weights: ArrayLike | None,
    condition: float | None = None,
    findings: Sequence[Finding] = (),
    detail: Mapping[str, object],
) -> Estimate:
    """Wrap a full parameter vector.

    Args:
        method: name of the estimator.
        problem: the question.
        parameters: phi, shape (p,), SI.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        condition: number of the base regressor, dimensionless; None to compute that of its unit columns.
        findings: what was noticed.
        detail: settings and diagnostics.

    Returns:
        The estimate, with the base parameters of phi.
    """
    beta = problem.base.matrix @ parameters
    if condition is None:
        W = problem.base_factor(weights)[:, :-1]
        condition = score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value
    return Estimate(
        method=method,
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=condition,
        parameters=parameters,
        weights=None if weights is None else checked("weights", weights, (problem.robot.nv,)),
        findings=tuple(findings),
        recordings=problem.digests,
        detail=detail,
    )


def edge_findings(fit: FeasibleFit, possible: FeasibleSet) -> list[Finding]:
    """Name what holds a fit back, and the links nothing was known of.

    Args:
        fit: the fit.
        possible: what was possible.

    Returns:
        One finding for each active constraint, and one for each link without a reference.
    """
    found = [
        Finding(
            Severity.WARNING,
            "edge-of-the-possible",
            f"is on the edge of the possible: torques would fit better with values no body has "
            f"(price {price:.2g} of the squared residual per unit).",
            name,
        )
        for name, price in fit.active.items()
    ]
    found += [
        Finding(
            Severity.INFO,
            "no-prior",
            "neither prior nor description states its inertia; what torques do not show is kept near a ball.",
            link,
        )
        for link in possible.unknown
    ]
    return found


def fit_detail(fit: FeasibleFit) -> dict[str, object]:
    """The diagnostics of a conic fit as values JSON can hold.

    Returns:
        Status, iterations, gap and tie-break relative to `FeasibleFit.measure`, distance and active links.
    """
    return {
        "status": "optimal" if fit.full_accuracy else "optimal, reduced accuracy",
        "iterations": fit.iterations,
        "squared_residual": fit.squares,
        "gap": fit.gap / fit.measure,
        "tie_break": fit.tie_break / fit.measure,
        "distance_to_prior": fit.distance,
        "active": dict(fit.active),
    }


# Possible links for an estimate of base parameters.

LIGHTEST = 1e-6
"""Smallest eigenvalue of a link's pseudo-inertia, by its reference mass: of 1e-15 kg a metre aside, which are
possible too, a simulator reads back little more than rounding."""


@with_one_blas_thread
def with_full_set(problem: Problem, estimate: Estimate) -> Estimate:
    r"""Give an estimate of base parameters a full set of possible links that predicts the same torques.

    Where no such set exists the estimate keeps its base parameters, `parameters` is the possible vector with
    the least change of torque on the data, $\min \lVert R_b (K\phi - \beta) \rVert$, and a finding says so
    and why.

    Args:
        problem: the question it answers.
        estimate: of base parameters, from any method.

    Returns:
        The estimate with `parameters`; `detail["full_set"]` holds the change of torque and the distance to
        the prior, both dimensionless.
    """
    R = problem.compressed.factor(estimate.weights)
    possible = feasible_for(problem, R, floor=LIGHTEST)
    metric = problem.base_factor(estimate.weights)[:, :-1]
    found = full_set(problem.base, estimate.values, possible, metric)
    findings = estimate.findings
    if not found.same:
        findings = (*findings, Finding(Severity.WARNING, "no-possible-links", found.reason, "parameters"))
    summary = {"same_torques": found.same, "change": found.change, "distance_to_prior": found.distance}
    return replace(
        estimate,
        parameters=found.parameters,
        findings=findings,
        detail={**estimate.detail, "full_set": summary},
    )


# Least squares over links that can exist.


@with_one_blas_thread
def fit_lmi(
    problem: Problem,
    *,
    weights: ArrayLike | None = None,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> Estimate:
    r"""The full parameters of possible links that leave the least squared torque.

    $$\min_\phi \lVert R\,(\phi, -1) \rVert^2 \quad\text{with}\quad J_i(\phi) \succeq 0 \text{ for all links},
      \quad F_v, F_c, I_a, \dots \ge 0, \quad \phi_{fixed} = \phi_{known}$$

    on the compressed equations. Where the torques do not tell parameters apart, the vector nearest to the
    prior is taken (the description's numbers where there is no prior), in the distance of
    `steelyard.consistency.FeasibleSet`; what this costs the fit is in `detail["tie_break"]`, relative to the
    squared residual.

    Args:
        problem: the question.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        floor: smallest eigenvalue asked of each link's pseudo-inertia, with the link's reference mass and
            length as units, dimensionless.
        lower: further lower bounds on phi, shape (p,), SI; -inf for none.
        upper: further upper bounds on phi, shape (p,), SI; inf for none.

    Returns:
        The estimate, with `parameters`; its findings name the links on the edge of the possible.

    Raises:
        NoSolutionError: bounds and fixed parameters leave no room for possible links.
    """
    R = problem.compressed.factor(weights)
    possible = feasible_for(problem, R, floor=floor, lower=lower, upper=upper)
    fit = fit_feasible(R[:, :-1], R[:, -1], possible)
    return full_set_estimate(
        "possible links",
        problem,
        fit.parameters,
        weights=weights,
        findings=edge_findings(fit, possible),
        detail={**fit_detail(fit), "floor": floor},
    )


# Coordinates of a full parameter vector in which nothing is impossible.
#
# Ten log-Cholesky coordinates for each free link, the logarithm of each free drive term that cannot be
# negative, the other free drive terms as they are. The map $x(\eta)$ acts piece by piece, so its first
# derivative is block diagonal and its second derivative never couples two pieces.


@dataclass(frozen=True, eq=False)
class LogCoordinates:
    """The map from coordinates to scaled parameters.

    Attributes:
        links: places of the ten numbers of each free link, shape (L, 10), dimensionless.
        positive: places of the free drive terms that cannot be negative, shape (B,), dimensionless.
        plain: places of the other free drive terms, shape (C,), dimensionless.
        known: scaled parameters, of which only the fixed ones count, shape (p,), dimensionless.
    """

    links: IntArray
    positive: IntArray
    plain: IntArray
    known: Array

    @classmethod
    def at(cls, layout: Layout, x: Array) -> LogCoordinates:
        """The coordinates of a layout whose free links are free in all ten numbers.

        Args:
            layout: the order of the parameters.
            x: scaled parameters with the fixed ones, shape (p,), dimensionless.

        Returns:
            The map.
        """
        n = 10 * len(layout.links)
        links = np.arange(n).reshape(-1, 10)
        drives = np.arange(n, layout.size)[layout.free[n:]]
        signed = np.array([drive_term(layout.parameters[k].term).signed for k in drives], dtype=bool)
        return cls(links[layout.free[links].all(axis=1)], drives[~signed], drives[signed], np.array(x))

    @property
    def places(self) -> IntArray:
        """Places in x of the pieces, in the order of the coordinates, shape (n,), dimensionless."""
        return np.concatenate([self.links.ravel(), self.positive, self.plain])

    def of(self, x: Array) -> Array:
        """The coordinates of strictly possible parameters.

        Args:
            x: scaled parameters, shape (p,), dimensionless.

        Returns:
            eta, shape (n,), dimensionless.

        Raises:
            InputError: a link is not strictly possible.
        """
        return np.concatenate([log_cholesky(x[self.links]).ravel(), np.log(x[self.positive]), x[self.plain]])

    def x(self, coordinates: Array) -> Array:
        """The parameters at some coordinates.

        Args:
            coordinates: eta, shape (n,), dimensionless.

        Returns:
            x, shape (p,), dimensionless.
        """
        bodies, logarithms, rest = self._pieces(coordinates)
        x = self.known.copy()
        x[self.links], x[self.positive], x[self.plain] = from_log_cholesky(bodies), np.exp(logarithms), rest
        return x

    def derivatives(self, coordinates: Array, slope: Array) -> tuple[Array, Array]:
        r"""The Jacobian of x, and the second derivative of x weighed by a slope, $\sum_n g_n \nabla^2 x_n$.

        Args:
            coordinates: eta, shape (n,), dimensionless.
            slope: g, shape (p,), SI.

        Returns:
            Both with the rows of x at `places`, shapes (n, n) and (n, n), dimensionless and SI.
        """
        bodies, logarithms, rest = self._pieces(coordinates)
        size, count = coordinates.size, self.links.size
        first, second = np.zeros((size, size)), np.zeros((size, size))
        D, DD = log_cholesky_jacobian(bodies), log_cholesky_hessian(bodies)
        for k in range(len(bodies)):
            ten = slice(10 * k, 10 * k + 10)
            first[ten, ten] = D[k]
            second[ten, ten] = np.tensordot(slope[self.links[k]], DD[k], 1)
        middle = np.arange(count, count + logarithms.size)
        first[middle, middle] = np.exp(logarithms)
        second[middle, middle] = slope[self.positive] * np.exp(logarithms)
        last = np.arange(size - rest.size, size)
        first[last, last] = 1.0
        return first, second

    def _pieces(self, coordinates: Array) -> tuple[Array, Array, Array]:
        bodies, logarithms, rest = np.split(
            coordinates, [self.links.size, self.links.size + self.positive.size]
        )
        return bodies.reshape(-1, 10), logarithms, rest


# Newton's method in a trust region, for squares of linear equations in log coordinates.
#
# $$f(\eta) = \lVert A\,x(\eta) - b\rVert^2, \qquad \tfrac12\nabla f = D^T A^T w, \qquad
#   \tfrac12\nabla^2 f = D^T A^T A\, D + \sum_n (A^T w)_n \nabla^2 x_n, \qquad w = A x - b .$$
#
# Each step minimises the quadratic model exactly within a ball, from the eigenvalues of the Hessian, so
# indefinite and singular Hessians need no special care: along what the data does not see nothing moves.

_WORTH = 1e-10
_NEGLIGIBLE = 1e-24


@dataclass(frozen=True, eq=False)
class TrustRegionResult:
    """Where the search ended.

    Attributes:
        coordinates: eta, shape (n,), dimensionless.
        squares: the squared residual, SI.
        gradient: largest entry of half the gradient, SI.
        iterations: number of steps tried.
        status: "converged", or "iteration limit".
    """

    coordinates: Array
    squares: float
    gradient: float
    iterations: int
    status: str


def minimise_squares(
    matrix: Array, target: Array, coordinates: LogCoordinates, start: Array, iteration_limit: int
) -> TrustRegionResult:
    """Minimise the squares of this file.

    Args:
        matrix: A, shape (k, p), SI.
        target: b, shape (k,), SI.
        coordinates: the map x.
        start: eta, shape (n,), dimensionless.
        iteration_limit: most steps.

    Returns:
        The end of the search.
    """
    A, b, eta, radius = matrix, target, start, 1.0
    at, P = coordinates.places, A.T @ A
    P = P[np.ix_(at, at)]
    worth = _NEGLIGIBLE * float(b @ b)
    w = A @ coordinates.x(eta) - b
    value, moved, status, iterations = float(w @ w), True, "iteration limit", 0
    for _ in range(iteration_limit):
        iterations += 1
        if moved:
            slope = A.T @ w
            D, second = coordinates.derivatives(eta, slope)
            g, H = D.T @ slope[at], D.T @ P @ D + second
            eigenvalues, V = np.linalg.eigh(H)
        step = V @ _within(eigenvalues, V.T @ g, radius)
        promised = -float(2.0 * g @ step + step @ H @ step)
        if promised <= _WORTH * value + worth:
            status = "converged"
            break
        trial = A @ coordinates.x(eta + step) - b
        gained = (value - float(trial @ trial)) / promised
        moved = gained > 1e-4
        length = float(np.linalg.norm(step))
        radius = 0.25 * length if gained < 0.25 else max(radius, 3.0 * length) if gained > 0.75 else radius
        if moved:
            eta, w, value = eta + step, trial, float(trial @ trial)
    return TrustRegionResult(eta, value, float(np.abs(g).max()), iterations, status)


def _within(eigenvalues: Array, g: Array, radius: float) -> Array:
    r"""The minimiser of $2 g^T p + p^T \Lambda p$ with $|p| \le$ radius, in the eigenvectors' axes."""
    scale = float(np.abs(eigenvalues).max()) or 1.0
    # A direction the data does not see has a curvature and a slope of round-off: it is left alone.
    blind = np.abs(eigenvalues) <= 1e-13 * scale
    lam, slope = eigenvalues[~blind], g[~blind]
    step = np.zeros_like(g)

    def length(shift: float) -> float:
        return float(np.linalg.norm(slope / (lam + shift)))

    if lam.size == 0:
        return step
    low = max(0.0, -float(lam[0]) * (1.0 + 1e-12) + 1e-15 * scale) if lam[0] < 0 else 0.0
    if low == 0.0 and length(0.0) <= radius:
        step[~blind] = -slope / lam
        return step
    high = low + float(np.linalg.norm(slope)) / radius
    if length(low) <= radius:  # The hard case: fill up along the lowest direction.
        part = -slope / (lam + low)
        part[0] += np.sqrt(max(radius**2 - float(part @ part), 0.0))
        step[~blind] = part
        return step
    shift = brentq(lambda s: length(s) - radius, low, high, xtol=1e-14 * max(high, 1e-300), rtol=1e-10)
    step[~blind] = -slope / (lam + shift)
    return step


# Least squares over log-Cholesky coordinates: no constraint is left, every point is a possible robot.

INWARD = 1e-5
"""Size of the ball added to each link of the conic solution, relative to it: coordinates need an inside."""
_BALL = np.array([1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2])


@with_one_blas_thread
def fit_log_cholesky(
    problem: Problem,
    *,
    weights: ArrayLike | None = None,
    start: ArrayLike | None = None,
    iteration_limit: int = 200,
) -> Estimate:
    r"""Possible links that leave the least squared torque, in coordinates without constraints.

    Zhang et al. (2025), eq. (25): $\min_{\eta} \lVert R\,(\phi(\eta), -1)\rVert^2$, where each link's ten
    numbers come from log-Cholesky coordinates, (14)-(16), and each drive term that cannot be negative from
    its logarithm. The problem is not convex, so the start matters: it is the conic solution of `fit_lmi`,
    moved inside. Steps are Newton's with exact second derivatives, within a trust region. Where the best
    links are on the edge of the possible, coordinates run to infinity and the residual tends to its least
    value; the iteration ends when a step can gain less than 1e-10 of it.

    Args:
        problem: the question.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        start: a strictly possible vector to start from, shape (p,), SI; None for the conic solution.
        iteration_limit: most steps.

    Returns:
        The estimate, with `parameters`.

    Raises:
        InputError: a link is known in part, which the coordinates cannot say, or the start is on the edge.
    """
    layout = problem.layout
    partly = [x for x in layout.links if 0 < layout.free[layout.of_link(x)].sum() < 10]
    if partly:
        raise InputError(
            f"{', '.join(partly)}: some of the ten numbers are fixed.",
            place="layout",
            remedy="Use --method lmi, which takes any fixed parameters.",
        )
    R = problem.compressed.factor(weights)
    possible = feasible_for(problem, R)
    conic = fit_feasible(R[:, :-1], R[:, -1], possible)
    A, s = R[:, :-1] * possible.scales, possible.scales
    inside = _moved_inside(conic.parameters / s, layout)
    x = inside if start is None else np.array(start, dtype=float) / s
    coordinates = LogCoordinates.at(layout, x)
    found = minimise_squares(A, R[:, -1], coordinates, coordinates.of(x), iteration_limit)
    return full_set_estimate(
        "log-Cholesky",
        problem,
        coordinates.x(found.coordinates) * s,
        weights=weights,
        findings=edge_findings(conic, possible),
        detail={
            "status": found.status,
            "iterations": found.iterations,
            "squared_residual": found.squares,
            "gradient": found.gradient,
            "above_conic_optimum": found.squares / conic.squares - 1.0 if conic.squares > 0 else 0.0,
            "active": dict(conic.active),
        },
    )


def _moved_inside(x: Array, layout: Layout) -> Array:
    """Some of a ball added to each free link, and some torque to each drive term that cannot be negative."""
    x = x.copy()
    for k, link in enumerate(layout.links):
        if layout.free[10 * k]:
            size = float(np.trace(pseudo_inertia(x[layout.of_link(link)])))
            x[layout.of_link(link)] += INWARD * size * _BALL
    for k in range(10 * len(layout.links), layout.size):
        if layout.free[k] and not drive_term(layout.parameters[k].term).signed:
            x[k] += INWARD
    return x
