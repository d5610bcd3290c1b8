"""Shapes and materials that no simulator can load, taken out: meshes out of reach, sizes that are none."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.finding import Finding
from steelyard.robot.geometry import MeshFile
from steelyard.robot.mesh_folder import MeshFolder
from steelyard.robot.repair.edits import Edits
from steelyard.robot.repair.source import Node
from steelyard.robot.urdf.link import read_shape

_UNREACHED = {
    "mesh-missing": "there is no such file",
    "mesh-outside": "it lies outside the description's folder",
    "mesh-unresolved": "nothing around the file says where that package is",
    "bad-mesh": "the mesh cannot be read",
}
_COLLIDING = (".stl", ".obj", ".msh")
"""Meshes that every simulator takes for collision; what a link looks like may be in other formats."""


def repair_geometry(root: Node, edits: Edits, folder: Path | None) -> None:
    """Take out the shapes that cannot be used.

    Args:
        root: the description.
        edits: where the changes go.
        folder: where its meshes lie; they are not looked for, and stay, when left out.
    """
    known: dict[tuple[str, str], str] = {}
    for link in root.nodes("link"):
        name = link.text("name")
        for kind in ("collision", "visual"):
            for item in link.nodes(kind):
                shape, reason = _defect(item, folder, known)
                if reason:
                    edits.remove(item, f"a {kind} shape of link '{name}'", shape, reason)


def _defect(item: Node, folder: Path | None, known: dict[tuple[str, str], str]) -> tuple[str, str]:
    """What a shape is, and why it cannot be used; no reason where it can."""
    geometry = item.node("geometry")
    if geometry is None or not geometry.children:
        return item.tag, "it has no geometry"
    findings: list[Finding] = []
    shape = read_shape(geometry, findings)
    tag = geometry.children[0].tag
    if shape is None:
        # What a link looks like is not read by simulators that compute; a shape only they know stays.
        return tag, findings[0].message.rstrip(".") if item.tag == "collision" else ""
    if not isinstance(shape, MeshFile) or folder is None:
        return tag, ""
    key = (item.tag, shape.file)
    if key not in known:
        known[key] = _mesh_defect(item.tag, shape, folder)
    return shape.file, known[key]


def _mesh_defect(tag: str, shape: MeshFile, folder: Path) -> str:
    findings: list[Finding] = []
    meshes = MeshFolder(folder, findings)
    if tag == "collision":
        meshes.read(shape, "")
    else:
        meshes.find(shape.file, "")
    suffix = Path(shape.file).suffix.lower()
    for finding in findings:
        if finding.code in _UNREACHED:
            return _UNREACHED[finding.code]
    if tag == "collision" and suffix not in _COLLIDING:
        return f"MuJoCo reads no '{suffix}' mesh; convert it to STL or OBJ"
    return ""


def repair_materials(root: Node, edits: Edits) -> None:
    """Take out the materials that make a parser stop: without a name, with no proper colour, or repeated.

    Args:
        root: the description.
        edits: where the changes go.
    """
    seen: set[str] = set()
    for material in root.nodes("material"):
        name = material.attributes.get("name", "")
        reason = _material_defect(material)
        if not reason and name in seen:
            reason = "its name is used twice; the first stays"
        if reason:
            edits.remove(material, f"material '{name}'", name, reason)
        seen.add(name)
    for link in root.nodes("link"):
        for shape in (*link.nodes("visual"), *link.nodes("collision")):
            for material in shape.nodes("material"):
                if reason := _material_defect(material):
                    name = material.attributes.get("name", "")
                    edits.remove(material, f"a material of link '{link.text('name')}'", name, reason)


def _material_defect(material: Node) -> str:
    if not material.attributes.get("name", "").strip():
        return "it has no name"
    for color in material.nodes("color"):
        try:
            color.numbers("rgba", 4)
        except DescriptionError:
            return "its colour is not four numbers"
    return ""


def repair_mesh_paths(root: Node, edits: Edits, folder: Path, out_folder: Path) -> None:
    """Name the meshes as they are reached from another folder.

    Args:
        root: the description.
        edits: where the changes go.
        folder: where the description was read, and its meshes lie.
        out_folder: where the description will be written.
    """
    if folder.resolve() == out_folder.resolve():
        return
    meshes = MeshFolder(folder, [])
    for link in root.nodes("link"):
        for mesh in (node for node in link.descendants() if node.tag == "mesh"):
            try:
                name = mesh.text("filename")
            except DescriptionError:
                continue
            path = meshes.find(name, mesh.place)
            if path is not None:
                moved = Path(os.path.relpath(path, out_folder.resolve())).as_posix()
                reason = "the repaired file lies in another folder"
                edits.set(mesh, {"filename": moved}, f"a mesh of link '{link.text('name')}'", reason)
