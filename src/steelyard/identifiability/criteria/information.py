r"""The information matrix of a base regressor, $G = W^T W$, kept as a factor of it or as itself.

Every criterion of how informative data is depends on W through G alone, and on G through its eigenvalues in
some coordinates of the base parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

BLIND_SINGULAR = 1e-12
"""A direction is blind when its singular value is this small against the largest: round-off, not evidence."""
BLIND_EIGENVALUE = 1e-13
"""The same for an eigenvalue of a Gram matrix, whose round-off is relative to its largest eigenvalue."""


class Spectrum(NamedTuple):
    """Eigenvalues and eigenvectors of an information matrix.

    Attributes:
        values: eigenvalues, decreasing, none negative, shape (b,), SI.
        vectors: eigenvectors, one per column, shape (b, b), dimensionless.
        blind: number of eigenvalues that are nothing but round-off; the last ones.
    """

    values: Array
    vectors: Array
    blind: int


@dataclass(frozen=True, eq=False)
class Information:
    """What data says about base parameters, summed over samples and not averaged.

    Attributes:
        matrix: R with RᵀR = G, or G itself, shape (b, b), SI.
        squared: whether `matrix` is G. It is then judged a third faster, but directions fade into round-off
            from a condition number of 3e6 on instead of 1e12.
    """

    matrix: Array
    squared: bool = False

    def __post_init__(self) -> None:
        matrix = checked("information", self.matrix, ("b", "b"))
        if matrix.size == 0:
            raise InputError("there is no base parameter to know about.", place="information")
        object.__setattr__(self, "matrix", read_only(matrix))

    @classmethod
    def of_regressor(cls, regressor: ArrayLike) -> Information:
        """The information of a base regressor, or of any factor of its Gram matrix.

        Args:
            regressor: W, each row over the standard deviation of its noise where that is known, or R of
                `dynamics.compress` in the columns of the base parameters; shape (M, b), SI.

        Returns:
            The information.
        """
        W = checked("regressor", regressor, ("M", "b"))
        R = np.zeros((W.shape[1], W.shape[1]))
        reduced = np.linalg.qr(W, mode="r")
        R[: len(reduced)] = reduced
        return cls(R)

    @classmethod
    def of_gram(cls, gram: ArrayLike) -> Information:
        """The information as a Gram matrix, such as `dynamics.torque_gram` in the base parameters' columns.

        Args:
            gram: G, symmetric, shape (b, b), SI.

        Returns:
            The information.
        """
        G = checked("gram", gram, ("b", "b"))
        if np.abs(G - G.T).max(initial=0.0) > 1e-9 * np.abs(G).max(initial=0.0):
            raise InputError("a Gram matrix is symmetric, this one is not.", place="gram")
        return cls(0.5 * (G + G.T), squared=True)

    @property
    def gram(self) -> Array:
        """G, shape (b, b), SI."""
        return self.matrix if self.squared else self.matrix.T @ self.matrix

    @property
    def norms(self) -> Array:
        """Length of each column of the regressor, shape (b,), SI."""
        if self.squared:
            return np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        return np.asarray(np.linalg.norm(self.matrix, axis=0))

    def spectrum(self, coordinates: Array | None = None) -> Spectrum:
        r"""Eigenvalues of $L^T G L$, the information about $z$ where $\beta = L z$.

        Args:
            coordinates: L, shape (b, b), SI; None for the base parameters themselves.

        Returns:
            The spectrum.
        """
        X = self.matrix
        if self.squared:
            X = X if coordinates is None else coordinates.T @ X @ coordinates
            values, vectors = np.linalg.eigh(X)
            values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
            seen = values > BLIND_EIGENVALUE * values[0]
        else:
            X = X if coordinates is None else X @ coordinates
            _, singular, Vt = np.linalg.svd(X)
            values, vectors = singular**2, Vt.T
            seen = singular > BLIND_SINGULAR * singular[0]
        return Spectrum(values, vectors, len(values) - int(seen.sum()))
