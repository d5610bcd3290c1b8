"""Identifiability without a tolerance: over the rational numbers, or with lengths as letters."""

from steelyard.identifiability.exact.rational import exact_identifiability
from steelyard.identifiability.exact.restricted import ProvenRest, proven_rest
from steelyard.identifiability.exact.result import ExactIdentifiability, ProvenIdentifiability
from steelyard.identifiability.exact.symbolic import symbolic_identifiability
from steelyard.identifiability.exact.symbolic_result import SymbolicIdentifiability

__all__ = [
    "ExactIdentifiability",
    "ProvenIdentifiability",
    "ProvenRest",
    "SymbolicIdentifiability",
    "exact_identifiability",
    "proven_rest",
    "symbolic_identifiability",
]
