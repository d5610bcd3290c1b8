"""Identifiability without a tolerance: over the rational numbers, or with lengths as letters."""
