"""The torque equations sample by sample, compressed to triangles, and their least-squares solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, BoolArray, read_only
from steelyard.dynamics import Compressed, torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable import Criterion, Information, score
from steelyard.problem import Problem

# Torque equations in blocks of samples: the whole regressor is never stored

PIECE = 4096
"""Samples taken at a time; noise is not followed from one piece to the next."""
RUN = 1024
"""Rows that are factored at a time."""
KEPT = 1 << 23
"""Numbers of a regressor up to which it is kept between passes, 64 MB: iterated fits pass over it a hundred
times, and building it takes as long as factoring it."""

Piece = TypeVar("Piece")


@dataclass(frozen=True, eq=False)
class Rows:
    r"""A run of consecutive equations $W\beta = y + e$.

    Attributes:
        regressor: W, shape (n, nv, b), SI.
        instruments: Z, what the equations are multiplied by; W itself in least squares, shape (n, nv, b), SI.
        target: y, shape (n, nv), SI.
    """

    regressor: Array
    instruments: Array
    target: Array


RowSource = Callable[[], Iterable[Rows]]
"""Gives the same equations each time it is called."""


def base_rows(problem: Problem) -> RowSource:
    r"""The equations $W_1\beta = \tau - W\phi_{known}$ of each motion, in pieces of at most `PIECE` samples.

    Args:
        problem: the question, with its samples.

    Returns:
        Their source.

    Raises:
        InputError: the samples were not kept.
    """
    at = problem.samples

    def rows() -> Iterator[Rows]:
        for part in pieces(problem):
            Y = torque_regressor(problem.robot, problem.layout, at.q[part], at.v[part], at.a[part])
            W = np.ascontiguousarray(Y[..., problem.base.columns])
            yield Rows(W, W, at.tau[part] - Y @ problem.known)

    return kept_if_small(rows, at.tau.size * problem.base.count)


def kept_if_small(made: Callable[[], Iterable[Piece]], numbers: int) -> Callable[[], Iterable[Piece]]:
    """Make pieces once and give them again, where they fit in memory.

    Args:
        made: makes the pieces, the same each time.
        numbers: how many numbers all pieces hold together; above `KEPT` they are made anew in every pass.

    Returns:
        Gives the pieces, which are not to be written to, each time it is called.
    """
    if numbers > KEPT:
        return made
    kept: list[Piece] = []

    def pieces_again() -> Iterable[Piece]:
        if not kept:
            kept.extend(made())
        return kept

    return pieces_again


def pieces(problem: Problem) -> Iterator[slice]:
    """The samples of each motion in even runs of at most `PIECE`.

    Args:
        problem: the question, with its samples.

    Yields:
        Slices of the samples.
    """
    for motion in problem.samples.motions:
        count = -(-(motion.stop - motion.start) // PIECE)
        edges = np.linspace(motion.start, motion.stop, count + 1).astype(int)
        yield from (slice(int(a), int(b)) for a, b in pairwise(edges))


def residuals(source: RowSource, beta: Array) -> list[Array]:
    """What base parameters leave unexplained, piece by piece.

    Args:
        source: the equations.
        beta: base parameters, shape (b,), SI.

    Returns:
        y - W beta of each piece, shape (n, nv), SI.
    """
    return [rows.target - rows.regressor @ beta for rows in source()]


def weighted_factor(source: RowSource, factors: Iterable[Array]) -> Array:
    r"""The triangle of all equations, each times its own factor.

    Args:
        source: the equations.
        factors: for each piece the factor of every equation, shape (n, nv) or (nv,), any unit; may go on.

    Returns:
        R, upper triangular, shape (b + 1, b + 1), SI.
    """
    R: Array | None = None
    for rows, factor in zip(source(), factors, strict=False):
        equations = np.concatenate([rows.regressor, rows.target[..., None]], axis=-1)
        weighted = (equations * np.broadcast_to(factor, rows.target.shape)[..., None]).reshape(
            -1, equations.shape[-1]
        )
        R = tall_triangle(weighted if R is None else np.vstack([R, weighted]))
    assert R is not None  # an Evidence holds at least one sample
    full = np.zeros((R.shape[1], R.shape[1]))
    full[: len(R)] = R
    return full


def tall_triangle(rows: Array) -> Array:
    """The triangle of many rows, worked out in runs of them that stay in the processor's cache.

    Args:
        rows: equations, shape (n, c), SI.

    Returns:
        R with RᵀR = rowsᵀ rows, upper triangular, shape (min(n, c), c), SI.
    """
    # Half the time of one factorisation of 30 000 rows by 62.
    R = np.linalg.qr(rows[:RUN], mode="r")
    for start in range(RUN, len(rows), RUN):
        R = np.linalg.qr(np.vstack([R, rows[start : start + RUN]]), mode="r")
    return np.asarray(R)


# Equations of samples compressed to one triangle for each degree of freedom.


def row_triangles(source: RowSource) -> Compressed:
    """Compress equations in all parameters of a layout, as `compress` does torque equations.

    Args:
        source: the equations, one column for each parameter.

    Returns:
        The triangles; their columns are the parameters with an entry that is not zero.
    """
    triangles: list[Array] = []
    seen: list[BoolArray] = []
    samples = 0
    for rows in source():
        W, y = rows.regressor, rows.target
        nv, p = W.shape[1:]
        if not triangles:
            triangles, seen = [np.zeros((0, p + 1))] * nv, [np.zeros(p, dtype=bool)] * nv
        for k in range(nv):
            seen[k] = seen[k] | W[:, k].any(axis=0)
            triangles[k] = folded_triangles(triangles[k], np.column_stack([W[:, k], y[:, k]]))
        samples += len(y)
    columns = [np.flatnonzero(shown) for shown in seen]
    kept = [_square(T[:, [*mine, T.shape[1] - 1]]) for T, mine in zip(triangles, columns, strict=True)]
    return Compressed(
        samples,
        triangles[0].shape[1] - 1,
        tuple(read_only(mine) for mine in columns),
        tuple(read_only(T) for T in kept),
    )


def folded_triangles(triangle: Array, rows: Array) -> Array:
    """Add equations to a triangle, worked out on the columns that are not zero.

    Args:
        triangle: what there is so far, shape (m, c), SI.
        rows: further equations, shape (n, c), SI.

    Returns:
        A factor of both, of at most c rows, shape (k, c), SI.
    """
    stacked = np.vstack([triangle, rows])
    alive = stacked.any(axis=0)
    reduced = tall_triangle(stacked[:, alive])
    folded = np.zeros((len(reduced), stacked.shape[1]))
    folded[:, alive] = reduced
    return folded


def _square(triangle: Array) -> Array:
    """The triangle with as many rows as columns."""
    T = np.zeros((triangle.shape[1], triangle.shape[1]))
    reduced = np.linalg.qr(triangle, mode="r")
    T[: len(reduced)] = reduced
    return T


# The least-squares solution of a triangle of base equations, and what to do where the motion is blind.

OnBlind = Literal["refuse", "infinite"]
"""What an estimator does where the motion hides base parameters: name them in an error, or give them infinite
variance."""

BLIND = 1e-10
"""A direction of the column-scaled regressor shorter than this share of the longest is not shown."""
_ROUND_OFF = 1e-8


@dataclass(frozen=True, eq=False)
class Solution:
    r"""The minimiser of $\lVert W\beta - y \rVert$.

    Attributes:
        values: beta, zero at the parameters the motion hides, shape (b,), SI.
        inverse: of WᵀW on the other parameters, zero at those hidden, shape (b, b), SI.
        blind: directions along which beta may move unseen, as columns, shape (b, k), SI; k is 0 where the
            motion shows everything.
        condition: condition number of the column-scaled W, infinite where it is blind, dimensionless.
    """

    values: Array
    inverse: Array
    blind: Array
    condition: float


def solved(factor: Array, names: Sequence[str], on_blind: OnBlind = "refuse") -> Solution:
    r"""Solve the triangle of $[W_1\ \ y]$ by a pivoted orthogonal factorisation of its scaled columns.

    Args:
        factor: the triangle, shape (b + 1, b + 1), SI.
        names: of the parameters, for the message.
        on_blind: `refuse` raises where the motion hides base parameters, `infinite` leaves them out.

    Raises:
        NoSolutionError: the motion hides base parameters, and that is refused; names them.
        InputError: no such choice.
    """
    if on_blind not in ("refuse", "infinite"):
        raise InputError(f"got '{on_blind}'.", place="on_blind", remedy="Valid: refuse, infinite.")
    W, y = factor[:, :-1], factor[:, -1]
    b = W.shape[1]
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    Q, T, pivots = scipy.linalg.qr(W / scale, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(T))
    rank = int((diagonal > BLIND * diagonal[0]).sum()) if diagonal[0] > 0 else 0
    seen, hidden = pivots[:rank], pivots[rank:]
    if hidden.size and on_blind == "refuse":
        names = ", ".join(names[k] for k in sorted(hidden))
        raise NoSolutionError(
            f"the motion shows {rank} of {b} base parameters; it hides {names}.",
            place="recording",
            remedy="Record a richer motion, or ask for infinite variances.",
            evidence={"hidden": [int(k) for k in hidden]},
        )
    values, root, blind = np.zeros(b), np.zeros((b, rank)), np.zeros((b, b - rank))
    values[seen] = scipy.linalg.solve_triangular(T[:rank, :rank], Q[:, :rank].T @ y) / scale[seen]
    root[seen] = scipy.linalg.solve_triangular(T[:rank, :rank], np.eye(rank)) / scale[seen, None]
    unseen = scipy.linalg.solve_triangular(T[:rank, :rank], T[:rank, rank:])
    unseen[np.abs(unseen) < _ROUND_OFF] = 0.0
    blind[seen] = -unseen / scale[seen, None]
    blind[hidden] = np.diag(1.0 / scale[hidden])
    condition = np.inf if hidden.size else score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value
    return Solution(values, root @ root.T, blind, float(condition))


# What an estimate leaves unexplained, from the compressed equations alone.


def residual_rms(problem: Problem, beta: Array) -> Array:
    r"""Root mean square of $\tau - W_1\beta - W\phi_{known}$ at each degree of freedom.

    The triangle $T_k$ of $[W_k\ \tau_k]$ has the same norm as the equations themselves:
    $\lVert \tau_k - W_k\phi \rVert = \lVert T_k\,(-\phi, 1) \rVert$.

    Args:
        problem: the question.
        beta: base parameters, shape (b,), SI.

    Returns:
        The rms, shape (nv,), N·m or N.
    """
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    small = problem.compressed
    lengths = [
        float(np.linalg.norm(T @ np.r_[-phi[columns], 1.0]))
        for columns, T in zip(small.columns, small.triangles, strict=True)
    ]
    return np.asarray(np.array(lengths) / np.sqrt(small.samples))
