"""Gaps between the shapes of a robot in its tube, by one separating plane each, for the checker."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.limits import Clearance, Hull, Part, separation
from steelyard.motion import SplineMotion
from steelyard.online.checked_rows import LinkPose, link_poses
from steelyard.online.checked_states import checked_states
from steelyard.online.jets import Jet, mapped, zeros
from steelyard.pose import Pose

_LOST = 1e-12
"""More than a unit vector's length is off by, and a gap by rounding, in m."""


class CheckedGaps:
    """The corners of every shape over pieces of a plan."""

    def __init__(
        self, clearance: Clearance, plan: SplineMotion, start: Array, end: Array, tube: Tube
    ) -> None:
        robot, self._pairs = clearance.robot, clearance.pairs
        poses = link_poses(robot, checked_states(plan, start, end, tube).q)
        parts = dict.fromkeys(part for pair in self._pairs for part in (pair.first, pair.second))
        self._corners = {part: _corners(part, poses) for part in parts}

    def least(self, pair: int, distance: float) -> Array:
        """What the gap of a pair is nowhere below; no better plane is looked for beyond a distance.

        Args:
            pair: which of the clearance's pairs.
            distance: enough for every piece, m.

        Returns:
            The gaps, rounded down, shape (K,), m.
        """
        A, B = self._pairs[pair].first, self._pairs[pair].second
        a, b = self._corners[A].middle[0], self._corners[B].middle[0]
        normals = a.mean(axis=1) - b.mean(axis=1)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
        gaps = self._along(normals, A, B)
        short = np.flatnonzero(gaps < distance)
        if len(short):
            here = Pose.identity()
            for k in short:
                normals[k] = separation(Hull(a[k]), here, Hull(b[k]), here).normal
            gaps = np.maximum(gaps, self._along(normals, A, B))
        return gaps

    def _along(self, normals: Array, A: Part, B: Part) -> Array:
        """The gaps along unit vectors from B to A, shape (K,)."""
        x, y = (mapped("kc,knc->kn", normals, self._corners[part]) for part in (A, B))
        between = _differences(x, y)
        low = between.middle[0] - between.radius[0]
        gaps: Array = low.min(axis=(1, 2)) * (1.0 - _LOST) - A.core.radius - B.core.radius - _LOST
        return gaps


def _corners(part: Part, poses: list[LinkPose]) -> Jet:
    """The corners of a part, (K, n, 3)."""
    points = part.core.points
    if part.link < 0:
        S, K = poses[0].origin.middle.shape[:2]
        c = zeros(S, K, *points.shape)
        c[0] = points
        return Jet(c, 0.0 * c, 0.0 * c[0], poses[0].origin.balls)
    pose = poses[part.link]
    turned = mapped("nb,kab->kna", points, pose.rotation)
    return turned + pose.origin[:, None]


def _differences(x: Jet, y: Jet) -> Jet:
    """Of each of x with each of y, (K, n, m)."""
    return x[:, :, None] - y[:, None, :]
