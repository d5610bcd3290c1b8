r"""Motors' rotors as bodies of their own: geared to their joint, spinning about an axis of the carrying link.

A rotor turns by $n\,q$ against the link that carries it. Its momentum is felt by that link too, which the
plain armature $I_a = n^2 I_m$ leaves out (paper 002, section 8). As a joint that mimics its own, it takes
part in every computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic
from steelyard.robot.link import Link
from steelyard.robot.model import Robot


@dataclass(frozen=True, eq=False)
class Rotor:
    """Where a joint's motor sits on the link that carries the joint, and how it is geared.

    Attributes:
        ratio: n, turns of the rotor per radian (or metre) of the joint, dimensionless or rad/m.
        axis: spin axis in the joint's frame, shape (3,), dimensionless; None for the joint's own.
        place: centre of the rotor in the joint's frame, shape (3,), m.
        body: its inertia in its frame, whose origin is `place` and whose z is the spin axis; None where
            nothing is known of it.
    """

    ratio: float
    axis: Array | None = None
    place: Array | None = None
    body: Body | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.ratio) or self.ratio == 0.0:
            raise InputError(f"must be finite and not zero, got {self.ratio}.", place="ratio of a rotor")
        for name in ("axis", "place"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, read_only(checked(f"{name} of a rotor", value, (3,))))
        if self.axis is not None and not self.axis.any():
            raise InputError("has no direction.", place="axis of a rotor")


def rotor_name(joint: str) -> str:
    """The name of the rotor's link and joint.

    Args:
        joint: name of the joint it drives.

    Returns:
        The name.
    """
    return f"{joint}/rotor"


def with_rotors(robot: Robot, rotors: Mapping[str, Rotor]) -> Robot:
    """The same robot with rotors at some of its joints.

    The armatures that the drives of these joints state are taken out, since the rotors replace them.

    Args:
        robot: the robot.
        rotors: by the name of the joint they drive, which has one degree of freedom of its own.

    Returns:
        A new robot with a link and a joint more for each rotor, after its own.

    Raises:
        UnknownNameError: no such joint; lists those that exist.
        InputError: the joint cannot be driven by a rotor.
    """
    joints, links = list(robot.joints), list(robot.links)
    for name, rotor in rotors.items():
        if name not in robot.joint_names:
            raise UnknownNameError("joint", name, robot.joint_names)
        i = robot.joint_names.index(name)
        driven = joints[i]
        if driven.nv != 1:
            raise InputError("has not one degree of freedom of its own.", place=f"joint '{name}'")
        joints[i] = replace(driven, drive=replace(driven.drive, rotor=None))
        axis = driven.axis if rotor.axis is None else rotor.axis / np.linalg.norm(rotor.axis)
        place = np.zeros(3) if rotor.place is None else rotor.place
        placement = driven.placement @ Pose(_along(axis), place)
        spin = Mimic(name, rotor.ratio)
        joints.append(
            Joint(
                rotor_name(name),
                JointKind.CONTINUOUS,
                driven.parent,
                placement,
                np.array([0.0, 0.0, 1.0]),
                Limits(),
                mimic=spin,
            )
        )
        links.append(Link(rotor_name(name), rotor.body))
    return replace(robot, joints=tuple(joints), links=tuple(links))


def spin_only(names: Sequence[str]) -> dict[str, float]:
    """What is fixed when rotors are symmetric and only their spin inertia is asked about.

    The other nine numbers of a rotor that is balanced about its axis are as well those of the link that
    carries it, so they are counted there.

    Args:
        names: names of the driven joints.

    Returns:
        Value zero by parameter name, for `Layout.fixing`.
    """
    others = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")
    return {f"{rotor_name(name)}.{term}": 0.0 for name in names for term in others}


def _along(axis: Array) -> Array:
    """A rotation whose z is the axis; a coordinate axis gives entries 0 and ±1."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
