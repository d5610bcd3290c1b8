r"""What can be known: the combinations of parameters that joint torques determine.

`structure` says it of every parameter for any motion, by the recursion in `nullspace`; `exact` says it
without a tolerance. `base_parameters` is the matrix K of $\beta = K\varphi$. `certificate` says whether the
data at hand shows all of it, `criteria` how well in one number, `partial` and `restricted` what changes when
torques are missing or parameters are known. `servo` asks what is left where no torque is logged at all.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.identifiable.base_parameters import BaseParameters
    from steelyard.identifiable.certificate import (
        Direction,
        ExcitationCertificate,
        certify_excitation,
        sparse_directions,
    )
    from steelyard.identifiable.criteria import Criterion, Information, score
    from steelyard.identifiable.exact.identifiability import (
        ExactIdentifiability,
        exact_identifiability,
    )
    from steelyard.identifiable.exact.symbolic import symbolic_identifiability
    from steelyard.identifiable.partial import partial_identifiability
    from steelyard.identifiable.restricted import (
        MinimalModel,
        RestrictedIdentifiability,
        free_base,
        minimal_model,
        restricted,
    )
    from steelyard.identifiable.servo import ServoStructure, servo_structure
    from steelyard.identifiable.structure import Identifiability, structural_identifiability
    from steelyard.layout import Class

__all__ = [
    "BaseParameters",
    "Class",
    "Criterion",
    "Direction",
    "ExactIdentifiability",
    "ExcitationCertificate",
    "Identifiability",
    "Information",
    "MinimalModel",
    "RestrictedIdentifiability",
    "ServoStructure",
    "certify_excitation",
    "exact_identifiability",
    "free_base",
    "minimal_model",
    "partial_identifiability",
    "restricted",
    "score",
    "servo_structure",
    "sparse_directions",
    "structural_identifiability",
    "symbolic_identifiability",
]

open_door(__name__)
