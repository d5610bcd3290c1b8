"""Where poses are looked for: a box of joint positions, or all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.robot import Robot

STROKE = 0.5
"""How far a sliding joint without limits is looked at, each way, m."""


@dataclass(frozen=True, eq=False)
class PoseDomain:
    """A box of poses, or all of them.

    Attributes:
        lower: lower ends, shape (nq,), rad or m; -inf for an angle that may be any.
        upper: upper ends, shape (nq,), rad or m; inf for an angle that may be any.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        lower = checked("lower", self.lower, ("n",), finite=False)
        upper = checked("upper", self.upper, lower.shape, finite=False)
        if not (lower <= upper).all() or (np.isinf(lower) != np.isinf(upper)).any():
            raise InputError(
                "each joint needs two ends in order, or none.",
                place="PoseDomain",
                evidence={"lower": lower, "upper": upper},
            )
        object.__setattr__(self, "lower", read_only(lower))
        object.__setattr__(self, "upper", read_only(upper))

    @classmethod
    def every(cls, robot: Robot) -> PoseDomain:
        """All angles; lengths of sliding joints within their limits, or within `STROKE`.

        Args:
            robot: the robot.

        Returns:
            The domain.
        """
        turns = np.array([joint.kind.rotates for joint in robot.joints])
        lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
        open_ended = np.isinf(lower) | np.isinf(upper)
        lower, upper = np.where(open_ended, -STROKE, lower), np.where(open_ended, STROKE, upper)
        return cls(np.where(turns, -np.inf, lower), np.where(turns, np.inf, upper))

    @property
    def middle(self) -> Array:
        """Middle of the box, shape (nq,), rad or m; zero where any angle may be."""
        free = np.isinf(self.lower)
        return np.where(free, 0.0, 0.5 * (np.where(free, 0.0, self.lower) + np.where(free, 0.0, self.upper)))

    @property
    def half(self) -> Array:
        """Half the widths of the box, shape (nq,), rad or m; infinite where any angle may be."""
        return np.where(np.isinf(self.lower), np.inf, self.upper - self.middle)

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Poses drawn evenly.

        Args:
            count: N.
            rng: source of the poses.

        Returns:
            Poses, shape (N, nq), rad or m.
        """
        half = np.where(np.isinf(self.half), np.pi, self.half)
        return self.middle + half * rng.uniform(-1.0, 1.0, (count, half.size))
