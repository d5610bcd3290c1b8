"""Play between a joint and its encoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.compiled import kernel
from steelyard.errors import InputError
from steelyard.robot import Robot


class PlayGear:
    r"""An encoder that the joint drags along through a gear with play b.

    $$\theta \leftarrow \min\big(\max(\theta,\; q - b/2),\; q + b/2\big)$$

    The encoder rests while the joint crosses the gap, and follows at b/2 behind it afterwards: after each
    reversal the first b of the motion is not seen. This is the rate-independent play of the encoder's own
    gear, which is lightly loaded; the torque does not pass through it, so there is no impact and no free
    flight of the motor, and the arm's dynamics are those without play.

    Args:
        gap: b, shape (nv,), rad or m.
        q: where the joints stand, in the middle of their gaps, shape (nv,), rad or m.
    """

    def __init__(self, gap: Array, q: Array) -> None:
        self.half = 0.5 * gap
        """b/2, shape (nv,), rad or m."""
        self.position = np.array(q)
        """Where the encoders stand, updated in place, shape (nv,), rad or m."""

    def follow(self, q: Array) -> None:
        """Drag the encoders to where the joints now stand.

        Args:
            q: joint positions, shape (nv,), rad or m.
        """
        drag(self.position, np.array(q, dtype=float), self.half)


@kernel
def drag(encoder: Array, q: Array, half: Array) -> None:
    """Move encoders with the joints, at most half a gap behind them."""
    for j in range(q.size):
        encoder[j] = min(max(encoder[j], q[j] - half[j]), q[j] + half[j])


def checked_gap(robot: Robot, backlash: ArrayLike) -> Array:
    """The play of every joint's encoder, checked.

    Args:
        robot: the robot.
        backlash: b, one for all joints or one each, shape () or (nv,), rad or m.

    Returns:
        b, shape (nv,), rad or m.

    Raises:
        InputError: one is negative or not finite, or their number is wrong.
    """
    raw = np.asarray(backlash)
    gap = np.broadcast_to(checked("backlash", raw, () if raw.ndim == 0 else (robot.nv,)), (robot.nv,))
    if (gap < 0.0).any():
        j = int(np.argmax(gap < 0.0))
        joint = robot.joints[j]
        raise InputError(
            f"must not be negative, got {gap[j]:g} {joint.position_unit} at joint '{joint.name}'.",
            place="backlash",
        )
    return read_only(gap)
