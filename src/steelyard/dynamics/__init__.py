"""Compiled batch kernels on the tree: inverse dynamics, regressors, mass matrix, compressed logs."""

from steelyard.dynamics.compression import Compressed, compress, torque_gram
from steelyard.dynamics.inverse_dynamics import inverse_dynamics
from steelyard.dynamics.mass_matrix import mass_matrix
from steelyard.dynamics.regressor import torque_regressor

__all__ = [
    "Compressed",
    "compress",
    "inverse_dynamics",
    "mass_matrix",
    "torque_gram",
    "torque_regressor",
]
