r"""Least squares drawn towards what is known beforehand, for one strength or along a path of strengths.

$$\min_\phi\; \lVert A\phi - b \rVert^2 + \gamma\, D(\phi), \qquad
  D = \sum_i w_i \left(\mathrm{tr}\,M_i - \log\det M_i - 4\right)
    + \sum_k w_k \left(\frac{\phi_k}{\phi_{0k}} - \log\frac{\phi_k}{\phi_{0k}} - 1\right)
    + \sum_m \frac{w_m}{2} \left(\frac{\phi_m - \phi_{0m}}{s_m}\right)^2
    + \sum_r w_r \left(\frac{g_r^T\phi + h_r}{\bar s_r} - \log\frac{g_r^T\phi + h_r}{\bar s_r} - 1\right)$$

with $M_i = J_{0i}^{-1/2} J_i J_{0i}^{-T/2}$ for links i (the divergence of Lee, Wensing and Park 2020, which
no frame and no unit changes), drive terms k that cannot be negative, terms m of either sign, and walls r such
as a face of a link's hull, or friction per load that stays below 1. Known sums $C\phi = d$ hold exactly.

D is a self-concordant barrier of the possible with a linear term, so the objective is strictly convex and its
minimiser lies strictly inside. Newton's method on phi alone reaches it from anywhere, but crawls along the
edge where the pull is weak and torques ask for what no body has. On phi and the multipliers
$Z = \tfrac\gamma2 w S^{-1}$ of the slacks S together it does not, so that comes first, and Newton's method on
phi then closes and proves the rest: its decrement bounds what is left. Coordinates in which the prior is the
identity make the barrier's Hessian one there; a path from a strong to a weak pull starts each strength where
the last one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

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
CENTRAL_STEPS = 60
"""Steps on parameters and multipliers together, before those on parameters alone."""
CLOSED = 1e-10
"""What the objective may be above its minimum, relative to itself, dimensionless."""
REDUCED = 1e-7
"""The same where round-off leaves no more to gain."""
_TO_THE_EDGE = 0.95
_LONGEST = 10.0
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


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers of the slacks: of links, of drive terms that cannot be negative, and of walls.

    Attributes:
        matrices: of links, positive definite, shape (L, 4, 4).
        numbers: of drive terms, then of walls, positive, shape (k,).
    """

    matrices: Array
    numbers: Array

    def times(self, factor: float) -> Multipliers:
        """All of them, longer.

        Args:
            factor: by how much.

        Returns:
            The multiples.
        """
        return Multipliers(factor * self.matrices, factor * self.numbers)

    def plus(self, change: Multipliers, length: float) -> Multipliers:
        """They and a change of them.

        Args:
            change: the change.
            length: how much of it.

        Returns:
            The sum.
        """
        return Multipliers(self.matrices + length * change.matrices, self.numbers + length * change.numbers)

    def room(self, change: Multipliers) -> float:
        """The largest multiple of a change that keeps them positive.

        Returns:
            The multiple, infinite where there is no edge.
        """
        lowest = float((change.numbers / self.numbers).min(initial=0.0))
        return _room(lowest, self.matrices, change.matrices)


def _room(lowest: float, matrices: Array, changes: Array) -> float:
    """The largest multiple that keeps matrices positive, and numbers with a given lowest relative change."""
    if len(matrices):
        try:
            root = np.linalg.inv(np.linalg.cholesky(matrices))
        except np.linalg.LinAlgError:  # On the edge up to round-off: there is no room.
            return 0.0
        lowest = min(lowest, float(np.linalg.eigvalsh(root @ changes @ root.transpose(0, 2, 1)).min()))
    return -1.0 / lowest if lowest < 0.0 else np.inf


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
        known = np.where(free, 0.0, np.nan_to_num(layout.nominal))
        B, offset = np.zeros((layout.size, n)), known.copy()
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
        self.wall_base = prior.walls @ offset + prior.wall_offsets
        self.wall_scale, self.wall_trust = prior.wall_sizes, prior.wall_trust
        fixed = np.flatnonzero(~free & (np.abs(B).max(axis=1, initial=0.0) > 0.0))
        C = np.vstack([np.eye(layout.size)[fixed], prior.sums])
        d = np.concatenate([known[fixed], prior.totals])
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
        """The whitened pseudo-inertias of coordinates, or of a change of them.

        Args:
            y: coordinates, shape (n,), dimensionless.

        Returns:
            M, shape (L, 4, 4), dimensionless.
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
        """Gradient and Hessian of D.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.

        Returns:
            The gradient, shape (n,), and the Hessian, shape (n, n), dimensionless.
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
        numbers = self._numbers(dy, change=True) / self._numbers(y)
        return _room(float(numbers.min(initial=0.0)), self.matrices(y), self.matrices(dy))

    def logarithms(self, y: Array, dy: Array) -> tuple[Array, Array]:
        r"""The logarithms of D along a step: $-\sum_j w_j \log(1 + t\mu_j)$ for a multiple t of it.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.
            dy: the step, shape (n,), dimensionless.

        Returns:
            Slopes mu, shape (j,), and weights w, shape (j,), dimensionless; the edge is at t = -1 / min(mu).
        """
        links: Array = np.zeros((0, 4))
        if self.links:
            root = np.linalg.inv(np.linalg.cholesky(self.matrices(y)))
            turned = root @ self.matrices(dy) @ root.transpose(0, 2, 1)
            links = np.asarray(np.linalg.eigvalsh(turned), dtype=np.float64)
        slopes = np.concatenate([links.ravel(), self._numbers(dy, change=True) / self._numbers(y)])
        weights = np.concatenate([np.repeat(self.link_trust, 4), self.positive_trust, self.wall_trust])
        return slopes, weights

    def _numbers(self, y: Array, *, change: bool = False) -> Array:
        """The slacks of drive terms and walls, or how they change with a step, shape (k,)."""
        return np.concatenate([y[self.positive], self.walls @ y + (0.0 if change else 1.0) * self.wall_base])

    def linear(self, half: float) -> Array:
        """The gradient of the linear part of D, times half the strength.

        Args:
            half: half the strength.

        Returns:
            The gradient, shape (n,), dimensionless.
        """
        g = np.zeros(self.B.shape[1])
        g[: 10 * self.links] = (self.link_trust[:, None] * (_FLAT @ np.eye(4).ravel())).ravel()
        g[self.positive] = self.positive_trust / self.positive_centre
        return np.asarray(half * (g + self.walls.T @ (self.wall_trust / self.wall_scale)))

    def multipliers(self, y: Array, half: float) -> Multipliers:
        """The multipliers that belong to coordinates at the minimiser.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.
            half: half the strength.

        Returns:
            Half the strength times trust times the inverse slacks.
        """
        trust = np.concatenate([self.positive_trust, self.wall_trust])
        matrices = np.linalg.inv(self.matrices(y)) * self.link_trust[:, None, None]
        return Multipliers(half * matrices, half * trust / self._numbers(y))

    def adjoint(self, Z: Multipliers) -> Array:
        """The pull of multipliers on coordinates.

        Returns:
            The pull, shape (n,), dimensionless.
        """
        g = np.zeros(self.B.shape[1])
        g[: 10 * self.links] = (Z.matrices.reshape(-1, 16) @ _FLAT.T).ravel()
        positive = len(self.positive)
        g[self.positive] = Z.numbers[:positive]
        return np.asarray(g + self.walls.T @ Z.numbers[positive:])

    def paired(self, y: Array, Z: Multipliers) -> float:
        """The inner product of slacks and multipliers.

        Args:
            y: coordinates, shape (n,), dimensionless.
            Z: the multipliers.

        Returns:
            The product.
        """
        return float(np.vdot(self.matrices(y), Z.matrices) + self._numbers(y) @ Z.numbers)

    def curvature(self, y: Array, Z: Multipliers) -> Array:
        """The Hessian that slacks and multipliers make together.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.
            Z: the multipliers.

        Returns:
            The matrix, shape (n, n), dimensionless.
        """
        n, L = len(y), self.links
        H = np.zeros((n, n))
        if L:
            inverse = np.linalg.inv(self.matrices(y))
            kronecker = inverse[:, :, None, :, None] * Z.matrices[:, None, :, None, :]
            blocks = _FLAT @ kronecker.reshape(-1, 16, 16) @ _FLAT.T
            place = np.arange(10 * L).reshape(L, 10)
            H[place[:, :, None], place[:, None, :]] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
        diagonal = Z.numbers / self._numbers(y)
        positive = len(self.positive)
        H[self.positive, self.positive] += diagonal[:positive]
        return np.asarray(H + (self.walls.T * diagonal[positive:]) @ self.walls)

    def multiplier_step(
        self, y: Array, dy: Array, Z: Multipliers, target: Multipliers, aim: float
    ) -> Multipliers:
        """How the multipliers follow a step of the coordinates.

        Args:
            y: coordinates strictly inside, shape (n,), dimensionless.
            dy: the step, shape (n,), dimensionless.
            Z: the multipliers.
            target: those that belong to y at the minimiser.
            aim: which multiple of them is aimed at.

        Returns:
            Their step.
        """
        inverse = np.linalg.inv(self.matrices(y))
        product = inverse @ self.matrices(dy) @ Z.matrices
        product = 0.5 * (product + product.transpose(0, 2, 1))
        relative = self._numbers(dy, change=True) / self._numbers(y)
        return Multipliers(
            aim * target.matrices - Z.matrices - product,
            aim * target.numbers - Z.numbers - relative * Z.numbers,
        )


def _root(bend: Array) -> Array:
    """F with F'F = bend, for a bend that is positive definite up to round-off."""
    values, vectors = np.linalg.eigh(bend / np.sqrt(np.outer(np.diag(bend), np.diag(bend))))
    F = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return np.asarray(F * np.sqrt(np.diag(bend)))


@dataclass(frozen=True, eq=False)
class _Descent:
    """Where Newton's method ended: coordinates, what is left relative to the objective, steps."""

    y: Array
    gap: float
    steps: int
    settled: bool


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
        self.Z: Multipliers | None = None
        self.moved = False
        self.inside = not len(divergence.C)

    def at(self, strength: float) -> DrawnFit:
        """Minimise for one strength, starting from the last one's minimiser.

        Args:
            strength: gamma, positive, in units of the squared residual.

        Raises:
            InputError: the strength is not positive.
            NoSolutionError: known sums leave no room for possible links.
            SolverError: the minimum was not reached.
        """
        if not (np.isfinite(strength) and strength > 0.0):
            raise InputError(f"must be a positive number, got {strength}.", place="strength")
        end = self._descended(self._central(strength), strength, CLOSED)
        if not end.settled and self.moved:
            self.y, self.Z, self.moved = self.divergence.start(), None, False
            end = self._descended(self._central(strength), strength, CLOSED)
        if not end.settled:
            # Rare: equations far beyond the pull. From the prior, by a pull that falls from theirs.
            y = self.divergence.start()
            w, order = self.A @ y - self.b, max(self.divergence.order, 1e-3)
            falling = strength * 10.0 ** np.arange(
                np.log10(max(float(w @ w) / order / strength, 1.0)), 0.0, -1.0
            )
            for stronger in falling:
                y = self._descended(y, float(stronger), REDUCED).y
            end = self._descended(y, strength, CLOSED)
        if end.settled:
            return self._fit(end.y, strength, end.gap, end.steps)
        if not self.inside:
            raise NoSolutionError(
                "what is said to be known contradicts itself: no links that can exist have these sums.",
                place="prior",
                remedy="Check --total-mass and --mass against each other and against fixed parameters.",
            )
        raise SolverError(
            f"the fit at strength {strength:.3g} did not settle: {end.gap:.1e} of its objective is left.",
            evidence={"strength": strength, "gap": end.gap},
        )

    def _descended(self, y: Array, strength: float, closed: float) -> _Descent:
        """Newton's method on the coordinates, until its decrement is within what may be left."""
        D, gap, best_gap, stalled, careful = self.divergence, np.inf, np.inf, 0, False
        for step in range(STEPS):
            w = self.A @ y - self.b
            bend, H = D.derivatives(y)
            g = self.A.T @ w + 0.5 * strength * bend
            dy = self._newton(0.5 * strength * H, g, y, careful=careful)
            missing = float(np.abs(self._missed(y)).max(initial=0.0))
            self.inside = missing <= 1e-9
            value = 0.5 * (float(w @ w) + strength * D.value(y))
            if not np.isfinite(value):
                return _Descent(y, np.inf, step, settled=False)
            gap = float(abs(g @ dy)) / max(value, self.least)
            if self.inside and gap <= closed:
                return _Descent(y, gap, step, settled=True)
            stalled = stalled + 1 if gap >= 0.5 * best_gap else 0
            best_gap = min(best_gap, gap)
            t = self._step_length(y, dy, g, strength)
            if t == 0.0 or stalled > 20:
                if (self.inside and gap <= REDUCED) or (t == 0.0 and careful):
                    return _Descent(y, gap, step, settled=self.inside and gap <= REDUCED)
                careful, stalled = True, 0
            y = y + t * dy
        return _Descent(y, gap, STEPS, settled=False)

    def _central(self, strength: float) -> Array:
        """Coordinates near the minimiser, by steps on them and the multipliers of all slacks together."""
        D, y, half = self.divergence, self.y, 0.5 * strength
        target = D.multipliers(y, half)
        if self.Z is None:
            w = self.A @ y - self.b
            self.Z = target.times(max(1.0, 0.1 * float(w @ w) / max(half * D.order, self.least)))
        Z, steady, cut = self.Z, D.linear(half), 0.1
        for _ in range(CENTRAL_STEPS):
            g = self.A.T @ (self.A @ y - self.b) + steady
            g[D.signed] += half * D.signed_trust * y[D.signed]
            target = D.multipliers(y, half)
            ratio = D.paired(y, Z) / max(half * D.order, float(np.finfo(float).tiny))
            aim = max(1.0, cut * ratio)
            bend = D.curvature(y, Z)
            bend[D.signed, D.signed] += half * D.signed_trust
            dy = self._newton(bend, g - aim * D.adjoint(target), y)
            dZ = D.multiplier_step(y, dy, Z, target, aim)
            t = min(1.0, _TO_THE_EDGE * min(D.room(y, dy), Z.room(dZ)))
            y, Z = y + t * dy, Z.plus(dZ, t)
            # Where the edge stops a step short, the next one makes room before it goes on.
            cut = 0.1 if t > 0.5 else 0.3 if t > 0.2 else 1.0
            left = np.abs(g - D.adjoint(Z)).max(initial=0.0)
            if t == 1.0 and aim == 1.0 and abs(ratio - 1.0) < 1e-2 and left <= 1e-2 * np.abs(g).max():
                break
            if t < _SHORTEST:
                break
        if not np.isfinite(D.value(y)):
            self.Z = None
            return self.y
        self.Z = Z
        return y

    def _missed(self, y: Array) -> Array:
        """What known sums miss, in units of the prior's parts of them, shape (e,), dimensionless."""
        D = self.divergence
        if not len(D.C):
            return np.zeros(0)
        # Coordinates are one where the prior is; a sum may be of parts that are all zero there.
        size = np.maximum(np.abs(D.C) @ (1.0 + np.abs(y)) + np.abs(D.d), np.finfo(float).tiny)
        return np.asarray((D.d - D.C @ y) / size)

    def _newton(self, bend: Array, g: Array, y: Array, *, careful: bool = False) -> Array:
        """The step for the Hessian A'A + bend, within known sums where there are any.

        Squaring A loses what a pull far below the noise has to say; factoring A beside the root of the bend,
        which takes ten times as long, does not. It is done on request and where the quick way breaks down.
        """
        D = self.divergence
        H = self.P + bend
        scale = 1.0 / np.sqrt(np.diag(H))
        S = H * np.outer(scale, scale)
        rows: Array | None = None
        try:
            factor = None if careful else scipy.linalg.cho_factor(S)
        except scipy.linalg.LinAlgError:
            factor = None
        if factor is None:
            rows = np.vstack([self.A, _root(bend)]) * scale
            factor = np.linalg.qr(rows, mode="r"), False

        def solve(right: Array) -> Array:
            x = scipy.linalg.cho_solve(factor, right)
            left = right - (S @ x if rows is None else rows.T @ (rows @ x))
            return np.asarray(x + scipy.linalg.cho_solve(factor, left))

        dy = solve(-scale * g)
        if len(D.C):
            C = D.C * scale
            left = D.d - D.C @ y
            half = np.column_stack([solve(row) for row in C])
            dy = dy + half @ np.linalg.lstsq(C @ half, left - C @ dy, rcond=None)[0]
        return np.asarray(scale * dy)

    def _step_length(self, y: Array, dy: Array, g: Array, strength: float) -> float:
        r"""Where the objective is least along the step, 0 where it does not fall.

        Its derivative there,

        $$g^T dy + t\,\lVert A\,dy \rVert^2 + \frac\gamma2 \sum_m w_m\,t\,dy_m^2
          + \frac\gamma2 \sum_j w_j\,\frac{t\mu_j^2}{1 + t\mu_j},$$

        rises with t, and nothing in it cancels, where differences of the objective drown in the round-off of
        a large residual.
        """
        D = self.divergence
        mu, w = D.logarithms(y, dy)
        lowest = float(mu.min(initial=0.0))
        most = -_TO_THE_EDGE / lowest if lowest < 0.0 else np.inf
        if not self.inside:
            return min(1.0, most)  # Sums come first; a full step meets them for good.
        slope, change = float(g @ dy), self.A @ dy
        if slope >= 0.0:
            return 0.0
        bend = float(change @ change) + 0.5 * strength * float(D.signed_trust @ dy[D.signed] ** 2)

        def rise(t: float) -> float:
            return slope + t * (bend + 0.5 * strength * float(w @ (mu**2 / (1.0 + t * mu))))

        longest = min(most, _LONGEST)
        if rise(longest) <= 0.0:
            return float(longest)
        return float(scipy.optimize.brentq(rise, 0.0, longest, xtol=1e-3 * min(1.0, longest)))

    def _fit(self, y: Array, strength: float, gap: float, steps: int) -> DrawnFit:
        self.y, self.Z, self.moved = y, self.divergence.multipliers(y, 0.5 * strength), True
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
