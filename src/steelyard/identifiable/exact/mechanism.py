"""The geometry of a robot in numbers of any field; rational where every placement is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.identifiable.exact.vectors import Number
from steelyard.identifiable.mechanism import Block, mechanism_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot

# The geometry of a robot in numbers of any field, in SI.

Numbers = tuple[Number, ...]


@dataclass(frozen=True, eq=False)
class ExactMechanism:
    """What the nullspace algorithm reads of a robot, see `mechanism.Mechanism`; nothing is scaled.

    Attributes:
        names: names of the bodies.
        blocks: which bodies move together, parents before children.
        rotations: R_PC of each body at q = 0, three rows of three, dimensionless.
        offsets: p_PC_P of each body, three numbers, m.
        twists: Φ of each body, six numbers for each degree of freedom of its block, dimensionless and m;
            times the ratio by which a body follows its leader.
        ratios: how far each joint's coordinate moves with its leader's, dimensionless, rad/m or m/rad.
        gravity: free fall in the base frame, three numbers, m/s².
        one: the unit of the field.
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    rotations: tuple[tuple[Numbers, ...], ...]
    offsets: tuple[Numbers, ...]
    twists: tuple[tuple[Numbers, ...], ...]
    ratios: Numbers
    gravity: Numbers
    one: Number

    def over(self, convert: Callable[[Number], Number]) -> ExactMechanism:
        """The same mechanism in the numbers of another field.

        Args:
            convert: from this field to the other.
        """

        def each(values: Sequence[Number]) -> Numbers:
            return tuple(convert(value) for value in values)

        return ExactMechanism(
            self.names,
            self.blocks,
            tuple(tuple(each(row) for row in R) for R in self.rotations),
            tuple(each(p) for p in self.offsets),
            tuple(tuple(each(twist) for twist in twists) for twists in self.twists),
            each(self.ratios),
            each(self.gravity),
            convert(self.one),
        )


# Robots whose geometry is rational: every placement a quarter turn and a decimal offset.
#
# What a joint can turn by itself does not matter: the zero of an angle may lie anywhere about its axis, and
# the placement of a spherical or floating joint may be turned at will.

ROUND_OFF = 1e-14
"""Numbers that differ by this much of the largest beside them, or of one, mean the same."""
PLACES = 12
"""Decimal places of a number that a person wrote."""
FLOATING_POINT = "leave --exact out, which computes in floating point."


def rational_mechanism(robot: Robot) -> ExactMechanism:
    """Read the geometry of a robot as the rational numbers that its description states.

    Args:
        robot: the robot; joints that mimic others must hang on the same body as their leader.

    Raises:
        InputError: a placement is no quarter turn, an axis has no rational length, or a joint
            follows one on another link.
    """
    blocks = mechanism_of(robot).blocks
    alone = {block.bodies[0] for block in blocks if len(block.bodies) == 1}
    placements = [_at_rest(joint) for joint in robot.joints]
    ratios = [
        Fraction(1) if joint.mimic is None else decimals([joint.mimic.multiplier])[0]
        for joint in robot.joints
    ]
    twists = [_twists(robot, joint) for joint in robot.joints]
    return ExactMechanism(
        robot.link_names,
        blocks,
        tuple(_rotation(robot, i, X.rotation, free=i in alone) for i, X in enumerate(placements)),
        tuple(decimals(X.translation) for X in placements),
        tuple(
            tuple(tuple(k * x for x in twist) for twist in each)
            for k, each in zip(ratios, twists, strict=True)
        ),
        tuple(ratios),
        decimals(robot.gravity),
        Fraction(1),
    )


def decimals(values: Iterable[float]) -> Numbers:
    """The numbers that were meant: decimals of few places where those are as near as round-off.

    Args:
        values: finite numbers of one kind, such as the components of a vector.

    Returns:
        The fractions, in the same unit.
    """
    floats = [float(value) for value in values]
    near = ROUND_OFF * max(1.0, *(abs(x) for x in floats))
    rounded = [round(x, PLACES) for x in floats]
    return tuple(Fraction(repr(r if abs(x - r) <= near else x)) for x, r in zip(floats, rounded, strict=True))


def _at_rest(joint: Joint) -> Pose:
    """The placement of a joint where its leader's coordinate is zero."""
    q = joint.mimic.offset if joint.mimic is not None else 0.0
    if q == 0.0:
        return joint.placement
    if joint.kind is JointKind.PRISMATIC:
        return joint.placement @ Pose(np.eye(3), q * joint.axis)
    return joint.placement @ Pose(
        scipy.spatial.transform.Rotation.from_rotvec(q * joint.axis).as_matrix(), q * joint.pitch * joint.axis
    )


def _rotation(robot: Robot, i: int, R: Array, *, free: bool) -> tuple[Numbers, ...]:
    """R_PC as a signed permutation, up to what the joint can turn by itself where it is free to."""
    joint = robot.joints[i]
    whole = np.round(R)
    if np.abs(R - whole).max() <= ROUND_OFF:
        return _fractions(whole)
    if joint.kind in (JointKind.SPHERICAL, JointKind.FLOATING):
        return _fractions(np.eye(3))
    turns = joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS)
    if free and turns and np.count_nonzero(joint.axis) == 1:
        k = int(np.flatnonzero(joint.axis)[0])
        if np.abs(R[:, k] - whole[:, k]).max() <= ROUND_OFF:
            return _fractions(_keeping_axis(whole[:, k], k))
    parent = robot.base.name if joint.parent < 0 else robot.links[joint.parent].name
    worst = int(np.abs(R - whole).max(axis=0).argmax())
    angle = np.degrees(np.arccos(np.clip(np.abs(R[:, worst]).max(), 0.0, 1.0)))
    raise _refusal(
        robot,
        f"the frame of '{robot.links[i].name}' on '{parent}' (joint '{joint.name}') is not placed by quarter "
        f"turns: its {'xyz'[worst]} axis is {angle:.3g}° off.",
        "An angle that is rounded to four digits or more is read as what it means: write this one so, or ",
    )


def _keeping_axis(image: Array, k: int) -> Array:
    """A signed permutation that takes the coordinate axis k where it must go."""
    R = np.zeros((3, 3))
    j = int(np.flatnonzero(image)[0])
    R[j, k] = R[(j + 2) % 3, (k + 2) % 3] = image[j]
    R[(j + 1) % 3, (k + 1) % 3] = 1.0
    return R


def _fractions(R: Array) -> tuple[Numbers, ...]:
    return tuple(tuple(Fraction(int(x)) for x in row) for row in R)


def _twists(robot: Robot, joint: Joint) -> tuple[Numbers, ...]:
    if joint.kind in (JointKind.FLOATING, JointKind.SPHERICAL):
        first = 0 if joint.kind is JointKind.FLOATING else 3
        return tuple(tuple(Fraction(int(k == d)) for k in range(6)) for d in range(first, 6))
    axis = decimals(joint.axis)
    if sum(x * x for x in axis) != 1:
        listed = ", ".join(f"{x:.6g}" for x in joint.axis)
        raise _refusal(
            robot, f"the axis of joint '{joint.name}', ({listed}), is no rational unit vector.", ""
        )
    still = (Fraction(0),) * 3
    if joint.kind is JointKind.PRISMATIC:
        return ((*axis, *still),)
    (pitch,) = decimals([joint.pitch])
    return ((*(pitch * x for x in axis), *axis),)


def _refusal(robot: Robot, why: str, remedy: str) -> InputError:
    return InputError(why, place=f"robot '{robot.name}'", remedy=remedy + FLOATING_POINT)
