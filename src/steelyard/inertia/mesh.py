"""Triangle meshes: read from files, and the mass properties of the solid inside."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError
from steelyard.files import FilePath, read_bytes
from steelyard.inertia.body import Body
from steelyard.inertia.scene_mesh import KINDS, read_scene_mesh
from steelyard.inertia.solids import mass_of_volume
from steelyard.pose import Pose

# Mass properties of the solid inside a closed triangle mesh.
#
# Each face and a point $o$ span a tetrahedron with signed volume $V$; with its corners in homogeneous
# coordinates as the columns of $P$ and their sum $s$, the integral over it is exactly
#
# $$\int \begin{bmatrix} p\\1\end{bmatrix}\begin{bmatrix} p\\1\end{bmatrix}^T dV
#   = \frac{V}{20}\,(PP^T + ss^T),$$
#
# the pseudo-inertia at unit density. Summed over a closed surface the parts outside the solid cancel,
# wherever $o$ is. It is put in the middle of the vertices, where least precision is lost.


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh; a face seen from outside lists its corners counter-clockwise.

    Attributes:
        vertices: shape (n, 3), m.
        faces: rows of three vertex indices, from 0, shape (k, 3), dimensionless.
        doubt: what is doubtful about how its file was read, in words that follow its name.
    """

    vertices: Array
    faces: IntArray
    doubt: str = ""

    def __post_init__(self) -> None:
        vertices = checked("vertices", self.vertices, ("n", 3))
        faces = checked("faces", self.faces, ("k", 3))
        if not len(faces):
            raise InputError("the mesh has no faces.", place="faces")
        wrong = (faces != np.floor(faces)) | (faces < 0) | (faces >= len(vertices))
        if wrong.any():
            raise InputError(
                f"must be indices from 0 to {len(vertices) - 1}; {int(wrong.sum())} are not, "
                f"the first in face {int(np.argwhere(wrong)[0, 0])}.",
                place="faces",
            )
        object.__setattr__(self, "vertices", read_only(vertices))
        object.__setattr__(self, "faces", read_only(faces.astype(np.int64)))

    def edge_defects(self) -> EdgeDefects:
        """Count the edges that keep a mesh from being closed and consistently oriented.

        Every edge must be run through as often in one direction as in the other: once each in an ordinary
        closed surface, more often where parts touch along an edge, which does no harm to the integrals.

        Returns:
            the counts; both zero for a mesh that encloses a volume.
        """
        ends = self.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        ends = ends[ends[:, 0] != ends[:, 1]]
        forward = np.where(ends[:, 0] < ends[:, 1], 1, -1)
        # One number an edge: rows are sorted much slower.
        numbers = ends.min(axis=1) * len(self.vertices) + ends.max(axis=1)
        _, edge = np.unique(numbers, return_inverse=True)
        surplus = np.bincount(edge.ravel(), weights=forward)
        uses = np.bincount(edge.ravel())
        return EdgeDefects(
            open=int(((surplus != 0) & (uses % 2 == 1)).sum()),
            misoriented=int(((surplus != 0) & (uses % 2 == 0)).sum()),
        )

    def properties(self, *, mass: float | None = None, density: float | None = None) -> MeshProperties:
        """The body that fills a mesh at constant density.

        Args:
            mass: kg; give this or the density.
            density: kg/m^3.

        Returns:
            the body in the frame of the vertices, the volume, and whether the faces were turned.

        Raises:
            InputError: the mesh is open, its faces disagree about which side is out, or it encloses no
                volume.
        """
        defects = self.edge_defects()
        if defects.open or defects.misoriented:
            raise InputError(
                f"does not enclose a volume: {defects.open} edges are open and {defects.misoriented} join "
                "faces that disagree about which side is out.",
                place="mesh",
                remedy="Close the surface, merge vertices that coincide, and orient the faces alike.",
                evidence={"open": defects.open, "misoriented": defects.misoriented},
            )
        used = self.vertices[np.unique(self.faces)]
        o = 0.5 * (used.min(axis=0) + used.max(axis=0))
        corners = self.vertices[self.faces] - o
        V = np.linalg.det(corners) / 6.0
        volume = float(V.sum())
        noise = np.finfo(np.float64).eps * np.linalg.norm(corners, axis=-1).prod(axis=-1).sum()
        if abs(volume) <= noise:
            raise InputError(
                f"encloses no volume: {volume:.3g} m^3 is within round-off.",
                place="mesh",
                evidence={"V": volume},
            )
        unit = _integral(corners, V) / volume
        m = mass_of_volume(abs(volume), mass, density)
        body = Body.from_pseudo_inertia(m * unit).moved(Pose(np.eye(3), o))
        return MeshProperties(body, abs(volume), turned=volume < 0)

    @classmethod
    def read(cls, path: FilePath, *, scale: float = 1.0) -> Mesh:
        """Read a mesh file; vertices with identical coordinates become one.

        Args:
            path: a file ending in `.stl` or `.obj`; with the extra `meshes` also `.dae`, `.ply` or `.glb`.
            scale: length of the file's unit, m; the formats do not say it (0.001 for millimetres).

        Returns:
            the mesh, with vertices in m.

        Raises:
            InputError: the file is missing, of another kind, or malformed; the message names the place.
            MissingExtraError: its kind is read by a library that is not installed.
        """
        file = Path(path)
        readers = {".stl": _read_stl, ".obj": _read_obj}
        kind = file.suffix.lower()
        if kind not in (*readers, *KINDS):
            raise InputError(
                f"cannot read a mesh from a '{kind}' file.",
                place=str(file),
                remedy=f"Valid: {', '.join((*readers, *KINDS))}.",
            )
        if not 0 < scale < np.inf:
            raise InputError(f"must be positive, got {scale}.", place="scale")
        data, doubt = read_bytes(file, most=LARGEST_FILE), ""
        if kind in KINDS:
            vertices, faces, doubt = read_scene_mesh(data, kind, str(file))
        else:
            vertices, faces = readers[kind](data, str(file))
        if not len(faces):
            raise InputError("holds no faces.", place=str(file))
        if not np.isfinite(vertices).all():
            raise InputError("holds a coordinate that is not finite.", place=str(file))
        return merged(scale * vertices, faces, doubt)


@dataclass(frozen=True)
class MeshProperties:
    """What the inside of a mesh weighs.

    Attributes:
        body: the solid, in the frame of the vertices.
        volume: m^3.
        turned: whether the faces pointed inwards and were read the other way round.
    """

    body: Body
    volume: float
    turned: bool


@dataclass(frozen=True)
class EdgeDefects:
    """Edges at which a surface fails to enclose a volume.

    Attributes:
        open: how many edges have no partner to close them.
        misoriented: how many edges join faces that disagree about which side is out.
    """

    open: int
    misoriented: int


def _integral(corners: Array, V: Array) -> Array:
    """The pseudo-inertia at unit density about the common corner of the tetrahedra, shape (4, 4)."""
    p = np.zeros((len(V), 4, 4))
    p[:, :3, :3] = corners
    p[:, :, 3] = 1.0
    s = p.sum(axis=1)
    integral = np.einsum("t,tci,tcj->ij", V, p, p, optimize=True) + np.einsum("t,ti,tj->ij", V, s, s)
    return np.asarray((integral + integral.T) / 40.0)


def merged(vertices: ArrayLike, faces: ArrayLike, doubt: str = "") -> Mesh:
    """A mesh in which vertices with identical coordinates are one.

    STL files repeat every corner of every triangle; only after merging do the faces share edges.

    Args:
        vertices: shape (n, 3), m.
        faces: indices into the vertices, shape (k, 3), dimensionless.
        doubt: what is doubtful about them.
    """
    mesh = Mesh(np.asarray(vertices), np.asarray(faces))
    # Adding zero turns -0.0 into 0.0, which are the same point.
    unique, place = np.unique(mesh.vertices + 0.0, axis=0, return_inverse=True)
    return Mesh(unique, place.ravel()[mesh.faces], doubt)


# Reading triangle meshes from STL (binary and ASCII) and OBJ files: their geometry, nothing else. Formats of
# scenes are read in `scene_mesh`.

LARGEST_FILE = 256 * 2**20
"""Of a mesh, bytes."""

_BINARY_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84


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


@dataclass(frozen=True, eq=False)
class ObjRecords:
    """What an OBJ file says of shapes and of where pictures lie on them.

    Attributes:
        points: shape (n, 3), m.
        faces: triangles of them, from 0, shape (k, 3), dimensionless.
        picture_points: texts of coordinates in a picture, as they stand.
        picture_faces: corners of the triangles among these, from 0; -1 where none is stated.
        materials: of each triangle, by name; empty where none is stated.
        libraries: what `mtllib` lines name, as they stand.
    """

    points: Array
    faces: Array
    picture_points: list[list[str]]
    picture_faces: list[list[int]]
    materials: list[str]
    libraries: list[str]


def _read_obj(data: bytes, place: str) -> tuple[Array, Array]:
    records = obj_records(data, place)
    return records.points, records.faces


def obj_records(data: bytes, place: str) -> ObjRecords:
    """Read the content of an OBJ file.

    Args:
        data: the content.
        place: the file, for messages.

    Returns:
        What it says.

    Raises:
        InputError: a point or a face is malformed; the message names the line.
    """
    points: list[list[float]] = []
    faces: list[list[float]] = []
    pictured: list[list[str]] = []
    picture_faces: list[list[int]] = []
    materials: list[str] = []
    libraries: list[str] = []
    material = ""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        where = f"{place}, line {number}"
        if words[:1] == ["v"]:
            points.append(_numbers(words[1:4], 3, where))
        elif words[:1] == ["vt"]:
            pictured.append(words[1:3])
        elif words[:1] == ["f"]:
            corners = [_corner(word, len(points), where) for word in words[1:]]
            if len(corners) < 3:
                raise InputError("a face needs three corners.", place=where)
            faces += [[corners[0], a, b] for a, b in pairwise(corners[1:])]
            seen = [_picture_corner(word, len(pictured)) for word in words[1:]]
            picture_faces += [[seen[0], a, b] for a, b in pairwise(seen[1:])]
            materials += [material] * (len(corners) - 2)
        elif words[:1] == ["usemtl"]:
            material = " ".join(words[1:])
        elif words[:1] == ["mtllib"]:
            libraries.append(line.split("#", 1)[0].strip()[len("mtllib") :].strip())
    return ObjRecords(
        np.array(points).reshape(-1, 3),
        np.array(faces, dtype=np.float64).reshape(-1, 3),
        pictured,
        picture_faces,
        materials,
        libraries,
    )


def _picture_corner(word: str, known: int) -> int:
    """The second index of `v/vt/vn`, from 0; -1 where there is none that exists."""
    _, _, rest = word.partition("/")
    try:
        index = int(rest.partition("/")[0])
    except ValueError:
        return -1
    place = index - 1 if index > 0 else known + index
    return place if index and 0 <= place < known else -1


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
