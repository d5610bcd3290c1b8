"""Identifiability without a tolerance: over the rational numbers, or with lengths as letters."""

from steelyard.identifiability.exact.rational import exact_identifiability
from steelyard.identifiability.exact.restricted import proven_rest
from steelyard.identifiability.exact.result import ExactIdentifiability
from steelyard.identifiability.exact.symbolic import symbolic_identifiability

__all__ = [
    "ExactIdentifiability",
    "exact_identifiability",
    "proven_rest",
    "symbolic_identifiability",
]
