"""How many samples of a residual count as independent."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array


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
