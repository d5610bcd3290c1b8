"""Meshes in the formats of scenes, DAE, PLY and GLB, by libraries that an extra installs.

A scene may hold many pieces, each under the transforms of its nodes; all of them become one mesh, in metres.
What a library leaves out without a word, as faces it does not know, would be missing from a clearance, so the
file is refused instead.

**Up.** COLLADA files say which axis points up (Y where they do not), glTF means Y. RViz, MoveIt and Pinocchio
do not turn such files, Gazebo and Drake do, and public robots are drawn for either. They are read as they
stand, and `Mesh.doubt` says so.
"""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.errors import InputError, MissingExtraError

T = TypeVar("T")
KINDS = (".dae", ".ply", ".glb")
MOST_NODES = 10_000
"""Nodes of a scene that are visited: nodes may instantiate each other, and a few lines mean billions."""
MOST_CORNERS = 3_000_000
"""Corners of all faces together."""
_FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
_LOOKS = (b"bind_material", b"library_materials", b"library_effects", b"library_images")
"""Elements of a COLLADA file that say nothing of shapes, and are often broken."""
_TURNED = "says that {axis} points up, which some programs turn and others do not; it is read as it stands"


def read_scene_mesh(data: bytes, kind: str, place: str) -> tuple[Array, Array, str]:
    """Read a mesh from the content of a scene's file.

    Args:
        data: the content.
        kind: one of `KINDS`.
        place: the file, for messages.

    Returns:
        Vertices, shape (n, 3), m; faces, shape (k, 3), dimensionless; and what is doubtful about them.

    Raises:
        InputError: the content is malformed, or holds faces that cannot be read.
        MissingExtraError: the library that reads it is not installed.
    """
    readers = {".dae": _read_dae, ".ply": _read_ply, ".glb": _read_glb}
    return _guarded(kind, place, lambda: readers[kind](data, place))


def _guarded(kind: str, place: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except InputError:
        raise
    except Exception as error:  # the libraries fail on a malformed file in any way there is
        words = " ".join(str(error).split())[:80] or type(error).__name__
        raise InputError(f"is no {kind[1:].upper()} file that can be read: {words}.", place=place) from error


@dataclass(frozen=True, eq=False)
class ScenePiece:
    """A surface of a scene and how it is painted.

    Attributes:
        vertices: shape (n, 3), m.
        faces: indices of them, shape (k, 3), dimensionless.
        picture_points: where each vertex lies in a picture, from its lower left corner, shape (n, 2),
            dimensionless; None where it is not said.
        colors: red, green and blue of each vertex from 0 to 1, shape (n, 3), dimensionless; None where it is
            not said.
        material: index among the materials of the file; None where it has none.
    """

    vertices: Array
    faces: IntArray
    picture_points: Array | None
    colors: Array | None
    material: int | None


@dataclass(frozen=True)
class SceneMaterial:
    """A material of a GLB file.

    Attributes:
        color: red, green, blue and opacity from 0 to 1, as a screen takes them.
        picture: the content of its picture; empty where it has none.
        lost: why its picture cannot be used, in words; empty where it can, or it has none.
    """

    color: tuple[float, ...]
    picture: bytes = b""
    lost: str = ""


def read_painted_scene(data: bytes, kind: str, place: str) -> tuple[list[ScenePiece], list[SceneMaterial]]:
    """Read how the surfaces of a PLY or GLB file are painted; `read_scene_mesh` was content with it.

    Args:
        data: the content.
        kind: `.ply` or `.glb`.
        place: the file, for messages.

    Returns:
        The surfaces, and the materials that those of a GLB file name by index.

    Raises:
        InputError: the content is malformed.
        MissingExtraError: the library that reads it is not installed.
    """
    library = _trimesh()
    materials: list[SceneMaterial] = []
    if kind == ".glb":
        data, materials = _guarded(kind, place, lambda: _without_pictures(data))

    def read() -> Any:
        return library.load_scene(io.BytesIO(data), file_type=kind[1:], process=False)

    scene = _guarded(kind, place, read)
    return _guarded(kind, place, lambda: _painted_pieces(scene, linear=kind == ".glb")), materials


def _painted_pieces(scene: Any, *, linear: bool) -> list[ScenePiece]:
    pieces = []
    for node in sorted(scene.graph.nodes_geometry):
        X, name = scene.graph[node]
        shape = scene.geometry[name]
        if not hasattr(shape, "faces"):
            continue
        vertices = np.asarray(shape.vertices, float) @ np.asarray(X)[:3, :3].T + np.asarray(X)[:3, 3]
        faces = np.asarray(shape.faces, dtype=np.int64).reshape(-1, 3)
        visual, colors, material = shape.visual, None, None
        points = getattr(visual, "uv", None)
        if visual.kind == "texture":
            colors = visual.vertex_attributes.get("color")
            name = str(getattr(visual.material, "name", None) or "")
            material = int(name) if name.isdecimal() else None
        elif visual.kind == "vertex":
            colors = visual.vertex_colors
        elif visual.kind == "face":
            # Corners of their own, so that each can have the colour of its face.
            vertices, faces = vertices[faces.ravel()], np.arange(faces.size).reshape(-1, 3)
            colors = np.repeat(np.asarray(visual.face_colors), 3, axis=0)
        pieces.append(
            ScenePiece(
                vertices,
                faces,
                None if points is None else np.asarray(points, float).reshape(-1, 2),
                None if colors is None else _shown_colors(np.asarray(colors), linear=linear),
                material,
            )
        )
    return pieces


def _shown_colors(colors: Array, *, linear: bool) -> Array:
    values = colors[:, :3].astype(float)
    if colors.dtype.kind in "iu":
        values = values / float(np.iinfo(colors.dtype.name).max)
    return _of_screen(values) if linear else np.clip(values, 0.0, 1.0)


def _of_screen(linear: Array) -> Array:
    """Amounts of light as a screen takes them (sRGB); glTF states the amounts."""
    c = np.clip(linear, 0.0, 1.0)
    # Rounded, so that all of the light is 1.
    shown: Array = np.asarray(np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)).round(9)
    return shown


def _without_pictures(data: bytes) -> tuple[bytes, list[SceneMaterial]]:
    """A GLB file whose materials are called by index, and the materials: no library opens their pictures."""
    length = int.from_bytes(data[12:16], "little")
    tree, rest = json.loads(data[20 : 20 + length]), data[20 + length :]
    binary = rest[8 : 8 + int.from_bytes(rest[:4], "little")] if rest[4:8] == b"BIN\0" else b""
    materials = [_scene_material(tree, item, binary) for item in tree.get("materials", [])]
    tree["materials"] = [{"name": str(k)} for k in range(len(materials))]
    for gone in ("images", "textures", "samplers"):
        tree.pop(gone, None)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    head = b"glTF" + struct.pack("<III", 2, 20 + len(text) + len(rest), len(text)) + b"JSON"
    return head + text + rest, materials


def _scene_material(tree: dict[str, Any], item: dict[str, Any], binary: bytes) -> SceneMaterial:
    stated = item.get("pbrMetallicRoughness", {})
    red, green, blue, opacity = (float(x) for x in stated.get("baseColorFactor", (1.0,) * 4))
    color = (*_of_screen(np.array([red, green, blue])).tolist(), min(max(opacity, 0.0), 1.0))
    texture = stated.get("baseColorTexture")
    if texture is None:
        odd = "KHR_materials_pbrSpecularGlossiness" in item.get("extensions", {})
        return SceneMaterial(color, lost="is of an extension that is not read" if odd else "")
    if texture.get("texCoord", 0) or texture.get("extensions"):
        return SceneMaterial(color, lost="lies by a second set of coordinates, or is turned or stretched")
    source = tree["textures"][texture["index"]].get("source")
    image = {} if source is None else tree["images"][source]
    if "bufferView" not in image:
        return SceneMaterial(color, lost="does not lie in the file, or is of an extension that is not read")
    view = tree["bufferViews"][image["bufferView"]]
    start, size = int(view.get("byteOffset", 0)), int(view["byteLength"])
    if view.get("buffer", 0) or start < 0 or size <= 0 or start + size > len(binary):
        return SceneMaterial(color, lost="reaches beyond the file")
    return SceneMaterial(color, binary[start : start + size])


def decoded_picture(content: bytes) -> IntArray | None:
    """The colours in a picture, where Pillow is installed (extra `meshes`).

    Args:
        content: of a PNG or JPEG file; its header was found to be of a size that can be borne.

    Returns:
        Red, green and blue from 0 to 255, rows from the top, shape (height, width, 3), dimensionless; None
        where it cannot be opened.
    """
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            pixels = np.asarray(picture.convert("RGB"), dtype=np.int64)
    except Exception:  # malformed in any way there is
        return None
    return pixels if pixels.ndim == 3 else None


def _read_dae(data: bytes, place: str) -> tuple[Array, Array, str]:
    try:
        import collada
    except ImportError as error:
        raise MissingExtraError("reading .dae meshes", "pycollada", "meshes") from error
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data:
        raise InputError("has a document type or entities, or is no UTF-8 text.", place=place)
    for tag in _LOOKS:
        data = _without(data, tag)
    wrong = [getattr(collada.common, name) for name in dir(collada.common) if name.startswith("Dae")]
    # Lights and cameras may be broken; that no face is missing is seen below.
    document = collada.Collada(
        io.BytesIO(data), ignore=[x for x in wrong if x is not collada.common.DaeObject]
    )
    stated = len(re.findall(rb"<(?:\w+:)?(?:%b)[\s>/]" % "|".join(_FACES).encode(), data))
    known = [p for g in document.geometries for p in g.primitives if not _is_lines(p)]
    skinned = len(re.findall(rb"<(?:\w+:)?instance_controller\b", data))
    shown = len(re.findall(rb"<(?:\w+:)?instance_geometry\b", data))
    trees = [node for scene in document.scenes for node in scene.nodes] + list(document.nodes)
    if stated != len(known) or shown != _geometry_nodes(trees) or skinned or document.scene is None:
        raise InputError(
            "holds faces that cannot be read (skins or broken references).",
            place=place,
            remedy="Write it as STL.",
        )
    pieces = _pieces(document, place)
    unit = document.assetInfo.unitmeter
    scale = 1.0 if unit is None else float(unit)
    if not 0.0 < scale < np.inf:
        raise InputError(f"states a unit of {scale:g} m.", place=place)
    up = str(document.assetInfo.upaxis or "Y_UP")
    vertices, faces = _joined(pieces, place)
    return scale * vertices, faces, "" if up == "Z_UP" else _TURNED.format(axis=up[0])


def _without(data: bytes, tag: bytes) -> bytes:
    """The text without an element that says what things look like; one that never ends stays."""
    kept, at, end = [], 0, b"</%b>" % tag
    while (start := data.find(b"<%b>" % tag, at)) >= 0 and (stop := data.find(end, start)) >= 0:
        kept.append(data[at:start])
        at = stop + len(end)
    return b"".join([*kept, data[at:]])


def _geometry_nodes(nodes: list[Any]) -> int:
    """How many geometries are shown, each node of the file counted once."""
    count, waiting = 0, nodes
    while waiting:
        node = waiting.pop()
        count += type(node).__name__ == "GeometryNode"
        if type(node).__name__ == "Node":
            waiting += node.children
    return count


def _is_lines(primitive: Any) -> bool:
    return type(primitive).__name__ == "LineSet"


def _pieces(document: Any, place: str) -> list[tuple[Array, Array]]:
    """Vertices and triangles of every geometry at every node that shows it."""
    waiting: list[tuple[Any, Array]] = [(node, np.eye(4)) for node in document.scene.nodes]
    pieces, visited = [], 0
    while waiting:
        node, X = waiting.pop()
        visited += 1
        if visited > MOST_NODES:
            raise InputError(f"shows more than {MOST_NODES} nodes.", place=place)
        kind = type(node).__name__
        if kind == "NodeNode":
            waiting.append((node.node, X))
        elif kind == "Node":
            waiting += [(child, X @ np.asarray(node.matrix, float)) for child in node.children]
        elif kind == "GeometryNode":
            for primitive in node.geometry.primitives:
                if not _is_lines(primitive):
                    pieces.append(_triangles(primitive, X))
                    # A scene may show the same large piece again and again.
                    visited += len(pieces[-1][1]) // 100
    return pieces


def _triangles(primitive: Any, X: Array) -> tuple[Array, Array]:
    """Vertices of the triangles of a primitive, each its own, and the triangles."""
    triangles = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
    if triangles.vertex_index is None or not len(triangles.vertex_index):
        return np.empty((0, 3)), np.empty((0, 3))
    points = np.asarray(triangles.vertex, float)[np.asarray(triangles.vertex_index)].reshape(-1, 3)
    return points @ X[:3, :3].T + X[:3, 3], np.arange(float(len(points))).reshape(-1, 3)


def _read_ply(data: bytes, place: str) -> tuple[Array, Array, str]:
    vertices, faces = _joined(_of_scene(_trimesh().load_scene(io.BytesIO(data), file_type="ply")), place)
    return vertices, faces, ""


def _read_glb(data: bytes, place: str) -> tuple[Array, Array, str]:
    library = _trimesh()
    length = int.from_bytes(data[12:16], "little")
    tree = json.loads(data[20 : 20 + length])
    modes = {primitive.get("mode", 4) for mesh in tree.get("meshes", []) for primitive in mesh["primitives"]}
    if tree.get("extensionsRequired") or modes - {0, 1, 2, 3, 4} or len(tree.get("nodes", [])) > MOST_NODES:
        raise InputError(
            "holds strips, fans, too many nodes or an extension that is not read.",
            place=place,
            remedy="Write it as STL.",
        )
    scene = library.load_scene(io.BytesIO(data), file_type="glb", process=False)
    vertices, faces = _joined(_of_scene(scene), place)
    return vertices, faces, _TURNED.format(axis="Y")


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("reading .ply and .glb meshes", "trimesh", "meshes") from error
    return trimesh


def _of_scene(scene: Any) -> list[tuple[Array, Array]]:
    pieces = []
    for node in sorted(scene.graph.nodes_geometry):  # the library may hold them in any order
        X, name = scene.graph[node]
        shape = scene.geometry[name]
        if hasattr(shape, "faces"):
            points = np.asarray(shape.vertices, float) @ np.asarray(X)[:3, :3].T + np.asarray(X)[:3, 3]
            pieces.append((points, np.asarray(shape.faces)))
    return pieces


def _joined(pieces: list[tuple[Array, Array]], place: str) -> tuple[Array, Array]:
    corners = sum(len(points) + 3 * len(faces) for points, faces in pieces)
    if corners > MOST_CORNERS:
        raise InputError(f"has more than {MOST_CORNERS} corners.", place=place, remedy="Simplify it.")
    starts = np.cumsum([0, *(len(points) for points, _ in pieces)])
    vertices = np.vstack([np.empty((0, 3)), *(points for points, _ in pieces)])
    faces = [faces.reshape(-1, 3) + start for (_, faces), start in zip(pieces, starts, strict=False)]
    return vertices, np.vstack([np.empty((0, 3)), *faces]).astype(float)
