r"""The ten numbers that meet the conditions on a link: $\varphi = B\,\theta + c$, $\theta$ some of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError

DEPENDENT = 1e-10
"""A row whose largest entry falls below this, having started from 1, repeats the others."""
CONTRADICTION = 1e-9
"""A repeated row contradicts the others when its value is off by more than this, relative to the largest."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """All vectors of ten numbers that meet some conditions.

    Attributes:
        free: indices of the terms that stay free, increasing.
        matrix: B, one column a free term and the identity in its rows, shape (10, f), SI.
        offset: c, zero in the rows of free terms, shape (10,), SI.
    """

    free: tuple[int, ...]
    matrix: Array
    offset: Array


def solve_conditions(rows: Array, values: Array, *, place: str) -> Solutions:
    r"""Solve $C\,\varphi = c$ by elimination, from the last term to the first.

    Each equation gives up the last of its terms, so that a second moment is written in second moments, then
    in first ones and the mass, and never the other way round.

    Args:
        rows: C, shape (r, 10), SI.
        values: c, shape (r,), SI.
        place: whose conditions they are, for the message.

    Returns:
        The solutions.

    Raises:
        InputError: the conditions contradict each other.
    """
    terms = rows.shape[1]
    A = np.column_stack([rows[:, ::-1], values])
    A /= np.abs(A[:, :terms]).max(axis=1, initial=0.0, keepdims=True)
    scale = np.abs(A[:, terms]).max(initial=0.0)
    pivots: list[int] = []
    for column in range(terms):
        rank = len(pivots)
        if rank == len(A):
            break
        best = rank + int(np.argmax(np.abs(A[rank:, column])))
        if abs(A[best, column]) <= DEPENDENT:
            continue
        A[[rank, best]] = A[[best, rank]]
        A[rank] /= A[rank, column]
        others = np.arange(len(A)) != rank
        A[others] -= np.outer(A[others, column], A[rank])
        pivots.append(column)
    off = float(np.abs(A[len(pivots) :, terms]).max(initial=0.0))
    if off > CONTRADICTION * scale:
        raise InputError(
            f"the conditions contradict each other by {off:.3g}.",
            place=place,
            remedy="Drop one of them.",
            evidence={"rows": rows, "values": values},
        )
    given_up = [terms - 1 - column for column in pivots]
    free = tuple(k for k in range(terms) if k not in given_up)
    B, c = np.zeros((terms, len(free))), np.zeros(terms)
    B[free, np.arange(len(free))] = 1.0
    B[given_up] = -A[: len(pivots), :terms][:, ::-1][:, free]
    c[given_up] = A[: len(pivots), terms]
    return Solutions(free, B + 0.0, c)
