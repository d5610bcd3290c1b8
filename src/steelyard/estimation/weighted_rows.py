"""The torque equations sample by sample, a few thousand at a time: no large regressor is stored whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.problem import Problem

PIECE = 4096
"""Samples taken at a time; noise is not followed from one piece to the next."""
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
        stacked = weighted if R is None else np.vstack([R, weighted])
        R = np.asarray(np.linalg.qr(stacked, mode="r"))
    assert R is not None  # an Evidence holds at least one sample
    full = np.zeros((R.shape[1], R.shape[1]))
    full[: len(R)] = R
    return full
