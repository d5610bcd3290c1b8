r"""Mass properties of the solid inside a closed triangle mesh.

Each face and a point $o$ span a tetrahedron with signed volume $V$; with its corners in homogeneous
coordinates as the columns of $P$ and their sum $s$, the integral over it is exactly

$$\int \begin{bmatrix} p\\1\end{bmatrix}\begin{bmatrix} p\\1\end{bmatrix}^T dV
  = \frac{V}{20}\,(PP^T + ss^T),$$

the pseudo-inertia at unit density. Summed over a closed surface the parts outside the solid cancel, wherever
$o$ is. It is put in the middle of the vertices, where least precision is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError
from steelyard.inertia.body import Body
from steelyard.inertia.primitives import mass_of_volume
from steelyard.pose import Pose


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh; a face seen from outside lists its corners counter-clockwise.

    Attributes:
        vertices: shape (n, 3), m.
        faces: rows of three vertex indices, from 0, shape (k, 3), dimensionless.
    """

    vertices: Array
    faces: IntArray

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


def edge_defects(mesh: Mesh) -> EdgeDefects:
    """Count the edges that keep a mesh from being closed and consistently oriented.

    Every edge must be run through as often in one direction as in the other: once each in an ordinary closed
    surface, more often where parts touch along an edge, which does no harm to the integrals.

    Args:
        mesh: the mesh.

    Returns:
        the counts; both zero for a mesh that encloses a volume.
    """
    ends = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    forward = np.where(ends[:, 0] < ends[:, 1], 1, -1)
    _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    surplus = np.bincount(edge.ravel(), weights=forward)
    uses = np.bincount(edge.ravel())
    return EdgeDefects(
        open=int(((surplus != 0) & (uses % 2 == 1)).sum()),
        misoriented=int(((surplus != 0) & (uses % 2 == 0)).sum()),
    )


def mesh_properties(mesh: Mesh, *, mass: float | None = None, density: float | None = None) -> MeshProperties:
    """The body that fills a mesh at constant density.

    Args:
        mesh: closed and consistently oriented; inwards is turned, and the result says so.
        mass: kg; give this or the density.
        density: kg/m^3.

    Returns:
        the body in the frame of the vertices, the volume, and whether the faces were turned.

    Raises:
        InputError: the mesh is open, its faces disagree about which side is out, or it encloses no volume.
    """
    defects = edge_defects(mesh)
    if defects.open or defects.misoriented:
        raise InputError(
            f"does not enclose a volume: {defects.open} edges are open and {defects.misoriented} join faces "
            "that disagree about which side is out.",
            place="mesh",
            remedy="Close the surface, merge vertices that coincide, and orient the faces alike.",
            evidence={"open": defects.open, "misoriented": defects.misoriented},
        )
    used = mesh.vertices[np.unique(mesh.faces)]
    o = 0.5 * (used.min(axis=0) + used.max(axis=0))
    corners = mesh.vertices[mesh.faces] - o
    V = np.linalg.det(corners) / 6.0
    volume = float(V.sum())
    noise = np.finfo(np.float64).eps * np.linalg.norm(corners, axis=-1).prod(axis=-1).sum()
    if abs(volume) <= noise:
        raise InputError(
            f"encloses no volume: {volume:.3g} m^3 is within round-off.", place="mesh", evidence={"V": volume}
        )
    unit = _integral(corners, V) / volume
    m = mass_of_volume(abs(volume), mass, density)
    body = Body.from_pseudo_inertia(m * unit).moved(Pose(np.eye(3), o))
    return MeshProperties(body, abs(volume), turned=volume < 0)


def _integral(corners: Array, V: Array) -> Array:
    """The pseudo-inertia at unit density about the common corner of the tetrahedra, shape (4, 4)."""
    p = np.zeros((len(V), 4, 4))
    p[:, :3, :3] = corners
    p[:, :, 3] = 1.0
    s = p.sum(axis=1)
    integral = np.einsum("t,tci,tcj->ij", V, p, p, optimize=True) + np.einsum("t,ti,tj->ij", V, s, s)
    return np.asarray((integral + integral.T) / 40.0)


def merged(vertices: ArrayLike, faces: ArrayLike) -> Mesh:
    """A mesh in which vertices with identical coordinates are one.

    STL files repeat every corner of every triangle; only after merging do the faces share edges.

    Args:
        vertices: shape (n, 3), m.
        faces: indices into the vertices, shape (k, 3), dimensionless.

    Returns:
        the mesh.
    """
    mesh = Mesh(np.asarray(vertices), np.asarray(faces))
    # Adding zero turns -0.0 into 0.0, which are the same point.
    unique, place = np.unique(mesh.vertices + 0.0, axis=0, return_inverse=True)
    return Mesh(unique, place.ravel()[mesh.faces])
