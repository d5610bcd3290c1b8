"""Estimators: each takes a Problem and returns an Estimate."""

from steelyard.estimation.arx import ArxModel, fit_arx
from steelyard.estimation.auto import fit_auto
from steelyard.estimation.closed_loop_commands import CommandMatch, command_match
from steelyard.estimation.closed_loop_fit import fit_closed_loop_input
from steelyard.estimation.closed_loop_intervals import refine_intervals
from steelyard.estimation.closed_loop_problem import SIMULATED_TERMS, fit_closed_loop, within_noise
from steelyard.estimation.closed_loop_run import LoopRun, block_means, loop_run
from steelyard.estimation.constant_errors import (
    KnownMoment,
    calibrate_by_moments,
    gain_sensitivity,
    with_constant_errors,
)
from steelyard.estimation.cutoff_choice import choose_cutoff, lowest_cutoff
from steelyard.estimation.diagnosis import Diagnosis, diagnose
from steelyard.estimation.drive_choice import DriveChoice, choose_drive
from steelyard.estimation.entropic import fit_entropic, largest_torque, with_links_near
from steelyard.estimation.first_order import FirstOrderFit, fit_first_order
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.friction_drift import FrictionDrift, friction_drift, with_drift
from steelyard.estimation.full_set import with_full_set
from steelyard.estimation.huber import fit_huber
from steelyard.estimation.instrumental import WEAK
from steelyard.estimation.instrumental_shift import instrumental_shift
from steelyard.estimation.joint_trace import JointTrace, excited_joint, joint_trace
from steelyard.estimation.knock import without_knocks
from steelyard.estimation.least_squares import fit_least_squares
from steelyard.estimation.linearised import linearised
from steelyard.estimation.lmi import fit_lmi
from steelyard.estimation.load_friction import fit_load_friction
from steelyard.estimation.log_cholesky import fit_log_cholesky
from steelyard.estimation.loop_delay import LoopDelay, common_dead_time, replayed_commands
from steelyard.estimation.loop_instruments import fit_loop_instrumental, loop_instruments
from steelyard.estimation.methods import METHODS, WINDOW, fit_by_name
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.noise_covariance import Colour
from steelyard.estimation.noise_spread import Spread
from steelyard.estimation.refinement import Refinement, RefinementOutcome
from steelyard.estimation.refinement_constraints import Point, SearchBox
from steelyard.estimation.refinement_possible import PossibleLinks, possible_links
from steelyard.estimation.ridge import fit_ridge
from steelyard.estimation.static import static_problem
from steelyard.estimation.torque_lag import TorqueLag, lag_seen_by, torque_aligned, torque_lag, with_lag
from steelyard.estimation.turned import turned_readings
from steelyard.estimation.weighted import fit_weighted, weighted_spread

__all__ = [
    "METHODS",
    "SIMULATED_TERMS",
    "WEAK",
    "WINDOW",
    "ArxModel",
    "Colour",
    "CommandMatch",
    "Diagnosis",
    "DriveChoice",
    "FirstOrderFit",
    "FrictionDrift",
    "JointTrace",
    "KnownMoment",
    "LoopDelay",
    "LoopRun",
    "Point",
    "PossibleLinks",
    "Refinement",
    "RefinementOutcome",
    "SearchBox",
    "Spread",
    "TorqueLag",
    "block_means",
    "calibrate_by_moments",
    "choose_cutoff",
    "choose_drive",
    "command_match",
    "common_dead_time",
    "diagnose",
    "excited_joint",
    "fit_arx",
    "fit_auto",
    "fit_by_name",
    "fit_closed_loop",
    "fit_closed_loop_input",
    "fit_entropic",
    "fit_first_order",
    "fit_friction",
    "fit_huber",
    "fit_least_squares",
    "fit_lmi",
    "fit_load_friction",
    "fit_log_cholesky",
    "fit_loop_instrumental",
    "fit_momentum",
    "fit_ridge",
    "fit_weighted",
    "friction_drift",
    "gain_sensitivity",
    "instrumental_shift",
    "joint_trace",
    "lag_seen_by",
    "largest_torque",
    "linearised",
    "loop_instruments",
    "loop_run",
    "lowest_cutoff",
    "possible_links",
    "refine_intervals",
    "replayed_commands",
    "static_problem",
    "torque_aligned",
    "torque_lag",
    "turned_readings",
    "weighted_spread",
    "with_constant_errors",
    "with_drift",
    "with_full_set",
    "with_lag",
    "with_links_near",
    "within_noise",
    "without_knocks",
]
