"""Estimators: each takes a Problem and returns an Estimate."""

from steelyard.estimation.bounded import fit_bounded
from steelyard.estimation.entropic import fit_entropic
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.full_set import with_full_set
from steelyard.estimation.huber import fit_huber
from steelyard.estimation.instrumental import WEAK, fit_instrumental
from steelyard.estimation.instrumental_shift import instrumental_shift
from steelyard.estimation.least_squares import fit_least_squares
from steelyard.estimation.lmi import fit_lmi
from steelyard.estimation.log_cholesky import fit_log_cholesky
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.noise_covariance import Colour
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.ridge import fit_ridge
from steelyard.estimation.weighted import fit_weighted, weighted_spread

__all__ = [
    "WEAK",
    "Colour",
    "Spread",
    "fit_bounded",
    "fit_entropic",
    "fit_friction",
    "fit_huber",
    "fit_instrumental",
    "fit_least_squares",
    "fit_lmi",
    "fit_log_cholesky",
    "fit_momentum",
    "fit_ridge",
    "fit_weighted",
    "instrumental_shift",
    "weighted_spread",
    "with_full_set",
]
