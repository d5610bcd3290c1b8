r"""What uncertain link parameters add to the torques: $|Y|\rho$, one column at a time (compiled).

The column of body i's parameter in the torque of joint j is the power of the wrench that a unit of the
parameter needs with the motion of body i that a unit velocity of joint j is. Both are taken as their centres
give or take their deviations: the columns are multiplied by the small ρ.
"""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.tree import Tree
from steelyard.enclosure.arithmetic import (
    CENTRE,
    DEVIATION,
    EPSILON,
    OPERATIONS,
    UNDERFLOW,
    add_number,
    add_product,
    add_scaled,
    clear,
    seal,
)
from steelyard.enclosure.bodies import add_lever, add_turned
from steelyard.enclosure.rows import Rows
from steelyard.enclosure.vectors import add_vector, clear_vector, seal_vector

_PAIR = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
"""Where the entries of a symmetric matrix stand among xx, xy, yy, xz, yz, zz."""


@kernel
def screw_rows(nb: int) -> int:
    """Rows for the linear and angular part of every joint's screw at every body, and for six squares."""
    return 6 * nb * nb + 6


@kernel
def add_spread(tree: Tree, rho: Array, X: Array, at: Rows, columns: Array, extra: Array) -> None:
    """Add to extra (nb,) what the half widths rho (nb, 10) of all links' parameters add to each torque.

    The screws stand behind the other rows; columns (10, 6, 2) is scratch.
    """
    nb = tree.parent.size
    for i in range(nb):
        _carry_screws(tree, i, X, at)
        if not rho[i].any():
            continue
        _write_columns(i, X, at, at.end + 6 * nb * nb, columns)
        j = i
        while j >= 0:
            extra[j] += _power(rho[i], X, at.end + 6 * (i * nb + j), columns)
            j = tree.parent[j]


@kernel
def _carry_screws(tree: Tree, i: int, X: Array, at: Rows) -> None:
    """Write the screws of joint i and of all that carry it, at body i and in its frame."""
    nb, parent, moved = tree.parent.size, tree.parent[i], at.spare + 9
    j = parent
    while j >= 0:
        inner, outer = at.end + 6 * (parent * nb + j), at.end + 6 * (i * nb + j)
        clear_vector(X, moved)
        add_lever(tree, i, X, at, -1.0, inner + 3, moved)
        add_vector(X, moved, 1.0, inner)
        seal_vector(X, moved)
        clear_vector(X, outer)
        clear_vector(X, outer + 3)
        add_turned(tree, i, X, at, moved, outer, False)
        add_turned(tree, i, X, at, inner + 3, outer + 3, False)
        seal_vector(X, outer)
        seal_vector(X, outer + 3)
        j = tree.parent[j]
    own = at.end + 6 * (i * nb + i)
    for r in range(6):
        clear(X, own + r)
        add_number(X, own + r, tree.subspace[i, r])
    seal_vector(X, own)
    seal_vector(X, own + 3)


@kernel
def _power(rho: Array, X: Array, screw: int, columns: Array) -> float:
    """A bound on the sum over parameters of rho times the size of the column, rounded up."""
    total = 0.0
    for p in range(10):
        if rho[p] == 0.0:
            continue
        middle = spread = bulk = 0.0
        for c in range(6):
            x, dx = X[screw + c, CENTRE], X[screw + c, DEVIATION]
            f, df = columns[p, c, 0], columns[p, c, 1]
            middle += x * f
            spread += abs(x) * df + abs(f) * dx + dx * df
            bulk += abs(x * f)
        total += rho[p] * (abs(middle) + spread + OPERATIONS * EPSILON * (bulk + spread))
    return total * (1.0 + OPERATIONS * EPSILON) + UNDERFLOW


@kernel
def _write_columns(i: int, X: Array, at: Rows, squares: int, columns: Array) -> None:
    r"""Write centre and deviation of the wrench for a unit of each of the ten parameters, (10, 6, 2).

    A unit of $h_c$ needs the force $B\,e_c$ with $B = [\dot\omega]_\times + \omega\omega^T - |\omega|^2 1$
    and the moment $e_c \times d$; a unit of the inertia E needs the moment $E\dot\omega + \omega \times
    E\omega$, whose entries are sums of products $\omega_r\omega_c$.
    """
    w, b, d, y = at.w + 3 * i, at.b + 3 * i, at.d + 3 * i, at.spare + 9
    for r in range(3):
        for c in range(r, 3):
            clear(X, squares + _PAIR[r][c])
            add_product(X, squares + _PAIR[r][c], 1.0, w + r, w + c)
            seal(X, squares + _PAIR[r][c])
    columns[:] = 0.0
    for c in range(3):
        s, t = (c + 1) % 3, (c + 2) % 3
        _write(X, d + c, 1.0, columns[0, c])
        # Column c of B: ω̇ × e_c + ω ω_c - |ω|² e_c.
        clear_vector(X, y)
        add_scaled(X, y + c, -1.0, squares + _PAIR[s][s])
        add_scaled(X, y + c, -1.0, squares + _PAIR[t][t])
        add_scaled(X, y + s, 1.0, squares + _PAIR[s][c])
        add_scaled(X, y + s, 1.0, b + t)
        add_scaled(X, y + t, 1.0, squares + _PAIR[t][c])
        add_scaled(X, y + t, -1.0, b + s)
        for r in range(3):
            seal(X, y + r)
            _write(X, y + r, 1.0, columns[1 + c, r])
        _write(X, d + t, -1.0, columns[1 + c, 3 + s])
        _write(X, d + s, 1.0, columns[1 + c, 3 + t])
    for r in range(3):
        for c in range(r, 3):
            clear_vector(X, y)
            _add_inertia(X, b, squares, r, c, y)
            if r != c:
                _add_inertia(X, b, squares, c, r, y)
            for k in range(3):
                seal(X, y + k)
                _write(X, y + k, 1.0, columns[4 + _PAIR[r][c], 3 + k])


@kernel
def _write(X: Array, x: int, sign: float, out: Array) -> None:
    out[0], out[1] = sign * X[x, CENTRE], X[x, DEVIATION]


@kernel
def _add_inertia(X: Array, b: int, squares: int, r: int, c: int, out: int) -> None:
    """Add e_r ω̇_c + ω × e_r ω_c."""
    s, t = (r + 1) % 3, (r + 2) % 3
    add_scaled(X, out + r, 1.0, b + c)
    add_scaled(X, out + s, 1.0, squares + _PAIR[t][c])
    add_scaled(X, out + t, -1.0, squares + _PAIR[s][c])
