"""What an arm holds: weighed by residual torques, with a known robot, or by the full arm estimated twice.

A way (`methods`, or `wrench` for a sensor at the wrist) leads from runs to a `Weighing` (`weighing`), what
the data says of the ten numbers; `payload_of` (`answer`) turns it into a body that can exist, with intervals
and a word on what decided each number, by draws from `posterior`. `arm_model` is the robot without the
payload, `systematic_errors` counts errors that repeat in every sample, `slip` asks whether the grasp held,
`sensitivity` studies noise, filters and motions.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.payloads.answer import (
        POINTS,
        QUANTITIES,
        UNITS,
        DecidedBy,
        PayloadEstimate,
        payload_of,
        quantities,
    )
    from steelyard.payloads.arm_model import ArmModel, Mount, described, errors_of, massless, mounted_at
    from steelyard.payloads.gains import calibrated, fit_gains
    from steelyard.payloads.methods import (
        METHODS,
        NOTHING,
        LoadedRuns,
        residual_torque,
        weigh_by_residual,
        weigh_full_arm,
        weigh_several,
        weigh_with_model,
    )
    from steelyard.payloads.posterior import PayloadPrior
    from steelyard.payloads.sensitivity import (
        FILTER_MEANINGS,
        FILTERS,
        NOISES,
        PAPERS_OBJECT,
        ErrorCell,
        MotionSpread,
        Noise,
        SensitivityPlan,
        SensitivityTable,
        study_sensitivity,
    )
    from steelyard.payloads.slip import GraspSlip, LoadRows, grasp_slip
    from steelyard.payloads.study_motions import MOTIONS, study_motions
    from steelyard.payloads.systematic_errors import ConstantErrors
    from steelyard.payloads.weighing import Weighing
    from steelyard.payloads.wrench import SIGNS, WristSensor, weigh_by_wrench

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
    "SIGNS",
    "UNITS",
    "ArmModel",
    "ConstantErrors",
    "DecidedBy",
    "ErrorCell",
    "GraspSlip",
    "LoadRows",
    "LoadedRuns",
    "MotionSpread",
    "Mount",
    "Noise",
    "PayloadEstimate",
    "PayloadPrior",
    "SensitivityPlan",
    "SensitivityTable",
    "Weighing",
    "WristSensor",
    "calibrated",
    "described",
    "errors_of",
    "fit_gains",
    "grasp_slip",
    "massless",
    "mounted_at",
    "payload_of",
    "quantities",
    "residual_torque",
    "study_motions",
    "study_sensitivity",
    "weigh_by_residual",
    "weigh_by_wrench",
    "weigh_full_arm",
    "weigh_several",
    "weigh_with_model",
]

open_door(__name__)
