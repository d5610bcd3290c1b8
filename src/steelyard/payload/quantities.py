"""The numbers people ask for: mass, centre of mass, inertia about it, principal moments."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.inertia import rotational_inertia

QUANTITIES = (
    "mass",
    *(f"com_{axis}" for axis in "xyz"),
    *(f"I_{axes}" for axes in ("xx", "xy", "yy", "xz", "yz", "zz")),
    *(f"moment_{k}" for k in (1, 2, 3)),
)
"""Names, in order: kg, m, kg m² about the centre of mass, and principal moments in ascending order."""
UNITS = ("kg", *(3 * ["m"]), *(9 * ["kg m²"]))
"""Their units."""
_STEP = 1e-6


def quantities(ten: Array) -> Array:
    """What people ask of bodies.

    Args:
        ten: the ten numbers of each body, mass not zero, shape (..., 10), SI.

    Returns:
        By `QUANTITIES`, shape (..., 13), SI.
    """
    phi = checked("ten", ten, ("...", 10))
    m = phi[..., :1]
    c = phi[..., 1:4] / m
    square = (
        np.einsum("...i,...i->...", c, c)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    )
    tensor = rotational_inertia(phi) - m[..., None] * square
    moments = np.linalg.eigvalsh(tensor)
    six = np.stack([tensor[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))], axis=-1)
    return np.concatenate([m, c, six, moments], axis=-1)


def slopes(ten: Array, sizes: Array) -> Array:
    """Derivatives of the quantities in the ten numbers, by central differences.

    Args:
        ten: the ten numbers of a body, shape (10,), SI.
        sizes: of the ten numbers, shape (10,), SI.

    Returns:
        Derivatives, shape (13, 10), SI.
    """
    steps = _STEP * np.diag(sizes)
    return np.asarray((quantities(ten + steps) - quantities(ten - steps)).T / (2.0 * _STEP * sizes))
