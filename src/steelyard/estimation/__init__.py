"""Estimators: each takes a Problem and returns an Estimate."""

from steelyard.estimation.least_squares import fit_least_squares

__all__ = ["fit_least_squares"]
