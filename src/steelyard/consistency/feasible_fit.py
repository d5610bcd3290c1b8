"""The feasible vector that fits equations best, and full parameters that have given base parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrf, dpotrs

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.feasible_set import FeasibleSet, Slack, SlackMap
from steelyard.consistency.verdict import check_parameters
from steelyard.errors import NoSolutionError
from steelyard.identifiable import BaseParameters

# Least squares over possible parameters: a primal-dual interior-point method made for links.
#
# Minimise over y, with $x = x_0 + N y$,
#
# $$\tfrac12 \lVert A y - b \rVert^2 \quad\text{subject to}\quad
#   S_i(x) = J(x_i) - F_i \succeq 0, \qquad s_j(x) = \sigma_j x_{k_j} - c_j \ge 0 .$$
#
# With multipliers $Z_i \succeq 0$, $z_j \ge 0$, an optimum satisfies
#
# $$A^T(Ay - b) = N^T\Big(\sum_i J^*(Z_i) + \sum_j \sigma_j z_j e_{k_j}\Big), \qquad S_i Z_i = 0, \quad
#   s_j z_j = 0 .$$
#
# Newton's method is applied to this with $S_i Z_i = \sigma\mu\,\mathbb 1$ (the direction of Helmberg, Rendl,
# Vanderbei and Wolkowicz), with Mehrotra's prediction and correction. Its matrix is $A^T A$ plus one 10 x 10
# block per link, so a step costs one Cholesky factorisation of the size of y; the gradient is taken from the
# factor A and keeps the digits that $A^T A$ loses. A start outside the constraints is given slacks of its
# own, and the difference is closed on the way.
#
# Where the data is blind the optimum is not unique, and the optima may reach to infinity. The cones make the
# matrix of the step positive definite there too, and a step along such a direction is a fraction of the
# slack: the method ends within reach of its start.

ITERATION_LIMIT = 100
REDUCED = 1e-5
"""Largest gap relative to the value that is returned at all, where round-off keeps the asked one away."""
_TO_THE_EDGE = 0.98
_CLOSED = 1e-11


@dataclass(frozen=True, eq=False)
class ConicFit:
    """An optimum of least squares over possible parameters, with the multipliers that support it.

    Attributes:
        x: the scaled parameters, shape (p,), dimensionless.
        value: half the squared residual, SI.
        gap: what the value is at most above the optimum, for optima within the size of x from x, SI.
        slack: of every constraint.
        multipliers: of every constraint.
        iterations: number of steps.
        full_accuracy: whether the gap is within the tolerance asked for.
    """

    x: Array
    value: float
    gap: float
    slack: Slack
    multipliers: Slack
    iterations: int
    full_accuracy: bool


def minimise_over_feasible(
    matrix: Array,
    target: Array,
    constraints: SlackMap,
    start: Array,
    basis: Array | None = None,
    *,
    least: float,
    tolerance: float = 1e-10,
) -> ConicFit:
    r"""Solve the program of this file.

    Args:
        matrix: A, shape (k, n), SI.
        target: b, shape (k,), SI.
        constraints: S and s as functions of x.
        start: x_0, shape (p,), dimensionless.
        basis: N, shape (p, n), dimensionless; None for the identity.
        least: values below this are as good as zero, SI.
        tolerance: gap allowed, relative to the value or to `least`, whichever is more.

    Returns:
        The optimum; its slacks are strictly inside.

    Raises:
        NoSolutionError: the gap could not be closed to `REDUCED`, or the constraints contradict each other.
    """
    A, b, N = matrix, target, basis
    P, x, y, w = A.T @ A, start, np.zeros(A.shape[1]), -b
    S = constraints.value(x).inside()
    Z = max(0.1 * float(w @ w), least) / S.order * S.inverse_root().squared()
    for iteration in range(ITERATION_LIMIT):
        g = A.T @ w
        pull = _onto(N, constraints.adjoint(Z))
        value, complementary = 0.5 * float(w @ w), S.dot(Z)
        gap = complementary + float(np.abs(g - pull) @ np.maximum(1.0, np.abs(y)))
        outside = constraints.value(x) - S
        allowed, closed = tolerance * max(value, least), outside.largest <= _CLOSED * S.largest
        fit = ConicFit(x, value, gap, S, Z, iteration, gap <= allowed)
        if closed and fit.full_accuracy:
            return fit
        if closed and complementary <= 1e-3 * allowed:
            break  # Only round-off is left of the gap.
        try:
            roots = S.joined(Z).inverse_root()
        except np.linalg.LinAlgError:
            break
        mu, inverse = complementary / S.order, roots.first_half().squared()
        H = P + _between(N, constraints.curvature(inverse, Z))
        factor = _factorised(H)
        missing = inverse.product(outside, Z)
        # Prediction: straight at complementarity zero.
        dy = dpotrs(factor, -g - _onto(N, constraints.adjoint(missing)), lower=1)[0]
        dS = constraints.change(_along(N, dy)) + outside
        dZ = -1.0 * (Z + inverse.product(dS, Z))
        t = min(1.0, roots.room(dS.joined(dZ)))
        sigma = ((S + t * dS).dot(Z + t * dZ) / complementary) ** 3
        # Correction: at what the prediction promises, with the product of its changes taken off.
        aim = sigma * mu * inverse - inverse.product(dS, dZ)
        right = _onto(N, constraints.adjoint(aim - missing)) - g
        dy = dpotrs(factor, right, lower=1)[0]
        dy = dy + dpotrs(factor, right - H @ dy, lower=1)[0]
        dS = constraints.change(_along(N, dy)) + outside
        dZ = aim - Z - inverse.product(dS, Z)
        t = min(1.0, _TO_THE_EDGE * roots.room(dS.joined(dZ)))
        y = y + t * dy
        x, w, S, Z = start + _along(N, y), A @ y - b, S + t * dS, Z + t * dZ
    if closed and fit.gap <= REDUCED * max(fit.value, least):
        return fit
    raise NoSolutionError(
        f"no best possible vector was found: after {fit.iterations} steps a gap of {fit.gap:.1e} is left "
        f"of a value of {fit.value:.1e}, constraints are missed by {outside.largest:.1e}.",
        place="possible parameters",
        remedy="Check that bounds and fixed parameters leave room for a body, and the size of the prior.",
        evidence={"gap": fit.gap, "value": fit.value, "missed": outside.largest},
    )


def _along(N: Array | None, y: Array) -> Array:
    return y if N is None else np.asarray(N @ y)


def _onto(N: Array | None, pull: Array) -> Array:
    return pull if N is None else np.asarray(N.T @ pull)


def _between(N: Array | None, H: Array) -> Array:
    return H if N is None else np.asarray(N.T @ H @ N)


def _factorised(H: Array) -> Array:
    """The Cholesky factor; a matrix singular up to round-off is raised by round-off, which shortens steps."""
    # H is symmetric; its transpose is in the order LAPACK reads.
    factor, failed = dpotrf(H.T, lower=1)
    raised = np.finfo(float).eps * float(np.trace(H))
    while failed:
        factor, failed = dpotrf((H + raised * np.eye(len(H))).T, lower=1)
        raised *= 10.0
    return np.asarray(factor)


# The possible vector that fits equations best; among equals, the one nearest to the reference.
#
# $$\min_{\phi\ \text{possible}} \lVert R\phi - r \rVert^2$$
#
# leaves free what the equations do not see, and may let it run to infinity. Of all that fit equally well the
# one at the least distance from the reference is wanted. That second question has no interior to search in,
# so both are asked at once,
#
# $$\min_{\phi\ \text{possible}} \lVert R\phi - r \rVert^2 + \varepsilon\, d(\phi, \phi_{ref})^2, \qquad
#   \varepsilon = 10^{-8} \max\left(\min_\phi \lVert R\phi - r\rVert^2,\; 10^{-6} \lVert r\rVert^2\right),$$
#
# whose solution tends to the wanted one with $\varepsilon \to 0$. It costs the fit at most
# $\varepsilon\,d(\phi^*, \phi_{ref})^2$ for any best $\phi^*$, and where the best is not attained it stays
# finite. Where the cost exceeds `COST`, as for short and noisy logs whose best fit lies far out, it is asked
# again with less weight; where round-off hides a best fit far out, with more. The cost is reported.

TIE_BREAK = 1e-8
"""Weight of the squared distance to the reference, relative to the squared residual, dimensionless."""
COST = 2e-7
"""What the tie-break may add to the squared residual before it is asked again with a hundredth of its weight,
relative to the residual, dimensionless."""
_RETRIES = 3
NEGLIGIBLE = 1e-6
"""Squared residual that is as good as zero, relative to the squared data, dimensionless."""
FELT = 100.0
"""How many times the pull of the tie-break a constraint must hold back to count as active, dimensionless."""


@dataclass(frozen=True, eq=False)
class FeasibleFit:
    """The possible vector that fits best.

    Attributes:
        parameters: phi, shape (p,), SI.
        squares: the squared residual, SI.
        measure: what it is judged against: itself, or what is as good as zero where that is more, SI.
        gap: what the squared residual, with the tie-break added, is at most above its optimum, SI.
        tie_break: what the tie-break adds to the squared residual, SI.
        distance: from the reference, dimensionless.
        active: links and parameters on the edge of the possible that would fit better beyond it, each with
            the squared residual one unit of slack would save, relative to what there is, dimensionless.
        iterations: steps of the interior-point method.
        full_accuracy: whether the gap was closed as asked; round-off may leave more of it.
    """

    parameters: Array
    squares: float
    measure: float
    gap: float
    tie_break: float
    distance: float
    active: dict[str, float]
    iterations: int
    full_accuracy: bool


def fit_feasible(matrix: Array, target: Array, possible: FeasibleSet) -> FeasibleFit:
    """Fit equations by a possible vector.

    Args:
        matrix: R, shape (k, p), SI.
        target: r, shape (k,), SI.
        possible: what is possible, with the reference.

    Raises:
        NoSolutionError: bounds and fixed parameters leave no room, or round-off hides the optimum.
    """
    p, s, N = possible.layout.size, possible.scales, possible.basis
    R, r = checked("matrix", matrix, ("k", p)), checked("target", target, ("k",))
    A = R * s
    b = r - A @ (possible.reference / s)
    least = NEGLIGIBLE * float(r @ r) + float(np.finfo(float).tiny)
    weight = TIE_BREAK * max(_unconstrained(A if N is None else A @ N, b), least)
    fit, weight = _first(A, b, possible, least, weight)
    for _ in range(_RETRIES):
        if fit.tie_break <= COST * fit.measure:
            break
        weight *= 1e-2
        try:
            fit = _tied(A, b, possible, least, weight)
        except NoSolutionError:  # So far out round-off wins; the last fit says what it cost.
            break
    return fit


def _first(
    A: Array, b: Array, possible: FeasibleSet, least: float, weight: float
) -> tuple[FeasibleFit, float]:
    """The fit with the least weight of the tie-break, from a given one on, that keeps the best within reach.

    Where the equations have an exact solution that no body can be, the best possible one may lie at infinity
    and leave far more than the weight was chosen for.
    """
    for _ in range(_RETRIES):
        try:
            return _tied(A, b, possible, least, weight), weight
        except NoSolutionError:
            weight *= 1e2
    return _tied(A, b, possible, least, weight), weight


def _tied(A: Array, b: Array, possible: FeasibleSet, least: float, weight: float) -> FeasibleFit:
    """The fit with a given weight of the tie-break, for equations in x less the reference."""
    s, N, T = possible.scales, possible.basis, possible.metric
    start = possible.reference / s
    stacked = np.vstack([A, np.sqrt(weight) * T])
    found = minimise_over_feasible(
        stacked if N is None else stacked @ N,
        np.concatenate([b, np.zeros(s.size)]),
        possible.constraints,
        start,
        N,
        least=0.5 * least,
    )
    change = found.x - start
    w, d = A @ change - b, float(np.linalg.norm(T @ change))
    prices = found.multipliers.highest / max(found.value, 0.5 * least)
    binding = prices > np.maximum(found.slack.lowest, FELT * TIE_BREAK * (1.0 + d))
    active = [(name, float(price)) for name, price in zip(possible.names, prices, strict=True)]
    return FeasibleFit(
        parameters=read_only(found.x * s),
        squares=float(w @ w),
        measure=max(float(w @ w), least),
        gap=2.0 * found.gap,
        tie_break=float(weight * d * d),
        distance=d,
        active=dict(pair for pair, binds in zip(active, binding, strict=True) if binds),
        iterations=found.iterations,
        full_accuracy=found.full_accuracy,
    )


def _unconstrained(A: Array, b: Array) -> float:
    """The least squared residual without constraints; columns may depend on each other."""
    w = b - A @ scipy.linalg.lstsq(A, b, lapack_driver="gelsy")[0]
    return float(w @ w)


# From base parameters to a full set of possible links that predicts the same torques.
#
# Torques see only $\beta = K\phi$. Given $\beta$ there are either possible $\phi$ with $K\phi = \beta$, and
# the one nearest to a reference is returned, or there are none, and then the possible vector with the least
# change of torque is,
#
# $$\min_{\phi\ \text{possible}} \lVert R_b\,(K\phi - \beta) \rVert,$$
#
# where $R_b$ is the factor of the data, so that $\lVert R_b\,\delta\beta\rVert$ is the change of torque.

SAME = 1e-6
"""Change of torque below which two vectors predict the same, relative to the torque, dimensionless."""


@dataclass(frozen=True, eq=False)
class FullSet:
    """A possible full vector for given base parameters.

    Attributes:
        parameters: phi, possible, shape (p,), SI.
        values: K phi, shape (b,), SI; the given base parameters where `same`.
        same: whether it predicts the same torques.
        change: change of torque, as |R_b (K phi - beta)| / |R_b beta|, dimensionless.
        distance: of phi from the reference, dimensionless.
        reason: in words, why the torques had to change, with the links that stand in the way; empty where
            they did not.
        fit: the conic fit behind it.
    """

    parameters: Array
    values: Array
    same: bool
    change: float
    distance: float
    reason: str
    fit: FeasibleFit


def full_set(
    base: BaseParameters, values: ArrayLike, possible: FeasibleSet, metric: ArrayLike | None = None
) -> FullSet:
    r"""Find possible links for base parameters.

    Args:
        base: the map K.
        values: beta, shape (b,), SI.
        possible: what is possible, with the reference.
        metric: R_b, the factor of the data's base regressor, shape (k, b), SI; None weighs each base
            parameter by the size of its leading parameter.

    Returns:
        The full set; always possible, with the same torques where that can be.

    Raises:
        NoSolutionError: fixed parameters or bounds leave no room for possible links.
    """
    K, b = base.matrix, base.count
    beta = checked("values", values, (b,))
    R = (
        np.diag(1.0 / possible.scales[base.columns])
        if metric is None
        else checked("metric", metric, ("k", b))
    )
    fit = fit_feasible(R @ K, R @ beta, possible)
    phi = _moved_onto(K, beta, np.array(fit.parameters), possible)
    missed = float(np.linalg.norm(R @ (K @ phi - beta)))
    size = float(np.linalg.norm(R @ beta))
    change = missed / size if size > 0 else missed
    same = change <= SAME
    return FullSet(
        parameters=read_only(phi),
        values=read_only(K @ phi),
        same=same,
        change=change,
        distance=possible.distance(phi, possible.reference),
        reason="" if same else _reason(change, fit),
        fit=fit,
    )


def _moved_onto(K: Array, beta: Array, phi: Array, possible: FeasibleSet) -> Array:
    """The nearest vector with exactly these base parameters, where it is possible too."""
    s, free = possible.scales, possible.layout.free
    step = np.linalg.lstsq(K[:, free] * s[free], beta - K @ phi, rcond=None)[0]
    moved = phi.copy()
    moved[free] += s[free] * step
    near = possible.distance(moved, phi) <= np.sqrt(SAME)
    inside = bool((possible.constraints.value(moved / s).lowest >= 0).all())
    return moved if near and inside and check_parameters(possible.layout, moved) else phi


def _reason(change: float, fit: FeasibleFit) -> str:
    by_price = sorted(fit.active, key=lambda name: -fit.active[name])
    held = f" The edge is at {', '.join(by_price)}." if by_price else ""
    return (
        "No possible links have these base parameters; the least change of torque that leads "
        f"to possible ones is {100 * change:.3g} % of it.{held}"
    )
