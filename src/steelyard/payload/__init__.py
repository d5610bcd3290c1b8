"""What an arm holds: weighed by residual torques, with a known robot, or by the full arm estimated twice.

A way leads from runs to a `Weighing`, what the data says of the ten numbers; `payload_of` turns it into a
body that can exist, with intervals and a word on what decided each number.
"""

from steelyard.payload.answer import POINTS, DecidedBy, PayloadEstimate, payload_of
from steelyard.payload.gains import calibrated, fit_gains
from steelyard.payload.held import Held, held_at
from steelyard.payload.model import ArmModel, described, errors_of, massless
from steelyard.payload.posterior import posterior_of
from steelyard.payload.prior import PayloadPrior
from steelyard.payload.quantities import QUANTITIES, UNITS, quantities
from steelyard.payload.question import load_problem
from steelyard.payload.recursive import RecursivePayload
from steelyard.payload.residual import residual_torque
from steelyard.payload.sensitivity import NOISES, PAPERS_OBJECT, SensitivityPlan, study_sensitivity
from steelyard.payload.sensitivity_filters import FILTER_MEANINGS, FILTERS
from steelyard.payload.sensitivity_motions import MOTIONS, study_motions
from steelyard.payload.sensitivity_table import ErrorCell, MotionSpread, Noise, RunningMass, SensitivityTable
from steelyard.payload.several_loads import NOTHING, LoadedRuns, weigh_several
from steelyard.payload.systematic import ConstantErrors
from steelyard.payload.ways import METHODS, weigh_by_residual, weigh_full_arm, weigh_with_model
from steelyard.payload.weighing import Weighing

__all__ = [
    "FILTERS",
    "FILTER_MEANINGS",
    "METHODS",
    "MOTIONS",
    "NOISES",
    "NOTHING",
    "PAPERS_OBJECT",
    "POINTS",
    "QUANTITIES",
    "UNITS",
    "ArmModel",
    "ConstantErrors",
    "DecidedBy",
    "ErrorCell",
    "Held",
    "LoadedRuns",
    "MotionSpread",
    "Noise",
    "PayloadEstimate",
    "PayloadPrior",
    "RecursivePayload",
    "RunningMass",
    "SensitivityPlan",
    "SensitivityTable",
    "Weighing",
    "calibrated",
    "described",
    "errors_of",
    "fit_gains",
    "held_at",
    "load_problem",
    "massless",
    "payload_of",
    "posterior_of",
    "quantities",
    "residual_torque",
    "study_motions",
    "study_sensitivity",
    "weigh_by_residual",
    "weigh_full_arm",
    "weigh_several",
    "weigh_with_model",
]
