"""Objects to be written: their meshes, made in code, and their true inertias."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from steelyard.inertia import Body, Mesh, box, cylinder
from steelyard.pose import Pose

HANDLE_RADIUS, HANDLE_LENGTH = 0.0135, 0.1
WEIGHT_RADIUS, WEIGHT_LENGTH = 0.029, 0.0125
DUMBBELL_MASS = 0.902
"""A dumbbell of 2 lb, the object of Lambert (2023; Table 5.6); its sizes are ours, the paper prints none."""


def lathe(profile: list[tuple[float, float]], n: int) -> Mesh:
    """A closed surface of revolution about z; the profile of (radius, z) rises from the axis to the axis."""
    angles = 2 * np.pi * np.arange(n) / n
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [np.column_stack([r * ring, np.full(n, z)]) for r, z in profile[1:-1]]
    ends = [[0, 0, profile[0][1]], [0, 0, profile[-1][1]]]
    bottom, top = len(rings) * n, len(rings) * n + 1
    i, j = np.arange(n), (np.arange(n) + 1) % n
    faces = [
        np.column_stack([np.full(n, bottom), j, i]),
        np.column_stack([np.full(n, top), top - 1 - n + i, top - 1 - n + j]),
    ]
    for k in range(len(rings) - 1):
        a, b = k * n, (k + 1) * n
        faces += [np.column_stack([a + i, a + j, b + j]), np.column_stack([a + i, b + j, b + i])]
    return Mesh(np.concatenate([*rings, ends]), np.concatenate(faces))


def box_mesh(sides: tuple[float, float, float]) -> Mesh:
    """A box about its centre: a lathe of four sides, stretched."""
    square = lathe([(0, -0.5), (np.sqrt(0.5), -0.5), (np.sqrt(0.5), 0.5), (0, 0.5)], 4)
    quarter = Pose.from_rpy((0.0, 0.0, np.pi / 4))
    return Mesh(np.round(quarter.apply(square.vertices), 12) * sides, square.faces)


def dumbbell_mesh(n: int = 48) -> Mesh:
    """The union of three cylinders in a row along x, as one closed surface."""
    inner, outer = HANDLE_LENGTH / 2, HANDLE_LENGTH / 2 + WEIGHT_LENGTH
    half = [(HANDLE_RADIUS, inner), (WEIGHT_RADIUS, inner), (WEIGHT_RADIUS, outer), (0.0, outer)]
    mesh = lathe([(r, -z) for r, z in half[::-1]] + half, n)
    return Mesh(Pose.from_rpy((0.0, np.pi / 2, 0.0)).apply(mesh.vertices), mesh.faces)


def dumbbell_body() -> Body:
    """The same three cylinders, weighed one by one."""
    volumes = np.array([HANDLE_RADIUS**2 * HANDLE_LENGTH, WEIGHT_RADIUS**2 * WEIGHT_LENGTH])
    density = DUMBBELL_MASS / (np.pi * volumes @ (1, 2))
    reach = (HANDLE_LENGTH + WEIGHT_LENGTH) / 2
    weight = cylinder(WEIGHT_RADIUS, WEIGHT_LENGTH, density=density)
    body = cylinder(HANDLE_RADIUS, HANDLE_LENGTH, density=density)
    for z in (-reach, reach):
        body += weight.moved(Pose(np.eye(3), [0, 0, z]))
    return body.moved(Pose.from_rpy((0.0, np.pi / 2, 0.0)))


def weighted_box(
    sides: tuple[float, float, float], mass: float, lump: float, place: tuple[float, ...]
) -> Body:
    """A uniform box with a small heavy cube hidden in it."""
    hidden = box((0.01, 0.01, 0.01), mass=lump).moved(Pose(np.eye(3), np.array(place)))
    return box(sides, mass=mass) + hidden


def write_stl(path: Path, mesh: Mesh, *, binary: bool) -> Path:
    triangles = mesh.vertices[mesh.faces]
    if binary:
        blocks = [struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in triangles]
        path.write_bytes(b"".ljust(80) + struct.pack("<I", len(blocks)) + b"".join(blocks))
    else:
        lines = ["solid it"]
        for t in triangles:
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += [f"vertex {a!r} {b!r} {c!r}" for a, b, c in t.tolist()]
            lines += ["endloop", "endfacet"]
        path.write_text("\n".join([*lines, "endsolid it", ""]))
    return path


def write_obj(path: Path, mesh: Mesh) -> Path:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces.tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path
