"""`Model`: a robot with numbers for all its parameters, how sure they are, and where they come from.

`model` is the noun that identification returns and every other part takes; `result_folder` reads one from
`parameters.json`, and `comparison` says how far predicted torques are from measured ones.
"""

from steelyard.model.comparison import Comparison, Difference, TorqueError, adjusted, torque_error
from steelyard.model.model import LinkSpread, Model, ModelComparison, body_numbers, compare_models
from steelyard.model.result_folder import (
    KIND,
    PARAMETERS_SCHEMA,
    RECORD_SCHEMA,
    ResultFolder,
    StoredBase,
    is_result,
    read_record,
    read_result,
)

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
    "is_result",
    "read_record",
    "read_result",
    "torque_error",
]
