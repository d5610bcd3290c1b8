"""Estimators: each takes a `Problem` and returns an `Estimate`.

`methods` lists them by name, and `auto` chooses one by the data. `linear` has least squares on base
parameters (ordinary, weighted, Huber's, ridge, bounded; linear friction is among its columns), `physical` and
`entropic` keep links that can exist, `momentum` needs no accelerations, `instrumental` withstands noise in
the motion, `friction` and `load_friction` fit what is not linear, `drive_choice` decides which drive terms
the log asks for, `closed_loop` refines by simulating the control loop, `first_order` and `arx` model one
joint. `noise` gives the covariance; `diagnosis`, `sign_checks`, `torque_lag` and `knock` find what is wrong
with a log.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.estimation.arx import ArxModel, fit_arx
    from steelyard.estimation.auto import linearised
    from steelyard.estimation.constant_errors import KnownMoment, calibrate_by_moments, with_constant_errors
    from steelyard.estimation.cutoff_choice import choose_cutoff, lowest_cutoff
    from steelyard.estimation.diagnosis import Diagnosis, diagnose
    from steelyard.estimation.drive_choice import choose_drive
    from steelyard.estimation.entropic import largest_torque, with_links_near
    from steelyard.estimation.equations import Rows
    from steelyard.estimation.first_order import (
        FirstOrderFit,
        JointTrace,
        excited_joint,
        fit_first_order,
    )
    from steelyard.estimation.friction import friction_drift, with_drift
    from steelyard.estimation.instrumental import WEAK, fit_loop_instrumental, instrumental_shift
    from steelyard.estimation.knock import without_knocks
    from steelyard.estimation.linear import weighted_spread
    from steelyard.estimation.methods import METHODS, WINDOW, fit_by_name
    from steelyard.estimation.noise import Colour, NoiseModel, Spread, linear_covariance
    from steelyard.estimation.physical import with_full_set
    from steelyard.estimation.static import static_problem
    from steelyard.estimation.torque_lag import TorqueLag, lag_seen_by, torque_aligned, with_lag

__all__ = [
    "METHODS",
    "WEAK",
    "WINDOW",
    "ArxModel",
    "Colour",
    "Diagnosis",
    "FirstOrderFit",
    "JointTrace",
    "KnownMoment",
    "NoiseModel",
    "Rows",
    "Spread",
    "TorqueLag",
    "calibrate_by_moments",
    "choose_cutoff",
    "choose_drive",
    "diagnose",
    "excited_joint",
    "fit_arx",
    "fit_by_name",
    "fit_first_order",
    "fit_loop_instrumental",
    "friction_drift",
    "instrumental_shift",
    "lag_seen_by",
    "largest_torque",
    "linear_covariance",
    "linearised",
    "lowest_cutoff",
    "static_problem",
    "torque_aligned",
    "weighted_spread",
    "with_constant_errors",
    "with_drift",
    "with_full_set",
    "with_lag",
    "with_links_near",
    "without_knocks",
]

open_door(__name__)
