"""Coal as a judge of signed distances, and random shapes of every kind in both our words and its own."""

from __future__ import annotations

from itertools import product

import coal
import numpy as np
from scipy.spatial import ConvexHull

from steelyard.limits import Hull, Zonotope
from steelyard.limits.shapes import Solid
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Sphere

KINDS = ("sphere", "capsule", "box", "hull", "zonotope")


def random_shape(rng: np.random.Generator, kind: str) -> Solid:
    """A shape of 5 to 80 cm."""
    match kind:
        case "sphere":
            return Sphere(float(rng.uniform(0.05, 0.3)))
        case "capsule":
            return Capsule(float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.1, 0.8)))
        case "box":
            return Box(*rng.uniform(0.05, 0.6, 3).tolist())
        case "hull":
            return Hull(0.2 * rng.standard_normal((12, 3)))
    return Zonotope(0.1 * rng.standard_normal(3), 0.1 * rng.standard_normal((4, 3)))


def random_place(rng: np.random.Generator, spread: float = 0.3) -> Pose:
    """Any rotation, at a distance of about `spread`, m."""
    return Pose.from_quaternion(rng.standard_normal(4), spread * rng.standard_normal(3))


def coal_distance(first: Solid, first_pose: Pose, second: Solid, second_pose: Pose) -> float:
    """Coal's signed distance, m."""
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    places = [
        coal.Transform3s(pose.rotation.copy(), pose.translation.copy()) for pose in (first_pose, second_pose)
    ]
    shapes = coal_shape(first), coal_shape(second)
    return float(coal.distance(shapes[0], places[0], shapes[1], places[1], request, coal.DistanceResult()))


def coal_shape(shape: Solid | np.ndarray) -> coal.ShapeBase:
    """A shape as Coal has it; points of a mesh, shape (n, 3), m, as their hull."""
    match shape:
        case np.ndarray():
            return _coal_hull(shape)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Sphere(radius):
            return coal.Sphere(radius)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Box(x, y, z):
            return coal.Box(x, y, z)
        case Hull(points):
            return _coal_hull(points)
        case Zonotope(centre, generators):
            signs = np.array(list(product((-1.0, 1.0), repeat=len(generators))))
            return _coal_hull(centre + signs @ generators)
    raise TypeError(type(shape).__name__)


def _coal_hull(points: np.ndarray) -> coal.Convex:
    corners = points[ConvexHull(points).vertices]
    hull = ConvexHull(corners)
    faces = coal.StdVec_Triangle()
    for (a, b, c), plane in zip(hull.simplices.tolist(), hull.equations, strict=True):
        outward = np.cross(corners[b] - corners[a], corners[c] - corners[a]) @ plane[:3] > 0
        faces.append(coal.Triangle(a, b, c) if outward else coal.Triangle(a, c, b))
    vertices = coal.StdVec_Vec3s()
    vertices.extend(list(corners))
    return coal.Convex(vertices, faces)
