"""What truly happened to a driven arm: limits, tube and contacts at every cycle, from its true states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracles.mujoco_contacts import MujocoContacts
from steelyard.limits import Scene
from steelyard.robot import Geometry, Robot

EVERY = 40
"""Cycles from one measured distance to the next; contact itself is looked for at every one."""


@dataclass(frozen=True, eq=False)
class Driven:
    """True states at the start of every cycle, the torque over it, and what the law was to follow.

    Attributes:
        cycle: length of a cycle, s.
        q: shape (N, nv), rad or m.
        v: shape (N, nv), rad/s or m/s.
        tau: shape (N, nv), N·m or N.
        q_ref: shape (N, nv), rad or m.
        v_ref: shape (N, nv), rad/s or m/s.
    """

    cycle: float
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    q_ref: np.ndarray
    v_ref: np.ndarray

    @property
    def time(self) -> np.ndarray:
        """When each cycle began, shape (N,), s."""
        return self.cycle * np.arange(len(self.q))

    def tube_errors(self, kr: float) -> tuple[np.ndarray, np.ndarray]:
        """Norms of r and e, each shape (N,), rad/s and rad."""
        e = self.q_ref - self.q
        return np.linalg.norm(self.v_ref - self.v + kr * e, axis=1), np.linalg.norm(e, axis=1)


def limit_shares(driven: Driven, robot: Robot) -> dict[str, np.ndarray]:
    """How much of each limit is used at each cycle, 1 at the limit, shape (N,), dimensionless.

    Positions are measured from the middle of their range.
    """
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    ends = np.isfinite(lower) & np.isfinite(upper)
    middle, half = 0.5 * (lower[ends] + upper[ends]), 0.5 * (upper[ends] - lower[ends])
    return {
        "position": np.max(np.abs(driven.q[:, ends] - middle) / half, axis=1, initial=0.0),
        "velocity": np.max(np.abs(driven.v) / robot.limit_array("velocity"), axis=1),
        "torque": np.max(np.abs(driven.tau) / robot.limit_array("effort"), axis=1),
    }


def contacts(
    driven: Driven, robot: Robot, scenes: Sequence[tuple[float, Scene]], tool: Sequence[Geometry] = ()
) -> tuple[np.ndarray, float]:
    """At which cycles MuJoCo finds a contact, shape (N,), and the least distance it measures, m.

    Scenes follow each other, each with the time from which on it is to be kept clear of.
    """
    touching = np.zeros(len(driven.q), dtype=bool)
    least = np.inf
    begins = [round(when / driven.cycle) for when, _ in scenes]
    for (_, scene), first, last in zip(scenes, begins, [*begins[1:], len(driven.q)], strict=True):
        judge, q = MujocoContacts(robot, scene, tool), driven.q[first:last]
        touching[first:last] = judge.touching(q)
        least = min(least, judge.least_distance(q[::EVERY]))
    return touching, least
