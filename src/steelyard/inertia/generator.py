"""Random bodies that can exist, for tests and for trying out an estimator; the degenerate ones too."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia.body import Body
from steelyard.inertia.parameters import parameters_of_pseudo_inertia, pseudo_inertia
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


def drawn_near(parameters: ArrayLike, error: float, rng: np.random.Generator) -> Array:
    r"""Draw a body around another one, $J' = J^{1/2} e^{s\,(G + G^T)/2} J^{1/2}$ with G normal.

    Mass, extents and centre of mass differ by about the relative error; a flat body stays flat.

    Args:
        parameters: ten inertial parameters of a body that can exist, shape (10,), SI.
        error: s, dimensionless.
        rng: source of G.

    Returns:
        Ten inertial parameters of another one that can exist, shape (10,), SI.
    """
    G = rng.standard_normal((4, 4))
    values, vectors = np.linalg.eigh(pseudo_inertia(parameters))
    root = vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return parameters_of_pseudo_inertia(root @ scipy.linalg.expm(0.5 * error * (G + G.T)) @ root)
