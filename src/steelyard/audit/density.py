"""Whether an object can be of one density: its measured inertia beside that of its mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.audit.verdict import Check, Status
from steelyard.errors import InputError
from steelyard.inertia import (
    PARAMETER_NAMES,
    Body,
    Mesh,
    change_of_frame,
    parameters_of_pseudo_inertia,
    rotational_inertia,
)
from steelyard.model import adjusted
from steelyard.pose import Pose

# What measured inertia says against a solid of one density.
#
# A uniform solid of mass $m$ has the ten numbers $m\,u$, where $u$ belongs to its mesh at unit mass. With $B$
# the combinations the data shows, $y = B\hat\varphi$ and $S$ their covariance, what speaks against it is
#
# $$\chi^2 = \min_m\,(y - m B u)^T S^{-1} (y - m B u),$$
#
# chi-square distributed with one degree of freedom less than $B$ has rows, since the mass is free.
#
# People know centre of mass and central inertia instead. About the measured centre of mass, where $h = 0$,
# they are $\delta c = \delta h / m$ and $\delta I_c = \delta I$ to first order, which gives their spread.

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


NAME = "uniform density"
LEVEL = 0.95
"""Probability that a uniform object is not called otherwise, and that none of its numbers is named."""
TWO_SIDED = float(scipy.special.ndtri(0.5 + 0.5 * LEVEL))
"""Half the width of an interval of that probability, in standard deviations."""


def check_density(
    measured: ArrayLike,
    covariance: ArrayLike,
    mesh: Mesh,
    *,
    shown: ArrayLike | None = None,
    placement: tuple[float, float] = (0.0, 0.0),
) -> Check:
    """Ask whether uniform density is compatible with what was measured.

    Args:
        measured: ten numbers about the object's frame, mass positive, shape (10,), SI.
        covariance: of them, infinite on the diagonal where the data is blind, shape (10, 10), SI.
        mesh: the object's surface in the same frame.
        shown: combinations of the ten numbers that the data shows, in rows, shape (k, 10), dimensionless;
            None for every number of finite variance. What a prior decided belongs to none of them.
        placement: standard deviations of where the mesh sits on the object: along each axis, m, and about
            each axis, rad.

    Returns:
        The check: passed where uniform density explains the data, a warning where it does not, with what
        disagrees and in which direction; not run where the mesh encloses no volume or the data shows nothing.

    Raises:
        InputError: the mass is not positive, or the covariance is none.
    """
    phi = checked("measured", measured, (10,))
    if not phi[0] > 0.0:
        raise InputError(f"the mass must be positive, got {phi[0]:.6g} kg.", place="measured")
    sigma = checked("covariance", covariance, (10, 10), finite=False)
    B = shown_combinations(sigma, shown)
    try:
        solid = mesh.properties(mass=float(phi[0])).body
    except InputError as error:
        return Check(NAME, Status.NOT_RUN, f"the mesh {error.message}", error.evidence)
    body = Body.from_parameters(phi)
    spread = np.where(np.isfinite(sigma), sigma, 0.0) + placement_covariance(solid, *placement)
    evidence = density_evidence(body, spread, B, solid)
    if evidence.degrees < 1:
        return Check(NAME, Status.NOT_RUN, "the data shows nothing that a density could contradict.")
    return _judged(body, solid, evidence)


def _judged(body: Body, solid: Body, found: DensityEvidence) -> Check:
    chance = float(scipy.special.chdtrc(found.degrees, found.chi_square))
    deviations = np.sqrt(found.spread.diagonal())
    known = np.isfinite(deviations)
    alone = np.ones(len(QUANTITIES))
    alone[known] = adjusted(2.0 * scipy.special.ndtr(-np.abs(found.difference / deviations)[known]))
    disagree = [name for name, p in zip(QUANTITIES, alone, strict=True) if p <= 1.0 - LEVEL]
    numbers = {
        "chi_square": found.chi_square,
        "degrees": found.degrees,
        "chance": chance,
        "measured": _numbers(body),
        "uniform": _numbers(solid),
        "difference": _by_name(found.difference),
        "deviation": _by_name(deviations),
        "disagree": disagree,
        "not_shown": [name for name, sure in zip(QUANTITIES, known, strict=True) if not sure],
    }
    explained = chance > 1.0 - LEVEL
    message = "uniform density explains the data" if explained else "uniform density contradicts the data"
    message += f" (chi-square {found.chi_square:.3g} on {found.degrees}, chance {chance:.2g})"
    details = [text for text in (_centre(found), _moment(solid, found)) if text]
    if details:
        message += ": " + "; ".join(details)
    if disagree and not explained:
        message += f"; what disagrees: {', '.join(disagree)}"
    return Check(NAME, Status.PASS if explained else Status.WARN, message + ".", numbers)


def _centre(found: DensityEvidence) -> str:
    """How far the centre of mass is from the centroid, and which way."""
    d = found.difference[:3]
    distance = float(np.linalg.norm(d))
    if not np.isfinite(distance):
        return ""
    n = d / distance if distance > 0.0 else np.array([1.0, 0.0, 0.0])
    sure = TWO_SIDED * float(np.sqrt(n @ found.spread[:3, :3] @ n))
    return (
        f"the centre of mass lies {1e3 * distance:.3g} ± {1e3 * sure:.2g} mm from the mesh's centroid, "
        f"along {_direction(n)}"
    )


def _moment(solid: Body, found: DensityEvidence) -> str:
    """The axis about which the central inertia differs most from the uniform one, relative to that."""
    if not np.isfinite(found.difference[3:]).all():
        return ""
    D = rotational_inertia(np.concatenate((np.zeros(4), found.difference[3:])))
    root = np.linalg.cholesky(solid.inertia)
    relative, axes = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, D).T))
    worst = int(np.argmax(np.abs(relative)))
    n = np.linalg.solve(root.T, axes[:, worst])
    n = n / np.linalg.norm(n) * np.sign(n[np.argmax(np.abs(n))])
    x, y, z = n
    weights = np.array([x * x, 2 * x * y, y * y, 2 * x * z, 2 * y * z, z * z])
    own = float(n @ solid.inertia @ n)
    sure = TWO_SIDED * float(np.sqrt(weights @ found.spread[3:, 3:] @ weights)) / own
    return (
        f"the moment about {_direction(n)} differs most, by {100 * relative[worst]:+.3g} ± {100 * sure:.2g} %"
    )


def _direction(n: Array) -> str:
    return "(" + ", ".join(f"{x + 0.0:.2f}" for x in np.round(n, 2)) + ")"


def _numbers(body: Body) -> dict[str, object]:
    return {"mass": body.mass, "com": body.com.tolist(), "inertia": body.inertia.tolist()}


def _by_name(values: Array) -> dict[str, float | None]:
    pairs = zip(QUANTITIES, values.tolist(), strict=True)
    return {name: value if np.isfinite(value) else None for name, value in pairs}
