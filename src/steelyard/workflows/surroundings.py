"""What a motion must stay clear of beyond the robot: floor, tool and load, as options state them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.limits import FLOOR, TOOL, Clearance, Floor, Scene, stands_upright
from steelyard.pose import Pose
from steelyard.robot import Geometry, MeshFile, Robot

AT_BASE, NOWHERE = "base", "none"
SHAPELESS = ("unchecked-shape", "no-shape", "unchecked-clearance", "doubtful-mesh")
"""Findings of shapes of a robot that are missing, or that nobody can be sure of."""
UNSHAPED_LOAD = "unknown-shape-held"
"""Finding of a tool or load whose shape nobody states."""


def stated_floor(word: str, robot: Robot, scene: Scene) -> Floor | None:
    """The floor that is stated, or assumed where the base stands upright; the proof keeps clear of it.

    Args:
        word: of `--floor`: base, none, or a height above the base in m.
        robot: the robot.
        scene: what stands around it; an obstacle named `floor` states it too.

    Returns:
        The floor; None where there is none, or nobody knows where it is.

    Raises:
        InputError: the word is none of these, or the scene states a floor too.
    """
    height = _height(word)
    if height is None or (word == AT_BASE and (_states_floor(scene) or not stands_upright(robot))):
        return None
    if _states_floor(scene):
        raise InputError("the scene has a floor already.", place="--floor", remedy="Leave one of them out.")
    return Floor.of(robot, height, assumed=word == AT_BASE)


def floor_findings(word: str, robot: Robot, scene: Scene) -> tuple[Finding, ...]:
    """That a floor is assumed; of an arm that hangs or leans, that nobody knows where it is.

    Args:
        word: of `--floor`.
        robot: the robot.
        scene: what stands around it.

    Returns:
        The finding; nothing where the floor is stated.
    """
    if word != AT_BASE or not np.any(robot.gravity) or _states_floor(scene):
        return ()
    if stands_upright(robot):
        message = "is assumed to be level with the base frame; --floor says otherwise."
        return (Finding(Severity.INFO, "assumed-floor", message, FLOOR),)
    message = "gravity does not pull along the base's z axis, so nobody knows where it is; state --floor."
    return (Finding(Severity.WARNING, "unknown-floor", message, FLOOR),)


def tool_mesh(path: Path | None) -> Path | None:
    """The file of `--tool`; None where no shape is stated, or `none` is.

    Args:
        path: of the option.

    Returns:
        The file.

    Raises:
        InputError: there is no such file.
    """
    if path is None or str(path) == NOWHERE:
        return None
    if not path.is_file():
        raise InputError("there is no such file.", place=f"--tool {path}")
    return path


def tool_shapes(mesh: Path | None, scale: float = 1.0) -> tuple[Geometry, ...]:
    """A tool's mesh as shapes in the tool frame.

    Args:
        mesh: its file.
        scale: metres per unit of the mesh.

    Returns:
        The shapes; empty without a mesh.
    """
    return () if mesh is None else (Geometry(MeshFile(mesh.name, (scale,) * 3), Pose.identity()),)


def require_readable_tool(clearance: Clearance, mesh: Path | None) -> None:
    """Refuse a tool whose mesh could not be read: it is stated so that it is kept clear.

    Args:
        clearance: made with the tool.
        mesh: its file.

    Raises:
        InputError: it could not be read; says why.
    """
    for finding in clearance.findings:
        if finding.place == TOOL and finding.code == "unchecked-shape":
            remedy = "Give it as a readable STL or OBJ file."
            raise InputError(finding.message, place=f"--tool {mesh}", remedy=remedy)


def _states_floor(scene: Scene) -> bool:
    return any(obstacle.name == FLOOR for obstacle in scene.obstacles)


def _height(word: str) -> float | None:
    """Height of the floor above the base, m; None for no floor."""
    if word == NOWHERE:
        return None
    try:
        height = 0.0 if word == AT_BASE else float(word)
    except ValueError:
        height = math.nan
    if not math.isfinite(height):
        raise InputError(
            f"expected base, none or a height above the base in m, got '{word}'.", place="--floor"
        )
    return height
