r"""Compiled batch kernels on the tree: dynamics, kinematics, regressors, adjoints, compressed logs.

One file an algorithm: `inverse_dynamics` ($\tau$), `forward_dynamics` ($\ddot q$), `mass_matrix` (H and C),
`regressor` ($\tau = Y\varphi$), `momentum`, `energy`, `passivity`, `kinematics`, `adjoint`. All are entered
through `batch`, which checks arguments, and read the robot as the flat arrays of `tree`. `compression` folds
a log into triangles; `straight_line` generates code for one robot.
"""

from steelyard.dynamics.adjoint import Gradient, regressor_adjoint
from steelyard.dynamics.compression import Compressed, compress, torque_gram
from steelyard.dynamics.energy import kinetic_energy_regressor, potential_energy_regressor
from steelyard.dynamics.forward_dynamics import forward_dynamics
from steelyard.dynamics.inverse_dynamics import bias, inverse_dynamics, rigid_torque
from steelyard.dynamics.kinematics import forward_kinematics, frame_jacobian, link_points, link_points_adjoint
from steelyard.dynamics.mass_matrix import coriolis_matrix, mass_matrix
from steelyard.dynamics.momentum import momentum_rate_regressor, momentum_regressor
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.dynamics.regressor import base_wrench_regressor, torque_regressor

__all__ = [
    "Compressed",
    "Gradient",
    "base_wrench_regressor",
    "bias",
    "compress",
    "coriolis_matrix",
    "forward_dynamics",
    "forward_kinematics",
    "frame_jacobian",
    "inverse_dynamics",
    "kinetic_energy_regressor",
    "link_points",
    "link_points_adjoint",
    "mass_matrix",
    "momentum_rate_regressor",
    "momentum_regressor",
    "passivity_regressor",
    "potential_energy_regressor",
    "regressor_adjoint",
    "rigid_torque",
    "torque_gram",
    "torque_regressor",
]
