"""The way of a command to the joints: clipped, late, and held until the next one arrives."""

from __future__ import annotations

from collections import deque

import numpy as np

from steelyard.arrays import Array

# An arrival this close to the start of a cycle, in cycles, is at it: the rounding of the user's numbers.
_WHOLE = 1e-9


class TorqueLimiter:
    """Clips commands to the effort limits and counts how often.

    Args:
        limits: largest torques, shape (nv,), N·m or N; infinite where there is none.
    """

    def __init__(self, limits: Array) -> None:
        self.limits = limits
        self.counts = np.zeros(len(limits), dtype=np.int64)

    def clipped(self, tau: Array) -> Array:
        """The command within the limits.

        Args:
            tau: commanded torques, shape (nv,), N·m or N.

        Returns:
            The clipped torques, shape (nv,), N·m or N.
        """
        self.counts += np.abs(tau) > self.limits
        return np.clip(tau, -self.limits, self.limits)


def arrivals(delays: Array) -> Array:
    """When the commands of consecutive cycles arrive, the first sent in cycle 0.

    Args:
        delays: how many cycles each takes, shape (n,), dimensionless; they must keep the commands in order.

    Returns:
        Arrivals in cycles, shape (n,), dimensionless.
    """
    arrival = np.arange(len(delays)) + delays
    nearest = np.rint(arrival)
    return np.where(np.abs(arrival - nearest) <= _WHOLE, nearest, arrival)


class CommandLine:
    """The commands that are on their way to the joints; time is counted in cycles.

    Args:
        first: the command of cycle 0, which acts from the beginning, shape (nv,), N·m or N.
    """

    def __init__(self, first: Array) -> None:
        self._acting = first
        self._coming: deque[tuple[float, Array]] = deque()

    def send(self, cycle: int, tau: Array, delay: float) -> None:
        """Send a command; it must not arrive before one sent earlier.

        Args:
            cycle: when it is sent.
            tau: the command, shape (nv,), N·m or N.
            delay: how many cycles it takes.
        """
        arrival = cycle + delay
        nearest = round(arrival)
        self._coming.append((nearest if abs(arrival - nearest) <= _WHOLE else arrival, tau))

    def acting(self, cycle: int) -> Array:
        """The command that acts at the start of a cycle, one that arrives just then included.

        Args:
            cycle: which; they are asked for in order.

        Returns:
            Torques, shape (nv,), N·m or N.
        """
        while self._coming and self._coming[0][0] <= cycle:
            self._acting = self._coming.popleft()[1]
        return self._acting

    def during(self, cycle: int) -> list[tuple[Array, float]]:
        """What acts during a cycle, in order.

        Args:
            cycle: which; they are asked for in order.

        Returns:
            Commands, each shape (nv,), N·m or N, with the share of the cycle, dimensionless, that each acts.
        """
        torque, since = self.acting(cycle), float(cycle)
        parts = []
        for arrival, tau in self._coming:
            if arrival >= cycle + 1:
                break
            parts.append((torque, arrival - since))
            torque, since = tau, arrival
        return [*parts, (torque, cycle + 1 - since)]
