r"""Quadratic forms that pass a joint unchanged, whatever its position; exact, in rational numbers.

Let w be the twist of a joint's parent link, seen from the child link, and v the joint's rate. When the joint
moves by q, w follows the one-parameter group $w = e^{-q\,\mathrm{ad}_s}\,w_0$, where $w_0$ is w at q = 0. A
quadratic form F in (w, v) has $F(w, v) = F(w_0, v)$ at every q exactly when its derivative along the group
vanishes,

$$F(\mathrm{ad}_s w, v;\ w, v) = 0 \quad\text{for all } w, v .$$

With the axis u and $w = (\nu, \omega)$ these forms are, and there are no others,

- for every kind of joint the products of the *lines* $u\cdot\nu,\ u\cdot\omega,\ v$, and
  $\nu\cdot\omega$ and $\omega\cdot\omega$: 8 for a screw;
- for a turning joint also $\nu\cdot\nu$ and $u\cdot(\nu\times\omega)$: 10;
- for a sliding joint every product of $u\cdot\nu,\ \omega_x, \omega_y, \omega_z,\ v$, and
  $\nu\cdot\omega$: 16.

None of them needs u to be of unit length. A form in $(w_0, v)$ is one in the parent's twist and v; so each of
these is kinetic energy that may be counted with the child or with the parent, with the same sum.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.robot import Joint, JointKind

Exact = NDArray[Any]
"""An array of exact numbers, whole ones or fractions."""


def exact(values: Array) -> Exact:
    """Floating-point numbers as the whole numbers and fractions they are.

    Args:
        values: finite numbers, any shape and unit.

    Returns:
        Exact numbers, same shape and unit.
    """
    flat = np.empty(np.size(values), dtype=object)
    # Whole numbers, most of all zeros, are far cheaper to reckon with than fractions.
    flat[:] = [int(x) if x.is_integer() else Fraction(x) for x in np.ravel(values).tolist()]
    return flat.reshape(np.shape(values))


def cross(left: Exact, right: Exact) -> Exact:
    """The vector product along the first axis.

    Args:
        left: shape (3, …), any unit.
        right: shape (3, …), any unit.

    Returns:
        left × right, shape (3, …), product of the units.
    """
    return np.array([left[b] * right[c] - left[c] * right[b] for b, c in ((1, 2), (2, 0), (0, 1))])


def axis_of(joint: Joint) -> Exact:
    """The motion s of a joint in its child's frame, linear part first.

    Args:
        joint: a joint with one degree of freedom.

    Returns:
        s, shape (6,), dimensionless.
    """
    u, zero = exact(joint.axis), exact(np.zeros(3))
    if joint.kind.rotates:
        return np.concatenate([exact(np.array(joint.pitch))[()] * u, u])
    return np.concatenate([u, zero])


def bracket(joint: Joint) -> Exact:
    r"""The matrix of $\mathrm{ad}_s(\nu, \omega) = (c\times\nu + l\times\omega,\ c\times\omega)$.

    Args:
        joint: a joint with one degree of freedom and the motion s = (l, c).

    Returns:
        The matrix, shape (6, 6), SI.
    """
    s, one = axis_of(joint), exact(np.eye(6))
    turned = cross(np.tile(s[3:, None], 6), one[:3]) + cross(np.tile(s[:3, None], 6), one[3:])
    return np.concatenate([turned, cross(np.tile(s[3:, None], 6), one[3:])])


def to_child(joint: Joint) -> Exact:
    r"""The map A of the parent's twist to $w_0 = (R^T(\nu + \omega\times p),\ R^T\omega)$.

    Args:
        joint: the joint; the child sits at R, p in the parent's frame at q = 0.

    Returns:
        A, shape (6, 6), dimensionless and m.
    """
    R, p, one = exact(joint.placement.rotation), exact(joint.placement.translation), exact(np.eye(6))
    return np.concatenate([R.T @ (one[:3] + cross(one[3:], np.tile(p[:, None], 6))), R.T @ one[3:]])


def passing_forms(joint: Joint, twist: Exact, rate: Exact) -> list[Exact]:
    """The forms that pass a joint, in coordinates z of which twist and rate are linear functions.

    Args:
        joint: a joint with one degree of freedom.
        twist: w as rows over z, shape (6, d), SI.
        rate: v as a row over z, shape (d,), SI.

    Returns:
        Symmetric matrices F with twice the form, each shape (d, d), SI.
    """
    u, nu, omega = exact(joint.axis), twist[:3], twist[3:]
    lines = [u @ nu, rate, *([u @ omega] if joint.kind.rotates else omega)]
    forms = [_product(a[None], b[None]) for a, b in combinations_with_replacement(lines, 2)]
    forms.append(_product(nu, omega))
    if joint.kind.rotates:
        forms.append(_product(omega, omega))
    if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        forms.append(_product(nu, nu))
        forms.append(_product(nu, cross(omega, np.tile(u[:, None], omega.shape[1]))))
    return forms


def _product(left: Exact, right: Exact) -> Exact:
    """Twice the form of the sum of products of rows, symmetric."""
    product: Exact = left.T @ right
    return np.asarray(product + product.T)
