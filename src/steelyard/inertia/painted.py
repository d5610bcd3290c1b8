"""What the surfaces of a mesh file look like: colours and pictures, bounded and from its own folder alone.

A scan comes as GLB with its picture inside, as PLY with a colour at each corner, or as OBJ with a file of
materials that names pictures. These files name others, and whoever made them is not trusted: a name that
leads out of the mesh's folder is refused, and a picture is looked at before anything opens it.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.errors import InputError
from steelyard.files import FilePath, is_regular, read_bytes
from steelyard.finding import Finding, Severity
from steelyard.inertia.mesh import LARGEST_FILE, obj_records
from steelyard.inertia.scene_mesh import KINDS, decoded_picture, read_painted_scene

LARGEST_PICTURE = 64 * 2**20
"""Of a picture, bytes."""
MOST_PIXELS = 2**26
"""Of a picture: 8192 by 8192."""
MOST_LOOKS = 64
"""Materials of a mesh that are kept apart."""
_LARGEST_MATERIALS = 2**20
_HEAD = 65536
"""Bytes of a PLY file in which its header lies."""
_PLAIN = (1.0, 1.0, 1.0, 1.0)
_ARGUMENTS = {"-s": 3, "-o": 3, "-t": 3, "-mm": 2}
"""Numbers at most that follow an option of a picture; one word follows the others."""
_LIBRARIES = re.compile(rb"^[ \t]*mtllib[ \t]+([^\r\n#]+)", re.MULTILINE)
PNG, JPEG = "png", "jpg"


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture that is put on a surface.

    Attributes:
        kind: `png` or `jpg`, the ending of its file.
        content: of its file.
        width: pixels in a row.
        height: rows.
    """

    kind: str
    content: bytes
    width: int
    height: int

    def as_png(self) -> bytes | None:
        """Its content as PNG; None where it is a JPEG that nothing installed can open."""
        if self.kind == PNG:
            return self.content
        pixels = decoded_picture(self.content)
        return None if pixels is None else png_content(pixels)


@dataclass(frozen=True, eq=False)
class PaintedSurface:
    """Triangles that look alike, in the file's own frame and unit.

    Attributes:
        vertices: shape (n, 3), m.
        faces: indices of them, shape (k, 3), dimensionless.
        color: red, green, blue and opacity from 0 to 1.
        picture: what lies on it, times the colour; None for nothing.
        picture_points: places in the picture, from its lower left corner, shape (t, 2), dimensionless.
        picture_faces: of each corner of the faces one of these, shape (k, 3), dimensionless.
        colors: red, green and blue of each vertex, shape (n, 3), dimensionless; None where they have none.
    """

    vertices: Array
    faces: IntArray
    color: tuple[float, ...] = _PLAIN
    picture: Picture | None = None
    picture_points: Array | None = None
    picture_faces: IntArray | None = None
    colors: Array | None = None

    @property
    def plain(self) -> bool:
        """Whether nothing is said of how it looks."""
        return self.picture is None and self.colors is None and self.color == _PLAIN

    @property
    def mean_color(self) -> tuple[float, ...]:
        """Its colour where only one can be shown: that of its corners, by the area around them."""
        if self.colors is None:
            return self.color
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        mean = np.average(self.colors[self.faces].mean(axis=1), axis=0, weights=areas + 1e-300)
        return (*(mean * self.color[:3]).tolist(), self.color[3])


def painted_surfaces(path: FilePath) -> tuple[list[PaintedSurface], list[Finding]]:
    """Read what the surfaces of a mesh file look like.

    Args:
        path: a file that `Mesh.read` reads.

    Returns:
        The surfaces, none where nothing is said of how they look; and what could not be kept.

    Raises:
        InputError: it names a file outside of its folder, or a picture is malformed or too large.
        MissingExtraError: its kind is read by a library that is not installed.
    """
    file = Path(path)
    findings: list[Finding] = []
    kind = file.suffix.lower()
    note = _Notes(str(file), findings)
    surfaces: list[PaintedSurface] = []
    if kind == ".obj":
        surfaces = _of_obj(file, note)
    elif kind in (".ply", ".glb"):
        surfaces = _of_scene(file, kind, note)
    elif kind in KINDS:
        note("materials-left-out", "may have colours and pictures, which are not read of this kind.")
    if len(surfaces) > MOST_LOOKS:
        note("materials-left-out", f"has {len(surfaces)} materials; at most {MOST_LOOKS} are kept.")
        return [], findings
    surfaces = _with_small_ones_joined(surfaces, note)
    return ([] if all(surface.plain for surface in surfaces) else surfaces), findings


def companions(path: FilePath) -> tuple[str, ...]:
    """Files in a mesh's folder that it takes its look from, which are read together with it.

    Args:
        path: of a mesh; whatever is wrong with it names none.

    Returns:
        Their paths.
    """
    file = Path(path)
    try:
        if file.suffix.lower() == ".obj":
            stated = _LIBRARIES.findall(read_bytes(file, most=LARGEST_FILE))
            libraries = [text.decode("utf-8", "replace").strip() for text in stated]
            found = _materials(file, libraries, None)
            names = [*found.files, *(str(x.picture) for x in found.by_name.values() if x.picture)]
        elif file.suffix.lower() == ".ply":
            name = _texture_of_ply(read_bytes(file, most=LARGEST_FILE))
            names = [str(_inside(file.parent, file.parent, name, str(file)))] if name else []
        else:
            names = []
    except InputError:
        return ()
    return tuple(dict.fromkeys(name for name in names if is_regular(name)))


@dataclass(frozen=True)
class _Notes:
    """Collects what could not be kept."""

    place: str
    findings: list[Finding]

    def __call__(self, code: str, message: str) -> None:
        finding = Finding(Severity.INFO, code, message, self.place)
        if finding not in self.findings:
            self.findings.append(finding)


# OBJ with a file of materials


@dataclass(frozen=True)
class _ObjMaterial:
    color: tuple[float, ...] = _PLAIN
    picture: Path | None = None
    lost: str = ""


@dataclass(frozen=True)
class _ObjMaterials:
    files: tuple[str, ...]
    by_name: dict[str, _ObjMaterial]


def _of_obj(file: Path, note: _Notes) -> list[PaintedSurface]:
    records = obj_records(read_bytes(file, most=LARGEST_FILE), str(file))
    if not records.libraries:
        return []
    materials = _materials(file, records.libraries, note)
    points = np.array([_coordinates(words) for words in records.picture_points]).reshape(-1, 2)
    picture_faces = np.array(records.picture_faces, dtype=np.int64).reshape(-1, 3)
    names, which = np.unique(np.array(records.materials, dtype=str), return_inverse=True)
    surfaces = []
    for k, name in enumerate(names.tolist()):
        chosen = which == k
        material = materials.by_name.get(name, _ObjMaterial())
        if material.lost:
            note("texture-left-out", material.lost)
        faces, seen = records.faces[chosen].astype(np.int64), picture_faces[chosen]
        picture = None
        if material.picture is not None:
            picture = _picture(material.picture, note)
            if picture is not None and (seen < 0).any():
                note("texture-left-out", f"does not say where all of picture '{material.picture.name}' lies.")
                picture = None
        vertices, faces = _compact(records.points, faces)
        surface = PaintedSurface(vertices, faces, material.color)
        if picture is not None:
            if not any(material.color[:3]):  # some programs write black where the picture says it all
                surface = replace(surface, color=(1.0, 1.0, 1.0, material.color[3]))
            used, seen = _compact(points, seen)
            surface = replace(surface, picture=picture, picture_points=used, picture_faces=seen)
        surfaces.append(surface)
    return surfaces


def _materials(file: Path, libraries: list[str], note: _Notes | None) -> _ObjMaterials:
    """The materials of an OBJ file by name; without `note` what is missing is passed over."""
    folder, place = file.parent, str(file)
    named: list[Path] = []
    for text in libraries:
        # Several files may stand in a line, and names may hold spaces.
        whole = _inside(folder, folder, text, place)
        several = [whole] if is_regular(whole) else [_inside(folder, folder, x, place) for x in text.split()]
        for path in several:
            if is_regular(path):
                named.append(path)
            elif note is not None:
                note("materials-left-out", f"names a file of materials '{path.name}' that is not there.")
    by_name: dict[str, _ObjMaterial] = {}
    for path in named:
        text = read_bytes(path, most=_LARGEST_MATERIALS).decode("utf-8", "replace")
        name = None
        for line in text.splitlines():
            words = line.split("#", 1)[0].split()
            if len(words) < 2:
                continue
            if words[0] == "newmtl":
                name = " ".join(words[1:])
                by_name.setdefault(name, _ObjMaterial())
            elif name is not None:
                by_name[name] = _said(by_name[name], words, folder, path)
    return _ObjMaterials(tuple(str(path) for path in named), by_name)


def _said(material: _ObjMaterial, words: list[str], folder: Path, file: Path) -> _ObjMaterial:
    """A material with what one line says of it."""
    red, green, blue, opacity = material.color
    match words[0].lower():
        case "kd":
            values = [_share(word) for word in words[1:4]]
            if len(values) == 3:
                return replace(material, color=(*values, opacity))
        case "d":
            return replace(material, color=(red, green, blue, _share(words[-1])))
        case "tr":
            return replace(material, color=(red, green, blue, 1.0 - _share(words[-1], 0.0)))
        case "map_kd":
            left, moved = words[1:], False
            while left and re.fullmatch(r"-[a-z]+", left[0]):
                option, left = left[0], left[1:]
                moved |= option in ("-s", "-o", "-t", "-clamp")
                if option not in _ARGUMENTS:
                    left = left[1:]
                    continue
                for _ in range(_ARGUMENTS[option]):
                    left = left[1:] if left and re.fullmatch(r"[-+.\deE]+", left[0]) else left
            if not left:
                return material
            path = _inside(folder, file.parent, " ".join(left), str(file))
            if moved or not is_regular(path):
                why = "is moved or stretched" if moved else "is not there"
                return replace(material, lost=f"names a picture '{path.name}' that {why}.")
            return replace(material, picture=path)
    return material


def _share(word: str, otherwise: float = 1.0) -> float:
    """A number from 0 to 1."""
    try:
        value = float(word)
    except ValueError:
        return otherwise
    return min(max(value, 0.0), 1.0) if np.isfinite(value) else otherwise


def _coordinates(words: list[str]) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    return values if len(values) == 2 and np.isfinite(values).all() else [0.0, 0.0]


def _inside(folder: Path, start: Path, name: str, place: str) -> Path:
    """The file that a name means, from a place in the mesh's folder.

    Raises:
        InputError: it lies elsewhere, by its name or by a link.
    """
    text = name.replace("\\", "/")
    path = start / text
    try:
        home, real = folder.resolve(), path.resolve()
    except (OSError, ValueError, RuntimeError):
        home, real = folder, Path("/")
    stated = Path(text)
    if stated.is_absolute() or re.match(r"[A-Za-z]:", text) or "\0" in text or not real.is_relative_to(home):
        raise InputError(
            f"names a file outside of the mesh's folder: '{text[:80]}'.",
            place=place,
            remedy="Put the file beside the mesh and name it without a path, or take the line out.",
        )
    return path


def _compact(points: Array, faces: IntArray) -> tuple[Array, IntArray]:
    """The points that faces have, and the faces by their new indices."""
    used, places = np.unique(faces, return_inverse=True)
    return points[used], places.reshape(faces.shape)


# PLY and GLB


def _of_scene(file: Path, kind: str, note: _Notes) -> list[PaintedSurface]:
    data = read_bytes(file, most=LARGEST_FILE)
    pieces, materials = read_painted_scene(data, kind, str(file))
    stated = _texture_of_ply(data) if kind == ".ply" else None
    own = None
    if stated:
        path = _inside(file.parent, file.parent, stated, str(file))
        if is_regular(path):
            own = _picture(path, note)
        else:
            note("texture-left-out", f"names a picture '{path.name}' that is not there.")
    color: tuple[float, ...]
    groups: dict[tuple[int | None, bool, bool], list[PaintedSurface]] = {}
    pictures: dict[int, Picture | None] = {}
    for piece in pieces:
        color, picture = _PLAIN, own
        if piece.material is not None and piece.material < len(materials):
            material = materials[piece.material]
            color = material.color
            if material.lost:
                note("texture-left-out", f"has a picture that {material.lost}.")
            if material.picture and piece.material not in pictures:
                pictures[piece.material] = picture_of(material.picture, str(file), note)
            picture = pictures.get(piece.material)
        points = piece.picture_points
        surface = PaintedSurface(piece.vertices, piece.faces, color, colors=piece.colors)
        if picture is not None and points is not None and len(points) == len(piece.vertices):
            if not np.isfinite(points).all():
                raise InputError("has a place in a picture that is not finite.", place=str(file))
            surface = replace(
                surface, picture=picture, picture_points=points, picture_faces=piece.faces, colors=None
            )
        alike = (piece.material, surface.picture is None, surface.colors is None)
        groups.setdefault(alike, []).append(surface)
    # A library may visit the nodes in any order.
    order = sorted(groups, key=lambda alike: (-1 if alike[0] is None else alike[0], *alike[1:]))
    return [_joined_surfaces(groups[alike]) for alike in order]


def _texture_of_ply(data: bytes) -> str | None:
    """The picture that the header of a PLY file names, as MeshLab writes it."""
    head = data[:_HEAD].partition(b"end_header")[0]
    found = re.search(rb"^comment TextureFile[ \t]+(.+?)[ \t]*\r?$", head, re.MULTILINE)
    return None if found is None else found[1].decode("utf-8", "replace")


def _joined_surfaces(group: list[PaintedSurface]) -> PaintedSurface:
    """Surfaces that look alike as one."""
    if len(group) == 1:
        return group[0]
    starts = np.cumsum([0, *(len(x.vertices) for x in group)])[:-1].tolist()
    faces = np.vstack([x.faces + start for x, start in zip(group, starts, strict=True)])
    vertices = np.vstack([x.vertices for x in group])
    joined = replace(group[0], vertices=vertices, faces=faces)
    if joined.colors is not None:
        joined = replace(joined, colors=np.vstack([x.colors for x in group if x.colors is not None]))
    if joined.picture is not None:
        points = np.vstack([x.picture_points for x in group if x.picture_points is not None])
        joined = replace(joined, picture_points=points, picture_faces=faces)
    return joined


def _with_small_ones_joined(surfaces: list[PaintedSurface], note: _Notes) -> list[PaintedSurface]:
    """The surfaces, single triangles as part of the largest: MuJoCo takes no mesh of three corners."""
    small = [x for x in surfaces if len(np.unique(x.vertices[x.faces].reshape(-1, 3), axis=0)) < 4]
    if not small or len(small) == len(surfaces):
        return surfaces
    others = [x for x in surfaces if x not in small]
    first = int(np.argmax([len(x.faces) for x in others]))
    host = others[first]
    for each in small:
        faces = np.vstack([host.faces, each.faces + len(host.vertices)])
        vertices = np.vstack([host.vertices, each.vertices])
        colors = host.colors
        if colors is not None:
            colors = np.vstack([colors, np.tile(each.mean_color[:3], (len(each.vertices), 1))])
        seen = host.picture_faces
        seen = None if seen is None else np.vstack([seen, np.zeros_like(each.faces)])
        host = replace(host, vertices=vertices, faces=faces, colors=colors, picture_faces=seen)
    note(
        "materials-left-out", f"has {len(small)} materials of a single triangle, which are painted as others."
    )
    return [*others[:first], host, *others[first + 1 :]]


# Pictures


def _picture(path: Path, note: _Notes) -> Picture | None:
    return picture_of(read_bytes(path, most=LARGEST_PICTURE), str(path), note)


def picture_of(content: bytes, place: str, note: _Notes) -> Picture | None:
    """A picture whose header was looked at; None, with a note, where it is neither PNG nor JPEG.

    Args:
        content: of its file.
        place: the file, for messages.
        note: told what could not be kept.

    Raises:
        InputError: it is malformed or too large.
    """
    if len(content) > LARGEST_PICTURE:
        raise InputError(f"has a picture larger than {LARGEST_PICTURE >> 20} MiB.", place=place)
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        kind, (width, height) = PNG, _png_size(content, place)
    elif content.startswith(b"\xff\xd8\xff"):
        kind, (width, height) = JPEG, _jpeg_size(content, place)
    else:
        note("texture-left-out", "has a picture that is neither PNG nor JPEG.")
        return None
    if kind == PNG:
        _require_pixels(content, width, height, place)
    return Picture(kind, content, width, height)


def _sized(width: int, height: int, place: str) -> tuple[int, int]:
    if not (width and height and width * height <= MOST_PIXELS):
        raise InputError(
            f"has a picture of {width} by {height} pixels; at most {MOST_PIXELS} pixels are read.",
            place=place,
            remedy="Make it smaller.",
        )
    return width, height


def _png_size(content: bytes, place: str) -> tuple[int, int]:
    if len(content) < 33 or content[12:16] != b"IHDR":
        raise InputError("has a PNG picture without a header.", place=place)
    width, height = struct.unpack(">II", content[16:24])
    return _sized(width, height, place)


def _require_pixels(content: bytes, width: int, height: int, place: str) -> None:
    """Refuse a PNG picture that is cut off or damaged, unpacking no more than it states."""
    bits, kind, _, _, interlaced = content[24:29]
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(kind, 0)
    at, packed = 8, []
    damaged = InputError(
        "has a PNG picture that is damaged or cut off.", place=place, remedy="Export it again."
    )
    while True:
        head = content[at : at + 8]
        size = int.from_bytes(head[:4], "big")
        chunk = content[at + 8 : at + 8 + size]
        check = content[at + 8 + size : at + 12 + size]
        if len(head) < 8 or len(check) < 4 or zlib.crc32(head[4:] + chunk) != int.from_bytes(check, "big"):
            raise damaged
        if head[4:] == b"IEND":
            break
        if head[4:] == b"IDAT":
            packed.append(chunk)
        at += 12 + size
    needed = height * (1 + (width * bits * channels + 7) // 8)
    # Interlaced rows are more than the picture's, by fewer than two for each of its own.
    most = needed if not interlaced else 2 * needed + 64
    unpacker, found = zlib.decompressobj(), 0
    try:
        left = b"".join(packed)
        while found <= most and left:
            found += len(unpacker.decompress(left, 2**20))
            left = unpacker.unconsumed_tail
    except zlib.error as error:
        raise damaged from error
    if not channels or not needed <= found <= most:
        raise damaged


def _jpeg_size(content: bytes, place: str) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        mark = content[at + 1]
        if mark == 0xFF:
            at += 1
            continue
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return _sized(width, height, place)
        at += 2 + max(int.from_bytes(content[at + 2 : at + 4], "big"), 2)
    raise InputError("has a JPEG picture without a size, damaged or cut off.", place=place)


def png_content(pixels: IntArray) -> bytes:
    """A picture as a PNG file.

    Args:
        pixels: red, green and blue from 0 to 255, rows from the top, shape (height, width, 3), dimensionless.

    Returns:
        The content of the file.
    """
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
