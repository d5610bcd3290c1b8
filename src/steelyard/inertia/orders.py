r"""Other tools' ways to write the same body; no other file of the package knows them.

Some write the same ten numbers in another order, all about the frame's origin, in its axes, and with entries
of the inertia tensor as products of inertia ($I_{xy} = -\int xy\,dm$, the sign of this package too):

| tool | where it is defined | order |
| --- | --- | --- |
| Pinocchio | `Inertia.toDynamicParameters` | this package's own |
| iDynTree | `SpatialInertia::asVector` | m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz |
| spatial_v2_extended | `inertiaVecToMat` | m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy |
| OpenSYMORO | PAR files | XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M |

MuJoCo writes another set of numbers, so it has a small class here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia.body import Body
from steelyard.inertia.parameters import PARAMETER_NAMES
from steelyard.pose import Pose

ORDERS: dict[str, tuple[str, ...]] = {
    "pinocchio": PARAMETER_NAMES,
    "idyntree": ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
    "spatial_v2": ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy"),
    "opensymoro": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m"),
}
"""Names of the ten numbers in the order of each tool."""


MUJOCO_LEAST = 1e-14
"""Smallest mass (kg) and principal moment (kg m²) of a moving body; MuJoCo refuses what is below 1e-15."""


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
        keep_checked(self, (3,), "ipos")
        object.__setattr__(self, "iquat", read_only(q / np.linalg.norm(q)))
        keep_checked(self, (3,), "diaginertia")

    @classmethod
    def from_body(cls, body: Body) -> MujocoPrincipal:
        """Write a body.

        Args:
            body: the body, in the frame MuJoCo is to know it in.

        Returns:
            MuJoCo's numbers.
        """
        principal = body.principal_axes()
        # Reversing the columns alone would make the axes left-handed.
        R = principal.rotation[:, ::-1] * np.array([1.0, 1.0, -1.0])
        q = Pose(R, np.zeros(3)).quaternion
        return cls(body.mass, body.com, q[[3, 0, 1, 2]], principal.moments[::-1])

    @property
    def loadable(self) -> MujocoPrincipal:
        """The same as MuJoCo takes it, which refuses what an estimate on the border of the possible is.

        The largest moment is lowered by the round-off by which it exceeds the sum of the others, and a mass
        or a moment below `MUJOCO_LEAST` is raised to it.
        """
        high, middle, low = (float(x) for x in np.maximum(self.diaginertia, MUJOCO_LEAST))
        moments = np.array([min(high, low + middle), middle, low])
        return replace(self, mass=max(self.mass, MUJOCO_LEAST), diaginertia=moments)

    def to_body(self) -> Body:
        """Read the body."""
        R = Pose.from_quaternion(self.iquat[[1, 2, 3, 0]]).rotation
        return Body(self.mass, self.ipos, (R * self.diaginertia) @ R.T)


def _places(tool: str) -> list[int]:
    if tool not in ORDERS:
        raise UnknownNameError("tool", tool, ORDERS, place="tool")
    return [PARAMETER_NAMES.index(name) for name in ORDERS[tool]]
