"""The robot as flat arrays, the form compiled kernels read."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, read_only
from steelyard.robot import JointKind, Robot


class Tree(NamedTuple):
    r"""Arrays of a tree with nb bodies and nv degrees of freedom; parents come before children.

    With one coordinate, a body's frame C in its parent's frame P depends on it by

    $$R_{PC} = \cos q\,R_c + \sin q\,R_s + R_1, \qquad p_{PC} = p_0 + q\,p_1,$$

    which covers turning ($R_c = R_0 - R_0 u u^T$, $R_s = R_0 [u]_\times$, $R_1 = R_0 u u^T$), sliding
    ($R_c = R_s = 0$, $R_1 = R_0$, $p_1 = R_0 u$) and the screw (turning with $p_1 = h R_0 u$, h the pitch)
    about the unit axis u. A floating joint places its child at
    $R_{PC} = R_1 R(\text{quaternion})$, $p_{PC} = p_0 + R_1\,(x, y, z)$, and a spherical one at the same
    without (x, y, z). A joint that mimics another is a joint like any here; see `batch.states`.

    Attributes:
        parent: index of the parent body, -1 for the base, shape (nb,), dimensionless.
        first_coordinate: where each joint's numbers start in q, shape (nb + 1,), dimensionless.
        first_dof: where each joint's numbers start in v, shape (nb + 1,), dimensionless.
        rotation_cos: R_c, shape (nb, 3, 3), dimensionless.
        rotation_sin: R_s, shape (nb, 3, 3), dimensionless.
        rotation_one: R_1, shape (nb, 3, 3), dimensionless.
        offset: p_0, shape (nb, 3), m.
        slide: p_1, shape (nb, 3), dimensionless.
        subspace: motion of each degree of freedom in its body's frame, linear part first, shape (nv, 6),
            dimensionless.
        support_start: where each body's run in `support` starts, shape (nb + 1,), dimensionless.
        support: degrees of freedom that move each body, from the base outwards, shape (sum of depths,),
            dimensionless.
        gravity: free fall in the base frame, shape (3,), m/s².
    """

    parent: IntArray
    first_coordinate: IntArray
    first_dof: IntArray
    rotation_cos: Array
    rotation_sin: Array
    rotation_one: Array
    offset: Array
    slide: Array
    subspace: Array
    support_start: IntArray
    support: IntArray
    gravity: Array


_known: WeakKeyDictionary[Robot, Tree] = WeakKeyDictionary()


def tree_of(robot: Robot) -> Tree:
    """The arrays of a robot; computed once per robot.

    Returns:
        Its tree, all arrays read-only.
    """
    tree = _known.get(robot)
    if tree is None:
        tree = _known[robot] = _build(robot)
    return tree


def _build(robot: Robot) -> Tree:
    nb = len(robot.joints)
    first_coordinate = np.cumsum([0, *(joint.kind.nq for joint in robot.joints)])
    first_dof = np.cumsum([0, *(joint.kind.nv for joint in robot.joints)])
    rotation_cos = np.zeros((nb, 3, 3))
    rotation_sin = np.zeros((nb, 3, 3))
    rotation_one = np.zeros((nb, 3, 3))
    offset = np.zeros((nb, 3))
    slide = np.zeros((nb, 3))
    subspace = np.zeros((first_dof[-1], 6))
    supports: list[list[int]] = []
    for i, joint in enumerate(robot.joints):
        R_0 = joint.placement.rotation
        u = joint.axis
        dofs = list(range(first_dof[i], first_dof[i + 1]))
        offset[i] = joint.placement.translation
        rotation_one[i] = R_0
        if joint.kind is JointKind.FLOATING:
            subspace[dofs] = np.eye(6)
        elif joint.kind is JointKind.SPHERICAL:
            subspace[dofs, 3:] = np.eye(3)
        elif joint.kind.rotates:
            rotation_one[i] = R_0 @ np.outer(u, u)
            rotation_cos[i] = R_0 - rotation_one[i]
            rotation_sin[i] = R_0 @ _skew(u)
            slide[i] = joint.pitch * (R_0 @ u)
            subspace[dofs, 3:] = u
            subspace[dofs, :3] = joint.pitch * u
        else:
            slide[i] = R_0 @ u
            subspace[dofs, :3] = u
        supports.append([*(supports[joint.parent] if joint.parent >= 0 else []), *dofs])
    starts = np.cumsum([0, *(len(support) for support in supports)])
    return Tree(
        parent=_integers([joint.parent for joint in robot.joints]),
        first_coordinate=_integers(first_coordinate),
        first_dof=_integers(first_dof),
        rotation_cos=read_only(rotation_cos),
        rotation_sin=read_only(rotation_sin),
        rotation_one=read_only(rotation_one),
        offset=read_only(offset),
        slide=read_only(slide),
        subspace=read_only(subspace),
        support_start=_integers(starts),
        support=_integers([k for support in supports for k in support]),
        gravity=read_only(robot.gravity),
    )


def _integers(values: ArrayLike) -> IntArray:
    return read_only(np.asarray(values, dtype=np.int64))


def _skew(u: Array) -> Array:
    x, y, z = u
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
