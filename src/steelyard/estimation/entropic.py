"""Least squares over possible links, drawn towards a model by the divergence of mass distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from steelyard.arrays import Array, checked
from steelyard.consistency import SlackMap, check_parameters, fit_possible
from steelyard.errors import InputError
from steelyard.estimation.entropic_newton import EntropicPoint, entropic_point
from steelyard.estimation.full_set_estimate import full_set_estimate, possible_for
from steelyard.problem import Estimate, Problem

CONFIDENCE = 0.95
"""Of the region of parameters that the data does not reject, when it chooses the strength."""
_RANGE = (1e-2, 1e6)
_BISECTIONS = 14
_NEGLIGIBLE = 1e-6


def fit_entropic(
    problem: Problem,
    prior: ArrayLike | None = None,
    strength: float | None = None,
    *,
    weights: ArrayLike | None = None,
) -> Estimate:
    r"""Possible links that explain the torques and stay near a model, such as one from CAD.

    $$\min_\phi \lVert R\,(\phi, -1) \rVert^2 + \gamma \sum_i \left(\mathrm{tr}(J_{0i}^{-1} J_i)
      - \log\det(J_{0i}^{-1} J_i) - 4\right) + \gamma \sum_k \left(\phi_k/\phi_{0k} - \log(\phi_k/\phi_{0k})
      - 1\right)$$

    (Lee, Wensing and Park 2020): the divergence does not depend on frames or units, and keeps every link
    strictly possible. k runs over the drive terms that cannot be negative and have a positive prior; others
    are fitted freely, above zero where they must be.

    Without a given strength the data chooses it: the strongest pull that it does not reject. That is the
    largest gamma whose squared residual stays within $\sigma^2 \chi^2_b$ (95 %) of the least that possible
    links can have, with b base parameters and $\sigma^2$ that least residual over its degrees of freedom.
    This takes residuals for white noise. Where even the weakest pull tried is rejected, that one is used and
    `detail["strength_chosen"]` says so.

    Args:
        problem: the question.
        prior: phi_0, shape (p,), SI, every free link strictly possible; NaN for drive terms nothing is known
            of. None for the problem's prior, or the description's numbers.
        strength: gamma, (N·m)² where residuals are; None lets the data choose.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The estimate, with `parameters`.

    Raises:
        InputError: the strength is not positive, or a link of the prior cannot be or is on the edge.
        SolverError: the strength is too weak to be told from none.
    """
    R = problem.compressed.factor(weights)
    fit = _Fit(problem, R, _prior(problem, prior))
    chosen = "given"
    if strength is None:
        strength, chosen = fit.strength_of_data()
    elif not (np.isfinite(strength) and strength > 0):
        raise InputError(f"must be positive, got {strength}.", place="strength")
    point = fit.at(strength)
    detail = {
        "status": "optimal",
        "iterations": point.iterations,
        "squared_residual": point.squares,
        "gap": point.gap,
        "strength": strength,
        "strength_chosen": chosen,
        "divergence": point.divergence,
    }
    return full_set_estimate("entropic", problem, point.x * fit.scales, weights=weights, detail=detail)


def _prior(problem: Problem, prior: ArrayLike | None) -> Array:
    layout, given = problem.layout, problem.prior if prior is None else prior
    phi_0 = layout.nominal if given is None else np.array(given, dtype=float)
    phi_0 = np.array(checked("prior", phi_0, (layout.size,), finite=False))
    free_links = [link for link in layout.links if layout.free[layout.of_link(link)].any()]
    if blind := [link for link in free_links if not np.isfinite(phi_0[layout.of_link(link)]).all()]:
        raise InputError(
            f"says nothing about {', '.join(blind)}.",
            place="prior",
            remedy="The divergence needs a body to start from; use `fit_lmi` without one.",
        )
    judged = {x.name: x for x in check_parameters(layout, np.nan_to_num(phi_0)).links}
    if edge := [link for link in free_links if not judged[link].strict]:
        reasons = [*judged[edge[0]].reasons, "It is on the edge of the possible."]
        raise InputError(
            f"{', '.join(edge)} must be strictly possible. {reasons[0]}",
            place="prior",
            remedy="`steelyard.inertia.nearest_consistent` with a positive margin gives a neighbour that is.",
        )
    return phi_0


class _Fit:
    """The family of problems over all strengths."""

    def __init__(self, problem: Problem, R: Array, phi_0: Array) -> None:
        layout = problem.layout
        possible = possible_for(problem, R)
        self.problem, self.scales = problem, possible.scales
        self.A, self.b = R[:, :-1] * possible.scales, R[:, -1]
        self.least = 0.5 * _NEGLIGIBLE * float(self.b @ self.b) + np.finfo(float).tiny
        self.possible = possible
        signs = possible.constraints
        believed = signs.bounded[np.nan_to_num(phi_0[signs.bounded]) > 0]
        self.above_zero = np.setdiff1d(signs.bounded, believed)
        self.inside = SlackMap(
            size=layout.size,
            links=signs.links,
            floors=signs.floors,
            bounded=believed,
            signs=np.ones(believed.size),
            limits=np.zeros(believed.size),
        )
        centre = np.where(np.isfinite(phi_0), phi_0, 0.0)
        centre[~layout.free] = problem.known[~layout.free]
        self.centre = centre / possible.scales

    def at(self, strength: float) -> EntropicPoint:
        """Solve for one strength; terms that would turn negative rest at zero while that lowers nothing."""
        free = set(np.flatnonzero(self.problem.layout.free).tolist())
        resting: set[int] = set()
        start = self.centre.copy()
        start[self.above_zero] = 0.0
        for _ in range(2 * self.above_zero.size + 1):
            moving = np.array(sorted(free - resting))
            point = entropic_point(
                self.A, self.b, strength, self.inside, self.centre, start, moving, self.least
            )
            slope = self.A.T @ (self.A @ point.x - self.b)
            below = {int(k) for k in self.above_zero if k not in resting and point.x[k] < 0}
            wants = {k for k in resting if slope[k] < -1e-9 * float(np.abs(slope).max())}
            if not below and not wants:
                return point
            resting = (resting | below) if below else resting - wants
        return point

    def strength_of_data(self) -> tuple[float, str]:
        """The strongest pull within the region of parameters that the data does not reject, and in words."""
        b, rows = self.problem.base.count, self.problem.compressed.samples * self.problem.robot.nv
        best = fit_possible(self.A / self.scales, self.b, self.possible).squares
        variance = max(best, 2.0 * self.least) / max(rows - b, 1)
        allowed = best + variance * float(chi2.ppf(CONFIDENCE, b))
        low, high = np.log(_RANGE[0] * variance), np.log(_RANGE[1] * variance)
        if self.at(float(np.exp(high))).squares <= allowed:
            return float(np.exp(high)), f"strongest tried; the data does not reject it at {CONFIDENCE:.0%}"
        if self.at(float(np.exp(low))).squares > allowed:
            return float(np.exp(low)), f"weakest tried; the data rejects it at {CONFIDENCE:.0%}"
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if self.at(float(np.exp(middle))).squares <= allowed:
                low = middle
            else:
                high = middle
        return float(np.exp(low)), f"strongest the data does not reject at {CONFIDENCE:.0%}"
