r"""Coordinates of a full parameter vector in which nothing is impossible.

Ten log-Cholesky coordinates for each free link, the logarithm of each free drive term that cannot be
negative, the other free drive terms as they are. The map $x(\eta)$ acts piece by piece, so its first
derivative is block diagonal and its second derivative never couples two pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.drive import drive_term
from steelyard.inertia import from_log_cholesky, log_cholesky, log_cholesky_hessian, log_cholesky_jacobian
from steelyard.layout import Layout


@dataclass(frozen=True, eq=False)
class LogCoordinates:
    """The map from coordinates to scaled parameters.

    Attributes:
        links: places of the ten numbers of each free link, shape (L, 10), dimensionless.
        positive: places of the free drive terms that cannot be negative, shape (B,), dimensionless.
        plain: places of the other free drive terms, shape (C,), dimensionless.
        known: scaled parameters, of which only the fixed ones count, shape (p,), dimensionless.
    """

    links: IntArray
    positive: IntArray
    plain: IntArray
    known: Array

    @classmethod
    def at(cls, layout: Layout, x: Array) -> LogCoordinates:
        """The coordinates of a layout whose free links are free in all ten numbers.

        Args:
            layout: the order of the parameters.
            x: scaled parameters with the fixed ones, shape (p,), dimensionless.

        Returns:
            The map.
        """
        n = 10 * len(layout.links)
        links = np.arange(n).reshape(-1, 10)
        drives = np.arange(n, layout.size)[layout.free[n:]]
        signed = np.array([drive_term(layout.parameters[k].term).signed for k in drives], dtype=bool)
        return cls(links[layout.free[links].all(axis=1)], drives[~signed], drives[signed], np.array(x))

    @property
    def places(self) -> IntArray:
        """Places in x of the pieces, in the order of the coordinates, shape (n,), dimensionless."""
        return np.concatenate([self.links.ravel(), self.positive, self.plain])

    def of(self, x: Array) -> Array:
        """The coordinates of strictly possible parameters.

        Args:
            x: scaled parameters, shape (p,), dimensionless.

        Returns:
            eta, shape (n,), dimensionless.

        Raises:
            InputError: a link is not strictly possible.
        """
        return np.concatenate([log_cholesky(x[self.links]).ravel(), np.log(x[self.positive]), x[self.plain]])

    def x(self, coordinates: Array) -> Array:
        """The parameters at some coordinates.

        Args:
            coordinates: eta, shape (n,), dimensionless.

        Returns:
            x, shape (p,), dimensionless.
        """
        bodies, logarithms, rest = self._pieces(coordinates)
        x = self.known.copy()
        x[self.links], x[self.positive], x[self.plain] = from_log_cholesky(bodies), np.exp(logarithms), rest
        return x

    def derivatives(self, coordinates: Array, slope: Array) -> tuple[Array, Array]:
        r"""The Jacobian of x, and the second derivative of x weighed by a slope, $\sum_n g_n \nabla^2 x_n$.

        Args:
            coordinates: eta, shape (n,), dimensionless.
            slope: g, shape (p,), SI.

        Returns:
            Both with the rows of x at `places`, shapes (n, n) and (n, n), dimensionless and SI.
        """
        bodies, logarithms, rest = self._pieces(coordinates)
        size, count = coordinates.size, self.links.size
        first, second = np.zeros((size, size)), np.zeros((size, size))
        D, DD = log_cholesky_jacobian(bodies), log_cholesky_hessian(bodies)
        for k in range(len(bodies)):
            ten = slice(10 * k, 10 * k + 10)
            first[ten, ten] = D[k]
            second[ten, ten] = np.tensordot(slope[self.links[k]], DD[k], 1)
        middle = np.arange(count, count + logarithms.size)
        first[middle, middle] = np.exp(logarithms)
        second[middle, middle] = slope[self.positive] * np.exp(logarithms)
        last = np.arange(size - rest.size, size)
        first[last, last] = 1.0
        return first, second

    def _pieces(self, coordinates: Array) -> tuple[Array, Array, Array]:
        bodies, logarithms, rest = np.split(
            coordinates, [self.links.size, self.links.size + self.positive.size]
        )
        return bodies.reshape(-1, 10), logarithms, rest
