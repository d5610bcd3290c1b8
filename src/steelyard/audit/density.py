"""Whether an object can be of one density: its measured inertia beside that of its mesh."""

from __future__ import annotations

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.audit.density_evidence import (
    QUANTITIES,
    DensityEvidence,
    density_evidence,
    placement_covariance,
    shown_combinations,
)
from steelyard.audit.verdict import Check, Status
from steelyard.errors import InputError
from steelyard.inertia import Body, Mesh, mesh_properties, rotational_inertia
from steelyard.model import adjusted

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
        solid = mesh_properties(mesh, mass=float(phi[0])).body
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
