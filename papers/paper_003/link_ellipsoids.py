"""The links of a robot as ellipsoids, the smallest around each (Tian et al. 2024, eq. (11b))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paper_003.enclosing_ellipsoid import enclosing_ellipsoid
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.inertia import Ellipsoid
from steelyard.limits import Scene
from steelyard.limits.parts import Part, gather
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class LinkEllipsoid:
    """An ellipsoid around a link.

    Attributes:
        owner: name of the link.
        link: index of the moving link, -1 for the base.
        ellipsoid: in the link's frame; its semi-axes are the ε of the paper.
    """

    owner: str
    link: int
    ellipsoid: Ellipsoid


def link_ellipsoids(
    robot: Robot,
    *,
    meshes: FilePath | None = None,
    inflation: float = 0.0,
    findings: list[Finding] | None = None,
) -> tuple[LinkEllipsoid, ...]:
    """The smallest ellipsoid around everything within a distance of each link, the base included.

    Args:
        robot: the robot.
        meshes: folder of the description, where its meshes are looked for.
        inflation: the distance, m; the paper asks for ellipsoids larger than the links and leaves the size to
            the user.
        findings: where to report links without shapes, which have no ellipsoid, and meshes not read.

    Returns:
        The ellipsoids of all links that have a shape, the base first.

    Raises:
        InputError: the inflation is negative, or a link is flat and not inflated.
    """
    links, _, _ = gather(robot, Scene(), (), meshes, [] if findings is None else findings)
    return ellipsoids_around(links, inflation)


def ellipsoids_around(parts: Sequence[Part], inflation: float) -> tuple[LinkEllipsoid, ...]:
    """The smallest ellipsoid around everything within a distance of the parts of each owner.

    Args:
        parts: shapes of links.
        inflation: the distance, m.

    Returns:
        The ellipsoids, one for each owner, in the order of the parts.

    Raises:
        InputError: the inflation is negative, or a link is flat and not inflated.
    """
    if not (np.isfinite(inflation) and inflation >= 0.0):
        raise InputError(f"must be finite and not negative, got {inflation}.", place="inflation")
    owners: dict[str, list[Part]] = {}
    for part in parts:
        owners.setdefault(part.owner, []).append(part)
    return tuple(
        LinkEllipsoid(owner, own[0].link, _around(owner, own, inflation)) for owner, own in owners.items()
    )


def _around(owner: str, parts: Sequence[Part], inflation: float) -> Ellipsoid:
    centres = np.vstack([part.core.points for part in parts])
    radii = np.concatenate([np.full(len(part.core.points), part.core.radius) for part in parts]) + inflation
    try:
        return enclosing_ellipsoid(centres, radii)
    except InputError as error:
        raise InputError(
            f"its shapes {error.message}", place=f"link '{owner}'", remedy="Give it an inflation."
        ) from error
