r"""What measured inertia says against a solid of one density.

A uniform solid of mass $m$ has the ten numbers $m\,u$, where $u$ belongs to its mesh at unit mass. With $B$
the combinations the data shows, $y = B\hat\varphi$ and $S$ their covariance, what speaks against it is

$$\chi^2 = \min_m\,(y - m B u)^T S^{-1} (y - m B u),$$

chi-square distributed with one degree of freedom less than $B$ has rows, since the mass is free.

People know centre of mass and central inertia instead. About the measured centre of mass, where $h = 0$, they
are $\delta c = \delta h / m$ and $\delta I_c = \delta I$ to first order, which gives their spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.inertia import PARAMETER_NAMES, Body, change_of_frame, parameters_of_pseudo_inertia
from steelyard.pose import Pose

QUANTITIES = ("x", "y", "z", *(f"{name}_com" for name in PARAMETER_NAMES[4:]))
"""What is compared: the centre of mass, then the inertia about it."""
ROUND_OFF = 1e-9
"""Deviation of numbers that are stated exactly, relative to mass and size."""
_ROWS, _COLUMNS = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]


@dataclass(frozen=True, eq=False)
class DensityEvidence:
    """What the data says about uniform density.

    Attributes:
        chi_square: weighted distance to the nearest uniform solid, dimensionless.
        degrees: degrees of freedom it has.
        difference: measured minus uniform of each of `QUANTITIES`, NaN where it is not shown, shape (9,), SI.
        spread: covariance of the differences, NaN where they are not shown, shape (9, 9), SI.
    """

    chi_square: float
    degrees: int
    difference: Array
    spread: Array


def density_evidence(body: Body, covariance: Array, shown: Array, solid: Body) -> DensityEvidence:
    """Compare a measured body with a uniform solid.

    Args:
        body: as measured; its mass is positive.
        covariance: of its ten numbers, shape (10, 10), SI.
        shown: combinations of them that count, in rows, shape (k, 10), dimensionless.
        solid: the uniform solid with the measured mass.

    Returns:
        The evidence.
    """
    m, length = body.mass, float(np.sqrt(np.trace(solid.inertia) / body.mass))
    scale = np.array([m, *(m * length,) * 3, *(m * length**2,) * 6])
    to_com = change_of_frame(Pose(np.eye(3), -body.com)) / scale[:, None]
    phi, u = to_com @ body.parameters, to_com @ solid.parameters
    B = _basis(shown @ np.linalg.inv(to_com))
    S = B @ (to_com @ covariance @ to_com.T) @ B.T + ROUND_OFF**2 * np.eye(len(B))
    root = np.linalg.cholesky(S)
    y, w = np.linalg.solve(root, B @ phi), np.linalg.solve(root, B @ u)
    free = float(w @ w) > 0.0
    rest = y - w * (float(w @ y) / float(w @ w)) if free else y
    ask = np.eye(10)[1:]
    ask[3:, 0] = -solid.inertia[_ROWS, _COLUMNS] / scale[4:]
    known = np.abs(ask - ask @ B.T @ B).max(axis=1) <= ROUND_OFF
    back = np.where(known[:, None], ask @ B.T, np.nan) * np.array([*(length,) * 3, *scale[4:]])[:, None]
    difference = np.concatenate((body.com - solid.com, (body.inertia - solid.inertia)[_ROWS, _COLUMNS]))
    return DensityEvidence(
        float(rest @ rest), len(B) - int(free), np.where(known, difference, np.nan), back @ S @ back.T
    )


def shown_combinations(covariance: Array, shown: ArrayLike | None) -> Array:
    """The combinations of the ten numbers that the data shows.

    Args:
        covariance: of the ten numbers, infinite on the diagonal where the data is blind, shape (10, 10), SI.
        shown: the combinations in rows, shape (k, 10), dimensionless; None for every finite variance.

    Returns:
        The combinations, shape (k, 10), dimensionless.

    Raises:
        InputError: the covariance is none, or a combination is of infinite variance.
    """
    finite = np.isfinite(covariance.diagonal())
    block = covariance[np.ix_(finite, finite)]
    if np.isnan(covariance).any() or not np.isfinite(block).all():
        raise InputError("only variances may be infinite, and nothing may be NaN.", place="covariance")
    size = np.sqrt(np.where(block.diagonal() > 0.0, block.diagonal(), 1.0))
    correlation = block / np.outer(size, size)
    if len(block) and np.linalg.eigvalsh(correlation + correlation.T).min() < -ROUND_OFF:
        raise InputError("is not positive semidefinite.", place="covariance")
    if shown is None:
        return np.eye(10)[finite]
    rows = checked("shown", shown, ("k", 10))
    if rows[:, ~finite].any():
        blind = ", ".join(name for name, sure in zip(PARAMETER_NAMES, finite, strict=True) if not sure)
        raise InputError(f"combines numbers of infinite variance: {blind}.", place="shown")
    return rows


def placement_covariance(solid: Body, along: float, about: float) -> Array:
    r"""What an uncertain pose of a solid adds: $\delta J = \Xi J + J\,\Xi^T$ for a small twist $\Xi$.

    Args:
        solid: the solid.
        along: standard deviation of its place along each axis, m.
        about: standard deviation of its turn about each axis through its centroid, rad.

    Returns:
        The covariance of its ten numbers, shape (10, 10), SI.

    Raises:
        InputError: a deviation is negative or not finite.
    """
    if not (0.0 <= along < np.inf and 0.0 <= about < np.inf):
        raise InputError(f"must not be negative, got {along} m, {about} rad.", place="placement")
    Xi = np.zeros((2, 3, 4, 4))
    for k, axis in enumerate(np.eye(3)):
        Xi[0, k, :3, 3] = along * axis
        Xi[1, k, :3, :3] = about * np.cross(np.eye(3), axis)
        Xi[1, k, :3, 3] = -Xi[1, k, :3, :3] @ solid.com
    J = solid.pseudo_inertia
    moves = parameters_of_pseudo_inertia(Xi @ J + J @ np.swapaxes(Xi, -1, -2)).reshape(6, 10)
    return np.asarray(moves.T @ moves)


def _basis(rows: Array) -> Array:
    """Orthonormal rows that span the same combinations."""
    _, strength, directions = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(directions[strength > ROUND_OFF * strength.max(initial=0.0)])
