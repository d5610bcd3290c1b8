"""The least-squares solution of a triangle of base equations, and what to do where the motion is blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiability import Criterion, Information, score

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

    Returns:
        The solution.

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
