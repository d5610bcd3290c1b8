"""One rigid body: its ten numbers, their other forms, and whether it can exist.

Ten numbers ⇄ mass, centre of mass, tensor (`Body`) ⇄ pseudo-inertia ⇄ log-Cholesky parameters; change of
frame; physical consistency with reasons and the nearest consistent body; other tools' orders; mass properties
of solids and meshes, and what meshes look like (`painted`); random bodies; principal axes.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.inertia.body import (
        Body,
        Ellipsoid,
        Principal,
        drawn_near,
        same_body,
    )
    from steelyard.inertia.cholesky import (
        from_log_cholesky,
        log_cholesky,
        log_cholesky_hessian,
        log_cholesky_jacobian,
    )
    from steelyard.inertia.consistency import (
        ROUND_OFF,
        characteristic_length,
        check_body,
        nearest_consistent,
        relative_eigenvalue,
        scaled_pseudo_inertia,
    )
    from steelyard.inertia.mesh import Mesh
    from steelyard.inertia.orders import MUJOCO_LEAST, MujocoPrincipal, from_order
    from steelyard.inertia.painted import PaintedSurface, Picture, companions, painted_surfaces
    from steelyard.inertia.parameters import (
        PARAMETER_NAMES,
        PARAMETER_UNITS,
        change_of_frame,
        parameters_of_pseudo_inertia,
        pseudo_inertia,
        rotational_inertia,
    )
    from steelyard.inertia.solids import box, capsule, cylinder, ellipsoid, sphere

__all__ = [
    "MUJOCO_LEAST",
    "PARAMETER_NAMES",
    "PARAMETER_UNITS",
    "ROUND_OFF",
    "Body",
    "Ellipsoid",
    "Mesh",
    "MujocoPrincipal",
    "PaintedSurface",
    "Picture",
    "Principal",
    "box",
    "capsule",
    "change_of_frame",
    "characteristic_length",
    "check_body",
    "companions",
    "cylinder",
    "drawn_near",
    "ellipsoid",
    "from_log_cholesky",
    "from_order",
    "log_cholesky",
    "log_cholesky_hessian",
    "log_cholesky_jacobian",
    "nearest_consistent",
    "painted_surfaces",
    "parameters_of_pseudo_inertia",
    "pseudo_inertia",
    "relative_eigenvalue",
    "rotational_inertia",
    "same_body",
    "scaled_pseudo_inertia",
    "sphere",
]

open_door(__name__)
