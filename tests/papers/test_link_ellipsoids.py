"""Smallest ellipsoids: closed forms, cvxpy's answer, and nothing of a link left outside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from paper_003.enclosing_ellipsoid import enclosing_ellipsoid
from paper_003.link_ellipsoids import link_ellipsoids
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.inertia import Ellipsoid
from steelyard.limits.shapes import core_of
from steelyard.pose import Pose
from steelyard.robot import Box, Geometry, Link, MeshFile
from steelyard.zoo import ZOO, zoo_robot


def matrix_of(shape: Ellipsoid) -> np.ndarray:
    """A of (x - c)ᵀ A (x - c) ≤ 1, in the frame the ellipsoid is placed in."""
    R = shape.pose.rotation
    return R @ np.diag(shape.semi_axes**-2.0) @ R.T


def gauges(shape: Ellipsoid, x: np.ndarray) -> np.ndarray:
    """The factor on the ellipsoid at which each point would lie on it."""
    away = x - shape.pose.translation
    return np.sqrt(np.einsum("ni,ij,nj->n", away, matrix_of(shape), away))


def unit_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    ways = rng.standard_normal((count, 3))
    return ways / np.linalg.norm(ways, axis=1, keepdims=True)


def cvxpy_matrix(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and the centre of the smallest ellipsoid around points, as a textbook states it."""
    P, b = cp.Variable((3, 3), PSD=True), cp.Variable(3)
    held = [cp.norm(P @ x + b) <= 1 for x in points]
    cp.Problem(cp.Maximize(cp.log_det(P)), held).solve(solver=cp.CLARABEL)
    return P.value @ P.value, -np.linalg.solve(P.value, b.value)


def test_the_ellipsoid_around_a_box_touches_its_corners() -> None:
    corners = core_of(Box(0.6, 0.2, 0.4)).points
    pose = Pose.from_rpy([0.3, -0.2, 0.7], [1.0, 2.0, 3.0])
    found = enclosing_ellipsoid(pose.apply(corners), np.zeros(8))
    np.testing.assert_allclose(found.semi_axes, np.sqrt(3.0) * np.array([0.3, 0.2, 0.1]), rtol=1e-4)
    np.testing.assert_allclose(found.pose.translation, [1.0, 2.0, 3.0], atol=1e-4)
    assert np.prod(found.semi_axes) == pytest.approx(np.sqrt(27.0) * 0.006, rel=1e-6)
    turn = pose.rotation.T @ found.pose.rotation
    np.testing.assert_allclose(np.abs(turn), np.eye(3)[:, [0, 2, 1]], atol=1e-3)


def test_the_ellipsoid_around_a_ball_is_the_ball() -> None:
    found = enclosing_ellipsoid([[0.1, 0.2, 0.3]], [0.07])
    np.testing.assert_allclose(found.semi_axes, 0.07, rtol=1e-5)
    np.testing.assert_allclose(found.pose.translation, [0.1, 0.2, 0.3], atol=1e-6)


@pytest.mark.parametrize("half", [0.01, 0.1, 1.0])
def test_the_ellipsoid_around_a_capsule_is_the_best_of_revolution(half: float) -> None:
    radius = 0.08
    angles = np.linspace(0.0, np.pi / 2, 20_001)
    profile = np.column_stack([radius * np.cos(angles), half + radius * np.sin(angles)])

    def volume(thickness: float) -> float:
        across = (profile[:, 0] / thickness) ** 2
        length = (profile[1:, 1] / np.sqrt(1.0 - across[1:])).max()
        return thickness**2 * length

    best = minimize_scalar(
        volume, bounds=(1.0001 * radius, 2.0 * radius), method="bounded", options={"xatol": 1e-9}
    )
    found = enclosing_ellipsoid([[0.0, 0.0, -half], [0.0, 0.0, half]], [radius, radius])
    assert np.prod(found.semi_axes) == pytest.approx(best.fun, rel=1e-4)
    np.testing.assert_allclose(found.semi_axes[1:], best.x, rtol=1e-3)
    assert abs(found.pose.rotation[2, 0]) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_cvxpy_finds_the_same_ellipsoid_around_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((4 + 6 * seed, 3)) * [1.0, 0.5, 0.3]
    found = enclosing_ellipsoid(x, np.zeros(len(x)))
    assert 1.0 - 1e-8 < gauges(found, x).max() <= 1.0
    A, centre = cvxpy_matrix(x)
    np.testing.assert_allclose(matrix_of(found), A, atol=1e-3 * np.abs(A).max())
    np.testing.assert_allclose(found.pose.translation, centre, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_balls_are_held_exactly_and_nothing_smaller_holds_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 8))
    c, r = 0.2 * rng.standard_normal((count, 3)), rng.uniform(0.0, 0.2, count)
    found = enclosing_ellipsoid(c, r)
    surface = np.vstack([at + radius * unit_vectors(rng, 5000) for at, radius in zip(c, r, strict=True)])
    reached = gauges(found, surface)
    assert reached.max() <= 1.0
    # Uphill from the furthest sample of every ball to its furthest point: one of these is on the surface.
    way = surface.reshape(count, -1, 3)[np.arange(count), reached.reshape(count, -1).argmax(axis=1)] - c
    for _ in range(300):
        uphill = (c + way - found.pose.translation) @ matrix_of(found)
        way = r[:, None] * uphill / np.linalg.norm(uphill, axis=1, keepdims=True)
    assert 1.0 - 1e-8 < gauges(found, c + way).max() <= 1.0
    # The smallest around points of the balls is a bound from below: those furthest outside are added to it.
    chosen = surface[:: len(surface) // 10]
    for _ in range(6):
        A, centre = cvxpy_matrix(chosen)
        outside = np.einsum("ni,ij,nj->n", surface - centre, A, surface - centre).reshape(count, -1)
        chosen = np.vstack([chosen, surface.reshape(count, -1, 3)[np.arange(count), outside.argmax(axis=1)]])
    assert 0.99 < 1.0 / np.sqrt(np.linalg.det(A)) / np.prod(found.semi_axes) < 1.0 + 1e-4


def test_an_affine_change_of_the_points_changes_the_ellipsoid_alike() -> None:
    rng = np.random.default_rng(7)
    x, T = rng.standard_normal((9, 3)), rng.standard_normal((3, 3))
    before, after = enclosing_ellipsoid(x, np.zeros(9)), enclosing_ellipsoid(x @ T.T, np.zeros(9))
    np.testing.assert_allclose(T.T @ matrix_of(after) @ T, matrix_of(before), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", list(ZOO))
def test_every_shape_of_a_link_is_inside_its_ellipsoid_with_the_inflation_around_it(name: str) -> None:
    rng = np.random.default_rng(8)
    robot = zoo_robot(name)
    links = {link.name: (index, link) for index, link in enumerate((robot.base, *robot.links), start=-1)}
    for inflation in (0.0, 0.03):
        found = link_ellipsoids(robot, inflation=inflation)
        assert [item.owner for item in found] == [name for name, (_, link) in links.items() if link.collision]
        for item in found:
            index, link = links[item.owner]
            assert item.link == index
            for geometry in link.collision:
                core = core_of(geometry.shape).moved(geometry.pose)
                weights = rng.dirichlet(np.full(len(core.points), 0.2), 500)
                x = weights @ core.points + (core.radius + inflation) * unit_vectors(rng, 500)
                assert gauges(item.ellipsoid, x).max() <= 1.0


def test_a_flat_link_needs_an_inflation(tmp_path: Path) -> None:
    (tmp_path / "plate.obj").write_text("v 0 0 0\nv 0.2 0 0\nv 0.2 0.1 0\nv 0 0.1 0\nf 1 2 3\nf 1 3 4\n")
    robot = zoo_robot("two_link")
    plate = Link("plate", collision=(Geometry(MeshFile("plate.obj"), Pose.identity()),))
    flat = replace(robot, base=plate)
    with pytest.raises(InputError, match=r"link 'plate': its shapes lie in a plane.*inflation"):
        link_ellipsoids(flat, meshes=tmp_path)
    base = link_ellipsoids(flat, meshes=tmp_path, inflation=0.01)[0].ellipsoid
    assert gauges(base, np.array([[-0.007, -0.007, 0.0], [0.1, 0.05, 0.01]])).max() <= 1.0


def test_links_that_have_no_ellipsoid_are_reported() -> None:
    robot = zoo_robot("panda")
    bare = replace(robot, links=(Link("bare"), *robot.links[1:]))
    findings: list[Finding] = []
    assert "bare" not in {item.owner for item in link_ellipsoids(bare, findings=findings)}
    assert [(finding.code, finding.place) for finding in findings] == [("no-shape", "bare")]


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="radii: must not be negative"):
        enclosing_ellipsoid(np.eye(3), [0.1, -0.1, 0.1])
    with pytest.raises(InputError, match="inflation"):
        link_ellipsoids(zoo_robot("panda"), inflation=-0.01)
