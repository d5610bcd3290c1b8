r"""Primitives of structured motions (paper 004, Appendix B): to one side of a posture, the other, and back.

$$\bar q \to c - \delta \to c + \delta \to \bar q$$

The paper's primitives move one joint, $\delta = a_j e_j$, or two adjacent ones,
$\delta = s_j a_j e_j + s_{j+1} a_{j+1} e_{j+1}$ with signs s that make them swing in phase or in opposite
phase, about $c = \bar q$. Here any joints may move together, and the centre c of a swing moves as little as
needed where a joint has no room for its amplitude on both sides of the posture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.robot import Robot

GROUP = 4
"""Joints that move together in a group, besides the last one."""


@dataclass(frozen=True, eq=False)
class Primitive:
    """One swing of some joints at a posture; the others stand still.

    Attributes:
        posture: where it starts and ends, shape (nv,), rad or m.
        centre: c, the middle of the swing, the posture itself where the joints have room, shape (nv,), rad or
            m.
        offset: δ, amplitudes with their signs, zero where a joint stands still, shape (nv,), rad or m.
    """

    posture: Array
    centre: Array
    offset: Array

    def __post_init__(self) -> None:
        offset = checked("offset", self.offset, ("nv",))
        if not offset.any():
            raise InputError("moves no joint.", place="offset")
        object.__setattr__(self, "offset", read_only(offset))
        for name in ("posture", "centre"):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), offset.shape)))
        if (self.centre != self.posture)[offset == 0.0].any():
            raise InputError("leaves the posture in a joint that stands still.", place="centre")

    @property
    def waypoints(self) -> Array:
        """The posture, one side, the other side, the posture, shape (4, nv), rad or m."""
        c, delta = self.centre, self.offset
        return np.stack((self.posture, c - delta, c + delta, self.posture))


def primitive_within(posture: ArrayLike, offset: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Primitive:
    """The primitive at a posture within a range: joints swing less, or about another centre, where they must.

    Args:
        posture: where it starts and ends, within the range, shape (nv,), rad or m.
        offset: δ wished for, shape (nv,), rad or m.
        lower: of the range, shape (nv,), rad or m.
        upper: of the range, shape (nv,), rad or m.

    Returns:
        The primitive: amplitudes no larger than half the range, centres as near to the posture as they fit.
    """
    q = checked("posture", posture, ("nv",))
    low, high = (checked(name, x, q.shape) for name, x in (("lower", lower), ("upper", upper)))
    wish = checked("offset", offset, q.shape)
    amplitude = np.minimum(np.abs(wish), 0.5 * (high - low))
    centre = np.clip(q, low + amplitude, high - amplitude)
    return Primitive(q, np.where(wish == 0.0, q, centre), np.sign(wish) * amplitude)


def single_joint_offsets(amplitude: ArrayLike) -> Array:
    """The offsets that move each joint alone.

    Args:
        amplitude: of every joint, zero for one that is to stand still, shape (nv,), rad or m.

    Returns:
        One row for each joint that moves, shape (k, nv), rad or m.
    """
    a = checked("amplitude", amplitude, ("nv",))
    return np.asarray(np.diag(a)[a != 0.0])


def adjacent_pair_offsets(robot: Robot, amplitude: ArrayLike, phase: int = 1) -> Array:
    """The offsets that move each joint together with the one that carries it.

    Args:
        robot: the robot.
        amplitude: of every joint, shape (nv,), rad or m; a pair needs two joints that are to move.
        phase: 1 where both have the same sign, -1 where the outer one has the opposite.

    Returns:
        One row for each pair, from the base outwards, shape (k, nv), rad or m; none where no two joints are
        adjacent.
    """
    robot.require_arm()
    if phase not in (1, -1):
        raise InputError(f"must be 1 or -1, got {phase}.", place="phase")
    a = checked("amplitude", amplitude, (robot.nv,))
    rows = []
    for outer, joint in enumerate(robot.joints):
        inner = joint.parent
        if inner >= 0 and a[inner] and a[outer]:
            row = np.zeros(robot.nv)
            row[inner], row[outer] = a[inner], phase * a[outer]
            rows.append(row)
    return np.array(rows).reshape(-1, robot.nv)


def joint_group_offsets(amplitude: ArrayLike, group: int | None = None) -> Array:
    """The offsets that move many joints at once, with signs that tell each joint from every other.

    The signs are Walsh functions of the joint's number: over the rows no two joints of a group keep step.

    Args:
        amplitude: of every joint, shape (nv,), rad or m.
        group: how many joints move besides the last one: the first ones, then those next to the last; None
            for all at once.

    Returns:
        One row for each swing, shape (k, nv), rad or m.
    """
    a = checked("amplitude", amplitude, ("nv",))
    nv = len(a)
    number = np.arange(nv)
    bits = max(1, (nv - 1).bit_length())
    signs = np.array([np.where(number >> bit & 1, -1.0, 1.0) for bit in range(bits)])
    signs = np.vstack((np.ones(nv), signs)) if nv > 1 else signs
    masks = [number >= 0]
    if group is not None and group < nv - 1:
        masks = [(number < group) | (number == nv - 1), number >= nv - 1 - group]
    rows = [row * mask * a for mask in masks for row in signs]
    return np.array([row for row in rows if row.any()]).reshape(-1, nv)
