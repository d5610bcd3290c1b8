"""Signed distances of two shapes, judged by Coal and by the laws a signed distance obeys."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import scipy

from oracles.coal_shapes import KINDS, coal_distance, random_place, random_shape
from steelyard.errors import InputError
from steelyard.limits import Hull, Zonotope, separation
from steelyard.limits.distance import Separation
from steelyard.limits.parts import covering_core
from steelyard.limits.shapes import Solid
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Sphere

PAIRS = list(combinations_with_replacement(KINDS, 2))
HERE = Pose.identity()
ROUND_OFF = 1e-13


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z]))


def assert_measured_between_its_points(found: Separation) -> None:
    np.testing.assert_allclose(np.linalg.norm(found.normal), 1.0, atol=ROUND_OFF)
    np.testing.assert_allclose(found.first - found.second, found.distance * found.normal, atol=1e-12)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_distances_apart_and_overlapping_are_coals(first: str, second: str) -> None:
    rng = np.random.default_rng(PAIRS.index((first, second)))
    overlapping = 0
    for _ in range(200):
        A, B, X, Y = random_shape(rng, first), random_shape(rng, second), random_place(rng), random_place(rng)
        found = separation(A, X, B, Y)
        overlapping += found.distance < 0
        assert abs(found.distance - coal_distance(A, X, B, Y)) < 1e-9
        assert_measured_between_its_points(found)
    assert 10 < overlapping < 190


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("gap", [1e-7, 1e-10, 0.0, -1e-10, -1e-7])
def test_shapes_moved_until_they_touch_are_that_far_apart(first: str, second: str, gap: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        A, B, X, Y = random_shape(rng, first), random_shape(rng, second), random_place(rng), random_place(rng)
        found = separation(A, X, B, Y)
        nearer = Pose(X.rotation, X.translation - (found.distance - gap) * found.normal)
        # Pushed into each other by a corner, they part sideways by less.
        least, most = gap - 1e-9, max(gap, 0.0) + 1e-9
        assert least <= separation(A, nearer, B, Y).distance <= most


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_pair_can_be_exchanged_and_moved_as_a_whole(first: str, second: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        A, B, X, Y = random_shape(rng, first), random_shape(rng, second), random_place(rng), random_place(rng)
        found, back = separation(A, X, B, Y), separation(B, Y, A, X)
        assert abs(back.distance - found.distance) < ROUND_OFF
        np.testing.assert_allclose(back.normal, -found.normal, atol=1e-9)
        Z = random_place(rng, 2.0)
        moved = separation(A, Z @ X, B, Z @ Y)
        assert abs(moved.distance - found.distance) < 1e-12
        np.testing.assert_allclose(moved.normal, Z.rotation @ found.normal, atol=1e-9)


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("round_shape", [Sphere(0.1), Capsule(0.1, 0.3)], ids=["sphere", "capsule"])
def test_growing_a_radius_lowers_the_distance_by_exactly_as_much(round_shape: Solid, other: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        B, X, Y = random_shape(rng, other), random_place(rng), random_place(rng)
        small, large = (
            separation(round_shape, X, B, Y),
            separation(replace(round_shape, radius=0.25), X, B, Y),
        )
        assert abs(small.distance - large.distance - 0.15) < ROUND_OFF


@pytest.mark.parametrize("kind", KINDS)
def test_a_shift_by_the_overlap_parts_the_shapes_and_no_shorter_one_does(kind: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        A, B = random_shape(rng, kind), Box(0.5, 0.6, 0.7)
        X = random_place(rng, 0.1)
        found = separation(A, X, B, HERE)
        if found.distance > -1e-3:
            continue
        parted = Pose(X.rotation, X.translation - found.distance * found.normal)
        assert abs(separation(A, parted, B, HERE).distance) < 1e-9
        for _ in range(20):
            way = rng.standard_normal(3)
            way *= -0.99 * found.distance / np.linalg.norm(way)
            assert separation(A, Pose(X.rotation, X.translation + way), B, HERE).distance < 0


def test_aligned_boxes_have_the_distances_one_sees() -> None:
    box = Box(1.0, 1.0, 1.0)
    assert separation(box, at(1.5), box, HERE).distance == pytest.approx(0.5, abs=ROUND_OFF)
    assert separation(box, at(1.5, 1.5), box, HERE).distance == pytest.approx(0.5**0.5, abs=ROUND_OFF)
    assert separation(box, at(1.0), box, HERE).distance == pytest.approx(0.0, abs=ROUND_OFF)
    assert separation(box, at(0.7, 0.2), box, HERE).distance == pytest.approx(-0.3, abs=ROUND_OFF)
    assert separation(box, HERE, box, HERE).distance == pytest.approx(-1.0, abs=ROUND_OFF)


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-9, 1e-6, 1e-3])
def test_capsules_side_by_side_are_as_far_as_their_axes_whatever_their_angle(angle: float) -> None:
    capsule = Capsule(0.1, 1.0)
    turned = Pose.from_rpy([angle, 0.0, 0.0], [0.5, 0.0, 0.2])
    assert separation(capsule, HERE, capsule, turned).distance == pytest.approx(0.3, abs=1e-12)


def test_cores_without_volume_overlap_by_their_radii_alone() -> None:
    capsule, sphere = Capsule(0.1, 1.0), Sphere(0.2)
    across = Pose.from_rpy([np.pi / 2, 0.0, 0.0])
    plate = Hull([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    for A, X, B, expected in (
        (sphere, HERE, sphere, -0.4),
        (capsule, HERE, sphere, -0.3),
        (capsule, HERE, capsule, -0.2),
        (capsule, across, capsule, -0.2),
        (plate, at(0.1, 0.2), sphere, -0.2),
        (plate, HERE, plate, 0.0),
        (plate, at(0.0, 0.0, 0.3), plate, 0.3),
    ):
        found = separation(A, X, B, HERE)
        assert found.distance == pytest.approx(expected, abs=1e-12)
        assert_measured_between_its_points(found)


def test_a_zonotope_of_three_generators_is_the_box_it_looks_like() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        X, Y, B = random_place(rng), random_place(rng), random_shape(rng, "hull")
        zonotope = Zonotope(np.zeros(3), np.diag([0.1, 0.2, 0.3]))
        box = Box(0.2, 0.4, 0.6)
        assert abs(separation(zonotope, X, B, Y).distance - separation(box, X, B, Y).distance) < 1e-12


def test_a_zonotope_is_the_hull_of_all_its_sums_also_when_flat() -> None:
    rng = np.random.default_rng(6)
    for generators in (rng.standard_normal((6, 3)), rng.standard_normal((4, 3)) * [1, 1, 0], np.ones((2, 3))):
        sums = np.array(list(product((-1.0, 1.0), repeat=len(generators)))) @ generators
        for _ in range(10):
            X, Y, B = random_place(rng, 2.0), random_place(rng, 2.0), random_shape(rng, "box")
            zonotope = separation(Zonotope(np.zeros(3), generators), X, B, Y).distance
            assert abs(zonotope - separation(Hull(sums), X, B, Y).distance) < 1e-12


def test_inner_and_repeated_points_change_no_hull() -> None:
    rng = np.random.default_rng(7)
    points = rng.standard_normal((10, 3))
    more = np.vstack([points, points[:4], rng.dirichlet(np.ones(10), 20) @ points])
    for _ in range(20):
        X, B = random_place(rng, 2.0), random_shape(rng, "capsule")
        few, many = separation(Hull(points), X, B, HERE), separation(Hull(more), X, B, HERE)
        assert abs(few.distance - many.distance) < 1e-12


def test_a_cylinder_is_covered_and_exceeded_by_two_percent_of_its_radius_at_most() -> None:
    rng = np.random.default_rng(8)
    radius, length = 0.2, 0.5
    cylinder, ball = Cylinder(radius, length), Sphere(1e-6)
    for _ in range(200):
        p = rng.uniform(-0.6, 0.6, 3)
        across, along = np.hypot(p[0], p[1]) - radius, abs(p[2]) - length / 2
        exact = np.hypot(max(across, 0.0), max(along, 0.0)) + min(max(across, along), 0.0) - ball.radius
        found = separation(ball, at(*p), cylinder, HERE).distance
        assert exact - 0.02 * radius <= found <= exact + 1e-12


def test_far_and_tiny_shapes_keep_their_precision() -> None:
    rng = np.random.default_rng(9)
    for scale in (1e-3, 1e3):
        for _ in range(20):
            A, B = Hull(scale * rng.standard_normal((8, 3))), Box(scale, 2 * scale, scale)
            X = random_place(rng, 2 * scale)
            assert abs(separation(A, X, B, HERE).distance - coal_distance(A, X, B, HERE)) < 1e-9 * scale


def test_shapes_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="needs 1 to 4096 points, got 0"):
        Hull(np.empty((0, 3)))
    with pytest.raises(InputError, match="points: must be finite"):
        Hull([[0.0, np.nan, 0.0]])
    with pytest.raises(InputError, match="may have 32 generators, got 33"):
        Zonotope(np.zeros(3), np.ones((33, 3)))


def test_a_mesh_of_many_corners_is_held_by_few_and_a_radius() -> None:
    rng = np.random.default_rng(3)
    points = rng.standard_normal((5000, 3))
    points *= np.array([0.2, 0.1, 0.3]) / np.linalg.norm(points, axis=1, keepdims=True)
    points[0] = (0.0, 0.0, 1.0)  # a spike
    core = covering_core(points)
    assert len(core.points) <= 48
    assert core.radius < 0.03
    assert (core.points == points[0]).all(axis=1).any()
    hull = scipy.spatial.ConvexHull(core.points).equations
    assert (points @ hull[:, :3].T + hull[:, 3]).max() <= core.radius + 1e-12
