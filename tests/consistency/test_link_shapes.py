"""The room a link takes, judged by SciPy's hulls, closed formulas, MuJoCo's geoms and a cone program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

from paper_003.enclosing_ellipsoid import enclosing_ellipsoid
from robot.mjcf_files import robot_of_mjcf
from steelyard.consistency import link_shapes
from steelyard.consistency.link_shapes import LinkShape, uniform_body
from steelyard.errors import InputError
from steelyard.inertia import Body, check_body, pseudo_inertia
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Robot, Sphere
from steelyard.robot.link import Shape
from steelyard.zoo import ZOO, zoo_robot

TURNED = Pose.from_rpy([0.3, -0.7, 1.1], [0.2, -0.1, 0.4])


def robot_with(*collision: Geometry) -> Robot:
    robot = zoo_robot("one_link")
    return replace(robot, links=(replace(robot.links[0], collision=collision),))


def shape_of(*shapes: Shape, pose: Pose = TURNED) -> LinkShape:
    return link_shapes(robot_with(*(Geometry(shape, pose) for shape in shapes)))["link1"]


def surface(shape: Shape, rng: np.random.Generator, count: int = 2000) -> np.ndarray:
    """Points of a solid that reach its surface, in the shape's frame."""
    u = rng.normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    match shape:
        case Sphere(r):
            return r * u
        case Box(x, y, z):
            return 0.5 * np.array([x, y, z]) * u / np.abs(u).max(axis=1, keepdims=True)
        case Cylinder(r, h):
            flat = u[:, :2] / np.linalg.norm(u[:, :2], axis=1, keepdims=True)
            return np.column_stack([r * flat, rng.choice([-h / 2, h / 2], count)])
        case Capsule(r, h):
            return r * u + np.column_stack([np.zeros((count, 2)), h / 2 * np.sign(u[:, 2])])
    raise AssertionError(shape)


SHAPES = [Sphere(0.07), Box(0.3, 0.1, 0.05), Cylinder(0.05, 0.4), Capsule(0.04, 0.5)]
VOLUMES = [4 / 3 * np.pi * 0.07**3, 0.0015, np.pi * 0.05**2 * 0.4, np.pi * 0.04**2 * (0.5 + 4 / 3 * 0.04)]


@pytest.mark.parametrize(("shape", "volume"), list(zip(SHAPES, VOLUMES, strict=True)))
def test_hull_and_ellipsoid_hold_a_primitive_and_exceed_it_by_little(shape: Shape, volume: float) -> None:
    room = shape_of(shape)
    points = TURNED.apply(surface(shape, np.random.default_rng(0)))
    assert (points @ room.normals.T - room.offsets).max() <= 1e-12
    hull = ConvexHull(room.vertices)
    assert (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max() <= 1e-12
    lifted = np.column_stack([room.vertices, np.ones(len(room.vertices))])
    assert np.einsum("ij,jk,ik->i", lifted, room.ellipsoid, lifted).min() > 0.0
    # In every direction the hull reaches at most 1 mm or 1 % further than the shape itself.
    directions = np.random.default_rng(1).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    dense = TURNED.apply(surface(shape, np.random.default_rng(2), 40_000))
    excess = (room.vertices @ directions.T).max(axis=0) - (dense @ directions.T).max(axis=0)
    assert excess.max() <= max(1.5e-3, 0.015 * room.size)
    assert room.volume == pytest.approx(volume, rel=1e-9)
    assert room.centre == pytest.approx(TURNED.translation)
    assert len(room.vertices) <= 200
    assert len(room.normals) <= 60


@pytest.mark.parametrize("name", sorted(ZOO))
def test_faces_hold_every_corner_of_a_zoo_link_and_enclose_little_more(name: str) -> None:
    for room in link_shapes(zoo_robot(name)).values():
        own = ConvexHull(room.vertices)
        # The faces are bounded and hold what they should: their corners come from an independent routine.
        halfspaces = np.column_stack([room.normals, -room.offsets])
        around = ConvexHull(HalfspaceIntersection(halfspaces, room.centre).intersections)
        assert np.linalg.norm(room.normals, axis=1) == pytest.approx(np.ones(len(room.normals)))
        assert own.volume <= around.volume * 1.05
        assert around.volume <= 1.15 * own.volume
        assert room.volume <= own.volume * (1.0 + 1e-9)
        assert room.contains(room.centre)
        assert not room.contains(room.centre + 2.0 * room.size, 0.5 * room.size)
        assert check_body(room.unit_inertia).strict


def test_the_ellipsoid_is_the_smallest_one_by_a_cone_program() -> None:
    for shape in (*SHAPES, Box(0.5, 0.4, 0.01)):
        room = shape_of(shape)
        judge = enclosing_ellipsoid(room.vertices, np.zeros(len(room.vertices)))
        A = -room.ellipsoid[:3, :3]
        assert 1.0 / np.sqrt(np.linalg.det(A)) == pytest.approx(np.prod(judge.semi_axes), rel=5e-3)
        centre = np.linalg.solve(A, room.ellipsoid[:3, 3])
        assert np.append(centre, 1.0) @ room.ellipsoid @ np.append(centre, 1.0) == pytest.approx(1.0)


def test_a_body_within_the_shapes_has_a_trace_that_is_not_negative() -> None:
    rng = np.random.default_rng(3)
    for room in link_shapes(zoo_robot("ur10e")).values():
        points = rng.dirichlet(np.ones(len(room.vertices)), 30) @ room.vertices
        lifted = np.column_stack([points, np.ones(30)])
        J = np.einsum("k,ki,kj->ij", rng.uniform(0.0, 1.0, 30), lifted, lifted)
        assert np.trace(J @ room.ellipsoid) > 0.0
        far = pseudo_inertia(Body(1.0, room.centre + 3.0 * room.size, 1e-3 * np.eye(3)).parameters)
        assert np.trace(far @ room.ellipsoid) < 0.0


MJCF = """
<mujoco model="shapes"><compiler angle="radian" inertiafromgeom="true"/><worldbody><body name="part">
  <joint name="hinge" axis="0 0 1"/>
  <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0.2" euler="0.3 0.1 0"/>
  <geom type="capsule" size="0.03 0.2" pos="0 0.1 0" euler="0 0.5 0"/>
  <geom type="cylinder" size="0.05 0.07" pos="-0.1 0 0"/>
  <geom type="sphere" size="0.06" pos="0 0 -0.2"/>
</body></worldbody></mujoco>
"""


def test_a_uniform_body_is_the_one_mujoco_makes_of_the_same_geoms() -> None:
    model = mujoco.MjModel.from_xml_string(MJCF)
    room = link_shapes(robot_of_mjcf(MJCF))["part"]
    body = Body.from_parameters(uniform_body(room, float(model.body_mass[1])))
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    R = R.reshape(3, 3)
    assert body.com == pytest.approx(model.body_ipos[1], abs=1e-9)
    assert body.inertia == pytest.approx(R @ np.diag(model.body_inertia[1]) @ R.T, rel=1e-6, abs=1e-9)


def test_more_mass_is_the_same_body_heavier_and_none_is_refused() -> None:
    room = shape_of(Box(0.2, 0.1, 0.1))
    assert uniform_body(room, 5.0) == pytest.approx(5.0 * uniform_body(room, 1.0))
    with pytest.raises(InputError, match="must be positive"):
        uniform_body(room, 0.0)


def test_a_shape_without_thickness_is_a_thin_plate() -> None:
    for thin in (Box(0.2, 0.1, 1e-9), Box(0.2, 1e-9, 1e-9)):
        room = shape_of(thin)
        assert check_body(room.unit_inertia).strict
        assert 0.0 < room.volume < 1e-4
        assert room.contains(TURNED.translation)
        assert not room.contains(TURNED.apply(np.array([[0.0, 0.0, 0.01]]))[0])


def test_links_without_shapes_or_with_a_mesh_that_is_missing_are_left_out(tmp_path: Path) -> None:
    mesh = Geometry(MeshFile("part.stl"), Pose.identity())
    ball = Geometry(Sphere(0.1), Pose.identity())
    assert link_shapes(robot_with()) == {}
    assert link_shapes(robot_with(mesh)) == {}
    assert link_shapes(robot_with(ball, mesh), tmp_path) == {}


def obj_of(points: np.ndarray, faces: np.ndarray) -> str:
    lines = ["v " + " ".join(f"{x:.17g}" for x in point) for point in points]
    return "\n".join(lines + ["f " + " ".join(str(i + 1) for i in face) for face in faces])


def test_a_mesh_with_many_corners_is_thinned_and_still_held(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(3000, 3))
    points *= np.array([0.3, 0.1, 0.05]) / np.linalg.norm(points, axis=1, keepdims=True)
    hull = ConvexHull(points)
    (tmp_path / "egg.obj").write_text(obj_of(points, hull.simplices))
    room = link_shapes(robot_with(Geometry(MeshFile("egg.obj"), Pose.identity())), tmp_path)["link1"]
    own = ConvexHull(room.vertices)
    assert len(room.vertices) <= 200
    assert (points @ own.equations[:, :3].T + own.equations[:, 3]).max() <= 1e-9
    assert own.volume <= 1.06 * hull.volume
    assert (points @ room.normals.T - room.offsets).max() <= 1e-12
    # The triangles above are not oriented alike, so the mesh encloses nothing and its hull is filled.
    assert room.volume == pytest.approx(hull.volume, rel=1e-6)
    assert room.centre == pytest.approx(np.zeros(3), abs=2e-3)


def test_an_open_flat_mesh_is_a_thin_plate(tmp_path: Path) -> None:
    square = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.1, 0.0]])
    (tmp_path / "plate.obj").write_text(obj_of(square, np.array([[0, 1, 2], [0, 2, 3]])))
    item = Geometry(MeshFile("plate.obj"), Pose.identity())
    room = link_shapes(robot_with(item), tmp_path)["link1"]
    assert room.volume == pytest.approx(0.01 * 0.003)
    assert check_body(room.unit_inertia).strict


def test_a_shape_that_no_hull_can_be_computed_for_is_left_out() -> None:
    far = Geometry(Box(1e-20, 1e20, 1.0), TURNED)
    near = Geometry(Sphere(1e-15), Pose(np.eye(3), np.array([1e20, 0.0, 0.0])))
    assert link_shapes(robot_with(far)) == {}
    assert link_shapes(robot_with(near)) == {}
