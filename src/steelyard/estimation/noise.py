"""Noise with a memory, and the covariance of an estimate under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.fft
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.estimation.equations import RowSource, kept_if_small
from steelyard.signals import recursion

# Noise with a memory: an autoregression per degree of freedom, its order chosen by the data.
#
# $$e_t = a_1 e_{t-1} + \dots + a_p e_{t-p} + \varepsilon_t$$
#
# The coefficients follow from the autocovariances (Yule and Walker) by Levinson's recursion, which gives
# every lower order on the way; Schwarz's criterion picks one.

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
class NoiseSpectrum:
    """A piece of a signal by frequency, with as many zeros after it as the longest lag asks for.

    Attributes:
        values: transform over time, shape (f, nv, m), units of the signal.
        samples: n, length of the piece.
        padded: length of the transform, at least n and the longest lag.
    """

    values: npt.NDArray[np.complex128]
    samples: int
    padded: int


def noise_spectrum(x: Array, longest: int) -> NoiseSpectrum:
    """Transform a piece of a signal for `lagged_products`.

    Args:
        x: the piece, shape (n, nv, m), any units.
        longest: largest lag.
    """
    padded = scipy.fft.next_fast_len(len(x) + longest, real=True)
    return NoiseSpectrum(scipy.fft.rfft(x, padded, axis=0), len(x), padded)


def autocovariances(residual: list[Array], longest: int) -> Array:
    r"""Sample autocovariances: the mean of $r_t\,r_{t-l}$ over the pairs inside one piece.

    Args:
        residual: pieces, each shape (n, nv), SI.
        longest: largest lag.

    Returns:
        c, shape (nv, longest + 1), squared units of the residual, SI.
    """
    return lagged_products(
        ((x, x) for x in (noise_spectrum(r[..., None], longest) for r in residual)), longest
    )


def lagged_products(pairs: Iterable[tuple[NoiseSpectrum, NoiseSpectrum]], longest: int) -> Array:
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
        cross = np.einsum("fkm,fkm->fk", x.values.view(float), y.values.view(float))
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
    price = float(np.log(samples))
    best, chosen = _criterion(left, 0, samples, price), a
    for p in range(1, min(len(c) - 1, samples // 4) + 1):
        if left <= 0.0:
            break
        reflection = float(c[p] - a @ c[p - 1 : 0 : -1]) / left
        if abs(reflection) > _STABLE:
            break
        longer = np.empty(p)
        longer[:-1], longer[-1] = a - reflection * a[::-1], reflection
        a = longer
        left *= 1.0 - reflection**2
        value = _criterion(left, p, samples, price)
        if value < best:
            best, chosen = value, a
    return NoiseModel(read_only(chosen), read_only(c[: len(chosen) + 1]))


def _criterion(left: float, order: int, samples: int, price: float) -> float:
    if left <= 0.0:
        return -np.inf
    return samples * float(np.log(left)) + order * price


# `Spread`: how sure an estimate is, with the directions along which it knows nothing.

_CANCELLED = 1e-7


@dataclass(frozen=True, eq=False)
class Spread:
    r"""The covariance of base parameters of which some combinations are unknown.

    A combination $c^T\beta$ has the variance $c^T \Sigma c$ where it does not change along the blind
    directions, $c^T N = 0$, and an infinite one otherwise.

    Attributes:
        finite: Σ, the covariance with the hidden parameters held, shape (b, b), SI.
        blind: N, directions along which the data shows nothing, as columns, shape (b, k), SI.
    """

    finite: Array
    blind: Array

    def __post_init__(self) -> None:
        finite = checked("finite", self.finite, ("b", "b"))
        blind = checked("blind", self.blind, (len(finite), "k"))
        object.__setattr__(self, "finite", read_only(0.5 * (finite + finite.T)))
        object.__setattr__(self, "blind", read_only(blind))

    def variance(self, combinations: ArrayLike) -> Array:
        """Variance of combinations of base parameters.

        Args:
            combinations: c, one in each row, shape (..., b), any unit.

        Returns:
            Their variances, shape (...), squared units of the combinations; infinite where unknown, SI.
        """
        c = checked("combinations", combinations, ("...", len(self.finite)))
        variance = np.einsum("...i,ij,...j->...", c, self.finite, c)
        moved = np.abs(c @ self.blind)
        could = np.abs(c) @ np.abs(self.blind)
        unknown = (moved > _CANCELLED * could).any(axis=-1)
        return np.asarray(np.where(unknown, np.inf, np.maximum(variance, 0.0)))

    @property
    def covariance(self) -> Array:
        """As one matrix, shape (b, b), SI.

        A parameter that a blind direction moves has an infinite variance and no covariance with others.
        """
        unknown = (self.blind != 0.0).any(axis=1)
        dense = np.array(self.finite)
        dense[unknown] = 0.0
        dense[:, unknown] = 0.0
        dense[unknown, unknown] = np.inf
        return dense


# The covariance of an estimate that is linear in the data, under noise with a memory.
#
# With $\hat\beta = B \sum_k w_k^2 Z_k^T y_k$, k counting degrees of freedom, and noise of covariance
# $\Gamma_k$
#
# $$\Sigma = \sum_k w_k^4\,P_k^T\,\Gamma_k\,P_k, \qquad P_k = Z_k B^T.$$
#
# $\Gamma_k$ is known from the residual alone, and the residual has lost what the fit took away,
#
# $$E[r_k r_k^T] = \Gamma_k - w_k^2\,(\Gamma_k P_k W_k^T + W_k P_k^T \Gamma_k) + W_k\,\Sigma\,W_k^T,$$
#
# most of it where the motion has its power: just there where it matters. So the loss that the model itself
# predicts is added to the residual's autocovariances, and the model fitted again, until both agree.

Colour = Literal["white", "autoregressive", "newey-west"]
"""What is assumed of the noise: without memory; an autoregression per degree of freedom, independent of the
others and of the motion; or anything stationary that fades, which needs longer logs."""
COLOURS: tuple[Colour, ...] = ("white", "autoregressive", "newey-west")

_ROUNDS = 8
_SETTLED = 3e-3


def linear_covariance(
    source: RowSource, weights: Array, gain: Array, residual: list[Array], colour: Colour
) -> tuple[Array, tuple[NoiseModel, ...]]:
    """Covariance of a linear estimate, and the noise it follows from.

    Args:
        source: the equations, with the instruments of the estimate.
        weights: w, shape (nv,), one over the units of the equations, such as 1/(N·m).
        gain: B, shape (b, b), SI.
        residual: what the estimate leaves, in the pieces of the source, each shape (n, nv), SI.
        colour: what is assumed of the noise.

    Returns:
        Σ, shape (b, b), SI; and the noise of each degree of freedom, none where no model is used.

    Raises:
        InputError: no such colour.
    """
    if colour not in COLOURS:
        raise InputError(f"got '{colour}'.", place="colour", remedy=f"Valid: {', '.join(COLOURS)}.")
    if colour == "newey-west":
        return _newey_west(source, weights, gain, residual), ()
    samples = sum(len(r) for r in residual)
    longest = 0 if colour == "white" else min(LONGEST, samples // 8)
    measured = autocovariances(residual, longest)
    numbers = samples * len(weights) * len(gain)
    projected = kept_if_small(lambda: _projected(source, gain), numbers)
    spectra = kept_if_small(lambda: (noise_spectrum(rows.regressor, longest) for rows in source()), numbers)
    corrected = measured
    for _ in range(_ROUNDS):
        noise = tuple(autoregression(c, samples) for c in corrected)
        smeared = kept_if_small(partial(_smeared, projected, noise), numbers)
        covariance = _spread(projected(), smeared(), weights)
        lost = _lost(source, smeared(), spectra(), weights, covariance, longest)
        before, corrected = corrected, measured + lost
        change = np.abs(corrected - before).max(axis=1)
        if (change <= _SETTLED * corrected[:, 0]).all():
            break
    return covariance, noise


def covariance_under(source: RowSource, weights: Array, gain: Array, noise: tuple[NoiseModel, ...]) -> Array:
    """Covariance of a linear estimate under a given noise.

    Args:
        source: the equations, with the instruments of the estimate, n of them in each row.
        weights: w, shape (nv,), one over the units of the equations, such as 1/(N·m).
        gain: B, shape (b, n), SI.
        noise: of each degree of freedom.

    Returns:
        Σ, shape (b, b), SI.
    """
    noise_of = _smeared(lambda: _projected(source, gain), noise)
    return _spread(_projected(source, gain), noise_of, weights)


def _projected(source: RowSource, gain: Array) -> Iterator[Array]:
    """P of each piece, shape (n, nv, b)."""
    return (rows.instruments @ gain.T for rows in source())


def _smeared(
    projected: Callable[[], Iterable[Array]], noise: tuple[NoiseModel, ...]
) -> Iterator[list[Array]]:
    r"""$\Gamma_k P_k$ of each piece, for each degree of freedom, shape (n, b)."""
    for P in projected():
        yield [_coloured(model, P[:, k]) for k, model in enumerate(noise)]


def _spread(projected: Iterable[Array], smeared: Iterable[list[Array]], weights: Array) -> Array:
    """Σ from P and ΓP of all pieces, shape (b, b)."""
    total: Array | float = 0.0
    for P, coloured in zip(projected, smeared, strict=True):
        for k, w in enumerate(weights):
            total = total + w**4 * (P[:, k].T @ coloured[k])
    return np.asarray(total)


def _lost(
    source: RowSource,
    smeared: Iterable[list[Array]],
    spectra: Iterable[NoiseSpectrum],
    weights: Array,
    covariance: Array,
    longest: int,
) -> Array:
    """What the fit took from the residual's autocovariances, shape (nv, longest + 1)."""

    def taken() -> Iterator[tuple[NoiseSpectrum, NoiseSpectrum]]:
        for rows, coloured, W in zip(source(), smeared, spectra, strict=True):
            x = rows.regressor @ -covariance
            for k, w in enumerate(weights):
                x[:, k] += 2.0 * w**2 * coloured[k]
            yield noise_spectrum(x, longest), W

    return lagged_products(taken(), longest)


def _coloured(noise: NoiseModel, P: Array) -> Array:
    r"""$\Gamma P$, Γ the Toeplitz matrix of the noise's autocovariances."""
    if noise.order == 0:
        return np.asarray(noise.start[0] * P)
    gamma = noise.autocovariance(len(P))
    fading = int(np.flatnonzero(np.abs(gamma) > 1e-6 * gamma[0])[-1])
    kernel = np.r_[gamma[fading:0:-1], gamma[: fading + 1]]
    return _convolved(P, kernel)[fading : fading + len(P)]


def _convolved(x: Array, kernel: Array) -> Array:
    """Convolution of columns with a kernel that is short beside them: blocks go by frequency, ends add up."""
    size = scipy.fft.next_fast_len(min(4 * len(kernel), len(x) + len(kernel) - 1), real=True)
    step = size - len(kernel) + 1
    starts = range(0, len(x), step)
    full = np.zeros((starts[-1] + size, x.shape[1]))
    gain = scipy.fft.rfft(kernel, size)[:, None]
    for start in starts:
        block = scipy.fft.rfft(x[start : start + step], size, axis=0)
        full[start : start + size] += scipy.fft.irfft(gain * block, size, axis=0)
    return full


def _newey_west(source: RowSource, weights: Array, gain: Array, residual: list[Array]) -> Array:
    r"""Bartlett's window over the scores $s_t = B \sum_k w_k^2 z_{k,t}\,r_{k,t}$ (Newey and West 1987).

    The bandwidth is Andrews' (1991) for a score that is an autoregression of first order.
    """
    scores = [
        np.einsum("tkb,tk,k->tb", rows.instruments @ gain.T, r, weights**2)
        for rows, r in zip(source(), residual, strict=True)
    ]
    samples = sum(len(s) for s in scores)
    power = sum((s**2).sum(axis=0) for s in scores)
    rho = sum((s[1:] * s[:-1]).sum(axis=0) for s in scores) / np.where(power > 0, power, 1.0)
    rho = np.clip(rho, -0.97, 0.97)
    alpha = float(np.median(4.0 * rho**2 / ((1.0 - rho) ** 2 * (1.0 + rho) ** 2)))
    bandwidth = int(np.ceil(1.1447 * (alpha * samples) ** (1.0 / 3.0)))
    total = np.zeros(gain.shape)
    for s in scores:
        total += s.T @ s
        for lag in range(1, min(bandwidth, len(s) - 1) + 1):
            part = s[lag:].T @ s[:-lag]
            total += (1.0 - lag / (bandwidth + 1.0)) * (part + part.T)
    equations = samples * len(weights)
    return np.asarray(total * equations / max(equations - len(gain), 1))


# How many samples of a residual count as independent.


def effective_samples(residual: Array, nothing: Array) -> Array:
    r"""Samples that count where each resembles the one before: $N (1 - \rho) / (1 + \rho)$.

    Args:
        residual: evenly spread samples, shape (N, n), any unit.
        nothing: deviation below which there is no residual, and so no memory, shape (n,), same unit (SI).

    Returns:
        The number for each column, with ρ its correlation from sample to sample where that is positive,
        shape (n,), dimensionless.
    """
    power = (residual**2).sum(axis=0)
    rho = (residual[1:] * residual[:-1]).sum(axis=0) / np.where(power > 0.0, power, 1.0)
    rho = np.where(power <= len(residual) * nothing**2, 0.0, np.clip(rho, 0.0, 1.0))
    return np.asarray(len(residual) * (1.0 - rho) / (1.0 + rho))
