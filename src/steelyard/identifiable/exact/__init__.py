"""Identifiability without a tolerance: over the rational numbers, or with lengths as letters."""

from steelyard.identifiable.exact.identifiability import (
    ExactIdentifiability,
    exact_identifiability,
    proven_rest,
)
from steelyard.identifiable.exact.symbolic import symbolic_identifiability

__all__ = [
    "ExactIdentifiability",
    "exact_identifiability",
    "proven_rest",
    "symbolic_identifiability",
]
