r"""Models drawn from what the data leaves open, each of which can exist: for domain randomisation.

Base parameters are drawn from their covariance and completed to links that can exist,

$$\beta_k \sim \mathcal N(K\hat\phi, \Sigma), \qquad K\phi_k = \beta_k, \qquad \phi_k \in \mathcal P,$$

near the estimate. Where a drawn $\beta_k$ has no possible links, which happens when the estimate lies near
the border of $\mathcal P$, the possible vector is taken that is most likely beside it,

$$\min_{\phi \in \mathcal P} (K\phi - \beta_k)^T \Sigma^{-1} (K\phi - \beta_k)
  + \epsilon^2 d^2(\phi, \hat\phi),$$

with a small weight on the distance from the estimate (see `completion`), and `Draws.shift` says how far its
base parameters are from the drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked, keep_checked
from steelyard.cones import AtMost, ConeProgram, Constraint, Semidefinite, solve
from steelyard.errors import InputError, SolverError
from steelyard.identifiable import BaseParameters
from steelyard.inertia import (
    ROUND_OFF,
    characteristic_length,
    check_body,
    nearest_consistent,
)
from steelyard.inertia import (
    scaled_pseudo_inertia as scaled,
)
from steelyard.layout import Layout
from steelyard.robot import Robot

# The vectors of links and drives that can exist, and the nearest of them.
#
# The distance is that of `steelyard.inertia.nearest_consistent`, each link in units of its own mass,
#
# $$d^2 = \sum_i \frac{\lVert S_i\,(J(\phi_i) - J(\psi_i))\,S_i \rVert_F^2}{m_i^2}
#       + \sum_j \frac{(\phi_j - \psi_j)^2}{s_j^2}, \qquad
#       S_i = \mathrm{diag}(1/\ell_i, 1/\ell_i, 1/\ell_i, 1),$$
#
# so the nearest possible vector is found link by link.

INNER = 1e-6
"""Smallest eigenvalue of a drawn link's scaled pseudo-inertia, in units of its mass."""
_MOST_LOAD = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class FeasibleVectors:
    """What can exist, measured around an estimate.

    Attributes:
        links: where the ten numbers of each link with mass start in phi, shape (nb,), dimensionless.
        masses: m of each, shape (nb,), kg.
        lengths: ℓ of each, shape (nb,), m.
        lower: smallest value of each drive number, shape (p,), SI; minus infinity for the links'.
        asymmetric: pairs of places of F_a and F_v, shape (k, 2), dimensionless.
        load: places of F_l, shape (k,), dimensionless.
        weights: the matrix M of the distance, shape (p, p), SI.
        movable: which parameters may differ from the estimate's: those that the layout leaves free and that
            belong to no massless link, shape (p,), dimensionless.
    """

    links: IntArray
    masses: Array
    lengths: Array
    lower: Array
    asymmetric: IntArray
    load: IntArray
    weights: Array
    movable: BoolArray

    @classmethod
    def around(cls, robot: Robot, layout: Layout, parameters: Array) -> FeasibleVectors:
        """The possible vectors of a robot, measured around one of them.

        Args:
            robot: the robot.
            layout: the order of the parameters.
            parameters: phi, shape (p,), SI.

        Returns:
            The set.

        Raises:
            InputError: a link of phi cannot exist.
        """
        starts = []
        movable = layout.free.copy()
        for link in robot.links:
            ten = parameters[layout.of_link(link.name)]
            if not check_body(ten).consistent:
                why = " ".join(str(reason) for reason in check_body(ten).reasons)
                raise InputError(f"the estimate is physically impossible. {why}", place=f"link '{link.name}'")
            if ten[0] > 0.0:
                starts.append(layout.of_link(link.name).start)
            else:
                movable[layout.of_link(link.name)] = False
        tens = np.array([parameters[s : s + 10] for s in starts]).reshape(-1, 10)
        lengths = np.asarray(characteristic_length(tens))
        first = 10 * len(layout.links)
        lower = np.full(layout.size, -np.inf)
        lower[first:] = [parameter.lower for parameter in layout.parameters[first:]]
        place = {(x.owner, x.term): k for k, x in enumerate(layout.parameters) if k >= first}
        pairs = [
            (k, place[owner, "viscous"])
            for (owner, term), k in place.items()
            if term == "asymmetric" and (owner, "viscous") in place
        ]
        return cls(
            np.array(starts, dtype=np.int64),
            tens[:, 0],
            lengths,
            lower,
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array([k for (_, term), k in place.items() if term == "load"], dtype=np.int64),
            _weights(parameters, starts, tens[:, 0], lengths),
            movable,
        )

    def _tens(self, parameters: Array) -> Array:
        """The ten numbers of each link in units of its mass, shape (nb, 10)."""
        return np.asarray(parameters[self.links[:, None] + np.arange(10)] / self.masses[:, None])

    def holds(self, parameters: Array) -> bool:
        """Whether every link and drive can exist.

        Args:
            parameters: phi, shape (p,), SI.

        Returns:
            Whether they can, up to round-off of the links.
        """
        eigenvalues = np.linalg.eigvalsh(scaled(self._tens(parameters), self.lengths))
        allowed = ROUND_OFF * np.abs(eigenvalues).max(axis=-1, initial=0.0)
        F_a, F_v = parameters[self.asymmetric].T
        return bool(
            (eigenvalues[..., 0] >= -allowed).all()
            and (parameters >= self.lower).all()
            and (np.abs(F_a) <= F_v).all()
            and (parameters[self.load] < 1.0).all()
        )

    def constraints(self, parameters: Array, basis: Array) -> tuple[Constraint, ...]:
        r"""What x must satisfy for $\phi + D x$ to be possible, its links not on the border.

        Args:
            parameters: phi, shape (p,), SI.
            basis: D, shape (p, n), SI.

        Returns:
            One constraint for each link, and one for the drives.
        """
        n = basis.shape[1]
        constraints: list[Constraint] = []
        for start, mass, length in zip(self.links, self.masses, self.lengths, strict=True):
            ten = slice(start, start + 10)
            constant = scaled(parameters[ten] / mass, length) - INNER * np.eye(4)
            constraints.append(Semidefinite(constant, scaled(basis[ten].T / mass, np.full(n, length))))
        bounded = np.flatnonzero(np.isfinite(self.lower))
        F_a, F_v = self.asymmetric.T
        # Each row of A and b says A phi <= b.
        A = np.vstack(
            (
                -np.eye(parameters.size)[bounded],
                np.eye(parameters.size)[F_a] - np.eye(parameters.size)[F_v],
                -np.eye(parameters.size)[F_a] - np.eye(parameters.size)[F_v],
                np.eye(parameters.size)[self.load],
            )
        )
        b = np.concatenate(
            (-self.lower[bounded], np.zeros(2 * len(F_a)), np.full(len(self.load), _MOST_LOAD))
        )
        if len(b):
            constraints.append(AtMost(A @ basis, b - A @ parameters))
        return tuple(constraints)

    def nearest(self, parameters: Array) -> Array:
        """The nearest possible vector, link by link and drive by drive.

        Args:
            parameters: phi, shape (p,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        psi = np.maximum(parameters, self.lower)
        tens = nearest_consistent(self._tens(parameters), length=self.lengths)
        psi[self.links[:, None] + np.arange(10)] = tens * self.masses[:, None]
        F_a, F_v = self.asymmetric.T
        psi[F_a] = np.clip(psi[F_a], -psi[F_v], psi[F_v])
        psi[self.load] = np.minimum(psi[self.load], _MOST_LOAD)
        return np.asarray(psi)


def _weights(parameters: Array, starts: list[int], masses: Array, lengths: Array) -> Array:
    sizes = np.abs(parameters)
    M = np.diag(1.0 / np.where(sizes > 0.0, sizes, max(float(sizes.max(initial=0.0)), 1.0)) ** 2)
    for start, mass, length in zip(starts, masses, lengths, strict=True):
        A = scaled(np.eye(10) / mass, np.full(10, length)).reshape(10, 16)
        M[start : start + 10, start : start + 10] = A @ A.T
    return np.asarray(M)


# From base parameters to links that can exist and have them.

NEARNESS = 1e-2
"""ε: how many standard deviations a change of the whole estimate by its own size counts as.

Torques leave masses open, and a much smaller number lets links of tons pay for a thousandth of a deviation.
"""
_LEAST_SPREAD = 1e-6  # smallest spread along any direction of the correlations, relative to the largest
_TOLERANCES = (1e-9, 1e-7, 1e-5)
_EXACT = 1e-3  # what a parameter without variance may deviate, relative to the smallest deviation


class Completion:
    r"""Completes base parameters to a possible vector near an estimate.

    With $\phi = \hat\phi + D x$, where $D^T M D = 1$ in the metric of the possible set, the vector nearest to
    the estimate is $x = (KD)^+ (\beta - K\hat\phi)$. It is taken where it is possible. Otherwise

    $$\min_x \lVert W\,(K\phi - \beta) \rVert^2 + \epsilon^2 \lVert x \rVert^2
      \quad\text{with } \phi \in \mathcal P, \qquad W^T W = \Sigma^{-1},$$

    is solved, and the first step is made again from its solution: where that is possible, the base
    parameters are met exactly, otherwise the solution is the most likely vector beside them, near the
    estimate.
    """

    def __init__(
        self,
        estimate: Array,
        matrix: Array,
        possible: FeasibleVectors,
        seen: IntArray,
        deviations: Array,
        correlation_root: Array,
    ) -> None:
        """Prepare for one estimate.

        Args:
            estimate: phi, shape (p,), SI; possible.
            matrix: K, shape (b, p), SI.
            possible: what can exist.
            seen: the base parameters with a finite variance, shape (s,), dimensionless.
            deviations: their standard deviations, shape (s,), SI.
            correlation_root: a square root of their correlations, shape (s, s), dimensionless.
        """
        self._estimate, self._K, self._possible = estimate, matrix, possible
        movable = np.flatnonzero(possible.movable)
        L = np.linalg.cholesky(possible.weights[np.ix_(movable, movable)])
        self._D = np.zeros((estimate.size, movable.size))
        self._D[movable] = np.linalg.inv(L).T
        self._back = self._D @ np.linalg.pinv(matrix @ self._D)
        self._seen = seen
        spread = deviations > 0.0
        exact = _EXACT * deviations[spread].min(initial=1.0)
        U, s, _ = np.linalg.svd(correlation_root)
        floor = _LEAST_SPREAD * s.max(initial=1.0)
        self._W = (U / np.maximum(s, floor)).T / np.where(spread, deviations, exact)
        self._constraints = possible.constraints(estimate, self._D)

    def of(self, values: Array) -> Array:
        """The possible vector for base parameters.

        Args:
            values: beta, shape (b,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        near = self._meeting(values, self._estimate)
        if self._possible.holds(near):
            return near
        likely = self._likeliest(values)
        meeting = self._meeting(values, likely)
        return meeting if self._possible.holds(meeting) else self._possible.nearest(likely)

    def _meeting(self, values: Array, near: Array) -> Array:
        """The vector with these base parameters that is nearest to another."""
        return np.asarray(near + self._back @ (values - self._K @ near))

    def _likeliest(self, values: Array) -> Array:
        off = (values - self._K @ self._estimate)[self._seen]
        R = np.vstack((self._W @ (self._K @ self._D)[self._seen], NEARNESS * np.eye(self._D.shape[1])))
        r = np.concatenate((self._W @ off, np.zeros(self._D.shape[1])))
        program = ConeProgram.least_squares(R, r, self._constraints)
        # Deviations over many decades leave the last digits to round-off, which differs between processors.
        for tolerance in _TOLERANCES:
            try:
                x = solve(program, tolerance=tolerance, accept_reduced=True).x
                break
            except SolverError:
                if tolerance == _TOLERANCES[-1]:
                    raise
        return np.asarray(self._estimate + self._D @ x)


_NEGATIVE = 1e-9  # eigenvalue of a correlation matrix that is round-off and no mistake


@dataclass(frozen=True, eq=False)
class Draws:
    """Parameter vectors drawn from a posterior, each possible.

    Attributes:
        parameters: phi of each model, shape (n, p), SI.
        values: the base parameters drawn, shape (n, b), SI.
        shift: root mean square distance of each model's base parameters from those drawn, in standard
            deviations, shape (n,), dimensionless; zero where the drawn ones are possible.
    """

    parameters: Array
    values: Array
    shift: Array

    def __post_init__(self) -> None:
        keep_checked(self, ("n", "p"), "parameters")
        keep_checked(self, ("n", "b"), "values")
        keep_checked(self, ("n",), "shift")


def draw_models(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    covariance: ArrayLike,
    base: BaseParameters,
    n: int,
    rng: np.random.Generator,
) -> Draws:
    """Draw models from the posterior of an estimate.

    A base parameter of infinite variance was not seen at all; no number can be drawn for it, so it stays at
    the estimate. What the base parameters leave open stays near the estimate.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: the estimate phi, shape (p,), SI; possible.
        covariance: of the base parameters, shape (b, b), SI; infinite variances where the data is blind.
        base: the base parameters.
        n: how many, at least one.
        rng: source of randomness.

    Raises:
        InputError: the number is not positive, the estimate is impossible, or the covariance is none.
    """
    if n < 1:
        raise InputError(f"must be at least 1, got {n}.", place="n")
    phi = checked("parameters", parameters, (layout.size,))
    possible = FeasibleVectors.around(robot, layout, phi)
    K = base.matrix
    seen, deviations, root = _root(covariance, base.count)
    noise = rng.standard_normal((n, root.shape[1])) @ root.T
    values = np.tile(K @ phi, (n, 1))
    values[:, seen] += noise * deviations
    completion = Completion(phi, K, possible, seen, deviations, root)
    spread = deviations > 0.0
    models, shift = np.empty((n, layout.size)), np.zeros(n)
    for k in range(n):
        models[k] = completion.of(values[k])
        off = (K @ models[k] - values[k])[seen[spread]] / deviations[spread]
        shift[k] = np.sqrt(np.mean(off**2)) if off.size else 0.0
    return Draws(models, values, shift)


def _root(covariance: ArrayLike, count: int) -> tuple[IntArray, Array, Array]:
    """Which base parameters are seen, their deviations, and a square root of their correlations."""
    C = checked("covariance", covariance, (count, count), finite=False)
    variances = np.diag(C)
    if np.isnan(variances).any() or (variances < 0.0).any():
        raise InputError("has variances that are negative or no numbers.", place="covariance")
    seen = np.flatnonzero(np.isfinite(variances))
    block = C[np.ix_(seen, seen)]
    if not np.isfinite(block).all() or np.abs(block - block.T).max(initial=0.0) > 1e-9 * np.abs(block).max(
        initial=0.0
    ):
        raise InputError("is not symmetric and finite where its variances are.", place="covariance")
    deviations = np.sqrt(np.diag(block))
    safe = np.where(deviations > 0.0, deviations, 1.0)
    eigenvalues, vectors = np.linalg.eigh(block / np.outer(safe, safe))
    if eigenvalues.min(initial=0.0) < -_NEGATIVE * max(1.0, float(eigenvalues.max(initial=0.0))):
        raise InputError(
            f"is no covariance: its correlations have the eigenvalue {eigenvalues[0]:.3g}.",
            place="covariance",
        )
    return seen, deviations, np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
