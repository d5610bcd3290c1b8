"""Functions of the eigenvalues of an information matrix, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.identifiability.criteria.information import Spectrum


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

    Returns:
        The function.
    """

    def evaluate(x: Array) -> tuple[float, Array]:
        # Powers of numbers that are at most one neither overflow nor matter when they vanish.
        high, low = (x / x[0]) ** power, (x[-1] / x) ** power
        value = float(np.sqrt(x[0] / x[-1]) * (high.sum() * low.sum()) ** (0.5 / power))
        return value, 0.5 * value * (high / high.sum() - low / low.sum()) / x

    return SpectralFunction(evaluate, np.inf)
