"""The nearest body that can exist."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.inertia.consistency import ROUND_OFF, characteristic_length, scaled_pseudo_inertia
from steelyard.inertia.parameters import parameters_of_pseudo_inertia


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
