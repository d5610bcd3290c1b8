r"""Least squares drawn towards what is known beforehand, for one strength or along a path of strengths.

$$\min_\phi\; \lVert A\phi - b \rVert^2 + \gamma\, D(\phi), \qquad
  D = \sum_i w_i \left(\mathrm{tr}\,M_i - \log\det M_i - 4\right)
    + \sum_k w_k \left(\frac{\phi_k}{\phi_{0k}} - \log\frac{\phi_k}{\phi_{0k}} - 1\right)
    + \sum_m \frac{w_m}{2} \left(\frac{\phi_m - \phi_{0m}}{s_m}\right)^2
    + \sum_r w_r \left(\frac{g_r^T\phi}{\bar s_r} - \log\frac{g_r^T\phi}{\bar s_r} - 1\right)$$

with $M_i = J_{0i}^{-1/2} J_i J_{0i}^{-T/2}$ for links i (the divergence of Lee, Wensing and Park 2020, which
no frame and no unit changes), drive terms k that cannot be negative, terms m of either sign, and walls r such
as a face of a link's hull. Known sums $C\phi = d$ hold exactly.

D is a self-concordant barrier of the possible with a linear term, so the objective is strictly convex, its
minimiser lies strictly inside, and Newton's method reaches it from anywhere. Coordinates in which the prior
is the identity make the barrier's Hessian one there; a path from a strong to a weak pull starts each strength
where the last one ended, so a weak one, whose minimiser lies near the edge, is approached from within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, IntArray, read_only
from steelyard.consistency.prior import Prior
from steelyard.errors import InputError, NoSolutionError, SolverError
from steelyard.inertia import pseudo_inertia

_PSEUDO = pseudo_inertia(np.eye(10))
# An orthonormal basis of the symmetric 4 x 4 matrices: link coordinates are lengths in the metric of D.
_UPPER = np.triu_indices(4)
_BASIS = np.zeros((10, 4, 4))
for _k, (_i, _j) in enumerate(zip(*_UPPER, strict=True)):
    _BASIS[_k, _i, _j] = _BASIS[_k, _j, _i] = 1.0 if _i == _j else np.sqrt(0.5)
_FLAT = np.ascontiguousarray(_BASIS.reshape(10, 16))

STEPS = 200
"""Newton steps for one strength; the hardest of thousands of ugly problems took a quarter of them."""
CLOSED = 1e-10
"""What the objective may be above its minimum, relative to itself, dimensionless."""
REDUCED = 1e-7
"""The same where round-off leaves no more to gain."""
_TO_THE_EDGE = 0.95
_ARMIJO = 1e-4
_SHORTEST = 1e-12


@dataclass(frozen=True, eq=False)
class DrawnFit:
    """The minimiser at one strength.

    Attributes:
        parameters: phi, strictly possible, shape (p,), SI.
        strength: gamma, in the units of the squared residual.
        squares: the squared residual, in the same units.
        divergence: D, dimensionless.
        gap: what the objective is at most above its minimum, relative to it, dimensionless.
        steps: Newton steps it took.
    """

    parameters: Array
    strength: float
    squares: float
    divergence: float
    gap: float
    steps: int


class Divergence:
    """D as a function of coordinates in which the prior's links are unit matrices.

    The coordinates y of phi = offset + B y: ten for each link that is not wholly fixed, then one for each
    free drive term.
    """

    def __init__(self, prior: Prior) -> None:
        """Take the prior's coordinates.

        Args:
            prior: what is known beforehand.
        """
        layout, centre = prior.layout, prior.centre
        self.prior = prior
        free = layout.free
        links = [k for k in range(len(layout.links)) if free[10 * k : 10 * k + 10].any()]
        drives = np.array([k for k in range(10 * len(layout.links), layout.size) if free[k]], dtype=int)
        signed = prior.signed[drives]
        self.links = len(links)
        n = 10 * self.links + len(drives)
        B, offset = np.zeros((layout.size, n)), np.where(free, 0.0, centre)
        for place, k in enumerate(links):
            ten = slice(10 * k, 10 * k + 10)
            offset[ten] = 0.0
            root = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(centre[ten])))
            whitened = (root @ _PSEUDO @ root.T).reshape(10, 16) @ _FLAT.T  # of each unit parameter
            B[ten, 10 * place : 10 * place + 10] = np.linalg.inv(whitened).T
        for place, k in enumerate(drives):
            B[k, 10 * self.links + place] = prior.sizes[k]
            if signed[place]:
                offset[k] = centre[k]
        self.B, self.offset = B, offset
        self.link_trust = prior.trust[[10 * k for k in links]] if links else np.zeros(0)
        self.positive = 10 * self.links + np.flatnonzero(~signed)
        self.signed = 10 * self.links + np.flatnonzero(signed)
        self.positive_trust = prior.trust[drives[~signed]]
        self.signed_trust = prior.trust[drives[signed]]
        # y of a positive term is phi / size; its pull is towards phi_0 / size.
        self.positive_centre = centre[drives[~signed]] / prior.sizes[drives[~signed]]
        self.walls = prior.walls @ B
        self.wall_base = prior.walls @ offset
        self.wall_scale, self.wall_trust = prior.wall_sizes, prior.wall_trust
        fixed = np.flatnonzero(~free & (np.abs(B).max(axis=1, initial=0.0) > 0.0))
        C = np.vstack([np.eye(layout.size)[fixed], prior.sums])
        d = np.concatenate([centre[fixed], prior.totals])
        self.C, self.d = C @ B, d - C @ offset

    @property
    def order(self) -> float:
        """The weight of all logarithms together."""
        return float(4.0 * self.link_trust.sum() + self.positive_trust.sum() + self.wall_trust.sum())

    def start(self) -> Array:
        """The coordinates of the prior, shape (n,), dimensionless."""
        y = np.zeros(self.B.shape[1])
        y[: 10 * self.links] = np.tile(_FLAT @ np.eye(4).ravel(), self.links)
        y[self.positive] = self.positive_centre
        return y

    def parameters(self, y: Array) -> Array:
        """The parameters at coordinates.

        Args:
            y: coordinates, shape (n,), dimensionless.

        Returns:
            phi, shape (p,), SI.
        """
        return np.asarray(self.offset + self.B @ y)

    def matrices(self, y: Array) -> Array:
        """The whitened pseudo-inertias M, shape (L, 4, 4), dimensionless, of coordinates or a change of them.

        Args:
            y: coordinates, shape (n,), dimensionless.

        Returns:
            M.
        """
        return np.asarray((y[: 10 * self.links].reshape(-1, 10) @ _FLAT).reshape(-1, 4, 4))

    def value(self, y: Array) -> float:
        """D, infinite outside.

        Args:
            y: coordinates, shape (n,), dimensionless.

        Returns:
            D, dimensionless.
        """
        M = self.matrices(y)
        numbers = y[self.positive] / self.positive_centre
        walls = (self.walls @ y + self.wall_base) / self.wall_scale
        if (numbers <= 0.0).any() or (walls <= 0.0).any():
            return np.inf
        sign, logarithm = np.linalg.slogdet(M)
        if (sign <= 0.0).any() or (self.links and np.linalg.eigvalsh(M)[:, 0].min() <= 0.0):
            return np.inf
        total = self.link_trust @ (np.trace(M, axis1=1, axis2=2) - logarithm - 4.0)
        total += self.positive_trust @ (numbers - np.log(numbers) - 1.0)
        total += 0.5 * self.signed_trust @ y[self.signed] ** 2
        total += self.wall_trust @ (walls - np.log(walls) - 1.0)
        return float(total)

    def derivatives(self, y: Array) -> tuple[Array, Array]:
        """Gradient, shape (n,), and Hessian, shape (n, n), of D.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.

        Returns:
            Both, dimensionless.
        """
        n, L = len(y), self.links
        g, H = np.zeros(n), np.zeros((n, n))
        if L:
            inverse = np.linalg.inv(self.matrices(y))
            w = self.link_trust[:, None]
            g[: 10 * L] = (w * ((np.eye(4) - inverse).reshape(-1, 16) @ _FLAT.T)).ravel()
            kronecker = inverse[:, :, None, :, None] * inverse[:, None, :, None, :]
            blocks = w[..., None] * (_FLAT @ kronecker.reshape(-1, 16, 16) @ _FLAT.T)
            place = np.arange(10 * L).reshape(L, 10)
            H[place[:, :, None], place[:, None, :]] = blocks
        x = y[self.positive]
        g[self.positive] = self.positive_trust * (1.0 / self.positive_centre - 1.0 / x)
        H[self.positive, self.positive] = self.positive_trust / x**2
        g[self.signed] = self.signed_trust * y[self.signed]
        H[self.signed, self.signed] = self.signed_trust
        if len(self.walls):
            s = self.walls @ y + self.wall_base
            g += self.walls.T @ (self.wall_trust * (1.0 / self.wall_scale - 1.0 / s))
            H += (self.walls.T * (self.wall_trust / s**2)) @ self.walls
        return g, H

    def room(self, y: Array, dy: Array) -> float:
        """The largest multiple of a step that stays inside.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.
            dy: the step, shape (n,), dimensionless.

        Returns:
            The multiple, infinite where there is no edge.
        """
        lowest = 0.0
        if self.links:
            root = np.linalg.inv(np.linalg.cholesky(self.matrices(y)))
            lowest = float(np.linalg.eigvalsh(root @ self.matrices(dy) @ root.transpose(0, 2, 1)).min())
        lowest = min(lowest, float((dy[self.positive] / y[self.positive]).min(initial=0.0)))
        walls = (self.walls @ dy) / (self.walls @ y + self.wall_base) if len(self.walls) else np.zeros(0)
        lowest = min(lowest, float(walls.min(initial=0.0)))
        return -1.0 / lowest if lowest < 0.0 else np.inf


class DrawnPath:
    """Fits of one set of equations at falling strengths, each from where the last one ended."""

    def __init__(self, matrix: Array, target: Array, divergence: Divergence) -> None:
        """Take the equations.

        Args:
            matrix: A, shape (k, p), in units of the residual per SI.
            target: b, shape (k,), in units of the residual.
            divergence: what the fit is drawn to.
        """
        self.divergence = divergence
        self.A = matrix @ divergence.B
        self.b = target - matrix @ divergence.offset
        self.P = self.A.T @ self.A
        self.least = 1e-12 * float(target @ target) + float(np.finfo(float).tiny)
        self.y = divergence.start()
        self.inside = not len(divergence.C)

    def at(self, strength: float) -> DrawnFit:
        """Minimise for one strength, starting from the last one's minimiser.

        Args:
            strength: gamma, positive, in units of the squared residual.

        Returns:
            The fit.

        Raises:
            InputError: the strength is not positive.
            NoSolutionError: known sums leave no room for possible links.
            SolverError: the minimum was not reached.
        """
        if not (np.isfinite(strength) and strength > 0.0):
            raise InputError(f"must be a positive number, got {strength}.", place="strength")
        D, y = self.divergence, self.y
        value, gap, best_gap, stalled = np.inf, np.inf, np.inf, 0
        for step in range(STEPS):
            w = self.A @ y - self.b
            bend, H = D.derivatives(y)
            g = self.A.T @ w + 0.5 * strength * bend
            H = self.P + 0.5 * strength * H
            dy = self._newton(H, g, y)
            missing = float(np.abs(self.d_left(y)).max(initial=0.0))
            self.inside = missing <= 1e-9
            value = 0.5 * (float(w @ w) + strength * D.value(y))
            gap = float(abs(g @ dy)) / max(value, self.least)
            if self.inside and gap <= CLOSED:
                return self._fit(y, strength, gap, step)
            stalled = stalled + 1 if gap >= 0.5 * best_gap else 0
            best_gap = min(best_gap, gap)
            t = self._step_length(y, dy, g, value, strength)
            if self.inside and (t == 0.0 or stalled > 20) and gap <= REDUCED:
                return self._fit(y, strength, gap, step)
            if t == 0.0:
                break
            y = y + t * dy
        if not self.inside:
            raise NoSolutionError(
                "what is said to be known contradicts itself: no links that can exist have these sums.",
                place="prior",
                remedy="Check --total-mass and --mass against each other and against fixed parameters.",
            )
        raise SolverError(
            f"the fit at strength {strength:.3g} did not settle: {gap:.1e} of its objective is left.",
            evidence={"strength": strength, "gap": gap, "value": value},
        )

    def d_left(self, y: Array) -> Array:
        """What known sums miss, in units of themselves, shape (e,), dimensionless.

        Args:
            y: coordinates, shape (n,), dimensionless.

        Returns:
            The misses.
        """
        D = self.divergence
        if not len(D.C):
            return np.zeros(0)
        size = np.maximum(np.abs(D.C) @ np.abs(y) + np.abs(D.d), np.finfo(float).tiny)
        return np.asarray((D.d - D.C @ y) / size)

    def _newton(self, H: Array, g: Array, y: Array) -> Array:
        """The step, within known sums where there are any."""
        D = self.divergence
        scale = 1.0 / np.sqrt(np.diag(H))
        S = H * np.outer(scale, scale)
        try:
            factor = scipy.linalg.cho_factor(S, lower=True)
        except scipy.linalg.LinAlgError:
            # Singular up to round-off only: raised by round-off, which shortens steps.
            factor = scipy.linalg.cho_factor(S + 1e-13 * len(S) * np.eye(len(S)), lower=True)

        def solve(right: Array) -> Array:
            x = scipy.linalg.cho_solve(factor, right)
            return np.asarray(x + scipy.linalg.cho_solve(factor, right - S @ x))

        dy = solve(-scale * g)
        if len(D.C):
            C = D.C * scale
            left = D.d - D.C @ y
            half = np.column_stack([solve(row) for row in C])
            dy = dy + half @ np.linalg.lstsq(C @ half, left - C @ dy, rcond=None)[0]
        return np.asarray(scale * dy)

    def _step_length(self, y: Array, dy: Array, g: Array, value: float, strength: float) -> float:
        D = self.divergence
        t = min(1.0, _TO_THE_EDGE * D.room(y, dy))
        if not self.inside:
            return t  # Sums come first; a full step meets them for good.
        slope = float(g @ dy)
        while t > _SHORTEST:
            w = self.A @ (y + t * dy) - self.b
            after = 0.5 * (float(w @ w) + strength * D.value(y + t * dy))
            if after <= value + _ARMIJO * t * slope:
                return t
            t *= 0.5
        return 0.0

    def _fit(self, y: Array, strength: float, gap: float, steps: int) -> DrawnFit:
        self.y = y
        w = self.A @ y - self.b
        return DrawnFit(
            read_only(self.divergence.parameters(y)),
            strength,
            float(w @ w),
            self.divergence.value(y),
            gap,
            steps,
        )


def drawn_fits(
    matrix: Array, target: Array, divergence: Divergence, strengths: Sequence[float]
) -> list[DrawnFit]:
    """Fit at several strengths, from strong to weak.

    Args:
        matrix: A, shape (k, p), in units of the residual per SI.
        target: b, shape (k,), in units of the residual.
        divergence: what the fit is drawn to.
        strengths: gamma, positive, in any order.

    Returns:
        One fit for each, in the order given.

    Raises:
        InputError: a strength is not positive.
        NoSolutionError: known sums leave no room for possible links.
        SolverError: a minimum was not reached.
    """
    path = DrawnPath(matrix, target, divergence)
    found: dict[int, DrawnFit] = {}
    order: IntArray = np.argsort(-np.asarray(strengths, dtype=float), kind="stable")
    for k in order:
        found[int(k)] = path.at(float(strengths[int(k)]))
    return [found[k] for k in range(len(strengths))]
