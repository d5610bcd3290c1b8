"""Base parameters: the combinations that torques determine, found numerically, and in row echelon form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable.nullspace import (
    SECONDS,
    SMALLEST,
    Spans,
    absorb,
    complement,
    left_of,
    move_coefficients,
)
from steelyard.identifiable.random_states import random_states
from steelyard.layout import Class, Layout
from steelyard.reduction import Reduction
from steelyard.robot import Robot

# The class of each parameter: known alone, as the head of a grouping, inside one, or not at all (compiled).
#
# Where several choices of base parameters are possible, the one that comes first in `TIE_BREAK` is preferred,
# body after body (the order of the tables of Wensing et al. 2024).

TIE_BREAK = (0, 1, 2, 3, 4, 6, 9, 8, 7, 5)
"""m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy as indices of the ten parameters."""


CLASSES = tuple(Class)
"""The classes by their number in compiled code."""


@interpreted_while_cheap(lambda starts, bodies, *_: SECONDS * bodies.size)
@kernel
def classify(
    starts: IntArray,
    bodies: IntArray,
    parents: IntArray,
    widths: IntArray,
    order: IntArray,
    R: Array,
    p: Array,
    found: Spans,
    out: IntArray,
) -> None:
    r"""Write the class of every column of every block.

    With the unseen changes $R = \mathrm{Null}(N)$ of a block, handed on to its carrier as $-B R$, a parameter
    takes part in an unseen change when its row of R is not zero, or its row of $B_j R_j$ for a block j that
    its body carries; otherwise it is known alone. It is out of reach when its row of K is zero. Of the
    others, those whose columns of N are independent from left to right are the base parameters.

    Args:
        starts: where each block's bodies start, shape (C + 1,), dimensionless.
        bodies: the bodies, block by block, shape (nb,), dimensionless.
        parents: the carrier of each block, shape (C,), dimensionless.
        widths: number of columns of each block, shape (C,), dimensionless.
        order: `TIE_BREAK`, shape (10,), dimensionless.
        R: rotations of the placements, shape (nb, 3, 3), dimensionless.
        p: offsets of the placements over the length, shape (nb, 3), dimensionless.
        found: what `find_spans` found.
        out: the classes, as indices of `CLASSES`, shape (C, w), dimensionless.
    """
    involved = np.zeros((found.K.shape[0], 10))
    for c in range(parents.size - 1, -1, -1):
        mine, width, rank = bodies[starts[c] : starts[c + 1]], widths[c], found.rank[c]
        m = mine.size
        N, unseen = found.N[c], np.zeros((width, width))
        free = complement(N, rank, width, unseen)
        if parents[c] >= 0:
            hand_on(mine, parents[c], R, p, unseen, free, involved)
        pivots, pivot_count, column = np.zeros((rank, rank)), 0, np.empty(rank)
        for j in range(width):
            k = 10 * (j // 10) + order[j % 10] if j < 10 * m else j
            seen, taken = 0.0, 0.0
            for r in range(rank):
                column[r] = N[r, k]
                seen = max(seen, abs(N[r, k]))
            for r in range(free):
                taken = max(taken, abs(unseen[r, k]))
            if k < 10 * m:
                taken = max(taken, involved[mine[k // 10], k % 10])
                seen = 0.0
                for r in range(found.dim_K[mine[k // 10]]):
                    seen = max(seen, abs(found.K[mine[k // 10], r, k % 10]))
            before = pivot_count
            if rank > 0:
                pivot_count = absorb(pivots, pivot_count, column, found.gap)
            if seen <= SMALLEST:
                out[c, k] = 3
            elif pivot_count == before:
                out[c, k] = 2
            else:
                out[c, k] = 0 if taken <= SMALLEST else 1


@kernel
def hand_on(
    bodies: IntArray, parent: int, R: Array, p: Array, unseen: Array, count: int, involved: Array
) -> None:
    """Mark the parameters of the carrier that take part in the unseen changes of a block."""
    unit, row = np.zeros(10), np.empty(10)
    for k in range(10):
        unit[:] = 0.0
        unit[k] = 1.0
        for r in range(count):
            total = 0.0
            for b in range(bodies.size):
                move_coefficients(R, p, bodies[b], unit, row, 0)
                for j in range(10):
                    total += row[j] * unseen[r, 10 * b + j]
            involved[parent, k] = max(involved[parent, k], abs(total))


# Base parameters found numerically: a largest set of parameter combinations that torques determine.
#
# The columns of a regressor stacked over random states span what any motion can show. A pivoted QR picks
# independent columns $W_1$ and writes the others in them, $W_2 = W_1 X$, so that
#
# $$W \phi = W_1 \beta, \qquad \beta = \phi_1 + X \phi_2 = K \phi.$$
#
# Where a reduction is assumed, $\phi = B\theta + \phi_0$, the same is done for $WB$ and $\theta$.

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


# The identifiable combinations in reduced row echelon form: which parameter leads which grouping.
#
# Rows that span the identifiable combinations become $\beta = K\phi$ with the identity in the columns of the
# base parameters, so each base parameter is a standard one plus others times known lengths. The choice of
# base parameters is that of the tie-break: from left to right, the first column that is independent of those
# before. Every column is scaled by the robot's length first, so that coefficients are of order one.


def echelon_form(rows: Array, scales: Array, pivots: Sequence[int], names: Sequence[str]) -> BaseParameters:
    """Solve the rows for chosen columns.

    Args:
        rows: full row rank, shape (b, p), SI.
        scales: factors that make the parameters comparable, shape (p,), SI.
        pivots: b independent columns.
        names: names of the p parameters.

    Returns:
        The base parameters, in the order of the columns.
    """
    balanced = rows / scales
    columns = np.sort(np.asarray(pivots, dtype=np.int64))
    K = np.linalg.solve(balanced[:, columns], balanced) if len(columns) else balanced
    K[np.abs(K) < SMALLEST] = 0.0
    K[:, columns] = np.eye(len(columns))
    singular = np.linalg.svd(balanced[:, columns], compute_uv=False)
    K = K * scales / scales[columns][:, None]
    heads = [names[c] + ("+" if np.count_nonzero(K[k]) > 1 else "") for k, c in enumerate(columns)]
    smallest = float(singular[-1] / singular[0]) if len(columns) else 1.0
    return BaseParameters(tuple(heads), read_only(K), read_only(columns), smallest, 0.0)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """What a stacked regressor says about its parameters.

    Attributes:
        classes: class of each parameter.
        pivots: the base parameters, in the order of preference.
        rows: a basis of the combinations determined, shape (b, p), SI.
        scales: factors that make the parameters comparable, lengths of their columns, shape (p,), SI.
        kept: smallest singular value that counts, relative to the largest, dimensionless.
        dropped: largest that does not, dimensionless.
    """

    classes: tuple[Class, ...]
    pivots: tuple[int, ...]
    rows: Array
    scales: Array
    kept: float
    dropped: float


ZERO_COLUMN = 1e-11
"""A column this short against the longest is round-off, and must not be scaled to unit length."""


LEAST_OF_A_LEADER = (1e-5, 1e-7, SMALLEST)
"""How much must be new in a column for it to lead a group, tried in turn."""


def row_space(W: Array, order: Sequence[int]) -> RowSpace:
    """Ask a regressor stacked over many states what it determines.

    Args:
        W: shape (M, p), SI.
        order: the columns in the order of preference.

    Returns:
        The answer.

    Raises:
        NoSolutionError: a singular value is neither clearly there nor clearly round-off.
    """
    norms = np.linalg.norm(W, axis=0)
    alive = norms > ZERO_COLUMN * norms.max(initial=0.0)
    scales = np.where(alive, norms, 1.0)
    R: Array = np.asarray(np.linalg.qr(W * alive, mode="r"))
    _, singular, Vt = np.linalg.svd(R / scales)
    rank = int((singular > KEPT * singular.max(initial=0.0)).sum())
    # A column that differs by little from those before, as rounded numbers of a description make it, leads
    # only where the others do not suffice: groupings led by it would be all round-off.
    for smallest in LEAST_OF_A_LEADER:
        classes, pivots, kept, dropped = classify_rows(R, scales, order, smallest)
        if len(pivots) == rank:
            break
    return RowSpace(classes, tuple(pivots), Vt[: len(pivots)] * scales, scales, kept, dropped)


def classify_rows(
    rows: Array, scales: Array, order: Sequence[int], smallest: float = SMALLEST
) -> tuple[tuple[Class, ...], list[int], float, float]:
    """The class of each column of rows that need not be independent, and the base columns.

    Args:
        rows: shape (n, p), SI.
        scales: factors that make the parameters comparable, shape (p,), SI.
        order: the columns in the order of preference.
        smallest: how much of a column must be left off those before for it to lead, dimensionless.

    Returns:
        Classes by column; base columns in the order of preference; smallest singular value that counts,
        relative to the largest, and largest that does not.

    Raises:
        NoSolutionError: a singular value is neither clearly there nor clearly round-off.
    """
    balanced = rows / scales
    _, singular, Vt = np.linalg.svd(balanced, full_matrices=True)
    relative = singular / singular[0] if singular.size and singular[0] > 0 else np.zeros(0)
    if ((relative <= KEPT) & (relative > DROPPED)).any():
        raise NoSolutionError(
            f"the rank is ambiguous: singular values between {DROPPED:g} and {KEPT:g}.",
            place="identifiability",
            remedy="Angles rounded to few digits in the description do this.",
            evidence={"singular values": relative},
        )
    rank = int((relative > KEPT).sum())
    seen, unseen = Vt[:rank], np.abs(Vt[rank:]).max(axis=0, initial=0.0)
    Q = np.zeros((rank, rank))
    base: list[int] = []
    for k in order if rank else ():
        x = seen[:, k].copy()
        length = left_of(Q, len(base), x)
        if len(base) < rank and length > smallest:
            Q[len(base)] = x / length
            base.append(int(k))
    classes = [Class.GROUPED] * rows.shape[1]
    for k in range(rows.shape[1]):
        if not rank or np.abs(seen[:, k]).max() <= smallest:
            classes[k] = Class.UNIDENTIFIABLE
        elif k in base:
            classes[k] = Class.ALONE if unseen[k] <= smallest else Class.BASE
    kept = float(relative[rank - 1]) if rank else 1.0
    return tuple(classes), base, kept, float(relative[rank]) if rank < relative.size else 0.0
