"""Random bodies that can exist, for tests and for trying out an estimator; the degenerate ones too."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia.body import Body
from steelyard.pose import Pose

Shape = Literal["solid", "planar", "rod", "point", "massless"]
_EXTENTS: dict[str, int] = {"solid": 3, "planar": 2, "rod": 1, "point": 0, "massless": 0}


def random_body(
    rng: np.random.Generator,
    *,
    shape: Shape = "solid",
    mass: tuple[float, float] = (0.1, 10.0),
    size: float = 0.1,
) -> Body:
    r"""Draw a body that can exist, in a frame near it.

    The mass is log-uniform in its range and the centre of mass uniform in the cube of half side `size`. The
    spread $r$ along each of three axes is uniform between a fifth of `size` and `size`, and with $R$ uniform
    over the rotations

    $$\Sigma = m\,R\,\mathrm{diag}(r^2)\,R^T, \qquad I_c = \mathrm{tr}(\Sigma)\,\mathbb 1 - \Sigma,$$

    the form every strictly consistent body has. A degenerate `shape` has fewer spreads: two for a planar
    body, one for a rod, none for a point; a massless one is all zeros.

    Args:
        rng: source of randomness; the same state gives the same body.
        shape: "solid", "planar", "rod", "point" or "massless".
        mass: smallest and largest mass, kg.
        size: scale of the body and of its distance to the frame, m.

    Returns:
        the body.

    Raises:
        InputError: the shape is unknown, or a mass or the size is not positive.
    """
    if shape not in _EXTENTS:
        raise UnknownNameError("shape", shape, get_args(Shape), place="shape")
    lightest, heaviest = mass
    if not (0 < lightest <= heaviest < np.inf):
        raise InputError(f"must be a rising pair of positive masses, got {mass} kg.", place="mass")
    if not 0 < size < np.inf:
        raise InputError(f"must be positive, got {size} m.", place="size")
    # All numbers are drawn for every shape, so that a seed gives the same sequence of masses and places.
    m = float(np.exp(rng.uniform(np.log(lightest), np.log(heaviest))))
    c = rng.uniform(-size, size, 3)
    r = rng.uniform(0.2 * size, size, 3)
    R = Pose.from_quaternion(rng.standard_normal(4)).rotation
    if shape == "massless":
        return Body(0.0, np.zeros(3), np.zeros((3, 3)))
    r[_EXTENTS[shape] :] = 0.0
    second = m * (R * r**2) @ R.T
    return Body(m, c, np.trace(second) * np.eye(3) - second)
