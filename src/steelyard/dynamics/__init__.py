"""Compiled batch kernels on the tree: dynamics, regressors of torque, momentum, energy; compressed logs."""

from steelyard.dynamics.base_wrench import base_wrench_regressor
from steelyard.dynamics.compression import Compressed, compress, torque_gram
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.energy import kinetic_energy_regressor, potential_energy_regressor
from steelyard.dynamics.inverse_dynamics import inverse_dynamics
from steelyard.dynamics.mass_matrix import mass_matrix
from steelyard.dynamics.momentum import momentum_rate_regressor, momentum_regressor
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.dynamics.regressor import torque_regressor

__all__ = [
    "Compressed",
    "base_wrench_regressor",
    "compress",
    "coriolis_matrix",
    "inverse_dynamics",
    "kinetic_energy_regressor",
    "mass_matrix",
    "momentum_rate_regressor",
    "momentum_regressor",
    "passivity_regressor",
    "potential_energy_regressor",
    "torque_gram",
    "torque_regressor",
]
