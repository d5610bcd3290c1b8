r"""Torque signs and gravity directions that make the model fit far better when inverted.

A log is read in another way when two things hold. The residual deviations of all degrees of freedom together,
$\prod_k \sigma_k$, at least halve: one joint's residual halves and no other pays for it. And the likelihood
of normal noise, in which a sample that repeats its neighbour does not count, rises by a factor of at least
$e^{10}$, so that chance is no explanation for any of some twenty ways to read it. Nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrs, dpstrf

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.consistency import fit_feasible
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError
from steelyard.estimation.noise import effective_samples
from steelyard.estimation.physical import feasible_for
from steelyard.finding import Finding, Severity
from steelyard.problem import Problem, without_load

# Torque equations with inverted signs or another gravity, on a few samples
#
# Gravity enters the regressor linearly, $Y(g) = Y_0 + \sum_i g_i\,Y_i$, so every direction follows from five
# passes; the sign of a torque turns one column of a triangle. How well a flipped log can be explained is told
# by the residual deviations $\sigma_k$ of the degrees of freedom, each weighted by its own, with links that
# can exist: without that condition, the inverted torques of all joints fit as well as before, by negative
# masses.

MOST_SAMPLES = 1200
"""Samples looked at, evenly spread over the log."""
NOTHING = 1e-3
"""A residual below this share of the torque counts as none: models and solvers are no better."""
_ROUNDS, _RANK = 4, 1e-11
_PULLS = (1e-4, 1e-2)
_DUST = 1e-10


@dataclass(frozen=True, eq=False)
class SignFlip:
    """A way to read a log.

    Attributes:
        gravity: acceleration of free fall in the base frame, m/s².
        signs: what the torque of each degree of freedom is multiplied by, shape (nv,), dimensionless.
    """

    gravity: tuple[float, float, float]
    signs: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class FlippedEquations:
    """The equations of some samples of a log, for every way to read it.

    Attributes:
        problem: the question without load friction.
        chosen: the samples looked at, shape (n,), dimensionless.
    """

    problem: Problem
    chosen: IntArray

    @classmethod
    def of(cls, problem: Problem) -> FlippedEquations:
        """Take samples evenly spread over the log.

        Args:
            problem: the question, with its samples.
        """
        layout = without_load(problem.layout)
        prior = problem.prior
        if prior is not None and layout.size < problem.layout.size:
            prior = prior[[problem.layout.index(name) for name in layout.names]]
        n = problem.samples.n
        chosen = np.linspace(0, n - 1, min(n, MOST_SAMPLES)).round().astype(np.int64)
        return cls(replace(problem, layout=layout, prior=prior, compressed=None), chosen)

    @cached_property
    def torque(self) -> Array:
        """Root mean square torque, shape (nv,), N·m or N."""
        return np.asarray(np.sqrt((self.problem.samples.tau[self.chosen] ** 2).mean(axis=0)))

    @cached_property
    def alive(self) -> BoolArray:
        """Degrees of freedom that feel any torque, shape (nv,), dimensionless."""
        return np.asarray(self.torque > 0.0)

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """Y without gravity, shape (n, nv, p), and its slopes in gravity, shape (3, n, nv, p)."""
        at, robot, layout = self.problem.samples, self.problem.robot, self.problem.layout
        q, v, a = at.q[self.chosen], at.v[self.chosen], at.a[self.chosen]

        def rows(gravity: Array, v: Array, a: Array) -> Array:
            return torque_regressor(robot.with_gravity(gravity), layout, q, v, a, code="generic")

        still = rows(np.zeros(3), 0.0 * v, 0.0 * a)
        slopes = np.stack([rows(axis, 0.0 * v, 0.0 * a) - still for axis in np.eye(3)])
        return rows(np.zeros(3), v, a), slopes

    @cached_property
    def _triangles(self) -> dict[tuple[float, float, float], tuple[tuple[IntArray, Array], ...]]:
        return {}

    def regressor(self, flip: SignFlip) -> Array:
        """The regressor of the samples.

        Args:
            flip: how the log is read.

        Returns:
            Y, shape (n, nv, p), SI.
        """
        still, slopes = self._parts
        return np.asarray(still + np.tensordot(np.asarray(flip.gravity), slopes, 1))

    def levels(self, flip: SignFlip, start: Array | None = None, *, possible: bool) -> tuple[Array, Array]:
        """How well a way to read the log can be explained, each degree of freedom weighted by its own noise.

        Args:
            flip: how the log is read.
            start: a first guess of σ, shape (nv,), N·m or N; None for the torque itself.
            possible: by links that can exist; otherwise by any numbers, which is faster and never worse.

        Returns:
            σ, at least `NOTHING` of the torque, shape (nv,), N·m or N; and phi, shape (p,), SI.
        """
        least = np.where(self.alive, NOTHING * self.torque, 1.0)
        sigma = np.where(self.alive, self.torque, 1.0) if start is None else start
        for _ in range(_ROUNDS):
            phi = self._possible(flip, sigma) if possible else self._any(flip, sigma)
            before, sigma = sigma, np.where(self.alive, np.maximum(self._left(flip, phi), least), 1.0)
            if np.abs(np.log(sigma / before)).max() < 0.05:
                break
        return sigma, phi

    def _equations(self, flip: SignFlip) -> tuple[tuple[IntArray, Array], ...]:
        """Columns and triangle of each degree of freedom, the torque's column with its sign as logged."""
        if flip.gravity not in self._triangles:
            Y, tau = self.regressor(flip), self.problem.samples.tau[self.chosen]
            found = []
            for k in range(Y.shape[1]):
                columns = np.flatnonzero(Y[:, k].any(axis=0))
                equations = np.column_stack([Y[:, k, columns], tau[:, k]])
                found.append((columns, np.asarray(np.linalg.qr(equations, mode="r"))))
            self._triangles[flip.gravity] = tuple(found)
        return self._triangles[flip.gravity]

    def _left(self, flip: SignFlip, phi: Array) -> Array:
        lengths = [
            np.linalg.norm(T[:, :-1] @ phi[columns] - sign * T[:, -1])
            for sign, (columns, T) in zip(flip.signs, self._equations(flip), strict=True)
        ]
        return np.asarray(np.array(lengths) / np.sqrt(len(self.chosen)))

    def _any(self, flip: SignFlip, sigma: Array) -> Array:
        """Weighted least squares by normal equations, on columns that the data tells apart."""
        p, free = self.problem.layout.size, self.problem.layout.free
        G, g = np.zeros((p, p)), np.zeros(p)
        for k, (columns, T) in enumerate(self._equations(flip)):
            W = T[:, :-1] / sigma[k]
            G[np.ix_(columns, columns)] += W.T @ W
            g[columns] += flip.signs[k] / sigma[k] * (W.T @ T[:, -1])
        phi = np.array(self.problem.known)
        phi[free] = normal_solver(G[np.ix_(free, free)], _RANK)((g - G @ phi)[free])
        return phi

    def _possible(self, flip: SignFlip, sigma: Array) -> Array:
        p = self.problem.layout.size
        stacked = []
        for k, (columns, T) in enumerate(self._equations(flip)):
            rows = np.zeros((len(T), p + 1))
            rows[:, columns], rows[:, -1] = T[:, :-1] / sigma[k], flip.signs[k] / sigma[k] * T[:, -1]
            stacked.append(rows)
        R: Array = np.asarray(np.linalg.qr(np.vstack(stacked), mode="r"))
        possible = feasible_for(self.problem, R)
        # A flipped log drives masses to zero or far out, where the best body is hard to find or absent.
        # A pull to the reference costs less than `NOTHING` and finds a good one; no parameters are the limit.
        for pull in _PULLS:
            T = pull * float(np.linalg.norm(R[:, -1])) * possible.metric / possible.scales
            rows, target = np.vstack([R[:, :-1], T]), np.concatenate([R[:, -1], T @ possible.reference])
            try:
                return np.asarray(fit_feasible(rows, target, possible).parameters)
            except NoSolutionError:
                continue
        return np.array(self.problem.known)


def normal_solver(G: Array, least: float) -> Callable[[Array], Array]:
    """Solves normal equations by columns that tell something beyond those chosen before them.

    Pivots choose them; the other parameters are zero, which no residual feels. That is ten times cheaper than
    to find the directions that the data shows, and a diagnosis asks hundreds of times.

    Args:
        G: products of the columns, shape (p, p), SI.
        least: what a column must tell beyond the others, as a share of its square.

    Returns:
        Takes products of the columns with right sides, shape (p,) or (p, m), SI, and gives the parameters.
    """
    norms = np.sqrt(np.diag(G))
    # Infinite for a column that is rounding alone and explains nothing.
    scale = np.where(norms > _DUST * norms.max(), norms, np.inf)
    scaled = G / np.outer(scale, scale)
    factor, order, rank, _ = dpstrf(scaled, tol=least * np.abs(scaled).sum(axis=0).max())
    kept = order[:rank] - 1
    R = np.asfortranarray(factor[:rank, :rank])

    def solve(g: Array) -> Array:
        x = np.zeros(g.shape)
        if rank:
            right = g[kept].reshape(rank, -1) / scale[kept, None]
            x[kept] = (dpotrs(R, right)[0] / scale[kept, None]).reshape(g[kept].shape)
        return x

    return solve


HALVED = float(np.log(2.0))
"""Least fall of the logarithm of the product of residuals for a log to be read in another way."""
OVERWHELMING = 10.0
"""Least rise of the logarithm of the likelihood."""
_FREE_FALL = 9.80665
_MOST_PROMISING = 6


@dataclass(frozen=True)
class SignCheck:
    """How a log is read best, as far as signs and gravity go.

    Attributes:
        findings: one for each sign or direction that should be inverted; none where the log is best as it is.
        gravity: acceleration of free fall in the base frame, m/s².
        signs: what the torque of each degree of freedom is multiplied by, dimensionless.
        before: unexplained torque as the log stands, percent of its rms.
        after: the same as it is read best, percent.
    """

    findings: tuple[Finding, ...]
    gravity: tuple[float, float, float]
    signs: tuple[float, ...]
    before: float
    after: float


def sign_checks(problem: Problem) -> SignCheck:
    """Say which torque signs, or which direction of gravity, would explain a log far better than the stated.

    Signs of single joints and of all joints are tried, gravity along each axis of the base frame, and none at
    all; one after the other, each kept while it helps. At most `MOST_SAMPLES` samples are looked at. A joint
    whose torque the model hardly explains either way is not named: a weak motion hides its own mistakes.

    Args:
        problem: the question, with its samples.

    Returns:
        What should be inverted.

    Raises:
        InputError: the samples were not kept.
        RecordingError: the problem was posed without accelerations.
    """
    equations = FlippedEquations.of(problem)
    g = problem.robot.gravity
    now = SignFlip((float(g[0]), float(g[1]), float(g[2])), (1.0,) * problem.robot.nv)
    stated, (sigma, _) = now, equations.levels(now, possible=True)
    worst = sigma
    while (better := _best(equations, now, sigma)) is not None:
        now, sigma = better
    findings = tuple(_findings(problem, equations, stated, now, worst, sigma))
    share = [100.0 * float(np.linalg.norm(x[equations.alive])) for x in (worst, sigma)]
    torque = float(np.linalg.norm(equations.torque)) or 1.0
    return SignCheck(findings, now.gravity, now.signs, share[0] / torque, share[1] / torque)


def _best(equations: FlippedEquations, now: SignFlip, sigma: Array) -> tuple[SignFlip, Array] | None:
    """The flip that explains most, and its residuals; None where none is overwhelming."""
    found: tuple[SignFlip, Array] | None = None
    most = 0.0
    flips = list(_neighbours(equations, now))
    bounds = [equations.levels(flip, possible=False)[0] for flip in flips]
    # To flip signs and gravity at once must explain as much more as any other flip: a single link under
    # another gravity is a link with another centre of mass.
    dues = [HALVED if t.gravity != now.gravity and t.signs != now.signs else 0.0 for t in flips]
    promise = [_gain(sigma, bound) - due for bound, due in zip(bounds, dues, strict=True)]
    for i in np.argsort(-np.array(promise), kind="stable")[:_MOST_PROMISING]:
        if promise[i] < max(HALVED, most):
            break
        level, phi = equations.levels(flips[i], bounds[i], possible=True)
        counted = _counted(equations, flips[i], phi)
        sure = float(counted @ np.log(sigma / level)) >= OVERWHELMING
        gain = _gain(sigma, level) - dues[i]
        if sure and gain >= max(HALVED, most):
            found, most = (flips[i], level), gain
    return found


def _neighbours(equations: FlippedEquations, now: SignFlip) -> Iterator[SignFlip]:
    for k in np.flatnonzero(equations.alive):
        yield replace(now, signs=tuple(-s if i == k else s for i, s in enumerate(now.signs)))
    flipped = tuple(-s for s in now.signs)
    if len(flipped) > 1:
        yield replace(now, signs=flipped)
    size = float(np.linalg.norm(equations.problem.robot.gravity)) or _FREE_FALL
    for axis in (*np.eye(3), *-np.eye(3), np.zeros(3)):
        x, y, z = (float(c) for c in size * axis)
        if not np.allclose((x, y, z), now.gravity):
            yield SignFlip((x, y, z), now.signs)
            yield SignFlip((x, y, z), flipped)


def _gain(before: Array, after: Array) -> float:
    return float(np.log(before / after).sum())


def _counted(equations: FlippedEquations, flip: SignFlip, phi: Array) -> Array:
    """Samples of each degree of freedom that do not repeat their neighbours, less those that phi takes."""
    tau = np.asarray(flip.signs) * equations.problem.samples.tau[equations.chosen]
    left = tau - equations.regressor(flip) @ phi
    counted = effective_samples(left, NOTHING * equations.torque)
    return np.asarray(np.maximum(counted - equations.problem.base.count / len(counted), 0.0))


def _findings(
    problem: Problem,
    equations: FlippedEquations,
    stated: SignFlip,
    now: SignFlip,
    before: Array,
    after: Array,
) -> Iterator[Finding]:
    names = [joint.name for joint in problem.robot.joints for _ in range(joint.nv)]
    most = int(np.argmax(np.log(before / after)))
    share = 100.0 * np.array([before[most], after[most]]) / max(equations.torque[most], np.finfo(float).tiny)
    fit = f"what is left of the torque of {names[most]} falls from {share[0]:.3g} % to {share[1]:.3g} %"
    flipped = [k for k, sign in enumerate(now.signs) if sign < 0.0]
    if flipped and len(flipped) == int(equations.alive.sum()) and len(flipped) > 1:
        yield _sign("the torques of all joints fit", "tau", fit, "-")
    else:
        for k in flipped:
            # One option states them all: it replaces, it does not add.
            signs = ",".join(f"{names[j]}=-1" for j in flipped)
            yield _sign("its torque fits", names[k], fit, signs)
    if now.gravity != stated.gravity:
        yield Finding(
            Severity.ERROR,
            "gravity-direction",
            f"the log fits far better with gravity {_direction(now.gravity)} of the base frame than "
            f"{_direction(stated.gravity)}: {fit}. State how the base is mounted: --gravity "
            f"{','.join(f'{x + 0.0:.4g}' for x in now.gravity)}"
            + ("." if any(now.gravity) else ", or log torques from which gravity is not taken off."),
            "gravity",
        )


def _sign(what: str, place: str, fit: str, signs: str) -> Finding:
    message = (
        f"{what} far better with the sign turned: {fit}. Where the log's convention is the other, give "
        f"--torque-sign {signs}."
    )
    return Finding(Severity.ERROR, "torque-sign", message, place)


def _direction(gravity: Sequence[float]) -> str:
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return "along no axis"
    for axis, component in zip("xyz", gravity, strict=True):
        if abs(component) > (1.0 - 1e-9) * size:
            return f"along {'+' if component > 0.0 else '-'}{axis}"
    return f"along ({', '.join(f'{x:.3g}' for x in gravity)})"
