"""The shapes a clearance is made of, and which pairs of them are watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import getfile
from itertools import combinations, product

import numpy as np
import scipy

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.errors import UnknownNameError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import Mesh
from steelyard.kept import kept_arrays
from steelyard.limits import distance
from steelyard.limits.decomposition import convex_pieces
from steelyard.limits.distance import COLUMNS, CORNERS, walk_apart
from steelyard.limits.scene import Obstacle, Scene
from steelyard.limits.shapes import FLAT, Core, Solid, core_of, hull_corners, polytope
from steelyard.pose import Pose
from steelyard.robot import Geometry, Link, MeshFile, MeshFolder, MeshSource, Robot

# Fewer corners for the hull of a mesh, thickened so that nothing of it is left outside.

MOST_CORNERS = 48
"""Corners a mesh keeps: each one more costs a step of the search in every distance."""

MANY, _BLOCK = 2048, 32
"""Corners of a hull among which all are looked at for the furthest, and directions that are looked along at a
time where there are more."""


def covering_core(points: Array, most: int = MOST_CORNERS) -> Core:
    """A core that holds every one of many points.

    Where their hull has more corners than allowed, those furthest out are kept one after the other, and the
    radius is the largest distance of the others to the hull of these: the core reaches nowhere further than
    its radius beyond the hull of the points. Cores of more than `MANY` points are kept on disk
    (`steelyard.kept`).

    Args:
        points: in any order, shape (n, 3), m.
        most: corners to keep, at least 4.

    Returns:
        The core; its radius is zero where nothing had to be left out.
    """
    if len(points) <= MANY:
        return _covering(points, most)

    def make() -> tuple[Array, Array, Array, Array]:
        core = _covering(points, most)
        return core.points, core.normals, core.edges, np.array([core.radius])

    code = (__file__, getfile(Core), str(distance.__file__))
    at, normals, edges, radius = kept_arrays("core", (points, float(most)), make, code=code)
    return Core(at, normals, edges, float(radius[0]))


def _covering(points: Array, most: int) -> Core:
    """See `covering_core`."""
    corners = hull_corners(points)
    if len(corners) <= most:
        return Core.around(corners)
    candidates = _outermost(corners) if len(corners) > MANY else corners
    kept = _far_corners(candidates)
    while len(kept) < min(most, len(candidates)):
        beyond = _beyond(candidates[kept], candidates)
        beyond[kept] = -np.inf
        kept.append(int(beyond.argmax()))
    core = Core.around(candidates[kept])
    room = np.vstack([core.points, np.zeros((1, 3))])
    return Core(core.points, core.normals, core.edges, _furthest_outside(corners, room))


def _outermost(corners: Array) -> Array:
    """Those of many corners that lie furthest out in one of `MANY` directions, which are spread evenly.

    What is left out widens the core's radius, as whatever else it does not keep.
    """
    k = np.arange(MANY) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / MANY), np.pi * (1.0 + np.sqrt(5.0)) * k
    ways = np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))
    found = [(corners @ block.T).argmax(axis=0) for block in np.split(ways, MANY // _BLOCK)]
    outermost: Array = corners[np.unique(np.concatenate(found))]
    return outermost


def _far_corners(corners: Array) -> list[int]:
    """Up to four corners that span what all span: each lies furthest from the span of those before."""
    kept = [int(np.linalg.norm(corners - corners.mean(axis=0), axis=1).argmax())]
    left = corners - corners[kept[0]]
    size = float(np.linalg.norm(left, axis=1).max())
    for _ in range(3):
        lengths = np.linalg.norm(left, axis=1)
        furthest = int(lengths.argmax())
        if lengths[furthest] <= FLAT * size:
            break
        kept.append(furthest)
        way = left[furthest] / lengths[furthest]
        left = left - np.outer(left @ way, way)
    return kept


def _beyond(kept: Array, points: Array) -> Array:
    """How far points lie beyond the nearest face of the hull of some; in its plane where that is flat."""
    if len(polytope(kept).normals) <= 2:
        spread = kept - kept.mean(axis=0)
        axes = np.linalg.svd(spread, full_matrices=True)[2][:2]
        kept, points = spread @ axes.T, (points - kept.mean(axis=0)) @ axes.T
    planes = scipy.spatial.ConvexHull(kept).equations
    return np.asarray((points @ planes[:, :-1].T + planes[:, -1]).max(axis=1))


@kernel
def _furthest_outside(points: Array, room: Array) -> float:
    """Largest distance of points (n, 3) to the hull of all but the last row of room (c + 1, 3)."""
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), np.int64)
    out = np.empty(9)
    last, largest = len(room) - 1, 0.0
    for n in range(len(points)):
        room[last] = points[n]
        largest = max(largest, walk_apart(room, last, last + 1, 0, last, simplex, owners, out))
    return largest


# Shapes of the links, of a tool and of the scene

TOOL = "tool"
UNREAD = ("bad-shape", "unknown-shape")
"""Findings of a reader that left a collision shape out."""


@dataclass(frozen=True, eq=False)
class Part:
    """One shape that is checked.

    Attributes:
        title: what messages call it: `link5`, `link5[1]` where a link has several, `tool`, `box 'table'`.
        owner: name of its link or obstacle, or `tool`.
        link: index of the moving link that carries it, -1 where it does not move.
        core: in the frame of that link, or of the base.
        shape: what the description says it is; of a mesh its vertices, shape (n, 3), m.
        pose: the shape's frame in that of the link, or of the base.
        mesh: the mesh that the core is the hull of, which may be cut into pieces; None where it is none.
    """

    title: str
    owner: str
    link: int
    core: Core
    shape: Solid | Array
    pose: Pose
    mesh: Mesh | None = None

    @cached_property
    def pieces(self) -> tuple[Part, ...]:
        """Parts that hold its mesh more closely than one hull; itself where no cut is worth it."""
        cut = [] if self.mesh is None else convex_pieces(self.mesh)
        if len(cut) < 2:
            return (self,)
        return tuple(
            replace(
                self,
                title=f"{self.title} piece {k}",
                core=covering_core(points).moved(self.pose),
                shape=points,
                mesh=None,
            )
            for k, points in enumerate(cut, start=1)
        )


def gather(
    robot: Robot,
    scene: Scene,
    tool: Sequence[Geometry],
    meshes: MeshSource | FilePath | None,
    findings: list[Finding],
    tool_meshes: FilePath | None = None,
) -> tuple[list[Part], list[Part], list[Part]]:
    """Every shape whose clearance can be computed; those that cannot are reported.

    Args:
        robot: the robot.
        scene: what stands around it.
        tool: shapes at its tool frame, in that frame.
        meshes: where meshes are looked for, or the folder that their names start from; None for where the
            robot says.
        findings: where to report shapes that are left out, made simpler, or missing.
        tool_meshes: folder that mesh names of the tool start from; None for the same one.

    Returns:
        Parts of the links (the base first), of the tool and of the scene.
    """
    noticed: list[Finding] = []
    folder = MeshFolder(robot.meshes if meshes is None else meshes, noticed)
    links: list[Part] = []
    for index, link in enumerate((robot.base, *robot.links), start=-1):
        own = _parts(link.name, index, link.collision, folder, findings)
        links += own
        if not link.collision and index >= 0 and not link.virtual and _is_body(link):
            message = "has no collision shape; nothing is known of its clearance."
            findings.append(Finding(Severity.WARNING, "no-shape", message, link.name))
    for finding in robot.findings:
        if finding.code in UNREAD:
            message = f"{finding.message} Its clearance is not checked."
            findings.append(Finding(Severity.WARNING, "unchecked-shape", message, finding.place))
    frame = robot.tool_frame
    held = [Geometry(item.shape, frame.placement @ item.pose) for item in tool]
    around = [part_of(obstacle) for obstacle in scene.obstacles]
    shelf = folder if tool_meshes is None else MeshFolder(tool_meshes, noticed)
    mounted = _parts(TOOL, frame.link, held, shelf, findings)
    # Of a mesh that is not there the shape that lacks it says why.
    findings += [x for x in noticed if x.code == "doubtful-mesh"]
    return links, mounted, around


def part_of(obstacle: Obstacle) -> Part:
    """An obstacle as a shape that is checked.

    Args:
        obstacle: what does not move.
    """
    shape, pose = obstacle.shape, obstacle.pose
    return Part(obstacle.title, obstacle.name, -1, core_of(shape).moved(pose), shape, pose)


def _is_body(link: Link) -> bool:
    """Whether something is there that could hit: what states a mass of zero and no shape is a frame."""
    return link.body is None or link.body.mass > 0.0


def _parts(
    owner: str, link: int, shapes: Sequence[Geometry], folder: MeshFolder, findings: list[Finding]
) -> list[Part]:
    parts = []
    for k, item in enumerate(shapes):
        title = owner if len(shapes) == 1 else f"{owner}[{k}]"
        found = _found(item, title, folder, findings)
        if found is not None:
            core, shape = found
            points = shape.vertices if isinstance(shape, Mesh) else shape
            mesh = shape if isinstance(shape, Mesh) else None
            parts.append(Part(title, owner, link, core.moved(item.pose), points, item.pose, mesh))
    return parts


def _found(
    item: Geometry, title: str, folder: MeshFolder, findings: list[Finding]
) -> tuple[Core, Solid | Mesh] | None:
    if not isinstance(item.shape, MeshFile):
        return core_of(item.shape), item.shape
    mesh = folder.read(item.shape, title)
    if mesh is None:
        message = f"its mesh is not counted, so its clearance is not checked: {folder.why(item.shape.file)}."
        findings.append(Finding(Severity.WARNING, "unchecked-shape", message, title))
        return None
    core = covering_core(mesh.vertices)
    if core.radius > 0.0:
        message = (
            f"its mesh is checked by {len(core.points)} corners of its hull and {1e3 * core.radius:.2g} mm "
            "around them, which hold all of it."
        )
        findings.append(Finding(Severity.INFO, "thickened-mesh", message, title))
    return core, mesh


# Which pairs of shapes are watched, and which cannot say anything and are left out.


@dataclass(frozen=True, eq=False)
class Pair:
    """Two shapes that must stay apart.

    Attributes:
        first: carried by a moving link.
        second: carried by another link, or standing still.
    """

    first: Part
    second: Part

    @property
    def name(self) -> str:
        """Both titles, such as `link5 – box 'table'`."""
        return f"{self.first.title} – {self.second.title}"

    @property
    def owners(self) -> frozenset[str]:
        """The names of both links or obstacles."""
        return frozenset((self.first.owner, self.second.owner))


def self_pairs(links: Sequence[Part], tool: Sequence[Part]) -> list[Pair]:
    """Pairs of the robot's own shapes, neighbours included, and of the tool with those of other links.

    Neighbours meet at their joint, and may meet elsewhere when it bends; which pairs touch because they are
    built so is for `clearance_of` to see.

    Args:
        links: shapes of its links and its base.
        tool: shapes it holds.

    Returns:
        The pairs; the first of each moves.
    """
    pairs = []
    for a, b in combinations(links, 2):
        if a.link != b.link:
            pairs.append(Pair(*sorted((a, b), key=lambda part: -part.link)))
    pairs += [Pair(held, part) for held in tool for part in links if part.link != held.link]
    return pairs


def scene_pairs(moving: Iterable[Part], scene: Sequence[Part]) -> list[Pair]:
    """Pairs of everything that moves with everything in the scene; the base stands still and has none.

    Args:
        moving: shapes of links and tool.
        scene: shapes of the scene.
    """
    return [Pair(part, obstacle) for part in moving if part.link >= 0 for obstacle in scene]


def refined(pair: Pair) -> list[Pair]:
    """A pair as pairs of pieces of its meshes, where cutting them is worth it.

    Args:
        pair: two shapes.

    Returns:
        All pairs of their pieces; the pair itself where nothing is cut.
    """
    return [Pair(*ends) for ends in product(pair.first.pieces, pair.second.pieces)]


def without(
    pairs: Sequence[Pair], ignore: Iterable[tuple[str, str]], choices: Sequence[str], findings: list[Finding]
) -> list[Pair]:
    """The pairs that were not asked to be left out.

    Args:
        pairs: pairs of shapes.
        ignore: pairs of names of links, obstacles or `tool`.
        choices: every name there is.
        findings: where to report what was left out.

    Returns:
        The rest.

    Raises:
        UnknownNameError: there is no such link or obstacle.
    """
    asked = {frozenset(names) for names in ignore}
    for name in sorted({name for names in asked for name in names} - set(choices)):
        raise UnknownNameError("link or obstacle", name, choices, place="ignore")
    for names in sorted(sorted(names) for names in asked):
        message = f"'{names[0]}' and '{names[-1]}' are not kept apart, as asked."
        findings.append(Finding(Severity.INFO, "ignored-pair", message))
    return [pair for pair in pairs if pair.owners not in asked]
