"""A `<body>` of an MJCF file as a link: its inertia and its collision shapes."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import DescriptionError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.geometry import Geometry
from steelyard.robot.mjcf.content import Context, Item
from steelyard.robot.mjcf.geom import Geom, read_geom
from steelyard.robot.mjcf.inertial import read_inertial, weigh
from steelyard.robot.plausibility import implausible
from steelyard.robot.raw import RawLink
from steelyard.robot.xml import Element


def read_link(
    element: Element,
    name: str,
    items: Sequence[Item],
    placement: Pose,
    context: Context,
    *,
    moves: bool,
) -> RawLink:
    """Read a body as a link.

    Args:
        element: the `<body>`.
        name: of the body.
        items: what it holds.
        placement: X_LB, the body's frame in the link's.
        context: what to read with.
        moves: whether it can move, so that its inertia matters.

    Returns:
        The link.

    Raises:
        DescriptionError: an element or a number that is needed is missing or malformed.
    """
    inertials = [item for item in items if item.element.tag == "inertial"]
    if len(inertials) > 1:
        raise DescriptionError(f"body '{name}' states two inertials.", place=inertials[1].element.place)
    place = inertials[0].element.place if inertials else element.place
    stated: Body | str | None = None
    if inertials:
        stated = read_inertial(inertials[0].element, inertials[0].frame, context.placements)
    geoms = _geoms(items, context)
    body = weigh(name, stated, geoms, context.compiler, place, context.findings, moves=moves)
    if body is not None and stated is not None:
        rooms = [geom.room for geom in geoms if geom.collides]
        context.findings.extend(implausible(name, body, rooms, place))
    in_link = None if body is None else body.moved(placement)
    return RawLink(name, element.place, in_link, _shapes(geoms, placement), place)


def read_world(name: str, place: str, items: Sequence[Item], context: Context) -> RawLink:
    """Read the world as the base: its collision shapes alone.

    Args:
        name: of the base.
        place: file and line.
        items: what it holds.
        context: what to read with.

    Returns:
        The base.

    Raises:
        DescriptionError: it has a joint or an inertia.
    """
    for item in items:
        if item.element.tag in ("joint", "freejoint", "inertial"):
            raise DescriptionError(f"the world has no <{item.element.tag}>.", place=item.element.place)
    return RawLink(name, place, None, _shapes(_geoms(items, context), Pose.identity()))


def _geoms(items: Sequence[Item], context: Context) -> list[Geom]:
    return [
        read_geom(context.resolve(item), item.frame, context.placements, context.meshes, context.findings)
        for item in items
        if item.element.tag == "geom"
    ]


def _shapes(geoms: Sequence[Geom], X_LB: Pose) -> tuple[Geometry, ...]:
    shapes = [geom.collision for geom in geoms if geom.collision is not None]
    return tuple(Geometry(item.shape, X_LB @ item.pose) for item in shapes)
