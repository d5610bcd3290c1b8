"""Judgement of a model: checks with their numbers, and a verdict; another tool's model is judged alike."""

from steelyard.audit.excitation import check_excitation
from steelyard.audit.held_out import check_torque
from steelyard.audit.links import check_links, check_mass_matrix
from steelyard.audit.residuals import check_colour, check_friction
from steelyard.audit.torque import TorqueError, torque_error
from steelyard.audit.verdict import Check, Status, Verdict

__all__ = [
    "Check",
    "Status",
    "TorqueError",
    "Verdict",
    "check_colour",
    "check_excitation",
    "check_friction",
    "check_links",
    "check_mass_matrix",
    "check_torque",
    "torque_error",
]
