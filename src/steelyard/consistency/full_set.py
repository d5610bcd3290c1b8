r"""From base parameters to a full set of possible links that predicts the same torques.

Torques see only $\beta = K\phi$. Given $\beta$ there are either possible $\phi$ with $K\phi = \beta$, and the
one nearest to a reference is returned, or there are none, and then the possible vector with the least change
of torque is,

$$\min_{\phi\ \text{possible}} \lVert R_b\,(K\phi - \beta) \rVert,$$

where $R_b$ is the factor of the data, so that $\lVert R_b\,\delta\beta\rVert$ is the change of torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.possible import PossibleSet
from steelyard.consistency.possible_fit import PossibleFit, fit_possible
from steelyard.consistency.verdict import check_parameters
from steelyard.identifiability import BaseParameters

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
    fit: PossibleFit


def full_set(
    base: BaseParameters, values: ArrayLike, possible: PossibleSet, metric: ArrayLike | None = None
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
    fit = fit_possible(R @ K, R @ beta, possible)
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


def _moved_onto(K: Array, beta: Array, phi: Array, possible: PossibleSet) -> Array:
    """The nearest vector with exactly these base parameters, where it is possible too."""
    s, free = possible.scales, possible.layout.free
    step = np.linalg.lstsq(K[:, free] * s[free], beta - K @ phi, rcond=None)[0]
    moved = phi.copy()
    moved[free] += s[free] * step
    near = possible.distance(moved, phi) <= np.sqrt(SAME)
    inside = bool((possible.constraints.value(moved / s).lowest >= 0).all())
    return moved if near and inside and check_parameters(possible.layout, moved) else phi


def _reason(change: float, fit: PossibleFit) -> str:
    by_price = sorted(fit.active, key=lambda name: -fit.active[name])
    held = f" The edge is at {', '.join(by_price)}." if by_price else ""
    return (
        "No possible links have these base parameters; the least change of torque that leads "
        f"to possible ones is {100 * change:.3g} % of it.{held}"
    )
