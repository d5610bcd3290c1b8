r"""The covariance of an estimate that is linear in the data, under noise with a memory.

With $\hat\beta = B \sum_k w_k^2 Z_k^T y_k$, k counting degrees of freedom, and noise of covariance $\Gamma_k$

$$\Sigma = \sum_k w_k^4\,P_k^T\,\Gamma_k\,P_k, \qquad P_k = Z_k B^T.$$

$\Gamma_k$ is known from the residual alone, and the residual has lost what the fit took away,

$$E[r_k r_k^T] = \Gamma_k - w_k^2\,(\Gamma_k P_k W_k^T + W_k P_k^T \Gamma_k) + W_k\,\Sigma\,W_k^T,$$

most of it where the motion has its power: just there where it matters. So the loss that the model itself
predicts is added to the residual's autocovariances, and the model fitted again, until both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal

import numpy as np
import scipy.fft

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.estimation.noise_model import (
    LONGEST,
    NoiseModel,
    Spectrum,
    autocovariances,
    autoregression,
    lagged_products,
    spectrum,
)
from steelyard.estimation.weighted_rows import RowSource, kept_if_small

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
    spectra = kept_if_small(lambda: (spectrum(rows.regressor, longest) for rows in source()), numbers)
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
    spectra: Iterable[Spectrum],
    weights: Array,
    covariance: Array,
    longest: int,
) -> Array:
    """What the fit took from the residual's autocovariances, shape (nv, longest + 1)."""

    def taken() -> Iterator[tuple[Spectrum, Spectrum]]:
        for rows, coloured, W in zip(source(), smeared, spectra, strict=True):
            x = rows.regressor @ -covariance
            for k, w in enumerate(weights):
                x[:, k] += 2.0 * w**2 * coloured[k]
            yield spectrum(x, longest), W

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
