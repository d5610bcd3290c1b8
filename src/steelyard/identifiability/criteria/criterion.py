r"""Information criteria: how much data says about the base parameters, each with its gradient.

With the information matrix $G = W^T W$ of a base regressor, summed over samples, and its eigenvalues
$\lambda_1 \ge \dots \ge \lambda_b$, every criterion is a function of the eigenvalues in stated coordinates.
Its gradient is a symmetric matrix,

$$S = \frac{\partial F}{\partial G} = V\,\mathrm{diag}\big(\partial f/\partial\lambda\big)\,V^T, \qquad
  \frac{\partial F}{\partial W} = 2\,W S,$$

which `dynamics.regressor_adjoint` takes on to the motion. Data that is blind in some direction has no
information there: condition numbers, A and r_c are infinite, D is minus infinity, E is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.identifiability.criteria.information import BLIND_SINGULAR, Information
from steelyard.identifiability.criteria.spectral import (
    CONDITION,
    FROBENIUS,
    LOG_DET,
    SMALLEST_EIGENVALUE,
    TRACE_OF_INVERSE,
    power_means,
)


class Criterion(StrEnum):
    """The criteria by their words on the command line; only D and E grow with information."""

    COND = "cond"
    COND_NORMALISED = "cond-normalised"
    COND_ORTHONORMAL = "cond-orthonormal"
    RC = "rc"
    RC_FREE = "rc-free"
    A = "a"
    D = "d"
    E = "e"

    @property
    def maximised(self) -> bool:
        """Whether more is better."""
        return self in (Criterion.D, Criterion.E)

    @property
    def meaning(self) -> str:
        """What it is, and what it depends on besides the information."""
        return _MEANINGS[self]


_MEANINGS = {
    Criterion.COND: "largest over smallest singular value; depends on the base chosen and its units",
    Criterion.COND_NORMALISED: "the same with columns of unit length; depends on the base chosen",
    Criterion.COND_ORTHONORMAL: "the same in an orthonormal basis of the combinations; depends on SI units",
    Criterion.RC: "half the sum of the Frobenius norms of G and its inverse, which bounds cond; depends on "
    "the base, its units, the unit of torque and the number of samples",
    Criterion.RC_FREE: "r_c at the unit of torque that makes it smallest; depends on the base and its units",
    Criterion.A: "sum of the variances of the base parameters for torque noise of one unit",
    Criterion.D: "logarithm of the determinant of G; differences do not depend on units",
    Criterion.E: "smallest eigenvalue of G: one over the largest variance for torque noise of one unit",
}


@dataclass(frozen=True, eq=False)
class Score:
    """A criterion at some data.

    Attributes:
        criterion: which one.
        value: F; infinite (D: minus infinity, E: zero) where the data is blind in some direction.
        gradient: S, its derivative in G, symmetric, shape (b, b), SI; NaN where the value is infinite. Where
            the eigenvalue that decides is a multiple one, cond and E have a kink, and this is one of the
            derivatives there.
    """

    criterion: Criterion
    value: float
    gradient: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "gradient", read_only(0.5 * (self.gradient + self.gradient.T)))

    def regressor_gradient(self, regressor: ArrayLike) -> Array:
        r"""The derivative in the regressor, $\partial F/\partial W = 2 W S$.

        Args:
            regressor: W, the base regressor the score is of, shape (..., b), SI.

        Returns:
            The gradient, same shape, SI.
        """
        return 2.0 * checked("regressor", regressor, ("...", len(self.gradient))) @ self.gradient


def score(
    criterion: Criterion | str,
    information: Information,
    *,
    groupings: ArrayLike | None = None,
    torque_unit: float = 1.0,
) -> Score:
    r"""Judge data by one criterion.

    Measuring torque in another unit u divides G by u². Condition numbers and `rc-free` do not change; A is
    multiplied by u², E divided by it, D falls by 2 b log u, and r_c becomes
    $\tfrac12(\|G\|/u^2 + u^2 \|G^{-1}\|)$ (paper 003, Theorem 1; the paper does not say which u it used).

    Args:
        criterion: which one, or its word.
        information: of the base regressor.
        groupings: K with beta = K phi, needed by `cond-orthonormal`; shape (b, p), SI.
        torque_unit: u, N·m or N; one standard deviation of the torque noise is a good choice.

    Returns:
        The score.

    Raises:
        InputError: no such criterion, or an argument is missing or does not fit.
    """
    if criterion not in list(Criterion):
        raise InputError(
            f"unknown criterion '{criterion}'.",
            place="criterion",
            remedy=f"Valid: {', '.join(Criterion)}.",
        )
    criterion = Criterion(criterion)
    if not (np.isfinite(torque_unit) and torque_unit > 0.0):
        raise InputError(f"must be positive and finite, got {torque_unit}.", place="torque_unit")
    if criterion is Criterion.COND_NORMALISED:
        value, S = _normalised(information)
    elif criterion is Criterion.COND_ORTHONORMAL:
        L = _orthonormal_coordinates(information, groupings)
        value, S = CONDITION.at(information.spectrum(L))
        S = L @ S @ L.T
    else:
        value, S = _FUNCTIONS[criterion].at(information.spectrum(), torque_unit)
    return Score(criterion, value, S)


def smooth_condition(information: Information, power: float) -> Score:
    r"""A condition number without kinks, $(\mathrm{tr}\,G^p\,\mathrm{tr}\,G^{-p})^{1/2p}$.

    It lies above cond and tends to it as p grows, at most by the factor $b^{1/p}$; p = 2 is `rc-free`.

    Args:
        information: of the base regressor.
        power: p, positive, dimensionless.

    Returns:
        The score, filed under `cond`.
    """
    if not (np.isfinite(power) and power > 0.0):
        raise InputError(f"must be positive and finite, got {power}.", place="power")
    return Score(Criterion.COND, *power_means(power).at(information.spectrum()))


_FUNCTIONS = {
    Criterion.COND: CONDITION,
    Criterion.RC: FROBENIUS,
    Criterion.RC_FREE: power_means(2.0),
    Criterion.A: TRACE_OF_INVERSE,
    Criterion.D: LOG_DET,
    Criterion.E: SMALLEST_EIGENVALUE,
}


def _normalised(information: Information) -> tuple[float, Array]:
    r"""S of the condition number of N G N, with N² = 1 / diag G: N Ŝ N - N² diag(Ŝ Ĝ)."""
    norms = information.norms
    if norms.min() <= BLIND_SINGULAR * norms.max():
        return np.inf, np.full((len(norms), len(norms)), np.nan)
    N = 1.0 / norms
    spectrum = information.spectrum(np.diag(N))
    value, S = CONDITION.at(spectrum)
    G = (spectrum.vectors * spectrum.values) @ spectrum.vectors.T
    return value, S * np.outer(N, N) - np.diag(N**2 * np.einsum("ij,ji->i", S, G))


def _orthonormal_coordinates(information: Information, groupings: ArrayLike | None) -> Array:
    """L with K = L Q and orthonormal rows of Q, so that beta = L z where z = Q phi."""
    if groupings is None:
        raise InputError(
            "the condition number in an orthonormal basis needs the combinations themselves.",
            place="groupings",
            remedy="Pass K with beta = K phi.",
        )
    K = checked("groupings", groupings, (len(information.matrix), "p"))
    return np.asarray(np.linalg.qr(K.T, mode="r")).T
