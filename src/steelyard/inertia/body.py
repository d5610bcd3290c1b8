"""One rigid body: its mass, where that mass is, and how it is spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.inertia.consistency import Consistency, check_body
from steelyard.inertia.parameters import (
    PARAMETER_NAMES,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    rotational_inertia,
)
from steelyard.pose import Pose

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

        Returns:
            the body.

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

        Returns:
            the body.

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
