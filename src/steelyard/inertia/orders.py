r"""Other tools' ways to write the same body; no other file of the package knows them.

Some write the same ten numbers in another order, all about the frame's origin, in its axes, and with entries
of the inertia tensor as products of inertia ($I_{xy} = -\int xy\,dm$, the sign of this package too):

| tool | where it is defined | order |
| --- | --- | --- |
| Pinocchio | `Inertia.toDynamicParameters` | this package's own |
| iDynTree | `SpatialInertia::asVector` | m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz |
| spatial_v2_extended | `inertiaVecToMat` | m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy |
| OpenSYMORO | PAR files | XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M |

MuJoCo and Drake write another set of numbers, so each has a small class here. Their products of inertia have
the same sign: both are entries of the tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia.body import Body
from steelyard.inertia.parameters import PARAMETER_NAMES, rotational_inertia
from steelyard.inertia.principal import principal_axes
from steelyard.pose import Pose

ORDERS: dict[str, tuple[str, ...]] = {
    "pinocchio": PARAMETER_NAMES,
    "idyntree": ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
    "spatial_v2": ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy"),
    "opensymoro": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m"),
}
"""Names of the ten numbers in the order of each tool."""

_SIX_ROW, _SIX_COLUMN = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])


def to_order(parameters: ArrayLike, tool: str) -> Array:
    """Write the ten numbers in another tool's order.

    Args:
        parameters: phi, shape (..., 10), SI.
        tool: a key of `ORDERS`.

    Returns:
        the same numbers in the tool's order, shape (..., 10), SI.

    Raises:
        UnknownNameError: the tool is not listed.
    """
    return checked("parameters", parameters, ("...", 10))[..., _places(tool)]


def from_order(values: ArrayLike, tool: str) -> Array:
    """Read ten numbers written in another tool's order.

    Args:
        values: shape (..., 10), SI.
        tool: a key of `ORDERS`.

    Returns:
        phi, shape (..., 10), SI.

    Raises:
        UnknownNameError: the tool is not listed.
    """
    return checked("values", values, ("...", 10))[..., np.argsort(_places(tool))]


@dataclass(frozen=True, eq=False)
class MujocoInertial:
    """MuJoCo's `<inertial>` with `fullinertia`: about the centre of mass, in the axes of the body's frame.

    Attributes:
        mass: kg.
        pos: centre of mass, shape (3,), m.
        fullinertia: Ixx, Iyy, Izz, Ixy, Ixz, Iyz of the tensor, shape (6,), kg m^2.
    """

    mass: float
    pos: Array
    fullinertia: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(checked("mass", self.mass, ())))
        object.__setattr__(self, "pos", read_only(checked("pos", self.pos, (3,))))
        object.__setattr__(self, "fullinertia", read_only(checked("fullinertia", self.fullinertia, (6,))))

    @classmethod
    def from_body(cls, body: Body) -> MujocoInertial:
        """Write a body.

        Args:
            body: the body, in the frame MuJoCo is to know it in.

        Returns:
            MuJoCo's numbers.
        """
        return cls(body.mass, body.com, _six(body.inertia))

    def to_body(self) -> Body:
        """Read the body."""
        return Body(self.mass, self.pos, _tensor(self.fullinertia))


@dataclass(frozen=True, eq=False)
class MujocoPrincipal:
    """MuJoCo's compiled form (`body_mass`, `body_ipos`, `body_iquat`, `body_inertia`), about principal axes.

    Attributes:
        mass: kg.
        ipos: centre of mass, shape (3,), m.
        iquat: principal axes in the body's frame, w first, shape (4,), dimensionless.
        diaginertia: principal moments, largest first when written here, as MuJoCo does, shape (3,), kg m^2.
    """

    mass: float
    ipos: Array
    iquat: Array
    diaginertia: Array

    def __post_init__(self) -> None:
        q = checked("iquat", self.iquat, (4,))
        if not q.any():
            raise InputError("must not be all zeros.", place="iquat")
        object.__setattr__(self, "mass", float(checked("mass", self.mass, ())))
        object.__setattr__(self, "ipos", read_only(checked("ipos", self.ipos, (3,))))
        object.__setattr__(self, "iquat", read_only(q / np.linalg.norm(q)))
        object.__setattr__(self, "diaginertia", read_only(checked("diaginertia", self.diaginertia, (3,))))

    @classmethod
    def from_body(cls, body: Body) -> MujocoPrincipal:
        """Write a body.

        Args:
            body: the body, in the frame MuJoCo is to know it in.

        Returns:
            MuJoCo's numbers.
        """
        principal = principal_axes(body)
        # Reversing the columns alone would make the axes left-handed.
        R = principal.rotation[:, ::-1] * np.array([1.0, 1.0, -1.0])
        q = Pose(R, np.zeros(3)).quaternion
        return cls(body.mass, body.com, q[[3, 0, 1, 2]], principal.moments[::-1])

    def to_body(self) -> Body:
        """Read the body."""
        R = Pose.from_quaternion(self.iquat[[1, 2, 3, 0]]).rotation
        return Body(self.mass, self.ipos, (R * self.diaginertia) @ R.T)


@dataclass(frozen=True, eq=False)
class DrakeInertia:
    """Drake's `SpatialInertia`: the unit inertia G = I/m is about the frame's origin, not the centre of mass.

    Attributes:
        mass: kg.
        com: p_PScm_E, shape (3,), m.
        unit_inertia: Gxx, Gyy, Gzz, Gxy, Gxz, Gyz of the tensor G_SP_E, shape (6,), m^2.
    """

    mass: float
    com: Array
    unit_inertia: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(checked("mass", self.mass, ())))
        object.__setattr__(self, "com", read_only(checked("com", self.com, (3,))))
        object.__setattr__(self, "unit_inertia", read_only(checked("unit_inertia", self.unit_inertia, (6,))))

    @classmethod
    def from_body(cls, body: Body) -> DrakeInertia:
        """Write a body.

        Args:
            body: the body, in the frame E and about whose origin P Drake is to know it.

        Returns:
            Drake's numbers.

        Raises:
            InputError: the body has no mass but an inertia, which a unit inertia cannot hold.
        """
        if body.mass == 0 and body.inertia.any():
            raise InputError("Drake cannot write a massless body with an inertia: G = I/m.", place="body")
        I_o = rotational_inertia(body.parameters)
        return cls(body.mass, body.com, _six(I_o / body.mass if body.mass else I_o))

    def to_body(self) -> Body:
        """Read the body."""
        c = self.com
        G_c = _tensor(self.unit_inertia) - (c @ c * np.eye(3) - np.outer(c, c))
        return Body(self.mass, c, self.mass * G_c)


def _places(tool: str) -> list[int]:
    if tool not in ORDERS:
        raise UnknownNameError("tool", tool, ORDERS, place="tool")
    return [PARAMETER_NAMES.index(name) for name in ORDERS[tool]]


def _six(tensor: Array) -> Array:
    """xx, yy, zz, xy, xz, yz of a symmetric tensor, shape (6,)."""
    return np.asarray(tensor[_SIX_ROW, _SIX_COLUMN])


def _tensor(six: Array) -> Array:
    """The symmetric tensor of xx, yy, zz, xy, xz, yz, shape (3, 3)."""
    T = np.empty((3, 3))
    T[_SIX_ROW, _SIX_COLUMN] = T[_SIX_COLUMN, _SIX_ROW] = six
    return T
