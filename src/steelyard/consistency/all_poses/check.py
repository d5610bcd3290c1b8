"""The check in exact arithmetic that a mass matrix is positive definite at every pose; its certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, keep_checked, read_only
from steelyard.consistency.all_poses.energy import (
    EnergyBlocks,
    Exact,
    LinkBlock,
    axis_of,
    bracket,
    coefficients,
    energy_blocks,
    exact_number,
    exact_to_child,
    idle_links,
    passing_forms,
    rotation_slip,
    unit_slip,
)
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Joint, JointKind, Robot

# Which twists never occur: linear functions of a link's $w_i$ that vanish at every pose and rate.
#
# The links near the base do not move in all directions: the first has $w_1 = 0$, and where axes meet, the
# next ones have no velocity of their origins. On such directions nothing need be asked of a form. The
# vanishing functions are the rows of $Q_i$, found numerically; how nearly they vanish is then bounded,
#
# $$|Q_i w_i| \le \delta_i\,|v| \quad\text{for all } q, v,$$
#
# with $\delta_i = 0$ where exact arithmetic confirms it. For the turning joint i with parent p,
# $w_i = (K_1 + \cos q\,K_c + \sin q\,K_s)\,A\,(w_p + s_p v_p)$, and each $Q_i K A = Y Q_p + E$ with a small
# remainder E, so
#
# $$\delta_i = \sum_K \lVert Y\rVert\,\delta_p + \lVert E\rVert\,L_p + |Q_i K A s_p| ,$$
#
# where $L_p$ bounds $|w_p|/|v|$. Sliding joints take w as far as they like: beyond one, only exact zeros
# count.

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
    s, maps = axis_of(parent), [K @ exact_to_child(joint) for K in _harmonics(joint)]
    span = np.column_stack([before.basis, s.astype(float)])
    seen = np.hstack([K.astype(float) @ span for K in maps])
    rows, pivots = _vanishing(seen)
    Q, Q_p = exact_number(rows), exact_number(before.rows)
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
    ad, one = bracket(joint), exact_number(np.eye(6))
    if not joint.kind.rotates:
        return [one, ad]
    u = exact_number(joint.axis)
    along = exact_number(np.zeros((6, 6)))
    along[:3, :3] = along[3:, 3:] = np.outer(u, u)
    if joint.kind is JointKind.HELICAL:
        turn = exact_number(np.zeros((6, 6)))
        turn[:3, :3] = turn[3:, 3:] = ad[3:, 3:]
        slide = exact_number(np.zeros((6, 6)))
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


# The check in exact arithmetic that a mass matrix is positive definite at every pose.
#
# Parameters phi and moves y prove a bound t when, for every link,
#
# $$X_i(\phi, y) - t\,e_i e_i^T - \sigma_i 1 + k\,Q_i^T Q_i \succ 0 ,$$
#
# where $e_i$ picks the joint's own rate, $Q_i w_i$ never exceeds $\delta_i |v|$ (`Reach`), and
# $\sigma_i$ bounds what the rounding of axes and rotations in the description can change. The sum over the
# links is then $v^T M(q)\,v - t\,|v|^2 + k \sum_i |Q_i w_i|^2 > 0$, so at every pose
#
# $$\lambda_{\min}(M(q)) \ge t - k \sum_i \delta_i^2 .$$
#
# The numbers of a proof are floating-point numbers, hence fractions. The matrices are formed from them in
# whole numbers, without any rounding, and judged by the signs of their leading minors (Sylvester). Besides
# the law above nothing is assumed of how the moves were found.
#
# The proof is about the mechanism as described: lengths, axes (made unit), the rotations nearest to the
# stated ones, and phi. The number t compares $v^T M v$ with $\sum_j v_j^2$, in kg·m² for turning joints and
# kg for sliding ones.

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

        Raises:
            InputError: a link that takes no part carries one that does.
        """
        wanted = tuple(link in idle for link in layout.links)
        if idle_links(robot, wanted) != wanted or set(idle) - set(layout.links):
            raise InputError("are not ends of the tree.", place="idle", evidence={"idle": idle})
        for joint in robot.joints:
            _refuse_changed(
                bracket(joint), passing_forms(joint, exact_number(np.eye(7)[:6]), exact_number(np.eye(7)[6]))
            )
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
    flow = exact_number(np.zeros((7, 7)))
    flow[:6, :6] = ad
    for form in forms:
        change = form @ flow
        if (change + change.T).any():
            raise InputError("a form changes with the joint it should pass.", place="forms")


# The certificate as a file: written, read back, checked again


@dataclass(frozen=True, eq=False)
class PoseCertificate:
    """What proves that the mass matrix is positive definite at every pose.

    Attributes:
        robot: digest of the robot it is about.
        names: names of the parameters.
        parameters: phi, shape (p,), SI.
        idle: names of the links that take no part, being without mass.
        moves: y, shape (m,), SI.
        bound: t, kg·m² or kg.
    """

    robot: str
    names: tuple[str, ...]
    parameters: Array
    idle: tuple[str, ...]
    moves: Array
    bound: float
    schema: int = 1

    def __post_init__(self) -> None:
        phi = checked("parameters", self.parameters, (len(self.names),))
        object.__setattr__(self, "parameters", read_only(phi))
        keep_checked(self, ("m",), "moves")
        if not math.isfinite(self.bound):
            raise InputError(f"must be finite, got {self.bound}.", place="bound")


@dataclass(frozen=True)
class CertificateCheck:
    """Whether a certificate holds.

    Attributes:
        holds: whether it proves a positive bound.
        bound: proven lower bound of the smallest eigenvalue at every pose, kg·m² or kg; minus infinity where
            the certificate proves none.
        reason: what is wrong; empty where it holds.
    """

    holds: bool
    bound: float
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds


def check_certificate(robot: Robot, layout: Layout, certificate: PoseCertificate) -> CertificateCheck:
    """Check a certificate anew, in exact arithmetic.

    Args:
        robot: the robot it is about.
        layout: the order of its parameters.
        certificate: what to check.

    Returns:
        Whether it holds, and the bound it proves.
    """
    if certificate.robot != robot.digest:
        return CertificateCheck(False, -math.inf, "It is about another robot.")
    if certificate.names != layout.names:
        return CertificateCheck(False, -math.inf, "It is about other parameters.")
    try:
        checker = CertificateChecker.of(robot, layout, certificate.idle)
        bound = checker.bound_of(certificate.parameters, certificate.moves, certificate.bound)
    except InputError as error:
        return CertificateCheck(False, -math.inf, str(error))
    if bound > 0.0:
        return CertificateCheck(True, bound)
    return CertificateCheck(False, bound, f"Its forms are not positive beyond {certificate.bound:g}.")
