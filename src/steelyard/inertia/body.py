"""One rigid body: its mass, where it is and how it is spread; its principal axes; random bodies for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia.consistency import Consistency, check_body
from steelyard.inertia.parameters import (
    PARAMETER_NAMES,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    rotational_inertia,
)
from steelyard.pose import Pose

# `Body`

_SYMMETRY = 1e-12  # relative asymmetry that is round-off and is averaged away


@dataclass(frozen=True, eq=False)
class Body:
    r"""Mass, centre of mass and central inertia, in the axes of the frame B it is expressed in.

    The numbers may be impossible (a difference of two estimates can be): ask `consistency`. A massless body
    keeps a rotational inertia but has no first moment; its centre of mass then carries no information.

    Attributes:
        mass: m, kg.
        com: p_BBcm_B, centre of mass in the frame, shape (3,), m.
        inertia: I_BBcm_B, tensor about the centre of mass in the axes of B, shape (3, 3), kg m^2.
    """

    mass: float
    com: Array
    inertia: Array

    def __post_init__(self) -> None:
        m = float(checked("mass", self.mass, ()))
        c = checked("com", self.com, (3,))
        I_c = checked("inertia", self.inertia, (3, 3))
        off = float(np.abs(I_c - I_c.T).max())
        if off > _SYMMETRY * float(np.abs(I_c).max()):
            raise InputError(
                f"must be symmetric, but differs from its transpose by {off:.3g} kg m^2.",
                place="inertia",
                evidence={"inertia": I_c},
            )
        object.__setattr__(self, "mass", m)
        object.__setattr__(self, "com", read_only(c))
        object.__setattr__(self, "inertia", read_only(0.5 * (I_c + I_c.T)))

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Body:
        r"""The body of ten numbers: $c = h/m$, $I_c = I - m(|c|^2\,\mathbb 1 - cc^T)$.

        Args:
            parameters: phi about the frame's origin, shape (10,), SI.

        Raises:
            InputError: the mass is zero but the first moment is not: no centre of mass exists.
        """
        phi = checked("parameters", parameters, (10,))
        m, h = float(phi[0]), phi[1:4]
        if m == 0 and h.any():
            raise InputError(
                f"have no mass but a first moment of {np.linalg.norm(h):.6g} kg m: no centre of mass exists.",
                place="parameters",
                evidence=dict(zip(PARAMETER_NAMES, phi.tolist(), strict=True)),
            )
        c = h / m if m != 0 else np.zeros(3)
        return cls(m, c, rotational_inertia(phi) - m * _steiner(c))

    @classmethod
    def from_pseudo_inertia(cls, matrix: ArrayLike) -> Body:
        """The body of a pseudo-inertia matrix.

        Args:
            matrix: J, symmetric, shape (4, 4), SI.

        Raises:
            InputError: the matrix is not symmetric, or has a first moment without mass.
        """
        J = checked("matrix", matrix, (4, 4))
        off = float(np.abs(J - J.T).max())
        if off > _SYMMETRY * float(np.abs(J).max()):
            raise InputError(
                f"must be symmetric, but differs from its transpose by {off:.3g}.", place="matrix"
            )
        return cls.from_parameters(parameters_of_pseudo_inertia(J))

    @property
    def parameters(self) -> Array:
        """The ten numbers about the frame's origin, shape (10,), SI."""
        I_o = self.inertia + self.mass * _steiner(self.com)
        products = I_o[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        return np.concatenate(([self.mass], self.mass * self.com, products))

    @property
    def pseudo_inertia(self) -> Array:
        """The pseudo-inertia J about the frame's origin, shape (4, 4), SI."""
        return pseudo_inertia(self.parameters)

    @property
    def consistency(self) -> Consistency:
        """Whether this body can exist, and if not, why."""
        return check_body(self.parameters)

    def moved(self, pose: Pose) -> Body:
        """The same body expressed in another frame.

        Args:
            pose: X_AB, the pose of the body's current frame B in the new frame A.

        Returns:
            the body in frame A.
        """
        R = pose.rotation
        return Body(self.mass, pose.apply(self.com), R @ self.inertia @ R.T)

    def __add__(self, other: Body) -> Body:
        """The two bodies, in one frame, welded together."""
        return _combined(self, other, 1.0)

    def __sub__(self, other: Body) -> Body:
        """What is left when `other`, in the same frame, is taken away; it may be impossible."""
        return _combined(self, other, -1.0)

    def equivalent_ellipsoid(self) -> Ellipsoid:
        r"""The uniform solid ellipsoid with the same mass, centre of mass and inertia.

        Its semi-axes are $a_i = \sqrt{5\sigma_i/m}$ with $\sigma_i = \tfrac12(I_1+I_2+I_3) - I_i$ the central
        second moments. A planar, rod-like or point body has one, two or three of them zero.

        Returns:
            the ellipsoid in the body's frame.

        Raises:
            InputError: the body is impossible or massless; the message says why.
        """
        verdict = self.consistency
        if not verdict.consistent:
            why = " ".join(str(reason) for reason in verdict.reasons)
            raise InputError(
                f"no ellipsoid moves like an impossible body. {why}",
                place="body",
                evidence={"reasons": verdict.reasons},
            )
        if self.mass == 0:
            raise InputError("a massless body has no equivalent ellipsoid.", place="body")
        principal = self.principal_axes()
        sigma = 0.5 * principal.moments.sum() - principal.moments
        # A consistent body's second moments are negative only by round-off.
        semi_axes = np.sqrt(5.0 * np.maximum(sigma, 0.0) / self.mass)
        return Ellipsoid(Pose(principal.rotation, self.com), read_only(semi_axes))

    def principal_axes(self) -> Principal:
        """Diagonalise the inertia about the centre of mass.

        Where moments coincide the axes are one choice of many.

        Returns:
            moments and axes.
        """
        moments, R = np.linalg.eigh(self.inertia)
        if np.linalg.det(R) < 0:
            R[:, 2] *= -1.0
        return Principal(read_only(moments), read_only(R))


def same_body(one: Body | None, other: Body | None) -> bool:
    """Whether two bodies have the same numbers, to the last bit; nothing is the same as nothing.

    Args:
        one: a body, or None.
        other: another, in the same frame, or None.

    Returns:
        Whether they are the same.
    """
    if one is None or other is None:
        return one is other
    return (
        one.mass == other.mass
        and np.array_equal(one.com, other.com)
        and np.array_equal(one.inertia, other.inertia)
    )


def _steiner(offset: Array) -> Array:
    """|p|^2 1 - p p', the inertia of a unit point mass, shape (3, 3)."""
    return np.asarray(offset @ offset * np.eye(3) - np.outer(offset, offset))


def _combined(one: Body, other: Body, sign: float) -> Body:
    r"""Sum with the reduced mass, $I = I_1 + I_2 + \frac{m_1 m_2}{m_1+m_2}(|d|^2\,\mathbb 1 - dd^T)$.

    Working about the centres of mass avoids the digits lost by going through the frame's origin.
    """
    m1, m2 = one.mass, sign * other.mass
    m, d = m1 + m2, one.com - other.com
    inertia = one.inertia + sign * other.inertia
    if m != 0:
        com = (m1 * one.com + m2 * other.com) / m
        return Body(m, com, inertia + (m1 / m * m2) * _steiner(d))
    if m1 != 0 and d.any():
        raise InputError(
            f"the masses cancel but a first moment of {abs(m1) * np.linalg.norm(d):.6g} kg m is left: "
            "no centre of mass exists.",
            place="body",
            remedy="Work with the ten parameters if that is intended.",
            evidence={"mass": m1, "offset": d},
        )
    return Body(0.0, one.com, inertia)


# The axes a body spins about freely, and the solid ellipsoid that moves like it.


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


# Random bodies that can exist, for tests and for trying out an estimator; the degenerate ones too.

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
