"""One joint: how its child link may move, within which limits, and what drives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import Drive
from steelyard.errors import DescriptionError
from steelyard.pose import Pose


class JointKind(StrEnum):
    """The joints that move; fixed joints are merged away when a description is read."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FLOATING = "floating"

    @property
    def rotates(self) -> bool:
        """Whether its coordinate is an angle."""
        return self in (JointKind.REVOLUTE, JointKind.CONTINUOUS)

    @property
    def nq(self) -> int:
        """Numbers that state its position: a floating joint has x, y, z and a quaternion x, y, z, w."""
        return 7 if self is JointKind.FLOATING else 1

    @property
    def nv(self) -> int:
        """Degrees of freedom: a floating joint has the child's twist in its own frame, linear part first."""
        return 6 if self is JointKind.FLOATING else 1


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


@dataclass(frozen=True, eq=False)
class Joint:
    r"""A joint between a parent link P and its child link C.

    $$X_{PC}(q) = X_{PJ}\,X_{motion}(q)$$

    Attributes:
        name: unique among the robot's joints.
        kind: how it moves.
        parent: index of the parent among the moving links, -1 for the base.
        placement: X_PJ, the child's frame in the parent's at q = 0.
        axis: unit vector in the child's frame, shape (3,), dimensionless; a floating joint ignores it.
        limits: what it may do.
        drive: what sits at it.
    """

    name: str
    kind: JointKind
    parent: int
    placement: Pose
    axis: Array
    limits: Limits = field(default_factory=Limits)
    drive: Drive = field(default_factory=Drive)

    def __post_init__(self) -> None:
        axis = checked(f"axis of joint '{self.name}'", self.axis, (3,))
        if abs(float(np.linalg.norm(axis)) - 1.0) > 1e-12:
            raise DescriptionError(
                f"the axis must have length 1, got {np.linalg.norm(axis):.6g}.", place=f"joint '{self.name}'"
            )
        object.__setattr__(self, "axis", read_only(axis))

    @property
    def position_unit(self) -> str:
        """Unit of its coordinate."""
        return "rad" if self.kind.rotates else "m"

    @property
    def effort_unit(self) -> str:
        """Unit of its torque or force."""
        return "N·m" if self.kind.rotates else "N"
