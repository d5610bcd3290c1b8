"""Judgement of a model: checks with their numbers, and a verdict; another tool's model is judged alike."""

from steelyard.audit.comparison import Comparison, Difference, compared
from steelyard.audit.density import check_density
from steelyard.audit.dynamic_model import DynamicModel, require_alike, torque_difference
from steelyard.audit.excitation import check_excitation
from steelyard.audit.held_out import check_torque, error_along
from steelyard.audit.intervals import check_intervals
from steelyard.audit.links import check_links, check_mass_matrix
from steelyard.audit.residuals import check_colour, check_friction
from steelyard.audit.torque import TorqueError, torque_error
from steelyard.audit.verdict import Check, Status, Verdict

__all__ = [
    "Check",
    "Comparison",
    "Difference",
    "DynamicModel",
    "Status",
    "TorqueError",
    "Verdict",
    "check_colour",
    "check_density",
    "check_excitation",
    "check_friction",
    "check_intervals",
    "check_links",
    "check_mass_matrix",
    "check_torque",
    "compared",
    "error_along",
    "require_alike",
    "torque_difference",
    "torque_error",
]
