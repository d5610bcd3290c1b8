"""One joint: how its child may move, within which limits, what drives it, and which joints mimic others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.pose import Pose

# `Joint`


class JointKind(StrEnum):
    """The joints that move; fixed joints are merged away when a description is read."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    HELICAL = "helical"
    SPHERICAL = "spherical"
    FLOATING = "floating"

    @property
    def rotates(self) -> bool:
        """Whether its rates are angular, so that its efforts are torques."""
        return self not in (JointKind.PRISMATIC, JointKind.FLOATING)

    @property
    def nq(self) -> int:
        """Numbers that state its position.

        One angle or length; a spherical joint has a quaternion x, y, z, w, and a floating one x, y, z before
        it.
        """
        return {JointKind.SPHERICAL: 4, JointKind.FLOATING: 7}.get(self, 1)

    @property
    def nv(self) -> int:
        """Degrees of freedom.

        A spherical joint has the child's angular velocity in its own frame, a floating one its twist, linear
        part first.
        """
        return {JointKind.SPHERICAL: 3, JointKind.FLOATING: 6}.get(self, 1)


@dataclass(frozen=True)
class Limits:
    """What a joint may do; infinite where the description states no limit.

    Attributes:
        lower: smallest position, rad or m.
        upper: largest position, rad or m.
        velocity: largest speed, rad/s or m/s.
        acceleration: largest acceleration, rad/s² or m/s².
        effort: largest torque or force, N·m or N.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        if any(
            math.isnan(x) for x in (self.lower, self.upper, self.velocity, self.acceleration, self.effort)
        ):
            raise DescriptionError("a limit is not a number.", place="limits")
        if self.lower > self.upper:
            raise DescriptionError(
                f"the lower limit {self.lower:g} lies above the upper limit {self.upper:g}.", place="limits"
            )
        for name in ("velocity", "acceleration", "effort"):
            if getattr(self, name) < 0:
                raise DescriptionError(
                    f"the {name} limit {getattr(self, name):g} is negative.", place="limits"
                )


@dataclass(frozen=True)
class Mimic:
    r"""A joint tied to another: $q = k\,q_{leader} + q_0$, by a gear, a belt or a linkage.

    Attributes:
        joint: name of the leader, a joint with one degree of freedom that is not tied itself.
        multiplier: k, not zero; dimensionless, rad/m or m/rad.
        offset: q_0, rad or m.
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.multiplier) and math.isfinite(self.offset)):
            raise DescriptionError("multiplier and offset must be finite.", place="mimic")
        if self.multiplier == 0.0:
            raise DescriptionError(
                "a multiplier of zero holds the joint still.", place="mimic", remedy="Make it a fixed joint."
            )


@dataclass(frozen=True, eq=False)
class Joint:
    r"""A joint between a parent link P and its child link C.

    $$X_{PC}(q) = X_{PJ}\,X_{motion}(q)$$

    Planar and universal joints are chains of these, see `assembly`.

    Attributes:
        name: unique among the robot's joints.
        kind: how it moves.
        parent: index of the parent among the moving links, -1 for the base.
        placement: X_PJ, the child's frame in the parent's at q = 0.
        axis: unit vector in the child's frame, shape (3,), dimensionless; spherical and floating joints
            ignore it.
        limits: what it may do.
        drive: what sits at it.
        pitch: advance of a helical joint along its axis, m/rad; zero for the others.
        mimic: the joint it is tied to, or `None`; a tied joint has no coordinate of its own.
    """

    name: str
    kind: JointKind
    parent: int
    placement: Pose
    axis: Array
    limits: Limits = field(default_factory=Limits)
    drive: Drive = field(default_factory=Drive)
    pitch: float = 0.0
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        place = f"joint '{self.name}'"
        if not math.isfinite(self.pitch) or (self.pitch != 0.0 and self.kind is not JointKind.HELICAL):
            raise DescriptionError(
                f"a {self.kind.value} joint cannot have the pitch {self.pitch:g} m/rad.", place=place
            )
        if self.mimic is not None and self.kind.nv != 1:
            raise DescriptionError(f"a {self.kind.value} joint cannot mimic another.", place=place)
        axis = checked(f"axis of joint '{self.name}'", self.axis, (3,))
        if abs(float(np.linalg.norm(axis)) - 1.0) > 1e-12:
            raise DescriptionError(
                f"the axis must have length 1, got {np.linalg.norm(axis):.6g}.", place=place
            )
        object.__setattr__(self, "axis", read_only(axis))

    @property
    def nq(self) -> int:
        """Coordinates of its own: none for a joint that mimics another."""
        return 0 if self.mimic else self.kind.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom of its own: none for a joint that mimics another."""
        return 0 if self.mimic else self.kind.nv

    def motion(self, q: Array) -> Pose:
        r"""$X_{motion}(q)$, the child's frame against where it is at q = 0; turning is Rodrigues' formula.

        Args:
            q: its coordinates, those it follows to where it mimics another, shape (kind.nq,), rad or m.
        """
        u = self.axis
        if self.kind is JointKind.FLOATING:
            return Pose.from_quaternion(q[3:], q[:3])
        if self.kind is JointKind.SPHERICAL:
            return Pose.from_quaternion(q, np.zeros(3))
        if self.kind is JointKind.PRISMATIC:
            return Pose(np.eye(3), q[0] * u)
        across, aside, along = self._turning
        R = np.cos(q[0]) * across + np.sin(q[0]) * aside + along
        return Pose(R, self.pitch * q[0] * u)

    @cached_property
    def _turning(self) -> tuple[Array, Array, Array]:
        """What a turn consists of: the parts across the axis, perpendicular to both, and along it."""
        along = np.outer(self.axis, self.axis)
        return np.eye(3) - along, np.cross(np.eye(3), self.axis), along

    @property
    def position_unit(self) -> str:
        """Unit of its coordinate."""
        return "rad" if self.kind.rotates else "m"

    @property
    def effort_unit(self) -> str:
        """Unit of its torque or force."""
        return "N·m" if self.kind.rotates else "N"


# Joints that mimic others: the linear map from the coordinates a robot has to those its joints need.


@dataclass(frozen=True, eq=False)
class Ties:
    r"""How the coordinates of all joints follow from the independent ones.

    $$q_{all} = G_q\,q + q_0, \qquad v_{all} = G\,v, \qquad \tau = G^T \tau_{all},$$

    the last because power is the same on both sides, $\tau^T v = \tau_{all}^T v_{all}$.

    Attributes:
        positions: G_q, shape (nq of all joints, nq), dimensionless, rad/m or m/rad.
        offset: q_0, shape (nq of all joints,), rad or m.
        rates: G, shape (nv of all joints, nv), dimensionless, rad/m or m/rad.
    """

    positions: Array
    offset: Array
    rates: Array

    def spread_positions(self, q: Array) -> Array:
        """Coordinates of all joints.

        Args:
            q: independent coordinates, shape (N, nq), rad or m.

        Returns:
            Coordinates of every joint, shape (N, nq of all joints), rad or m.
        """
        return q @ self.positions.T + self.offset

    def spread(self, v: Array) -> Array:
        """Rates of all joints, from those of the independent ones; accelerations alike.

        Args:
            v: independent rates, shape (N, nv), rad/s or m/s.

        Returns:
            Rates of every joint, shape (N, nv of all joints), rad/s or m/s.
        """
        return v @ self.rates.T

    def gather(self, tau: Array) -> Array:
        r"""What the independent joints feel: $G^T$ applied to the second axis.

        Args:
            tau: efforts, or anything linear in them, shape (N, nv of all joints, …), N·m or N.

        Returns:
            The efforts at the independent joints, shape (N, nv, …), N·m or N.
        """
        return np.moveaxis(np.tensordot(tau, self.rates, axes=(1, 0)), -1, 1)


def check_ties(joints: Sequence[Joint]) -> None:
    """Refuse a joint that mimics one that cannot lead.

    Args:
        joints: all joints of a robot.

    Raises:
        UnknownNameError: the leader does not exist; lists those that do.
        DescriptionError: the leader has several degrees of freedom, or mimics another itself.
    """
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        place = f"joint '{joint.name}'"
        leader = by_name.get(joint.mimic.joint)
        if leader is None:
            raise UnknownNameError("joint", joint.mimic.joint, by_name, place=place)
        if leader.mimic is not None or leader.kind.nv != 1:
            what = "mimics another itself" if leader.mimic else f"is {leader.kind.value}"
            raise DescriptionError(f"cannot mimic '{leader.name}', which {what}.", place=place)


def ties_of(joints: Sequence[Joint]) -> Ties | None:
    """The map from independent coordinates to those of all joints.

    Args:
        joints: all joints of a robot, checked.

    Returns:
        The map, or `None` where no joint mimics another.
    """
    if all(joint.mimic is None for joint in joints):
        return None
    first_q = dict(zip((j.name for j in joints), np.cumsum([0, *(j.nq for j in joints)]), strict=False))
    first_v = dict(zip((j.name for j in joints), np.cumsum([0, *(j.nv for j in joints)]), strict=False))
    nq, nv = sum(joint.nq for joint in joints), sum(joint.nv for joint in joints)
    positions, rates, offset = [], [], []
    for joint in joints:
        mimic = joint.mimic
        leader, factor = (joint.name, 1.0) if mimic is None else (mimic.joint, mimic.multiplier)
        positions.append(factor * np.eye(nq)[first_q[leader] : first_q[leader] + joint.kind.nq])
        rates.append(factor * np.eye(nv)[first_v[leader] : first_v[leader] + joint.kind.nv])
        offset.append(np.full(joint.kind.nq, 0.0 if mimic is None else mimic.offset))
    return Ties(
        read_only(np.vstack(positions)), read_only(np.concatenate(offset)), read_only(np.vstack(rates))
    )
