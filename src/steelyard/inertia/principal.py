"""The axes a body spins about freely, and the solid ellipsoid that moves like it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import InputError
from steelyard.inertia.body import Body
from steelyard.pose import Pose


@dataclass(frozen=True, eq=False)
class Principal:
    r"""Principal moments and axes of the central inertia, $I_c = R\,\mathrm{diag}(I_1, I_2, I_3)\,R^T$.

    Attributes:
        moments: ascending, shape (3,), kg m^2.
        rotation: R_BP, the axes as columns in the body's frame, right-handed, shape (3, 3), dimensionless.
    """

    moments: Array
    rotation: Array


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """A solid ellipsoid placed in a body's frame.

    Attributes:
        pose: X_BE, centre and axes in the body's frame.
        semi_axes: along the axes of E, longest first, shape (3,), m.
    """

    pose: Pose
    semi_axes: Array


def principal_axes(body: Body) -> Principal:
    """Diagonalise the inertia about the centre of mass.

    Where moments coincide the axes are one choice of many.

    Args:
        body: any body; an impossible one has principal moments too.

    Returns:
        moments and axes.
    """
    moments, R = np.linalg.eigh(body.inertia)
    if np.linalg.det(R) < 0:
        R[:, 2] *= -1.0
    return Principal(read_only(moments), read_only(R))


def equivalent_ellipsoid(body: Body) -> Ellipsoid:
    r"""The uniform solid ellipsoid with the same mass, centre of mass and inertia.

    Its semi-axes are $a_i = \sqrt{5\sigma_i/m}$ with $\sigma_i = \tfrac12(I_1+I_2+I_3) - I_i$ the central
    second moments. A planar, rod-like or point body has one, two or three of them zero.

    Args:
        body: a body that can exist and has mass.

    Returns:
        the ellipsoid in the body's frame.

    Raises:
        InputError: the body is impossible or massless; the message says why.
    """
    verdict = body.consistency
    if not verdict.consistent:
        why = " ".join(str(reason) for reason in verdict.reasons)
        raise InputError(
            f"no ellipsoid moves like an impossible body. {why}",
            place="body",
            evidence={"reasons": verdict.reasons},
        )
    if body.mass == 0:
        raise InputError("a massless body has no equivalent ellipsoid.", place="body")
    principal = principal_axes(body)
    sigma = 0.5 * principal.moments.sum() - principal.moments
    # A consistent body's second moments are negative only by round-off.
    semi_axes = np.sqrt(5.0 * np.maximum(sigma, 0.0) / body.mass)
    return Ellipsoid(Pose(principal.rotation, body.com), read_only(semi_axes))
