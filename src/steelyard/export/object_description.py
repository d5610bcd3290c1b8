"""An object as every format tells it: one rigid body, what is seen of it, and what touches."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from steelyard.errors import InputError
from steelyard.export.object_mesh import ObjectMesh
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, equivalent_ellipsoid
from steelyard.pose import Pose
from steelyard.robot import Box, Geometry, MeshFile

VISUAL, COLLISION = "visual.obj", "collision.obj"
"""The files of an object's mesh and of its hull."""
THINNEST = 1e-3
"""Least side of the box that stands for an object without a mesh, m."""
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*")


@dataclass(frozen=True, eq=False)
class ObjectDescription:
    """What the files of an object say.

    Attributes:
        name: of the model and of its only link.
        body: the inertia in the object's frame; a possible one, with mass.
        visual: what is seen.
        collision: what touches; convex.
    """

    name: str
    body: Body
    visual: Geometry
    collision: Geometry


def described_object(
    name: str, body: Body, mesh: ObjectMesh | None
) -> tuple[ObjectDescription, tuple[Finding, ...]]:
    r"""Give an object its shapes: its mesh and the hull of it, or the box that its inertia is worth.

    A uniform box with sides $a_i = \sqrt{12\,\sigma_i/m}$, $\sigma_i$ the central second moments, has the
    same inertia. A flat, rod-like or point-like body has sides of zero, which no simulator takes.

    Args:
        name: what to call it.
        body: the inertia in the object's frame.
        mesh: what it looks like, or None.

    Returns:
        The description, and what had to be decided.

    Raises:
        InputError: the name cannot be used, or the body is impossible or has no mass.
    """
    _refuse_unless_possible(name, body)
    if mesh is not None:
        scale = (mesh.scale, mesh.scale, mesh.scale)
        seen = Geometry(MeshFile(VISUAL, scale), mesh.pose)
        return ObjectDescription(name, body, seen, Geometry(MeshFile(COLLISION), Pose.identity())), ()
    ellipsoid = equivalent_ellipsoid(body)
    sides = ellipsoid.semi_axes * np.sqrt(12.0 / 5.0)
    thick = np.maximum(sides, THINNEST)
    shape = Geometry(Box(*thick.tolist()), ellipsoid.pose)
    findings = []
    if (thick > sides).any():
        message = (
            f"the box of the inertia has sides of {', '.join(f'{1e3 * side:.3g}' for side in sides)} mm; "
            f"none below {1e3 * THINNEST:g} mm is written. Its inertia is kept."
        )
        findings.append(Finding(Severity.INFO, "box-thickened", message, name))
    return ObjectDescription(name, body, shape, shape), tuple(findings)


def _refuse_unless_possible(name: str, body: Body) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name that every format takes.",
            place="name",
            remedy="Use letters, digits, '_', '-' and '.'.",
        )
    verdict = body.consistency
    if not verdict:
        why = " ".join(str(reason) for reason in verdict.reasons)
        raise InputError(f"is physically impossible: {why}", place="body")
    if not body.mass > 0.0:
        raise InputError("has no mass.", place="body", remedy="An object weighs something.")
