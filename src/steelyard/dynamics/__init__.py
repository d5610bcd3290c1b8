r"""Compiled batch kernels on the tree: dynamics, kinematics, regressors, adjoints, compressed logs.

One file an algorithm: `inverse_dynamics` ($\tau$), `forward_dynamics` ($\ddot q$), `mass_matrix` (H),
`regressor` ($\tau = Y\varphi$), `momentum`, `passivity`, `kinematics`, `adjoint`. All are entered
through `batch`, which checks arguments, and read the robot as the flat arrays of `tree`. `compression` folds
a log into triangles; `straight_line` generates code for one robot.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.dynamics.adjoint import Gradient, regressor_adjoint
    from steelyard.dynamics.batch import Numbers
    from steelyard.dynamics.compression import Compressed, compress, torque_gram
    from steelyard.dynamics.forward_dynamics import forward_dynamics
    from steelyard.dynamics.inverse_dynamics import inverse_dynamics, rigid_torque
    from steelyard.dynamics.kinematics import forward_kinematics, frame_jacobian
    from steelyard.dynamics.mass_matrix import mass_matrix
    from steelyard.dynamics.momentum import momentum_rate_regressor, momentum_regressor
    from steelyard.dynamics.regressor import base_wrench_regressor, torque_regressor

__all__ = [
    "Compressed",
    "Gradient",
    "Numbers",
    "base_wrench_regressor",
    "compress",
    "forward_dynamics",
    "forward_kinematics",
    "frame_jacobian",
    "inverse_dynamics",
    "mass_matrix",
    "momentum_rate_regressor",
    "momentum_regressor",
    "regressor_adjoint",
    "rigid_torque",
    "torque_gram",
    "torque_regressor",
]

open_door(__name__)
