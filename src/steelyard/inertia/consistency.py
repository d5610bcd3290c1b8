r"""Is a body physically possible, and if not, which condition fails and by how much.

Ten numbers belong to some distribution of mass exactly when their pseudo-inertia $J$ is positive
semidefinite, and to one that fills a volume when it is positive definite. In words: the mass is not negative;
without mass there is no first moment; and about the centre of mass the principal moments are not negative and
none exceeds the sum of the other two. A massless body with such moments is in the cone, as the limit of ever
lighter and ever larger ones: it counts as consistent, never as strictly so.

The blocks of $J$ have different units, so round-off is judged after lengths are measured in a characteristic
length $\ell$: the congruence $J' = S J S$, $S = \mathrm{diag}(1/\ell, 1/\ell, 1/\ell, 1)$ is in kg throughout
and has the same signs. An eigenvalue of $J'$ counts as zero below `ROUND_OFF` times the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.inertia.parameters import pseudo_inertia

ROUND_OFF = 1e-12
"""Relative size below which an eigenvalue of the scaled pseudo-inertia counts as zero, dimensionless."""

Condition = Literal["mass", "massless", "central inertia", "triangle inequality"]


@dataclass(frozen=True)
class Violation:
    """One condition of physical consistency that fails.

    Attributes:
        condition: which one.
        amount: how much is missing, positive, in `unit`.
        unit: unit of the amount.
        sentence: the finding in words with its numbers.
    """

    condition: Condition
    amount: float
    unit: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Consistency:
    """The answer to "can this body exist?".

    Attributes:
        consistent: whether the pseudo-inertia is positive semidefinite, up to round-off.
        strict: whether it is positive definite, beyond round-off.
        reasons: the conditions that fail; empty exactly when consistent.
        smallest_eigenvalue: of the pseudo-inertia, mixed SI.
        relative_eigenvalue: smallest over largest magnitude after scaling lengths, dimensionless; it decides.
    """

    consistent: bool
    strict: bool
    reasons: tuple[Violation, ...]
    smallest_eigenvalue: float
    relative_eigenvalue: float

    def __bool__(self) -> bool:
        return self.consistent


def characteristic_length(parameters: ArrayLike) -> Array:
    r"""A length that belongs to the ten numbers themselves, possible or not.

    $$\ell^2 = \max\left(\lVert\Sigma\rVert_F / |m|,\; |h|^2/m^2\right), \qquad
      \Sigma = \tfrac12\mathrm{tr}(I)\,\mathbb 1 - I:$$

    for a possible body the root mean square distance of its mass from the frame's origin, up to a factor
    below two. Without mass it is $\lVert\Sigma\rVert_F / |h|$, and 1 m where even that says nothing.

    Args:
        parameters: phi, shape (..., 10), SI.

    Returns:
        length, shape (...), m.
    """
    J = pseudo_inertia(parameters)
    m = np.abs(J[..., 3, 3])
    h = np.linalg.norm(J[..., :3, 3], axis=-1)
    second = np.linalg.norm(J[..., :3, :3], axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        massive = np.maximum(np.sqrt(second / m), h / m)
        length = np.where(m > 0, massive, second / h)
    return np.where(np.isfinite(length) & (length > 0), length, 1.0)


def scaled_pseudo_inertia(parameters: ArrayLike, length: ArrayLike) -> Array:
    """The pseudo-inertia with lengths measured in `length`.

    Args:
        parameters: phi, shape (..., 10), SI.
        length: characteristic length, shape (...), m.

    Returns:
        J' = S J S, shape (..., 4, 4), kg.
    """
    J = pseudo_inertia(parameters)
    s = np.ones((*J.shape[:-2], 4))
    s[..., :3] /= np.asarray(length, dtype=np.float64)[..., None]
    return s[..., :, None] * J * s[..., None, :]


def relative_eigenvalue(parameters: ArrayLike) -> Array:
    """The smallest eigenvalue of the scaled pseudo-inertia over its largest in magnitude.

    Args:
        parameters: phi, shape (..., 10), SI.

    Returns:
        the ratio, in [-1, 1], and 0 for ten zeros, shape (...), dimensionless.
    """
    eigenvalues = np.linalg.eigvalsh(scaled_pseudo_inertia(parameters, characteristic_length(parameters)))
    largest = np.abs(eigenvalues).max(axis=-1)
    return np.asarray(eigenvalues[..., 0] / np.where(largest > 0, largest, 1.0))


def check_body(parameters: ArrayLike) -> Consistency:
    """Ask whether ten numbers can belong to a body.

    Args:
        parameters: phi, shape (10,), SI.

    Returns:
        the verdict, with a reason for each condition that fails.
    """
    phi = checked("parameters", parameters, (10,))
    ratio = float(relative_eigenvalue(phi))
    consistent = ratio >= -ROUND_OFF
    return Consistency(
        consistent=consistent,
        strict=ratio > ROUND_OFF,
        reasons=() if consistent else _violations(phi),
        smallest_eigenvalue=float(np.linalg.eigvalsh(pseudo_inertia(phi))[0]),
        relative_eigenvalue=ratio,
    )


def _violations(phi: Array) -> tuple[Violation, ...]:
    """The failing conditions of an inconsistent body.

    With mass, if J' has an eigenvalue -e < 0 then so has the scaled central second moment, of at least that
    size: the minimum of J' over its last coordinate is that Schur complement. So the list is never empty.
    """
    m, h = float(phi[0]), phi[1:4]
    found: list[Violation] = []
    if m < 0:
        found.append(Violation("mass", -m, "kg", f"The mass is {m:.6g} kg, which is negative."))
    if m == 0 and h.any():
        missing = float(np.linalg.norm(h))
        text = f"The body has no mass but a first moment of {missing:.6g} kg m."
        found.append(Violation("massless", missing, "kg m", text))
    second = pseudo_inertia(phi)[:3, :3]
    central = second - np.outer(h, h) / m if m != 0 else second
    sigma = np.linalg.eigvalsh(central)
    # Half the tolerance of the verdict, so that what made the verdict is always named.
    noise = 0.5 * ROUND_OFF * max(np.abs(second).max(), np.abs(sigma).max())
    principal = sigma.sum() - sigma[::-1]
    low, middle, high = (float(moment) for moment in principal)
    if low < -noise:
        text = (
            f"About the centre of mass the inertia is not positive semidefinite: "
            f"a principal moment is {low:.6g} kg m^2."
        )
        found.append(Violation("central inertia", -low, "kg m^2", text))
    if sigma[0] < -noise:
        missing = -2.0 * float(sigma[0])
        text = (
            f"The principal moments about the centre of mass break the triangle inequality: "
            f"{low:.6g} + {middle:.6g} falls short of {high:.6g} by {missing:.6g} kg m^2."
        )
        found.append(Violation("triangle inequality", missing, "kg m^2", text))
    return tuple(found)
