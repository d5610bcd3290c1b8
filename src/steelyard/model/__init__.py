"""`Model`: a robot with numbers for all its parameters, how sure they are, and where they come from.

`model` is the noun that identification returns and every other part takes; `saving` writes one as a folder,
`result_folder` reads it again, and `comparison` says how far predicted torques are from measured ones.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.model.comparison import Comparison, Difference, TorqueError, adjusted, torque_error
    from steelyard.model.model import Model, ModelComparison, body_numbers, compare_models
    from steelyard.model.result_folder import (
        TWO_SIDED_95,
        LinkSpread,
        ResultFolder,
        StoredBase,
        is_result,
        read_record,
    )
    from steelyard.model.saving import write_model

__all__ = [
    "TWO_SIDED_95",
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
    "torque_error",
    "write_model",
]

open_door(__name__)
