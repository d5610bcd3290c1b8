"""An object as MJCF: one free body with its inertia, what is seen of it and what touches."""

from __future__ import annotations

from steelyard.errors import DescriptionError
from steelyard.export.mjcf_body import body_inertial
from steelyard.export.model_text import ModelText
from steelyard.export.object_description import ObjectDescription
from steelyard.export.xml_words import attributes, quaternion, words
from steelyard.finding import Finding
from steelyard.robot import Box, Geometry, Link, MeshFile

_SEEN = {"contype": "0", "conaffinity": "0", "group": "2"}
_TOUCHES = {"group": "3"}
# MuJoCo weighs every mesh it loads, also one whose weight is not asked for, and refuses one without a volume;
# a surface it can always weigh as a shell.
_WEIGHED = {"visual": "shell", "collision": "convex"}


def object_mjcf(description: ObjectDescription) -> ModelText:
    """Write an object as MJCF. Assets carry its name, so that several objects can share a scene.

    Args:
        description: what to write.

    Returns:
        The model, with what MuJoCo could not take as it is.
    """
    findings: list[Finding] = []
    name = description.name
    inertial = body_inertial(Link(name, description.body), findings)
    parts: dict[str, tuple[Geometry, dict[str, str]]] = {"shape": (description.collision, {})}
    if description.visual is not description.collision:
        parts = {"visual": (description.visual, _SEEN), "collision": (description.collision, _TOUCHES)}
    meshes = [
        _asset(f"{name}_{part}", item.shape, _WEIGHED[part])
        for part, (item, _) in parts.items()
        if isinstance(item.shape, MeshFile)
    ]
    lines = [
        f"<mujoco{attributes({'model': name})}>",
        '  <compiler angle="radian" inertiafromgeom="false"/>',
        *(["  <asset>", *meshes, "  </asset>"] if meshes else []),
        "  <worldbody>",
        f"    <body{attributes({'name': name})}>",
        "      <freejoint/>",
        f"      {inertial}",
        *(_geom(f"{name}_{part}", item, extra) for part, (item, extra) in parts.items()),
        "    </body>",
        "  </worldbody>",
        "</mujoco>",
    ]
    return ModelText(("\n".join(lines) + "\n").encode(), tuple(findings))


def _asset(name: str, mesh: MeshFile, weighed: str) -> str:
    stated = {"name": name, "file": mesh.file, "scale": words(mesh.scale), "inertia": weighed}
    return f"    <mesh{attributes(stated)}/>"


def _geom(name: str, item: Geometry, extra: dict[str, str]) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = {"type": "box", "size": words((x / 2, y / 2, z / 2))}
        case MeshFile():
            shape = {"type": "mesh", "mesh": name}
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = {"pos": words(item.pose.translation), "quat": words(quaternion(item.pose))}
    return f"      <geom{attributes({'name': name, **shape, **place, **extra})}/>"
