"""`Model`: a robot with numbers for all its parameters, how sure they are, and where they come from."""

from steelyard.model.comparison import Comparison, Difference, adjusted, compared
from steelyard.model.model import (
    LinkSpread,
    Model,
    ModelComparison,
    body_numbers,
    compare_models,
    require_alike,
    torque_difference,
)
from steelyard.model.result_folder import (
    KIND,
    PARAMETERS_SCHEMA,
    RECORD_SCHEMA,
    ResultFolder,
    is_result,
    read_record,
    read_result,
)
from steelyard.model.stored_parameters import StoredBase
from steelyard.model.torque_error import TorqueError, torque_error

__all__ = [
    "KIND",
    "PARAMETERS_SCHEMA",
    "RECORD_SCHEMA",
    "Comparison",
    "Difference",
    "LinkSpread",
    "Model",
    "ModelComparison",
    "ResultFolder",
    "StoredBase",
    "TorqueError",
    "adjusted",
    "body_numbers",
    "compare_models",
    "compared",
    "is_result",
    "read_record",
    "read_result",
    "require_alike",
    "torque_difference",
    "torque_error",
]
