"""What can be known: the combinations of parameters that joint torques determine."""

from steelyard.identifiability.analysis import structural_identifiability
from steelyard.identifiability.base_parameters import BaseParameters, numerical_base
from steelyard.identifiability.certificate import Certificate, certify_excitation
from steelyard.identifiability.certificate.directions import Direction, sparse_directions
from steelyard.identifiability.criteria import Criterion, Information, score, smooth_condition
from steelyard.identifiability.exact import (
    ExactIdentifiability,
    exact_identifiability,
    proven_rest,
    symbolic_identifiability,
)
from steelyard.identifiability.minimal_model import MinimalModel, minimal_model
from steelyard.identifiability.partial import partial_identifiability
from steelyard.identifiability.restricted import RestrictedIdentifiability, free_base, restricted
from steelyard.identifiability.structure import Identifiability
from steelyard.layout import Class

__all__ = [
    "BaseParameters",
    "Certificate",
    "Class",
    "Criterion",
    "Direction",
    "ExactIdentifiability",
    "Identifiability",
    "Information",
    "MinimalModel",
    "RestrictedIdentifiability",
    "certify_excitation",
    "exact_identifiability",
    "free_base",
    "minimal_model",
    "numerical_base",
    "partial_identifiability",
    "proven_rest",
    "restricted",
    "score",
    "smooth_condition",
    "sparse_directions",
    "structural_identifiability",
    "symbolic_identifiability",
]
