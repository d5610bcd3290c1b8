"""The shapes a clearance is made of: those of the robot's links, of a tool it holds, and of the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.limits.core import Core, core_of
from steelyard.limits.scene import Obstacle, Scene
from steelyard.limits.shapes import Solid
from steelyard.limits.thinning import covering_core
from steelyard.pose import Pose
from steelyard.robot import Geometry, Link, MeshFile, MeshFolder, Robot

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
    """

    title: str
    owner: str
    link: int
    core: Core
    shape: Solid | Array
    pose: Pose


def gather(
    robot: Robot,
    scene: Scene,
    tool: Sequence[Geometry],
    meshes: FilePath | None,
    findings: list[Finding],
    tool_meshes: FilePath | None = None,
) -> tuple[list[Part], list[Part], list[Part]]:
    """Every shape whose clearance can be computed; those that cannot are reported.

    Args:
        robot: the robot.
        scene: what stands around it.
        tool: shapes at its tool frame, in that frame.
        meshes: folder that mesh names start from, None where there is none.
        findings: where to report shapes that are left out, made simpler, or missing.
        tool_meshes: folder that mesh names of the tool start from; None for the same one.

    Returns:
        Parts of the links (the base first), of the tool and of the scene.
    """
    folder = MeshFolder(meshes, findings)
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
    shelf = folder if tool_meshes is None else MeshFolder(tool_meshes, findings)
    return links, _parts(TOOL, frame.link, held, shelf, findings), around


def part_of(obstacle: Obstacle) -> Part:
    """An obstacle as a shape that is checked.

    Args:
        obstacle: what does not move.

    Returns:
        Its part.
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
            parts.append(Part(title, owner, link, core.moved(item.pose), shape, item.pose))
    return parts


def _found(
    item: Geometry, title: str, folder: MeshFolder, findings: list[Finding]
) -> tuple[Core, Solid | Array] | None:
    if not isinstance(item.shape, MeshFile):
        return core_of(item.shape), item.shape
    mesh = folder.read(item.shape, title)
    if mesh is None:
        message = "its mesh cannot be read here, so its clearance is not checked."
        findings.append(Finding(Severity.WARNING, "unchecked-shape", message, title))
        return None
    core = covering_core(mesh.vertices)
    if core.radius > 0.0:
        message = (
            f"its mesh is checked by {len(core.points)} corners of its hull and {1e3 * core.radius:.2g} mm "
            "around them, which hold all of it."
        )
        findings.append(Finding(Severity.INFO, "thickened-mesh", message, title))
    return core, mesh.vertices
