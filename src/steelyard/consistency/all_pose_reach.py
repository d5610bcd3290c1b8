r"""Which twists never occur: linear functions of a link's $w_i$ that vanish at every pose and rate.

The links near the base do not move in all directions: the first has $w_1 = 0$, and where axes meet, the next
ones have no velocity of their origins. On such directions nothing need be asked of a form. The vanishing
functions are the rows of $Q_i$, found numerically; how nearly they vanish is then bounded,

$$|Q_i w_i| \le \delta_i\,|v| \quad\text{for all } q, v,$$

with $\delta_i = 0$ where exact arithmetic confirms it. For the turning joint i with parent p,
$w_i = (K_1 + \cos q\,K_c + \sin q\,K_s)\,A\,(w_p + s_p v_p)$, and each $Q_i K A = Y Q_p + E$ with a small
remainder E, so

$$\delta_i = \sum_K \lVert Y\rVert\,\delta_p + \lVert E\rVert\,L_p + |Q_i K A s_p| ,$$

where $L_p$ bounds $|w_p|/|v|$. Sliding joints take w as far as they like: beyond one, only exact zeros count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, IntArray, read_only
from steelyard.consistency.all_pose_forms import Exact, axis_of, bracket, exact, to_child
from steelyard.consistency.all_pose_slip import rotation_slip, unit_slip
from steelyard.robot import Joint, JointKind, Robot

_VANISHES = 1e-10
"""Singular values below this, relative to the largest, are directions that do not occur."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What never occurs at one link.

    Attributes:
        rows: Q, shape (k, 6), SI; in reduced row echelon form.
        pivots: columns where Q is the identity, shape (k,), dimensionless.
        within: delta, SI; zero where Q w = 0 exactly.
        most: L, a bound on |w| / |v|, SI; infinite beyond a sliding joint.
    """

    rows: Array
    pivots: IntArray
    within: float
    most: float

    @property
    def basis(self) -> Array:
        """Orthonormal basis of the twists that do occur, shape (6, 6 - k), SI."""
        return np.asarray(scipy.linalg.null_space(self.rows)) if len(self.rows) else np.eye(6)


def reaches(robot: Robot) -> tuple[Reach, ...]:
    """What never occurs at each link.

    Args:
        robot: a tree of joints with one degree of freedom.

    Returns:
        One answer for each link.
    """
    found: list[Reach] = []
    for joint in robot.joints:
        if joint.parent < 0:
            found.append(Reach(read_only(np.eye(6)), read_only(np.arange(6)), 0.0, 0.0))
        else:
            found.append(_beyond(joint, robot.joints[joint.parent], found[joint.parent]))
    return tuple(found)


def _beyond(joint: Joint, parent: Joint, before: Reach) -> Reach:
    s, maps = axis_of(parent), [K @ to_child(joint) for K in _harmonics(joint)]
    span = np.column_stack([before.basis, s.astype(float)])
    seen = np.hstack([K.astype(float) @ span for K in maps])
    rows, pivots = _vanishing(seen)
    Q, Q_p = exact(rows), exact(before.rows)
    within = 0.0
    for K in maps:
        G = Q @ K
        Y = G[:, before.pivots]
        E = G - Y @ Q_p
        within += _times(_norm(Y), before.within) + _times(_norm(E), before.most) + _norm((G @ s)[:, None])
    most = _most(joint, parent, before)
    slip = rotation_slip(joint) + 8.0 * (unit_slip(joint) + unit_slip(parent))
    within += _times(slip * _norm(Q), 2.0 * most)
    turns = joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS)
    if math.isinf(within) or (within > 0.0 and not turns):
        return Reach(read_only(np.zeros((0, 6))), read_only(np.zeros(0, dtype=np.int64)), 0.0, most)
    return Reach(read_only(rows), read_only(pivots), within, most)


def _harmonics(joint: Joint) -> list[Exact]:
    r"""Matrices of which $e^{-q\,\mathrm{ad}_s}$ is a combination with factors that depend on q.

    The factors are 1, cos and -sin for a turning joint, all at most one; 1 and -q for a sliding one. A screw
    has both kinds.
    """
    ad, one = bracket(joint), exact(np.eye(6))
    if not joint.kind.rotates:
        return [one, ad]
    u = exact(joint.axis)
    along = exact(np.zeros((6, 6)))
    along[:3, :3] = along[3:, 3:] = np.outer(u, u)
    if joint.kind is JointKind.HELICAL:
        turn = exact(np.zeros((6, 6)))
        turn[:3, :3] = turn[3:, 3:] = ad[3:, 3:]
        slide = exact(np.zeros((6, 6)))
        slide[:3, 3:] = ad[3:, 3:]
        return [along, one - along, turn, slide @ along, slide @ (one - along), slide @ turn]
    return [along, one - along, ad]


def _vanishing(seen: Array) -> tuple[Array, IntArray]:
    """The functions that vanish on given twists, in reduced row echelon form."""
    U, sizes, _ = np.linalg.svd(seen)
    rank = int((sizes > _VANISHES * max(sizes.max(initial=0.0), 1e-300)).sum())
    null = U[:, rank:].T
    if len(null) == 0:
        return np.zeros((0, 6)), np.zeros(0, dtype=np.int64)
    _, _, order = scipy.linalg.qr(null, mode="economic", pivoting=True)
    pivots = np.sort(order[: len(null)]).astype(np.int64)
    rows = np.linalg.solve(null[:, pivots], null)
    rows[np.abs(rows) < _VANISHES] = 0.0
    rows[:, pivots] = np.eye(len(null))
    return rows, pivots


def _most(joint: Joint, parent: Joint, before: Reach) -> float:
    if joint.kind not in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        return math.inf
    return (
        1.01
        * (1.0 + float(np.linalg.norm(joint.placement.translation)))
        * (before.most + 1.0 + abs(parent.pitch))
    )


def _norm(matrix: Exact) -> float:
    """An upper bound on the norm; zero exactly where the matrix is."""
    total = sum((abs(x) for x in matrix.ravel()), Fraction(0))
    return 0.0 if total == 0 else math.nextafter(float(total), math.inf) + 1e-300


def _times(left: float, right: float) -> float:
    """The product, where zero times infinity is zero."""
    return 0.0 if left == 0.0 or right == 0.0 else 1.01 * left * right
