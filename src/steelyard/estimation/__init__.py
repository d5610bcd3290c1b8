"""Estimators: each takes a Problem and returns an Estimate."""

from steelyard.estimation.auto import fit_auto
from steelyard.estimation.bounded import fit_bounded, relative_bounds
from steelyard.estimation.entropic import fit_entropic
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.full_set import with_full_set
from steelyard.estimation.huber import fit_huber
from steelyard.estimation.instrumental import WEAK, fit_instrumental
from steelyard.estimation.instrumental_shift import instrumental_shift
from steelyard.estimation.least_squares import fit_least_squares
from steelyard.estimation.linearised import integrated, linearised
from steelyard.estimation.lmi import fit_lmi
from steelyard.estimation.load_friction import fit_load_friction
from steelyard.estimation.log_cholesky import fit_log_cholesky
from steelyard.estimation.loop_instruments import fit_loop_instrumental, loop_instruments
from steelyard.estimation.methods import METHODS, Instruments, fit_by_name
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.noise_covariance import Colour
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.ridge import fit_ridge
from steelyard.estimation.static import static_problem
from steelyard.estimation.torque_delay import delay_findings
from steelyard.estimation.torque_lag import TorqueLag, torque_aligned, torque_lag, with_lag
from steelyard.estimation.turned import turned_findings
from steelyard.estimation.weighted import fit_weighted, weighted_spread

__all__ = [
    "METHODS",
    "WEAK",
    "Colour",
    "Instruments",
    "Spread",
    "TorqueLag",
    "delay_findings",
    "fit_auto",
    "fit_bounded",
    "fit_by_name",
    "fit_entropic",
    "fit_friction",
    "fit_huber",
    "fit_instrumental",
    "fit_least_squares",
    "fit_lmi",
    "fit_load_friction",
    "fit_log_cholesky",
    "fit_loop_instrumental",
    "fit_momentum",
    "fit_ridge",
    "fit_weighted",
    "instrumental_shift",
    "integrated",
    "linearised",
    "loop_instruments",
    "relative_bounds",
    "static_problem",
    "torque_aligned",
    "torque_lag",
    "turned_findings",
    "weighted_spread",
    "with_full_set",
    "with_lag",
]
