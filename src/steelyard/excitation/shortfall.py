r"""How far a motion falls short of wanted deviations, with the exact gradient in the unknowns.

The ten numbers of a payload in its link's frame are $\varphi_L = A z$, with z in the tool frame and in units
of the wanted deviations. The information about z and the drive terms that are not known, recorded data
included, is $G_z = B^T G B$ with $B = \mathrm{diag}(A, 1)$. Of these, the numbers that are asked about are a,
all others n; eliminating the others leaves

$$P = M^T G_z M, \qquad M_a = 1, \quad M_n = -G_{nn}^{+} G_{na},$$

and the diagonal of $C = P^{-1}$ holds the squares of deviation over wanted deviation. The largest of them is
to be made small; the power mean

$$F = \tfrac1p \log \sum_i C_{ii}^p, \qquad \frac{\partial F}{\partial P} = -C\,\mathrm{diag}(w)\,C, \qquad
w_i = C_{ii}^{p-1} \Big/ \sum_k C_{kk}^p,$$

has no kinks and lies above its logarithm: a motion with F ≤ 0 does all that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.dynamics import regressor_adjoint, torque_regressor
from steelyard.excitation.objective import SIGN_WIDTH, Objective, Stage
from steelyard.excitation.surrogate import Surrogate

BLIND = 1e-13
"""Smallest over largest eigenvalue of the information at which some number does not show."""
DEPENDENT = 1e-12
"""Share of the largest eigenvalue of the others, as unit columns, below which they repeat each other."""


@dataclass(frozen=True, eq=False)
class Shortfall(Objective):
    """The largest deviation over the wanted one as a function of the unknowns.

    The first ten columns of the problem's base are the payload's, the others drive terms.

    Attributes:
        units: A, shape (10, 10), SI.
        asked: which of the ten numbers in the tool frame are asked about, shape (10,), dimensionless.
    """

    units: Array = field(kw_only=True)
    asked: BoolArray = field(kw_only=True)

    def gradient(self, x: Array, stage: Stage) -> tuple[float, Array]:
        """F and its gradient, with the barrier of the torque limits where they count.

        Args:
            x: unknowns, shape (nv, n), dimensionless.
            stage: how sharp to look.

        Returns:
            The value, infinite where the motion is blind or a torque is over its limit, and the gradient,
            shape (nv, n), dimensionless.
        """
        problem, columns = self.problem, self.problem.base.columns
        q, v, a = self.sampled(x)
        Y = torque_regressor(problem.robot, problem.layout, q, v, a, code=self.code)
        dofs, coulomb = self._coulomb
        smooth_sign = np.tanh(v[:, dofs] / SIGN_WIDTH)
        Y[:, dofs, coulomb] = smooth_sign
        judged = self.judged(self._gram(Y)[0], stage.power)
        value, weights = judged.value, np.zeros_like(Y)
        if problem.parameters is not None:
            over, pull = self._torque_barrier(Y @ problem.parameters)
            value += stage.barrier * over
            weights += (stage.barrier * pull)[:, :, None] * problem.parameters
        if not np.isfinite(value):
            return np.inf, np.zeros_like(x)
        weights[:, :, columns] += (2.0 * self._precision[:, None] * Y[:, :, columns]) @ judged.gradient
        slope = regressor_adjoint(problem.robot, problem.layout, weights, q, v, a, code=self.code)
        v_bar = slope.v.copy()
        v_bar[:, dofs] += weights[:, dofs, coulomb] * (1.0 - smooth_sign**2) / SIGN_WIDTH
        return value, self._in_unknowns(slope.q, v_bar, slope.a)

    def judged(self, gram: Array, power: float) -> Surrogate:
        """F and its derivative in the information.

        Args:
            gram: G, shape (b, b), SI.
            power: p, dimensionless.

        Returns:
            The value, infinite where some number does not show, and the gradient, shape (b, b), SI.
        """
        B, (a, n) = self._coordinates, self._places
        G = B.T @ gram @ B
        M = np.zeros((len(G), len(a)))
        M[a, np.arange(len(a))] = 1.0
        M[n] = -_inverse_where_seen(G[np.ix_(n, n)]) @ G[np.ix_(n, a)]
        values, V = np.linalg.eigh(M.T @ G @ M)
        if not values[0] > BLIND * values[-1]:
            return Surrogate(np.inf, np.full_like(gram, np.nan))
        C = (V / values) @ V.T
        largest = float(C.diagonal().max())
        shares = C.diagonal() / largest
        total = float((shares**power).sum())
        w = shares ** (power - 1.0) / (largest * total)
        K = B @ M @ C
        return Surrogate(float(np.log(largest) + np.log(total) / power), -(K * w) @ K.T)

    @cached_property
    def _coordinates(self) -> Array:
        """B, (b, b)."""
        return np.asarray(scipy.linalg.block_diag(self.units, np.eye(self.problem.base.count - 10)))

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        """Where in z and the drive terms the numbers a stand that are asked about, and the others n."""
        asked = np.zeros(self.problem.base.count, dtype=np.bool_)
        asked[:10] = self.asked
        return np.flatnonzero(asked), np.flatnonzero(~asked)


def _inverse_where_seen(G: Array) -> Array:
    """The inverse in the units in which all columns are of length one; zero where they do not show."""
    lengths = np.sqrt(np.maximum(G.diagonal(), 0.0))
    seen = lengths > 0.0
    N = np.where(seen, 1.0 / np.where(seen, lengths, 1.0), 0.0)
    values, V = np.linalg.eigh(G * np.outer(N, N))
    kept = values > DEPENDENT * values.max(initial=0.0)
    half = N[:, None] * V[:, kept]
    return np.asarray((half / values[kept]) @ half.T)
