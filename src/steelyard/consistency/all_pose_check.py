r"""The check in exact arithmetic that a mass matrix is positive definite at every pose.

Parameters phi and moves y prove a bound t when, for every link,

$$X_i(\phi, y) - t\,e_i e_i^T - \sigma_i 1 + k\,Q_i^T Q_i \succ 0 ,$$

where $e_i$ picks the joint's own rate, $Q_i w_i$ never exceeds $\delta_i |v|$ (`all_pose_reach`), and
$\sigma_i$ bounds what the rounding of axes and rotations in the description can change. The sum over the
links is then $v^T M(q)\,v - t\,|v|^2 + k \sum_i |Q_i w_i|^2 > 0$, so at every pose

$$\lambda_{\min}(M(q)) \ge t - k \sum_i \delta_i^2 .$$

The numbers of a proof are floating-point numbers, hence fractions. The matrices are formed from them in
whole numbers, without any rounding, and judged by the signs of their leading minors (Sylvester). Besides the
law above nothing is assumed of how the moves were found.

The proof is about the mechanism as described: lengths, axes (made unit), the rotations nearest to the stated
ones, and phi. The number t compares $v^T M v$ with $\sum_j v_j^2$, in kg·m² for turning joints and kg for
sliding ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.consistency.all_pose_blocks import (
    EnergyBlocks,
    LinkBlock,
    coefficients,
    energy_blocks,
    idle_links,
)
from steelyard.consistency.all_pose_forms import Exact, bracket, exact, passing_forms
from steelyard.consistency.all_pose_reach import Reach, reaches
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

_PENALTY = 2**40
"""k in units of the largest entry of X: huge, for its price is the square of a round-off."""


@dataclass(frozen=True, eq=False)
class CertificateChecker:
    """The exact matrices of one robot, against which certificates are checked.

    Attributes:
        blocks: the forms of all links.
        reach: what never occurs at each link.
    """

    blocks: EnergyBlocks
    reach: tuple[Reach, ...]

    @classmethod
    def of(cls, robot: Robot, layout: Layout, idle: tuple[str, ...] = ()) -> CertificateChecker:
        """Form the matrices of a robot, and see that the forms pass their joints unchanged.

        Args:
            robot: a tree of joints with one degree of freedom.
            layout: the order of phi.
            idle: names of the links that take no part.

        Returns:
            The checker.

        Raises:
            InputError: a link that takes no part carries one that does.
        """
        wanted = tuple(link in idle for link in layout.links)
        if idle_links(robot, wanted) != wanted or set(idle) - set(layout.links):
            raise InputError("are not ends of the tree.", place="idle", evidence={"idle": idle})
        for joint in robot.joints:
            _refuse_changed(bracket(joint), passing_forms(joint, exact(np.eye(7)[:6]), exact(np.eye(7)[6])))
        return cls(energy_blocks(robot, layout, wanted), reaches(robot))

    def bound_of(self, parameters: ArrayLike, moves: ArrayLike, bound: float) -> float:
        """The bound that moves prove.

        Args:
            parameters: phi, shape (p,), SI.
            moves: y, shape (m,), SI.
            bound: t to try, kg·m² or kg.

        Returns:
            The proven bound, at most t; minus infinity where t is too much, or y proves nothing.
        """
        phi = np.asarray(parameters, dtype=np.float64)
        theta = coefficients(self.blocks, phi, np.asarray(moves, dtype=np.float64))
        links = phi[: 10 * len(self.blocks.idle)].reshape(-1, 10)
        if links[np.array(self.blocks.idle)].any():
            return -math.inf
        k = _PENALTY * (1 + int(np.abs(theta).max(initial=0.0)))
        loss = Fraction(0)
        for block, reach in zip(self.blocks.blocks, self.reach, strict=True):
            if not _positive(_judged(block, reach, theta, bound, k)):
                return -math.inf
            loss += k * Fraction(reach.within) ** 2
        return bound if loss == 0 else math.nextafter(float(Fraction(bound) - loss), -math.inf)


def _judged(block: LinkBlock, reach: Reach, theta: Array, bound: float, penalty: int) -> Exact:
    """The matrix of the law above times a power of two, in whole numbers."""
    theta = theta[block.columns]
    slip = float(np.abs(theta) @ block.slip) * 1.01
    whole, shift = _whole([*theta, bound, slip, *reach.rows.ravel()])
    c, t, sigma, rows = whole[: theta.size], whole[theta.size], whole[theta.size + 1], whole[theta.size + 2 :]
    flat = block.integers.reshape(theta.size, -1)
    X: Exact = np.dot(np.array(c, dtype=object), flat).reshape(block.order, block.order)
    unit = 2**block.exponent
    X[block.rate, block.rate] -= t * unit
    X[np.diag_indices(block.order)] -= sigma * unit
    if block.order > 1 and len(reach.rows):
        Q = np.array(rows, dtype=object).reshape(-1, 6)
        X = X * 2**shift
        X[:6, :6] += penalty * unit * (Q.T @ Q)
    return X


def _whole(values: list[float]) -> tuple[list[int], int]:
    """Floating-point numbers as whole ones times a common power of two."""
    ratios = [float(value).as_integer_ratio() for value in values]
    shift = max(denominator.bit_length() - 1 for _, denominator in ratios)
    return [numerator << (shift + 1 - denominator.bit_length()) for numerator, denominator in ratios], shift


def _positive(matrix: Exact) -> bool:
    """Whether all leading minors of a symmetric matrix of whole numbers are positive (Bareiss)."""
    A, before = [list(row) for row in matrix], 1
    n = len(A)
    for k in range(n):
        pivot = A[k][k]
        if pivot <= 0:
            return False
        for i in range(k + 1, n):
            for j in range(i, n):
                # Exact: every such difference is a minor times the pivot before.
                A[i][j] = (A[i][j] * pivot - A[k][i] * A[k][j]) // before
        before = pivot
    return True


def _refuse_changed(ad: Exact, forms: list[Exact]) -> None:
    flow = exact(np.zeros((7, 7)))
    flow[:6, :6] = ad
    for form in forms:
        change = form @ flow
        if (change + change.T).any():
            raise InputError("a form changes with the joint it should pass.", place="forms")
