"""Reading triangle meshes from STL (binary and ASCII) and OBJ files: their geometry, nothing else."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.inertia.mesh import Mesh, merged

_BINARY_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84


def read_mesh(path: FilePath, *, scale: float = 1.0) -> Mesh:
    """Read a mesh file; vertices with identical coordinates become one.

    Args:
        path: a file ending in `.stl` or `.obj`.
        scale: length of the file's unit, m; the formats do not say it (0.001 for millimetres).

    Returns:
        the mesh, with vertices in m.

    Raises:
        InputError: the file is missing, of another kind, or malformed; the message names the place.
    """
    file = Path(path)
    readers = {".stl": _read_stl, ".obj": _read_obj}
    kind = file.suffix.lower()
    if kind not in readers:
        raise InputError(
            f"cannot read a mesh from a '{kind}' file.", place=str(file), remedy="Valid: .stl, .obj."
        )
    if not 0 < scale < np.inf:
        raise InputError(f"must be positive, got {scale}.", place="scale")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", place=str(file)) from error
    vertices, faces = readers[kind](data, str(file))
    if not len(faces):
        raise InputError("holds no faces.", place=str(file))
    if not np.isfinite(vertices).all():
        raise InputError("holds a coordinate that is not finite.", place=str(file))
    return merged(scale * vertices, faces)


def _read_stl(data: bytes, place: str) -> tuple[Array, Array]:
    # Binary files may also start with "solid", so the length decides.
    count = int.from_bytes(data[_HEADER - 4 : _HEADER], "little") if len(data) >= _HEADER else -1
    if count >= 0 and len(data) == _HEADER + count * _BINARY_STL.itemsize:
        corners = np.frombuffer(data, _BINARY_STL, offset=_HEADER)["corners"].astype(np.float64)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _ascii_corners(data, place)
    else:
        raise InputError(
            f"is neither ASCII nor binary STL: {len(data)} bytes do not fit a count of {count} triangles.",
            place=place,
        )
    return corners.reshape(-1, 3), np.arange(3.0 * len(corners)).reshape(-1, 3)


def _ascii_corners(data: bytes, place: str) -> Array:
    points: list[list[float]] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        if words and words[0].lower() == "vertex":
            points.append(_numbers(words[1:4], 3, f"{place}, line {number}"))
        elif words and words[0].lower() == "endfacet" and len(points) % 3:
            raise InputError("a facet does not have three vertices.", place=f"{place}, line {number}")
    if len(points) % 3:
        raise InputError("ends within a facet.", place=place)
    return np.array(points, dtype=np.float64).reshape(-1, 3, 3)


def _read_obj(data: bytes, place: str) -> tuple[Array, Array]:
    points: list[list[float]] = []
    faces: list[list[float]] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        where = f"{place}, line {number}"
        if words[:1] == ["v"]:
            points.append(_numbers(words[1:4], 3, where))
        elif words[:1] == ["f"]:
            corners = [_corner(word, len(points), where) for word in words[1:]]
            if len(corners) < 3:
                raise InputError("a face needs three corners.", place=where)
            faces += [[corners[0], a, b] for a, b in pairwise(corners[1:])]
    return np.array(points).reshape(-1, 3), np.array(faces, dtype=np.float64).reshape(-1, 3)


def _corner(word: str, known: int, place: str) -> int:
    """The vertex of `v/vt/vn`, from 0; OBJ counts from 1, and from the end when negative."""
    try:
        index = int(word.split("/")[0])
    except ValueError:
        raise InputError(f"'{word}' is not a corner of a face.", place=place) from None
    vertex = index - 1 if index > 0 else known + index
    if index == 0 or not 0 <= vertex < known:
        raise InputError(f"vertex {index} does not exist; {known} are known here.", place=place)
    return vertex


def _numbers(words: list[str], count: int, place: str) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != count:
        raise InputError(f"expected {count} coordinates, got '{' '.join(words)}'.", place=place)
    return values
