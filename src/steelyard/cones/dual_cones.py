"""Nearly feasible multipliers moved into the dual cone, provably inside."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.cones.constraints import AtMost, Constraint, Equal, Exponential, SecondOrder, Semidefinite
from steelyard.cones.rounding import UNDERFLOW, UNIT, least_eigenvalue_below
from steelyard.errors import SolverError


def repaired(constraint: Constraint, multiplier: Array) -> Array:
    """A multiplier close to the given one that lies in the constraint's dual cone in exact arithmetic.

    Args:
        constraint: decides the cone.
        multiplier: candidate, in the constraint's natural shape, any unit.

    Returns:
        The multiplier inside the cone, same shape and unit.
    """
    match constraint:
        case Equal():
            return multiplier
        case AtMost():
            return np.maximum(multiplier, 0.0)
        case SecondOrder():
            return _second_order(multiplier)
        case Semidefinite():
            return _semidefinite(multiplier)
        case Exponential():
            return np.array([_exponential(*triple) for triple in multiplier.tolist()]).reshape(-1, 3)


def _second_order(z: Array) -> Array:
    raised = z.copy()
    raised[0] = max(z[0], _norm_above(z[1:]))
    return raised


def _norm_above(vector: Array) -> float:
    if not vector.any():
        return 0.0
    k = vector.size
    # The last term is what squares that underflow can hide.
    return float(np.linalg.norm(vector) * (1.0 + 2.0 * (k + 4) * UNIT) + 2.0 * k * math.sqrt(UNDERFLOW))


def _semidefinite(z: Array) -> Array:
    Z = 0.5 * (z + z.T)
    shift = 0.0
    for _ in range(60):
        least = least_eigenvalue_below(Z)
        if least >= 0.0:
            return Z
        shift = 2.0 * max(shift, -least)
        Z = Z + shift * np.eye(Z.shape[0])
    raise SolverError(
        "no shift of its eigenvalues makes this multiplier provably positive semidefinite.",
        remedy="Scale the program: the multiplier's entries are too large.",
        evidence={"multiplier": z},
    )


def _exponential(p: float, q: float, r: float) -> tuple[float, float, float]:
    r"""Raise r to $-p\,e^{q/p - 1}$, or drop p where that is out of range."""
    if p < 0.0:
        ratio = q / p
        if ratio < 600.0:
            # The exponent is computed within 3 u (1 + |q/p|), and libm's exp is taken to be good to 8 u.
            exponent = ratio - 1.0 + 4.0 * UNIT * (1.0 + abs(ratio))
            least = -p * math.exp(exponent) * (1.0 + 16.0 * UNIT) + 2.0 * UNDERFLOW
            if math.isfinite(least):
                return p, q, max(r, least)
    return 0.0, max(q, 0.0), max(r, 0.0)
