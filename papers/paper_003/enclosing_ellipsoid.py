r"""The smallest ellipsoid around balls (Loewner and John's), by a cone program.

The ellipsoid $|P x + b| \le 1$ with $P \succ 0$ has a volume that goes with $1 / \det P$, and holds the ball
of radius r about c if and only if there is a τ with

$$\begin{bmatrix} I & P c + b & r P \\ \cdot & 1 - \tau & 0 \\ \cdot & \cdot & \tau I \end{bmatrix}
  \succeq 0 .$$

A point is a ball without radius: $|P c + b| \le 1$. So log det P is maximised under these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones import ConeProgram, Constraint, Semidefinite, solve
from steelyard.cones.program import LogDet, SecondOrder, minus_log_dets
from steelyard.errors import InputError
from steelyard.inertia import Ellipsoid
from steelyard.limits.shapes import FLAT
from steelyard.pose import Pose

TOLERANCE = 1e-7
"""Of the logarithm of the volume; at 1e-8 the solver gave up on 4 of 500 random pairs of balls."""
ROUND_OFF = 1e-9
"""By how much, relatively, the semi-axes are lengthened so that round-off leaves nothing outside."""
HALVINGS = 60
ABOVE = 1e-12
_ROWS, _COLUMNS = np.triu_indices(3)


def enclosing_ellipsoid(centres: ArrayLike, radii: ArrayLike) -> Ellipsoid:
    """The ellipsoid of least volume that holds balls, and thereby the hull of all of them.

    Args:
        centres: c, shape (n, 3), m.
        radii: r, zero for points, shape (n,), m.

    Returns:
        The ellipsoid, in the frame of the centres, its longest axis first.

    Raises:
        InputError: a radius is negative, or the balls are points in a plane, which no smallest one holds.
    """
    c = checked("centres", centres, ("n", 3))
    r = checked("radii", radii, (len(c),))
    if (r < 0.0).any():
        raise InputError(f"must not be negative, got {r.min():g} m.", place="radii")
    middle = c.mean(axis=0)
    spread = c - middle
    sizes = np.linalg.svd(np.vstack([spread, np.zeros((3, 3))]), compute_uv=False)
    size = float((np.linalg.norm(spread, axis=1) + r).max())
    if not r.any() and sizes[2] <= FLAT * max(sizes[0], FLAT):
        raise InputError("lie in a plane: no ellipsoid around them is smallest.", place="centres")
    P, b = _solved(spread / size, r / size)
    inverses, R = np.linalg.eigh(P)
    R[:, 2] *= np.sign(np.linalg.det(R))
    semi_axes = size / inverses
    centre = middle - size * np.linalg.solve(P, b)
    # The solver leaves the balls in by its tolerance only; measuring them makes it so.
    furthest = _furthest((c - centre) @ R, r, semi_axes).max()
    return Ellipsoid(Pose(R, centre), read_only((1.0 + ROUND_OFF) * furthest * semi_axes))


def _solved(c: Array, r: Array) -> tuple[Array, Array]:
    """P (3, 3) and b (3,) of the smallest ellipsoid."""
    balls = np.flatnonzero(r > 0.0)
    n = 9 + len(balls)
    # Entries k of x are the upper triangle of P, b, then one τ for each ball.
    unit = np.zeros((n, 3, 3))
    unit[np.arange(6), _ROWS, _COLUMNS] = unit[np.arange(6), _COLUMNS, _ROWS] = 1.0
    shift = np.zeros((n, 3))
    shift[6:9] = np.eye(3)
    constraints: list[Constraint] = []
    for at in c[r == 0.0]:
        A = np.zeros((4, n))
        A[1:] = -(unit @ at + shift).T
        constraints.append(SecondOrder(A, np.array([1.0, 0.0, 0.0, 0.0])))
    for k, (at, radius) in enumerate(zip(c[balls], r[balls], strict=True), start=9):
        F = np.zeros((n, 7, 7))
        F[:, :3, 3] = F[:, 3, :3] = unit @ at + shift
        F[:, :3, 4:] = F[:, 4:, :3] = radius * unit
        F[k, 3:, 3:] = np.diag([-1.0, 1.0, 1.0, 1.0])
        constraints.append(Semidefinite(np.diag([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), F))
    program = ConeProgram.minimise_linear(np.zeros(n), constraints)
    volume = LogDet(1.0, Semidefinite(np.zeros((3, 3)), unit))
    # A volume of reduced accuracy is as good: that the balls are held is measured afterwards.
    x = solve(minus_log_dets(program, [volume]), tolerance=TOLERANCE, accept_reduced=True).x[:n]
    return np.tensordot(x, unit, 1), x @ shift


def _furthest(c: Array, r: Array, semi_axes: Array) -> Array:
    r"""Factors on an ellipsoid, in its own axes, at which each ball is just held, shape (n,).

    With $D = \mathrm{diag}(a^{-2})$ the largest $x^T D x$ over the ball is the least over $\mu > \max D$ of
    $\mu r^2 + \sum_i \mu D_i c_i^2 / (\mu - D_i)$, and each of these is a bound. Its slope
    $r^2 - \sum_i D_i^2 c_i^2 / (\mu - D_i)^2$ grows, so its zero is found by halving.
    """
    D = semi_axes**-2.0
    squares = (D * c**2).sum(axis=1)
    ball = r > 0.0
    c, r = c[ball], r[ball]
    # Just above the pole, so that nothing is divided by zero; at the other end the slope is not negative.
    low = np.full(len(c), (1.0 + ABOVE) * D.max())
    high = low + np.linalg.norm(D * c, axis=1) / r
    for _ in range(HALVINGS):
        mu = 0.5 * (low + high)
        slope = r**2 - ((D * c / (mu[:, None] - D)) ** 2).sum(axis=1)
        low, high = np.where(slope < 0.0, mu, low), np.where(slope < 0.0, high, mu)
    mu = high[:, None]
    squares[ball] = high * r**2 + (mu * D * c**2 / (mu - D)).sum(axis=1)
    return np.asarray(np.sqrt(squares))
