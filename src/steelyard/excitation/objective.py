"""What a motion is worth, with the exact gradient in the unknowns, and barriers at its limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import regressor_adjoint, torque_regressor
from steelyard.excitation.problem import ClearanceModel, DesignProblem, Ranges, some_pairs
from steelyard.excitation.unknowns import Unknowns
from steelyard.identifiable import Criterion, Information, score
from steelyard.motion import Motion
from steelyard.robot import Robot

# A logarithmic barrier with an end: what is far from its limit costs nothing.
#
# $$\varphi(u) = -(1 - u)^3 \log u \quad\text{for } 0 < u < 1, \qquad \varphi(u) = 0 \quad\text{for } u \ge
# 1,$$
#
# with u the distance from the limit over the range of the barrier. It is infinite at the limit and has two
# continuous derivatives.


def barrier(distance: Array) -> tuple[float, Array]:
    """The sum of the barriers of many distances, and its slope in each.

    Args:
        distance: u, any shape, dimensionless.

    Returns:
        The sum, infinite where a distance is not positive, and the slopes, same shape, dimensionless.
    """
    slope = np.zeros_like(distance)
    near = distance < 1.0
    u = distance[near]
    if not u.size:
        return 0.0, slope
    if u.min() <= 0.0:
        return np.inf, slope
    log, far = np.log(u), 1.0 - u
    slope[near] = 3.0 * far**2 * log - far**3 / u
    return float(-(far**3) @ log), slope


# Smooth stand-ins for the criteria, on a logarithmic scale, to be made small.
#
# At an optimum of the condition number several eigenvalues are equal, and its gradient jumps from one to the
# other. Power means of the eigenvalues have no kinks and tend to it as their power grows; a search raises the
# power step by step.

CONDITIONS = (Criterion.COND, Criterion.COND_NORMALISED, Criterion.COND_ORTHONORMAL)
"""Criteria that are condition numbers, in different coordinates of the parameters."""


class Surrogate(NamedTuple):
    """A smooth function of the information.

    Attributes:
        value: dimensionless; infinite where the information is blind in some direction.
        gradient: its derivative in G, symmetric, shape (b, b), SI.
    """

    value: float
    gradient: Array


def surrogate(criterion: Criterion, gram: Array, power: float, coordinates: Array | None = None) -> Surrogate:
    r"""The logarithm of a criterion, with a power mean in place of a largest or smallest eigenvalue.

    D counts as $-\log\det G / b$ and E as $\tfrac1p\log\operatorname{tr} G^{-p}$, so that less is better for
    all.

    Args:
        criterion: which one.
        gram: G, shape (b, b), SI.
        power: p of the power mean, dimensionless; criteria without kinks do not need it.
        coordinates: L with beta = L z for `cond-orthonormal`, shape (b, b), SI.

    Returns:
        The value and its gradient in G.
    """
    if criterion in CONDITIONS:
        return _log_condition(criterion, gram, power, coordinates)
    if criterion is Criterion.E:
        return _log_largest_variance(gram, power)
    judged = score(criterion, Information(gram, squared=True))
    if criterion is Criterion.D:
        b = len(gram)
        return Surrogate(-judged.value / b, -judged.gradient / b)
    return Surrogate(float(np.log(judged.value)), judged.gradient / judged.value)


def _log_condition(criterion: Criterion, G: Array, power: float, L: Array | None) -> Surrogate:
    r"""In coordinates $\hat G = L^T G L$ the gradient is $L \hat S L^T$; what normalises depends on G too."""
    if criterion is Criterion.COND:
        judged = Information(G, squared=True).smooth_condition(power)
        return Surrogate(float(np.log(judged.value)), judged.gradient / judged.value)
    if criterion is Criterion.COND_ORTHONORMAL and L is not None:
        judged = Information(L.T @ G @ L, squared=True).smooth_condition(power)
        return Surrogate(float(np.log(judged.value)), L @ judged.gradient @ L.T / judged.value)
    lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
    if not lengths.all():
        return Surrogate(np.inf, np.full_like(G, np.nan))
    N = 1.0 / lengths
    normalised = G * np.outer(N, N)
    judged = Information(normalised, squared=True).smooth_condition(power)
    S = judged.gradient / judged.value
    S = S * np.outer(N, N) - np.diag(N**2 * np.einsum("ij,ji->i", S, normalised))
    return Surrogate(float(np.log(judged.value)), S)


def _log_largest_variance(G: Array, power: float) -> Surrogate:
    spectrum = Information(G, squared=True).spectrum()
    if spectrum.blind:
        return Surrogate(np.inf, np.full_like(G, np.nan))
    x, V = spectrum.values, spectrum.vectors
    low = (x[-1] / x) ** power
    value = float(np.log(low.sum()) / power - np.log(x[-1]))
    return Surrogate(value, -(V * (low / (low.sum() * x))) @ V.T)


# What a motion is worth, with the exact gradient in the unknowns.
#
# With the base regressor $W$ of all samples, rows over the torque noise, the information is $G = W^T W + G_0$
# and a criterion F has the gradient $\partial F/\partial W = 2 W S$, which the adjoint of the regressor takes
# to position, velocity and acceleration of every sample, and the basis of the family to the unknowns. While
# searching, Coulomb friction counts with tanh(v/w) in place of sign(v), which has no slope.

SIGN_WIDTH = 0.03
"""w of tanh(v/w), rad/s or m/s."""
TORQUE_RANGE = 0.1
"""Share of a torque limit within which its barrier acts."""


class ObjectiveStage(NamedTuple):
    """How sharp the search looks.

    Attributes:
        power: of the power means in place of largest and smallest eigenvalues.
        barrier: weight of the limits' barriers.
    """

    power: float
    barrier: float


@dataclass(frozen=True, eq=False)
class Objective:
    """The criterion, and the torque limits where they count, as a function of the unknowns.

    Attributes:
        problem: the question.
        unknowns: in which coordinates.
        code: of the dynamics' kernels, see `torque_regressor`.
    """

    problem: DesignProblem
    unknowns: Unknowns
    code: str = "generic"

    @cached_property
    def _bases(self) -> tuple[Array, Array, Array]:
        """Of position, velocity and acceleration in the unknowns, each (N, n)."""
        basis, D = self.unknowns.family.basis(self.problem.times), self.unknowns.directions
        return basis.q @ D, basis.v @ D, basis.a @ D

    @cached_property
    def _still(self) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at x = 0, each (N, nv)."""
        basis, c = self.unknowns.family.basis(self.problem.times), self.unknowns.middle
        return basis.q @ c.T, basis.v @ c.T, basis.a @ c.T

    @cached_property
    def _coulomb(self) -> tuple[IntArray, IntArray]:
        """Degrees of freedom with Coulomb friction, and its column for each."""
        columns = self.problem.layout.drive_columns[:, 1]
        dofs = np.flatnonzero(columns >= 0)
        return dofs, columns[dofs]

    @cached_property
    def _rows(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """For each joint the base columns its torque can depend on: their places in the base and in Y."""
        robot, layout, columns = self.problem.robot, self.problem.layout, self.problem.base.columns
        owners = [layout.parameters[c].owner for c in columns]
        rows = []
        for k, joint in enumerate(robot.joints):
            moved = {joint.name, *(robot.link_names[i] for i in range(robot.nv) if _carries(robot, k, i))}
            places = np.array([b for b, owner in enumerate(owners) if owner in moved], dtype=np.int64)
            rows.append((places, columns[places]))
        return tuple(rows)

    @cached_property
    def recorded(self) -> Array | None:
        """G_0 in the columns of the base parameters, (b, b)."""
        if self.problem.recorded is None:
            return None
        columns = self.problem.base.columns
        return self.problem.recorded[np.ix_(columns, columns)]

    @cached_property
    def coordinates(self) -> Array | None:
        """L of the orthonormal basis, (b, b), where the criterion asks for it."""
        if self.problem.criterion is not Criterion.COND_ORTHONORMAL:
            return None
        return np.asarray(np.linalg.qr(self.problem.base.matrix.T, mode="r")).T

    def sampled(self, x: Array) -> tuple[Array, Array, Array]:
        """The motion at the samples.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            q, v and a, each shape (N, nv), SI.
        """
        c = (self.unknowns.scales[:, None] * x).T
        q, v, a = (still + B @ c for still, B in zip(self._still, self._bases, strict=True))
        return q, v, a

    def gradient(self, x: Array, stage: ObjectiveStage) -> tuple[float, Array]:
        """The surrogate and its gradient.

        Args:
            x: unknowns, shape (nv, n), dimensionless.
            stage: how sharp to look.

        Returns:
            The value, infinite where the motion is blind or a torque is over its limit, and the gradient,
            shape (nv, n), dimensionless.
        """
        problem = self.problem
        q, v, a = self.sampled(x)
        Y = torque_regressor(problem.robot, problem.layout, q, v, a, code=self.code)
        dofs, coulomb = self._coulomb
        smooth_sign = np.tanh(v[:, dofs] / SIGN_WIDTH)
        Y[:, dofs, coulomb] = smooth_sign
        G, W = self._gram(Y)
        judged = surrogate(problem.criterion, G, stage.power, self.coordinates)
        value = judged.value
        if not np.isfinite(value):
            return np.inf, np.zeros_like(x)
        weights = np.zeros_like(Y)
        for k, (places, columns) in enumerate(self._rows):
            S = judged.gradient[np.ix_(places, places)]
            weights[:, k, columns] = W[k] @ (2.0 * self._precision[k] * S)
        if problem.parameters is not None:
            over, pull = self._torque_barrier(Y @ problem.parameters)
            if not np.isfinite(over):
                return np.inf, np.zeros_like(x)
            value += stage.barrier * over
            weights += (stage.barrier * pull)[:, :, None] * problem.parameters
        slope = regressor_adjoint(problem.robot, problem.layout, weights, q, v, a, code=self.code)
        v_bar = slope.v.copy()
        v_bar[:, dofs] += weights[:, dofs, coulomb] * (1.0 - smooth_sign**2) / SIGN_WIDTH
        return value, self._in_unknowns(slope.q, v_bar, slope.a)

    def information(self, motion: Motion) -> Information:
        """What a motion will have shown, together with what is recorded; Coulomb friction with sign(v).

        Args:
            motion: any motion of the robot.

        Returns:
            The information about the base parameters.
        """
        problem = self.problem
        at = motion.sample(problem.times)
        Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a)
        return Information(self._gram(Y)[0], squared=True)

    @cached_property
    def _precision(self) -> Array:
        """One over the variance of each joint's torque noise, (nv,)."""
        noise = self.problem.noise
        return np.ones(self.problem.robot.nv) if noise is None else noise**-2.0

    def _gram(self, Y: Array) -> tuple[Array, list[Array]]:
        """G, and for each joint its equations in the columns they can depend on."""
        b = self.problem.base.count
        G = np.zeros((b, b)) if self.recorded is None else self.recorded.copy()
        W = [Y[:, k, columns] for k, (_, columns) in enumerate(self._rows)]
        for k, (places, _) in enumerate(self._rows):
            G[np.ix_(places, places)] += self._precision[k] * (W[k].T @ W[k])
        return G, W

    def _in_unknowns(self, q_bar: Array, v_bar: Array, a_bar: Array) -> Array:
        B_q, B_v, B_a = self._bases
        return self.unknowns.scales[:, None] * (q_bar.T @ B_q + v_bar.T @ B_v + a_bar.T @ B_a)

    def _torque_barrier(self, torque: Array) -> tuple[float, Array]:
        """The barrier of all torques and its slope in them, (N, nv)."""
        limit = self.problem.torque_share * self.problem.robot.limit_array("effort")
        free = 1.0 - np.abs(torque) / limit
        value, slope = barrier(free / TORQUE_RANGE)
        return value, -slope * np.sign(torque) / (TORQUE_RANGE * limit)


def _carries(robot: Robot, joint: int, link: int) -> bool:
    """Whether a joint moves a link."""
    while link > joint:
        link = robot.joints[link].parent
    return link == joint


# Clearance while searching: a barrier on signed distances at many instants, measured where it may act.

RANGE = 0.03
"""How far above the required distance the barrier begins, m."""
LOOKED_AT = 1000
"""Random poses at which it is learnt which pairs come near and how fast distances change."""
FARTHER = 0.05
"""A pair that stays this much further apart than the barrier's range at all of these poses is not watched."""
TOGETHER = 5
"""Pairs that are measured together."""
SPARE = 1.3
"""Factor on the fastest change of a distance seen at these poses."""


class ClearanceBarrier:
    """The barrier of a problem's clearance.

    A distance changes no faster than its pair's rates allow, so after a small step most pairs need not be
    measured again. The rates are those seen at random poses, with some to spare; the final judgement of a
    motion measures every pair.
    """

    def __init__(
        self, problem: DesignProblem, clearance: ClearanceModel, unknowns: Unknowns, ranges: Ranges
    ) -> None:
        basis = unknowns.family.basis(problem.clearance_times)
        self._basis = basis.q @ unknowns.directions
        self._still = basis.q @ unknowns.middle.T
        self._scales = unknowns.scales
        self._least = problem.distance
        rng = np.random.default_rng(0)
        poses = ranges.middle + ranges.reach * rng.uniform(-1.0, 1.0, (LOOKED_AT, len(ranges.reach)))
        distances, gradients = clearance.gradients(poses)
        near = np.flatnonzero(distances.min(axis=0) < problem.distance + RANGE + FARTHER)
        # Pairs that are often near are measured together, and apart from those that seldom are.
        near = near[np.argsort(np.median(distances[:, near], axis=0), kind="stable")]
        rates = SPARE * np.abs(gradients).max(axis=0)
        self._groups = [
            _Group(
                some_pairs(clearance, group),
                rates[group].T,
                problem.distance + RANGE,
                self._still,
            )
            for group in np.split(near, range(TOGETHER, len(near), TOGETHER))
            if len(group)
        ]

    def forget(self) -> None:
        """Measure everything again: a search must not depend on those before it."""
        for group in self._groups:
            group.forget()

    def gradient(self, x: Array) -> tuple[float, Array]:
        """The barrier and its gradient.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            The value, infinite where something is too near, and the gradient, shape (nv, n), dimensionless.
        """
        q = self._still + self._basis @ (self._scales[:, None] * x).T
        total, q_bar = 0.0, np.zeros_like(q)
        for group in self._groups:
            value, slope = barrier((group.distances(q) - self._least) / RANGE)
            total += value
            if not np.isfinite(total):
                return np.inf, np.zeros_like(x)
            active = np.flatnonzero(slope.any(axis=1))
            if active.size:
                q_bar[active] += group.clearance.adjoint(q[active], slope[active] / RANGE)
        return total, self._scales[:, None] * (q_bar.T @ self._basis)


class _Group:
    """Some pairs, with where and how they were last measured."""

    def __init__(self, clearance: ClearanceModel, rates: Array, enough: float, q: Array) -> None:
        self.clearance = clearance
        self._rates = rates
        self._enough = enough
        self._at = q.copy()
        self._measured = np.full((len(q), len(clearance.pairs)), -np.inf)

    def forget(self) -> None:
        """Know no distance."""
        self._measured[:] = -np.inf

    def distances(self, q: Array) -> Array:
        """Distances (N, P), m, at the samples where one may be too small, lower bounds elsewhere."""
        bounds = self._measured - np.abs(q - self._at) @ self._rates
        doubtful = np.flatnonzero(bounds.min(axis=1) < self._enough)
        if doubtful.size:
            bounds[doubtful] = self.clearance.distances(q[doubtful])
            self._at[doubtful] = q[doubtful]
            self._measured[doubtful] = bounds[doubtful]
        return bounds
