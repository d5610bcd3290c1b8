"""Compiled batch kernels on the tree: inverse dynamics, torque regressor, mass matrix."""

from steelyard.dynamics.inverse_dynamics import inverse_dynamics
from steelyard.dynamics.mass_matrix import mass_matrix
from steelyard.dynamics.regressor import torque_regressor

__all__ = ["inverse_dynamics", "mass_matrix", "torque_regressor"]
