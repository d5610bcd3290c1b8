"""The virtual constraints of a robot and the tool it holds: which points, which ellipsoids, which pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from paper_003.feature_points import feature_points, outer_points
from paper_003.link_ellipsoids import ellipsoids_around
from paper_003.virtual_constraints import VirtualConstraints
from paper_003.virtual_pairs import VirtualPair
from steelyard.arrays import BoolArray, checked
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.limits import Scene
from steelyard.limits.clearance import spread_poses
from steelyard.limits.parts import gather
from steelyard.robot import Geometry, Robot

LOOKED_AT = 16384
"""Positions at which it is learnt which links the tool can reach."""
OUT_OF_REACH = 0.05
"""A link whose ellipsoid no point comes this near at any of these positions is not watched, m."""


def virtual_constraints_of(
    robot: Robot,
    tool: Sequence[Geometry],
    rng: np.random.Generator,
    *,
    count: int | None = None,
    covering: bool = False,
    inflation: float = 0.0,
    meshes: FilePath | None = None,
    tool_meshes: FilePath | None = None,
    rest: ArrayLike | None = None,
) -> VirtualConstraints:
    """Choose the feature points of a tool and the ellipsoids of the links that they must stay out of.

    The link that holds the tool has none. A point that is inside an ellipsoid at rest, or at every one of
    16384 positions spread over the limits, is not kept out of it: so the tool is built, or so coarse is the
    ellipsoid. Links that no point comes within 5 cm of at these positions are left out, which is likely right
    and not proven. The findings say all of it. Links are not kept apart from each other, nor is anything from
    a scene: that is how far the paper goes.

    Args:
        robot: the robot.
        tool: shapes it holds, in its tool frame.
        rng: source of the starts of the clustering.
        count: how many feature points; None to choose by the Bayesian information criterion.
        covering: whether the points stand for balls that hold the whole tool, around which the ellipsoids
            grow by the balls' radius. Then no collision is missed but with links that the findings name;
            without it, parts of the tool around and between the points may collide.
        inflation: distance that the ellipsoids keep around the links, m.
        meshes: folder of the description, where its meshes are looked for.
        tool_meshes: folder where meshes of the tool are looked for; None for the description's.
        rest: a position at which nothing collides, shape (nq,), rad or m; the one nearest to zero within the
            limits when not given.

    Returns:
        The constraints.

    Raises:
        InputError: no shape of the tool is known, or an argument does not fit.
    """
    findings: list[Finding] = []
    links, held, _ = gather(robot, Scene(), tool, meshes, findings, tool_meshes)
    if not held:
        raise InputError(
            "has no shape that is known here.", place="tool", remedy="Give its shapes or meshes."
        )
    features = feature_points(outer_points([part.core for part in held]), rng, count=count, covering=covering)
    carrier = robot.tool_frame.link
    ellipsoids = ellipsoids_around(
        [part for part in links if part.link != carrier], inflation + features.radius
    )
    pairs = [VirtualPair(k, x, e) for e in ellipsoids for k, x in enumerate(features.points)]
    every = VirtualConstraints(robot, tuple(pairs), features)
    q_rest = robot.rest_pose if rest is None else checked("rest", rest, (robot.nq,))
    d = every.distances(spread_poses(robot, LOOKED_AT))
    inside = (every.distances(q_rest)[0] <= 0.0) | (d <= 0.0).all(axis=0)
    near = d.min(axis=0) <= OUT_OF_REACH
    kept: list[VirtualPair] = []
    for e, own in zip(ellipsoids, np.arange(len(pairs)).reshape(-1, len(features.points)), strict=True):
        kept += [pairs[k] for k in own if near[own].any() and not inside[k]]
        findings += _left_out(e.owner, near[own], inside[own])
    return VirtualConstraints(robot, tuple(kept), features, tuple(findings))


def _left_out(owner: str, near: BoolArray, inside: BoolArray) -> list[Finding]:
    if not near.any():
        message = f"no feature point came near its ellipsoid at {LOOKED_AT} positions; it is not watched."
        return [Finding(Severity.INFO, "out-of-reach", message, owner)]
    if inside.any():
        held = f"{inside.sum()} of {len(inside)} feature points"
        message = f"its ellipsoid holds {held} at rest or always, which are not kept out of it."
        return [Finding(Severity.WARNING, "inside-ellipsoid", message, owner)]
    return []
