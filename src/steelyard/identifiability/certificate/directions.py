"""Directions among base parameters that data leaves open, written with as few terms as possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from steelyard.arrays import Array, read_only

NEGLIGIBLE = 1e-6
"""Share of a direction below which a term is round-off."""
TERMS = 4
"""How many terms a sentence names."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A change of the base parameters.

    Attributes:
        terms: the base parameters that change and by how much, in their units, the leading one by 1.
        change: the same for all base parameters, shape (b,), SI.
        strength: length of its torques for a scaled change of unit length, dimensionless: at most the largest
            singular value that its basis was given.
    """

    terms: tuple[tuple[str, float], ...]
    change: Array
    strength: float

    def __str__(self) -> str:
        """One line: `link2.Ixx+ with -0.31 link3.mz+`."""
        (leader, _), *others = self.terms
        named = [f"{coefficient:.3g} {name}" for name, coefficient in others[: TERMS - 1]]
        if len(others) >= TERMS:
            named.append("…")
        return f"{leader} with {', '.join(named)}" if named else leader


def sparse_directions(
    vectors: Array, strengths: Array, scales: Array, names: tuple[str, ...]
) -> tuple[Direction, ...]:
    r"""A basis of a subspace in reduced echelon form, which has the fewest terms where directions are apart.

    Pivots are chosen by length among the scaled coordinates, so a base parameter that is open by itself comes
    out as itself and no coefficient is large.

    Args:
        vectors: orthonormal basis in scaled coordinates z, one per column, shape (b, k), dimensionless.
        strengths: singular value of each vector, shape (k,), dimensionless.
        scales: c with beta = c z, shape (b,), SI.
        names: of the base parameters.

    Returns:
        The directions, ordered by their leading parameter.
    """
    k = vectors.shape[1]
    if k == 0:
        return ()
    _, _, order = scipy.linalg.qr(vectors.T, mode="economic", pivoting=True)
    pivots = np.sort(order[:k])
    mixing = np.linalg.inv(vectors[pivots])
    echelon = vectors @ mixing
    echelon[np.abs(echelon) < NEGLIGIBLE * np.abs(echelon).max(axis=0)] = 0.0
    directions = []
    for column, pivot in enumerate(pivots):
        z = echelon[:, column]
        change = scales * z / (scales[pivot] * z[pivot])
        others = [j for j in np.argsort(-np.abs(z), kind="stable") if z[j] != 0.0 and j != pivot]
        terms = tuple((names[j], float(change[j])) for j in (pivot, *others))
        m = mixing[:, column]
        strength = float(np.linalg.norm(strengths * m) / np.linalg.norm(m))
        directions.append(Direction(terms, read_only(change), strength))
    return tuple(directions)
