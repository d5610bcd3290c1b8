"""What a physically possible parameter vector is, and how to get one.

`check_parameters` judges a full vector link by link; `possible_set` states what is possible, with a distance
that makes links comparable; `nearest_possible` projects onto it, `fit_possible` fits equations within it,
and `full_set` finds possible links for base parameters. `judge_mass_matrix` asks whether the mass matrix is
positive definite at every pose, and says how it knows.
"""

from steelyard.consistency.full_set import SAME, FullSet, full_set
from steelyard.consistency.mass_matrix import Definiteness, MassMatrixVerdict, judge_mass_matrix
from steelyard.consistency.nearest import nearest_possible
from steelyard.consistency.possible import BALL, PossibleSet, possible_set
from steelyard.consistency.possible_fit import TIE_BREAK, PossibleFit, fit_possible
from steelyard.consistency.slack import Slack, SlackMap
from steelyard.consistency.verdict import Judgement, PhysicalVerdict, check_parameters

__all__ = [
    "BALL",
    "SAME",
    "TIE_BREAK",
    "Definiteness",
    "FullSet",
    "Judgement",
    "MassMatrixVerdict",
    "PhysicalVerdict",
    "PossibleFit",
    "PossibleSet",
    "Slack",
    "SlackMap",
    "check_parameters",
    "fit_possible",
    "full_set",
    "judge_mass_matrix",
    "nearest_possible",
    "possible_set",
]
