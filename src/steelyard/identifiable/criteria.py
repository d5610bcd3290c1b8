"""How informative data is, in one number, with its gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

# The information matrix of a base regressor, $G = W^T W$, kept as a factor of it or as itself.
#
# Every criterion of how informative data is depends on W through G alone, and on G through its eigenvalues in
# some coordinates of the base parameters.

BLIND_SINGULAR = 1e-12
"""A direction is blind when its singular value is this small against the largest: round-off, not evidence."""
BLIND_EIGENVALUE = 1e-13
"""The same for an eigenvalue of a Gram matrix, whose round-off is relative to its largest eigenvalue."""


class Spectrum(NamedTuple):
    """Eigenvalues and eigenvectors of an information matrix.

    Attributes:
        values: eigenvalues, decreasing, none negative, shape (b,), SI.
        vectors: eigenvectors, one per column, shape (b, b), dimensionless.
        blind: number of eigenvalues that are nothing but round-off; the last ones.
    """

    values: Array
    vectors: Array
    blind: int


@dataclass(frozen=True, eq=False)
class Information:
    """What data says about base parameters, summed over samples and not averaged.

    Attributes:
        matrix: R with RᵀR = G, or G itself, shape (b, b), SI.
        squared: whether `matrix` is G. It is then judged a third faster, but directions fade into round-off
            from a condition number of 3e6 on instead of 1e12.
    """

    matrix: Array
    squared: bool = False

    def __post_init__(self) -> None:
        matrix = checked("information", self.matrix, ("b", "b"))
        if matrix.size == 0:
            raise InputError("there is no base parameter to know about.", place="information")
        object.__setattr__(self, "matrix", read_only(matrix))

    @classmethod
    def of_regressor(cls, regressor: ArrayLike) -> Information:
        """The information of a base regressor, or of any factor of its Gram matrix.

        Args:
            regressor: W, each row over the standard deviation of its noise where that is known, or R of
                `dynamics.compress` in the columns of the base parameters; shape (M, b), SI.
        """
        W = checked("regressor", regressor, ("M", "b"))
        R = np.zeros((W.shape[1], W.shape[1]))
        reduced = np.linalg.qr(W, mode="r")
        R[: len(reduced)] = reduced
        return cls(R)

    @property
    def gram(self) -> Array:
        """G, shape (b, b), SI."""
        return self.matrix if self.squared else self.matrix.T @ self.matrix

    @property
    def norms(self) -> Array:
        """Length of each column of the regressor, shape (b,), SI."""
        if self.squared:
            return np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        return np.asarray(np.linalg.norm(self.matrix, axis=0))

    def spectrum(self, coordinates: Array | None = None) -> Spectrum:
        r"""Eigenvalues of $L^T G L$, the information about $z$ where $\beta = L z$.

        Args:
            coordinates: L, shape (b, b), SI; None for the base parameters themselves.
        """
        X = self.matrix
        if self.squared:
            X = X if coordinates is None else coordinates.T @ X @ coordinates
            values, vectors = np.linalg.eigh(X)
            values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
            seen = values > BLIND_EIGENVALUE * values[0]
        else:
            X = X if coordinates is None else X @ coordinates
            _, singular, Vt = np.linalg.svd(X)
            values, vectors = singular**2, Vt.T
            seen = singular > BLIND_SINGULAR * singular[0]
        return Spectrum(values, vectors, len(values) - int(seen.sum()))

    def smooth_condition(self, power: float) -> Score:
        r"""A condition number without kinks, $(\mathrm{tr}\,G^p\,\mathrm{tr}\,G^{-p})^{1/2p}$.

        It lies above cond and tends to it as p grows, at most by the factor $b^{1/p}$; p = 2 is `rc-free`.

        Args:
            power: p, positive, dimensionless.

        Returns:
            The score, filed under `cond`.
        """
        if not (np.isfinite(power) and power > 0.0):
            raise InputError(f"must be positive and finite, got {power}.", place="power")
        return Score(Criterion.COND, *power_means(power).at(self.spectrum()))


# Functions of the eigenvalues of an information matrix, with their derivatives.


@dataclass(frozen=True)
class SpectralFunction:
    r"""A function of the eigenvalues $\lambda_1 \ge \dots \ge \lambda_b > 0$.

    Attributes:
        evaluate: from eigenvalues (b,) to f and its derivatives in them, shape (b,).
        when_blind: f where some eigenvalue is zero.
    """

    evaluate: Callable[[Array], tuple[float, Array]]
    when_blind: float

    def at(self, spectrum: Spectrum, unit: float = 1.0) -> tuple[float, Array]:
        """F and its derivative in G, for torque counted in `unit`.

        Args:
            spectrum: of G.
            unit: N·m or N.

        Returns:
            The value, and S of shape (b, b), SI; NaN where the value is infinite.
        """
        V = spectrum.vectors
        if spectrum.blind and not np.isfinite(self.when_blind):
            return self.when_blind, np.full(V.shape, np.nan)
        value, slope = self.evaluate(spectrum.values / unit**2)
        return (self.when_blind if spectrum.blind else value), (V * (slope / unit**2)) @ V.T


def _condition(x: Array) -> tuple[float, Array]:
    value = float(np.sqrt(x[0] / x[-1]))
    slope = np.zeros(len(x))
    slope[0] += 0.5 * value / x[0]
    slope[-1] -= 0.5 * value / x[-1]
    return value, slope


def _frobenius(x: Array) -> tuple[float, Array]:
    direct, inverse = float(np.linalg.norm(x)), float(np.linalg.norm(1.0 / x))
    return 0.5 * (direct + inverse), 0.5 * (x / direct - x**-3.0 / inverse)


def _trace_of_inverse(x: Array) -> tuple[float, Array]:
    return float((1.0 / x).sum()), -(x**-2.0)


def _log_det(x: Array) -> tuple[float, Array]:
    return float(np.log(x).sum()), 1.0 / x


def _smallest(x: Array) -> tuple[float, Array]:
    slope = np.zeros(len(x))
    slope[-1] = 1.0
    return float(x[-1]), slope


CONDITION = SpectralFunction(_condition, np.inf)
FROBENIUS = SpectralFunction(_frobenius, np.inf)
TRACE_OF_INVERSE = SpectralFunction(_trace_of_inverse, np.inf)
LOG_DET = SpectralFunction(_log_det, -np.inf)
SMALLEST_EIGENVALUE = SpectralFunction(_smallest, 0.0)


def power_means(power: float) -> SpectralFunction:
    r"""$(\sum \lambda^p \sum \lambda^{-p})^{1/2p}$, which tends to `CONDITION` from above as p grows.

    Args:
        power: p, positive, dimensionless.
    """

    def evaluate(x: Array) -> tuple[float, Array]:
        # Powers of numbers that are at most one neither overflow nor matter when they vanish.
        high, low = (x / x[0]) ** power, (x[-1] / x) ** power
        value = float(np.sqrt(x[0] / x[-1]) * (high.sum() * low.sum()) ** (0.5 / power))
        return value, 0.5 * value * (high / high.sum() - low / low.sum()) / x

    return SpectralFunction(evaluate, np.inf)


# Information criteria: how much data says about the base parameters, each with its gradient.
#
# With the information matrix $G = W^T W$ of a base regressor, summed over samples, and its eigenvalues
# $\lambda_1 \ge \dots \ge \lambda_b$, every criterion is a function of the eigenvalues in stated coordinates.
# Its gradient is a symmetric matrix,
#
# $$S = \frac{\partial F}{\partial G} = V\,\mathrm{diag}\big(\partial f/\partial\lambda\big)\,V^T, \qquad
#   \frac{\partial F}{\partial W} = 2\,W S,$$
#
# which `dynamics.regressor_adjoint` takes on to the motion. Data that is blind in some direction has no
# information there: condition numbers, A and r_c are infinite, D is minus infinity, E is zero.


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
    $\tfrac12(\|G\|/u^2 + u^2 \|G^{-1}\|)$ (Tian et al. 2024, Theorem 1; the paper does not say which u it
    used).

    Args:
        criterion: which one, or its word.
        information: of the base regressor.
        groupings: K with beta = K phi, needed by `cond-orthonormal`; shape (b, p), SI.
        torque_unit: u, N·m or N; one standard deviation of the torque noise is a good choice.

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
