"""The door to a robot: read its state, send torques, stop it; a hardware driver has these and no more."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from steelyard.arrays import Array


class Reading(NamedTuple):
    """What a robot says of itself at the start of a control cycle.

    Attributes:
        time: by the robot's clock, s.
        q: joint positions, shape (nv,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        tau: torques measured over the cycle that has just ended, shape (nv,), N·m or N.
    """

    time: float
    q: Array
    v: Array
    tau: Array


class Link(Protocol):
    """A robot that is driven by torques, cycle by cycle.

    One cycle is `read`, then `send`; both must return well within the cycle. Nothing else is asked of a
    driver, and nobody but the thread that drives calls it.
    """

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints, in the order of all its vectors."""
        ...

    @property
    def cycle(self) -> float:
        """Length of a control cycle, s."""
        ...

    def read(self) -> Reading:
        """Wait for the next cycle and say where the robot is."""
        ...

    def send(self, tau: Array) -> None:
        """Command torques until the next cycle.

        Args:
            tau: torques, shape (nv,), N·m or N.
        """
        ...

    def stop(self) -> None:
        """Let the robot's own brakes stop it, now; it takes no torque afterwards."""
        ...
