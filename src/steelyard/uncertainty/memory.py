"""How long a residual remembers, which decides the length of a bootstrap's blocks."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, checked

_SIGNIFICANT = 2.0


def block_length(residual: Array) -> int:
    r"""Block length for a moving-block bootstrap of a series (Politis and White 2004, corrected 2009).

    $$\ell = \Big(\frac{3 G^2}{2 g(0)^2}\Big)^{1/3} N^{1/3}, \qquad
      G = \sum_l \lambda(l)\,|l|\,c_l, \qquad g(0) = \sum_l \lambda(l)\,c_l$$

    with autocovariances c and a flat-topped window λ that ends at twice the lag after which correlations are
    insignificant. The longest of all channels is taken.

    Args:
        residual: one motion, shape (N, nv), N·m or N.

    Returns:
        ℓ, at least 1 and at most a third of the samples.
    """
    r = checked("residual", residual, ("N", "n"))
    r = r - r.mean(axis=0)
    samples = len(r)
    quiet = max(5, int(np.ceil(np.log10(samples))))
    longest = min(int(np.ceil(np.sqrt(samples))) + quiet, samples - 1)
    lengths = [_length(channel, longest, quiet) for channel in r.T if channel.any()]
    return int(np.clip(np.ceil(max(lengths, default=1.0)), 1, max(samples // 3, 1)))


def _length(r: Array, longest: int, quiet: int) -> float:
    samples = len(r)
    c = np.array([r[lag:] @ r[: samples - lag] for lag in range(longest + 1)]) / samples
    loud = np.abs(c / c[0]) > _SIGNIFICANT * np.sqrt(np.log10(samples) / samples)
    # The first lag after which `quiet` correlations in a row are insignificant.
    runs = [m for m in range(1, longest - quiet + 2) if not loud[m : m + quiet].any()]
    end = 2 * max((runs[0] if runs else longest) - 1, 1)
    lags = np.arange(1, min(end, longest) + 1)
    taper = np.clip(2.0 * (1.0 - lags / end), 0.0, 1.0)
    G = 2.0 * float((taper * lags * c[lags]).sum())
    g = c[0] + 2.0 * float((taper * c[lags]).sum())
    if g <= 0.0:
        return 1.0
    return float((1.5 * (G / g) ** 2 * samples) ** (1.0 / 3.0))
