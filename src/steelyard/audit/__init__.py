"""Judgement of a model: checks with their numbers, and a verdict; another tool's model is judged alike.

A check is a function `check_…` that returns a `Check`; `verdict` holds `Check` and `Verdict`, whose status is
the worst outcome. `torque` judges predictions of torques and their residuals, `information` what the data
showed, `plausible` whether links and drives can exist and are believable, `density` an object beside its
mesh, `cloud` many estimates of the same parameters.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.audit.cloud import (
        APART,
        MNE_DEFINITION,
        CloudStage,
        ParameterChange,
        ParameterCloud,
        PredictionError,
        Trend,
        check_cloud,
        check_prediction_kept,
        largest_changes,
        parameter_cloud,
        prediction_error,
        routing_table,
    )
    from steelyard.audit.density import check_density
    from steelyard.audit.information import check_excitation, check_intervals
    from steelyard.audit.plausible import check_links, check_mass_matrix, check_plausible
    from steelyard.audit.torque import (
        check_agreement,
        check_colour,
        check_friction,
        check_torque,
        error_along,
        structured_torque,
    )
    from steelyard.audit.verdict import Check, Status, Verdict
    from steelyard.model import TorqueError, torque_error

__all__ = [
    "APART",
    "MNE_DEFINITION",
    "Check",
    "CloudStage",
    "ParameterChange",
    "ParameterCloud",
    "PredictionError",
    "Status",
    "TorqueError",
    "Trend",
    "Verdict",
    "check_agreement",
    "check_cloud",
    "check_colour",
    "check_density",
    "check_excitation",
    "check_friction",
    "check_intervals",
    "check_links",
    "check_mass_matrix",
    "check_plausible",
    "check_prediction_kept",
    "check_torque",
    "error_along",
    "largest_changes",
    "parameter_cloud",
    "prediction_error",
    "routing_table",
    "structured_torque",
    "torque_error",
]

open_door(__name__)
