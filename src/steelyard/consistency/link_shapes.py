r"""What a link looks like, as far as its mass must fit into it: hull, ellipsoid, volume.

A link's mass lies within its shapes, so its centre of mass lies in their convex hull, $n_k^T c \le d_k$ for
every face, and with an ellipsoid $\{x : (x, 1)^T Q\,(x, 1) \ge 0\}$ around them its pseudo-inertia has
$\mathrm{tr}(J Q) \ge 0$ (Wensing, Kim and Slotine, 2018). Hull and ellipsoid are outer ones: nothing of a
shape is left outside, so neither excludes a body that fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from itertools import product
from math import cos, pi
from operator import add
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import pdist

from steelyard.arrays import Array, keep_read_only, read_only
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.inertia import (
    Body,
    Mesh,
    box,
    capsule,
    cylinder,
    sphere,
)
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Link,
    MeshFile,
    MeshFolder,
    MeshSource,
    Robot,
    Sphere,
)

MOST_VERTICES = 200
"""Corners a hull keeps; of more, those furthest out stay and are moved outwards until they hold the rest."""
MOST_FACES = 60
"""Faces that stand around a hull."""
COARSE = 0.003
"""How far, in standard deviations of the corners, one may lie outside the kept ones before it is kept too."""
THIN = 0.003
"""Least thickness of a hull, m: what is flatter is thickened to it, since no link is without thickness."""
SIDES = 24
"""Sides of the prism around a cylinder, which exceeds its radius by 0.9 % at the edges."""
_ELLIPSOID_GAP = 1e-3
_ELLIPSOID_STEPS = 2000
_ELLIPSOIDS = 512
"""How many are remembered, at most 5 kB each."""
_ROUND_OFF = 1e-9


@dataclass(frozen=True, eq=False)
class LinkShape:
    r"""The room a moving link takes, with all that is bolted to it; arrays are read-only.

    Attributes:
        link: name of the moving link.
        vertices: corners of a convex hull that holds all shapes, in the link's frame, shape (n, 3), m.
        normals: outward unit normals n of the faces around the shapes, shape (k, 3), dimensionless.
        offsets: d of these faces, $n^T x \le d$ for every point of a shape, shape (k,), m.
        volume: of the shapes together, at most that of the hull, m³.
        centre: centroid of the shapes, shape (3,), m.
        size: largest distance of two points of the hull, m.
        ellipsoid: Q of the smallest ellipsoid around the vertices, positive inside, scaled so that the
            largest value is 1, shape (4, 4), SI.
        unit_inertia: ten parameters of 1 kg spread evenly over the shapes, shape (10,), SI.
    """

    link: str
    vertices: Array
    normals: Array
    offsets: Array
    volume: float
    centre: Array
    size: float
    ellipsoid: Array
    unit_inertia: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "vertices", "normals", "offsets", "centre", "ellipsoid", "unit_inertia")

    def outside(self, point: Array) -> float:
        """How far a point lies beyond the face it is furthest beyond.

        Args:
            point: in the link's frame, shape (3,), m.

        Returns:
            The distance, m; negative inside the hull, by the distance to the nearest face.
        """
        return float((self.normals @ point - self.offsets).max())

    def contains(self, point: Array, margin: float = 0.0) -> bool:
        """Whether a point lies in the hull, or not far from it.

        Args:
            point: in the link's frame, shape (3,), m.
            margin: by how much it may lie beyond any face, m.

        Returns:
            Whether it does.
        """
        return self.outside(point) <= margin


def link_shapes(robot: Robot, meshes: MeshSource | FilePath | None = None) -> dict[str, LinkShape]:
    """The shapes of every moving link that has some, by its name.

    A link is left out where it has no collision shape, where one of them is a mesh that cannot be read, since
    what the others span would exclude mass that is there, and where its hull cannot be computed.

    Args:
        robot: the robot.
        meshes: where meshes are looked for, or the folder that their names start from; None for where the
            robot says. Links whose meshes are not found are left out.

    Returns:
        The shapes, in the order of the links.
    """
    unreachable: list[Finding] = []
    source = MeshSource.of(robot.meshes if meshes is None else meshes)
    folder = MeshFolder(source, unreachable)
    found = {}
    for link in robot.links:
        if link.collision:
            # Prior, fit and verdict ask for the same shapes, whose ellipsoids take a moment.
            known = _shapes_of.setdefault(link, {})
            if source not in known:
                known[source] = _shape(link, folder)
            found[link.name] = known[source]
    return {name: shape for name, shape in found.items() if shape is not None}


_shapes_of: WeakKeyDictionary[Link, dict[MeshSource | None, LinkShape | None]] = WeakKeyDictionary()
"""Shapes by link, which never changes, and by where its meshes lie."""


def uniform_body(shape: LinkShape, mass: float) -> Array:
    """The ten parameters of a mass that fills a link's shapes evenly; where shapes overlap it counts twice.

    Args:
        shape: of the link.
        mass: positive, kg.

    Returns:
        Parameters about the link frame's origin of a body that can exist, shape (10,), SI.

    Raises:
        InputError: the mass is not positive.
    """
    if not (mass > 0.0 and np.isfinite(mass)):
        raise InputError(f"must be positive and finite, got {mass:g} kg.", place=f"mass of '{shape.link}'")
    return np.asarray(mass * shape.unit_inertia)


def _shape(link: Link, folder: MeshFolder) -> LinkShape | None:
    try:
        return _room(link, folder)
    except (QhullError, np.linalg.LinAlgError):
        # Shapes so long and thin, or so far away, that double precision sees no volume: no use to anybody.
        return None


def _room(link: Link, folder: MeshFolder) -> LinkShape | None:
    clouds: list[Array] = []
    bodies: list[Body] = []
    for item in link.collision:
        mesh = folder.read(item.shape, link.name) if isinstance(item.shape, MeshFile) else None
        if isinstance(item.shape, MeshFile) and mesh is None:
            return None
        points, body = _solid(item, mesh)
        clouds.append(item.pose.apply(points))
        if body is not None:
            bodies.append(body.moved(item.pose))
    points, thick = _thickened(np.vstack(clouds))
    hull = ConvexHull(points)
    # A body of density 1 weighs its volume. What has no volume to speak of is the hull, as it was thickened.
    whole = reduce(add, bodies) if bodies else None
    if whole is None or thick or not whole.consistency.strict:
        whole = _hull_body(points, hull)
    volume = min(whole.mass, float(hull.volume))
    normals, offsets = _faces(points, hull)
    vertices = _thinned(points[hull.vertices])
    return LinkShape(
        link.name,
        vertices,
        normals,
        offsets,
        volume,
        whole.com,
        float(pdist(vertices).max()),
        _ellipsoid(vertices.shape, vertices.tobytes()),
        whole.parameters / whole.mass,
    )


def _solid(item: Geometry, mesh: Mesh | None) -> tuple[Array, Body | None]:
    """Points whose hull holds a shape, and its body at density 1; None where a mesh encloses no volume."""
    match item.shape:
        case Sphere(radius):
            return radius * _around_ball(), sphere(radius, density=1.0)
        case Box(x, y, z):
            corners = np.array(list(product((-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))))
            return corners, box((x, y, z), density=1.0)
        case Cylinder(radius, length):
            angles = 2.0 * pi * np.arange(SIDES) / SIDES
            ring = radius / cos(pi / SIDES) * np.column_stack([np.cos(angles), np.sin(angles)])
            ends = [np.column_stack([ring, np.full(SIDES, z)]) for z in (-length / 2, length / 2)]
            return np.vstack(ends), cylinder(radius, length, density=1.0)
        case Capsule(radius, length):
            ball = radius * _around_ball()
            ends = [ball + np.array([0.0, 0.0, z]) for z in (-length / 2, length / 2)]
            return np.vstack(ends), capsule(radius, length, density=1.0)
    assert mesh is not None  # _room has read every mesh
    points = mesh.vertices[np.unique(mesh.faces)]
    try:
        return points, mesh.properties(density=1.0).body
    except InputError:
        # An open surface: its hull is what it would be wrapped in.
        return points, None if _thickened(points)[1] else _hull_body(points, ConvexHull(points))


@cache
def _around_ball() -> Array:
    """Corners of a polytope around the unit ball: 162 on a sphere, moved out until its faces touch."""
    golden = (1.0 + 5.0**0.5) / 2.0
    corners = np.array(
        [np.roll((0.0, a, b * golden), k) for k in range(3) for a, b in product((-1.0, 1.0), repeat=2)]
    )
    for _ in range(2):
        # Four triangles for one, twice: the middles of all edges of the icosahedron become corners.
        triangles = corners[ConvexHull(corners).simplices]
        middles = np.vstack([triangles[:, k] + triangles[:, k - 1] for k in range(3)])
        corners = np.vstack([corners, middles])
        corners /= np.linalg.norm(corners, axis=1, keepdims=True)
        corners = corners[np.unique(np.round(corners, 9), axis=0, return_index=True)[1]]
    return read_only(corners / -ConvexHull(corners).equations[:, 3].max())


def _hull_body(points: Array, hull: ConvexHull) -> Body:
    r"""The hull of points filled at density 1, in tetrahedra from its middle to its faces.

    A tetrahedron with corners $p_c$, 1 appended, has $J = V (\sum_c p_c p_c^T + s s^T) / 20$ with
    $s = \sum_c p_c$.
    """
    middle = points[hull.vertices].mean(axis=0)
    corners = points[hull.simplices] - middle
    V = np.abs(np.linalg.det(corners)) / 6.0
    p = np.zeros((len(V), 4, 4))
    p[:, :3, :3], p[:, :, 3] = corners, 1.0
    s = p.sum(axis=1)
    J = (np.einsum("t,tci,tcj->ij", V, p, p) + np.einsum("t,ti,tj->ij", V, s, s)) / 20.0
    return Body.from_pseudo_inertia(0.5 * (J + J.T)).moved(Pose(np.eye(3), middle))


def _thickened(points: Array) -> tuple[Array, bool]:
    """The points, doubled along every principal axis along which they span too little; whether any were."""
    spread = points - points.mean(axis=0)
    thick = False
    for axis in np.linalg.eigh(spread.T @ spread)[1].T:
        across = points @ axis
        lacking = THIN - float(across.max() - across.min())
        if lacking > 0.0:
            points = np.vstack([points - 0.5 * lacking * axis, points + 0.5 * lacking * axis])
            thick = True
    return points, thick


def _faces(points: Array, hull: ConvexHull) -> tuple[Array, Array]:
    """Normals and offsets of faces around the points: the hull's own, or those of them that say most.

    Beside both directions of the principal axes, which close the polytope, the next normal is always the one
    with the largest product of its faces' area and its squared distance from those taken.
    """
    corners = points[hull.simplices]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = 0.5 * np.linalg.norm(sides, axis=1)
    _, first, place = np.unique(
        np.round(hull.equations[:, :3], 6), axis=0, return_index=True, return_inverse=True
    )
    own = hull.equations[first, :3]
    weights = np.bincount(place.ravel(), weights=areas)
    if len(own) > MOST_FACES:
        spread = points[hull.vertices] - points[hull.vertices].mean(axis=0)
        axes = np.linalg.eigh(spread.T @ spread)[1].T
        taken = [*axes, *-axes]
        apart = np.min([((own - n) ** 2).sum(axis=1) for n in taken], axis=0)
        while len(taken) < MOST_FACES:
            n = own[int((weights * apart).argmax())]
            taken.append(n)
            apart = np.minimum(apart, ((own - n) ** 2).sum(axis=1))
        own = np.array(taken)
    return own, (points[hull.vertices] @ own.T).max(axis=0)


def _thinned(corners: Array) -> Array:
    """At most `MOST_VERTICES` corners of a polytope that holds all of the given ones.

    The corners furthest outside those kept are added until few are left outside by little; then the kept ones
    are moved away from their middle until they hold the others.
    """
    if len(corners) <= MOST_VERTICES:
        return corners
    # In coordinates in which they spread alike, a long link's thickness counts like its length.
    middle = corners.mean(axis=0)
    y = (corners - middle) @ np.linalg.inv(np.linalg.cholesky(np.cov(corners.T))).T
    kept = np.unique((y @ _around_ball().T).argmax(axis=0))[: MOST_VERTICES // 2]
    while True:
        hull = ConvexHull(y[kept])
        n, d = hull.equations[:, :3], -hull.equations[:, 3]
        beyond = y @ n.T - d
        far = beyond.max(axis=0)
        worst = np.argsort(-far, kind="stable")[:8]
        room = MOST_VERTICES - len(kept)
        new = np.setdiff1d(beyond[:, worst[far[worst] > COARSE]].argmax(axis=0), kept)[:room]
        if not len(new):
            break
        kept = np.concatenate([kept, new])
    inner = y[kept].mean(axis=0)
    stretch = float(((y - inner) @ n.T / (d - n @ inner)).max())
    about = corners[kept].mean(axis=0)
    return np.asarray(about + max(1.0, stretch * (1.0 + _ROUND_OFF)) * (corners[kept] - about))


@lru_cache(maxsize=_ELLIPSOIDS)
def _ellipsoid(shape: tuple[int, ...], content: bytes) -> Array:
    r"""Q of the ellipsoid of least volume around points, by Khachiyan's method with steps away.

    The weights u of the points that maximise $\log\det \sum_i u_i \bar x_i \bar x_i^T$, $\bar x = (x, 1)$,
    give it. Each step moves weight to the point that lies furthest outside, or away from the one furthest
    inside, which lets the method end at the optimum and not only approach it. What is missing is made up
    for by scaling until every point is inside.

    It takes most of the time that shapes take, and the same shapes come again: with the arm that is read for
    the next log, and within an arm. So the points are told by their content.
    """
    vertices: Array = np.frombuffer(content).reshape(shape)
    middle = vertices.mean(axis=0)
    scale = float(np.abs(vertices - middle).max())
    x = (vertices - middle) / scale
    n, d = x.shape
    lifted = np.column_stack([x, np.ones(n)])
    u = np.full(n, 1.0 / n)
    for _ in range(_ELLIPSOID_STEPS):
        inverse = np.linalg.inv(lifted.T @ (u[:, None] * lifted))
        kappa = np.einsum("ij,jk,ik->i", lifted, inverse, lifted)
        held = np.where(u > 0.0, kappa, np.inf)
        far, near = int(kappa.argmax()), int(held.argmin())
        up, down = kappa[far] / (d + 1) - 1.0, 1.0 - held[near] / (d + 1)
        if max(up, down) <= _ELLIPSOID_GAP:
            break
        k = far if up >= down else near
        step = (kappa[k] - d - 1.0) / ((d + 1.0) * (kappa[k] - 1.0))
        step = max(step, -u[k] / (1.0 - u[k])) if k == near and up < down else step
        u *= 1.0 - step
        u[k] = max(0.0, u[k] + step)
    c = u @ x
    A = np.linalg.inv(d * (x.T @ (u[:, None] * x) - np.outer(c, c)))
    A = 0.5 * (A + A.T)
    A /= float(np.einsum("ij,jk,ik->i", x - c, A, x - c).max()) * (1.0 + 1e-6)
    A, c = A / scale**2, middle + scale * c
    Q = np.empty((4, 4))
    Q[:3, :3] = -A
    Q[:3, 3] = Q[3, :3] = A @ c
    Q[3, 3] = 1.0 - c @ A @ c
    return read_only(Q)
