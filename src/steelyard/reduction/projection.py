r"""The reduced parameters nearest to a given robot, and how far from the assumption that robot is.

In the frame D of each link the reduced terms are read level by level: the mass first, then the first moments,
then the second, each by least squares among the terms of its own unit. A fixed term has no say; two moments
that are tied give their mean; no length scale is needed to weigh kilograms against their moments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, change_of_frame
from steelyard.reduction.conditions import Solutions
from steelyard.reduction.reduction import Reduction

ROUND_OFF = 1e-12
"""A misfit up to this, relative to the link, is no finding."""
NOTABLE = 0.01
"""A misfit from this on, relative to the link, is a warning."""

_LEVELS = (slice(0, 1), slice(1, 4), slice(4, 10))


@dataclass(frozen=True, eq=False)
class Projection:
    r"""What a reduction makes of given standard parameters.

    Attributes:
        theta: reduced parameters, shape (b,), SI.
        residual: $\varphi - (B\,\theta + \varphi_0)$, what the reduction cannot hold, shape (p,), SI.
        findings: one for each link or drive term that is not as assumed.
    """

    theta: Array
    residual: Array
    findings: tuple[Finding, ...]


def project(reduction: Reduction, standard: ArrayLike) -> Projection:
    """Read reduced parameters from standard ones; exact where these are as the reduction assumes.

    Args:
        reduction: the reduction.
        standard: phi, such as the layout's `complete_nominal()`, shape (p,), SI.

    Returns:
        The reduced parameters, and what was lost.
    """
    layout = reduction.layout
    phi = checked("standard", standard, (layout.size,))
    theta, findings = [], []
    for link, block in zip(layout.links, reduction.solutions, strict=True):
        T = change_of_frame(reduction.frames.pose(link).inverse())
        phi_D = T @ phi[layout.of_link(link)]
        read = _read(block, phi_D)
        theta.append(read)
        findings += _asymmetry(link, reduction.frames.name, phi_D, block.matrix @ read + block.offset)
    theta.append(phi[reduction.drive_columns])
    all_theta = np.concatenate(theta)
    residual = phi - reduction.standard(all_theta)
    findings += _departures(reduction, residual)
    return Projection(read_only(all_theta), read_only(residual), tuple(findings))


def _read(block: Solutions, phi: Array) -> Array:
    """Reduced terms of one link from its ten numbers in D."""
    theta = np.zeros(len(block.free))
    for level in _LEVELS:
        own = [j for j, k in enumerate(block.free) if level.start <= k < level.stop]
        left = (phi - block.offset - block.matrix @ theta)[level]
        theta[own] = np.linalg.lstsq(block.matrix[level, own], left, rcond=None)[0]
    return theta


def _asymmetry(link: str, frames: str, phi: Array, reduced: Array) -> list[Finding]:
    r"""The worst term of a link, measured by its mass, $\sqrt{m\,s}$ and $s = \tfrac12\mathrm{tr}\,I$."""
    m, s = abs(phi[0]), abs(phi[4] + phi[6] + phi[9]) / 2
    sizes = np.repeat([m, np.sqrt(m * s), s], [1, 3, 6])
    misfit = np.abs(phi - reduced)
    relative = np.divide(misfit, sizes, out=np.where(misfit > 0, np.inf, 0.0), where=sizes > 0)
    worst = int(np.argmax(relative))
    if relative[worst] <= ROUND_OFF:
        return []
    severity = Severity.WARNING if relative[worst] >= NOTABLE else Severity.INFO
    message = (
        f"is not as assumed: {PARAMETER_NAMES[worst]} in its {frames} frame is {phi[worst]:.4g} instead of "
        f"{reduced[worst]:.4g} {PARAMETER_UNITS[worst]}, off by {relative[worst]:.2%} of the link's scale."
    )
    return [Finding(severity, "asymmetric-link", message, f"link '{link}'")]


def _departures(reduction: Reduction, residual: Array) -> list[Finding]:
    """Drive terms that the layout fixes at another value."""
    start = 10 * len(reduction.layout.links)
    return [
        Finding(
            Severity.WARNING,
            "departs-from-fixed",
            f"is fixed, but given as {residual[k]:+.4g} {parameter.unit} off its value.",
            parameter.name,
        )
        for k, parameter in enumerate(reduction.layout.parameters[start:], start)
        if residual[k] != 0.0
    ]
