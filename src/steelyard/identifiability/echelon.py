r"""The identifiable combinations in reduced row echelon form: which parameter leads which grouping.

Rows that span the identifiable combinations become $\beta = K\phi$ with the identity in the columns of the
base parameters, so each base parameter is a standard one plus others times known lengths. The choice of base
parameters is that of the tie-break: from left to right, the first column that is independent of those before.
Every column is scaled by the robot's length first, so that coefficients are of order one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import NoSolutionError
from steelyard.identifiability.base_parameters import DROPPED, KEPT, BaseParameters
from steelyard.identifiability.spans import SMALLEST, left_of
from steelyard.layout import Class


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
