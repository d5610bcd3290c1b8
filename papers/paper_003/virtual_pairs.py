"""Feature points with the ellipsoids they must stay out of, and both in the arrays they are measured by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paper_003.link_ellipsoids import LinkEllipsoid
from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.limits import TOOL
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class VirtualPair:
    """A feature point and an ellipsoid.

    Attributes:
        number: of the feature point, from 0.
        point: in the frame of the link that carries the tool, shape (3,), m.
        around: the ellipsoid, on another link.
    """

    number: int
    point: Array
    around: LinkEllipsoid

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", read_only(checked("point", self.point, (3,))))

    @property
    def name(self) -> str:
        """Both, such as `tool point 3 – link5`."""
        return f"{TOOL} point {self.number} – {self.around.owner}"

    @property
    def owners(self) -> frozenset[str]:
        """The tool and the link."""
        return frozenset((TOOL, self.around.owner))


class PackedPairs(NamedTuple):
    """Virtual pairs in flat arrays; -1 is the base.

    Attributes:
        carrier: link that carries every point.
        point: in the frame of the carrier, shape (P, 3), m.
        link: of the ellipsoid, shape (P,), dimensionless.
        centre: of the ellipsoid in its link's frame, shape (P, 3), m.
        scaled_axes: unit vectors along the ellipsoid's axes, as columns in its link's frame, each over its
            semi-axis, shape (P, 3, 3), 1/m.
        shortest: semi-axis, shape (P,), m.
        moves: 1 where a degree of freedom moves the point and not the ellipsoid, -1 where it moves the
            ellipsoid and not the point, 0 where it moves both or none, shape (P, nv), dimensionless.
    """

    carrier: int
    point: Array
    link: IntArray
    centre: Array
    scaled_axes: Array
    shortest: Array
    moves: Array


def pack_pairs(robot: Robot, pairs: Sequence[VirtualPair]) -> PackedPairs:
    """Put pairs into arrays.

    Args:
        robot: the robot; the link of its tool frame carries the points.
        pairs: each with its ellipsoid on some link.

    Returns:
        The arrays, read-only.
    """
    tree, carrier = tree_of(robot), robot.tool_frame.link
    shapes = [pair.around.ellipsoid for pair in pairs]
    links = np.array([pair.around.link for pair in pairs], dtype=np.int64)
    moved = [_moving(tree, carrier) - _moving(tree, link) for link in links]
    return PackedPairs(
        carrier,
        read_only(np.reshape([pair.point for pair in pairs], (-1, 3))),
        read_only(links),
        read_only(np.reshape([shape.pose.translation for shape in shapes], (-1, 3))),
        read_only(np.reshape([shape.pose.rotation / shape.semi_axes for shape in shapes], (-1, 3, 3))),
        read_only(np.array([shape.semi_axes.min() for shape in shapes])),
        read_only(np.reshape(moved, (-1, len(tree.subspace)))),
    )


def _moving(tree: Tree, link: int) -> Array:
    """One for every degree of freedom that moves a link, zero for the others, shape (nv,)."""
    moves = np.zeros(len(tree.subspace))
    while link >= 0:
        moves[tree.first_dof[link] : tree.first_dof[link + 1]] = 1.0
        link = int(tree.parent[link])
    return moves
