"""Judgement of a model: checks with their numbers, and a verdict; another tool's model is judged alike."""

from steelyard.audit.agreement import check_agreement, structured_torque
from steelyard.audit.cloud import ParameterCloud
from steelyard.audit.cloud_check import check_cloud, check_prediction_kept
from steelyard.audit.cloud_contraction import Trend
from steelyard.audit.cloud_gathering import parameter_cloud
from steelyard.audit.cloud_prediction import MNE_DEFINITION, PredictionError, prediction_error
from steelyard.audit.cloud_stage import APART, CloudStage
from steelyard.audit.cloud_tables import ParameterChange, largest_changes, routing_table
from steelyard.audit.density import check_density
from steelyard.audit.excitation import check_excitation
from steelyard.audit.held_out import check_torque, error_along
from steelyard.audit.intervals import check_intervals
from steelyard.audit.links import check_links, check_mass_matrix
from steelyard.audit.plausible import check_plausible
from steelyard.audit.residuals import check_colour, check_friction
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
