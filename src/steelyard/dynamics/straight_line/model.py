"""The robot as expressions, with every exact zero and one of its description used."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics.straight_line.carried import Carried
from steelyard.dynamics.straight_line.expression import Expression, Graph, constants, symmetric
from steelyard.dynamics.tree import Tree

# An entry of a placement this close to 0 or ±1 is taken as exact: it is the rounding of a quarter turn.
EXACT = 4.0 * np.finfo(np.float64).eps


class Model:
    """Symbols of one tree with one degree of freedom per joint, in body frames.

    Attributes:
        tree: the flat arrays of the robot.
        graph: where the symbols and all that is made of them are.
        parent: parent of each body, -1 for the base.
        symbols: every symbol, in the order in which `kernels` writes their values: cos q, sin q, q, v,
            sign v and tau of every joint, then the link and the drive numbers.
        R: R_PC of each body (3, 3).
        p: p_PC_P of each body (3,).
        linear: linear part of each joint's axis (3,).
        angular: angular part of each joint's axis (3,).
        v: velocity of each joint.
        sign: its sign.
        tau: torque at each joint.
        mass: mass of each body.
        first: first moments of each body (3,).
        second: second moments of each body (3, 3).
        drive: viscous, Coulomb, offset and rotor of each joint.
    """

    def __init__(self, tree: Tree, carried: Carried) -> None:
        count = tree.parent.size
        self.tree = tree
        self.graph = Graph()
        self.parent = [int(x) for x in tree.parent]
        cos, sin, q, v, sign, tau = (self.graph.symbols(count) for _ in range(6))
        links = [self.graph.symbols(10) for _ in range(count)]
        drive = [self.graph.symbols(4) for _ in range(count)]
        self.symbols = [x for group in (cos, sin, q, v, sign, tau, *links, *drive) for x in group]
        self.v, self.sign, self.tau = v, sign, tau
        self.linear = [constants(exact(s[:3])) for s in tree.subspace]
        self.angular = [constants(exact(s[3:])) for s in tree.subspace]
        self.R = [
            constants(exact(tree.rotation_one[i]))
            + cos[i] * constants(exact(tree.rotation_cos[i]))
            + sin[i] * constants(exact(tree.rotation_sin[i]))
            for i in range(count)
        ]
        self.p = [
            constants(exact(tree.offset[i])) + q[i] * constants(exact(tree.slide[i])) for i in range(count)
        ]
        kept = [_kept(links[i], carried.links[i]) for i in range(count)]
        self.mass = [phi[0] for phi in kept]
        self.first = [np.array(phi[1:4], dtype=object) for phi in kept]
        self.second = [symmetric(*phi[4:]) for phi in kept]
        self.drive = [_kept(drive[i], carried.drive[i]) for i in range(count)]

    def ancestors(self, i: int) -> list[int]:
        """Bodies between i and the base, nearest first, without i."""
        found = []
        while (i := self.parent[i]) >= 0:
            found.append(i)
        return found


def _kept(symbols: list[Expression], carried: tuple[bool, ...]) -> list[Expression]:
    return [x if keep else 0.0 for x, keep in zip(symbols, carried, strict=True)]


def exact(values: Array) -> Array:
    """Round entries that are 0 or ±1 but for the rounding of a quarter turn.

    Args:
        values: entries of a placement, any shape, dimensionless or m.

    Returns:
        The rounded values, same shape and unit.
    """
    whole = np.round(values)
    near = (np.abs(values - whole) <= EXACT) & (np.abs(whole) <= 1.0)
    return np.where(near, whole, values)
