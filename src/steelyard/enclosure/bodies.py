"""From the base outwards: how each body moves, as forms in its own frame, in one table of rows (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.tree import Tree
from steelyard.enclosure.arithmetic import (
    BALL,
    FIRST,
    RADIUS,
    TERMS,
    add_cross,
    add_number,
    add_product,
    add_product_cross,
    add_scaled,
    add_shared,
    add_times,
    add_vector,
    clear,
    clear_vector,
    load_form,
    seal,
    seal_vector,
    sine_and_cosine,
    size,
)
from steelyard.enclosure.forms import Forms

# The table of forms that kernels work on: what they are given, and where in it everything stands.


class KernelInputs(NamedTuple):
    """Forms as kernels read them.

    Attributes:
        centre: shape (K, n), SI.
        generators: shape (K, n, S), SI.
        radius: shape (K, n), SI.
    """

    centre: Array
    generators: Array
    radius: Array


def kernel_inputs(x: Forms) -> KernelInputs:
    """Take forms to a kernel.

    Returns:
        Their arrays, read-only.
    """
    return KernelInputs(x.centre, x.generators, x.radius)


class FormRows(NamedTuple):
    """Where the forms of one stretch stand in their table: body i at + i, or at + 3 i if they are vectors.

    Attributes:
        q: positions.
        v: velocities.
        a: accelerations.
        sine: of the positions.
        cosine: of the positions.
        tau: torques.
        w: vectors, angular velocities.
        b: vectors, angular accelerations.
        d: vectors, accelerations of the origins less free fall.
        F: vectors, forces.
        N: vectors, moments.
        spare: six vectors for what lies between.
        end: behind the last.
    """

    q: int
    v: int
    a: int
    sine: int
    cosine: int
    tau: int
    w: int
    b: int
    d: int
    F: int
    N: int
    spare: int
    end: int


@kernel
def rows_for(nb: int) -> FormRows:
    """Rows for nb bodies: six forms and five vectors each, and the spare ones."""
    w = 6 * nb
    spare = w + 15 * nb
    return FormRows(
        q=0,
        v=nb,
        a=2 * nb,
        sine=3 * nb,
        cosine=4 * nb,
        tau=5 * nb,
        w=w,
        b=w + 3 * nb,
        d=w + 6 * nb,
        F=w + 9 * nb,
        N=w + 12 * nb,
        spare=spare,
        end=spare + 18,
    )


@kernel
def form_table(rows: int, q: KernelInputs) -> Array:
    """Room for forms with the symbols of q."""
    return np.zeros((rows, FIRST + q.generators.shape[2]))


# The recursion from the base outwards (compiled)

LENGTHENED = 1.0 + 1e-8
"""More than a description's rotations, which are accepted to within 1e-9, may lengthen a vector."""


@kernel
def place_joints(n: int, q: KernelInputs, X: Array, at: FormRows) -> None:
    """Load the positions of stretch n, their sines and cosines."""
    for i in range(q.centre.shape[1]):
        load_form(X, at.q + i, q.centre[n, i], q.generators[n, i], q.radius[n, i])
        sine_and_cosine(X, at.q + i, at.sine + i, at.cosine + i)


@kernel
def add_turned(tree: Tree, i: int, X: Array, at: FormRows, x: int, out: int, inwards: bool) -> None:
    """Add the sealed vector x, turned from the frame of body i into its parent's, or back; out is not sealed.

    The constant parts of the rotation are applied first: what a vector's entries share is then kept. The ball
    is turned by a rotation, whatever the angle, and stays as it is.
    """
    y, z = at.spare, at.spare + 3
    sine, cosine = at.sine + i, at.cosine + i
    bulk = size(X, x) + size(X, x + 1) + size(X, x + 2)
    for r in range(3):
        clear(X, y + r)
        clear(X, z + r)
        own = own_y = own_z = 0.0
        for c in range(3):
            k, m = (r, c) if inwards else (c, r)
            R_c, R_s, R_1 = tree.rotation_cos[i, k, m], tree.rotation_sin[i, k, m], tree.rotation_one[i, k, m]
            add_shared(X, y + r, R_c, x + c)
            add_shared(X, z + r, R_s, x + c)
            add_shared(X, out + r, R_1, x + c)
            own_y += abs(R_c) * X[x + c, RADIUS]
            own_z += abs(R_s) * X[x + c, RADIUS]
            own += abs(R_1) * X[x + c, RADIUS]
        # The constants are rounded products of the description's numbers, to an ulp or two of 1.
        X[y + r, TERMS] += bulk
        X[z + r, TERMS] += bulk
        X[out + r, TERMS] += bulk
        seal(X, y + r)
        seal(X, z + r)
        add_product(X, out + r, 1.0, cosine, y + r)
        add_product(X, out + r, 1.0, sine, z + r)
        X[out + r, RADIUS] += own + size(X, cosine) * own_y + size(X, sine) * own_z
    X[out, BALL] += LENGTHENED * X[x, BALL]


@kernel
def slides(tree: Tree, i: int) -> bool:
    """Whether the origin of body i moves in its parent's frame."""
    moves: bool = tree.slide[i, 0] != 0.0 or tree.slide[i, 1] != 0.0 or tree.slide[i, 2] != 0.0
    return moves


@kernel
def add_lever(tree: Tree, i: int, X: Array, at: FormRows, k: float, x: int, out: int) -> None:
    """Add k p × x, p being the origin of body i in its parent's frame, and x a sealed vector in it."""
    add_cross(X, out, k, tree.offset[i], x)
    if slides(tree, i):
        y = at.spare + 6
        clear_vector(X, y)
        add_cross(X, y, k, tree.slide[i], x)
        seal_vector(X, y)
        add_times(X, out, at.q + i, y)


@kernel
def move_bodies(
    n: int, tree: Tree, q: KernelInputs, v: KernelInputs, a: KernelInputs, X: Array, at: FormRows
) -> None:
    r"""Write how every body moves over stretch n; the equations are those of `dynamics.motion_pass`.

    A joint with one degree of freedom turns about the line it slides along, so that $o \times u = 0$.
    """
    place_joints(n, q, X, at)
    carried, moved, crossed = at.spare + 9, at.spare + 12, at.spare + 15
    s = tree.subspace
    for i in range(tree.parent.size):
        v_i, a_i, w, b, d = at.v + i, at.a + i, at.w + 3 * i, at.b + 3 * i, at.d + 3 * i
        load_form(X, v_i, v.centre[n, i], v.generators[n, i], v.radius[n, i])
        load_form(X, a_i, a.centre[n, i], a.generators[n, i], a.radius[n, i])
        clear_vector(X, w)
        clear_vector(X, b)
        clear_vector(X, d)
        clear_vector(X, moved)
        if tree.parent[i] < 0:
            for r in range(3):
                add_number(X, moved + r, -tree.gravity[r])
            seal_vector(X, moved)
            add_turned(tree, i, X, at, moved, d, False)
        else:
            inner = 3 * tree.parent[i]
            w_p, b_p, d_p = at.w + inner, at.b + inner, at.d + inner
            clear_vector(X, crossed)
            add_lever(tree, i, X, at, -1.0, w_p, crossed)
            seal_vector(X, crossed)
            add_product_cross(X, moved, w_p, crossed)
            add_lever(tree, i, X, at, -1.0, b_p, moved)
            add_vector(X, moved, 1.0, d_p)
            seal_vector(X, moved)
            add_turned(tree, i, X, at, moved, d, False)
            add_turned(tree, i, X, at, b_p, b, False)
            clear_vector(X, carried)
            add_turned(tree, i, X, at, w_p, carried, False)
            seal_vector(X, carried)
            add_vector(X, w, 1.0, carried)
            _add_carried(X, 2.0, s[i, :3], carried, v_i, crossed, d)
            _add_carried(X, 1.0, s[i, 3:], carried, v_i, crossed, b)
        for r in range(3):
            add_scaled(X, w + r, s[i, 3 + r], v_i)
            add_scaled(X, b + r, s[i, 3 + r], a_i)
            add_scaled(X, d + r, s[i, r], a_i)
        seal_vector(X, w)
        seal_vector(X, b)
        seal_vector(X, d)


@kernel
def _add_carried(X: Array, k: float, axis: Array, w: int, v: int, crossed: int, out: int) -> None:
    """Add k v (w × axis)."""
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return
    clear_vector(X, crossed)
    add_cross(X, crossed, -k, axis, w)
    seal_vector(X, crossed)
    add_times(X, out, v, crossed)
