r"""The possible vector that fits equations best; among equals, the one nearest to the reference.

$$\min_{\phi\ \text{possible}} \lVert R\phi - r \rVert^2$$

leaves free what the equations do not see, and may let it run to infinity. Of all that fit equally well the
one at the least distance from the reference is wanted. That second question has no interior to search in, so
both are asked at once,

$$\min_{\phi\ \text{possible}} \lVert R\phi - r \rVert^2 + \varepsilon\, d(\phi, \phi_{ref})^2, \qquad
  \varepsilon = 10^{-8} \max\left(\min_\phi \lVert R\phi - r\rVert^2,\; 10^{-6} \lVert r\rVert^2\right),$$

whose solution tends to the wanted one with $\varepsilon \to 0$. It costs the fit at most
$\varepsilon\,d(\phi^*, \phi_{ref})^2$ for any best $\phi^*$, and where the best is not attained it stays
finite. Where the cost exceeds `COST`, as for short and noisy logs whose best fit lies far out, it is asked
again with less weight; where round-off hides a best fit far out, with more. The cost is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.interior_point import minimise_over_possible
from steelyard.consistency.possible import PossibleSet
from steelyard.errors import NoSolutionError

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
class PossibleFit:
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


def fit_possible(matrix: Array, target: Array, possible: PossibleSet) -> PossibleFit:
    """Fit equations by a possible vector.

    Args:
        matrix: R, shape (k, p), SI.
        target: r, shape (k,), SI.
        possible: what is possible, with the reference.

    Returns:
        The fit.

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
    A: Array, b: Array, possible: PossibleSet, least: float, weight: float
) -> tuple[PossibleFit, float]:
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


def _tied(A: Array, b: Array, possible: PossibleSet, least: float, weight: float) -> PossibleFit:
    """The fit with a given weight of the tie-break, for equations in x less the reference."""
    s, N, T = possible.scales, possible.basis, possible.metric
    start = possible.reference / s
    stacked = np.vstack([A, np.sqrt(weight) * T])
    found = minimise_over_possible(
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
    return PossibleFit(
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
