r"""How far scaled parameters are inside the possible: one 4 x 4 matrix per link and one number per bound.

$$S_i(x) = J(x_i) - F_i, \qquad s_j(x) = \sigma_j x_{k_j} - c_j,$$

with the pseudo-inertia $J$. Multipliers have the same shape. Inner products, products and steps to the edge
are taken link by link and bound by bound, all links at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.inertia import pseudo_inertia

_FLAT = np.ascontiguousarray(pseudo_inertia(np.eye(10)).reshape(10, 16))
# Links are measured in their own mass and length: possible ones have eigenvalues up to about one.
_START = 0.05
_FLAT_TRANSPOSED = np.ascontiguousarray(_FLAT.T)


@dataclass(frozen=True, eq=False)
class Slack:
    """Slacks of all constraints, or their multipliers, or changes of either.

    Attributes:
        matrices: symmetric, one for each link, shape (L, 4, 4), dimensionless.
        numbers: one for each bound, shape (B,), dimensionless.
    """

    matrices: Array
    numbers: Array

    @property
    def order(self) -> int:
        """The order of all matrices and numbers together."""
        return 4 * len(self.matrices) + len(self.numbers)

    @property
    def largest(self) -> float:
        """The largest entry in magnitude."""
        return float(max(np.abs(self.matrices).max(initial=0.0), np.abs(self.numbers).max(initial=0.0)))

    @property
    def lowest(self) -> Array:
        """The smallest eigenvalue of each matrix, then the numbers, shape (L + B,), dimensionless."""
        return np.concatenate([np.linalg.eigvalsh(self.matrices)[:, 0], self.numbers])

    @property
    def highest(self) -> Array:
        """The largest eigenvalue of each matrix, then the numbers, shape (L + B,), dimensionless."""
        return np.concatenate([np.linalg.eigvalsh(self.matrices)[:, -1], self.numbers])

    def __add__(self, other: Slack) -> Slack:
        return Slack(self.matrices + other.matrices, self.numbers + other.numbers)

    def __sub__(self, other: Slack) -> Slack:
        return Slack(self.matrices - other.matrices, self.numbers - other.numbers)

    def __rmul__(self, factor: float) -> Slack:
        return Slack(factor * self.matrices, factor * self.numbers)

    def dot(self, other: Slack) -> float:
        """The sum of all products of entries.

        Args:
            other: the other one.

        Returns:
            The inner product.
        """
        return float(np.vdot(self.matrices, other.matrices) + self.numbers @ other.numbers)

    def product(self, middle: Slack, right: Slack) -> Slack:
        r"""The symmetric part of $S\,M\,R$.

        Args:
            middle: M.
            right: R.

        Returns:
            The product.
        """
        matrices = self.matrices @ middle.matrices @ right.matrices
        return Slack(
            0.5 * (matrices + matrices.transpose(0, 2, 1)), self.numbers * middle.numbers * right.numbers
        )

    def inside(self) -> Slack:
        """The nearest slacks that are inside by a fair margin, from where a search can start."""
        eigenvalues, V = np.linalg.eigh(self.matrices)
        raised = (V * np.maximum(eigenvalues, _START)[:, None, :]) @ V.transpose(0, 2, 1)
        return Slack(0.5 * (raised + raised.transpose(0, 2, 1)), np.maximum(self.numbers, _START))

    def inverse_root(self) -> Slack:
        r"""A factor G with $G^T G = S^{-1}$.

        Raises:
            numpy.linalg.LinAlgError: a matrix is not positive definite.
        """
        return Slack(np.linalg.inv(np.linalg.cholesky(self.matrices)), self.numbers**-0.5)

    def squared(self) -> Slack:
        r"""For a factor G, the slack $G^T G$."""
        return Slack(self.matrices.transpose(0, 2, 1) @ self.matrices, self.numbers**2)

    def room(self, change: Slack) -> float:
        """For a factor G of the inverse, the largest multiple of a change that keeps the slack inside.

        Args:
            change: D.

        Returns:
            The largest t with S + t D positive semidefinite, infinite where there is no limit.
        """
        G = self.matrices
        lowest = np.linalg.eigvalsh(G @ change.matrices @ G.transpose(0, 2, 1)).min(initial=0.0)
        lowest = min(lowest, (change.numbers * self.numbers**2).min(initial=0.0))
        return float(-1.0 / lowest) if lowest < 0.0 else np.inf

    def joined(self, other: Slack) -> Slack:
        """Both in one, to be treated at once.

        Args:
            other: what follows.

        Returns:
            The slacks of this one, then of the other.
        """
        return Slack(
            np.concatenate([self.matrices, other.matrices]), np.concatenate([self.numbers, other.numbers])
        )

    def first_half(self) -> Slack:
        """What was joined first, where both were alike."""
        return Slack(self.matrices[: len(self.matrices) // 2], self.numbers[: len(self.numbers) // 2])


@dataclass(frozen=True, eq=False)
class SlackMap:
    """The slacks as functions of scaled parameters.

    Attributes:
        size: p, number of parameters.
        links: places of the ten numbers of each link, shape (L, 10), dimensionless.
        floors: F, what is asked of each link's pseudo-inertia, shape (L, 4, 4), dimensionless.
        bounded: k, the parameter of each bound, shape (B,), dimensionless.
        signs: 1 where the parameter must be above, -1 where it must be below, shape (B,), dimensionless.
        limits: c, sign times limit, shape (B,), dimensionless.
    """

    size: int
    links: IntArray
    floors: Array
    bounded: IntArray
    signs: Array
    limits: Array

    def change(self, dx: Array) -> Slack:
        """How the slacks move with the parameters.

        Args:
            dx: change of the scaled parameters, shape (p,), dimensionless.

        Returns:
            The change of the slacks.
        """
        return Slack((dx[self.links] @ _FLAT).reshape(-1, 4, 4), self.signs * dx[self.bounded])

    def value(self, x: Array) -> Slack:
        """The slacks.

        Args:
            x: scaled parameters, shape (p,), dimensionless.

        Returns:
            The slacks at x.
        """
        return self.change(x) - Slack(self.floors, self.limits)

    def adjoint(self, multipliers: Slack) -> Array:
        """The pull of multipliers on the parameters, the transpose of `change`.

        Args:
            multipliers: of all constraints.

        Returns:
            The pull, shape (p,), dimensionless.
        """
        pull = np.bincount(self.bounded, self.signs * multipliers.numbers, minlength=self.size).astype(float)
        pull[self.links] += multipliers.matrices.reshape(-1, 16) @ _FLAT_TRANSPOSED
        return pull

    def curvature(self, left: Slack, right: Slack) -> Array:
        r"""The quadratic form $d \mapsto \sum_i \langle D_i, A_i D_i B_i\rangle$ with $D = J(d)$.

        Args:
            left: A.
            right: B.

        Returns:
            Its symmetric matrix, shape (p, p), dimensionless.
        """
        # <D, A D' B> is a form in the entries of D and D', the Kronecker product of A and B.
        kronecker = left.matrices[:, :, None, :, None] * right.matrices[:, None, :, None, :]
        blocks = _FLAT @ kronecker.reshape(-1, 16, 16) @ _FLAT_TRANSPOSED
        H = np.zeros((self.size, self.size))
        H[self.links[:, :, None], self.links[:, None, :]] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
        diagonal = H.reshape(-1)[:: self.size + 1]
        diagonal += np.bincount(self.bounded, left.numbers * right.numbers, minlength=self.size)
        return H
