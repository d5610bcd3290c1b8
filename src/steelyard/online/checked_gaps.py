"""Gaps between the shapes of a robot in its tube, by one separating plane each, for the checker."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.limits import Clearance, Hull, Part, separation
from steelyard.motion import SplineMotion
from steelyard.online.checked_rows import LinkPose, link_poses
from steelyard.online.checked_states import checked_states, mean_value_reach
from steelyard.online.jets import Jet, mapped
from steelyard.pose import Pose

_LOST = 1e-12
"""More than a unit vector's length is off by, and a gap by rounding, in m."""


class CheckedGaps:
    """The corners of every shape over pieces of a plan."""

    def __init__(
        self, clearance: Clearance, plan: SplineMotion, start: Array, end: Array, tube: Tube
    ) -> None:
        self._span = start, end, tube
        robot, self._pairs = clearance.robot, clearance.pairs
        over = link_poses(robot, checked_states(plan, start, end, tube).q)
        at = link_poses(robot, checked_states(plan, start, end, tube, point=True).q)
        parts = dict.fromkeys(part for pair in self._pairs for part in (pair.first, pair.second))
        self._corners = {part: (_corners(part, over), _corners(part, at)) for part in parts}

    def least(self, pair: int, distance: float) -> Array:
        """What the gap of a pair is nowhere below; no better plane is looked for beyond a distance.

        Args:
            pair: which of the clearance's pairs.
            distance: enough for every piece, m.

        Returns:
            The gaps, rounded down, shape (K,), m.
        """
        A, B = self._pairs[pair].first, self._pairs[pair].second
        a, b = self._corners[A][1].middle[0], self._corners[B][1].middle[0]
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
        (a_over, a_at), (b_over, b_at) = self._corners[A], self._corners[B]
        x, y, x_0, y_0 = (mapped("kc,knc->kn", normals, z) for z in (a_over, b_over, a_at, b_at))
        between = _differences(x, y)
        middle = _differences(x_0, y_0)
        low = middle.middle[0] - middle.radius[0] - mean_value_reach(between, *self._span)
        gaps: Array = low.min(axis=(1, 2)) * (1.0 - _LOST) - A.core.radius - B.core.radius - _LOST
        return gaps


def _corners(part: Part, poses: list[LinkPose]) -> Jet:
    """The corners of a part, (K, n, 3)."""
    points = part.core.points
    if part.link < 0:
        S, K = poses[0].origin.middle.shape[:2]
        c = np.zeros((S, K, *points.shape))
        c[0] = points
        return Jet(c, 0.0 * c)
    pose = poses[part.link]
    turned = mapped("nb,kab->kna", points, pose.rotation)
    return turned + Jet(pose.origin.middle[:, :, None], pose.origin.radius[:, :, None])


def _differences(x: Jet, y: Jet) -> Jet:
    """Of each of x with each of y, (K, n, m)."""
    return Jet(x.middle[..., None], x.radius[..., None]) - Jet(y.middle[..., None, :], y.radius[..., None, :])
