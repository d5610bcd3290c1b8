r"""How ten inertial parameters enter momentum and move with a body, as sparse matrices over any field.

The equations are those of `parameter_maps`, written by component:

$$M(v, \phi)\cdot\pi = m\,(u \cdot l) + h \cdot (u \times c + l \times \omega) + \omega \cdot I c, \qquad
  \dot h = c \times h + m\,l, \qquad
  \dot I = [c]_\times I - I [c]_\times + 2\,(l \cdot h)\,1 - l h^T - h l^T.$$

Velocities are (linear, angular). The ten parameters come in the order of `TIE_BREAK`, so that the leading
entry of a row is the parameter preferred as its head.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.identifiability.exact.vectors import Number, Vector, add_at

AXES = range(3)
MASS = 0
MOMENT = (1, 2, 3)
INERTIA = ((4, 9, 8), (9, 5, 7), (8, 7, 6))
"""Where mass, moments and inertia tensor stand among m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy."""
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""The entries of the inertia tensor in that order."""
CROSS = ((0, 1, 2, 1), (1, 2, 0, 1), (2, 0, 1, 1), (0, 2, 1, -1), (1, 0, 2, -1), (2, 1, 0, -1))
"""(a × b)_i is the sum of sign · a_j · b_k over these i, j, k, sign."""


def momentum(twist: Sequence[Number]) -> list[Vector]:
    """M(·, φ): from a velocity to the coefficients of the parameters in its product with a twist.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 10 × 6.
    """
    linear, angular = twist[:3], twist[3:]
    columns: list[Vector] = [{} for _ in range(6)]
    for i in AXES:
        add_at(columns[i], MASS, linear[i])
        for j in AXES:
            add_at(columns[3 + i], INERTIA[i][j], angular[j])
    for i, j, k, sign in CROSS:
        add_at(columns[j], MOMENT[i], sign * angular[k])
        add_at(columns[3 + k], MOMENT[i], sign * linear[j])
    return columns


def turned_velocity(twist: Sequence[Number]) -> list[Vector]:
    """What a velocity becomes, at first order, as the body moves along a twist: Φ × v.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 6 × 6.
    """
    columns: list[Vector] = [{} for _ in range(6)]
    for i, j, k, sign in CROSS:
        add_at(columns[k], i, sign * twist[3 + j])
        add_at(columns[3 + k], 3 + i, sign * twist[3 + j])
        add_at(columns[3 + k], i, sign * twist[j])
    return columns


def turned_coefficients(twist: Sequence[Number]) -> list[Vector]:
    """Aᵀ: what coefficients of parameters become, at first order, as the body moves along a twist.

    Args:
        twist: linear and angular part, six numbers.

    Returns:
        The matrix, 10 × 10; its columns are the rows of A.
    """
    linear, angular = twist[:3], twist[3:]
    rows: list[Vector] = [{} for _ in range(10)]
    for i in AXES:
        add_at(rows[MOMENT[i]], MASS, linear[i])
    for i, j, k, sign in CROSS:
        add_at(rows[MOMENT[i]], MOMENT[k], sign * angular[j])
        # [c]× has the entry sign · c_j at (i, k); both products with I, for the entries above the diagonal.
        for b in AXES:
            if i <= b:
                add_at(rows[INERTIA[i][b]], INERTIA[k][b], sign * angular[j])
            if b <= k:
                add_at(rows[INERTIA[b][k]], INERTIA[b][i], -sign * angular[j])
    for a, b in PAIRS:
        _add_shift(rows[INERTIA[a][b]], a, b, linear, [{MOMENT[i]: 1} for i in AXES])
    return rows


def moved_velocity(R: Sequence[Sequence[Number]], p: Sequence[Number]) -> list[Vector]:
    """The velocity of a body that moves with its carrier, from the carrier's: (Rᵀ(u + ω × p), Rᵀ ω).

    Args:
        R: axes of the body as columns in its carrier's frame, 3 × 3 numbers.
        p: origin of the body in its carrier's frame, three numbers, m.

    Returns:
        The matrix, 6 × 6.
    """
    columns: list[Vector] = [{} for _ in range(6)]
    for i in AXES:
        for a in AXES:
            add_at(columns[i], a, R[i][a])
            add_at(columns[3 + i], 3 + a, R[i][a])
    for i, j, k, sign in CROSS:
        for a in AXES:
            add_at(columns[3 + j], a, sign * R[i][a] * p[k])
    return columns


def moved_coefficients(R: Sequence[Sequence[Number]], p: Sequence[Number]) -> list[Vector]:
    """Bᵀ: what coefficients of a carrier's parameters ask of the body it carries.

    Args:
        R: axes of the body as columns in its carrier's frame, 3 × 3 numbers.
        p: origin of the body in its carrier's frame, three numbers, m.

    Returns:
        The matrix, 10 × 10; its columns are the rows of B, which gives the body's parameters in the
        carrier's frame.
    """
    rows: list[Vector] = [{} for _ in range(10)]
    turned: list[Vector] = [{} for _ in AXES]
    rows[MASS] = {MASS: 1}
    for i in AXES:
        add_at(rows[MOMENT[i]], MASS, p[i])
        for a in AXES:
            add_at(rows[MOMENT[i]], MOMENT[a], R[i][a])
            add_at(turned[i], MOMENT[a], R[i][a])
    for a, b in PAIRS:
        row = rows[INERTIA[a][b]]
        for i in AXES:
            for j in AXES:
                add_at(row, INERTIA[i][j], R[a][i] * R[b][j])
            if a == b:
                add_at(row, MASS, p[i] * p[i])
        add_at(row, MASS, -p[a] * p[b])
        _add_shift(row, a, b, p, turned)
    return rows


def _add_shift(row: Vector, a: int, b: int, p: Sequence[Number], moments: Sequence[Vector]) -> None:
    """Add the entry (a, b) of 2 (p · h) 1 - p hᵀ - h pᵀ, with the first moments h given as rows."""
    for i in AXES if a == b else ():
        for k, value in moments[i].items():
            add_at(row, k, 2 * p[i] * value)
    for k, value in moments[b].items():
        add_at(row, k, -p[a] * value)
    for k, value in moments[a].items():
        add_at(row, k, -p[b] * value)
