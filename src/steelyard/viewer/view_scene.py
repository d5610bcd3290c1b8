"""`ViewScene`: all that is shown, for whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, keep_checked
from steelyard.dynamics import forward_kinematics
from steelyard.finding import Finding
from steelyard.inertia import Mesh
from steelyard.limits import Scene
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.viewer.bodies import Source, ViewBody
from steelyard.viewer.playback import Playback
from steelyard.viewer.surfaces import moved, surface_of

LEAST_EXTENT = 0.05
"""Smallest size of what is shown, m: a point has none, and a camera needs one."""


@dataclass(frozen=True, eq=False)
class ViewScene:
    """A robot or an object, what stands around it, and a motion.

    Attributes:
        title: what it is.
        robot: whose frames move; None for an object by itself.
        bodies: the base first, then the moving links, then what is held.
        q: joint positions at first, shape (nq,), rad or m.
        around: obstacles.
        floor: X_0F, the floor's surface with z up; None where there is none.
        playback: the motion; None without one.
        findings: what could not be shown, and what was noticed.
    """

    title: str
    robot: Robot | None
    bodies: tuple[ViewBody, ...]
    q: Array
    around: Scene = field(default_factory=Scene)
    floor: Pose | None = None
    playback: Playback | None = None
    findings: tuple[Finding, ...] = ()
    schema: int = 1

    def __post_init__(self) -> None:
        keep_checked(self, (0 if self.robot is None else self.robot.nq,), "q")

    def frames(self, q: ArrayLike) -> Array:
        """Where the frames are that carry bodies.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Homogeneous matrices of the base and of every moving link in the base frame, shape (N, L, 4, 4),
            dimensionless and m.
        """
        base = np.broadcast_to(np.eye(4), (len(np.asarray(q)), 1, 4, 4))
        return base if self.robot is None else np.concatenate((base, forward_kinematics(self.robot, q)), 1)

    @cached_property
    def obstacles(self) -> tuple[tuple[str, Mesh], ...]:
        """Names and surfaces of what stands around, in the base frame."""
        return tuple((x.name, moved(surface_of(x.shape), x.pose)) for x in self.around.obstacles)

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """Corners of the box around all bodies at first, shape (3,) each, m."""
        frames = self.frames(self.q[None])[0]
        points = [frames[:, :3, 3]]
        for body in self.bodies:
            X = frames[body.frame]
            points += [s.mesh.vertices @ X[:3, :3].T + X[:3, 3] for s in body.surfaces]
            points += [(X[:3, :3] @ mass.com + X[:3, 3])[None] for mass in body.masses]
        every = np.concatenate(points)
        return every.min(axis=0), every.max(axis=0)

    @property
    def extent(self) -> float:
        """Length of that box's diagonal, m."""
        lower, upper = self.reach
        return max(float(np.linalg.norm(upper - lower)), LEAST_EXTENT)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Who says anything about masses."""
        every: tuple[Source, ...] = ("described", "estimated")
        return tuple(x for x in every if any(body.mass(x) is not None for body in self.bodies))

    def mass(self, source: Source) -> float:
        """All bodies together by one source, kg.

        Args:
            source: who.
        """
        return sum(mass.mass for body in self.bodies if (mass := body.mass(source)) is not None)

    @property
    def document(self) -> dict[str, Any]:
        """What is shown, as JSON states it."""
        return {
            "schema": self.schema,
            "title": self.title,
            "joints": [] if self.robot is None else list(self.robot.joint_names),
            "q": self.q.tolist(),
            "mass": {source: self.mass(source) for source in self.sources},
            "bodies": [body.document for body in self.bodies],
            "obstacles": [name for name, _ in self.obstacles],
            "floor": None if self.floor is None else self.floor.translation.tolist(),
            "motion": None if self.playback is None else self.playback.document,
            "findings": [
                {"severity": x.severity.value, "code": x.code, "place": x.place, "message": x.message}
                for x in self.findings
            ],
        }
