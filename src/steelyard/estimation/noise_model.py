r"""Noise with a memory: an autoregression per degree of freedom, its order chosen by the data.

$$e_t = a_1 e_{t-1} + \dots + a_p e_{t-p} + \varepsilon_t$$

The coefficients follow from the autocovariances (Yule and Walker) by Levinson's recursion, which gives every
lower order on the way; Schwarz's criterion picks one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.fft

from steelyard.arrays import Array, read_only
from steelyard.signals import recursion

LONGEST = 40
"""Largest order tried."""
_STABLE = 0.9999


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """The noise of one degree of freedom.

    Attributes:
        coefficients: a, shape (p,), dimensionless; empty for white noise.
        start: autocovariances at lags 0 to p, shape (p + 1,), squared units of the noise, such as (N·m)².
    """

    coefficients: Array
    start: Array

    @property
    def order(self) -> int:
        """p, 0 for white noise."""
        return len(self.coefficients)

    def autocovariance(self, length: int) -> Array:
        """Autocovariances at lags 0 to length - 1.

        Args:
            length: how many.

        Returns:
            Autocovariances, shape (length,), squared units of the noise.
        """
        p = self.order
        if length <= p + 1 or p == 0:
            return np.asarray(np.r_[self.start, np.zeros(max(length - p - 1, 0))][:length])
        # The recursion runs from lag 1 on; what it is fed there makes it give the p known ones.
        fed = np.zeros(length - 1)
        for lag in range(p):
            fed[lag] = self.start[1 + lag] - self.coefficients[:lag] @ self.start[lag:0:-1]
        return np.concatenate([self.start[:1], recursion(-self.coefficients, fed)])


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A piece of a signal by frequency, with as many zeros after it as the longest lag asks for.

    Attributes:
        values: transform over time, shape (f, nv, m), units of the signal.
        samples: n, length of the piece.
        padded: length of the transform, at least n and the longest lag.
    """

    values: npt.NDArray[np.complex128]
    samples: int
    padded: int


def spectrum(x: Array, longest: int) -> Spectrum:
    """Transform a piece of a signal for `lagged_products`.

    Args:
        x: the piece, shape (n, nv, m), any units.
        longest: largest lag.

    Returns:
        Its spectrum.
    """
    padded = scipy.fft.next_fast_len(len(x) + longest, real=True)
    return Spectrum(scipy.fft.rfft(x, padded, axis=0), len(x), padded)


def autocovariances(residual: list[Array], longest: int) -> Array:
    r"""Sample autocovariances: the mean of $r_t\,r_{t-l}$ over the pairs inside one piece.

    Args:
        residual: pieces, each shape (n, nv), SI.
        longest: largest lag.

    Returns:
        c, shape (nv, longest + 1), squared units of the residual, SI.
    """
    return lagged_products(((x, x) for x in (spectrum(r[..., None], longest) for r in residual)), longest)


def lagged_products(pairs: Iterable[tuple[Spectrum, Spectrum]], longest: int) -> Array:
    r"""Mean over time of $x_t \cdot y_{t-l}$, made symmetric in x and y.

    Args:
        pairs: pieces of x and y, each pair of one shape, any units.
        longest: largest lag, which the spectra have room for.

    Returns:
        Means, shape (nv, longest + 1), product of the units.
    """
    total: Array | None = None
    pairs_at = np.zeros(longest + 1)
    for x, y in pairs:
        if total is None:
            total = np.zeros((x.values.shape[1], longest + 1))
        # The real part belongs to the even part of the correlation, the mean of both directions.
        cross = np.einsum("fkm,fkm->fk", x.values, y.values.conj()).real
        total += scipy.fft.irfft(cross, x.padded, axis=0)[: longest + 1].T
        pairs_at += np.maximum(x.samples - np.arange(longest + 1), 0)
    assert total is not None
    return np.asarray(total / np.maximum(pairs_at, 1.0))


def autoregression(autocovariance: Array, samples: int) -> NoiseModel:
    r"""The autoregression that explains autocovariances best for its number of coefficients.

    Args:
        autocovariance: c at lags 0 to the largest order, shape (m + 1,), squared units of the noise, SI.
        samples: N they were averaged over.

    Returns:
        The model. Orders from which on the autocovariances contradict each other are not tried.
    """
    c = autocovariance
    a, left = np.zeros(0), float(c[0])
    best, chosen = _criterion(left, 0, samples), a
    for p in range(1, min(len(c) - 1, samples // 4) + 1):
        if left <= 0.0:
            break
        reflection = float(c[p] - a @ c[p - 1 : 0 : -1]) / left
        if abs(reflection) > _STABLE:
            break
        a = np.r_[a - reflection * a[::-1], reflection]
        left *= 1.0 - reflection**2
        value = _criterion(left, p, samples)
        if value < best:
            best, chosen = value, a
    return NoiseModel(read_only(chosen), read_only(c[: len(chosen) + 1]))


def _criterion(left: float, order: int, samples: int) -> float:
    if left <= 0.0:
        return -np.inf
    return samples * float(np.log(left)) + order * float(np.log(samples))
