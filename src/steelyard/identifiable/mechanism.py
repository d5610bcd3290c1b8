"""What identifiability depends on: placements, axes, gravity, which bodies move together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics.batch import belongs
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot

# What identifiability depends on: the tree's placements and axes, gravity, and which bodies move together.
#
# Masses do not matter, nor do limits. Bodies that move with the same coordinate and hang on the same body,
# such as a link and the rotor that drives it, form a *block*, and are asked about together.


@dataclass(frozen=True)
class Block:
    """Bodies whose velocities are X(q) v_parent + Φ v with the same coordinate.

    Attributes:
        bodies: indices of the bodies, the leader's first.
        parent: index of the body that carries them all, -1 for the base.
        dofs: degrees of freedom of the joint.
    """

    bodies: tuple[int, ...]
    parent: int
    dofs: int


@dataclass(frozen=True, eq=False)
class Mechanism:
    r"""The geometry of a robot as the nullspace algorithm reads it, lengths divided by one length.

    Velocities are (linear, angular) in each body's frame.

    Attributes:
        names: names of the bodies.
        blocks: which bodies move together, parents before children.
        rotations: R_PC of each body at q = 0, shape (nb, 3, 3), dimensionless.
        offsets: p_PC_P / L, shape (nb, 3), dimensionless.
        twists: Φ of each body, linear part over L, zero beyond its degrees of freedom, shape (nb, 6, 6),
            dimensionless; times the ratio by which a body follows its leader, over the largest in its block.
        ratios: how far each joint's coordinate moves with its block's, over the largest in the block, lengths
            over L, shape (nb,), dimensionless.
        gravity: unit vector of free fall in the base frame, shape (3,), dimensionless; zero without gravity.
        length: L, the longest offset between joints, m.
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    rotations: Array
    offsets: Array
    twists: Array
    ratios: Array
    gravity: Array
    length: float


def mechanism_of(robot: Robot) -> Mechanism:
    """Read the geometry of a robot.

    Args:
        robot: the robot; joints that mimic others must hang on the same body as their leader.

    Raises:
        InputError: a joint mimics one that hangs on another body, for which no recursion is known.
    """
    for follower, leads in coupled_joints(robot).items():
        raise InputError(
            f"'{follower}' follows '{leads}', which hangs on another link; for such joints there is no "
            "recursion, and so no proof.",
            place=f"robot '{robot.name}'",
            remedy=f"Lock '{leads}' (--lock), or ask without a proof.",
        )
    blocks = blocks_of(robot)
    length = longest_offset(robot)
    nb = len(robot.joints)
    twists, ratios = np.zeros((nb, 6, 6)), np.ones(nb)
    for block in blocks:
        bodies = list(block.bodies)
        if len(bodies) > 1:
            leader = robot.joints[bodies[0]]
            scaled = [_ratio(robot.joints[i], leader, length) for i in bodies]
            ratios[bodies] = np.array(scaled) / np.abs(scaled).max()
        for i in bodies:
            twists[i, : block.dofs] = ratios[i] * _twists(robot.joints[i], length)
    strength = float(np.linalg.norm(robot.gravity))
    places = [_place(joint) for joint in robot.joints]
    return Mechanism(
        names=robot.link_names,
        blocks=blocks,
        rotations=read_only(_exact(np.array([pose.rotation for pose in places]))),
        offsets=read_only(np.array([pose.translation for pose in places]) / length),
        twists=read_only(twists),
        ratios=read_only(ratios),
        gravity=read_only(robot.gravity / strength if strength > 0.0 else np.zeros(3)),
        length=length,
    )


def longest_offset(robot: Robot) -> float:
    """The length that lengths are divided by.

    Returns:
        The longest offset between joints, m; one where there is none.
    """
    length = max((float(np.abs(joint.placement.translation).max()) for joint in robot.joints), default=0.0)
    return length if length > 0.0 else 1.0


def _ratio(joint: Joint, leader: Joint, length: float) -> float:
    """The multiplier of a joint that mimics another, in the scaled unit of length."""
    if joint.mimic is None:
        return 1.0
    unit = length if leader.kind is JointKind.PRISMATIC else 1.0
    return joint.mimic.multiplier * unit / (length if joint.kind is JointKind.PRISMATIC else 1.0)


def _place(joint: Joint) -> Pose:
    """Where a joint's body stands when its leader is at zero, which a joint that mimics need not be."""
    if joint.mimic is None or joint.mimic.offset == 0.0:
        return joint.placement
    return joint.placement @ joint.motion(np.array([joint.mimic.offset]))


def _twists(joint: Joint, length: float) -> Array:
    if joint.kind is JointKind.FLOATING:
        return np.eye(6)
    if joint.kind is JointKind.SPHERICAL:
        return np.eye(6)[3:]
    if joint.kind is JointKind.PRISMATIC:
        return np.concatenate([_exact(joint.axis), np.zeros(3)])[None]
    return np.concatenate([joint.pitch / length * joint.axis, _exact(joint.axis)])[None]


def _exact(values: Array) -> Array:
    """Entries that are 0 or ±1 but for the last bits of a cosine become so."""
    whole = np.round(values)
    return np.where(np.abs(values - whole) < 4 * np.finfo(float).eps, whole, values)


def coupled_joints(robot: Robot) -> dict[str, str]:
    """The joints that mimic one that hangs on another body, such as the tips of a gripper's fingers.

    Returns:
        The leader of each, by name; none for a robot that the recursion can be asked about.
    """
    parents = {joint.name: joint.parent for joint in robot.joints}
    return {
        joint.name: joint.mimic.joint
        for joint in robot.joints
        if joint.mimic is not None and parents[joint.mimic.joint] != joint.parent
    }


def blocks_of(robot: Robot) -> tuple[Block, ...]:
    """Which bodies move with one coordinate, wherever they hang.

    Returns:
        The blocks, in the order of their first bodies; the parent is that of the leader.
    """
    index = {name: i for i, name in enumerate(robot.joint_names)}
    members: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        leader = i if joint.mimic is None else index[joint.mimic.joint]
        members.setdefault(leader, []).append(i)
    ordered = sorted(members.items(), key=lambda item: min(item[1]))
    return tuple(
        Block(
            (leader, *(i for i in bodies if i != leader)),
            robot.joints[leader].parent,
            robot.joints[leader].nv,
        )
        for leader, bodies in ordered
    )


def flat_blocks(mechanism: Mechanism) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The blocks as arrays for compiled code.

    Returns:
        Where each block's bodies start, shape (C + 1,); the bodies, shape (nb,); each block's parent and
        degrees of freedom, shape (C,); all dimensionless.
    """
    starts = np.cumsum([0, *(len(block.bodies) for block in mechanism.blocks)])
    bodies = [body for block in mechanism.blocks for body in block.bodies]
    parents = [block.parent for block in mechanism.blocks]
    dofs = [block.dofs for block in mechanism.blocks]
    first, *rest = (read_only(np.array(x, dtype=np.int64)) for x in (starts, bodies, parents, dofs))
    return first, rest[0], rest[1], rest[2]


# What may be asked: the parameters of this robot, in which its torques are linear.


def check_question(robot: Robot, layout: Layout) -> None:
    """Refuse a question that has no linear answer.

    Args:
        robot: the robot.
        layout: the parameters asked about.

    Raises:
        InputError: the layout is another robot's, or has friction that grows with the load.
    """
    belongs(robot, layout)
    if "load" in layout.drive:
        raise InputError(
            "friction that grows with the load is not linear in the parameters.",
            place="layout",
            remedy="Leave out 'load'.",
        )


# The friction terms of joints that move together: which of them torque tells apart.


def friction_groupings(
    layout: Layout, block: Block, ratios: Sequence[Fraction], first: Sequence[int]
) -> dict[int, dict[int, Fraction]]:
    r"""Rows of the friction terms of a block, which no other term resembles.

    The coordinate v of the block moves a joint that follows it by $k v$, and feels k times its friction:
    $k^2 F_v\,v$, $|k| F_c \operatorname{sign} v$, $k |k| F_a\,|v|$. Stribeck terms group where they fade
    alike.

    Args:
        layout: the parameters.
        block: the block, of one degree of freedom.
        ratios: k of each body, dimensionless, rad/m or m/rad.
        first: index in phi of each body's first drive term.

    Returns:
        Rows of K by the index of each base parameter: coefficients of the parameters grouped with it.
    """
    laws = {
        "viscous": lambda k: k * k,
        "coulomb": abs,
        "asymmetric": lambda k: k * abs(k),
        "stribeck": abs,
    }
    rows: dict[int, dict[int, Fraction]] = {}
    for place, term in enumerate(layout.drive):
        heads: dict[object, tuple[int, Fraction]] = {}
        for i in block.bodies if term in laws else ():
            index, weight = first[i] + place, laws[term](ratios[i])
            head, its = heads.setdefault(_fading(layout, term, first[i], ratios[i]), (index, weight))
            rows.setdefault(head, {})[index] = weight / its
    return rows


def _fading(layout: Layout, term: str, first: int, ratio: Fraction) -> object:
    """What tells the Stribeck terms of a block apart: the speed at which they fade, and how."""
    if term != "stribeck":
        return None
    shape = layout.stribeck[(first - 10 * len(layout.links)) // len(layout.drive)]
    return Fraction(repr(shape.velocity)) / abs(ratio), shape.exponent
