"""Shapes as triangles: every library that draws takes those."""

from __future__ import annotations

import numpy as np
import scipy

from steelyard.arrays import Array, IntArray
from steelyard.inertia import Ellipsoid, Mesh
from steelyard.limits import Hull, Solid, Zonotope, core_of
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Sphere

AROUND = 32
"""Corners around a round shape: its outline then differs from the circle by half a percent."""
ALONG = 16
"""Rings between the poles of a ball."""


def surface_of(shape: Solid | Ellipsoid) -> Mesh:
    """The surface of a shape, its corners on it and its faces seen from outside.

    Args:
        shape: of a link or a scene, or the ellipsoid of a body.

    Returns:
        Triangles in the frame of the shape; of an ellipsoid in that of its body.
    """
    match shape:
        case Sphere():
            return _turned(*_arc(shape.radius, 0.0))
        case Capsule():
            return _turned(*_arc(shape.radius, shape.length))
        case Cylinder():
            r, h = shape.radius, 0.5 * shape.length
            # The rims twice, so that a drawn edge stays sharp.
            return _turned(np.array([0.0, r, r, r, r, 0.0]), np.array([-h, -h, -h, h, h, h]))
        case Ellipsoid():
            ball = _turned(*_arc(1.0, 0.0))
            return moved(Mesh(ball.vertices * shape.semi_axes, ball.faces), shape.pose)
        case Box():
            corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
            return _hull(corners * (shape.x, shape.y, shape.z))
        case Hull() | Zonotope():
            return _hull(core_of(shape).points)


def moved(mesh: Mesh, pose: Pose) -> Mesh:
    """A mesh in another frame.

    Args:
        mesh: in the frame G.
        pose: X_LG, that frame in L.

    Returns:
        The same triangles in L.
    """
    return Mesh(mesh.vertices @ pose.rotation.T + pose.translation, mesh.faces)


def _arc(radius: float, length: float) -> tuple[Array, Array]:
    """Distance to the axis and height along it, from the lower pole to the upper one."""
    turn = np.linspace(0.0, np.pi, ALONG + 1)
    r, z = radius * np.sin(turn), -radius * np.cos(turn)
    half = ALONG // 2
    r[[0, -1]] = 0.0
    below, above = z[: half + 1] - 0.5 * length, z[half:] + 0.5 * length
    if length == 0.0:
        return r, z
    return np.concatenate((r[: half + 1], r[half:])), np.concatenate((below, above))


def _turned(r: Array, z: Array) -> Mesh:
    """The surface that a line turned about z leaves; it starts and ends on the axis."""
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    rings = [
        np.column_stack((ri * np.cos(turn), ri * np.sin(turn), np.full(AROUND, zi)))
        for ri, zi in zip(r[1:-1], z[1:-1], strict=True)
    ]
    poles = np.array([[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]])
    vertices = np.concatenate([*rings, poles])
    k = np.arange(AROUND)
    after = (k + 1) % AROUND
    lower, upper = len(vertices) - 2, len(vertices) - 1
    last = AROUND * (len(rings) - 1)
    faces = [np.column_stack((np.full(AROUND, lower), after, k))]
    for n in range(len(rings) - 1):
        a, b = AROUND * n, AROUND * (n + 1)
        faces += [np.column_stack((a + k, a + after, b + k)), np.column_stack((a + after, b + after, b + k))]
    faces.append(np.column_stack((last + k, last + after, np.full(AROUND, upper))))
    return Mesh(vertices, np.concatenate(faces))


def _hull(points: Array) -> Mesh:
    """The convex hull, its faces turned outwards; what is flat becomes a thin sheet of its own corners."""
    middle = points.mean(axis=0)
    spread = np.linalg.svd(points - middle, full_matrices=True)
    thin = spread[1] <= 1e-9 * max(float(spread[1].max()), 1e-300)
    if thin.any():
        # A hull needs room inside it: a hundredth of the size across.
        across = spread[2][thin] * 0.005 * float(np.ptp(points, axis=0).max() or 1e-3)
        points = np.concatenate([points + sign * step for step in across for sign in (-1.0, 1.0)])
        return _hull(points)
    hull = scipy.spatial.ConvexHull(points)
    faces: IntArray = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, i]] for i in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return Mesh(points, faces)
