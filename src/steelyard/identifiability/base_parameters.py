r"""Base parameters found numerically: a largest set of parameter combinations that torques determine.

The columns of a regressor stacked over random states span what any motion can show. A pivoted QR picks
independent columns $W_1$ and writes the others in them, $W_2 = W_1 X$, so that

$$W \phi = W_1 \beta, \qquad \beta = \phi_1 + X \phi_2 = K \phi.$$

Where a reduction is assumed, $\phi = B\theta + \phi_0$, the same is done for $WB$ and $\theta$.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiability.random_states import random_states
from steelyard.layout import Layout
from steelyard.reduction import Reduction
from steelyard.robot import Robot

# A singular value of the column-normalised regressor counts from KEPT upwards and vanishes below DROPPED;
# one in between would make the rank a matter of taste, so it is refused. Structural zeros come out near
# 1e-15, and the smallest genuine values seen on public robots are near 1e-4.
KEPT = 1e-7
DROPPED = 1e-10
# Round-off in a column that is structurally zero must not be normalised into a unit column. The same two
# tolerances decide about the norms of columns, relative to the largest.


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The map from standard to base parameters, `beta = K phi`; from reduced ones where some are assumed.

    Attributes:
        names: one name per base parameter: its leading parameter, with "+" where others join it.
        matrix: K, shape (b, p), SI.
        columns: indices of the independent columns, increasing, shape (b,), dimensionless; K is the identity
            there, so `Y phi == Y[..., columns] @ beta`, but for what fixed parameters add.
        smallest_kept: smallest singular value counted, relative to the largest, dimensionless.
        largest_dropped: largest singular value not counted, relative to the largest, dimensionless.
    """

    names: tuple[str, ...]
    matrix: Array
    columns: IntArray
    smallest_kept: float
    largest_dropped: float

    @property
    def count(self) -> int:
        """Number of base parameters b."""
        return len(self.names)

    def standard(self, values: ArrayLike, near: ArrayLike, scales: ArrayLike | None = None) -> Array:
        r"""The full parameter vector with given base parameters that lies nearest to another one.

        $$\min_\phi \lVert \operatorname{diag}(s)\,(\phi - \phi_0) \rVert \quad\text{with } K\phi = \beta$$

        It predicts the same torques as the base parameters do, and keeps of $\phi_0$ all that torques do not
        show. Whether its links can exist is another question, see the room `consistency`.

        Args:
            values: beta, shape (b,), SI.
            near: phi_0, such as the description's numbers, shape (p,), SI.
            scales: s, factors that make the parameters comparable, shape (p,), SI, such as
                `Identifiability.scales`; None for ones.

        Returns:
            phi, shape (p,), SI.
        """
        b, p = self.matrix.shape
        beta, phi_0 = checked("values", values, (b,)), checked("near", near, (p,))
        s = np.ones(p) if scales is None else checked("scales", scales, (p,))
        change = np.linalg.lstsq(self.matrix / s, beta - self.matrix @ phi_0, rcond=None)[0]
        return np.asarray(phi_0 + change / s)


def numerical_base(
    robot: Robot, layout: Layout, rng: np.random.Generator, reduction: Reduction | None = None
) -> BaseParameters:
    """Find base parameters from the regressor at random states.

    Angles are drawn from [-π, π], lengths from ±0.5 m, orientations from all, velocities and accelerations
    from a normal distribution of unit scale; limits do not matter for what a mechanism could show. Parameters
    that the layout fixes are known and take no part.

    Args:
        robot: the robot.
        layout: which parameters are asked about.
        rng: source of the random states.
        reduction: what is assumed of the layout's parameters; nothing when not given.

    Returns:
        The base parameters: combinations of the layout's parameters, or of the reduction's.

    Raises:
        InputError: the reduction is of another layout.
        NoSolutionError: a singular value or a column lies between the two tolerances, so the rank would be a
            guess.
    """
    W, parameters = _random_regressor(robot, layout, rng) * layout.free, layout.names
    if reduction is not None:
        if reduction.layout != layout:
            raise InputError("is of another layout.", place="reduction", remedy="Build both from one layout.")
        W, parameters = W @ reduction.matrix, reduction.names
    norms = np.linalg.norm(W, axis=0)
    _refuse_doubtful("column norms", norms / norms.max(), robot)
    alive = np.flatnonzero(norms > KEPT * norms.max())
    R, pivots = scipy.linalg.qr(W[:, alive] / norms[alive], mode="r", pivoting=True)
    singular = np.linalg.svd(R, compute_uv=False)
    singular = singular / singular[0]
    rank = int((singular > KEPT).sum())
    _refuse_doubtful("singular values", singular, robot)
    chosen, rest = alive[pivots[:rank]], alive[pivots[rank:]]
    X = scipy.linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
    # Round-off is told from small numbers while the columns have equal lengths; then that is undone:
    # W_2 = W_1 diag(1/n_1) X diag(n_2).
    X[np.abs(X) < DROPPED * np.abs(X).max(initial=0.0)] = 0.0
    X = X * norms[rest] / norms[chosen][:, None]
    K = np.zeros((rank, len(parameters)))
    K[np.arange(rank), chosen] = 1.0
    K[:, rest] = X
    order = np.argsort(chosen)
    K, columns = K[order], chosen[order]
    names = tuple(parameters[c] + ("+" if np.count_nonzero(K[k]) > 1 else "") for k, c in enumerate(columns))
    return BaseParameters(
        names,
        read_only(K),
        read_only(columns.astype(np.int64)),
        smallest_kept=float(singular[rank - 1]),
        largest_dropped=float(singular[rank]) if rank < singular.size else 0.0,
    )


def _refuse_doubtful(what: str, sizes: Array, robot: Robot) -> None:
    doubtful = sizes[(sizes <= KEPT) & (sizes > DROPPED)]
    if doubtful.size:
        raise NoSolutionError(
            f"the rank of '{robot.name}' is ambiguous: {what} of relative size {doubtful.max():.1e} lie "
            f"between {DROPPED:g} and {KEPT:g}.",
            place="base parameters",
            remedy="Angles rounded to few digits in the description do this.",
            evidence={what: sizes},
        )


def _random_regressor(robot: Robot, layout: Layout, rng: np.random.Generator) -> Array:
    """W over enough random states for every column to show, shape (N nv, p)."""
    samples = 4 * layout.size // robot.nv + 20
    q, v, a = random_states(robot, samples, rng)
    return torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
