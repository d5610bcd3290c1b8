"""Is a body physically possible, which condition fails by how much, and which possible body is nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.inertia.parameters import parameters_of_pseudo_inertia, pseudo_inertia

# Is a body physically possible, and if not, which condition fails and by how much.
#
# Ten numbers belong to some distribution of mass exactly when their pseudo-inertia $J$ is positive
# semidefinite, and to one that fills a volume when it is positive definite. In words: the mass is not
# negative; without mass there is no first moment; and about the centre of mass the principal moments are not
# negative and none exceeds the sum of the other two. A massless body with such moments is in the cone, as the
# limit of ever lighter and ever larger ones: it counts as consistent, never as strictly so.
#
# The blocks of $J$ have different units, so round-off is judged after lengths are measured in a
# characteristic length $\ell$: the congruence $J' = S J S$, $S = \mathrm{diag}(1/\ell, 1/\ell, 1/\ell, 1)$ is
# in kg throughout and has the same signs. An eigenvalue of $J'$ counts as zero below `ROUND_OFF` times the
# largest.

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


# The nearest body that can exist.


def nearest_consistent(
    parameters: ArrayLike, *, margin: float = 0.0, length: ArrayLike | None = None
) -> Array:
    r"""Project ten numbers onto the bodies that can exist.

    The metric is the Frobenius norm of the pseudo-inertia with lengths measured in $\ell$,

    $$\min_{\psi}\; \lVert A(\psi) - A(\varphi) \rVert_F \quad\text{s.t.}\quad A(\psi) \succeq \mu\,\mathbb 1,
      \qquad A(\varphi) = S\,J(\varphi)\,S,\; S = \mathrm{diag}(1/\ell, 1/\ell, 1/\ell, 1),$$

    so every entry is in kg: the mass counts as it is, once; a first moment is divided by $\ell$ and counts
    twice; second moments are divided by $\ell^2$. With the eigenvalues
    $A(\varphi) = \sum_i \lambda_i v_i v_i^T$ the solution is $A^* = \sum_i \max(\lambda_i, \mu)\, v_i v_i^T$.

    Why it is the minimiser: split $A - \mu\mathbb 1 = A_+ - A_-$ by the sign of the eigenvalues; both parts
    are positive semidefinite, $\langle A_+, A_-\rangle = 0$, and $A^* = \mu\mathbb 1 + A_+$. Any feasible
    point is $B = \mu\mathbb 1 + B_+$ with $B_+ \succeq 0$, so

    $$\langle A - A^*,\; B - A^* \rangle = -\langle A_-, B_+ - A_+\rangle = -\langle A_-, B_+\rangle \le 0,$$

    which is the condition that characterises the projection onto a closed convex set. As
    $\varphi \mapsto A$ is a linear bijection onto the symmetric matrices, minimising over $A$ loses nothing.

    Numbers that already satisfy the constraint, up to `ROUND_OFF`, come back untouched. With `margin` zero
    the set does not depend on `length`, and projecting twice is projecting once; with a positive margin that
    holds for a given `length`.

    Args:
        parameters: phi, shape (..., 10), SI.
        margin: smallest eigenvalue the scaled pseudo-inertia may have, kg; not negative.
        length: characteristic length, shape (...), m; `characteristic_length(parameters)` when left out.

    Returns:
        the nearest ten numbers, shape (..., 10), SI.

    Raises:
        InputError: the margin is negative or not finite, or a length is not positive.
    """
    phi = checked("parameters", parameters, ("...", 10))
    if not (np.isfinite(margin) and margin >= 0):
        raise InputError(f"must be a finite mass of at least 0 kg, got {margin}.", place="margin")
    scale = characteristic_length(phi) if length is None else checked("length", length, ("...",))
    if not (scale > 0).all():
        raise InputError(f"must be positive, got {float(scale.min()):.6g} m.", place="length")
    scale = np.broadcast_to(scale, phi.shape[:-1])
    eigenvalues, vectors = np.linalg.eigh(scaled_pseudo_inertia(phi, scale))
    allowed = ROUND_OFF * np.abs(eigenvalues).max(axis=-1)
    untouched = eigenvalues[..., 0] >= margin - allowed
    clipped = np.maximum(eigenvalues, margin)
    A = (vectors * clipped[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    s = np.ones((*phi.shape[:-1], 4))
    s[..., :3] = scale[..., None]
    psi = parameters_of_pseudo_inertia(s[..., :, None] * A * s[..., None, :])
    return np.where(untouched[..., None], phi, psi)
